"""Which system is better where: differences of curves over prior log odds, with a band that holds at all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deciban.analysis.paired import PairedUnits, without_rounding
from deciban.core.by_value import ByValue
from deciban.errors import InputError
from deciban.evaluation.two_class import prior_name
from deciban.evaluation.uncertainty import CurveInfluences
from deciban.messages import counted
from deciban.types import BoolArray, FloatArray

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
        arrays = ("log_odds", "difference", "low", "high")
        places = [{"better": one.better, "low": one.low, "high": one.high, "words": str(one)} for one in self.better]
        return {
            "curve": self.curve,
            "level": self.level,
            **{name: getattr(self, name).tolist() for name in arrays},
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
