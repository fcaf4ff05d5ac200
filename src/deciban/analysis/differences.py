"""Differences between conditions, and differences of curves over the prior between systems, with intervals."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deciban.analysis import compared
from deciban.core.resampling.intervals import FEWEST_CLUSTERS, Estimate
from deciban.errors import InputError, counted, listed, shortened, some_of
from deciban.evaluation.breakdowns import ByConditions, ConditionDifference
from deciban.evaluation.metrics import metric_of
from deciban.evaluation.one_system import bounds_in_words
from deciban.evaluation.two_class.evaluate import prior_name
from deciban.evaluation.uncertainty import MetricKey, Uncertainty
from deciban.types import BoolArray, ByValue, FloatArray

MOST_PAIRED = 10
"""Largest number of conditions for which all pairs are compared; others are compared with the mean of the rest only."""

_PAIRS_IN_WORDS = 3
"""Largest number of conditions for which sentences name pairs; others are compared with the mean of the rest."""


def differences_between(evaluated: Sequence[Any], level: float) -> tuple[tuple[ConditionDifference, ...], str]:
    """Return differences between conditions, and of each condition from the mean of the others.

    Parameters
    ----------
    evaluated : sequence of Evaluation or ClassEvaluation
        Evaluations of conditions, with their names.
    level : float
        Level of the intervals, for each difference separately.

    Returns
    -------
    differences : tuple of ConditionDifference
        P-values have Holm's correction, for all pairs of a metric and for all comparisons with the others.
    why_none : str
        Reason why there are none; empty if there are some.

    Notes
    -----
    A unit with trials in two conditions affects both metrics, so its influences are subtracted before they are squared,
    as for two systems (see `deciban.compare`). Limits are computed as in comparisons of systems.

    A condition with only small costs by chance also has a small standard error: of 13 equal conditions with 30
    non-targets each, Cllr of one differed significantly in 18 to 53 % of draws. Therefore p-values of differences of
    costs use a variance per unit of at least the mean over all differences. Intervals use the variance of the
    condition.
    """
    if len(evaluated) < 2:
        return (), "fewer than two conditions have metrics"
    sure = _sure(evaluated)
    if len(sure) < 2:
        lacking = [one.name for one in evaluated if one not in sure]
        why = "have too few units" if any(one.uncertainty for one in evaluated) else "have no known units"
        return (), f"{some_of(lacking, '; ')} {why}"
    keys = compared.compared_metrics(sure)  # with costs at the first operating point only
    metrics = [key for key in keys if metric_of(key).by_condition and (isinstance(key, str) or key[1] == 0)]
    if not metrics:
        return (), "no metric has a confidence interval in all conditions"
    kept = [name for name in metrics if all(name in one.uncertainty.influences for one in sure)]
    if not kept:
        return (), "there are too many units to keep their influences; use larger units, such as speakers"
    result = list[ConditionDifference]()
    pairs = list(itertools.combinations(sure, 2)) if len(sure) <= MOST_PAIRED else []
    paired = [compared.PairedUnits.of(one.uncertainty, other.uncertainty) for one, other in pairs]
    together = _AllConditions.of([one.uncertainty for one in sure]) if len(sure) > 2 else None
    for metric in kept:
        errors = [float(p.standard_error(p.influences(metric))) for p in paired]
        least = _least_errors(errors, [[(estimate, 1.0) for estimate in _estimates(metric, pair)] for pair in pairs])
        of_pairs = list[ConditionDifference]()
        for pair, p, error in zip(pairs, paired, least, strict=True):
            interval = p.difference(metric, level, same_trials=False, least_error=error)
            value, other = (estimate.value for estimate in _estimates(metric, pair))
            of_pairs.append(ConditionDifference(pair[0].name, pair[1].name, metric, (value, other), interval, 1.0))
        of_others = [] if together is None else together.against_others(sure, metric, level)
        free = _without_errors(sure, metric)
        rows = (*_corrected(of_pairs), *_corrected(of_others))
        result += [one for one in rows if not {one.first, one.second} & {*free}]
    return tuple(result), "" if result else "for each metric, some condition has no errors"


def _sure(evaluated: Sequence[Any]) -> list[Any]:
    """Return the conditions whose metrics have intervals."""
    return [one for one in evaluated if one.uncertainty is not None and not one.uncertainty.too_few]


def _corrected(rows: Sequence[ConditionDifference]) -> list[ConditionDifference]:
    """Add p-values that are corrected for all rows."""
    adjusted = compared.holm(np.array([one.interval.p_value for one in rows], np.float64)).tolist()
    return [replace(one, holm=share) for one, share in zip(rows, adjusted, strict=True)]


def _without_errors(sure: Sequence[Any], metric: MetricKey) -> list[str]:
    """Return the conditions in which a class has no error at the best threshold of minDCF.

    A single extreme trial moves such a threshold, but influences do not include this: of 13 equal conditions, one
    differed significantly in 65 to 93 % of draws.
    """
    if metric not in (("min_dcf", 0), "mean_min_dcf"):
        return []
    names = list[str]()
    for one in sure:
        rates = one.uncertainty.estimates[metric].rates if metric in one.uncertainty.estimates else None
        parts = () if rates is None else itertools.chain.from_iterable(rates.parts)
        if any(np.any(np.asarray(part.rate) * part.size.n_trials < 0.5) for part in parts):
            names.append(one.name)
    return names


def _estimates(metric: MetricKey, systems: Sequence[Any]) -> list[Estimate]:
    return [system.uncertainty.estimates[metric] for system in systems]


def _least_errors(errors: Sequence[float], made_of: Sequence[Sequence[tuple[Estimate, float]]]) -> list[float]:
    """Return the standard errors of differences under equal variance of the units in all conditions.

    Parameters
    ----------
    errors : sequence of float
        Standard errors of the differences.
    made_of : sequence of sequences of (Estimate, float)
        The estimates in each difference, with their factors.

    Returns
    -------
    list of float
        0 for error rates, whose limits allow for unseen errors.
    """
    if not errors or made_of[0][0][0].rates is not None:
        return [0.0] * len(errors)
    per_unit = [sum(factor**2 / (compared.fewest_degrees([one]) + 1.0) for one, factor in parts) for parts in made_of]
    pooled = math.fsum(error**2 / share for error, share in zip(errors, per_unit, strict=True)) / len(errors)
    return [math.sqrt(pooled * share) for share in per_unit]


class _AllConditions:
    """The units of all conditions, for differences of a condition from the mean of all others.

    Parameters
    ----------
    parts : sequence of Uncertainty
    places : sequence of int arrays
        Positions of the units of each condition among all units.
    n_units : int
        Number of all units.
    """

    def __init__(self, parts: Sequence[Uncertainty], places: Sequence[Any], n_units: int) -> None:
        self.parts, self.places, self.n_units = parts, places, n_units

    @classmethod
    def of(cls, parts: Sequence[Uncertainty]) -> _AllConditions:
        """Find the units that conditions share."""
        keys, places = np.unique(np.concatenate([one.keys for one in parts]), return_inverse=True)
        return cls(parts, np.split(places, np.cumsum([len(one.keys) for one in parts])[:-1]), len(keys))

    def against_others(self, named: Sequence[Any], metric: MetricKey, level: float) -> list[ConditionDifference]:
        """Return the differences of each condition from the mean of the others."""
        influences = np.zeros((len(self.parts), self.n_units))
        for row, one, at in zip(influences, self.parts, self.places, strict=True):
            row[at] = one.influences[metric]
        estimates = [one.estimates[metric] for one in self.parts]
        n_units, n_others = min(one.n_units for one in self.parts), len(self.parts) - 1
        rest = (influences.sum(axis=0) - influences) / n_others
        errors, errors_of_rest = (
            np.sqrt(np.einsum("ku,ku->k", x, x) * n_units / (n_units - 1)).tolist() for x in (influences - rest, rest)
        )
        others = [[*estimates[:k], *estimates[k + 1 :]] for k in range(len(estimates))]
        made_of = [
            [(mine, 1.0), *((one, 1.0 / n_others) for one in its)] for mine, its in zip(estimates, others, strict=True)
        ]
        differences = []
        for k, (mine, least) in enumerate(zip(estimates, _least_errors(errors, made_of), strict=True)):
            mean, degrees = compared.MeanOfEstimates(others[k], errors_of_rest[k]), compared.fewest_degrees(estimates)
            plain = Estimate(mine.value - mean.value, errors[k], n_units, "identity", degrees=degrees)
            interval = compared.interval_of_difference(mine, mean, plain, level, least_error=least)
            values = mine.value, mean.value
            differences.append(ConditionDifference(named[k].name, None, metric, values, interval, 1.0))
        return differences


def significant_differences(part: ByConditions, level: float) -> list[str]:
    """Return sentences on significantly different conditions: corrected p-values below ``1 - level``.

    With at most three conditions, sentences compare pairs, otherwise each condition with the mean of the others.

    Parameters
    ----------
    part : ByConditions
    level : float

    Returns
    -------
    list of str
        A sentence for each pair that differs in some metric, or a sentence that none does.
    """
    if not part.differences:
        return [f"conditions are not compared: {part.no_differences}"] if part.no_differences else []
    in_pairs = len(_sure(part.evaluated)) <= _PAIRS_IN_WORDS
    phrases = dict[tuple[str, str | None, bool], list[str]]()
    rows = [one for one in part.differences if (one.second is not None) == in_pairs]
    known = {one.name: one for one in part.evaluated}
    for one in rows:
        how, value = metric_of(one.metric), one.interval.estimate
        if one.holm >= 1.0 - level or value == 0.0:
            continue
        worse = (value > 0) != how.larger_is_better
        low, high = bounds_in_words(one.interval, in_percent=how.in_percent)
        amount = how.text(value, sign=True).replace(" %", " pp")
        words = f"{known[one.first].words(one.metric)} {amount} [{low}, {high}]"
        phrases.setdefault((one.first, one.second, worse), []).append(words)
    if not phrases:
        words = "no two conditions differ" if in_pairs else "no condition differs from the mean of the others"
        return [f"{words} significantly ({_rule(level)})", *_left_out(part)]
    items = [
        f"{first} is significantly {'worse' if worse else 'better'} than {second or 'the mean of the others'}: "
        f"{', '.join(words)}"
        for (first, second, worse), words in phrases.items()
    ]
    return [*items, f"significant: {_rule(level)}; intervals are not corrected", *_left_out(part)]


def _left_out(part: ByConditions) -> list[str]:
    """Return sentences on conditions and metrics without intervals, which are not compared."""
    alone = [one.name for one in part.evaluated if one.uncertainty is None]
    few = [one.name for one in part.evaluated if one.uncertainty is not None and one.uncertainty.too_few]
    sure = _sure(part.evaluated)
    endless = [one.name for one in part.evaluated if not math.isfinite(one.cllr)]
    lines = [f"not compared, because all trials have one unit: {shortened('; '.join(alone))}"] if alone else []
    if few:
        lines.append(
            f"not compared, with fewer than {FEWEST_CLUSTERS:g} effective units of a class: {shortened('; '.join(few))}"
        )
    free = list(dict.fromkeys(name for at in (("min_dcf", 0), "mean_min_dcf") for name in _without_errors(sure, at)))
    if free:
        why = "there is no miss or no false alarm at the best threshold"
        lines.append(f"not compared by minDCF, because {why}: {shortened('; '.join(free))}")
    if endless:
        lines.append(f"differences of Cllr are not computed, because it is infinite in {shortened('; '.join(endless))}")
    return lines


def _rule(level: float) -> str:
    return f"p below {1.0 - level:.3g} by Holm's correction for all comparisons of a metric"


CURVES = {"act_error": "actual decisions", "min_error": "decisions at the best thresholds", "c_avg": "actual decisions"}
"""Decisions that curves are about."""

_DRAWS = 20_000
"""Draws for the factor of a band, which give it to about 1 %."""

_SEED = 1

_SHOWN = 3
"""Ranges of priors in a sentence; JSON has all."""


@dataclass(frozen=True, slots=True)
class PriorRange:
    """Priors at which one system is significantly better.

    Attributes
    ----------
    better : str
        Name of the system.
    low, high : float
        Prior log odds in nats: the first and the last place at which the band excludes 0.
    """

    better: str
    low: float
    high: float

    @property
    def priors(self) -> str:
        """The range as text."""
        low, high = prior_name(self.low), prior_name(self.high)
        return f"near {low}" if low == high else f"from {low} to {high}"

    def __str__(self) -> str:
        """Return the range as a sentence."""
        return f"{self.better} is better at priors {self.priors}"


@dataclass(frozen=True, slots=True, eq=False)
class CurveDifference(ByValue):
    """The difference of two systems on a curve, first minus second, with a simultaneous band.

    Attributes
    ----------
    curve : str
        ``"act_error"`` and ``"min_error"``: normalized Bayes error rates, actual and at the best thresholds;
        multiclass: ``"c_avg"``.
    log_odds : (m,) array
        Prior log odds in nats.
    difference, standard_error : (m,) arrays
    low, high : (m,) arrays
        Band that contains the whole true curve in a share ``level`` of draws of units. If a system has no misses or no
        false alarms, it is widened by the rule of three, to allow for unseen errors.
    level : float
    factor : float
        Half-width of the band in standard errors; pointwise it would be the t quantile.
    better : tuple of PriorRange
        Ranges in which the band excludes 0.
    """

    curve: str
    log_odds: FloatArray
    difference: FloatArray
    standard_error: FloatArray
    low: FloatArray
    high: FloatArray
    level: float
    factor: float
    better: tuple[PriorRange, ...]

    @property
    def about(self) -> str:
        """Decisions that the curve is about."""
        return CURVES.get(self.curve, self.curve)

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON types."""
        places = [{"better": one.better, "low": one.low, "high": one.high, "words": str(one)} for one in self.better]
        return {
            "curve": self.curve,
            "level": self.level,
            **{name: getattr(self, name) for name in ("log_odds", "difference", "low", "high")},
            "better": places,
        }


def curve_differences(
    paired: Sequence[compared.PairedUnits], names: Sequence[tuple[str, str]], level: float
) -> list[tuple[CurveDifference, ...]]:
    """Return the differences of all curves of each pair whose influences both systems kept, if there are enough units.

    The correlations of all curves come first: threads of LAPACK burn time for a while after each call.

    Parameters
    ----------
    paired : sequence of PairedUnits
    names : sequence of (str, str)
        Names of the systems of each pair.
    level : float

    Raises
    ------
    InputError
        If curves have no prior in common.
    """
    differences = list[tuple[CurveDifference, ...]]()
    for units, own in zip(paired, names, strict=True):
        first, second = units.first, units.second
        kept = [one for one in first.curve_influences if one in second.curve_influences]
        few = first.too_few or second.too_few
        differences.append(tuple(_curve_difference(one, units, own, level) for one in (() if few else kept)))
    return differences


def _curve_difference(name: str, paired: compared.PairedUnits, names: tuple[str, str], level: float) -> CurveDifference:
    """Return the difference of one curve of two systems, at the priors of both."""
    one, other = (x.curve_influences[name] for x in (paired.first, paired.second))
    log_odds, at, also = np.intersect1d(one.log_odds, other.log_odds, return_indices=True)
    if not len(at):
        raise InputError(f"{names[0]}, {names[1]}: the curves have no prior in common. Use the same operating points.")
    influences = paired.subtracted(one.influences[at], other.influences[also])
    value, error = compared.without_rounding(one.values[at], other.values[also]), paired.standard_error(influences)
    factor = simultaneous_factor(root_of_correlations(influences), level, paired.n_units)
    above = below = factor * error
    if value.any() or error.any():  # else it is the same curve
        (rise, fall), (other_rise, other_fall) = one.reach(level), other.reach(level)
        above = np.hypot(above, np.hypot(rise[at], other_fall[also]))
        below = np.hypot(below, np.hypot(fall[at], other_rise[also]))
    low, high = value - below, value + above
    ranges = [*_ranges(log_odds, low > 0.0, names[1]), *_ranges(log_odds, high < 0.0, names[0])]
    ranges.sort(key=lambda result: result.low)
    return CurveDifference(name, log_odds, value, error, low, high, level, factor, tuple(ranges))


def root_of_correlations(influences: FloatArray) -> FloatArray:
    """Return the symmetric root of the correlations of the places whose influences are not all 0."""
    size = np.sqrt(np.einsum("pu,pu->p", influences, influences))
    moving = size > 0.0
    if not moving.any():
        return np.zeros((0, 0))
    scaled = influences[moving] / size[moving, None]
    # The symmetric root of scaled @ scaled.T is stable for similar curves. With fewer units than places, its factors
    # come from the smaller scaled.T @ scaled.
    is_tall = scaled.shape[1] < len(scaled)
    values, vectors = np.linalg.eigh(scaled.T @ scaled if is_tall else scaled @ scaled.T)
    kept = values > 1e-14 * values[-1]
    sizes = np.sqrt(values[kept])
    sides = scaled @ vectors[:, kept] / sizes if is_tall else vectors[:, kept]
    return np.asarray((sides * sizes) @ sides.T)


def simultaneous_factor(root: FloatArray, level: float, n_units: int) -> float:
    """Return the half-width, in standard errors, of a band that contains the whole curve.

    This is the quantile of the largest of many t statistics that are correlated like the influences (sup-t band,
    Montiel Olea and Plagborg-Møller 2019), from draws with a fixed seed.

    Parameters
    ----------
    root : array
        See `root_of_correlations`.
    level : float
    n_units : int
        Number of units; there are ``n_units - 1`` degrees of freedom.

    Examples
    --------
    >>> one = np.random.default_rng(0).normal(size=(1, 200))
    >>> round(simultaneous_factor(root_of_correlations(np.repeat(one, 5, axis=0)), 0.95, 200), 1)
    2.0
    """
    if not len(root):
        return 0.0
    normal, spread = _drawn(len(root), n_units)
    drawn = np.empty((len(root), *normal.shape[::2]), np.float32)
    np.matmul(root.astype(np.float32), normal, out=drawn.transpose(1, 0, 2))
    return float(np.quantile(np.abs(drawn, out=drawn).max(axis=0).ravel()[:_DRAWS] / spread, level))


_PRODUCT = 1 << 18
"""Size of products up to which BLAS uses one thread; for so short ones, more threads mostly wait."""


@lru_cache(maxsize=2)
def _drawn(n_places: int, n_units: int) -> tuple[NDArray[np.float32], FloatArray]:
    """Return normal deviates (n_batches, n_places, n), and divisors that make them t deviates; cached for speed."""
    draws = np.random.Generator(np.random.Philox(_SEED))
    # Single precision takes half the time, and its rounding is far below the error of the draws.
    normal = draws.standard_normal((_DRAWS, n_places)).astype(np.float32)
    spread = np.sqrt(draws.chisquare(n_units - 1, _DRAWS) / (n_units - 1))
    n = max(_PRODUCT // n_places**2, 1)
    filled = np.zeros((-(-_DRAWS // n) * n, n_places), np.float32)
    filled[:_DRAWS] = normal
    normal = np.ascontiguousarray(filled.reshape(-1, n, n_places).transpose(0, 2, 1))
    for one in (normal, spread):
        one.flags.writeable = False
    return normal, spread


def _ranges(log_odds: FloatArray, mask: BoolArray, better: str) -> list[PriorRange]:
    """Return the runs of chosen places."""
    steps = np.diff(np.concatenate(([0], mask.astype(np.int8), [0])))
    starts, ends = np.flatnonzero(steps > 0), np.flatnonzero(steps < 0) - 1
    return [PriorRange(better, float(log_odds[a]), float(log_odds[b])) for a, b in zip(starts, ends, strict=True)]


def where_in_words(curves: Sequence[CurveDifference]) -> list[str]:
    """Return a sentence for each curve on the better system by prior; of many ranges, some of the widest are named."""
    lines = []
    for one in curves:
        messages = list[str]()
        for name in dict.fromkeys(place.better for place in one.better):
            places = sorted((p for p in one.better if p.better == name), key=lambda p: (p.low - p.high, p.low))
            ranges = [place.priors for place in sorted(places[:_SHOWN], key=lambda p: p.low)]
            more = len(places) - _SHOWN
            items = listed([*ranges, f"in {counted(more, 'other range')}"] if more > 0 else ranges)
            priors = "target priors" if one.curve == "c_avg" else "effective priors"
            messages.append(f"{name} is significantly better at {priors} {items}")
        words = "; ".join(messages) or "no significant difference"
        band = f"{100 * one.level:.4g} % band for all of {counted(len(one.log_odds), 'prior')} together"
        lines.append(f"{one.about}: {words} ({band})")
    return lines
