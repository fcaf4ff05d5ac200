"""Calibration (one system) and fusion (several) trained to the same optimum as scikit-learn's LogisticRegression."""

from __future__ import annotations

import argparse

from side_by_side import machine, measure, show  # isort: skip  # sets the number of threads first

import numpy as np

from deciban.calibration import AffineCalibrator
from deciban.fusion import LinearFusion

P_TARGET = 0.1
RULES = {"(2, 2)": (2.0, 2.0), "(1/2, 1/2)": (0.5, 0.5), "(2, 1)": (2.0, 1.0), "(3/2, 0.7)": (1.5, 0.7)}


def systems(n_trials: int, n_systems: int) -> tuple[np.ndarray, np.ndarray]:
    """Systems of different quality whose errors are correlated; 1 % targets."""
    rng = np.random.default_rng(1)
    is_target = rng.random(n_trials) < 0.01
    common = rng.normal(size=n_trials)
    scores = np.empty((n_trials, n_systems))
    for k in range(n_systems):
        scores[:, k] = common + (1.0 + 0.1 * k) * rng.normal(size=n_trials)
        scores[:, k] *= np.where(is_target, 1.4, 1.0)
        scores[:, k] += np.where(is_target, 2.5, -2.5)
    return scores, is_target


def weights_of(is_target: np.ndarray) -> np.ndarray:
    """Weights that make the average over trials the prior-weighted objective."""
    n, n_tar = len(is_target), is_target.sum()
    return np.where(is_target, P_TARGET * n / n_tar, (1 - P_TARGET) * n / (n - n_tar))


def with_scikit_learn(scores: np.ndarray, is_target: np.ndarray, solver: str) -> tuple[np.ndarray, float]:
    """The same objective; the default tolerance of 1e-4 would stop far from the optimum."""
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(C=np.inf, solver=solver, tol=1e-7, max_iter=1000)
    model.fit(scores, is_target, sample_weight=weights_of(is_target))
    return model.coef_[0], float(model.intercept_[0]) - np.log(P_TARGET / (1 - P_TARGET))


def with_deciban(
    scores: np.ndarray, is_target: np.ndarray, alpha: float = 1, beta: float = 1
) -> tuple[np.ndarray, float]:
    if scores.shape[1] == 1:
        calibrator = AffineCalibrator(p_target=P_TARGET, alpha=alpha, beta=beta).fit(scores[:, 0], is_target)
        return np.array([calibrator.scale_]), calibrator.offset_
    fusion = LinearFusion(p_target=P_TARGET, alpha=alpha, beta=beta).fit(scores, is_target)
    return fusion.weights_, fusion.offset_


def objective(parameters: tuple[np.ndarray, float], scores: np.ndarray, is_target: np.ndarray) -> float:
    """Cross-entropy by a formula of its own, in nats."""
    x = scores @ parameters[0] + parameters[1] + np.log(P_TARGET / (1 - P_TARGET))
    cost = np.logaddexp(0, np.where(is_target, -x, x))
    return float(P_TARGET * cost[is_target].mean() + (1 - P_TARGET) * cost[~is_target].mean())


def compare(n_trials: int, n_systems: int, rounds: int, *, rivals: bool) -> None:
    """Print the table for one size."""
    scores, is_target = systems(n_trials, n_systems)
    jobs = {"deciban, logarithmic": lambda: with_deciban(scores, is_target)}
    for name, rule in RULES.items():
        jobs[f"deciban, {name}"] = lambda rule=rule: with_deciban(scores, is_target, *rule)
    if rivals:
        for solver in ("lbfgs", "newton-cholesky"):
            jobs[f"scikit-learn, {solver}"] = lambda solver=solver: with_scikit_learn(scores, is_target, solver)
    show(f"{n_trials:,} trials x {n_systems} systems", measure(jobs, rounds), "deciban, logarithmic", n_trials)
    ours = objective(with_deciban(scores, is_target), scores, is_target)
    print(f"objective: deciban {ours:.15f}", end="")
    if rivals:
        theirs = objective(with_scikit_learn(scores, is_target, "newton-cholesky"), scores, is_target)
        print(f", scikit-learn {theirs:.15f}, relative difference {theirs / ours - 1:.1e}")
    else:
        print()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, nargs="+", default=[10**6, 10**7])
    parser.add_argument("--systems", type=int, nargs="+", default=[1])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--no-rivals", action="store_true", help="time deciban only")
    options = parser.parse_args()
    print(machine())
    for n_trials in options.trials:
        for n_systems in options.systems:
            compare(n_trials, n_systems, options.rounds, rivals=not options.no_rivals)


if __name__ == "__main__":
    main()
