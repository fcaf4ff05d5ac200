"""Rank figures, actual costs and whole evaluations of unsorted scores, against one sort or sum, scikit-learn and scipy.

Ours are given the scores of each class, as our functions are, or scores with labels, as the rivals are.
"""

from __future__ import annotations

import argparse

from side_by_side import machine, measure, show  # isort: skip  # sets the number of threads first

import numpy as np
from scipy.optimize import isotonic_regression

from deciban import OperatingPoint, evaluate
from deciban.metrics import SortedScores, act_dcf, cllr

LOG_ODDS = np.linspace(-7, 7, 1000)
POINTS = [OperatingPoint(1 / (1 + np.exp(-x))) for x in LOG_ODDS]


def ranks(tar: np.ndarray, non: np.ndarray) -> tuple[float, float, float, float]:
    """PAV, ROCCH, EER, PRBEP, min Cllr and minimum DCF at 1000 operating points."""
    scores = SortedScores(tar, non)
    least = scores.rocch.min_dcf(prior_log_odds=LOG_ODDS)
    return scores.rocch.eer(), scores.rocch.prbep(), scores.recalibrated.cllr(), np.sum(least)


def apart(scores: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The scores of each class."""
    is_target = labels > 0
    return scores[is_target], scores[~is_target]


def actual_costs(scores: np.ndarray, labels: np.ndarray, rounds: int, title: str) -> None:
    """Print the table of what needs no order: decisions at thresholds, and costs of soft decisions."""
    tar, non = apart(scores, labels)
    np.testing.assert_allclose(cllr(tar, non), cllr_by_hand(tar, non), rtol=1e-12)
    jobs = {
        "s.sum()": scores.sum,
        "act_dcf": lambda: act_dcf(tar, non, p_target=0.01),
        "act_dcf at 1000 points": lambda: act_dcf(tar, non, prior_log_odds=LOG_ODDS),
        "np.histogram of 1000 edges": lambda: np.histogram(scores, LOG_ODDS),
        "cllr": lambda: cllr(tar, non),
        "cllr by np.logaddexp": lambda: cllr_by_hand(tar, non),
    }
    show(title, measure(jobs, rounds), "s.sum()", len(scores))


def cllr_by_hand(tar: np.ndarray, non: np.ndarray) -> float:
    """What stands in many scripts."""
    return float((np.logaddexp(0, -tar).mean() + np.logaddexp(0, non).mean()) / 2 / np.log(2))


def with_scipy(scores: np.ndarray, labels: np.ndarray) -> tuple[float, float]:
    """What the careful do by hand: argsort, scipy's PAV, EER and min Cllr."""
    order = np.argsort(scores)
    p = isotonic_regression(labels[order]).x
    return from_posterior(p, labels[order])


def with_scikit_learn(scores: np.ndarray, labels: np.ndarray) -> tuple[float, float]:
    """What most do: scikit-learn's PAV, EER and min Cllr."""
    from sklearn.isotonic import IsotonicRegression

    p = IsotonicRegression(y_min=0, y_max=1).fit_transform(scores, labels)
    order = np.argsort(scores)
    return from_posterior(p[order], labels[order])


def from_posterior(p: np.ndarray, labels: np.ndarray) -> tuple[float, float]:
    """EER on the hull and min Cllr from PAV posteriors of sorted scores."""
    starts = np.flatnonzero(np.concatenate(([True], p[1:] != p[:-1])))
    n_tar = np.add.reduceat(labels, starts)
    n_non = np.diff(starts, append=len(p)) - n_tar
    miss = np.concatenate(([0], np.cumsum(n_tar))) / n_tar.sum()
    fa = 1 - np.concatenate(([0], np.cumsum(n_non))) / n_non.sum()
    i = int(np.argmax(fa <= miss))
    gap = fa - miss
    share = gap[i - 1] / (gap[i - 1] - gap[i])
    with np.errstate(divide="ignore", invalid="ignore"):
        odds = n_tar / n_tar.sum() / (n_non / n_non.sum())
        cost = np.nansum(n_tar * np.log1p(1 / odds)) / n_tar.sum() + np.nansum(n_non * np.log1p(odds)) / n_non.sum()
    return fa[i - 1] * (1 - share) + fa[i] * share, cost / 2 / np.log(2)


def compare(n_trials: int, share: float, rounds: int, *, rivals: bool) -> None:
    """Print the table for one share of targets."""
    rng = np.random.default_rng(1)
    n_tar = int(n_trials * share)
    tar, non = rng.normal(3, 2, n_tar), rng.normal(0, 1, n_trials - n_tar)
    order = rng.permutation(n_trials)
    scores = np.concatenate((tar, non))[order]
    labels = (order < n_tar).astype(np.float64)
    del order
    jobs = {
        "np.sort": lambda: np.sort(scores),
        "deciban, rank figures": lambda: ranks(tar, non),
        "deciban, rank figures from labels": lambda: ranks(*apart(scores, labels)),
        "deciban.evaluate, 1000 points": lambda: evaluate(tar, non, operating_points=POINTS),
    }
    if rivals:
        jobs["argsort + scipy isotonic_regression"] = lambda: with_scipy(scores, labels)
        jobs["scikit-learn IsotonicRegression"] = lambda: with_scikit_learn(scores, labels)
        np.testing.assert_allclose(with_scipy(scores, labels), np.array(ranks(tar, non))[[0, 2]], rtol=1e-9)
    title = f"{n_trials:,} trials, {share:.0%} targets"
    show(title, measure(jobs, rounds), "np.sort", n_trials)
    actual_costs(scores, labels, rounds, title)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=10**7)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--no-rivals", action="store_true", help="time deciban and the sort only")
    options = parser.parse_args()
    print(machine())
    for share in (0.01, 0.5):
        compare(options.trials, share, options.rounds, rivals=not options.no_rivals)


if __name__ == "__main__":
    main()
