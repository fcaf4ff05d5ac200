"""How often intervals of llrs hold the llr that training on all speakers there are would give.

Every draw simulates speakers, who are enrolled once and tested in three segments, all against all: scores depend on the
speaker, as target and as impostor on either side, and on the segment. A calibration is trained with its intervals, by
speaker and, for comparison, as if trials were independent. Whether they hold is seen against the mean of a few
trainings on many more speakers.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable

from side_by_side import machine  # isort: skip  # sets the number of threads first

import numpy as np

from deciban.calibration import AffineCalibrator, Calibrator, GaussianCalibrator, PavCalibrator, ShiftCalibrator
from deciban.core.resampling.units import TrialUnits

SEGMENTS = 3
MANY, OTHERS, LARGE = 5, 40, 10_000
"""Trainings that stand for all speakers; impostors of each of their segments, and speakers of each."""

METHODS: dict[str, Callable[[], Calibrator]] = {
    "affine": AffineCalibrator,
    "affine at 0.01": lambda: AffineCalibrator(p_target=0.01),
    "shift": ShiftCalibrator,
    "gaussian": GaussianCalibrator,
    "pav": PavCalibrator,
}
PLACES = ("tar 5 %", "tar 50 %", "non 95 %", "non 50 %")


def draw(rng: np.random.Generator, n: int, n_others: int | None = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scores, which are targets, and the speakers of both sides of each trial."""
    goat, lamb, wolf = rng.normal(0.0, 1.0, n), rng.normal(0.0, 0.7, n), rng.normal(0.0, 0.7, n)
    spoken = np.repeat(np.arange(n), SEGMENTS)
    segment = rng.normal(0.0, 0.5, len(spoken))
    if n_others is None:
        model, test = (one.ravel() for one in np.meshgrid(np.arange(n), np.arange(len(spoken)), indexing="ij"))
    else:
        others = rng.integers(1, n, (len(spoken), n_others))
        model = np.concatenate((spoken, (others + spoken[:, None]).ravel() % n))
        test = np.concatenate((np.arange(len(spoken)), np.repeat(np.arange(len(spoken)), n_others)))
    speaker = spoken[test]
    is_target = model == speaker
    level = np.where(is_target, 2.8 + goat[model], -2.5 + lamb[model] + wolf[speaker])
    return level + segment[test] + rng.normal(0.0, 1.2, len(model)), is_target, np.column_stack((model, speaker))


def table(n: int, n_draws: int, names: list[str], seed: int) -> None:
    """Print coverage for a number of speakers."""
    rng = np.random.default_rng(seed)
    parts = [draw(rng, LARGE, OTHERS) for _ in range(MANY)]
    score, is_target, _ = parts[0]
    at = np.append(np.quantile(score[is_target], [0.05, 0.5]), np.quantile(score[~is_target], [0.95, 0.5]))
    truth = {name: np.mean([METHODS[name]().fit(x, y).transform(at) for x, y, _ in parts], axis=0) for name in names}
    held: dict[tuple[str, str], list[np.ndarray]] = {
        (name, how): [] for name in names for how in ("speakers", "trials")
    }
    widths: dict[str, list[np.ndarray]] = {name: [] for name in names}
    for _ in range(n_draws):
        score, is_target, speakers = draw(rng, n)
        for how, units in (("speakers", TrialUnits.of(speakers)), ("trials", TrialUnits.each(len(score)))):
            for name in names:
                if how == "trials" and name == "pav":
                    continue
                low, high = METHODS[name]().fit(score, is_target, units=units).interval(at)
                held[name, how].append((low <= truth[name]) & (truth[name] <= high))
                if how == "speakers":
                    widths[name].append(high - low)
    print(f"\n{n} speakers, {n_draws} draws\n")
    print(f"| calibration | units | {' | '.join(PLACES)} | median width at tar 5 %, in nats |")
    print("|---|---|" + "---|" * (len(PLACES) + 1))
    for (name, how), own in held.items():
        if own:
            shares = " | ".join(f"{share:.2f}" for share in np.mean(own, axis=0))
            width = f"{np.median(np.array(widths[name])[:, 0]):.2f}" if how == "speakers" else ""
            print(f"| {name} | {how} | {shares} | {width} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--speakers", type=int, nargs="+", default=[30, 100, 400])
    parser.add_argument("--draws", type=int, nargs="+", default=[500, 300, 60])
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print(machine())
    for n, n_draws in zip(options.speakers, options.draws, strict=True):
        table(n, n_draws, options.methods, options.seed)


if __name__ == "__main__":
    main()
