"""Evaluation in pieces: which inputs do not fit in memory, and how their trials become results all the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from deciban.errors import InputError
from deciban.evaluation.results import Results
from deciban.io.shards.pieces import ShardSource
from deciban.io.source import PathLike, TwoFiles, files_of, is_open_file
from deciban.messages import Message, counted
from deciban.trials import JoinReport
from deciban.types import Progress
from deciban.workflows.inputs import ScoreFiles, paths_of
from deciban.workflows.kinds import kind_of
from deciban.workflows.options import KindName, Options
from deciban.workflows.sources import is_object, open_source
from deciban.workflows.summaries import OpenedSummary, are_summaries, opened_summaries

OpenedFiles: TypeAlias = ScoreFiles | ShardSource | OpenedSummary
"""What is read as a whole, or in pieces, or was summarized before."""

_TIMES_ITS_SIZE = {True: 5, False: 2}
"""How much memory reading a file and sorting its scores takes, of binary and of text files."""


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
        None where everything fits.
    """
    is_asked = options.scale.is_asked or any(is_object(one) for one in (*scores, *(() if key is None else (key,))))
    if not is_asked and memory_of(scores, key) <= options.scale.n_bytes:
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
    if isinstance(scores, ScoreFiles | ShardSource | OpenedSummary):
        return scores
    given = scores if isinstance(scores, list | tuple) else [scores]
    named = list(given) if any(map(is_object, (*given, key))) else paths_of(scores, also=(key, *options.files))
    if key is None and are_summaries(named):
        files: Any = named
        return opened_summaries(files)
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
    raise InputError(
        f"{what}: needs all trials in memory, and {files.name} is read in pieces. Allow more memory (memory=, "
        "--memory), or leave it out."
    )


def score_paths(files: OpenedFiles) -> list[Any]:
    """The score files that a user named."""
    return list(files.paths) if isinstance(files, ShardSource | OpenedSummary) else [one.path for one in files.scores]


def kind_of_opened(files: OpenedFiles, options: Options) -> KindName:
    """What they are about; see `deciban.workflows.kinds.kind_of`."""
    if isinstance(files, OpenedSummary):
        return "two-class"
    if isinstance(files, ShardSource):
        return "classes" if files.classes else "two-class"
    return kind_of(files.scores[0], files.key, options).name


def memory_of(scores: Sequence[Any], key: Any) -> int:
    """Bytes that it takes to read these files as a whole, about; 0 for what is no file."""
    paths = [one for one in [*scores, *([] if key is None else [key])] if not isinstance(one, TwoFiles)]
    found = 0
    for path in paths:
        for one in [] if is_open_file(path) or str(path) == "-" else files_of(path):
            parts = [part for part in Path(one).rglob("*") if part.is_file()] if Path(one).is_dir() else [Path(one)]
            found += sum(_times(part) * part.stat().st_size for part in parts if part.exists())
    return found


def _times(path: Path) -> int:
    with path.open("rb") as stream:
        return _TIMES_ITS_SIZE[b"\0" in stream.read(4096)]


def _refuse_what_is_not_counted(source: ShardSource) -> None:
    """Refuse what passes do not count yet, and would overlook.

    Raises
    ------
    InputError
    """
    way = "Allow more memory (memory=, --memory), so that everything is read at once."
    if source.classes:
        raise InputError(f"{source.name}: segments of many classes are not evaluated in pieces. {way}")
    if source.has_weights:
        raise InputError(f"weights: trials that are read in pieces ({source.name}) all count alike. {way}")


def evaluate_in_pieces(source: ShardSource, options: Options, progress: Progress | None = None) -> Results[Any]:
    """Evaluate every system of a source.

    Parameters
    ----------
    source : ShardSource
    options : Options
    progress : function, optional
        Called with a few words at every step.

    Returns
    -------
    Results
        As `deciban.evaluate_files` gives of the same trials in memory.

    Raises
    ------
    FormatError, InputError, OSError
        As reading does; or if trials have weights, or are of many classes.
    """
    _refuse_what_is_not_counted(source)
    from deciban.engines.counting import summarize_shards
    from deciban.engines.speakers import with_speakers
    from deciban.engines.units import UnitsInPieces
    from deciban.evaluation.summary import TwoClassFigures
    from deciban.evaluation.two_class import evaluation_of

    say, figures, found = progress or (lambda _words: None), TwoClassFigures(**options.figures.given()), []
    scale, how_sure = options.scale, options.how_sure
    with scale.engine() as engine:
        source = with_speakers(source, engine) if how_sure.intervals else source
        memory = engine.bounded(scale.n_bytes)
        for at, name in enumerate(source.systems):
            say(f"evaluating {name}")
            asked: Any = {"system": at, "figures": figures, "approximate": scale.approximate}
            summary = summarize_shards(source, engine, memory, **asked)
            units = UnitsInPieces.of(source, engine, at) if how_sure.intervals else None
            resampling = how_sure.resampling(None if units is None else units.about)
            found.append(evaluation_of(replace(summary, units=units), name=name, resampling=resampling))
    often = "once" if scale.approximate else "more than once: they do not fit in memory"
    words = f"{counted(source.n_rows, 'row')} in {counted(len(source.pieces), 'piece')}, read {often}"
    n_trials, chosen = int(found[0].n_tar + found[0].n_non), options.reading.where and not options.reading.by_order
    extra = (source.n_rows - n_trials) * len(found) if chosen else 0  # scores of trials that are not asked for
    report = source.report or JoinReport(n_trials, 0, extra, 0)
    return Results(tuple(found), report, (*source.messages, Message("note", source.name, words)))
