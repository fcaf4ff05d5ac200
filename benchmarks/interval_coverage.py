"""How often 95 % intervals hold the value of the population, where speakers are simulated and the population is known.

    python benchmarks/interval_coverage.py                 # all designs, as in docs/coverage.md
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
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import norm

from deciban.analysis.compared import PairedUnits
from deciban.errors import InputError
from deciban.evaluation import Evaluation, TwoClassFigures, evaluate
from deciban.evaluation.uncertainty import Figure

METRICS = TwoClassFigures(
    [0.05, 0.5, 0.01],
    eer_conventions=True,
    fnmr_at=[0.01, 0.1, 0.001],
    fmr_at=[0.1],
    at_thresholds={"": 0.5},
    posteriors_at=[0.1],
    factors=[1.0, 10.0],
)
POINTS, NOISE = ("0.05", "0.5", "0.01"), 0.5
DIFFERENCES: tuple[Figure, ...] = (
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


def crossed(n_speakers: int, per_speaker: np.ndarray, where: Any = WIDE) -> Callable[[np.random.Generator], Trials]:
    """Every speaker has a model and some segments, and all models meet all segments."""
    (mean_tar, mean_non), (spread_tar, spread_non) = where
    owner = np.repeat(np.arange(n_speakers), per_speaker)

    def draw(rng: np.random.Generator) -> Trials:
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


def truth_of(design: Design, known: Evaluation, found: Evaluation, metric: Figure) -> float:
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


def value(found: Evaluation, metric: Figure) -> float:
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
    """Return for each metric the shares of draws whose interval holds the truth, lies below it, and lies above it.

    Then the mean estimate and the mean corrected estimate over the truth, and the median width over the truth.
    """
    rng, rows, known = np.random.default_rng([seed, *design.name.encode()]), dict[str, list[Any]](), list[Evaluation]()
    for _ in range(draws):
        tar, non, tar_units, non_units = design.draw(rng)
        how: Any = {"operating_points": METRICS, "tar_units": tar_units, "non_units": non_units}
        noisy = [x + NOISE * s * rng.normal(0, 1, len(x)) for x, s in zip((tar, non), design.spreads, strict=True)]
        first, second = evaluate(tar, non, **how), evaluate(*noisy, **how)
        known = known or [population(design, len(tar), len(non), noise) for noise in (0.0, NOISE)]
        if first.uncertainty is None or second.uncertainty is None:
            continue
        for metric in first.uncertainty.estimates:
            true, found = truth_of(design, known[0], first, metric), first.interval(metric)
            middle = found.estimate if found.corrected is None else found.corrected
            rows.setdefault(_name(metric), []).append(_row(true, found.estimate, middle, found.low, found.high))
        paired = PairedUnits.of(first.uncertainty, second.uncertainty)
        for metric in DIFFERENCES:
            try:
                gap = paired.difference(metric, 0.95)
            except (InputError, KeyError):
                continue
            true = value(known[0], metric) - value(known[1], metric)
            rows.setdefault(f"difference of {_name(metric)}", []).append(
                _row(true, gap.estimate, gap.estimate, gap.low, gap.high)
            )
    return {name: np.append(np.mean(some, axis=0), len(some) / draws) for name, some in rows.items()}


def _row(true: float, estimate: float, corrected: float, low: float, high: float) -> tuple[float, ...]:
    size = true or 1.0
    edge = 1e-12 * abs(true)
    is_below, is_above = high < true - edge, low > true + edge
    return (
        float(not is_below and not is_above),
        float(is_below),
        float(is_above),
        estimate / size,
        corrected / size,
        (high - low) / abs(size),
    )


def _name(metric: Figure) -> str:
    if isinstance(metric, str):
        return metric
    name, at = metric[0], metric[1]
    if name in ("act_dcf", "min_dcf", "p_miss", "p_fa", "min_p_miss", "min_p_fa"):
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
    """Print tables: metrics in rows, designs in columns."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="designs whose names contain this")
    parser.add_argument("--processes", type=int, default=2)
    given = parser.parse_args()
    named = [(place, one.name) for place, one in enumerate(designs()) if given.only in one.name]
    with ProcessPoolExecutor(given.processes) as pool:
        columns = list(pool.map(_run, [(place, given.draws, given.seed) for place, _ in named]))
    for first in range(0, len(named), 5):
        _print([name for _, name in named[first : first + 5]], columns[first : first + 5])


def _print(names: list[str], columns: list[dict[str, np.ndarray]]) -> None:
    print(f"\n| metric | {' | '.join(names)} |")
    print("|---" * (len(names) + 1) + "|")
    for metric in dict.fromkeys(name for column in columns for name in column):
        print(f"| {metric} | {' | '.join(_cell(column.get(metric)) for column in columns)} |")


def _cell(found: np.ndarray | None) -> str:
    """Coverage in percent; one-sided misses above 5 % and refusals beside it."""
    if found is None:
        return "none"
    held, below, above, *_, known = found.tolist()
    words = f"{100 * held:.1f}"
    sides = [f"{100 * share:.1f} {side}" for share, side in ((below, "low"), (above, "high")) if share > 0.05]
    refused = [f"{1 - known:.0%} none"] if known < 1.0 else []
    return f"{words} ({', '.join(sides + refused)})" if sides or refused else words


if __name__ == "__main__":
    main()
