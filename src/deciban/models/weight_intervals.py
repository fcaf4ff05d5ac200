"""Weights of systems, scales and offsets of classes with their intervals: how sure training is of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from deciban.core.resampling.intervals import LEVEL, checked_level
from deciban.errors import InputError
from deciban.models.multiclass import ClassModel
from deciban.models.score_model import ParameterRow, ScoreModel
from deciban.models.uncertainty import ParameterCovariance


@dataclass(frozen=True, slots=True)
class WeightInterval:
    """A weight of a model, of scores that are divided by their standard deviation, with its interval.

    Attributes
    ----------
    name : str
        The system, or what else has a weight.
    weight : float
        In nats per standard deviation.
    low, high : float or None
        The interval; None where training was not told the units.
    """

    name: str
    weight: float
    low: float | None = None
    high: float | None = None


def weight_intervals(model: ScoreModel, *, level: float = LEVEL) -> tuple[WeightInterval, ...]:
    """Weights of a fusion on standardized scores, with intervals by the units of training.

    Parameters
    ----------
    model : ScoreModel
        A trained fusion, of two classes or of many.
    level : float
        Of the intervals.

    Returns
    -------
    tuple of WeightInterval
        In the order of training.

    Raises
    ------
    InputError
        If the model has no such weights, was not trained, or the level is not inside (0, 1).

    Notes
    -----
    The interval of a weight is that of the parameter (see `ParameterCovariance.around`), times the standard
    deviation of the scores, which counts as known. Scores of many classes
    are divided by their width, the root of the mean variance of the differences between two classes.

    Examples
    --------
    >>> import numpy as np
    >>> from deciban.fusion import LinearFusion
    >>> scores = np.array([[3.0, 1.0], [1.0, 2.0], [2.0, -1.0], [-1.0, 1.0], [1.5, 0.0], [0.0, -2.0], [2.0, 0.5]])
    >>> fusion = LinearFusion().fit(scores, np.arange(7) < 3)
    >>> [(one.name, round(one.weight, 2), one.low) for one in weight_intervals(fusion)]
    [('system 0', 1.81, None), ('system 1', 0.88, None)]
    """
    level = checked_level(level)
    model.require_fitted()
    rows = [row for row in _rows(model) if row.standardized is not None]
    if not rows:
        raise InputError(f"model: a {type(model).__name__} has no weights of systems. Pass a fusion (deciban fuse).")
    found = list[WeightInterval]()
    names = model.parameter_names
    for row in rows:
        weight, known = float(row.standardized or 0.0), model.uncertainty_
        if row.standard_error is None or not isinstance(known, ParameterCovariance):
            found.append(WeightInterval(row.name, weight))
            continue
        scale = 0.0 if row.value == 0.0 else weight / row.value
        # Weights of a fusion of other trials, which stands beside, are none of its own parameters.
        bias = known.bias_of(names.index(row.name)) if row.name in names else 0.0
        low, high = known.around(row.value, bias, row.standard_error, level)
        found.append(WeightInterval(row.name, weight, *sorted((scale * low, scale * high))))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class ParameterInterval:
    """A parameter of a map of many classes, with its interval.

    Attributes
    ----------
    what : str
        ``"scale"``, ``"weight"`` or ``"offset"``.
    whom : str
        The system or the class; empty for a scale, which all classes share.
    value : float
        In nats, if it is an offset.
    low, high : float or None
        The interval; None where training was not told the units, or did not move this parameter.
    """

    what: str
    whom: str
    value: float
    low: float | None = None
    high: float | None = None


def parameter_intervals(
    model: ClassModel, *, classes: Sequence[str] = (), level: float = LEVEL
) -> tuple[ParameterInterval, ...]:
    """Scale or weights, and the offset of each class, with intervals by the units of training.

    Parameters
    ----------
    model : ClassModel
        A trained calibrator or fusion of many classes.
    classes : sequence of str
        What classes are called if the model does not know; by default their numbers.
    level : float
        Of the intervals.

    Returns
    -------
    tuple of ParameterInterval
        In the order of `ClassModel.parameter_numbers`; none of models that have no scale, weights or offsets.

    Raises
    ------
    InputError
        If the model was not trained, or the level is not inside (0, 1).

    Notes
    -----
    See `ParameterCovariance.around`. Offsets have mean 0: an interval is of how far a class is from the mean
    of all.

    Examples
    --------
    >>> from deciban.calibration import MulticlassCalibrator
    >>> llr = [2.0, 0.5, -1.5, 1.0, 1.5, -0.5, 0.8, -1.0, -2.0, -1.5, 1.5, 0.0]
    >>> loglik = [[one, 0.0] for one in llr]
    >>> model = MulticlassCalibrator().fit(loglik, [0] * 6 + [1] * 6, units=["a", "b", "c", "d", "e", "f"] * 2)
    >>> [(one.what, one.whom, round(one.value, 2)) for one in parameter_intervals(model)]
    [('scale', '', 0.55), ('offset', '0', -0.02), ('offset', '1', 0.02)]
    """
    level = checked_level(level)
    model.require_fitted()
    numbers = model.parameter_numbers(classes or tuple(map(str, range(model.n_classes_))))
    errors, known = model.errors_in_order or [0.0] * len(numbers), model.uncertainty_
    return tuple(
        ParameterInterval(
            what,
            whom,
            value,
            *(
                known.around(value, known.bias_of(k), error, level)
                if error and isinstance(known, ParameterCovariance)
                else ()
            ),
        )
        for k, ((what, whom, value), error) in enumerate(zip(numbers, errors, strict=True))
    )


def _rows(model: ScoreModel) -> Sequence[ParameterRow]:
    """Parameters of a model as rows; of many classes the weights of a fusion, which all classes share."""
    if not (isinstance(model, ClassModel) and model.is_fusion):
        return model.parameter_rows()
    names, errors, fusion = model.trained_systems, model.standard_errors, cast("Any", model)
    weights = zip(names, fusion.weights_.tolist(), fusion.standardized_weights_.tolist(), strict=True)
    return [ParameterRow(*each, standard_error=errors.get(f"weight of {each[0]}")) for each in weights]
