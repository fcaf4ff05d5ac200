"""How often intervals of llrs, and of parameters, hold what training on all speakers there are would give.

Every draw simulates speakers of some design, and trains a model with its intervals. They are compared with the mean of
a few trainings on many more speakers.

- ``crossed``: speakers are enrolled once and tested in three segments, all against all. Scores depend on the speaker,
  as target and as impostor on either side, and on the segment.
- ``one-sided``: each speaker has four target and twelve non-target trials that no other speaker takes part in.
- ``uneven``: the same with numbers of trials by a Pareto distribution of exponent 1: from 1 target trial to 60, and
  three times as many non-target trials.
- ``classes``: each speaker has four segments of one of three classes.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from side_by_side import machine  # isort: skip  # sets the number of threads first

import numpy as np

from deciban.calibration import (
    AffineCalibrator,
    BetaCalibrator,
    GaussianCalibrator,
    MulticlassCalibrator,
    PavCalibrator,
    ShiftCalibrator,
)
from deciban.fusion import LinearFusion, MulticlassFusion
from deciban.models.multiclass import parameter_intervals, weight_intervals

SEGMENTS = 3
MANY, OTHERS = 5, 40
"""Trainings that stand for all speakers; impostors of each of their segments, where all are against all."""

LARGE = {"crossed": 10_000, "one-sided": 60_000, "uneven": 30_000, "classes": 40_000}
"""Speakers of each of these trainings."""


@dataclass(frozen=True)
class RandomSample:
    """Scores of two systems, (n_trials, 2) or (n_trials, 2, n_classes), labels, and the speakers of each trial."""

    scores: np.ndarray
    label: np.ndarray
    speakers: np.ndarray


def crossed(rng: np.random.Generator, n: int, n_others: int | None = None) -> RandomSample:
    """All against all; or some impostors of each segment."""
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
    level = np.where(is_target, 2.8 + goat[model], -2.5 + lamb[model] + wolf[speaker]) + segment[test]
    return RandomSample(
        level[:, None] + rng.normal(0.0, 1.2, (len(model), 2)), is_target, np.column_stack((model, speaker))
    )


def one_sided(rng: np.random.Generator, n: int) -> RandomSample:
    """Four target and twelve non-target trials of each speaker."""
    return _by_sizes(rng, np.full(n, 4))


def uneven(rng: np.random.Generator, n: int) -> RandomSample:
    """Very unequal numbers of trials."""
    return _by_sizes(rng, np.clip(np.ceil(rng.pareto(1.0, n)), 1, 60).astype(int))


def _by_sizes(rng: np.random.Generator, n_tar: np.ndarray) -> RandomSample:
    speaker = np.repeat(np.arange(len(n_tar)), 4 * n_tar)
    place = np.arange(len(speaker)) - np.repeat(np.cumsum(4 * n_tar) - 4 * n_tar, 4 * n_tar)
    is_target = place < n_tar[speaker]
    level = np.where(is_target, 3.0, -2.0) + rng.normal(size=len(n_tar))[speaker]
    return RandomSample(level[:, None] + rng.normal(0.0, 1.5, (len(speaker), 2)), is_target, speaker)


def classes(rng: np.random.Generator, n: int) -> RandomSample:
    """Four segments of each speaker, who is of one of three classes."""
    speaker = np.repeat(np.arange(n), 4)
    label = speaker % 3
    level = rng.normal(0.0, 1.0, (n, 3))[speaker]
    level[np.arange(len(label)), label] += [2.0, 2.5, 3.0] @ np.eye(3)[:, label]
    return RandomSample(level[:, None] + rng.normal(0.0, 1.0, (len(label), 2, 3)), label, speaker)


DESIGNS: dict[str, Callable[..., RandomSample]] = {
    "crossed": crossed,
    "one-sided": one_sided,
    "uneven": uneven,
    "classes": classes,
}

Numbers = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Estimates, lower and upper ends of their intervals."""


@dataclass(frozen=True)
class Method:
    """A model, and the numbers that are looked at: llrs at some scores of the first system, or parameters."""

    make: Callable[[], Any]
    systems: bool = False
    weights: bool = False

    def trained(self, drawn: RandomSample, *, units: bool) -> Any:
        """Train the model."""
        x = drawn.scores if self.systems else drawn.scores[:, 0]
        return self.make().fit(x, drawn.label, units=drawn.speakers if units else None)

    def numbers(self, model: Any, at: np.ndarray) -> np.ndarray:
        """The estimates."""
        if self.weights:
            return np.array([getattr(one, "value", None) or one.weight for one in self._intervals(model)])
        return np.asarray(model.transform(np.column_stack((at, at)) if self.systems else at))

    def intervals(self, model: Any, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Both ends."""
        if self.weights:
            rows = self._intervals(model)
            return np.array([one.low for one in rows]), np.array([one.high for one in rows])
        return model.interval(np.column_stack((at, at)) if self.systems else at)

    @staticmethod
    def _intervals(model: Any) -> Sequence[Any]:
        if isinstance(model, LinearFusion):
            return weight_intervals(model)
        return [one for one in parameter_intervals(model) if one.value != 0.0]


METHODS: dict[str, Method] = {
    "affine": Method(AffineCalibrator),
    "affine at 0.01": Method(lambda: AffineCalibrator(p_target=0.01)),
    "shift": Method(ShiftCalibrator),
    "gaussian": Method(GaussianCalibrator),
    "beta": Method(lambda: BetaCalibrator(scores="log_odds")),
    "fusion": Method(LinearFusion, systems=True),
    "fusion at 0.01": Method(lambda: LinearFusion(p_target=0.01), systems=True),
    "weights of the fusion": Method(LinearFusion, systems=True, weights=True),
    "pav": Method(PavCalibrator),
    "calibration of classes": Method(MulticlassCalibrator, weights=True),
    "fusion of classes": Method(MulticlassFusion, systems=True, weights=True),
}
OF_CLASSES = ("calibration of classes", "fusion of classes")


def table(design: str, n: int, n_draws: int, names: list[str], seed: int, scores: list[float] | None = None) -> None:
    """Print coverage for a number of speakers, at some scores; by default at quantiles of targets and non-targets."""
    rng = np.random.default_rng(seed)
    many = {"n_others": OTHERS} if design == "crossed" else {}
    parts = [DESIGNS[design](rng, LARGE[design], **many) for _ in range(MANY)]
    at = np.array(scores or [0.0])
    if design != "classes" and not scores:
        score, is_target = parts[0].scores[:, 0], parts[0].label
        tar, non = np.quantile(score[is_target], [0.05, 0.5, 0.95]), np.quantile(score[~is_target], [0.95, 0.5, 0.05])
        at = np.append(tar, non)
    truth = {
        name: np.mean([METHODS[name].numbers(METHODS[name].trained(one, units=False), at) for one in parts], axis=0)
        for name in names
    }
    found: dict[str, list[tuple[np.ndarray, np.ndarray]]] = {name: [] for name in names}
    for _ in range(n_draws):
        drawn = DESIGNS[design](rng, n)
        for name in names:
            try:
                model = METHODS[name].trained(drawn, units=True)
            except ValueError:
                continue  # separated classes
            if model.uncertainty_ is not None:
                found[name].append(METHODS[name].intervals(model, at))
    print(f"\n{design}, {n} speakers, {n_draws} draws\n")
    print("| model | held | too low at most | too high at most | median width | refused |")
    print("|---|---|---|---|---|---|")
    for name in names:
        low, high = (np.array(ends) for ends in zip(*found[name], strict=True))
        below, above = np.mean(truth[name] < low, axis=0), np.mean(truth[name] > high, axis=0)
        held = " ".join(f"{share:.2f}".lstrip("0") for share in 1.0 - below - above)
        width = " ".join(f"{one:.2f}" for one in np.median(high - low, axis=0))
        ends = f"{above.max():.2f} | {below.max():.2f}"
        print(f"| {name} | {held} | {ends} | {width} | {1.0 - len(found[name]) / n_draws:.2f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--designs", nargs="+", default=list(DESIGNS), choices=list(DESIGNS))
    parser.add_argument("--speakers", type=int, nargs="+", default=[40])
    parser.add_argument("--draws", type=int, nargs="+", default=[400], help="one for each number of speakers")
    parser.add_argument("--methods", nargs="+", default=[name for name in METHODS if name != "pav"])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--at", type=float, nargs="+", help="scores of the first system; default: quantiles")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print(machine())
    for design in options.designs:
        names = [one for one in options.methods if (one in OF_CLASSES) == (design == "classes")]
        for n, n_draws in zip(options.speakers, options.draws, strict=True):
            if names:
                table(design, n, n_draws, names, options.seed, options.at)


if __name__ == "__main__":
    main()
