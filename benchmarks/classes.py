"""Calibration and fusion of many classes trained to the same optimum as SciPy's L-BFGS with the analytic gradient."""

from __future__ import annotations

import argparse

from side_by_side import machine, measure, show  # isort: skip  # sets the number of threads first

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax

from deciban.calibration import MulticlassCalibrator
from deciban.fusion import MulticlassFusion


def systems(n_trials: int, n_systems: int, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Log-likelihoods of systems whose errors are correlated; classes are unequally many."""
    rng = np.random.default_rng(1)
    share = np.linspace(1.0, 3.0, n_classes)
    label = rng.choice(n_classes, n_trials, p=share / share.sum())
    scores = np.empty((n_trials, n_systems, n_classes))
    common = rng.normal(size=(n_trials, n_classes))
    for k in range(n_systems):
        scores[:, k] = (1.5 + 0.2 * k) * (common + rng.normal(size=common.shape))
        scores[np.arange(n_trials), k, label] += 4.0
    return scores, label


def with_deciban(scores: np.ndarray, label: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    if scores.shape[1] == 1:
        model = MulticlassCalibrator().fit(scores[:, 0], label)
        return np.array([model.scale_]), model.offset_
    fusion = MulticlassFusion().fit(scores, label)
    return fusion.weights_, fusion.offset_


def with_scipy(scores: np.ndarray, label: np.ndarray, block: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """The objective that a careful user writes: one matrix product for all systems, log-softmax, gradient.

    In blocks of trials, if told so: what is made of them stays in cache.
    """
    n_trials, n_systems, n_classes = scores.shape
    weight = 1.0 / (n_classes * np.bincount(label, minlength=n_classes)[label])
    parts = [slice(i, i + (block or n_trials)) for i in range(0, n_trials, block or n_trials)]

    def part_of_cost(parameters: np.ndarray, part: slice) -> np.ndarray:
        some, own = scores[part], label[part]
        rows = np.arange(len(own))
        z = np.tensordot(some, parameters[:n_systems], axes=(1, 0))
        z += parameters[n_systems:]
        log_posterior = log_softmax(z, axis=1)
        value = -(weight[part] @ log_posterior[rows, own])
        pull = np.exp(log_posterior)
        pull[rows, own] -= 1.0
        pull *= weight[part, None]
        return np.array([value, *(np.vdot(pull, some[:, k]) for k in range(n_systems)), *pull.sum(axis=0)])

    def cost(parameters: np.ndarray) -> tuple[float, np.ndarray]:
        total = sum(part_of_cost(parameters, part) for part in parts)
        return float(total[0]), total[1:]

    start = np.concatenate((np.ones(n_systems) / n_systems, np.zeros(n_classes)))
    found = minimize(cost, start, jac=True, method="L-BFGS-B", options={"ftol": 1e-15, "gtol": 1e-8, "maxiter": 1000})
    offsets = found.x[n_systems:]
    return found.x[:n_systems], offsets - offsets.mean()


def objective(parameters: tuple[np.ndarray, np.ndarray], scores: np.ndarray, label: np.ndarray) -> float:
    """Cross-entropy at the flat prior by a formula of its own, in nats."""
    z = np.tensordot(scores, parameters[0], axes=(1, 0)) + parameters[1]
    cost = -log_softmax(z, axis=1)[np.arange(len(label)), label]
    return float(np.mean([cost[label == i].mean() for i in range(scores.shape[2])]))


def compare(n_trials: int, n_systems: int, n_classes: int, rounds: int, *, rivals: bool) -> None:
    """Print the table for one size."""
    scores, label = systems(n_trials, n_systems, n_classes)
    jobs = {"deciban": lambda: with_deciban(scores, label)}
    if rivals:
        jobs["scipy, L-BFGS-B"] = lambda: with_scipy(scores, label)
        jobs["scipy, L-BFGS-B, in blocks"] = lambda: with_scipy(scores, label, 2048)
    title = f"{n_trials:,} trials x {n_systems} systems x {n_classes} classes"
    show(title, measure(jobs, rounds), "deciban", n_trials * n_systems * n_classes)
    ours = objective(with_deciban(scores, label), scores, label)
    print(f"objective: deciban {ours:.15f}", end="")
    if rivals:
        theirs = objective(with_scipy(scores, label), scores, label)
        print(f", scipy {theirs:.15f}, relative difference {theirs / ours - 1:.1e}")
    else:
        print()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=10**6)
    parser.add_argument("--systems", type=int, nargs="+", default=[1, 3])
    parser.add_argument("--classes", type=int, default=14)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--no-rivals", action="store_true", help="time deciban only")
    options = parser.parse_args()
    print(machine())
    for n_systems in options.systems:
        compare(options.trials, n_systems, options.classes, options.rounds, rivals=not options.no_rivals)


if __name__ == "__main__":
    main()
