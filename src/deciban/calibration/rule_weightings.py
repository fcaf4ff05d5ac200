"""Threshold weighting of a training objective, and rules for a range of thresholds.

An affine calibration cannot be accurate at all thresholds. The weighting ``Omega(t)`` of thresholds determines the
trade-off. It depends on alpha, beta and the prior of the objective (Bruemmer and Doddington 2013, sections 3 and 4).
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike
from scipy.integrate import cumulative_trapezoid
from scipy.special import betaincinv, expit, logit

from deciban._validate import arrays as _validate
from deciban.core.proper import ThresholdMass
from deciban.core.ranks.roc import OperatingPoint, PointLike, as_operating_point
from deciban.errors import InputError
from deciban.rules import ThresholdDensity, ThresholdWeights
from deciban.types import FloatArray

_DRAWN = 301


@dataclass(frozen=True, slots=True)
class PointWeight:
    """Weight of one operating point in a rule.

    Attributes
    ----------
    point : OperatingPoint
    threshold : float
        Bayes threshold in nats.
    density : float
        ``Omega`` at the threshold, per nat.
    relative_density : float
        Density divided by its greatest value.
    near : float
        Share of the weight within 1 nat of the threshold.
    below : float
        Share of the weight on lower thresholds.
    """

    point: OperatingPoint
    threshold: float
    density: float
    relative_density: float
    near: float
    below: float


@dataclass(frozen=True, slots=True)
class RuleWeighting:
    """Threshold weighting ``Omega(t)`` of a rule at a prior. Thresholds are llrs in nats.

    Attributes
    ----------
    alpha, beta, p_target : float
        The rule and the prior of the objective.
    mode : float
        Threshold of greatest density.
    half, most : (float, float)
        Central ranges with 50 % and 90 % of the weight.
    points : tuple of PointWeight
        The requested operating points.
    threshold, density : (n,) arrays
        ``Omega(t)``, per nat, for drawing: `deciban.plots.omega`.
    """

    alpha: float
    beta: float
    p_target: float
    mode: float
    half: tuple[float, float]
    most: tuple[float, float]
    points: tuple[PointWeight, ...]
    threshold: FloatArray = field(repr=False, compare=False)
    density: FloatArray = field(repr=False, compare=False)

    @property
    def name(self) -> str:
        """Rule and prior, for tables and legends."""
        return f"({self.alpha:g}, {self.beta:g}) at prior {self.prior}"

    @property
    def prior(self) -> str:
        """Prior in words; relative to 1 if it is close to 1."""
        p = self.p_target
        return f"{p:.4g}" if p < 0.9995 else f"1 \N{MINUS SIGN} {1.0 - p:.2g}"

    def to_dict(self) -> dict[str, object]:
        """Return the numbers (not the curve) as plain JSON types."""
        numbers = {f.name: getattr(self, f.name) for f in dataclasses.fields(self) if f.name not in _CURVE}
        return {
            **numbers,
            "half": list(self.half),
            "most": list(self.most),
            "points": [dataclasses.asdict(weight) for weight in self.points],
        }

    def __str__(self) -> str:
        """Return the numbers as a text table."""
        widths = [max(map(len, column)) for column in zip(self.headings, *self.rows, strict=True)]
        below = ["", *(_aligned(row, widths) for row in (self.headings, *self.rows))] if self.points else []
        return "\n".join((*self.lines, *below))

    headings = ("operating point", "threshold", "share of peak", "weight within 1 nat", "weight below")
    """Headings of `rows`."""

    @property
    def rows(self) -> tuple[tuple[str, ...], ...]:
        """Properties of each operating point, as texts."""
        return tuple(
            (str(one.point), f"{one.threshold:.2f}", *map(_percent, (one.relative_density, one.near, one.below)))
            for one in self.points
        )

    @property
    def lines(self) -> tuple[str, ...]:
        """Properties of the thresholds, one line each."""
        return (
            f"rule (alpha, beta) = ({self.alpha:g}, {self.beta:g}), prior of the objective {self.prior}",
            f"most weight at threshold  {self.mode:8.2f} nats",
            f"50 % of the weight within {self.half[0]:8.2f} to {self.half[1]:.2f} nats",
            f"90 % of the weight within {self.most[0]:8.2f} to {self.most[1]:.2f} nats",
        )


def _aligned(row: Sequence[str], widths: Sequence[int]) -> str:
    """Return a line of a table: the first column aligned left, the others right."""
    cells = [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
    return "  ".join(cells)


_CURVE = ("threshold", "density")


def rule_weighting(
    *, alpha: float, beta: float, p_target: float, operating_points: Iterable[PointLike] = ()
) -> RuleWeighting:
    """Show which decision thresholds a training objective emphasizes (Bruemmer and Doddington 2013, eq. 10).

    Parameters
    ----------
    alpha, beta : float
        Parameters of the rule in [0.05, 100].
    p_target : float
        Prior of the objective, with log odds in [-700, 700].
    operating_points : iterable
        Decisions to make with the scores: each an `OperatingPoint`, a ``p_target``, or ``(p_target, c_miss, c_fa)``.

    Returns
    -------
    RuleWeighting
        When printed, a table.

    Raises
    ------
    InputError
        If a parameter or a prior is out of range.

    Examples
    --------
    >>> print(rule_weighting(alpha=2, beta=2, p_target=0.01, operating_points=[0.01, 0.001]))
    rule (alpha, beta) = (2, 2), prior of the objective 0.01
    most weight at threshold      3.93 nats
    50 % of the weight within     2.90 to 4.66 nats
    90 % of the weight within     1.42 to 5.88 nats
    <BLANKLINE>
    operating point  threshold  share of peak  weight within 1 nat  weight below
    p_target 0.01         4.60           85 %                 49 %          73 %
    p_target 0.001        6.91          5.1 %                4.7 %          99 %
    """
    alpha, beta = _validate.rule(alpha, beta)
    mass = ThresholdMass(alpha, beta, _validate.single_log_odds(p_target, largest=700.0))
    mode, outline = mass.mode(), mass.outline(_DRAWN)
    peak = float(mass.density(np.array([mode]))[0])
    points = tuple(_point_weight(mass, as_operating_point(point), peak) for point in operating_points)
    half, most = ((mass.quantile(low), mass.quantile(high)) for low, high in ((0.25, 0.75), (0.05, 0.95)))
    return RuleWeighting(alpha, beta, float(p_target), mode, half, most, points, outline, mass.density(outline))


def _point_weight(mass: ThresholdMass, point: OperatingPoint, peak: float) -> PointWeight:
    at = point.threshold
    density = float(mass.density(np.array([at]))[0])
    return PointWeight(point, at, density, density / peak, mass.below(at + 1.0) - mass.below(at - 1.0), mass.below(at))


def _percent(fraction: float) -> str:
    return f"{100 * fraction:.2g} %" if fraction < 0.995 else f"{100 * fraction:.0f} %"


_FAMILIAR = ((1.0, 1.0), (2.0, 2.0), (2.0, 1.0), (1.0, 2.0), (0.5, 0.5))
"""Well-known rules with fast closed forms."""


_ROUND = tuple((alpha, beta) for alpha in (0.5, 1.0, 1.5, 2.0) for beta in (0.5, 1.0, 1.5, 2.0))


_NARROW = 3.0
"""Parameters above this emphasize such a narrow range that the remark mentions it."""


_CLOSE, _CLOSE_SHARE = 0.5, 0.1
"""Tolerance of the ends of a round rule, in nats and as a share of the requested range."""


_ROOM = 2.0
"""Margin in nats beyond the outermost operating points: a factor of 7 in prior or costs. The weighting should not fade
at these points, and a single point should not lead to a narrow rule."""


_FARTHEST = 30.0

_LOG_ODDS = 34.0
"""Largest prior log odds in the search; from 37 on, a prior is 1 in float64."""


@dataclass(frozen=True, slots=True)
class Rule:
    """Parameters for `AffineCalibrator` with the range of thresholds that they emphasize.

    Attributes
    ----------
    alpha, beta, p_target : float
        Member of the beta family, and prior of the objective.
    asked, reached : (float, float), optional
        Requested and actual range of thresholds with this share of the weight, in nats.
    remark : str
        Description of the result, in a sentence.
    """

    alpha: float
    beta: float
    p_target: float
    asked: tuple[float, float] | None = None
    reached: tuple[float, float] | None = None
    remark: str = ""

    def weighting(self, operating_points: Iterable[PointLike] = ()) -> RuleWeighting:
        """Return the threshold weighting of the rule; see `rule_weighting`."""
        about = {"alpha": self.alpha, "beta": self.beta, "p_target": self.p_target}
        return rule_weighting(**about, operating_points=operating_points)


def suggest_rule(
    operating_points: Iterable[PointLike] = (), *, thresholds: ArrayLike | None = None, share: float = 0.9
) -> Rule:
    """Suggest alpha, beta and a prior for a range of operating points or thresholds.

    Parameters
    ----------
    operating_points : iterable
        Decisions to make with the scores: each an `OperatingPoint`, a ``p_target``, or ``(p_target, c_miss, c_fa)``.
        The range is from the lowest to the highest of their thresholds, extended by 2 nats on both sides.
    thresholds : (float, float), optional
        The range itself, instead of operating points: llrs in nats, ascending, in [-30, 30].
    share : float
        Share of the weight ``Omega(t)`` in the range, with half of the rest on either side; in [0.1, 0.99].

    Returns
    -------
    Rule
        Its ``remark`` describes the actual range.

    Raises
    ------
    InputError
        If not exactly one of the two is passed, or a range is empty or too far away.

    Notes
    -----
    First, the rules (1, 1), (2, 2), (2, 1), (1, 2), (1/2, 1/2) are tried, each at the prior that centres its range in
    the requested range. The best is returned if both ends miss by at most 0.5 nats or 10 % of the range. Then the same
    is done for all alpha and beta among 1/2, 1, 3/2, 2. Otherwise, alpha, beta and the prior are solved for: both ends
    are matched, and the median is as close to the middle as possible. All numbers are rounded: alpha and beta to three
    digits, the prior to two.

    With a share of 90 %, every range in [-30, 30] with a width of at least 0.5 nats can be matched. In a narrow range,
    few trials matter, and the objective is not convex.

    Examples
    --------
    >>> rule = suggest_rule([0.01, 0.001])
    >>> rule.alpha, rule.beta, rule.p_target
    (2.0, 1.0, 0.0035)
    >>> print(rule.remark)
    90 % of the weight lies on thresholds from 2.88 to 8.61 nats; requested: 2.60 to 8.91.
    """
    share = _validate.in_range(share, "share", 0.1, 0.99, "A share of the weight must be in [0.1, 0.99]")
    points = [as_operating_point(point) for point in operating_points]
    if (thresholds is None) == (not points):
        raise InputError("operating_points, thresholds: pass one of them, either points or the two ends of a range.")
    if thresholds is None:
        places = [point.threshold for point in points]
        low, high = _checked_range([min(places) - _ROOM, max(places) + _ROOM], "operating_points")
    else:
        low, high = _checked_range(thresholds, "thresholds")
    tolerance = max(_CLOSE, _CLOSE_SHARE * (high - low))
    for rules in (_FAMILIAR, _ROUND):
        miss, alpha, beta, tau = min(_at_best_prior(alpha, beta, low, high, share) for alpha, beta in rules)
        if miss <= tolerance:
            return _rule(alpha, beta, tau, (low, high), share, is_closest=False)
    return _rule(*_solved(low, high, share), (low, high), share, is_closest=True)


def _checked_range(thresholds: ArrayLike, name: str) -> tuple[float, float]:
    ends = _validate.finite(thresholds, name)
    if ends.shape != (2,):
        raise InputError(f"{name}: expected the two ends of a range, got shape {ends.shape}.")
    low, high = (float(end) for end in ends)
    if not low < high:
        raise InputError(f"{name}: the range from {low:g} to {high:g} nats is empty. Pass the lower end first.")
    if max(abs(low), abs(high)) > _FARTHEST:
        raise InputError(
            f"{name}: the range goes from {low:g} to {high:g} nats, but ends must be in [-30, 30]: no data support "
            "decisions at more extreme thresholds."
        )
    return low, high


def _central(mass: ThresholdMass, share: float) -> tuple[float, float]:
    return mass.quantile(0.5 - share / 2), mass.quantile(0.5 + share / 2)


def _at_best_prior(
    alpha: float, beta: float, low: float, high: float, share: float
) -> tuple[float, float, float, float]:
    """Return the miss of a range by a rule at the prior that centres it, then the rule and the log odds."""
    from scipy.optimize import brentq

    def off(log_odds: float) -> float:
        return sum(_central(ThresholdMass(alpha, beta, log_odds), share)) - low - high

    # The larger the prior, the lower the thresholds; the rule limits the possible shift.
    if off(-_LOG_ODDS) <= 0:
        tau = -_LOG_ODDS
    elif off(_LOG_ODDS) >= 0:
        tau = _LOG_ODDS
    else:
        tau = float(brentq(off, -_LOG_ODDS, _LOG_ODDS, xtol=1e-3))
    if abs(alpha - 0.5) + abs(beta - 0.5) == 0:
        tau = 0.0  # this rule does not depend on the prior
    ends = _central(ThresholdMass(alpha, beta, tau), share)
    return max(abs(ends[0] - low), abs(ends[1] - high)), alpha, beta, tau


def _solved(low: float, high: float, share: float) -> tuple[float, float, float]:
    """Return the rule and log odds that match both ends and the median as closely as possible."""
    from scipy.optimize import least_squares

    middle, half = (low + high) / 2, (high - low) / 2

    def misses(parameters: FloatArray) -> list[float]:
        mass = ThresholdMass(math.exp(parameters[0]), math.exp(parameters[1]), parameters[2])
        ends = _central(mass, share)
        # If all three cannot be matched, the ends have ten times the weight of the median.
        return [(ends[0] - low) / half, (ends[1] - high) / half, 0.1 * (mass.quantile(0.5) - middle) / half]

    # Far from llr 0 the weighting is that of a beta distribution in log odds, with alpha - 1 in place of alpha (high
    # thresholds) or beta - 1 in place of beta (low thresholds).
    grid = np.geomspace(0.05, 99.0, 200)
    widths = logit(betaincinv(grid, grid, 0.5 + share / 2))
    like = float(np.interp(-half, -widths, grid))
    shift = float(np.tanh(middle))
    start = [math.log(like + max(shift, 0.0)), math.log(like + max(-shift, 0.0)), -middle]
    # Use low priors for high thresholds, instead of an unusual pair of alpha and beta that compensates for the
    # opposite prior.
    least = [math.log(0.05), math.log(0.05), -_LOG_ODDS if middle > 0 else -1e-9]
    greatest = [math.log(100.0), math.log(100.0), _LOG_ODDS if middle < 0 else 1e-9]
    inside = np.clip(start, np.array(least) + 1e-10, np.array(greatest) - 1e-10)
    result = least_squares(misses, inside, bounds=(least, greatest), x_scale=[1.0, 1.0, 5.0], xtol=1e-9, ftol=1e-12)
    alpha, beta, tau = result.x
    return math.exp(alpha), math.exp(beta), float(tau)


def _rule(
    alpha: float, beta: float, tau: float, request: tuple[float, float], share: float, *, is_closest: bool
) -> Rule:
    alpha, beta = (min(max(float(f"{value:.3g}"), 0.05), 100.0) for value in (alpha, beta))
    rare = float(f"{expit(-abs(tau)):.2g}")
    p_target = rare if tau <= 0 else 1.0 - rare
    reached = _central(ThresholdMass(alpha, beta, float(logit(p_target))), share)
    remark = (
        f"{share:.0%} of the weight lies on thresholds from ".replace("%", " %")
        + f"{reached[0]:.2f} to {reached[1]:.2f} nats; requested: {request[0]:.2f} to {request[1]:.2f}."
    )
    miss = max(abs(reached[0] - request[0]), abs(reached[1] - request[1]))
    if is_closest and miss > 0.05 * (1.0 + request[1] - request[0]):
        remark += " No rule with alpha and beta in [0.05, 100] is closer."
    elif max(alpha, beta) > _NARROW:
        remark += " This range is narrow: few trials determine the result. With few trials, a wider range is safer."
    return Rule(alpha, beta, p_target, request, reached, remark)


_STEPS = 6001


def suggest_for_rule(
    rule: ThresholdWeights | ThresholdDensity, p_target: float | Iterable[float], *, share: float = 0.9
) -> Rule:
    """Suggest alpha, beta and a prior for an objective that emphasizes the same thresholds as a custom scoring rule.

    Parameters
    ----------
    rule : ThresholdWeights or ThresholdDensity
        Thresholds of the posterior; `deciban.io.read_rule` reads one from a file.
    p_target : float or iterable of float
        Priors of the posteriors, each inside (0, 1).
    share : float
        Share of the weight in the range, with half of the rest on either side; in [0.1, 0.99].

    Returns
    -------
    Rule
        Its ``asked`` is the range that contains this share of the weight of the rule, from the lowest threshold at any
        prior to the highest. If the rule is a sum of single thresholds, the range is extended by 2 nats on both sides,
        because few trials are between a few thresholds.

    Raises
    ------
    InputError
        If the rule has another type, has no weight, or emphasizes thresholds beyond 30 nats; if a prior or the share is
        out of range.

    Notes
    -----
    At the prior p, a threshold ``eta`` of the posterior is the llr ``t = logit(eta) - logit(p)``. Its weight, relative
    to problems of even odds, is ``p / eta * sigma(t)``, as in ``Omega(t)`` of `rule_weighting` (Bruemmer and Doddington
    2013, eq. 10). Only the range is matched. The calibration loss in ``deciban eval --rule`` shows the remaining cost
    by the custom rule itself.

    Examples
    --------
    >>> ours = ThresholdWeights([0.5, 0.9, 0.99], [0.2, 0.3, 0.5])
    >>> found = suggest_for_rule(ours, 0.01)
    >>> [round(end, 2) for end in found.asked]
    [2.6, 11.19]
    >>> found.alpha, found.beta, found.p_target
    (2.0, 0.5, 0.0074)
    """
    if not isinstance(rule, ThresholdWeights | ThresholdDensity):
        raise InputError(
            f"rule: got {type(rule).__name__}. It must be a ThresholdWeights or ThresholdDensity of deciban.rules; "
            "deciban.io.read_rule reads one from a file."
        )
    share = _validate.in_range(share, "share", 0.1, 0.99, "A share of the weight must be in [0.1, 0.99]")
    priors = [p_target] if isinstance(p_target, float | int) else list(p_target)
    if not priors:
        raise InputError("p_target: missing. A rule has thresholds of the posterior, which needs a prior.")
    ends = np.array([_range(rule, _validate.single_log_odds(p), share) for p in priors])
    low, high = float(ends[:, 0].min()), float(ends[:, 1].max())
    if max(-low, high) > _FARTHEST:
        raise InputError(
            f"rule: its thresholds are llrs from {low:.3g} to {high:.3g} nats, beyond the limit of 30 nats."
        )
    return suggest_rule(thresholds=(low, high), share=share)


def _range(rule: ThresholdWeights | ThresholdDensity, log_odds: float, share: float) -> tuple[float, float]:
    """Return the range of llrs that contains this share of the weight."""
    ends = np.array([0.5 - share / 2, 0.5 + share / 2])
    if isinstance(rule, ThresholdWeights):
        at = logit(rule.eta) - log_odds
        total = _total(np.cumsum(rule.weights * _relative(at, rule.eta, log_odds)))
        low, high = at[np.searchsorted(total, ends, side="left")]
        return float(low) - _ROOM, float(high) + _ROOM
    with np.errstate(divide="ignore"):
        nodes = logit(rule.eta) - log_odds
    # Only where the weight is not 0: nothing is found beyond that.
    first, last = max(nodes[0], -_FARTHEST), min(nodes[-1], _FARTHEST)
    if not first < last:
        raise InputError("rule: no weight on llrs within 30 nats; no data support decisions beyond.")
    at = np.union1d(np.linspace(first, last, _STEPS), nodes[(nodes > first) & (nodes < last)])
    eta = expit(at + log_odds)
    density = np.interp(eta, rule.eta, rule.density) * eta * expit(-at - log_odds) * _relative(at, eta, log_odds)
    total = _total(cumulative_trapezoid(density, at, initial=0))
    low, high = np.interp(ends, total, at)
    return float(low), float(high)


def _relative(at: FloatArray, eta: FloatArray, log_odds: float) -> FloatArray:
    """Return weights of thresholds as problems of even odds, relative to problems of the prior."""
    return np.asarray(expit(log_odds) / eta * expit(at))


def _total(summed: FloatArray) -> FloatArray:
    if not 0.0 < summed[-1] < math.inf:
        raise InputError("rule: no weight. Give some threshold a weight above 0.")
    return np.asarray(summed / summed[-1])
