"""A design aid: which thresholds a training objective cares for.

Affine calibration cannot be right everywhere at once. What it gives up for what is decided by the weighting
``Omega(t)`` of thresholds that alpha, beta and the prior of the objective make (Bruemmer and Doddington 2013, sections
3 and 4).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from deciban._validate import arrays as _validate
from deciban.core.ranks.operating import OperatingPoint, PointLike, as_operating_point
from deciban.core.rules.proper import ThresholdMass
from deciban.types import FloatArray

_DRAWN = 301


@dataclass(frozen=True, slots=True)
class PointWeight:
    """How much a rule cares for one operating point.

    Attributes
    ----------
    point : OperatingPoint
    threshold : float
        Its Bayes threshold in nats.
    density : float
        ``Omega`` there, per nat.
    relative_density : float
        The same divided by its greatest value.
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
    """What a rule, used at a prior, cares for: ``Omega(t)`` in numbers. Thresholds are llrs in nats.

    Attributes
    ----------
    alpha, beta, p_target : float
        The rule and the prior of the objective.
    mode : float
        Threshold of greatest density.
    half, most : (float, float)
        The central ranges that hold 50 % and 90 % of the weight.
    points : tuple of PointWeight
        The operating points that were asked for.
    threshold, density : (n,) arrays
        ``Omega(t)``, per nat, to be drawn: `deciban.plots.omega`.
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
        """The rule and its prior, as tables and legends call it."""
        return f"({self.alpha:g}, {self.beta:g}) at prior {self.prior}"

    @property
    def prior(self) -> str:
        """The prior in words: what it lacks to 1 where it is close to that."""
        p = self.p_target
        return f"{p:.4g}" if p < 0.9995 else f"1 \N{MINUS SIGN} {1.0 - p:.2g}"

    def to_dict(self) -> dict[str, Any]:
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
        lines = [
            f"rule (alpha, beta) = ({self.alpha:g}, {self.beta:g}), prior of the objective {self.prior}",
            f"most weight at threshold  {self.mode:8.2f} nats",
            f"50 % of the weight within {self.half[0]:8.2f} to {self.half[1]:.2f} nats",
            f"90 % of the weight within {self.most[0]:8.2f} to {self.most[1]:.2f} nats",
        ]
        if self.points:
            width = max(len("operating point"), *(len(str(weight.point)) for weight in self.points))
            lines += [
                "",
                f"{'operating point':{width}}  threshold  of the greatest density  weight within 1 nat  below",
            ]
            lines += [
                f"{weight.point!s:{width}}  {weight.threshold:9.2f}  {_percent(weight.relative_density):>23}"
                f"  {_percent(weight.near):>19}  {_percent(weight.below):>5}"
                for weight in self.points
            ]
        return "\n".join(lines)


_CURVE = ("threshold", "density")


def rule_weighting(
    *, alpha: float, beta: float, p_target: float, operating_points: Iterable[PointLike] = ()
) -> RuleWeighting:
    """Tell which thresholds a training objective cares for (Bruemmer and Doddington 2013, eq. 10).

    Parameters
    ----------
    alpha, beta : float
        Parameters of the rule in [0.05, 100].
    p_target : float
        Prior of the objective; its log odds lie in [-700, 700].
    operating_points : iterable
        Decisions that the scores are for: each an `OperatingPoint`, a ``p_target``, or ``(p_target, c_miss, c_fa)``.

    Returns
    -------
    RuleWeighting
        Printed, it is a table.

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
    operating point  threshold  of the greatest density  weight within 1 nat  below
    p_target 0.01         4.60                     85 %                 49 %   73 %
    p_target 0.001        6.91                    5.1 %                4.7 %   99 %
    """
    alpha, beta = _validate.rule(alpha, beta)
    tau = _validate.single_log_odds(p_target, largest=700.0)
    mass = ThresholdMass(alpha, beta, tau)
    mode, outline = mass.mode(), mass.outline(_DRAWN)
    peak = float(mass.density(np.array([mode]))[0])
    points = tuple(_point_weight(mass, as_operating_point(point), peak) for point in operating_points)
    return RuleWeighting(
        alpha=alpha,
        beta=beta,
        p_target=float(p_target),
        mode=mode,
        half=(mass.quantile(0.25), mass.quantile(0.75)),
        most=(mass.quantile(0.05), mass.quantile(0.95)),
        points=points,
        threshold=outline,
        density=mass.density(outline),
    )


def _point_weight(mass: ThresholdMass, point: OperatingPoint, peak: float) -> PointWeight:
    at = point.threshold
    density = float(mass.density(np.array([at]))[0])
    return PointWeight(point, at, density, density / peak, mass.below(at + 1.0) - mass.below(at - 1.0), mass.below(at))


def _percent(fraction: float) -> str:
    return f"{100 * fraction:.2g} %" if fraction < 0.995 else f"{100 * fraction:.0f} %"
