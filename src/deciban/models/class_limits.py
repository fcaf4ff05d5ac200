"""The least cross-entropy of calibrated trials in pieces, where classes are separated or scores are infinite.

What infinite log-likelihoods and scales that grow forever leave of the trials is made of every piece when it is read;
the search for the infimum is that of memory (`deciban.multiclass.recalibration`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, TypeAlias

import numpy as np

from deciban.core.rules.expected import MeanCost
from deciban.core.training.multiclass_training import ClassFit
from deciban.core.training.separation import Escape
from deciban.core.training.sums import Ends, Sums
from deciban.errors import InputError
from deciban.evaluation.multiclass.summary import ClassSummary
from deciban.models.class_sources import SourceClasses
from deciban.multiclass.costs import mixed, surprises
from deciban.multiclass.recalibration import (
    Best,
    CalibratedTrials,
    CalibrationLimits,
    ClassCalibration,
    OpenTrials,
    given_up,
    no_worse,
)
from deciban.multiclass.tables import ScoredClasses
from deciban.trials.passes import Engine
from deciban.trials.sources import Chunk, Piece, ShardSource, Wanted
from deciban.types import CountArray, FloatArray

Step: TypeAlias = Callable[[OpenTrials], OpenTrials]

"""What is made of the trials of a piece; can be pickled."""


class CalibratedPieces(CalibratedTrials):
    """Trials of many classes of a source, at the flat prior.

    Parameters
    ----------
    data : SourceClasses
        Of one system.
    is_finite : bool
        Whether all of their log-likelihoods are.
    """

    def __init__(self, data: SourceClasses, *, is_finite: bool) -> None:
        self.data, self.is_finite, self.prior = data, is_finite, data.prior

    def _changed(self, step: Step, *, is_finite: bool) -> CalibratedPieces:
        data, source = self.data, self.data.source
        changed = replace(source, pieces=source.each(partial(_changed, step)), is_double=True)
        return CalibratedPieces(SourceClasses(changed, data.engine, data.prior, data.memory), is_finite=is_finite)

    def leads(self) -> FloatArray:
        """See `CalibratedTrials.leads`: one pass."""
        found: Ends = self.data.look(_Look(_leads))
        return found.high

    def without_beaten(self, escape: Escape, leads: FloatArray) -> tuple[CalibratedPieces, FloatArray]:
        """See `CalibratedTrials.without_beaten`: one pass."""
        step = _WithoutBeaten(escape, leads)
        found: Ends = self.data.look(_Look(step.room))
        room = found.low
        is_finite = self.is_finite and not bool(np.isfinite(room).any())
        return self._changed(step, is_finite=is_finite), room

    def flat(self) -> CalibratedPieces:
        """See `CalibratedTrials.flat`."""
        return self._changed(OpenTrials.flat, is_finite=self.is_finite)

    def pull(self, likelihood: FloatArray) -> tuple[float, float]:
        """See `CalibratedTrials.pull`: one pass."""
        found: Sums = self.data.look(_Look(_Pull(likelihood)))
        slope, size = found.total @ (self.prior / self.data.amounts)
        return float(slope), float(size)

    def lack_rivals(self) -> bool:
        """See `CalibratedTrials.lack_rivals`."""
        return not self.data.counted.first.rivals.any()

    def surprise(self) -> float:
        """See `CalibratedTrials.surprise`: one pass."""
        found: _Surprises = self.data.look(_Look(_Surprise(self.prior)))
        return mixed(found.costs, self.prior)

    def train(self, **form: Any) -> ClassFit:
        """See `CalibratedTrials.train`: some passes."""
        return self.data.train(**form)


def _changed(step: Step, piece: Piece, wanted: Wanted) -> Chunk:
    """Read the trials of a piece with other log-likelihoods."""
    chunk = piece.read(replace(wanted, truth=True))
    if chunk.truth is None or not len(chunk.truth):
        return chunk
    trials = [OpenTrials.of(ScoredClasses(one, chunk.truth, None, None)) for one in chunk.scores]
    return replace(chunk, scores=tuple(np.asarray(step(one).trials.loglik, np.float64) for one in trials))


@dataclass(frozen=True, slots=True)
class _Look:
    """A look at the trials of a piece that count."""

    look: Callable[[OpenTrials], Any]

    def __call__(self, chunk: Chunk) -> Any:
        (loglik,), truth, weight = chunk.scores, chunk.truth, chunk.weight
        assert truth is not None  # noqa: S101  # it was asked for
        if weight is not None:
            some = np.flatnonzero(weight > 0)
            loglik, truth, weight = loglik[some], truth[some], weight[some]
        if not len(truth):
            return None
        return self.look(OpenTrials.of(ScoredClasses(loglik, truth, _plain(weight), None)))


def _plain(weight: CountArray | None) -> CountArray | None:
    return None if weight is None else weight.astype(np.float64)


def _leads(trials: OpenTrials) -> Ends:
    return Ends.up_to(trials.leads())


@dataclass(frozen=True, slots=True, eq=False)
class _WithoutBeaten:
    """Takes rivals away that fall behind forever."""

    escape: Escape
    leads: FloatArray

    def __call__(self, trials: OpenTrials) -> OpenTrials:
        return trials.without_beaten(self.escape, self.leads)[0]

    def room(self, trials: OpenTrials) -> Ends:
        """How far they fall behind."""
        found = trials.without_beaten(self.escape, self.leads)[1]
        return Ends.of(found, found)


@dataclass(frozen=True, slots=True, eq=False)
class _Pull:
    likelihood: FloatArray

    def __call__(self, trials: OpenTrials) -> Sums:
        return Sums.of(trials.pull(self.likelihood))


@dataclass(frozen=True, slots=True, eq=False)
class _Surprise:
    prior: FloatArray

    def __call__(self, trials: OpenTrials) -> _Surprises:
        return _Surprises(surprises(trials.trials, self.prior))


@dataclass(frozen=True, slots=True)
class _Surprises:
    """Sums of costs, class by class."""

    costs: Sequence[MeanCost]

    def __add__(self, other: _Surprises) -> _Surprises:
        """Those of the trials of both."""
        return _Surprises([a + b for a, b in zip(self.costs, other.costs, strict=True)])


_FLAT = None

"""The prior of calibration analysis in evaluations."""


def calibration_in_pieces(
    summary: ClassSummary, source: ShardSource, engine: Engine, *, system: int, memory: int | None = None
) -> ClassCalibration:
    """Train the maps of calibration analysis on one system of a source.

    Parameters
    ----------
    summary : ClassSummary
        Sums over all trials.
    source : ShardSource
    engine : Engine
        Where passes run.
    system : int
    memory : int, optional
        Bytes that may be taken, which limit the sample.

    Returns
    -------
    ClassCalibration
        As `deciban.multiclass.calibration_analysis` finds at the flat prior, to about 1e-9. Where a map has no optimum
        (classes are separated, infinite scores decide), its limit takes some more passes.

    Raises
    ------
    FormatError, OSError
        As reading does.
    """
    data = SourceClasses(source.of_system(system), engine, _FLAT, memory)
    total, is_wrong = mixed(summary.flat_surprise, data.prior), summary.checks.n_wrong > 0
    forms = [(True, True), (True, False), (False, True)]
    limits = _Limits(data, total, is_wrong=is_wrong)
    both, scaled, shifted = (_least(limits, scale=scale, offset=offset) for scale, offset in forms)
    return ClassCalibration.of(total, both, scaled, shifted, data.prior)


class _Limits:
    """What calibration can reach, if it is asked for: see `deciban.multiclass.recalibration.CalibrationLimits`."""

    def __init__(self, data: SourceClasses, total: float, *, is_wrong: bool) -> None:
        self.data, self.total, self.is_wrong = data, total, is_wrong

    @cached_property
    def all(self) -> CalibrationLimits:
        """Those of the trials."""
        given = CalibratedPieces(self.data, is_finite=not self.data.counted.first.has_infinite)
        return CalibrationLimits(given, np.arange(self.data.n_classes), self.data.n_classes, self.total, is_wrong=False)


def _least(limits: _Limits, *, scale: bool, offset: bool) -> Best:
    """The least cross-entropy of scales and offsets, or of these alone; see `CalibrationLimits.least`.

    Most have an optimum, which is found without looking for directions in which the cost falls forever.
    """
    data, total = limits.data, limits.total
    without = given_up(total, data.prior, scale=scale)
    if total == 0.0:
        return Best(0.0, 1.0, without.offset)
    if limits.is_wrong:
        return without
    try:
        fit: ClassFit = data.train(scale=scale, offset=offset)
    except InputError:
        return limits.all.least(scale=scale, offset=offset)
    if scale and fit.weights[0] <= 0.0:  # scores that say the opposite: of scales of at least 0, 0 is best
        return limits.all.least(scale=scale, offset=offset) if data.counted.first.has_infinite else without
    return no_worse(Best(fit.objective, float(fit.weights[0]) if scale else 1.0, fit.offsets), without)
