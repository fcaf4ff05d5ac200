"""Evaluations with and without intervals by units: a thousand speakers, one on either side of a non-target trial.

With ``--classes`` of so many classes, of which speakers have segments.
"""

import argparse

from side_by_side import machine, measure, show  # isort: skip  # sets the number of threads first

import numpy as np

from deciban.core.resampling.units import TrialUnits, keys_of
from deciban.evaluation import evaluate, evaluate_classes


def main() -> None:
    """Time both, of two classes at two shares of targets."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=10**6)
    parser.add_argument("--units", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--classes", type=int, default=2)
    given = parser.parse_args()
    print(machine())
    if given.classes > 2:
        many_classes(given)
    else:
        two_classes(given)


def two_classes(given: argparse.Namespace) -> None:
    """Time evaluations of two classes."""
    rng, keys = np.random.default_rng(0), keys_of(np.arange(given.units))
    for share in (0.01, 0.5):
        n_tar = int(given.trials * share)
        tar, non = rng.normal(3, 2, n_tar), rng.normal(-3, 2, given.trials - n_tar)
        sides = [rng.integers(0, given.units, (k, len(own)), np.int32) for k, own in ((1, tar), (2, non))]
        units = [TrialUnits(tuple(one), keys) for one in sides]
        known = {"tar_units": units[0], "non_units": units[1]}
        jobs = {
            "evaluate": lambda tar=tar, non=non: evaluate(tar, non),
            "with intervals": lambda tar=tar, non=non, known=known: evaluate(tar, non, **known),
            "without correction": lambda tar=tar, non=non, known=known: evaluate(tar, non, **known, optimism=False),
        }
        show(f"{given.trials:,} trials, {share:.0%} targets", measure(jobs, given.rounds), "evaluate", given.trials)


def many_classes(given: argparse.Namespace) -> None:
    """Time evaluations of many classes."""
    rng, n = np.random.default_rng(0), given.classes
    label = rng.integers(0, n, given.trials)
    loglik = rng.normal(size=(given.trials, n)) + 2.0 * np.eye(n)[label]
    units = TrialUnits((rng.integers(0, given.units, given.trials),), keys_of(np.arange(given.units)))
    jobs = {
        "evaluate": lambda: evaluate_classes(loglik, label),
        "with intervals": lambda: evaluate_classes(loglik, label, units=units),
        "without correction": lambda: evaluate_classes(loglik, label, units=units, optimism=False),
    }
    show(f"{given.trials:,} trials of {n} classes", measure(jobs, given.rounds), "evaluate", given.trials)


if __name__ == "__main__":
    main()
