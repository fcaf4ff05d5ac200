"""Plans of evaluations from score files of a pilot."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, replace
from typing import Any

import numpy as np

from deciban._files import PathLike
from deciban.analysis.pilots import Pilot, Plan, pilot_of_evaluations, pilot_of_trials
from deciban.analysis.planning import Goal, TrialsPerSegment, plan_of_pilot
from deciban.core.resampling.intervals import LEVEL
from deciban.core.resampling.units import TrialUnits
from deciban.errors import InputError
from deciban.evaluation.uncertainty import Figure
from deciban.messages import Message
from deciban.trials import Trials
from deciban.trials.lists import PAIR, ROW
from deciban.trials.units import side_of, units_of_columns
from deciban.types import Progress
from deciban.workflows.evaluating import evaluate_source
from deciban.workflows.how_sure import HowSure
from deciban.workflows.inputs import JoinedScores, Paths, ScoreFiles, read_joined
from deciban.workflows.kinds.two_class import checked_figures
from deciban.workflows.options import Options
from deciban.workflows.sources import source_of
from deciban.workflows.two_files import named_scores


def plan_files(
    scores: Paths | None = None,
    key: PathLike | None = None,
    *,
    figure: Figure | None = None,
    width: float | None = None,
    difference: float | None = None,
    relative: bool = False,
    power: float = 0.8,
    segments: Iterable[float] | None = None,
    trials_per_segment: TrialsPerSegment = None,
    progress: Progress | None = None,
    **options: Any,
) -> Plan:
    """Plan an evaluation from the score files of a pilot: how many speakers and trials a figure needs to be so sure.

    Parameters
    ----------
    scores : path, or sequence of one or two paths
        Scores of one system, or of two whose difference is planned for.
    key : path, optional
        As in `deciban.evaluate_files`.
    figure, width, difference, relative, power, segments, trials_per_segment
        As in `deciban.plan`. Segments are the names on the sides of the trials. Left out, the figure is the equal
        error rate, or Cllr of many classes.
    progress : function, optional
        Called with a few words at every step.
    **options
        As in `deciban.evaluate_files`; ``units`` and ``level`` among them; not what else is said about intervals.

    Returns
    -------
    Plan

    Raises
    ------
    FormatError, KeyMismatchError, InputError
        As in `deciban.evaluate_files` and `deciban.plan`.
    TypeError
        If an option is none.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from deciban.io import write_demo
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> (first, _), key = write_demo(folder)
    >>> found = plan_files(first, key, width=0.01)
    >>> found.pilot.n_units, found.pilot.noun, found.pilot.n_segments
    (100, 'speaker', 6.0)
    >>> found.designs[0].reached <= 0.01 and found.designs[0].n_units > 100
    True
    """
    named, options = named_scores(scores, key, options)
    chosen = Options.of("plan_files", options)
    designs: Any = {"segments": segments, "trials_per_segment": trials_per_segment, "level": chosen.how_sure.level}
    goal = Goal(width=width, difference=difference, relative=relative, power=power, **designs)
    return plan_chosen(named, key, chosen, goal, figure, progress=progress)


def plan_chosen(
    scores: Paths | ScoreFiles,
    key: PathLike | None,
    options: Options,
    goal: Goal,
    figure: Figure | None,
    *,
    progress: Progress | None = None,
) -> Plan:
    """Plan by options that were sorted already; see `plan_files`."""
    options.scale.refuse("a plan")
    _refuse_other_options(options.how_sure)
    joined = read_joined(scores, key, options, progress=progress)
    if len(joined.names) > 2:
        raise InputError(
            f"scores: {len(joined.names)} systems ({', '.join(joined.names)}). A plan is about one, or about the "
            "difference of two."
        )
    if progress is not None:
        progress("finding components of variance")
    chosen = joined.kind.compared_figures(options.figures)[0] if figure is None else figure
    pilot, messages = _pilot(joined, options, chosen)
    found = plan_of_pilot(pilot, goal)
    return replace(found, messages=messages)


def _refuse_other_options(how_sure: HowSure) -> None:
    """Refuse what is about intervals of evaluations, of which a plan would make nothing.

    Raises
    ------
    InputError
    """
    other = replace(how_sure, units=None, level=LEVEL)
    given = [one.name for one in fields(HowSure) if getattr(other, one.name) != one.default]
    if given:
        raise InputError(
            f"{', '.join(given)}: a plan is made of the variance between units, whatever intervals an evaluation has. "
            "Leave it out."
        )


def _pilot(joined: JoinedScores, options: Options, figure: Figure) -> tuple[Pilot, tuple[Message, ...]]:
    """What the systems say of a figure, and what was assumed."""
    if not joined.kind.has_trial_costs:
        results = evaluate_source(source_of(joined, options), options)
        first, *others = results.systems
        found = pilot_of_evaluations(first, others[0] if others else None, figure)
        return found, tuple(one for one in results.messages if isinstance(one, Message))
    joined.kind.require_trials(joined.truth, ())
    units, said = joined.units(replace(options.how_sure, intervals=True))
    if units is None:
        raise InputError(f"units: {' '.join(one.text for one in said) or 'there are none'}")
    trials, weight = joined.aligned[0].trials, joined.weight
    counts = np.ones(len(joined.truth), np.bool_) if weight is None else np.asarray(weight > 0)
    some = [counts & joined.truth, counts & ~joined.truth]
    named = _segments_of(trials, units)
    pilot = pilot_of_trials(
        [(one.score[some[0]], one.score[some[1]]) for one in joined.aligned],
        (units.take(some[0]), units.take(some[1])),
        None if named is None else (named.take(some[0]), named.take(some[1])),
        figure=figure,
        names=joined.names,
        figures=checked_figures(joined.on_axis(options.figures)),
        weights=(None, None) if weight is None else (weight[some[0]], weight[some[1]]),
    )
    return pilot, (*joined.all_messages(), *said)


def _segments_of(trials: Trials, units: TrialUnits) -> TrialUnits | None:
    """The names on the sides of trials; those that are on both are one segment, unless they are of different units."""
    if trials.sides == ROW:
        return None
    sides = trials.sides[:2] if trials.sides[:2] == PAIR else trials.sides[:1]
    columns = [side_of(trials, side) for side in sides]
    found = units_of_columns(columns, noun="segment", source="names of trials")
    if len(columns) == 1:
        return found
    owner = []
    for codes, own in zip(found.codes, (units.codes[0], units.codes[-1]), strict=True):
        owner.append(np.full(found.n_units, -1))
        owner[-1][codes] = own
    on_both = (owner[0] >= 0) & (owner[1] >= 0)
    if np.array_equal(owner[0][on_both], owner[1][on_both]):
        return found
    return units_of_columns(columns, apart=True, noun="segment", source="names of trials")
