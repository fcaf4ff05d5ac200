"""What calibration analysis finds of trials of many classes in pieces: trained, as in memory, by passes over all."""

from __future__ import annotations

from deciban.core.training.multiclass_training import ClassFit
from deciban.engines.work import Engine
from deciban.errors import InputError
from deciban.evaluation.multiclass.summary import ClassSummary
from deciban.io.shards.pieces import ShardSource
from deciban.models.classes_in_pieces import ClassesInPieces
from deciban.multiclass.costs import mixed
from deciban.multiclass.infimum import Best, given_up, no_worse
from deciban.multiclass.recalibration import ClassCalibration

_FLAT = None
"""The prior of calibration analysis in evaluations."""


def calibration_in_pieces(
    summary: ClassSummary, source: ShardSource, engine: Engine, *, system: int, memory: int | None = None
) -> ClassCalibration | None:
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
    ClassCalibration or None
        As `deciban.multiclass.calibration_analysis` finds at the flat prior, to about 1e-9; None where a map has no
        optimum (classes are separated, infinite scores decide), whose limit needs all trials at once.

    Raises
    ------
    FormatError, OSError
        As reading does.
    """
    data = ClassesInPieces(source.of_system(system), engine, _FLAT, memory)
    total, is_wrong = mixed(summary.flat_surprise, data.prior), summary.checks.n_wrong > 0
    forms = [(True, True), (True, False), (False, True)]
    try:
        found = [_least(data, total, scale=scale, offset=offset, is_wrong=is_wrong) for scale, offset in forms]
    except InputError:
        return None
    both, scaled, shifted = found
    return ClassCalibration.of(total, both, scaled, shifted, data.prior)


def _least(data: ClassesInPieces, total: float, *, scale: bool, offset: bool, is_wrong: bool) -> Best:
    """The least cross-entropy of scales and offsets, or of these alone; see `CalibrationLimits.least`."""
    without = given_up(total, data.prior, scale=scale)
    if total == 0.0:
        return Best(0.0, 1.0, without.offset)
    if is_wrong:
        return without
    fit: ClassFit = data.train(scale=scale, offset=offset)
    return no_worse(Best(fit.objective, float(fit.weights[0]) if scale else 1.0, fit.offsets), without)
