"""The bootstrap by units against evaluating resampled sets one by one, and against what one writes by hand."""

from __future__ import annotations

import argparse

from side_by_side import machine  # isort: skip  # sets the number of threads first

import time
import tracemalloc
from collections.abc import Callable
from unittest import mock

import numpy as np
from rich.console import Console
from rich.table import Table

from deciban import evaluate, metrics
from deciban.evaluation import evaluate as evaluate_with_units
from deciban.evaluation.two_class import evaluate as influences
from deciban.evaluation.two_class.evaluate import bootstrap_of

P_TARGET = 0.05


def trials(n: int, n_units: int, target_share: float) -> dict[str, np.ndarray]:
    """Scores of two classes with the speakers of both sides, which make trials alike."""
    rng = np.random.default_rng(1)
    n_tar = int(n * target_share)
    speaker, pairs = rng.integers(0, n_units, n_tar), rng.integers(0, n_units, (n - n_tar, 2))
    effect = rng.normal(0.0, 0.7, n_units)
    tar = rng.normal(2.0, 1.4, n_tar) + effect[speaker]
    non = rng.normal(-2.0, 1.4, n - n_tar) + effect[pairs].sum(axis=1) / 2
    return {"tar": tar, "non": non, "tar_units": speaker, "non_units": pairs}


def resampled(made: dict[str, np.ndarray], rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """The scores of a draw of speakers: a trial comes as often as the product of how often its speakers do."""
    n_units = int(made["non_units"].max()) + 1
    times = np.bincount(rng.integers(0, n_units, n_units), minlength=n_units)
    one, other = made["non_units"].T
    of_non = np.where(one == other, times[one], times[one] * times[other])
    return np.repeat(made["tar"], times[made["tar_units"]]), np.repeat(made["non"], of_non)


def by_evaluate(tar: np.ndarray, non: np.ndarray) -> object:
    """All figures of a resampled set."""
    return evaluate(tar, non, operating_points=[P_TARGET])


def by_metrics(tar: np.ndarray, non: np.ndarray) -> object:
    """Only the three figures that are compared, from one sort."""
    scores = metrics.SortedScores(tar, non)
    return scores.rocch.eer(), scores.rocch.min_dcf(p_target=P_TARGET), scores.recalibrated.cllr()


def by_hand(tar: np.ndarray, non: np.ndarray) -> object:
    """EER, minimum DCF and min Cllr with scikit-learn and scipy."""
    from scipy.optimize import isotonic_regression
    from sklearn.metrics import roc_curve

    labels, scores = np.concatenate((np.ones(len(tar)), np.zeros(len(non)))), np.concatenate((tar, non))
    p_fa, p_hit, _ = roc_curve(labels, scores)
    eer = p_fa[np.argmin(np.abs(1 - p_hit - p_fa))]
    min_dcf = np.min(P_TARGET * (1 - p_hit) + (1 - P_TARGET) * p_fa) / P_TARGET
    order = np.argsort(scores, kind="stable")
    share = isotonic_regression(labels[order]).x
    with np.errstate(divide="ignore"):
        llr = np.log(share) - np.log1p(-share) - np.log(len(tar) / len(non))
    is_tar = labels[order] > 0
    cost = np.mean(np.logaddexp(0, -llr[is_tar])) + np.mean(np.logaddexp(0, llr[~is_tar]))
    return eer, min_dcf, cost / (2 * np.log(2))


def seconds(job: Callable[[], object]) -> np.ndarray:
    """How long a job takes, once: by the clock, and of the processors."""
    start = np.array([time.perf_counter(), time.process_time()])
    job()
    return np.array([time.perf_counter(), time.process_time()]) - start


def run(n: int, n_units: int, n_replicates: int, n_sets: int, rounds: int, target_share: float) -> None:
    """Time all of it, interleaved; medians of the rounds count, as others may use the machine."""
    made, rng = trials(n, n_units, target_share), np.random.default_rng(2)
    ways = {
        "speakers drawn, deciban.evaluate": by_evaluate,
        "the same, only the three figures": by_metrics,
        "speakers drawn, scikit-learn and scipy": by_hand,
    }

    def bootstrapped(*given: object) -> object:
        found = list[object]()
        ours.append(seconds(lambda: found.append(bootstrap_of(*given))))
        return found[0]

    linearised, ours, theirs = list[np.ndarray](), list[np.ndarray](), {name: list[np.ndarray]() for name in ways}
    for _ in range(rounds):
        linearised.append(seconds(lambda: evaluate_with_units(**made, operating_points=[P_TARGET])))
        with mock.patch.object(influences, "bootstrap_of", bootstrapped):  # a difference of two times would be noise
            evaluate_with_units(**made, operating_points=[P_TARGET], bootstrap=n_replicates, seed=1)
        for name, way in ways.items():
            sets = [seconds(lambda way=way: way(*resampled(made, rng))) for _ in range(n_sets)]
            theirs[name].append(np.mean(sets, axis=0) * n_replicates)
    once, bootstrap = np.median(linearised, axis=0), np.median(ours, axis=0)
    tracemalloc.start()
    evaluate_with_units(**made, operating_points=[P_TARGET], bootstrap=256, seed=1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    title = f"{n:,} trials, {target_share:.0%} targets, {n_units:,} speakers, {n_replicates:,} replicates"
    table = Table(title=title, title_justify="left")
    for heading in ("way", "s", "times as long", "processor s", "times as much"):
        table.add_column(heading, justify="left" if heading == "way" else "right")
    table.add_row("evaluation with linearised intervals", f"{once[0]:.2f}", "", f"{once[1]:.2f}", "")
    table.add_row("the bootstrap besides, all figures", f"{bootstrap[0]:.2f}", "1", f"{bootstrap[1]:.2f}", "1")
    for name, found in theirs.items():
        total = np.median(found, axis=0)
        pairs = zip(total, total / bootstrap, strict=True)
        table.add_row(f"{name} (scaled)", *(text for t, ratio in pairs for text in (f"{t:,.1f}", f"{ratio:,.0f}")))
    Console().print(table)
    Console().print(f"peak of new memory of the evaluation with its bootstrap: {peak / n:.0f} bytes for each trial")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=10**6)
    parser.add_argument("--units", type=int, default=1000)
    parser.add_argument("--replicates", type=int, default=1000)
    parser.add_argument("--sets", type=int, default=3, help="resampled sets in each round")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--targets", type=float, nargs="+", default=[0.01, 0.5], help="shares of targets")
    args = parser.parse_args()
    print(machine())
    for share in args.targets:
        run(args.trials, args.units, args.replicates, args.sets, args.rounds, share)
