"""Numbers of speakers and trials that an evaluation needs, found from a pilot."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from deciban._validate import arrays as _validate
from deciban.analysis.pilots import Design, Pilot, Plan, pilot_of_evaluations, pilot_of_trials
from deciban.core.ranks.operating import PointLike
from deciban.core.resampling.intervals import LEVEL, Estimate, checked_level
from deciban.core.resampling.units import units_of_classes
from deciban.errors import InputError
from deciban.evaluation import ClassEvaluation, Evaluation
from deciban.evaluation.summary import DEFAULT_POINTS, TwoClassFigures
from deciban.evaluation.uncertainty import Figure
from deciban.types import FloatArray, IntArray, Units, Weights

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
        rule = "It is a finite number above 0, such as 0.01"
        _validate.in_range(getattr(self, given[0]), given[0], math.ulp(0.0), sys.float_info.max, rule)
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


_SEGMENTS = (1, 2, 3, 5, 10)
"""Segments for each unit to plan with, beside those of the pilot."""

_CURVE = 61


def plan_of_pilot(pilot: Pilot, goal: Goal) -> Plan:
    """Plan from what a pilot says; see `plan`.

    Raises
    ------
    InputError
        If no unit moves the figure, or the numbers of segments do not fit the pilot.
    """
    planner = Planner(pilot, goal)
    if not sum(planner.levels.values()) > 0.0:
        raise InputError(
            f"figure: {pilot.words} does not vary between the {pilot.noun}s of this pilot (it is {pilot.value:g}), so "
            "that nothing follows for others. Take a pilot with more errors, or another figure."
        )
    if goal.relative and pilot.expected == 0.0:
        raise InputError(f"relative: the figure is 0, and so is every share of it. Give {goal.wanted} as it is.")
    chosen = _choices(pilot, goal.segments)
    designs = tuple(one for one in map(planner.design, chosen) if one is not None)
    if not designs:
        raise InputError(f"{goal.wanted}: {planner.target:g} takes more than a billion {pilot.noun}s. Ask for less.")
    n = np.unique(np.geomspace(*_ends(designs, pilot), _CURVE).round().astype(np.int64))
    endless = planner.fewest(_ENDLESS) if pilot.n_segments is not None and "segment" in planner.levels else None
    return Plan(
        pilot=pilot,
        wanted=goal.wanted,
        target=planner.target,
        amount=goal.amount,
        is_relative=goal.relative,
        level=goal.level,
        power=goal.power if goal.wanted == "difference" else None,
        is_crossed=planner.is_crossed,
        trials_per_segment=planner.per_segment,
        levels=planner.levels,
        designs=designs,
        between=planner.between(designs[0].n_segments),
        endless=endless,
        curve_units=n,
        curves=tuple(planner.curve(one.n_segments, n) for one in designs),
    )


_ENDLESS = 1e12
"""More segments than anybody has."""


def _ends(designs: Sequence[Design], pilot: Pilot) -> tuple[float, float]:
    """Numbers of units that curves go from and to."""
    known = [one.n_units for one in designs]
    return max(min(*known, pilot.n_units) / 2, 5.0), max(*known, pilot.n_units) * 2.0


def _choices(pilot: Pilot, segments: Iterable[float] | None) -> list[float | None]:
    """Segments for each unit to plan with, those of the pilot first."""
    own, fewest = pilot.n_segments, 2 if pilot.both_sides else 1
    if own is None:
        if segments is not None:
            raise InputError(
                f"segments: nothing tells segments of one {pilot.noun} apart. Name those of trials, or leave this out."
            )
        return [None]
    if segments is None:
        return [own, *(float(k) for k in _SEGMENTS if k >= fewest and abs(k - own) > 1e-9)]
    rule = f"Segments for each {pilot.noun} are whole numbers from {fewest} on"
    chosen = [_validate.in_range(float(one), "segments", float(fewest), 1e9, rule) for one in segments]
    if not chosen or any(one != int(one) for one in chosen):
        raise InputError(f"segments: got {chosen}. {rule}, at least one.")
    return list(dict.fromkeys(chosen))


def plan(
    tar: Any,
    non: ArrayLike | None = None,
    *,
    figure: Figure = "eer",
    width: float | None = None,
    difference: float | None = None,
    relative: bool = False,
    level: float = LEVEL,
    power: float = 0.8,
    second: Any = None,
    tar_units: Units = None,
    non_units: Units = None,
    tar_segments: Units = None,
    non_segments: Units = None,
    tar_weights: Weights = None,
    non_weights: Weights = None,
    segments: Iterable[float] | None = None,
    trials_per_segment: TrialsPerSegment = None,
    operating_points: TwoClassFigures | Iterable[PointLike] = DEFAULT_POINTS,
) -> Plan:
    """Plan an evaluation from a pilot: how many speakers and trials a figure needs to be so sure.

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Scores of target and non-target trials of a pilot. Or, in place of ``tar``, an evaluation with units, of two
        classes or of many, and no ``non``: then all variance is taken for variance between units.
    figure : str, or (str, place)
        Such as ``"eer"``, ``"min_cllr"``; at the second operating point ``"act_dcf@2"`` or ``("act_dcf", 1)``.
    width : float, optional
        How wide the interval of the figure may be, from bound to bound.
    difference : float, optional
        In place of a width: the difference of two systems that should be seen.
    relative : bool
        Whether width or difference is a share of the figure, as it is in the pilot.
    level : float
        Of the interval; a difference is seen by a two-sided test at ``1 - level``.
    power : float
        Probability of seeing the difference if there is one.
    second : pair of array_like, or evaluation, optional
        Scores of another system on the same trials: what is planned is the difference of both. Left out, the other
        system is taken to err independently of this one and to be as unsure. Systems on the same trials mostly err
        together, and need fewer.
    tar_units, non_units : (n,) or (n, 2) array_like
        Which speakers or other units each trial is of, as in `deciban.evaluate`.
    tar_segments, non_segments : (n,) or (n, 2) array_like, optional
        Which segment each trial is of, or the names on both of its sides; needed to plan with other numbers of segments
        where units stand on both sides of trials.
    tar_weights, non_weights : array_like, optional
        As in `deciban.evaluate`.
    segments : iterable of int, optional
        Numbers of segments for each unit to plan with; left out, that of the pilot and some others.
    trials_per_segment : int or "all", optional
        Non-target trials of each segment. Left out, all against all if the pilot has about half of these trials or
        more, else as many as in the pilot.
    operating_points : iterable, or TwoClassFigures
        As in `deciban.evaluate`.

    Returns
    -------
    Plan

    Raises
    ------
    InputError
        If units are not known or fewer than two, the figure is none, or does not vary; if a number is out of range.

    Notes
    -----
    The figure is linearised: to first order it is a sum of costs of trials, whose covariances come from the units,
    segments and pairs of units that trials share. Unbiased components of variance (Searle, Casella and McCulloch, 1992,
    chapter 5) are multiplied by the numbers of each in the pilot and divided by those of the design. Estimates below 0
    are counted as 0. A width follows as in `Evaluation.interval`. A difference D is seen with power P if
    ``D >= (t[(1 + level) / 2] + t[P]) * standard error``, with t quantiles of n - 1 degrees of freedom.

    Examples
    --------
    >>> import numpy as np
    >>> rng, speaker = np.random.default_rng(1), np.repeat(np.arange(40), 5)
    >>> tar, non = rng.normal(2, 1, 200) + rng.normal(size=40)[speaker], rng.normal(-2, 1, 200)
    >>> found = plan(tar, non, tar_units=speaker, non_units=speaker, width=0.02)
    >>> found.designs[0].n_units > 40, found.designs[0].n_segments
    (True, 10.0)
    """
    designs: Any = {"segments": segments, "trials_per_segment": trials_per_segment}
    goal = Goal(width=width, difference=difference, relative=relative, level=level, power=power, **designs)
    if isinstance(tar, Evaluation | ClassEvaluation):
        given = {"non": non, "tar_units": tar_units, "non_units": non_units, "tar_segments": tar_segments}
        given |= {"non_segments": non_segments, "tar_weights": tar_weights, "non_weights": non_weights}
        for name in (name for name, value in given.items() if value is not None):
            raise InputError(f"{name}: is about scores, and the first argument is an evaluation. Leave it out.")
        return plan_of_pilot(pilot_of_evaluations(tar, second, figure), goal)
    if non is None:
        raise InputError("non: none given. Pass the scores of targets and of non-targets, or an evaluation with units.")
    scores = [_scores(tar, non)]
    if second is not None:
        scores.append(_scores(*_pair(second, [len(one) for one in scores[0]])))
    sizes = len(scores[0][0]), len(scores[0][1])
    units = units_of_classes(tar_units, non_units, sizes)
    if units is None:
        raise InputError("tar_units, non_units: none given. A plan needs to know which trials share a speaker or unit.")
    weights = (
        _validate.weights(tar_weights, sizes[0], "tar_weights"),
        _validate.weights(non_weights, sizes[1], "non_weights"),
    )
    pilot = pilot_of_trials(
        scores, units, units_of_classes(tar_segments, non_segments, sizes, "segment"), figure=figure,
        names=("first", "second")[: len(scores)] if second is not None else ("system",),
        figures=TwoClassFigures.of(operating_points), weights=weights,
    )  # fmt: skip
    return plan_of_pilot(pilot, goal)


def _scores(tar: ArrayLike, non: ArrayLike) -> tuple[Any, Any]:
    return _validate.scores(tar, "tar"), _validate.scores(non, "non")


def _pair(second: Any, sizes: Sequence[int]) -> tuple[Any, Any]:
    if not isinstance(second, Sequence) or len(second) != 2:
        raise InputError("second: pass the scores of targets and of non-targets, (tar, non).")
    if [len(np.asarray(one)) for one in second] != list(sizes):
        raise InputError("second: has not as many scores as the first system. Both need the same trials, in one order.")
    return second[0], second[1]
