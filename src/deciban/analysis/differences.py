"""Differences between conditions, and between curves of systems over the prior, with intervals."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deciban.analysis.compared import (
    MeanOfEstimates,
    PairedUnits,
    compared_metrics,
    fewest_degrees,
    holm,
    interval_of_difference,
    without_rounding,
)
from deciban.core.by_value import ByValue
from deciban.core.resampling.intervals import FEWEST_CLUSTERS, Estimate, RateSum
from deciban.errors import InputError
from deciban.evaluation.conditions import ByConditions, ConditionDifference
from deciban.evaluation.metrics import metric_of
from deciban.evaluation.one_system import OneSystem, bounds_in_words
from deciban.evaluation.two_class import prior_name
from deciban.evaluation.uncertainty import CurveInfluences, Figure, Uncertainty
from deciban.messages import counted, shortened
from deciban.types import BoolArray, FloatArray

MOST_PAIRED = 10
"""Conditions of which all pairs are compared; of more, each with the mean of the others alone."""

_PAIRS_IN_WORDS = 3
"""Conditions of which pairs are told; of more, each against the mean of the others."""


def differences_between(evaluated: Sequence[Any], level: float) -> tuple[tuple[ConditionDifference, ...], str]:
    """Differences between conditions, and of each from the mean of the others.

    Parameters
    ----------
    evaluated : sequence of Evaluation or ClassEvaluation
        Of conditions, by whose names they are called.
    level : float
        Of the intervals, each for itself.

    Returns
    -------
    differences : tuple of ConditionDifference
        P-values are corrected by Holm's method, for all pairs of a figure and for all comparisons with the others.
    why_none : str
        Why there are none; empty where there are some.

    Notes
    -----
    A unit with trials in two conditions acts on both figures, so that its influences subtract before they are squared,
    as those of two systems do (see `deciban.compare`). Limits are those of comparisons of systems.

    A condition that happens to show small costs alone has a small standard error, too: of 13 conditions that are alike,
    with 30 non-targets each, Cllr of one differed "beyond doubt" in 18 to 53 % of draws. So p-values of differences of
    costs are those of a variance per unit that is at least the mean over all differences. Intervals have their own.
    """
    if len(evaluated) < 2:
        return (), "fewer than two conditions have figures"
    sure = _sure(evaluated)
    if len(sure) < 2:
        return (), "units are not known, or too few in each condition"
    figures = _figures(sure)
    if not figures:
        return (), "no metric has a confidence interval in all conditions"
    kept = [name for name in figures if all(name in one.uncertainty.influences for one in sure)]
    if not kept:
        return (), "influences of so many units are not kept; name units of which there are fewer, such as speakers"
    found = list[ConditionDifference]()
    pairs = list(itertools.combinations(sure, 2)) if len(sure) <= MOST_PAIRED else []
    paired = [PairedUnits.of(one.uncertainty, other.uncertainty) for one, other in pairs]
    together = _Together.of([one.uncertainty for one in sure]) if len(sure) > 2 else None
    for figure in kept:
        least = _least_errors(
            [float(p.standard_error(p.influences(figure))) for p in paired],
            [[(estimate, 1.0) for estimate in _estimates(figure, pair)] for pair in pairs],
        )
        of_pairs = [
            ConditionDifference(
                one.name,
                other.name,
                figure,
                _values(figure, one, other),
                p.difference(figure, level, same_trials=False, least_error=error),
                1.0,
            )
            for (one, other), p, error in zip(pairs, paired, least, strict=True)
        ]
        of_others = [] if together is None else together.against_others(sure, figure, level)
        free = _without_errors(sure, figure)
        found += [
            one for one in (*_corrected(of_pairs), *_corrected(of_others)) if not {one.first, one.second} & {*free}
        ]
    return tuple(found), "" if found else "in each figure, some condition shows no error"


def _sure(evaluated: Sequence[Any]) -> list[Any]:
    """Return the conditions whose metrics have intervals."""
    return [one for one in evaluated if one.uncertainty is not None and not one.uncertainty.too_few]


def _corrected(rows: Sequence[ConditionDifference]) -> list[ConditionDifference]:
    """With p-values for all of them at once."""
    adjusted = holm(np.array([one.interval.p_value for one in rows], np.float64)).tolist()
    return [replace(one, holm=share) for one, share in zip(rows, adjusted, strict=True)]


def _figures(sure: Sequence[OneSystem]) -> list[Figure]:
    """Return the headline metrics that all conditions have, costs at the first operating point."""
    keys = compared_metrics(sure)
    return [key for key in keys if metric_of(key).by_condition and (isinstance(key, str) or key[1] == 0)]


def _without_errors(sure: Sequence[Any], figure: Figure) -> list[str]:
    """Return the conditions of whose minimum a class has no error at the best threshold.

    A single extreme trial moves such a threshold, which influences do not show: of 13 conditions that are alike, one
    differed "beyond doubt" in 65 to 93 % of draws.
    """
    if figure not in (("min_dcf", 0), "mean_min_dcf"):
        return []
    estimates = [(one.name, one.uncertainty.estimates.get(figure)) for one in sure]
    return [name for name, one in estimates if one is not None and one.rates is not None and _has_no_error(one.rates)]


def _has_no_error(rates: RateSum) -> bool:
    parts = itertools.chain.from_iterable(rates.parts)
    return any(bool(np.any(np.asarray(part.rate) * part.size.n_trials < 0.5)) for part in parts)


def _estimates(figure: Figure, systems: Sequence[Any]) -> list[Estimate]:
    return [system.uncertainty.estimates[figure] for system in systems]


def _values(figure: Figure, *systems: Any) -> tuple[float, float]:
    one, other = (estimate.value for estimate in _estimates(figure, systems))
    return one, other


def _least_errors(errors: Sequence[float], made_of: Sequence[Sequence[tuple[Estimate, float]]]) -> list[float]:
    """Return the standard errors of differences if the units of all conditions varied alike.

    Parameters
    ----------
    errors : sequence of float
        Standard errors of the differences.
    made_of : sequence of sequences of (Estimate, float)
        The estimates that each difference is made of, with their factors.

    Returns
    -------
    list of float
        0 for error rates, whose limits allow for errors that were not seen.
    """
    if not errors or made_of[0][0][0].rates is not None:
        return [0.0] * len(errors)
    per_unit = [sum(factor**2 / (fewest_degrees([one]) + 1.0) for one, factor in parts) for parts in made_of]
    pooled = math.fsum(error**2 / share for error, share in zip(errors, per_unit, strict=True)) / len(errors)
    return [math.sqrt(pooled * share) for share in per_unit]


class _Together:
    """The units of all conditions: influences of a condition and of the mean of all others subtract.

    Parameters
    ----------
    parts : sequence of Uncertainty
    places : sequence of int arrays
        Where the units of each stand among all.
    n_units : int
        All of them.
    """

    def __init__(self, parts: Sequence[Uncertainty], places: Sequence[Any], n_units: int) -> None:
        self.parts, self.places, self.n_units = parts, places, n_units

    @classmethod
    def of(cls, parts: Sequence[Uncertainty]) -> _Together:
        """Find the units that conditions share."""
        keys, places = np.unique(np.concatenate([one.keys for one in parts]), return_inverse=True)
        ends = np.cumsum([len(one.keys) for one in parts])
        return cls(parts, np.split(places, ends[:-1]), len(keys))

    def against_others(self, named: Sequence[Any], figure: Figure, level: float) -> list[ConditionDifference]:
        """Each condition minus the mean of the others."""
        influences = np.zeros((len(self.parts), self.n_units))
        for row, one, at in zip(influences, self.parts, self.places, strict=True):
            row[at] = one.influences[figure]
        estimates = [one.estimates[figure] for one in self.parts]
        n_units, n_others = min(one.n_units for one in self.parts), len(self.parts) - 1
        rest = (influences.sum(axis=0) - influences) / n_others
        errors, errors_of_rest = (
            np.sqrt(np.einsum("ku,ku->k", x, x) * n_units / (n_units - 1)).tolist() for x in (influences - rest, rest)
        )
        others = [[*estimates[:k], *estimates[k + 1 :]] for k in range(len(estimates))]
        made_of = [
            [(mine, 1.0), *((one, 1.0 / n_others) for one in its)] for mine, its in zip(estimates, others, strict=True)
        ]
        found = []
        for k, (mine, least) in enumerate(zip(estimates, _least_errors(errors, made_of), strict=True)):
            mean, degrees = MeanOfEstimates(others[k], errors_of_rest[k]), fewest_degrees(estimates)
            plain = Estimate(mine.value - mean.value, errors[k], n_units, "identity", degrees=degrees)
            interval = interval_of_difference(mine, mean, plain, level, least_error=least)
            found.append(ConditionDifference(named[k].name, None, figure, (mine.value, mean.value), interval, 1.0))
        return found


def beyond_doubt(part: ByConditions, level: float) -> list[str]:
    """Which conditions differ beyond doubt, in words: corrected p-values below ``1 - level``.

    Pairs where there are at most three conditions; of more, each against the mean of the others.

    Parameters
    ----------
    part : ByConditions
    level : float

    Returns
    -------
    list of str
        A sentence for each pair that differs in some figure; one that says so where none does.
    """
    if not part.differences:
        return [f"no differences: {part.no_differences}"] if part.no_differences else []
    in_pairs = len(_sure(part.evaluated)) <= _PAIRS_IN_WORDS
    told = dict[tuple[str, str | None, bool], list[str]]()
    asked = [one for one in part.differences if (one.second is not None) == in_pairs]
    known = {one.name: one for one in part.evaluated}
    for one in asked:
        how, value = metric_of(one.figure), one.interval.estimate
        if one.holm >= 1.0 - level or value == 0.0:
            continue
        worse = (value > 0) != how.larger_is_better
        low, high = bounds_in_words(one.interval, in_percent=how.in_percent)
        amount = how.text(value, sign=True)
        words = f"{known[one.first].words(one.figure)} {amount} [{low}, {high}]"
        told.setdefault((one.first, one.second, worse), []).append(words)
    if not told:
        words = "no two conditions differ" if in_pairs else "no condition differs from the mean of the others"
        return [f"{words} beyond doubt ({_rule(level)})", *_left_out(part)]
    return [
        f"{first} is {'worse' if worse else 'better'} than {second or 'the mean of the others'}: {', '.join(words)}"
        for (first, second, worse), words in told.items()
    ] + [f"beyond doubt: {_rule(level)}; intervals of single differences", *_left_out(part)]


def _left_out(part: ByConditions) -> list[str]:
    """Conditions that are not compared, and figures: what has no interval has no differences."""
    alone = [one.name for one in part.evaluated if one.uncertainty is None]
    few = [one.name for one in part.evaluated if one.uncertainty is not None and one.uncertainty.too_few]
    sure = _sure(part.evaluated)
    endless = [one.name for one in part.evaluated if not math.isfinite(one.cllr)]
    found = [f"not compared, as all trials are of one unit: {shortened('; '.join(alone))}"] if alone else []
    if few:
        found.append(
            f"not compared, as a class has fewer than {FEWEST_CLUSTERS:g} effective units: {shortened('; '.join(few))}"
        )
    free = list(dict.fromkeys(name for at in (("min_dcf", 0), "mean_min_dcf") for name in _without_errors(sure, at)))
    if free:
        why = "a class has no error at the best threshold"
        found.append(f"no differences of minDCF, as {why}: {shortened('; '.join(free))}")
    if endless:
        found.append(f"no differences of Cllr, which is infinite in {shortened('; '.join(endless))}")
    return found


def _rule(level: float) -> str:
    return f"p below {1.0 - level:.3g} by Holm's correction for all that are asked of a figure"


CURVES = {"act_error": "actual decisions", "min_error": "decisions at the best thresholds", "c_avg": "actual decisions"}
"""What curves are about, in words."""

_DRAWS = 20_000
"""From which the factor of a band is found: to about a hundredth of itself."""

_SEED = 1

_SHOWN = 3
"""Ranges of priors that a sentence names; JSON has all."""


@dataclass(frozen=True, slots=True)
class PriorRange:
    """Priors at which one system is better beyond doubt.

    Attributes
    ----------
    better : str
        Name of the system.
    low, high : float
        Prior log odds in nats: the first and the last place at which the band leaves no difference out.
    """

    better: str
    low: float
    high: float

    @property
    def priors(self) -> str:
        """Which these are, in words."""
        low, high = prior_name(self.low), prior_name(self.high)
        return f"near {low}" if low == high else f"from {low} to {high}"

    def __str__(self) -> str:
        """In words."""
        return f"{self.better} is better at priors {self.priors}"


@dataclass(frozen=True, slots=True, eq=False)
class CurveDifference(ByValue):
    """The difference of two systems on a curve, first minus second, with a simultaneous band.

    Attributes
    ----------
    curve : str
        ``"act_error"`` and ``"min_error"``: normalized Bayes error rates, actual and at the best thresholds;
        of many classes ``"c_avg"``.
    log_odds : (m,) array
        Prior log odds in nats.
    difference, standard_error : (m,) arrays
    low, high : (m,) arrays
        Band that holds the whole true curve in a share ``level`` of draws of units. Where a system shows no misses or
        no false alarms, it is wider by the rule of three: what was not seen is not known to be absent.
    level : float
    factor : float
        Standard errors to both sides that the band is wide; pointwise it would be the t quantile.
    better : tuple of PriorRange
        Where the band leaves out no difference.
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
        """What the curve is about."""
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


def curve_differences(paired: PairedUnits, names: tuple[str, str], level: float) -> tuple[CurveDifference, ...]:
    """Return the differences of all curves whose influences both systems kept, if there are units enough.

    Parameters
    ----------
    paired : PairedUnits
    names : (str, str)
        Of the systems.
    level : float

    Raises
    ------
    InputError
        If curves have other priors.
    """
    if paired.first.too_few or paired.second.too_few:
        return ()
    one, other = paired.first.curve_influences, paired.second.curve_influences
    return tuple(_difference(name, one[name], other[name], paired, names, level) for name in one if name in other)


def _difference(
    name: str, one: CurveInfluences, other: CurveInfluences, paired: PairedUnits, names: tuple[str, str], level: float
) -> CurveDifference:
    at, also = _common(one.log_odds, other.log_odds)
    if not len(at):
        raise InputError(f"{names[0]}, {names[1]}: their curves have no prior in common. Ask both for the same points.")
    influences = paired.subtracted(one.influences[at], other.influences[also])
    error = paired.standard_error(influences)
    log_odds, value = one.log_odds[at], without_rounding(one.values[at], other.values[also])
    factor = simultaneous_factor(influences, level, paired.n_units)
    above = below = factor * error
    if value.any() or error.any():  # else it is the same curve
        (rise, fall), (other_rise, other_fall) = ((c.reach(level)) for c in (one, other))
        above = np.hypot(above, np.hypot(rise[at], other_fall[also]))
        below = np.hypot(below, np.hypot(fall[at], other_rise[also]))
    low, high = value - below, value + above
    ranges = [*_ranges(log_odds, low > 0.0, names[1]), *_ranges(log_odds, high < 0.0, names[0])]
    ranges.sort(key=lambda found: found.low)
    return CurveDifference(name, log_odds, value, error, low, high, level, factor, tuple(ranges))


def _common(one: FloatArray, other: FloatArray) -> tuple[Any, Any]:
    """Places that two axes of priors share: of very many units the one may be coarser."""
    _, at, also = np.intersect1d(one, other, return_indices=True)
    return at, also


def simultaneous_factor(influences: FloatArray, level: float, n_units: int) -> float:
    """How many standard errors wide a band is that holds the whole curve.

    The quantile of the greatest of many t statistics that are correlated as the influences are (sup-t band, Montiel
    Olea and Plagborg-Møller 2019), from draws of a fixed seed.

    Parameters
    ----------
    influences : (n_places, n) array
    level : float
    n_units : int
        Of which there are ``n_units - 1`` degrees of freedom.

    Examples
    --------
    >>> one = np.random.default_rng(0).normal(size=(1, 200))
    >>> round(simultaneous_factor(np.repeat(one, 5, axis=0), 0.95, 200), 1)
    2.0
    """
    size = np.sqrt(np.einsum("pu,pu->p", influences, influences))
    moving = size > 0.0
    if not moving.any():
        return 0.0
    scaled = influences[moving] / size[moving, None]
    values, vectors = np.linalg.eigh(scaled @ scaled.T)
    root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T  # the symmetric one changes little where they do
    normal, spread = _drawn(len(root), n_units)
    return float(np.quantile(np.abs(normal @ root.astype(np.float32)).max(axis=1) / spread, level))


@lru_cache(maxsize=2)
def _drawn(n_places: int, n_units: int) -> tuple[NDArray[np.float32], FloatArray]:
    """Normal deviates and the divisors that make them t: all pairs of systems have the same, which take longest."""
    draws = np.random.Generator(np.random.Philox(_SEED))
    # Half the time in single precision, whose rounding is nothing beside what so many draws leave open.
    normal = draws.standard_normal((_DRAWS, n_places)).astype(np.float32)
    spread = np.sqrt(draws.chisquare(n_units - 1, _DRAWS) / (n_units - 1))
    for one in (normal, spread):
        one.flags.writeable = False
    return normal, spread


def _ranges(log_odds: FloatArray, chosen: BoolArray, better: str) -> list[PriorRange]:
    """Runs of places that were chosen."""
    steps = np.diff(np.concatenate(([0], chosen.astype(np.int8), [0])))
    starts, ends = np.flatnonzero(steps > 0), np.flatnonzero(steps < 0) - 1
    return [PriorRange(better, float(log_odds[a]), float(log_odds[b])) for a, b in zip(starts, ends, strict=True)]


def where_in_words(curves: Sequence[CurveDifference]) -> list[str]:
    """For each curve a sentence: who is better at which priors, of many ranges the widest, in the order of priors."""
    found = []
    for one in curves:
        said = list[str]()
        for name in dict.fromkeys(place.better for place in one.better):
            places = sorted((p for p in one.better if p.better == name), key=lambda p: (p.low - p.high, p.low))
            listed = ", ".join(place.priors for place in sorted(places[:_SHOWN], key=lambda p: p.low))
            more = len(places) - _SHOWN
            listed += f" and in {counted(more, 'narrower range')}" if more > 0 else ""
            said.append(f"{name} is better beyond doubt at priors {listed}")
        words = "; ".join(said) or "no prior at which one is better beyond doubt"
        found.append(f"{one.about}: {words} ({100 * one.level:.4g} % band over all priors at once)")
    return found
