"""What calibration analysis finds of trials of many classes in pieces: trained, as in memory, by passes over all."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from deciban.core.training.multiclass_training import ClassFit
from deciban.engines.work import Engine
from deciban.errors import InputError
from deciban.evaluation.multiclass.summary import ClassSummary
from deciban.io.shards.pieces import ShardSource
from deciban.models.class_limits import CalibratedPieces
from deciban.models.class_sources import SourceClasses
from deciban.multiclass.costs import mixed
from deciban.multiclass.infimum import Best, CalibrationLimits, given_up, no_worse
from deciban.multiclass.recalibration import ClassCalibration

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
    """What calibration can reach, if it is asked for: see `deciban.multiclass.infimum.CalibrationLimits`."""

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
