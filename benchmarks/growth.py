"""How processor time grows with trials, classes, systems and units: a table and a plot.

    python benchmarks/growth.py                  # up to 10^7 trials: about five minutes
    python benchmarks/growth.py --trials 1e8     # needs 4 GB
    python benchmarks/growth.py --write          # also writes the tables of docs/growth.md and its plot

Times are processor time of one process with one BLAS thread: the least of three rounds, after a first round that
loads modules. The reference is `numpy.sort` of the same scores, or the sum of the same log-likelihoods.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import re
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from deciban.evaluation import evaluate, evaluate_classes
from deciban.fusion import LinearFusion
from side_by_side import machine

PAGE = Path(__file__).parents[1] / "docs" / "growth.md"
PLOT = PAGE.parent / "images" / "growth.svg"
Rows = list[tuple[int, float, float]]
"""Size, and processor seconds of deciban and of the limit."""


def seconds(job: Callable[[], object], rounds: int = 3) -> float:
    """Return the least processor time of a job."""
    found = []
    for _ in range(rounds):
        begun = time.process_time()
        job()
        found.append(time.process_time() - begun)
    return min(found)


def scores(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return scores of 1 % targets and 99 % non-targets."""
    draw, n_tar = np.random.default_rng(seed), max(n // 100, 10)
    return draw.normal(2.0, 1.0, n_tar), draw.normal(-2.0, 1.0, n - n_tar)


def by_trials(most: int) -> Rows:
    """Time `evaluate` by the number of trials; the limit is a sort."""
    found: Rows = []
    for n in (10**k for k in range(3, 9) if 10**k <= most):
        tar, non = scores(n)
        both = np.concatenate((tar, non))
        found.append((n, seconds(partial(evaluate, tar, non)), seconds(partial(np.sort, both))))
    return found


def with_intervals(tar: np.ndarray, non: np.ndarray, **units: np.ndarray) -> None:
    """Evaluate, and read the intervals of a table: they are computed when they are read."""
    result = evaluate(tar, non, **units)
    for metric in ("eer", "min_dcf", "act_dcf", "cllr", "min_cllr", "calibration_loss", "auc"):
        result.interval(metric)


def by_units(n: int = 10**6) -> Rows:
    """Time `evaluate` of a million trials by the number of their speakers; the limit is `evaluate` without them."""
    draw, (tar, non) = np.random.default_rng(1), scores(n)
    alone, found = seconds(partial(evaluate, tar, non)), []
    for n_units in (10**k for k in range(1, 6)):
        units = {"tar_units": draw.integers(0, n_units, len(tar)), "non_units": draw.integers(0, n_units, len(non))}
        found.append((n_units, seconds(partial(with_intervals, tar, non, **units)), alone))
    return found


def by_classes(n: int = 10**4) -> Rows:
    """Time `evaluate_classes` of ten thousand segments by the number of classes; the limit is a sum of all scores."""
    draw, found = np.random.default_rng(2), []
    for n_classes in (10, 30, 100, 300, 1000):
        label = np.arange(n) % n_classes
        loglik = draw.normal(size=(n, n_classes)) + 2.0 * np.eye(n_classes)[label]
        spent = seconds(partial(evaluate_classes, loglik, label), rounds=2)
        found.append((n_classes, spent, seconds(loglik.sum)))
    return found


def by_systems(n: int = 10**6) -> Rows:
    """Time the training of a fusion of a million trials by the number of systems; the limit is a sum of all scores."""
    draw, found = np.random.default_rng(3), []
    truth = draw.random(n) < 0.1
    for n_systems in (1, 2, 5, 10, 20):
        matrix = draw.normal(size=(n, n_systems)) + 0.6 * truth[:, None]
        found.append((n_systems, seconds(partial(LinearFusion().fit, matrix, truth)), seconds(matrix.sum)))
    return found


def table(rows: Rows, size: str, job: str, limit: str) -> str:
    """Return rows as a table in Markdown, with the growth from row to row: the exponent of a power of the size."""
    lines = [f"| {size} | {job} [s] | {limit} [s] | ratio | growth |", "|---:|---:|---:|---:|---:|"]
    for at, (n, spent, least) in enumerate(rows):
        before = rows[at - 1] if at else None
        slope = "" if before is None else f"{np.log(spent / before[1]) / np.log(n / before[0]):.2f}"
        lines.append(f"| {n:,} | {spent:.3g} | {least:.3g} | {spent / least:.3g} | {slope} |")
    return "\n".join(lines)


def drawn(rows: dict[str, Rows]) -> None:
    """Write the plot of all tables."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "growth"
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 6.5), layout="constrained")
    axes = figure.subplots(2, 2, sharey=True).ravel()
    for place, (title, own) in zip(axes, rows.items(), strict=True):
        sizes, spent, least = zip(*own, strict=True)
        place.loglog(sizes, spent, "o-", label="deciban")
        place.loglog(sizes, least, "s--", color="0.5", label="reference")
        place.set(title=title.replace("10^4", "$10^4$").replace("10^6", "$10^6$"), ylabel="processor time [s]")
        place.grid(alpha=0.3)
    axes[0].legend()
    figure.savefig(PLOT, metadata={"Date": None})


def main() -> None:
    """Measure, print, and write on request."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=float, default=1e7, help="largest number of trials")
    parser.add_argument("--write", action="store_true", help="write docs/growth.md and its plot")
    given = parser.parse_args()
    where = machine()
    seconds(partial(evaluate, *scores(1000)), rounds=1)
    units = by_units()  # first: many trials load compiled loops, which would make the limit of the units faster
    rows = {
        "trials": by_trials(int(given.trials)),
        "speakers of 10^6 trials": units,
        "classes of 10^4 segments": by_classes(),
        "systems of 10^6 trials": by_systems(),
    }
    tables = {
        "trials": table(rows["trials"], "trials", "evaluate", "sort"),
        "units": table(rows["speakers of 10^6 trials"], "speakers", "evaluate", "without speakers"),
        "classes": table(rows["classes of 10^4 segments"], "classes", "evaluate_classes", "sum"),
        "systems": table(rows["systems of 10^6 trials"], "systems", "LinearFusion.fit", "sum"),
        "machine": where,
    }
    print("\n\n".join(tables.values()))
    if given.write:
        text = PAGE.read_text("utf-8")
        for name, words in tables.items():
            block = f"<!-- {name} -->\n{words}\n<!-- end -->"
            text = re.sub(rf"<!-- {name} -->.*?<!-- end -->", lambda _, b=block: b, text, flags=re.DOTALL)
        PAGE.write_text(text, "utf-8")
        drawn(rows)


if __name__ == "__main__":
    main()
