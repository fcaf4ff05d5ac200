"""Evaluation of a source of trials, and the most misleading trials."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from deciban._files import PathLike
from deciban.errors import InputError
from deciban.evaluation.results import Results
from deciban.evaluation.worst_trials import WorstTrial, WorstTrials, merged_worst, worst_trials
from deciban.io.recognition import is_longer, memory_of
from deciban.io.shards.matrix_files import is_mask
from deciban.io.source import TwoFiles
from deciban.memory import memory_error
from deciban.messages import Message, counted
from deciban.trials import JoinReport
from deciban.trials.passes import found_in
from deciban.trials.sources import Chunk, ShardSource, Wanted
from deciban.types import Progress
from deciban.workflows.inputs import NAMING, Opened, ScoreFiles, is_object, open_source, paths_of, ties_in_words
from deciban.workflows.kinds import AnyKind, kind_called
from deciban.workflows.options import Figures, Options
from deciban.workflows.summaries import are_summaries, opened_summaries

if TYPE_CHECKING:
    from deciban.trials.passes import Engine
    from deciban.workflows.conditions import Conditions
    from deciban.workflows.plans import Planned
    from deciban.workflows.units import UnitsOfSource

TWO_CLASSES = ("target", "non-target")


def source_in_pieces(
    scores: Sequence[PathLike | TwoFiles] | Any, key: PathLike | None, options: Options
) -> ShardSource | None:
    """The trials in pieces, where they do not fit in memory or the user asks for what only pieces allow.

    Parameters
    ----------
    scores : sequence of paths
    key : path or None
    options : Options

    Returns
    -------
    ShardSource or None
        None where everything fits. A matrix of trials with a mask is always read by blocks of its rows.
    """
    given = (*scores, *(() if key is None else (key,)))
    is_asked = options.scale.is_asked or any(map(is_object, given)) or is_mask(key, options.kind)
    room = options.scale.n_bytes
    if not is_asked and memory_of(scores, key) <= room and not is_longer(scores, key, room):
        return None
    return open_source(scores, key, options)


def opened(scores: Any, key: PathLike | None, options: Options) -> Opened:
    """Open the files that a user named: in pieces where they do not fit in memory, else to be read as a whole.

    Parameters
    ----------
    scores : sequence of paths, one path, or what this function gave
    key : path or None
    options : Options

    Raises
    ------
    FormatError, InputError, OSError
        As opening does.
    """
    if isinstance(scores, Opened):
        return scores
    given = scores if isinstance(scores, list | tuple) else [scores]
    named = list(given) if any(map(is_object, (*given, key))) else paths_of(scores, also=(key, *options.files))
    if key is None and are_summaries(named):
        files: Any = named
        return opened_summaries(files, options)
    found = source_in_pieces(named, key, options)
    return ScoreFiles.of(scores, key, options.reading) if found is None else found


def evaluate_source(
    source: ShardSource,
    options: Options,
    progress: Progress | None = None,
    *,
    each: Sequence[Figures] | None = None,
    units: UnitsOfSource | None = None,
    told: Sequence[Message] = (),
    n_before: int = 0,
) -> Results[Any]:
    """Evaluate every system of a source.

    Parameters
    ----------
    source : ShardSource
    options : Options
    progress : function, optional
        Called with a few words at every step.
    each : sequence of Figures, optional
        Those of every system; left out, all have those of the options.
    units : UnitsOfSource, optional
        If they are known already, of these trials.
    told : sequence of Message
        What else is said of these trials, before what is said of conditions.
    n_before : int
        How often these trials are read besides.

    Returns
    -------
    Results
        As `deciban.evaluate_files` gives of the same trials in memory.

    Raises
    ------
    FormatError, InputError, OSError
        As reading does; or if something is asked for that needs all trials in memory.
    """
    from deciban.models.mapped import having
    from deciban.workflows.units import units_of_source

    say, found = progress or (lambda _words: None), list[Any]()
    by_condition, primaries, said = list[Any](), list[Any](), tuple[Message, ...]()
    worst = list[WorstTrials]()
    kind = kind_called(source.kind_name())
    if source.batch is not None and source.batch.truth is not None:
        kind.require_trials(source.batch.truth, source.classes)
    with options.scale.engine() as engine:
        engine.make_room(source, options.scale.n_bytes)
        if units is None:
            units = units_of_source(source, engine, options.how_sure, kind)
        else:
            units = replace(units, source=source, engine=engine)
        source = whole = units.source
        most = number_of_worst(options.worst, source)
        if most and source.batch is None:
            sides_of_worst(source)  # which refuses before the passes
        split, planned = _split(source, engine, kind, units, options)
        said = () if split is None else split.messages
        for at, name in enumerate(source.systems):
            say(f"evaluating {name}")
            if whole.incomplete:
                source = having(whole, (at,))
                units = replace(units, source=source)
                split, planned = _split(source, engine, kind, units, options)
            figures = kind.on_axis_of([source], options.figures if each is None else each[at])
            own = replace(options, figures=figures)
            found.append(kind.evaluate_source(source, engine, own, system=at, name=name, units=units))
            if split is not None:
                by_condition.append(split.evaluated(found[-1], own, system=at))
            if planned is not None:
                primaries.append(planned.primary(found[-1], own, system=at))
            if most:
                worst.append(worst_of(source, engine, at, most))
    more: Any = {"conditions": tuple(by_condition), "primaries": tuple(primaries), "worst": tuple(worst)}
    if source.batch is not None:
        assert source.report is not None  # noqa: S101  # it was joined
        ties = {one.name: one.n_tied for one in found} if kind.has_ties else {}
        messages = messages_of_batch(source, kind, ties)
        return Results(tuple(found), source.report, (*messages, *units.messages, *told, *said), **more)
    n_trials = source.n_rows if source.has_weights else kind.n_evaluated(found[0])  # weights hide how many there are
    chosen = options.reading.where and not options.reading.by_order
    extra = (source.n_rows - n_trials) * len(found) if chosen else 0  # scores of trials that are not asked for
    report = source.report or JoinReport(n_trials, 0, extra, 0)
    ties = {one.name: one.n_tied for one in found} if kind.has_ties else {}
    known = _with_ties(source.messages, kind, report, ties)
    messages = _said_of_pieces(source, options, found[0], units, engine.n_passes + n_before)
    return Results(tuple(found), report, (*known, *messages, *told, *said), **more)


def _said_of_pieces(
    source: ShardSource, options: Options, first: Any, units: UnitsOfSource, n_passes: int
) -> list[Message]:
    """What is to be said of trials in pieces, by the evaluation of the first system."""
    often = "once" if n_passes <= 1 else "more than once"
    if source.paths and not (options.scale.is_asked or source.is_matrix or source.is_summary):  # else they may well fit
        often += ": they do not fit in memory"
    words = f"{counted(source.n_rows, 'row')} in {counted(len(source.pieces), 'piece')}, read {often}"
    column = options.reading.weights
    weights = [Message("weights", source.name, f"column {column!r}")] if source.has_weights and column else []
    return [*weights, *units.said(_n_units(first)), Message("note", source.name, words)]


def _split(
    source: ShardSource, engine: Engine, kind: AnyKind, units: UnitsOfSource, options: Options
) -> tuple[Conditions | None, Planned | None]:
    """The conditions that are asked for, and the plan; None of what is not asked."""
    split, planned = None, None
    if options.split.is_asked:
        from deciban.workflows.conditions import Conditions

        split = Conditions.of(options.split, source, engine, kind, units)
    if options.plan is not None:
        from deciban.workflows.plans import Planned

        planned = Planned.of(options.plan, source, engine, kind, units)
    return split, planned


def messages_of_batch(source: ShardSource, kind: AnyKind, ties: Mapping[str, int | float]) -> list[Message]:
    """Return the messages of a source in memory, with the number of ties of each system, if known."""
    assert source.report is not None  # noqa: S101  # it was joined
    return _with_ties(source.messages, kind, source.report, ties)


def _with_ties(
    known: Sequence[Message], kind: AnyKind, report: JoinReport, ties: Mapping[str, int | float]
) -> list[Message]:
    """Return the messages of a source; the one on joined trials gets the number of ties of each system."""
    join, before = kind.join_message(report, ties_in_words(ties) if ties else ""), kind.join_message(report, "")
    return [join if one == before else one for one in known] + ([] if before in known else [join])


def _n_units(found: Any) -> int | None:
    """Return the number of units behind the intervals of an evaluation; None without intervals."""
    return None if found.uncertainty is None else int(found.uncertainty.n_units)


def number_of_worst(asked: object, files: Any) -> int:
    """Return how many of the most misleading trials to list; 0 unless requested.

    Parameters
    ----------
    asked : int or None
    files : Opened
        Where the trials are.

    Raises
    ------
    InputError
        If the number is invalid, or the files do not hold names of trials.
    """
    if asked is None or (asked == 0 and not isinstance(asked, bool)):
        return 0
    if isinstance(asked, bool) or not isinstance(asked, int | np.integer) or asked < 0:
        raise InputError(f"worst: got {asked!r}. Say how many trials, a whole number from 0.")
    if not files.is_at_hand and files.is_summary:
        raise InputError(
            "worst: a summary holds no names of trials, and the most misleading trials need them. Name the shards "
            "themselves, or leave it out."
        )
    return int(asked)


def sides_of_worst(source: ShardSource) -> tuple[str, ...]:
    """Return the columns that name the trials of a source that does not fit in memory.

    Raises
    ------
    InputError
        If there are none.
    """
    sides = tuple(one for one in NAMING if one in source.conditions)
    if not sides:
        what = f"worst: {source.name} has no names of trials, and does not fit in memory"
        raise memory_error(what, way="add columns of names (enroll and test, or trial), or leave it out")
    return sides


def worst_of(source: ShardSource, engine: Engine, system: int, most: int) -> WorstTrials:
    """Find the trials of one system with the least evidence for their own class; those of weight 0 do not count.

    Parameters
    ----------
    source : ShardSource
    engine : Engine
        Runs the pass over trials that are not in memory.
    system : int
        Position of the system.
    most : int

    Raises
    ------
    InputError
        If nothing names the trials.
    """
    name, classes = source.systems[system], source.classes or TWO_CLASSES
    if source.batch is not None:
        trials = source.batch.trials
        assert trials is not None  # noqa: S101  # it is in memory
        return WorstTrials(name, trials.sides, _worst(source.batch, system, most, classes, trials.names_of))
    sides = sides_of_worst(source)
    look = WorstInPiece(most, classes, tuple(source.conditions.index(one) for one in sides))
    wanted = Wanted((system,), truth=True, weight=source.has_weights, conditions=True)
    found: tuple[WorstTrial, ...] | None = found_in(source, engine, wanted, look, "looking for misleading trials")
    return WorstTrials(name, sides, merged_worst(found or (), most, classes if not source.classes else ()))


@dataclass(frozen=True, slots=True)
class WorstInPiece:
    """Find the most misleading trials of a piece.

    Attributes
    ----------
    most : int
    classes : tuple of str
    at : tuple of int
        Positions of the names of trials among the columns by which these can be split.
    """

    most: int
    classes: tuple[str, ...]
    at: tuple[int, ...]

    def __call__(self, chunk: Chunk) -> tuple[WorstTrial, ...]:
        """Return them, the worst first."""
        assert chunk.conditions is not None  # noqa: S101  # they were asked for
        named = [chunk.conditions[at] for at in self.at]

        def names_of(row: int) -> tuple[str, ...]:
            places = ((int(codes[row]), values) for codes, values in named)
            return tuple(str(values[at]) if at < len(values) else "" for at, values in places)

        return _worst(chunk, 0, self.most, self.classes, names_of)


def _worst(
    chunk: Chunk, system: int, most: int, classes: tuple[str, ...], names_of: Callable[[int], tuple[str, ...]]
) -> tuple[WorstTrial, ...]:
    """Find the most misleading trials of a chunk."""
    scores, truth = chunk.scores[system], chunk.truth
    assert truth is not None  # noqa: S101  # it was asked for
    counting = np.ones(len(truth), bool) if chunk.weight is None else chunk.weight > 0
    loglik: Any = scores
    if scores.ndim == 1:
        counting &= ~np.isnan(scores)
        loglik = np.column_stack([np.where(counting, scores, 0.0), np.zeros(len(scores))])
        truth = np.where(truth, 0, 1)
    return worst_trials(loglik, truth, most=most, classes=classes, names_of=names_of, counting=counting)
