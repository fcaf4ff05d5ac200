"""Our trust region against the solvers of scipy: the same objectives, the same starts, one pass for all derivatives.

A pass over the trials is what costs. Ours and scipy's trust regions get value, gradient and Hessian of a point from one
pass, L-BFGS-B gets value and gradient from a cheaper one. What is reached is looked at afterwards by one more.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from side_by_side import machine, measure  # isort: skip  # sets the number of threads first

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy.optimize import minimize as scipy_minimize

from deciban.core.training.linear_objective import LinearObjective, TrainingTrials
from deciban.core.training.multiclass_objective import ClassObjective, ClassTrials
from deciban.core.training.trust_region import Derivatives, minimize

SOLVERS = ("deciban", "trust-exact", "trust-krylov", "trust-ncg", "L-BFGS-B")
GRADIENT = 1e-9
"""Of the gradient, relative to the value at the start, scipy's solvers are asked for so much."""


@dataclass
class Counted:
    """An objective that remembers its last point and counts its passes: with the Hessian, and without."""

    objective: Callable[..., Derivatives]
    full: int = 0
    short: int = 0
    _last: dict[bytes, Derivatives] = field(default_factory=dict)

    def at(self, point: np.ndarray) -> Derivatives:
        """Value, gradient and Hessian."""
        if point.tobytes() not in self._last:
            self._last = {point.tobytes(): self(point)}
        return self._last[point.tobytes()]

    def __call__(self, point: np.ndarray, /, hessian: np.ndarray | None = None) -> Derivatives:
        """One pass over the trials."""
        self.full += hessian is None
        self.short += hessian is not None
        return self.objective(point, hessian)


def solved(objective: Callable[..., Derivatives], start: np.ndarray, solver: str) -> tuple[np.ndarray, Counted, str]:
    """The minimum, the passes, and what the solver says of its success."""
    counted, n = Counted(objective), len(start)
    if solver == "deciban":
        found = minimize(counted, start)
        return found.polished, counted, "converged" if found.converged else "gave up"
    options = {"maxiter": 100}
    tolerance = GRADIENT * objective(start, np.eye(n)).value
    if solver == "L-BFGS-B":

        def short(x: np.ndarray) -> tuple[float, np.ndarray]:
            at = counted(x, np.eye(n))
            return at.value, at.gradient

        result = scipy_minimize(
            short, start, jac=True, method=solver, options={**options, "gtol": tolerance, "ftol": 0.0}
        )
    else:
        second = {"hess": lambda x: counted.at(x).hessian}
        if solver == "trust-krylov":  # of no other solver are products with the Hessian asked more than once
            second = {"hessp": lambda x, p: counted.at(x).hessian @ p}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = scipy_minimize(
                lambda x: counted.at(x).value,
                start,
                jac=lambda x: counted.at(x).gradient,
                method=solver,
                options={**options, "gtol": tolerance, "initial_trust_radius": 4.0, "max_trust_radius": 1e6},
                **second,
            )
    return result.x, counted, "converged" if result.success else str(result.message)[:40]


def two_classes(n_trials: int, n_systems: int, rule: tuple[float, float], p_target: float) -> LinearObjective:
    """Systems with correlated errors, standardized."""
    rng = np.random.default_rng(1)
    is_target = rng.random(n_trials) < 0.1
    scores = rng.normal(size=(n_trials, 1)) + rng.normal(size=(n_trials, n_systems))
    scores += np.where(is_target, 1.5, -1.5)[:, None] * (1.0 + 0.1 * np.arange(n_systems))
    scores = (scores - scores.mean(axis=0)) / scores.std(axis=0)
    weights = (1.0 - p_target) / np.count_nonzero(~is_target), p_target / np.count_nonzero(is_target)
    trials = TrainingTrials.of(scores, is_target)
    trials = TrainingTrials(trials.columns, is_target, weights, matrix=trials.matrix, reach=trials.reach)
    return LinearObjective(
        trials,
        center=np.zeros(n_systems),
        width=np.ones(n_systems),
        intercept=True,
        alpha=rule[0],
        beta=rule[1],
        log_odds=float(np.log(p_target / (1.0 - p_target))),
        penalty=np.zeros(n_systems + 1),
    )


def many_classes(n_trials: int, n_systems: int, n_classes: int) -> ClassObjective:
    """A weight for each system and an offset for each class; adding to all offsets changes nothing."""
    rng = np.random.default_rng(1)
    label = rng.integers(0, n_classes, n_trials)
    systems = rng.normal(size=(n_trials, n_systems, n_classes)) + rng.normal(size=(n_trials, 1, n_classes))
    systems[np.arange(n_trials), :, label] += 2.0
    prior, size = np.full(n_classes, 1.0 / n_classes), n_systems + n_classes
    trials = ClassTrials(systems, label, prior / np.bincount(label, minlength=n_classes))
    return ClassObjective(trials, np.log(prior), np.zeros(size), np.eye(size), np.zeros(size))


def cases(n_trials: int) -> Iterator[tuple[str, Callable[..., Derivatives], np.ndarray]]:
    """Objectives, and where the search begins."""
    for n_systems in (1, 10):
        objective = two_classes(n_trials, n_systems, (1.0, 1.0), 0.1)
        yield f"logarithmic rule, {n_systems} systems, from 0", objective, np.zeros(n_systems + 1)
    start = minimize(two_classes(n_trials, 5, (1.0, 1.0), 0.01), np.zeros(6)).polished
    for rule in ((2.0, 2.0), (10.0, 5.0)):
        objective = two_classes(n_trials, 5, rule, 0.01)
        name = f"rule {rule}, not convex, 5 systems"
        yield f"{name}, from the logarithmic optimum", objective, start
        yield f"{name}, from 0", objective, np.zeros(6)
    yield "14 classes, 3 systems and offsets, from 0", many_classes(n_trials // 10, 3, 14), np.zeros(17)


def compare(title: str, objective: Callable[..., Derivatives], start: np.ndarray, rounds: int) -> None:
    """Print the table for one objective."""
    jobs = {solver: (lambda solver=solver: solved(objective, start, solver)) for solver in SOLVERS}
    results = {solver: job() for solver, job in jobs.items()}
    timings = measure(jobs, rounds)
    ends = {solver: objective(result[0]) for solver, result in results.items()}
    least = min(at.value for at in ends.values())
    table = Table(title=title, title_justify="left")
    for heading in ("solver", "passes", "short ones", "time [ms]", "ratio", "gradient", "above the least", "says"):
        table.add_column(heading, justify="left" if heading in ("solver", "says") else "right")
    for solver, (_, counted, says) in results.items():
        at, best = ends[solver], timings[solver].best
        table.add_row(
            solver,
            str(counted.full),
            str(counted.short),
            f"{best * 1e3:.0f}",
            f"{best / timings['deciban'].best:.2f}",
            f"{np.linalg.norm(at.gradient) / at.value:.0e}",
            f"{at.value / least - 1.0:.0e}",
            says,
        )
    Console(width=130).print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=10**6)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    print(machine())
    for title, objective, start in cases(options.trials):
        compare(title, objective, start, options.rounds)


if __name__ == "__main__":
    main()
