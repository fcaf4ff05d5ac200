"""Bands around curves: at every place the interval of the curve there."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np
from scipy import special

from deciban.core.ranks.operating import default_error
from deciban.core.resampling.scales import Scale, bounds_on_scale, t_quantile
from deciban.evaluation.at_priors import rate_bounds
from deciban.evaluation.uncertainty import Figure, Uncertainty
from deciban.types import FloatArray

if TYPE_CHECKING:
    from deciban.evaluation.multiclass.result import ClassEvaluation
    from deciban.evaluation.one_system import OneSystem
    from deciban.evaluation.results import Evaluation

Band: TypeAlias = tuple[FloatArray, FloatArray]
"""Lower and upper bounds at every place."""

_RATES = {"tar_above": "p_miss", "non_above": "p_fa"}
"""Error rates of the curves that are shares of trials: the share itself, or what it lacks to 1."""


def reach_of(known: Uncertainty) -> float:
    """Return the standard errors on both sides: the t quantile at the level."""
    return t_quantile(known.level, known.degrees)


def band_of(one: OneSystem, name: str, values: FloatArray) -> Band | None:
    """The band around a curve of an evaluation; None where nothing is known of it.

    Parameters
    ----------
    one : Evaluation or ClassEvaluation
    name : str
        Of the curve, as in `deciban.evaluation.Curves`.
    values : array
        The curve.

    Returns
    -------
    (low, high) or None

    Examples
    --------
    >>> from deciban import evaluate
    >>> units = {"tar_units": ["ann", "bob", "cid", "dan", "eve"], "non_units": ["fay", "gus", "hal", "ivy", "jim"]}
    >>> one = evaluate([1.0, 2.0, 2.0, -0.5, 3.0], [0.0, 1.0, -1.0, -2.0, -1.0], **units)
    >>> low, high = band_of(one, "tar_above", one.curves.tar_above)
    >>> bool((low <= one.curves.tar_above).all() and (one.curves.tar_above <= high).all())
    True
    """
    known, own = one.uncertainty, cast("Any", one)
    if known is None or (known.sizes is not None and not known.sizes.are_enough):
        return None
    if name in known.error_rates:
        axis = own.curves.prior_log_odds
        return _cost_band(known, name, axis, values, 1.0 if name == "min_error" else math.inf)
    errors = known.curves.get(name)
    if errors is None or len(errors) != len(values) or name == "c_avg":
        return None
    if name in _RATES:
        return rate_bounds(known, _RATES[name], values, np.square(errors))
    return _bounds(values, reach_of(known) * errors, "identity" if name == "pav" else "log")


def _cost_band(
    known: Uncertainty, name: Figure, axis: FloatArray, values: FloatArray, most: float | FloatArray
) -> Band | None:
    """Return the band around a curve of costs, which do not exceed ``most``, from the error rates that they add up."""
    if len(axis) != len(values):
        return None
    places, rates = known.error_rates[name]
    below, above = (np.interp(axis, places, way) for way in rates.distances(known.level))
    return np.maximum(values - below, 0.0), np.minimum(values + above, np.maximum(most, values))


def _bounds(values: FloatArray, reach: FloatArray, scale: Scale) -> Band:
    at_end = (values == 0.0) & (scale == "log")  # nothing was seen that moves it
    return bounds_on_scale(values, values, np.where(at_end, 0.0, reach), scale)


def detector_bands(one: ClassEvaluation, target: int) -> tuple[Band, Band] | None:
    """Bands around the actual and the least Bayes error rates of a class against the rest.

    Parameters
    ----------
    one : ClassEvaluation
    target : int
        Row of the curves.

    Returns
    -------
    (low, high), (low, high) or None
        At every prior of the curves; None where units are not known.

    Examples
    --------
    >>> from deciban import evaluate_classes
    >>> loglik = [[2.0, 0.0], [0.5, 0.0], [-0.5, 0.0], [0.2, 0.0], [-1.0, 0.0], [-2.0, 0.0]]
    >>> one = evaluate_classes(loglik, [0, 0, 0, 1, 1, 1], units=["ann", "bob", "cid", "dan", "eve", "fay"])
    >>> (low, high), _ = detector_bands(one, 0)
    >>> bool((low <= one.curves.act_error[0]).all() and (one.curves.act_error[0] <= high).all())
    True
    """
    known, curves, name = one.uncertainty, one.curves, one.classes[one.detection.target[target]]
    found = list[Band | None]()
    for what, ceiling in (("act_error", math.inf), ("min_error", default_error(curves.detector_log_odds))):
        key = ("detectors", name, what)
        if known is None or key not in known.error_rates:
            return None
        found.append(_cost_band(known, key, curves.detector_log_odds, getattr(curves, what)[target], ceiling))
    low, high = found
    return None if low is None or high is None else (low, high)


def hull_bands(one: Evaluation) -> tuple[Band, Band] | None:
    """False-alarm and miss rates of the convex hull at both ends of what is likely.

    Where the hull is touched by a line of equal cost, that cost is uncertain by so much: both error rates move with it,
    by the same factor on their odds.

    Returns
    -------
    (low p_fa, low p_miss), (high p_fa, high p_miss) or None
        Of every vertex.
    """
    known = one.uncertainty
    if known is None or known.sizes is None or not known.sizes.are_enough:
        return None
    places, rates = known.error_rates["hull"]
    (tar,), (non,) = rates.parts
    cost = np.maximum(tar.weight * tar.rate + non.weight * non.rate, np.finfo(np.float64).tiny)
    below, above = rates.distances(known.level)
    steps = np.log(np.maximum(1.0 - below / cost, _LEAST)), np.log1p(above / cost)
    p_fa, p_miss, numbers = one.curves.hull_p_fa, one.curves.hull_p_miss, np.arange(len(one.curves.hull_p_fa))
    low, high = ((_moved(p_fa, by), _moved(p_miss, by)) for by in (np.interp(numbers, places, one) for one in steps))
    return low, high


_LEAST = 1e-6
"""Of a cost, what is left at least."""


def _moved(rate: FloatArray, log_factor: FloatArray) -> FloatArray:
    """Rates with odds by a factor larger; 0 and 1 stay."""
    return np.asarray(special.expit(special.logit(rate) + log_factor))
