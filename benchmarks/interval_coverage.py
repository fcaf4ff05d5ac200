"""How often 95 % intervals hold the value of the population, where speakers are simulated and the population is known.

    python benchmarks/interval_coverage.py --write         # the table of docs/coverage.md: 15 minutes of one core
    python benchmarks/interval_coverage.py --draws 100 --only crossed

Scores are normal. A speaker makes all of its targets easier or harder, and all of its non-targets, so that the
distribution over all speakers is known and metrics of the population come from a fine grid with weights. A second
system has the same trials and more noise; its differences from the first are subtractions of influences.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import math
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import beta, norm

from deciban.analysis.compared import PairedUnits
from deciban.errors import InputError, topic_of
from deciban.evaluation import Evaluation, TwoClassMetrics, evaluate
from deciban.evaluation.uncertainty import MetricKey

PAGE = Path(__file__).parents[1] / "docs/coverage.md"
METRICS = TwoClassMetrics(
    [0.05, 0.5, 0.01],
    eer_conventions=True,
    fnmr_at=[0.01, 0.1, 0.001],
    fmr_at=[0.1],
    at_thresholds={"": 0.5},
    posteriors_at=[0.1],
    factors=[1.0, 10.0],
)
OF_SECOND = TwoClassMetrics(METRICS.operating_points)
"""Metrics of the second system: only differences from it are looked at."""
OF_POINTS = ("act_dcf", "min_dcf", "p_miss", "p_fa", "min_p_miss", "min_p_fa")
POINTS, NOISE = ("0.05", "0.5", "0.01"), 0.5
DIFFERENCES: tuple[MetricKey, ...] = (
    "eer",
    "auc",
    "cllr",
    "min_cllr",
    "calibration_loss",
    ("act_dcf", 0),
    ("act_dcf", 2),
    ("min_dcf", 0),
)
Trials = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
"""Scores of targets and of non-targets, and their units."""


@dataclass(frozen=True)
class Design:
    """A population of normal scores, and how trials are drawn from it.

    Attributes
    ----------
    name : str
    means, spreads : (float, float)
        Of targets and of non-targets in the population.
    draw : callable
        From a random generator to trials.
    """

    name: str
    means: tuple[float, float]
    spreads: tuple[float, float]
    draw: Callable[[np.random.Generator], Trials]


def separated(eer: float) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return means and spreads of calibrated normal llrs with an equal error rate."""
    spread = -2.0 * float(norm.ppf(eer))
    return (spread**2 / 2, -(spread**2) / 2), (spread, spread)


WIDE = (2.8, -2.5), (math.sqrt(2.69), math.sqrt(2.67))
"""Means and spreads with an equal error rate of 5.3 %, a minimum Cllr of 0.193 and a Cllr of 0.252."""


def crossed(
    n_speakers: int, per_speaker: np.ndarray | str, where: Any = WIDE
) -> Callable[[np.random.Generator], Trials]:
    """Every speaker has a model and some segments, and all models meet all segments; or segments are drawn anew."""
    (mean_tar, mean_non), (spread_tar, spread_non) = where

    def draw(rng: np.random.Generator) -> Trials:
        own = (
            np.clip(np.ceil(rng.pareto(1.0, n_speakers)), 1, 60).astype(int)
            if isinstance(per_speaker, str)
            else per_speaker
        )
        owner = np.repeat(np.arange(n_speakers), own)
        shares = np.sqrt([0.37, 0.18, 0.18])  # of the variance: targets of a speaker; non-targets, of either side
        easy, loud, soft = rng.normal(0, 1, (3, n_speakers)) * shares[:, None]
        channel = rng.normal(0, math.sqrt(0.09), len(owner))
        same = np.arange(n_speakers)[:, None] == owner
        speaker = np.where(same, easy[:, None], loud[:, None] + soft[owner])
        rest = np.where(same, 1.0 - 0.37 - 0.09, 1.0 - 0.36 - 0.09)
        scores = speaker + channel + rng.normal(0, 1, same.shape) * np.sqrt(rest)
        scores = np.where(same, mean_tar + spread_tar * scores, mean_non + spread_non * scores)
        model, test = np.broadcast_arrays(np.arange(n_speakers)[:, None], owner)
        return scores[same], scores[~same], model[same], np.stack((model[~same], test[~same]), axis=1)

    return draw


def one_sided(
    n_speakers: int, n_tar: Any, n_non: Any, where: Any = WIDE, *, shared: float = 0.4, sizes: str = ""
) -> Callable[[np.random.Generator], Trials]:
    """A trial has one speaker, who shifts targets and non-targets; or sizes are drawn anew, with a heavy tail."""
    (mean_tar, mean_non), (spread_tar, spread_non) = where

    def of_class(rng: np.random.Generator, size: np.ndarray, mean: float, spread: float) -> tuple[Any, Any]:
        unit = np.repeat(np.arange(n_speakers), size)
        own = rng.normal(0, math.sqrt(shared), n_speakers)[unit] + rng.normal(0, math.sqrt(1 - shared), len(unit))
        return mean + spread * own, unit

    def draw(rng: np.random.Generator) -> Trials:
        own, other = n_tar, n_non
        if sizes == "Pareto":
            own = np.minimum(np.ceil(rng.pareto(1.2, n_speakers) + 1), 60).astype(int)
            other = 10 * own
        tar, of_tar = of_class(rng, own, mean_tar, spread_tar)
        non, of_non = of_class(rng, other, mean_non, spread_non)
        return tar, non, of_tar, of_non

    return draw


def single(n_tar: int, n_non: int, where: Any = WIDE) -> Callable[[np.random.Generator], Trials]:
    """Trials are independent, and each is a unit."""
    (mean_tar, mean_non), (spread_tar, spread_non) = where

    def draw(rng: np.random.Generator) -> Trials:
        tar, non = rng.normal(mean_tar, spread_tar, n_tar), rng.normal(mean_non, spread_non, n_non)
        return tar, non, np.arange(n_tar), n_tar + np.arange(n_non)

    return draw


def designs() -> Iterator[Design]:
    """Yield the designs of the page on coverage."""

    def of(name: str, make: Any, *about: Any, where: Any = WIDE, **how: Any) -> Design:
        return Design(name, *where, make(*about, where=where, **how))

    for n in (30, 100, 400):
        uneven = np.clip(np.round(np.random.default_rng(7).lognormal(1.0, 0.9, n)), 1, 25).astype(int)
        yield of(f"crossed, {n} speakers x 3", crossed, n, np.full(n, 3))
        yield of(f"crossed, {n} speakers x 1 to 25", crossed, n, uneven)
        yield of(f"one-sided, {n} speakers x 3", one_sided, n, np.full(n, 3), np.full(n, 12))
        yield of(f"one-sided, {n} speakers x 1 to 25", one_sided, n, uneven, 4 * uneven)
        yield of(f"independent, {n} / {4 * n}", single, n, 4 * n)
    for eer, sizes in ((0.02, (1398, 934)), (0.07, (1398, 934)), (0.02, (200, 12000))):
        yield of(f"independent, {sizes[0]} / {sizes[1]}, EER {eer:.0%}", single, *sizes, where=separated(eer))
    for n, own, eer in ((50, 4, 0.005), (50, 4, 0.05), (200, 4, 0.005), (20, 10, 0.05), (12, 4, 0.05), (12, 4, 0.005)):
        many = np.full(n, own), np.full(n, 10 * own)
        yield of(f"one-sided, {n} speakers x {own}, EER {eer:.1%}", one_sided, n, *many, where=separated(eer))
    for n, eer in ((50, 0.005), (100, 0.005), (200, 0.005), (12, 0.05)):
        yield of(f"crossed, {n} speakers x 4, EER {eer:.1%}", crossed, n, np.full(n, 4), where=separated(eer))
    for n in (40, 100):
        yield of(
            f"one-sided, {n} speakers x Pareto, EER 5 %", one_sided, n, 0, 0, where=separated(0.05), sizes="Pareto"
        )
    for n, own in ((100, 5), (400, 5), (30, 10)):
        many = np.full(n, own), np.full(n, 100 * own // (n // 100 or 1))
        yield of(f"independent, {n} units x {own}, EER 0.4 %", one_sided, n, *many, where=separated(0.004), shared=0.0)
    for n in (40, 100):
        yield of(f"crossed, {n} speakers x Pareto, EER 5 %", crossed, n, "Pareto", where=separated(0.05))


def population(design: Design, n_tar: int, n_non: int, noise: float) -> Evaluation:
    """Return the metrics of all speakers, for as many trials."""
    spreads = [spread * math.hypot(1.0, noise) for spread in design.spreads]
    ends = [(m - 9.0 * s, m + 9.0 * s) for m, s in zip(design.means, spreads, strict=True)]
    grid = np.linspace(min(low for low, _ in ends), max(high for _, high in ends), 40001)
    weights = [
        norm.pdf(grid, m, s) * n * (grid[1] - grid[0])
        for m, s, n in zip(design.means, spreads, (n_tar, n_non), strict=True)
    ]
    return evaluate(grid, grid, operating_points=METRICS, tar_weights=weights[0], non_weights=weights[1])


def truth_of(design: Design, known: Evaluation, found: Evaluation, metric: MetricKey) -> float:
    """Return a metric of the population; rates at a threshold found in the trials are its rates at that threshold."""
    name = metric if isinstance(metric, str) else metric[0]
    places = {"eer_p": found.eer_threshold}
    if name.startswith("min_p") and not isinstance(metric, str):
        places["min_p"] = found.operating_points[int(metric[1])].min_threshold
    for start, threshold in places.items():
        if name.startswith(start):
            below = [float(norm.cdf(threshold, m, s)) for m, s in zip(design.means, design.spreads, strict=True)]
            return below[0] if name.endswith("miss") else 1.0 - below[1]
    return value(known, metric)


def value(found: Evaluation, metric: MetricKey) -> float:
    """Return a metric by its name."""
    if isinstance(metric, str):
        return float(getattr(found, metric))
    name, at, asked = metric[0], metric[1], found.requested
    places: dict[str, Any] = {
        "eer_conventions": lambda: asked.eer_conventions[at],
        "rates_at": lambda: asked.rates_at[at].rate,
        "misleading_tar": lambda: found.misleading[at].p_tar,
        "misleading_non": lambda: found.misleading[at].p_non,
        "information": lambda: found.information_at[at].delivered,
        "available": lambda: found.information_at[at].available,
    }
    if name in places:
        return float(places[name]())
    if name.startswith("at_thresholds_"):
        return float(getattr(asked.at_thresholds[at].errors, name.removeprefix("at_thresholds_")))
    for rule in ("log_loss", "brier"):
        if name.startswith(rule):
            parts = getattr(asked.posterior_scores[at], rule)
            return float(getattr(parts, name.removeprefix(rule).removeprefix("_") or "total"))
    return float(getattr(found.operating_points[at], name))


def coverage(design: Design, draws: int, seed: int) -> dict[str, np.ndarray]:
    """Return a row for each draw with an interval, for each metric: see `_row`."""
    rng, rows, known = np.random.default_rng([seed, *design.name.encode()]), dict[str, list[Any]](), list[Evaluation]()
    n_first = 0
    for _ in range(draws):
        tar, non, tar_units, non_units = design.draw(rng)
        how: Any = {"tar_units": tar_units, "non_units": non_units}
        noisy = [x + NOISE * s * rng.normal(0, 1, len(x)) for x, s in zip((tar, non), design.spreads, strict=True)]
        first = evaluate(tar, non, operating_points=METRICS, **how)
        second = evaluate(*noisy, operating_points=OF_SECOND, **how)
        known = known or [population(design, len(tar), len(non), noise) for noise in (0.0, NOISE)]
        n_first = n_first or len(tar)
        if first.uncertainty is None or second.uncertainty is None:
            continue
        for metric in first.uncertainty.estimates:
            true, found = truth_of(design, known[0], first, metric), first.interval(metric)
            true *= len(tar) / n_first if metric == "prbep" else 1.0  # a number of trials
            noted = has_note(first, metric)
            at_end = _name(metric).endswith("calibration_loss") and true < LEAST_LOSS
            rows.setdefault(_name(metric), []).append(_row(true, found.low, found.high, noted=noted, at_end=at_end))
        paired = PairedUnits.of(first.uncertainty, second.uncertainty)
        for metric in DIFFERENCES:
            try:
                gap = paired.difference(metric, 0.95)
            except (InputError, KeyError):
                continue
            true = value(known[0], metric) - value(known[1], metric)
            near_zero = first.uncertainty.loss_may_be_zero(0.95) and second.uncertainty.loss_may_be_zero(0.95)
            noted = any(has_note(one, metric) for one in (first, second))
            noted |= metric == "calibration_loss" and near_zero
            rows.setdefault(f"difference of {_name(metric)}", []).append(_row(true, gap.low, gap.high, noted=noted))
    return {name: np.array(some) for name, some in rows.items()}


LEAST_LOSS = 1e-3
"""Calibration losses below are 0, except for the error of the grid of the population."""

WITH_RARE_COSTS = ("auc", "cllr", "information", "log_loss", "brier")
"""Metrics that the note on few errors names."""


def has_note(found: Evaluation, metric: MetricKey) -> bool:
    """Return whether deciban prints a note about the interval of this metric, or about all intervals."""
    remarks = () if found.uncertainty is None else found.uncertainty.notes
    few = [note for note in found.notes if topic_of(note) == "few-errors"]
    of_all = ("Intervals rest on", "Numbers of trials are unequal")
    if any(note.startswith(of_all) for note in remarks) or any("all metrics are rough" in note for note in few):
        return True
    name, at = (metric, None) if isinstance(metric, str) else metric[:2]
    if name in WITH_RARE_COSTS:
        return any(note.startswith("Only") for note in remarks)
    if name == "rates_at":
        return any(_name(metric) in note for note in remarks)
    if name.startswith("mean_"):
        return bool(few)
    return name in OF_POINTS and any(POINTS[int(at or 0)] in re.split("[ ,]+", note) for note in few)


def _row(true: float, low: float, high: float, *, noted: bool, at_end: bool = False) -> tuple[bool, ...]:
    """Return whether an interval is below the truth, is above it, has a note, and can be on one side only."""
    edge = 1e-12 * abs(true)
    return high < true - edge, low > true + edge, noted, at_end


def _share(k: int, n: int, level: float) -> tuple[float, float]:
    """Return the exact interval of a share (Clopper and Pearson)."""
    side = (1.0 - level) / 2.0
    return (float(beta.ppf(side, k, n - k + 1)) if k else 0.0), (
        float(beta.ppf(1.0 - side, k + 1, n - k)) if k < n else 1.0
    )


def outside(rows: np.ndarray, level: float = 0.95) -> str:
    """Return what is wrong in draws without a note, beyond the error of simulation; nothing if half of them have one.

    The coverage must be from 92 to 98 %, and at most 5 % of the intervals may miss on one side. If all intervals
    contain the least possible value, as of the loss of calibrated scores, the coverage may exceed 98 %.

    Examples
    --------
    >>> right, below = [False, False, False, False], [True, False, False, False]
    >>> outside(np.array([right] * 200)), outside(np.array([below] * 200))
    ('above 98', 'below 92, low')
    """
    silent = rows[~rows[:, 2]]
    n = len(silent)
    if 2 * n < len(rows):
        return ""
    below, above = (int(one) for one in silent[:, :2].sum(axis=0))
    low, high = _share(n - below - above, n, level)
    faults = {
        "above 98": low > 0.98 and not rows[0, 3],
        "below 92": high < 0.92,
        "low": _share(below, n, level)[0] > 0.05,
        "high": _share(above, n, level)[0] > 0.05,
    }
    return ", ".join(name for name, is_so in faults.items() if is_so)


def _name(metric: MetricKey) -> str:
    if isinstance(metric, str):
        return metric
    name, at = metric[0], metric[1]
    if name in OF_POINTS:
        return f"{name} at {POINTS[int(at)]}"
    if name == "rates_at":
        return ("FNMR at FMR 0.01", "FNMR at FMR 0.1", "FNMR at FMR 0.001", "FMR at FNMR 0.1")[int(at)]
    if name.startswith("misleading"):
        return f"{name} beyond {METRICS.factors[int(at)]:g}"
    return f"{name} {at}" if name == "eer_conventions" else name


def _run(work: tuple[int, int, int]) -> dict[str, np.ndarray]:
    place, draws, seed = work
    return coverage(list(designs())[place], draws, seed)


def main() -> None:
    """Print the designs and a row for each metric, or write them into the page on coverage."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="designs whose names contain this")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--write", action="store_true", help="into docs/coverage.md")
    given = parser.parse_args()
    named = [(place, one.name) for place, one in enumerate(designs()) if given.only in one.name]
    with ProcessPoolExecutor(given.processes) as pool:
        columns = list(pool.map(_run, [(place, given.draws, given.seed) for place, _ in named]))
    numbered = "\n".join(f"{k}. {name}" for k, (_, name) in enumerate(named, 1))
    words = f"{numbered}\n\n{table(columns, given.draws)}"
    print(words)
    if given.write:
        write(PAGE, "designs", words)


def table(columns: list[dict[str, np.ndarray]], draws: int) -> str:
    """Return a row for each metric: its range of coverage, and the designs with exceptions by their numbers.

    Designs with an interval in less than 5 % of the draws do not count. Designs above 98 % are only counted. The last
    column has designs that are `outside`. Rows that repeat another are left out.
    """
    lines = [
        "| metric | coverage | below 92 | above 98 | misses on one side above 5 | outside without a note |",
        "|---|---|---|---|---|---|",
    ]
    shares, known = [], list[list[str]]()
    for metric in dict.fromkeys(name for column in columns for name in column):
        found = {k: column[metric] for k, column in enumerate(columns, 1) if metric in column}
        found = {k: rows for k, rows in found.items() if len(rows) >= 0.05 * draws}
        if not found:
            continue
        misses = {k: 100 * rows[:, :2].mean(axis=0) for k, rows in found.items()}
        held = {k: 100.0 - both.sum() for k, both in misses.items()}
        cells = [
            f"{min(held.values()):.1f} to {max(held.values()):.1f}",
            "; ".join(f"{k}: {share:.1f}" for k, share in held.items() if share < 92.0),
            str(sum(share > 98.0 for share in held.values()) or ""),
            "; ".join(
                f"{k}: {share:.1f} {side}"
                for k, both in misses.items()
                for share, side in zip(both, ("low", "high"), strict=True)
                if share > 5.0
            ),
            "; ".join(f"{k}: {fault}" for k, rows in found.items() if (fault := outside(rows))),
        ]
        shares += held.values()
        if cells not in known:
            lines.append(f"| {metric} | {' | '.join(cells)} |")
            known.append(cells)
    held = np.array(shares)
    of_all = {"from 92 to 98 %": (held >= 92) & (held <= 98), "above": held > 98, "below": held < 92}
    parts = ", ".join(f"{100 * part.mean():.0f} % {name}" for name, part in of_all.items())
    return "\n".join([*lines, "", f"Of {len(held)} cells, {parts}."])


def write(page: Path, name: str, words: str) -> None:
    """Put text between the marks of this name on a page."""
    text = page.read_text("utf-8")
    start, end = f"<!-- {name} -->\n", "\n<!-- end -->"
    before, _, rest = text.partition(start)
    page.write_text(before + start + words + end + rest.partition(end)[2], "utf-8")


if __name__ == "__main__":
    main()
