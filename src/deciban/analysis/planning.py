"""Sample-size planning: numbers of speakers and trials for an evaluation, from a pilot."""

from __future__ import annotations

import bisect
import math
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from deciban._validate import arrays as _validate
from deciban.analysis.pilots import Design, Pilot, Plan, pilot_of_evaluations, pilot_of_trials
from deciban.core.ranks.roc import PointLike
from deciban.core.resampling.intervals import LEVEL, Estimate, checked_level
from deciban.core.resampling.units import units_of_classes
from deciban.errors import InputError, not_none, option
from deciban.evaluation import ClassEvaluation, Evaluation
from deciban.evaluation.two_class.summary import DEFAULT_POINTS, TwoClassMetrics
from deciban.evaluation.uncertainty import MetricKey
from deciban.types import FloatArray, IntArray, ScoreArray, Units, Weights

TrialsPerSegment: TypeAlias = int | Literal["all"] | None

_FEWEST, _MOST = 3, 10**9
"""Range of units of a design; fewer hardly give an interval."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """Goal of the data collection.

    Attributes
    ----------
    width : float, optional
        Width of the interval of the metric, from bound to bound.
    difference : float, optional
        Difference between two systems, to be detected by a two-sided test at ``1 - level``.
    relative : bool
        True if these are shares of the metric of the pilot.
    level : float
    power : float
        Probability of detecting that difference.
    segments : iterable of int, optional
        Numbers of segments per unit; by default, that of the pilot, and some others.
    trials_per_segment : int, "all" or None
        Non-target trials of each segment; None: as in the pilot.

    Raises
    ------
    InputError
        Unless exactly one of width and difference is given, and all numbers are in range.
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
        values = [name for name in ("width", "difference") if getattr(self, name) is not None]
        if len(values) != 1:
            got = "both" if values else "neither"
            raise InputError(
                f"width, difference: got {got}. Give the width of the interval ({option(width=0.01)}), or a "
                f"difference of two systems to detect ({option(difference=0.01)})."
            )
        rule = "Use a finite number above 0, such as 0.01"
        _validate.in_range(getattr(self, values[0]), values[0], math.ulp(0.0), sys.float_info.max, rule)
        checked_level(self.level)
        _validate.in_range(
            self.power, "power", 0.5, 1.0 - math.ulp(0.5), "Use a share of at least 0.5 and below 1, such as 0.8"
        )
        if self.trials_per_segment not in (None, "all"):
            words = "Use a whole number of at least 1, or 'all'"
            _validate.whole(self.trials_per_segment, "trials_per_segment", 1, math.inf, words)

    @property
    def kind(self) -> Literal["width", "difference"]:
        """The kind of the goal."""
        return "width" if self.difference is None else "difference"

    @property
    def amount(self) -> float:
        """The width or the difference."""
        return float(not_none(self.width, "width") if self.difference is None else self.difference)

    def reached(self, pilot: Pilot, standard_error: float, n_units: int) -> float:
        """Return the width of the interval, or the smallest difference with this power, at a standard error."""
        if self.difference is None:
            result = Estimate(pilot.expected, standard_error, n_units, pilot.scale).interval(self.level)
            return result.high - result.low
        quantiles = special.stdtrit(n_units - 1, [(1.0 + self.level) / 2.0, self.power])
        independent = math.sqrt(2.0) if len(pilot.names) == 1 else 1.0
        return float(quantiles.sum()) * standard_error * independent


class Planner:
    """Predictions for designs of other sizes, from the components of variance of a pilot.

    Parameters
    ----------
    pilot : Pilot
    goal : Goal

    Raises
    ------
    InputError
        If trials per segment are given, but segments are unknown.
    """

    def __init__(self, pilot: Pilot, goal: Goal) -> None:
        self.pilot, self.goal, self.levels = pilot, goal, pilot.levels
        value = goal.trials_per_segment
        self.per_segment = None if value is None or value == "all" else int(value)
        self.is_crossed = value == "all" or (value is None and pilot.is_crossed)
        if self.per_segment is not None and pilot.n_segments is None:
            raise InputError(
                f"trials_per_segment: the segments of each {pilot.noun} are unknown. Leave it out, or use 'all'."
            )

    @property
    def target(self) -> float:
        """The requested width or difference."""
        return self.goal.amount * (abs(self.pilot.expected) if self.goal.relative else 1.0)

    def counts(self, n: int, segments: float | None) -> tuple[float, float] | None:
        """Return the target and non-target trials of a design; None if the pilot is not two-class."""
        pilot = self.pilot
        if pilot.n_tar is None or pilot.n_non is None:
            return None
        units, more = n / pilot.n_units, 1.0
        if segments is not None and pilot.n_segments is not None:
            own = pilot.n_segments
            more = segments * (segments - 1) / (own * (own - 1)) if pilot.both_sides else segments / own
        if self.per_segment is not None and segments is not None:
            return pilot.n_tar * units * more, self.per_segment * n * segments
        more_non = 1.0 if segments is None or pilot.n_segments is None else segments / pilot.n_segments
        n_non = pilot.n_non * units * more_non
        if self.is_crossed:
            n_non *= (n - 1) / (pilot.n_units - 1)
            if pilot.both_sides and segments is not None and pilot.n_segments is not None:
                n_non *= segments / pilot.n_segments
        return pilot.n_tar * units * more, n_non

    def variance(self, n: int, segments: float | None) -> float:
        """Return the variance of the metric in a design."""
        pilot, units = self.pilot, self.pilot.n_units / n
        scales = {"unit": units, "segment": units}
        if segments is not None and pilot.n_segments is not None:
            scales["segment"] *= pilot.n_segments / segments
        counts = self.counts(n, segments)
        if counts is not None and pilot.n_tar is not None and pilot.n_non is not None:
            scales["trial of targets"] = pilot.n_tar / counts[0]
            scales["trial of non-targets"] = pilot.n_non / counts[1]
            own = _pair_share(pilot.n_units, pilot.n_non, is_crossed=pilot.is_crossed)
            scales["pair"] = _pair_share(n, counts[1], is_crossed=self.is_crossed) / own
        return sum(variance * scales[level] for level, variance in self.levels.items())

    def reached(self, n: int, segments: float | None) -> float:
        """Return the width, or detectable difference, of a design."""
        return self.goal.reached(self.pilot, math.sqrt(self.variance(n, segments)), n)

    def fewest(self, segments: float | None, factor: float = 1.0) -> int | None:
        """Return the fewest units that reach the goal, with ``factor`` times the variance; None beyond a billion."""

        def enough(n: int) -> bool:
            error = math.sqrt(factor * self.variance(n, segments))
            return self.goal.reached(self.pilot, error, n) <= self.target

        n = _FEWEST + bisect.bisect_left(range(_FEWEST, _MOST + 1), x=True, key=enough)
        return n if n <= _MOST else None

    def design(self, segments: float | None) -> Design | None:
        """Return the smallest design with this number of segments per unit that reaches the goal."""
        n = self.fewest(segments)
        if n is None:
            return None
        counts = self.counts(n, segments) or (None, None)
        error = math.sqrt(self.variance(n, segments))
        whole = [None if count is None else math.ceil(count - 1e-9) for count in counts]
        return Design(n, segments, whole[0], whole[1], error, self.goal.reached(self.pilot, error, n))

    def between(self, segments: float | None) -> tuple[int | None, int | None] | None:
        """Return a range for the number of units, because variances of the pilot are uncertain."""
        spread = self.pilot.spread
        if spread is None:
            return None
        reach = float(special.ndtri(0.975)) * spread
        return self.fewest(segments, math.exp(-reach)), self.fewest(segments, math.exp(min(reach, 50.0)))

    def curve(self, segments: float | None, n: IntArray) -> FloatArray:
        """Return widths, or detectable differences, of designs with n units."""
        return np.array([self.reached(int(one), segments) for one in n])


def _pair_share(n_units: int, n_non: float, *, is_crossed: bool) -> float:
    """Return the sum of squared shares of pairs of units: equal shares, or trials drawn from all pairs."""
    every = 1.0 / math.comb(max(n_units, 2), 2)
    return every if is_crossed else every + (1.0 - every) / n_non


_SEGMENTS = (1, 2, 3, 5, 10)
"""Numbers of segments per unit in plans, besides that of the pilot."""

_CURVE = 61


def plan_of_pilot(pilot: Pilot, goal: Goal) -> Plan:
    """Return a plan from a pilot; see `plan`.

    Raises
    ------
    InputError
        If no unit moves the metric, or the numbers of segments do not fit the pilot.
    """
    planner = Planner(pilot, goal)
    if not sum(planner.levels.values()) > 0.0:
        raise InputError(
            f"metric: {pilot.words} does not vary between the {pilot.noun}s of this pilot (it is {pilot.value:g}), so "
            "there is no basis for a plan. Use a pilot with more errors, or another metric."
        )
    if goal.relative and pilot.expected == 0.0:
        raise InputError(f"relative: the metric is 0, and so is every share of it. Give an absolute {goal.kind}.")
    designs = tuple(one for one in map(planner.design, _choices(pilot, goal.segments)) if one is not None)
    if not designs:
        raise InputError(f"{goal.kind}: {planner.target:g} needs more than a billion {pilot.noun}s. Relax the goal.")
    n = np.unique(np.geomspace(*_ends(designs, pilot), _CURVE).round().astype(np.int64))
    endless = planner.fewest(_ENDLESS) if pilot.n_segments is not None and "segment" in planner.levels else None
    return Plan(
        pilot=pilot,
        kind=goal.kind,
        target=planner.target,
        amount=goal.amount,
        is_relative=goal.relative,
        level=goal.level,
        power=goal.power if goal.kind == "difference" else None,
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
"""Practically unlimited number of segments."""


def _ends(designs: Sequence[Design], pilot: Pilot) -> tuple[float, float]:
    """Return the range of the number of units in curves."""
    known = [one.n_units for one in designs]
    return max(min(*known, pilot.n_units) / 2, 5.0), max(*known, pilot.n_units) * 2.0


def _choices(pilot: Pilot, segments: Iterable[float] | None) -> list[float | None]:
    """Return the numbers of segments per unit in the plan, starting with that of the pilot."""
    own, fewest = pilot.n_segments, 2 if pilot.both_sides else 1
    if own is None:
        if segments is not None:
            raise InputError(
                f"segments: the segments of each {pilot.noun} are unknown. Name the segments of trials, or omit this."
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
    tar: ArrayLike | Evaluation | ClassEvaluation,
    non: ArrayLike | None = None,
    *,
    metric: MetricKey = "eer",
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
    operating_points: TwoClassMetrics | Iterable[PointLike] = DEFAULT_POINTS,
) -> Plan:
    """Plan the numbers of speakers and trials that a metric needs for a given uncertainty, from a pilot.

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Scores of target and non-target trials of a pilot. Instead of ``tar``, you can pass an evaluation with units,
        two-class or multiclass, and no ``non``: then all variance is assigned to differences between units.
    metric : str, or (str, place)
        For example ``"eer"`` or ``"min_cllr"``; at the second operating point ``"act_dcf@2"`` or ``("act_dcf", 1)``.
    width : float, optional
        Width of the interval of the metric, from bound to bound.
    difference : float, optional
        Instead of a width: a difference of two systems to detect.
    relative : bool
        True if width or difference is a share of the metric in the pilot.
    level : float
        Level of the interval; a difference is detected by a two-sided test at ``1 - level``.
    power : float
        Probability of detecting the difference.
    second : pair of array_like, or evaluation, optional
        Scores of another system on the same trials, to plan the difference of both. By default, the other system is
        assumed to have independent errors and the same uncertainty. Errors on the same trials are mostly correlated,
        and need fewer units.
    tar_units, non_units : (n,) or (n, 2) array_like
        Speakers or other units of each trial, as in `deciban.evaluate`.
    tar_segments, non_segments : (n,) or (n, 2) array_like, optional
        Segment of each trial, or the segments on both of its sides; required for plans with other numbers of segments
        if units are on both sides of trials.
    tar_weights, non_weights : array_like, optional
        As in `deciban.evaluate`.
    segments : iterable of int, optional
        Numbers of segments per unit in the plan; by default, that of the pilot and some others.
    trials_per_segment : int or "all", optional
        Non-target trials of each segment. By default, all against all if the pilot has at least about half of these
        trials, else as many as in the pilot.
    operating_points : iterable, or TwoClassMetrics
        As in `deciban.evaluate`.

    Returns
    -------
    Plan

    Raises
    ------
    InputError
        If units are unknown or fewer than two, the metric is unknown, or does not vary; if a number is out of range.

    Notes
    -----
    The metric is linearised: to first order it is a sum of costs of trials, whose covariances come from common units,
    segments and pairs of units. Unbiased components of variance (Searle, Casella and McCulloch, 1992, chapter 5) are
    multiplied by the numbers of units, segments and trials in the pilot and divided by those of the design. Negative
    estimates count as 0. The width follows as in `Evaluation.interval`. A difference D is detected with power P if
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
    make = partial(Goal, width=width, difference=difference, segments=segments, trials_per_segment=trials_per_segment)
    goal = make(relative=relative, level=level, power=power)
    if isinstance(tar, Evaluation | ClassEvaluation):
        entries = {"non": non, "tar_units": tar_units, "non_units": non_units, "tar_segments": tar_segments}
        entries |= {"non_segments": non_segments, "tar_weights": tar_weights, "non_weights": non_weights}
        for name in (name for name, value in entries.items() if value is not None):
            raise InputError(f"{name}: needs scores, but the first argument is an evaluation. Leave it out.")
        return plan_of_pilot(pilot_of_evaluations(tar, second, metric), goal)
    if non is None:
        raise InputError("non: none given. Pass the scores of targets and of non-targets, or an evaluation with units.")
    scores = [_scores(tar, non)]
    if second is not None:
        scores.append(_scores(*_pair(second, [len(one) for one in scores[0]])))
    sizes = len(scores[0][0]), len(scores[0][1])
    units = units_of_classes(tar_units, non_units, sizes)
    if units is None:
        raise InputError("tar_units, non_units: none given. A plan needs the speakers or other units of the trials.")
    weights = (
        _validate.weights(tar_weights, sizes[0], "tar_weights"),
        _validate.weights(non_weights, sizes[1], "non_weights"),
    )
    pilot = pilot_of_trials(
        scores, units, units_of_classes(tar_segments, non_segments, sizes, "segment"), metric=metric,
        names=("first", "second")[: len(scores)] if second is not None else ("system",),
        metrics=TwoClassMetrics.of(operating_points), weights=weights,
    )  # fmt: skip
    return plan_of_pilot(pilot, goal)


def _scores(tar: ArrayLike, non: ArrayLike) -> tuple[ScoreArray, ScoreArray]:
    return _validate.scores(tar, "tar"), _validate.scores(non, "non")


def _pair(second: object, sizes: Sequence[int]) -> tuple[ArrayLike, ArrayLike]:
    if not isinstance(second, Sequence) or len(second) != 2:
        raise InputError("second: pass the scores of targets and of non-targets, (tar, non).")
    if [len(np.asarray(one)) for one in second] != list(sizes):
        raise InputError("second: has not as many scores as the first system. Pass the same trials in the same order.")
    return second[0], second[1]
