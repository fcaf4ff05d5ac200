"""How many speakers and trials are needed: from a pilot to an interval of some width, or a difference to be seen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from deciban._validate import arrays as _validate
from deciban.analysis.designs import Goal, Planner, TrialsPerSegment
from deciban.analysis.pilots import Pilot, pilot_of_evaluations, pilot_of_trials
from deciban.analysis.plans import Design, Plan
from deciban.core.ranks.operating import PointLike
from deciban.core.resampling.intervals import LEVEL
from deciban.core.resampling.units import TrialUnits, together
from deciban.errors import InputError
from deciban.evaluation import ClassEvaluation, Evaluation
from deciban.evaluation.summary import DEFAULT_POINTS, TwoClassFigures
from deciban.evaluation.uncertainty import Figure
from deciban.evaluation.unit_trials import units_of_classes
from deciban.types import Units, Weights

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
    weights = tuple(
        None if one is None else _validate.weights(one, size, name)
        for one, size, name in zip((tar_weights, non_weights), sizes, ("tar_weights", "non_weights"), strict=True)
    )
    pilot = pilot_of_trials(
        scores, units, _segments(tar_segments, non_segments, sizes), figure=figure,
        names=("first", "second")[: len(scores)] if second is not None else ("system",),
        figures=TwoClassFigures.of(operating_points), weights=(weights[0], weights[1]),
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


def _segments(tar: Units, non: Units, sizes: tuple[int, int]) -> tuple[TrialUnits, TrialUnits] | None:
    if tar is None and non is None:
        return None
    if tar is None or non is None:
        raise InputError("tar_segments, non_segments: one is missing. Name those of both classes.")
    found = together([(tar, "tar_segments"), (non, "non_segments")], noun="segment")
    for name, one, size in zip(("tar_segments", "non_segments"), found, sizes, strict=True):
        if one.n_trials != size:
            raise InputError(
                f"{name}: segments of {one.n_trials} trials for {size} scores. Give one row for each trial."
            )
    return found[0], found[1]
