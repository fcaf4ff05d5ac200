"""How often 95 % intervals hold the value of the population, where speakers are simulated and the population is known.

    python benchmarks/interval_coverage.py --speakers 30 100 400 --draws 400

Scores are normal: a speaker makes all of its targets easier or harder, and all non-targets with it on either side.
Their distribution over all speakers is known, so that figures of the population come from a fine grid with weights. A
second system has the same trials and more noise; its differences from the first are subtractions of influences.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.special import stdtrit
from scipy.stats import norm

from deciban.evaluation import Evaluation, TwoClassFigures, evaluate
from deciban.evaluation.uncertainty import Figure

FIGURES = TwoClassFigures(
    [0.05, 0.5, 0.01],
    eer_conventions=True,
    fnmr_at=[0.01, 0.1],
    fmr_at=[0.1],
    at_thresholds={"": 0.5},
    posteriors_at=[0.1],
    factors=[1.0, 10.0],
)
MEANS, SPREADS, NOISE = (2.8, -2.5), (np.sqrt(2.69), np.sqrt(2.67)), 0.8
DESIGNS = (
    "crossed, balanced",
    "crossed, unbalanced",
    "one-sided, balanced",
    "one-sided, unbalanced",
    "trials as units",
)
DIFFERENCES: tuple[Figure, ...] = ("eer", "auc", "cllr", "min_cllr", "calibration_loss", ("act_dcf", 0), ("min_dcf", 0))


def segments(n_speakers: int, design: str) -> np.ndarray:
    """Numbers of segments of each speaker: 3, or from 1 to 25."""
    drawn = np.random.default_rng(7).lognormal(1.0, 0.9, n_speakers)
    return np.clip(np.round(drawn), 1, 25).astype(int) if "unbalanced" in design else np.full(n_speakers, 3)


def draw(design: str, n_speakers: int, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Scores of targets and non-targets, and their units."""
    easy, loud, soft = rng.normal(0, [[1.0], [0.7], [0.7]], (3, n_speakers))
    owner = np.repeat(np.arange(n_speakers), segments(n_speakers, design))
    if design == "trials as units":
        tar, non = (rng.normal(m, s, n) for m, s, n in zip(MEANS, SPREADS, (n_speakers, 4 * n_speakers), strict=True))
        return tar, non, np.arange(n_speakers), n_speakers + np.arange(4 * n_speakers)
    if "one-sided" in design:
        four = np.repeat(owner, 4)
        tar = rng.normal(MEANS[0] + easy[owner], np.sqrt(1.69))
        return tar, rng.normal(MEANS[1] + loud[four], np.sqrt(2.18)), owner, four
    scores = rng.normal(0, 1.2, (n_speakers, len(owner))) + rng.normal(0, 0.5, len(owner))
    model, test = np.broadcast_arrays(np.arange(n_speakers)[:, None], owner)
    same = model == test
    scores += np.where(same, MEANS[0] + easy[:, None], MEANS[1] + loud[:, None] + soft[owner])
    return scores[same], scores[~same], model[same], np.stack((model[~same], test[~same]), axis=1)


def population(n_tar: int, n_non: int, noise: float) -> Evaluation:
    """Figures of all speakers, for as many trials."""
    grid = np.linspace(-16.0, 16.0, 40001)
    spreads = [np.hypot(spread, noise) for spread in SPREADS]
    weights = [
        norm.pdf(grid, m, s) * n * (grid[1] - grid[0]) for m, s, n in zip(MEANS, spreads, (n_tar, n_non), strict=True)
    ]
    return evaluate(grid, grid, operating_points=FIGURES, tar_weights=weights[0], non_weights=weights[1])


def truth_of(population: Evaluation, found: Evaluation, figure: Figure) -> float:
    """A figure of the population; rates at a threshold that was found in the trials are its rates at that threshold."""
    name = figure if isinstance(figure, str) else figure[0]
    places = {"eer_p": found.eer_threshold}
    if name.startswith("min_p") and not isinstance(figure, str):
        places["min_p"] = found.operating_points[int(figure[1])].min_threshold
    for start, threshold in places.items():
        if name.startswith(start):
            below = [float(norm.cdf(threshold, m, s)) for m, s in zip(MEANS, SPREADS, strict=True)]
            return below[0] if name.endswith("miss") else 1.0 - below[1]
    return value(population, figure)


def value(found: Evaluation, figure: Figure) -> float:
    """A figure by its name."""
    if isinstance(figure, str):
        return float(getattr(found, figure))
    name, at, asked = figure[0], figure[1], found.requested
    places: dict[str, Any] = {
        "eer_conventions": lambda: asked.eer_conventions[at],
        "rates_at": lambda: asked.rates_at[at].rate,
        "misleading_tar": lambda: found.misleading[at].p_tar,
        "misleading_non": lambda: found.misleading[at].p_non,
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


def runs(design: str, n_speakers: int, draws: int, seed: int) -> Iterator[tuple[Evaluation, Evaluation]]:
    """Evaluations of both systems on new speakers every time."""
    rng = np.random.default_rng([seed, n_speakers, DESIGNS.index(design)])
    for _ in range(draws):
        tar, non, tar_units, non_units = draw(design, n_speakers, rng)
        how: Any = {"operating_points": FIGURES, "tar_units": tar_units, "non_units": non_units}
        noisy = [scores + rng.normal(0, NOISE, len(scores)) for scores in (tar, non)]
        yield evaluate(tar, non, **how), evaluate(*noisy, **how)


def difference_holds(first: Evaluation, second: Evaluation, figure: Figure, truth: float) -> bool:
    """Whether the paired interval of a difference holds the true one."""
    a, b = first.uncertainty, second.uncertainty
    assert a is not None and b is not None  # noqa: S101, PT018  # units are known
    gap = a.influences[figure] - b.influences[figure]
    error = np.sqrt(a.n_units / (a.n_units - 1) * (gap @ gap))
    middle = [
        one.value if one.corrected is None else one.corrected for one in (a.estimates[figure], b.estimates[figure])
    ]
    return bool(abs(middle[0] - middle[1] - truth) <= stdtrit(a.n_units - 1, 0.975) * error)


def coverage(design: str, n_speakers: int, draws: int, seed: int) -> dict[str, tuple[float, ...]]:
    """Share of draws whose interval holds the true value, and the mean estimate and correction over it."""
    held: dict[str, list[tuple[float, float, float]]] = {}
    truth: list[Evaluation] = []
    for first, second in runs(design, n_speakers, draws, seed):
        truth = truth or [population(int(first.n_tar), int(first.n_non), noise) for noise in (0.0, NOISE)]
        assert first.uncertainty is not None  # noqa: S101  # units are known
        for figure in first.uncertainty.estimates:
            true, found = truth_of(truth[0], first, figure), first.interval(figure)
            middle = found.estimate if found.corrected is None else found.corrected
            row = (
                float(found.low <= true <= found.high),
                found.estimate / true if true else 1.0,
                middle / true if true else 1.0,
            )
            held.setdefault(_name(figure), []).append(row)
        for figure in DIFFERENCES:
            gap = value(truth[0], figure) - value(truth[1], figure)
            row = (float(difference_holds(first, second, figure, gap)), np.nan, np.nan)
            held.setdefault(f"difference of {_name(figure)}", []).append(row)
    return {name: tuple(np.mean(rows, axis=0)) for name, rows in held.items()}


def _name(figure: Figure) -> str:
    if isinstance(figure, str):
        return figure
    name, at = figure[0], figure[1]
    points = {0: "0.05", 1: "0.5", 2: "0.01"}
    if name in ("act_dcf", "min_dcf", "p_miss", "p_fa", "min_p_miss", "min_p_fa"):
        return f"{name} at {points[int(at)]}"
    if name == "rates_at":
        return ("fnmr at fmr 0.01", "fnmr at fmr 0.1", "fmr at fnmr 0.1")[int(at)]
    if name.startswith("misleading"):
        return f"{name} beyond {FIGURES.factors[int(at)]:g}"
    return f"{name} {at}" if name == "eer_conventions" else name


def main() -> None:
    """Print a table for each number of speakers: figures in rows, designs in columns."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--speakers", type=int, nargs="+", default=[30, 100, 400])
    parser.add_argument("--draws", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    for n_speakers in given.speakers:
        columns = [coverage(design, n_speakers, given.draws, given.seed) for design in DESIGNS]
        print(f"\n{n_speakers} speakers, {given.draws} draws\n")
        print(f"| figure | {' | '.join(DESIGNS)} | estimate, crossed | corrected, crossed |")
        print("|---" * (len(DESIGNS) + 3) + "|")
        for name in columns[0]:
            cells = [f"{100 * column[name][0]:.1f}" if name in column else "" for column in columns]
            means = ["" if np.isnan(mean) else f"{mean:.3f}" for mean in columns[0][name][1:]]
            print(f"| {name} | {' | '.join([*cells, *means])} |", flush=True)


if __name__ == "__main__":
    main()
