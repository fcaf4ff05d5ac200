"""Intervals of figures: from an estimate and its standard error, on the scale that suits the figure."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from scipy import special

from deciban._validate import arrays as _validate
from deciban.core.resampling.rates import RateSum, Scale, bounds_on_scale, t_quantile

ROUNDING = 1e-13
"""Share of a figure, or of the greatest influence on it, below which a difference is that of sums in another order."""

LEVEL = 0.95
"""Share of draws in which an interval should hold the true value."""

LINEARISED = "linearised by unit"
RATES = "Wilson limits by unit"
RULE_OF_THREE = "rule of three"


@dataclass(frozen=True, slots=True)
class Interval:
    """A figure, and between which bounds its true value should lie.

    Attributes
    ----------
    estimate : float
        The figure as it is defined.
    low, high : float
        Bounds at this level.
    standard_error : float
    corrected : float or None
        The figure without its optimism, where it was found as a minimum: what new units should give.
    level : float
        Such as 0.95.
    n_units : int
    method : str
        How the interval was found, in words.
    p_value : float or None
        Of differences: of the hypothesis that there is none, two-sided.
    """

    estimate: float
    low: float
    high: float
    standard_error: float
    corrected: float | None
    level: float
    n_units: int
    method: str
    p_value: float | None = None


@dataclass(frozen=True, slots=True)
class NothingSeen:
    """What is known of a figure that no unit moves: no error was seen, or nothing but errors.

    Attributes
    ----------
    n_units : int
        Units that could have shown something else.
    above, below : float
        How far the figure rises, and falls, if the share of units that do is 1.
    ceiling : float
        What the figure cannot exceed.
    is_entropy : bool
        Whether the figure rises as the binary entropy of the share, in bits.
    """

    n_units: int
    above: float = 0.0
    below: float = 0.0
    ceiling: float = math.inf
    is_entropy: bool = False

    def share(self, level: float) -> float:
        """Rule of three: of n units without an error, the share is below ``1 - (1 - level)^(1/n)``, 3/n at 0.95."""
        return -math.expm1(math.log1p(-level) / max(self.n_units, 1))

    def bounds(self, value: float, level: float) -> tuple[float, float]:
        """The figure, and what it rises to or falls to with that `share`.

        A cost without a limit could rise to any height if it is 0; where all trials cost the same, it stays.
        """
        share = self.share(level)
        rise = min(share, 0.5)
        if self.is_entropy:
            rise = float(special.entr(rise) + special.entr(1.0 - rise)) / math.log(2)
        else:
            known = self.above > 0.0 and (value == 0.0 or math.isfinite(self.above))
            rise = self.above * share if known else 0.0
        return max(value - self.below * share, 0.0), min(value + rise, self.ceiling)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure with its standard error: what intervals of any level are made of.

    Attributes
    ----------
    value, standard_error : float
    n_units : int
    scale : {"log", "logit", "identity", "complement"}
        On which it is nearly normal: logit for shares, log for costs, itself for differences; complement is the log of
        what the metric lacks to its upper limit, for information.
    corrected : float or None
        Without optimism; the middle of the interval where it is known.
    nothing_seen : NothingSeen or None
        Where no unit moves the figure, or a part of it.
    limits : (float, float)
        What the figure cannot leave: neither do its bounds.
    n_candidates : int
        So many figures were there, of which this one was picked for its value. The interval holds the true value of
        what was picked: bounds are so wide that those of all candidates would hold at once (Bonferroni).
    rates : RateSum or None
        The error rates that add up to the metric, if it is such a sum.
    also : float or None
        Another reading of the same metric, to which the rates add up: bounds lie around both.
    degrees : float or None
        Degrees of freedom of the standard error; ``n_units - 1`` if None.
    """

    value: float
    standard_error: float
    n_units: int
    scale: Scale = "log"
    corrected: float | None = None
    nothing_seen: NothingSeen | None = None
    limits: tuple[float, float] = (-math.inf, math.inf)
    n_candidates: int = 1
    rates: RateSum | None = None
    also: float | None = None
    degrees: float | None = None

    def __post_init__(self) -> None:
        """Leave nothing of a standard error that is only rounding, as that of fractional weights may be."""
        most = self.limits[1] if math.isfinite(self.limits[1]) else 0.0
        if self.standard_error <= max(ROUNDING * abs(self.value), 1e-15 * most):
            object.__setattr__(self, "standard_error", 0.0)

    def interval(self, level: float = LEVEL, *, method: str = LINEARISED) -> Interval:
        """Return the interval at a level: around the corrected value, if there is one, and holding the metric itself.

        Raises
        ------
        InputError
            If the level is not inside (0, 1).

        Examples
        --------
        >>> found = Estimate(0.05, 0.01, 100, "logit").interval()
        >>> round(found.low, 4), round(found.high, 4)
        (0.0335, 0.074)
        >>> Estimate(0.0, 0.0, 100, "logit", nothing_seen=NothingSeen(100, 1.0)).interval().high
        0.029513049607039925
        """
        level = checked_level(level)
        of_each = 1.0 - (1.0 - level) / self.n_candidates if self.n_candidates > 1 else level
        if self.rates is not None:
            below, above = map(float, self.rates.distances(of_each))
            middles = [one for one in (self.value, self.corrected, self.also) if one is not None]
            bounds = min(middles) - below, max(middles) + above
            method = RATES if method == LINEARISED else method
        elif self.nothing_seen is not None and self.standard_error == 0.0:
            bounds, method = self.nothing_seen.bounds(self.value, of_each), RULE_OF_THREE
        else:
            degrees = self.n_units - 1 if self.degrees is None else self.degrees
            bounds = self._bounds(t_quantile(of_each, degrees) * self.standard_error)
        lowest, highest = (min(max(bound, self.limits[0]), self.limits[1]) for bound in bounds)
        ends = min(lowest, self.value), max(highest, self.value)
        return Interval(self.value, *ends, self.standard_error, self.corrected, level, self.n_units, method)

    def distances(self, level: float) -> tuple[float, float]:
        """Return how far the metric may fall and rise, without a correction for optimism."""
        found = replace(self, corrected=None).interval(level)
        return self.value - found.low, found.high - self.value

    @property
    def is_known(self) -> bool:
        """Whether there is an interval: finite, and not a point."""
        if self.rates is None and self.standard_error == 0.0 and self.nothing_seen is None:
            return False
        found = self.interval()
        can_be_infinite = self.rates is None and self.standard_error > 0.0
        return found.low < found.high and (can_be_infinite or math.isfinite(found.high - found.low))

    def _bounds(self, half_width: float) -> tuple[float, float]:
        middle = self.value if self.corrected is None else self.corrected
        if half_width == 0.0:
            return middle, middle
        if self.scale == "complement":
            top = self.limits[1]
            low, high = bounds_on_scale(top - middle, top - middle, half_width, "log")
            return top - float(high), top - float(low)
        low, high = bounds_on_scale(middle, middle, half_width, self.scale)
        return float(low), float(high)


def checked_level(level: float) -> float:
    """A level, which lies inside (0, 1).

    Raises
    ------
    InputError
    """
    rule = "A level is a share inside (0, 1), such as 0.95"
    return _validate.in_range(level, "level", math.ulp(0.0), 1.0 - math.ulp(0.5), rule)
