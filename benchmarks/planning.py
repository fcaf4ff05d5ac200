"""Standard errors that plans predict, against those of simulated evaluations of that size.

Pilots of 30 speakers with 3 segments each, all against all, are drawn again and again; each predicts the standard error
of every figure for other numbers of speakers and segments (`deciban.analysis.planning.Planner`). Evaluations of that
size are drawn, too, and the standard deviation of their figures is what should have come out (first table); what their
intervals say it is decides how wide these are (second table).

    python benchmarks/planning.py --draws 300 --pilots 60
    python benchmarks/planning.py --minima
"""

from __future__ import annotations

import argparse

import numpy as np

from deciban.analysis.pilots import Pilot, pilot_of_trials
from deciban.analysis.planning import Goal, Planner
from deciban.core.resampling.units import together
from deciban.evaluation import TwoClassMetrics, evaluate

PILOT = (30, 3)
SIZES = ((30, 3), (30, 1), (30, 10), (100, 3), (100, 1), (400, 3))
FIGURES = ("eer", "act_dcf", "min_dcf", "cllr", "min_cllr")
MINIMA = ("min_cllr", "min_dcf", "eer")
POINTS = [0.05]


def drawn(rng: np.random.Generator, n: int, n_segments: int) -> tuple:
    """Scores of all models against all segments, with effects of speakers on both sides, of segments and of pairs."""
    own, first, second = rng.normal(0, 1.0, n), rng.normal(0, 0.7, n), rng.normal(0, 0.7, n)
    segment = rng.normal(0, 0.8, (n, n_segments))
    pair = rng.normal(0, 0.4, (n, n))
    model, test, at = (one.ravel() for one in np.indices((n, n, n_segments)))
    noise = rng.normal(0, 1.0, len(model))
    non = -2.5 + first[model] + second[test] + pair[model, test] + pair[test, model] + segment[test, at] + noise
    same = model == test
    scores = np.where(same, 2.8 + own[model] + segment[test, at] + noise, non)
    units, names = np.stack((model, test), axis=1), np.stack((model, n + test * n_segments + at), axis=1)
    return scores, same, units, names


def figures_of(scores: np.ndarray, same: np.ndarray, units: np.ndarray) -> list[tuple[float, float]]:
    """The figures of one draw, with the standard errors of their intervals."""
    how = {"tar_units": units[same], "non_units": units[~same], "optimism": True}
    found = evaluate(scores[same], scores[~same], operating_points=POINTS, **how)
    intervals = [found.interval(name) for name in FIGURES]
    return [(one.estimate, one.standard_error) for one in intervals]


def pilots(rng: np.random.Generator, size: tuple[int, int], figures: tuple[str, ...]) -> list[Pilot]:
    """One draw as a pilot for each figure."""
    scores, same, units, names = drawn(rng, *size)
    of_units = together([(units[same], "tar"), (units[~same], "non")], noun="speaker")
    of_names = together([(names[same], "tar"), (names[~same], "non")], noun="segment")
    how = {"names": ["pilot"], "figures": TwoClassMetrics(POINTS)}
    known = [(scores[same], scores[~same])], (of_units[0], of_units[1]), (of_names[0], of_names[1])
    return [pilot_of_trials(*known, metric=figure, **how) for figure in figures]


def print_minima(rng: np.random.Generator) -> None:
    """How much larger standard errors of minima are than with decisions held fixed, at several sizes."""
    sizes = {(30, 1): 60, (30, 3): 60, (30, 10): 30, (100, 1): 30, (100, 3): 16, (200, 3): 8, (400, 1): 5, (400, 3): 3}
    print("| speakers, segments | " + " | ".join(MINIMA) + " |")
    print("|---" * (len(MINIMA) + 1) + "|")
    for size, n_draws in sizes.items():
        found = np.array([[one.growth for one in pilots(rng, size, MINIMA)] for _ in range(n_draws)])
        cells = [f"{one:.2f}" for one in np.sqrt(np.mean(found**2, axis=0))]
        print(f"| {size[0]}, {size[1]} | " + " | ".join(cells) + " |", flush=True)


def predicted(rng: np.random.Generator, figure: str) -> list[float]:
    """Variances that one pilot predicts for all sizes."""
    (pilot,) = pilots(rng, PILOT, (figure,))
    planner = Planner(pilot, Goal(width=1.0))
    return [planner.variance(n, float(n_segments)) for n, n_segments in SIZES]


def main() -> None:
    """Print a table in markdown."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--draws", type=int, default=300)
    parser.add_argument("--pilots", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minima", action="store_true", help="only the number by which plans multiply minima")
    asked = parser.parse_args()
    rng = np.random.default_rng(asked.seed)
    if asked.minima:
        print_minima(rng)
        return
    measured, printed = [], []
    for n, n_segments in SIZES:
        n_draws = max(asked.draws * 30_000 // max(n * n * n_segments, 30_000), 40)
        found = np.array([figures_of(*drawn(rng, n, n_segments)[:3]) for _ in range(n_draws)])
        measured.append(np.std(found[..., 0], axis=0, ddof=1))
        printed.append(np.sqrt(np.mean(found[..., 1] ** 2, axis=0)))
    variances = np.array([[predicted(rng, figure) for figure in FIGURES] for _ in range(asked.pilots)])
    mean = np.sqrt(variances.mean(axis=0)).T
    spread = np.std(np.sqrt(variances), axis=0).T / mean
    for title, known in (("measured", measured), ("of intervals", printed)):
        print(f"\npredicted standard errors over those {title}")
        print("| speakers, segments | " + " | ".join(FIGURES) + " |")
        print("|---" * (len(FIGURES) + 1) + "|")
        for size, row, wide in zip(SIZES, mean / np.array(known), spread, strict=True):
            cells = [f"{ratio:.2f} ± {of:.2f}" for ratio, of in zip(row, wide, strict=True)]
            print(f"| {size[0]}, {size[1]} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
