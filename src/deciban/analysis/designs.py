"""Designs of evaluations: what so many units, segments and trials promise, and how many are enough."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from scipy import special

from deciban._validate import arrays as _validate
from deciban.analysis.pilots import Pilot
from deciban.analysis.plans import Design
from deciban.core.resampling.intervals import LEVEL, Estimate, checked_level
from deciban.errors import InputError
from deciban.types import FloatArray, IntArray

TrialsPerSegment: TypeAlias = int | Literal["all"] | None

_FEWEST, _MOST = 3, 10**9
"""Units of a design: for fewer there is hardly an interval."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """What is wanted of the data that are to be collected.

    Attributes
    ----------
    width : float, optional
        Of the interval of the figure, from bound to bound.
    difference : float, optional
        Between two systems, to be told from none by a two-sided test at ``1 - level``.
    relative : bool
        Whether these are shares of the figure of the pilot.
    level : float
    power : float
        Probability of telling that difference from none.
    segments : iterable of int, optional
        Numbers of segments for each unit; None: that of the pilot, and some others.
    trials_per_segment : int, "all" or None
        Non-target trials of each segment; None: as in the pilot.

    Raises
    ------
    InputError
        If not one of width and difference is given, or one of the numbers is out of range.
    """

    width: float | None = None
    difference: float | None = None
    relative: bool = False
    level: float = LEVEL
    power: float = 0.8
    segments: Iterable[float] | None = None
    trials_per_segment: TrialsPerSegment = None

    def __post_init__(self) -> None:
        """Check the numbers."""
        given = [name for name in ("width", "difference") if getattr(self, name) is not None]
        if len(given) != 1:
            got = "both" if given else "neither"
            raise InputError(
                f"width, difference: got {got}. Say how wide the interval may be (width=0.01, --width 0.01), or which "
                "difference of two systems is to be seen (difference=0.01, --difference 0.01)."
            )
        _validate.in_range(
            getattr(self, given[0]), given[0], math.ulp(0.0), math.inf, "It is a finite number above 0, such as 0.01"
        )
        if math.isinf(getattr(self, given[0])):
            raise InputError(f"{given[0]}: got inf. It is a finite number above 0, such as 0.01.")
        checked_level(self.level)
        _validate.in_range(
            self.power, "power", 0.5, 1.0 - math.ulp(0.5), "It is a share from 0.5 up to, not with, 1, such as 0.8"
        )
        asked: Any = self.trials_per_segment
        if asked is None or asked == "all":
            return
        if isinstance(asked, bool) or not isinstance(asked, int | np.integer) or asked < 1:
            raise InputError(f"trials_per_segment: got {asked!r}. It is a whole number from 1 on, or 'all'.")

    @property
    def wanted(self) -> Literal["width", "difference"]:
        """Which of the two is given."""
        return "width" if self.difference is None else "difference"

    @property
    def amount(self) -> float:
        """The width or the difference."""
        given = self.width if self.difference is None else self.difference
        assert given is not None  # noqa: S101  # checked when it was made
        return float(given)

    def reached(self, pilot: Pilot, standard_error: float, n_units: int) -> float:
        """Width of the interval, or the smallest difference that is seen with this power, at a standard error."""
        if self.difference is None:
            found = Estimate(pilot.expected, standard_error, n_units, pilot.scale).interval(self.level)
            return found.high - found.low
        quantiles = special.stdtrit(n_units - 1, [(1.0 + self.level) / 2.0, self.power])
        independent = math.sqrt(2.0) if len(pilot.names) == 1 else 1.0
        return float(quantiles.sum()) * standard_error * independent


class Planner:
    """What designs of another size promise, by the components of variance of a pilot.

    Parameters
    ----------
    pilot : Pilot
    goal : Goal

    Raises
    ------
    InputError
        If trials of each segment are given, and nothing tells segments apart.
    """

    def __init__(self, pilot: Pilot, goal: Goal) -> None:
        self.pilot, self.goal, self.levels = pilot, goal, pilot.levels
        given = goal.trials_per_segment
        self.per_segment = None if given is None or given == "all" else int(given)
        self.is_crossed = given == "all" or (given is None and pilot.is_crossed)
        if self.per_segment is not None and pilot.n_segments is None:
            raise InputError(
                f"trials_per_segment: nothing tells segments of one {pilot.noun} apart. Leave it out, or say 'all'."
            )

    @property
    def target(self) -> float:
        """The width or difference that is wanted."""
        return self.goal.amount * (abs(self.pilot.expected) if self.goal.relative else 1.0)

    def counts(self, n: int, segments: float | None) -> tuple[float, float] | None:
        """Target and non-target trials of a design; None where the pilot has no such classes."""
        pilot = self.pilot
        if pilot.n_tar is None or pilot.n_non is None:
            return None
        units, more = n / pilot.n_units, 1.0
        if segments is not None and pilot.n_segments is not None:
            own = pilot.n_segments
            more = segments * (segments - 1) / (own * (own - 1)) if pilot.both_sides else segments / own
        if self.per_segment is not None and segments is not None:
            return pilot.n_tar * units * more, self.per_segment * n * segments
        n_non = (
            pilot.n_non * units * (1.0 if segments is None or pilot.n_segments is None else segments / pilot.n_segments)
        )
        if self.is_crossed:
            n_non *= (n - 1) / (pilot.n_units - 1)
            if pilot.both_sides and segments is not None and pilot.n_segments is not None:
                n_non *= segments / pilot.n_segments
        return pilot.n_tar * units * more, n_non

    def variance(self, n: int, segments: float | None) -> float:
        """Variance of the figure in a design."""
        pilot, units = self.pilot, self.pilot.n_units / n
        scales = {"unit": units, "segment": units}
        if segments is not None and pilot.n_segments is not None:
            scales["segment"] *= pilot.n_segments / segments
        counts = self.counts(n, segments)
        if counts is not None:
            assert pilot.n_tar is not None and pilot.n_non is not None  # noqa: S101, PT018  # as there are counts
            scales["trial of targets"], scales["trial of non-targets"] = (
                pilot.n_tar / counts[0],
                pilot.n_non / counts[1],
            )
            own = _pair_share(pilot.n_units, pilot.n_non, is_crossed=pilot.is_crossed)
            scales["pair"] = _pair_share(n, counts[1], is_crossed=self.is_crossed) / own
        return sum(variance * scales[level] for level, variance in self.levels.items())

    def reached(self, n: int, segments: float | None) -> float:
        """Width, or difference that is seen, of a design."""
        return self.goal.reached(self.pilot, math.sqrt(self.variance(n, segments)), n)

    def fewest(self, segments: float | None, factor: float = 1.0) -> int | None:
        """The fewest units that reach the goal, with ``factor`` times the variance; None beyond a billion."""

        def enough(n: int) -> bool:
            error = math.sqrt(factor * self.variance(n, segments))
            return self.goal.reached(self.pilot, error, n) <= self.target

        return _first(enough)

    def design(self, segments: float | None) -> Design | None:
        """The smallest design with so many segments for each unit that reaches the goal."""
        n = self.fewest(segments)
        if n is None:
            return None
        counts = self.counts(n, segments) or (None, None)
        error = math.sqrt(self.variance(n, segments))
        whole = [None if count is None else math.ceil(count - 1e-9) for count in counts]
        return Design(n, segments, whole[0], whole[1], error, self.goal.reached(self.pilot, error, n))

    def between(self, segments: float | None) -> tuple[int | None, int | None] | None:
        """Between which numbers of units the truth should lie, as the pilot knows variances roughly itself."""
        spread = self.pilot.spread
        if spread is None:
            return None
        reach = float(special.ndtri(0.975)) * spread
        return self.fewest(segments, math.exp(-reach)), self.fewest(segments, math.exp(min(reach, 50.0)))

    def curve(self, segments: float | None, n: IntArray) -> FloatArray:
        """Widths, or differences that are seen, of designs with n units."""
        return np.array([self.reached(int(one), segments) for one in n])


def _pair_share(n_units: int, n_non: float, *, is_crossed: bool) -> float:
    """Sum of squared shares of pairs of units: each pair alike, or trials drawn from all pairs."""
    every = 1.0 / math.comb(max(n_units, 2), 2)
    return every if is_crossed else every + (1.0 - every) / n_non


def _first(enough: Callable[[int], bool]) -> int | None:
    """The first number for which a condition holds that holds for all beyond."""
    high = _FEWEST
    while not enough(high):
        if high >= _MOST:
            return None
        high = min(2 * high, _MOST)
    low = high // 2 if high > _FEWEST else _FEWEST - 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
