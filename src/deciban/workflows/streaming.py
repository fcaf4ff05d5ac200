"""Evaluation in pieces: which inputs do not fit in memory, and how their trials become results all the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

from deciban.errors import InputError
from deciban.evaluation.results import Results
from deciban.io.memory import is_longer, memory_of
from deciban.io.shards.matrix_files import is_mask
from deciban.io.shards.pieces import ShardSource
from deciban.io.source import PathLike, TwoFiles
from deciban.messages import Message, counted
from deciban.trials import JoinReport
from deciban.types import Progress
from deciban.workflows.inputs import ScoreFiles, paths_of, ties_in_words
from deciban.workflows.kinds import AnyKind, kind_called, kind_of
from deciban.workflows.options import Figures, KindName, Options
from deciban.workflows.sources import is_object, open_source
from deciban.workflows.summaries import are_summaries, opened_summaries

if TYPE_CHECKING:
    from deciban.engines.work import Engine
    from deciban.workflows.conditions_in_pieces import ConditionsInPieces
    from deciban.workflows.plans_in_pieces import PlannedInPieces
    from deciban.workflows.units_in_pieces import UnitsOfSource

OpenedFiles: TypeAlias = ScoreFiles | ShardSource
"""What is read as a whole, or in pieces."""


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
    is_asked = options.scale.is_asked or any(map(is_object, given)) or is_mask(key)
    room = options.scale.n_bytes
    if not is_asked and memory_of(scores, key) <= room and not is_longer(scores, key, room):
        return None
    return open_source(scores, key, options)


def opened(scores: Any, key: PathLike | None, options: Options) -> OpenedFiles:
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
    if isinstance(scores, ScoreFiles | ShardSource):
        return scores
    given = scores if isinstance(scores, list | tuple) else [scores]
    named = list(given) if any(map(is_object, (*given, key))) else paths_of(scores, also=(key, *options.files))
    if key is None and are_summaries(named):
        files: Any = named
        return opened_summaries(files, options)
    found = source_in_pieces(named, key, options)
    return ScoreFiles.of(scores, key, options.reading) if found is None else found


def in_memory(files: OpenedFiles, what: str) -> ScoreFiles:
    """The files, which are read as a whole.

    Raises
    ------
    InputError
        If they do not fit in memory, and ``what`` needs them there.
    """
    if isinstance(files, ScoreFiles):
        return files
    if files.is_summary:
        raise InputError(f"{what}: needs trials, and {files.name} is a summary of shards. Name the shards themselves.")
    raise InputError(
        f"{what}: needs all trials in memory, and {files.name} is read in pieces. Allow more memory (memory=, "
        "--memory), or leave it out."
    )


def score_paths(files: OpenedFiles) -> list[Any]:
    """The score files that a user named."""
    return list(files.paths) if isinstance(files, ShardSource) else [one.path for one in files.scores]


def kind_of_opened(files: OpenedFiles, options: Options) -> KindName:
    """What they are about; see `deciban.workflows.kinds.kind_of`."""
    if isinstance(files, ShardSource):
        return "classes" if files.classes else "two-class"
    return kind_of(files.scores[0], files.key, options).name


def evaluate_in_pieces(
    source: ShardSource,
    options: Options,
    progress: Progress | None = None,
    *,
    each: Sequence[Figures] | None = None,
    units: UnitsOfSource | None = None,
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

    Returns
    -------
    Results
        As `deciban.evaluate_files` gives of the same trials in memory.

    Raises
    ------
    FormatError, InputError, OSError
        As reading does; or if something is asked for that needs all trials in memory.
    """
    from deciban.workflows.units_in_pieces import units_of_source

    say, found = progress or (lambda _words: None), list[Any]()
    by_condition, primaries, said = list[Any](), list[Any](), tuple[Message, ...]()
    kind = kind_called(kind_of_opened(source, options))
    with options.scale.engine() as engine:
        engine.make_room(source, options.scale.n_bytes)
        if units is None:
            units = units_of_source(source, engine, options.how_sure, kind)
        else:
            units = replace(units, source=source, engine=engine)
        split, planned = _split_in_pieces(source, engine, kind, units, options)
        for at, name in enumerate(source.systems):
            say(f"evaluating {name}")
            figures = kind.on_axis_of([source], options.figures if each is None else each[at])
            own = replace(options, figures=figures)
            found.append(kind.evaluate_pieces(source, engine, own, system=at, name=name, units=units))
            if split is not None:
                by_condition.append(split.evaluated(found[-1], own, system=at))
                said = split.messages
            if planned is not None:
                primaries.append(planned.primary(found[-1], own, system=at))
    often = "once" if engine.n_passes <= 1 else "more than once"
    if source.paths and not (options.scale.is_asked or source.is_matrix or source.is_summary):  # else they may well fit
        often += ": they do not fit in memory"
    words = f"{counted(source.n_rows, 'row')} in {counted(len(source.pieces), 'piece')}, read {often}"
    column = options.reading.weights
    weights = [Message("weights", source.name, f"column {column!r}")] if source.has_weights and column else []
    messages = [*weights, *units.said(_n_units(found[0])), Message("note", source.name, words)]
    n_trials = source.n_rows if source.has_weights else kind.n_evaluated(found[0])  # weights hide how many there are
    chosen = options.reading.where and not options.reading.by_order
    extra = (source.n_rows - n_trials) * len(found) if chosen else 0  # scores of trials that are not asked for
    report = source.report or JoinReport(n_trials, 0, extra, 0)
    more: Any = {"conditions": tuple(by_condition), "primaries": tuple(primaries)}
    return Results(tuple(found), report, (*_with_ties(source.messages, kind, report, found), *messages, *said), **more)


def _split_in_pieces(
    source: ShardSource, engine: Engine, kind: AnyKind, units: UnitsOfSource, options: Options
) -> tuple[ConditionsInPieces | None, PlannedInPieces | None]:
    """The conditions that are asked for, and the plan; None of what is not asked."""
    split, planned = None, None
    if options.split.is_asked:
        from deciban.workflows.conditions_in_pieces import ConditionsInPieces

        split = ConditionsInPieces.of(options.split, source, engine, kind, units)
    if options.plan is not None:
        from deciban.workflows.plans_in_pieces import PlannedInPieces

        planned = PlannedInPieces.of(options.plan, source, engine, kind, units)
    return split, planned


def _with_ties(known: Sequence[Message], kind: AnyKind, report: JoinReport, found: Sequence[Any]) -> list[Message]:
    """The messages of a source, with how many scores of each system are tied in that which says how trials met."""
    told = kind.has_ties and all("n_tied" not in one.bounds for one in found)
    ties = ties_in_words({one.name: one.n_tied for one in found}) if told else ""
    join, before = kind.join_message(report, ties), kind.join_message(report, "")
    return [join if one == before else one for one in known] + ([] if before in known else [join])


def _n_units(found: Any) -> int | None:
    """How many units the intervals of an evaluation rest on; None where there are none."""
    return None if found.uncertainty is None else int(found.uncertainty.n_units)
