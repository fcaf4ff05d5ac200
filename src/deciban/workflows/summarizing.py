"""Shards are summarized in files, each by a job that knows nothing of the others, and looked at again in passes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deciban.errors import InputError
from deciban.io.shards.pieces import ShardSource
from deciban.io.source import PathLike, display_name, files_of
from deciban.io.summary_parts import SummaryPart, merged_parts
from deciban.messages import Message, counted, shortened
from deciban.types import Progress
from deciban.workflows.options import KindName, Options
from deciban.workflows.scale import Scale
from deciban.workflows.summaries import opened_summaries, require_asked

if TYPE_CHECKING:
    from deciban.engines.work import Engine

_NAME = "score"
"""What a system is called of which the shards say no name."""

_MEANING = (
    *("log10", "lr", "labels", "columns", "key_columns", "probabilities", "where", "names", "format", "ids"),
    *("weights", "negate"),
)
"""Attributes of `Reading` that change what a score or a label is."""


def summarize_files(
    shards: PathLike | Sequence[PathLike],
    output: PathLike,
    key: PathLike | None = None,
    *,
    refine: PathLike | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> tuple[Message, ...]:
    """Summarize some shards of a data set in a file; such files merge to one of all shards.

    Of two classes one pass counts the trials with each score, which tells every figure. Of many classes the first pass
    adds up decisions and costs, and further ones, by the merged counts of all shards, count until all minima are known.

    Parameters
    ----------
    shards : path, or sequence of paths
        Files with scores and labels, folders or patterns; each file is a shard.
    output : path
        The file of the summary, which is written as a whole or not at all.
    key : path, optional
        Of these shards, if they do not say themselves which trials are targets.
    refine : path, optional
        The merged summary of all shards after the passes so far.
    progress : function, optional
        Called with a few words at every step.
    **options
        As for `deciban.evaluate_files`; with ``refine`` figures are those of the first pass, and other ones refused.
        All jobs must be given the same ``memory``; left out, it is 2 GB.

    Returns
    -------
    tuple of Message
        What was read and assumed.

    Raises
    ------
    InputError, FormatError, OSError
        If shards cannot be read, have different classes or systems, or count twice; or if a shard was not
        counted before it is refined.

    Examples
    --------
    >>> import deciban, pathlib, tempfile
    >>> import pyarrow as pa, pyarrow.parquet as pq
    >>> folder, answers = pathlib.Path(tempfile.mkdtemp()), [True, False, True, False]
    >>> for name, scores in {"a": [2.0, -1.0, 0.5, 1.0], "b": [1.0, 0.0, 3.0, -2.0]}.items():
    ...     pq.write_table(pa.table({"score": scores, "label": answers}), folder / f"{name}.parquet")
    ...     _ = summarize_files(folder / f"{name}.parquet", folder / f"{name}.summary")
    >>> _ = deciban.merge_summaries([folder / "a.summary", folder / "b.summary"], folder / "all.summary")
    >>> deciban.evaluate_files(folder / "all.summary").systems[0].auc
    0.90625
    """
    from deciban.engines.class_summary_parts import ClassRefining, counted_class_part
    from deciban.engines.summary_parts import counted_part, identified
    from deciban.io.summary_files import write_summary

    chosen, say = Options.of("summarize_files", options), progress or (lambda _words: None)
    memory, name = _memory(chosen), display_name(refine or "")
    whole = None if refine is None else opened_summaries([refine]).part
    if whole is not None:
        _require_to_refine(whole, name)
        require_asked(whole, chosen, name, "count the shards anew with them")
    refining = None if whole is None else ClassRefining(whole, memory)
    paths, messages = _shard_files(shards), list[Message]()

    def parts(engine: Engine, here: int) -> Iterator[Any]:
        for path in paths:
            source = _opened_shard(path, key, chosen)
            say(f"{'counting' if refining is None else 'refining'} {source.name}")
            question = _question_of(source, path, chosen, whole)
            messages.extend(source.messages)
            own = identified(source, path, key)
            if source.classes and refining is None:
                yield counted_class_part(source, own, question, engine)
            elif refining is None:
                yield counted_part(source, own, question, engine, here)
            else:
                yield refining.part(source, own, engine, here)

    with chosen.scale.engine() as engine:
        found = merged_parts(parts(engine, engine.bounded(chosen.scale.n_bytes)), list(map(display_name, paths)))
    write_summary(found, output)
    wrote = Message("wrote", display_name(output), f"a summary of {counted(len(paths), 'shard')}")
    return (*messages, *([] if refining is None else _way_in_words(refining, name)), wrote)


def _memory(options: Options) -> int | None:
    """What was said about memory: what is free is another number on every machine."""
    return None if options.scale.memory is None else options.scale.n_bytes


def _require_to_refine(whole: SummaryPart, name: str) -> None:
    """Refuse to refine by what is no summary of all shards, or is refined.

    Raises
    ------
    InputError
    """
    if whole.is_refined:
        raise InputError(f"refine: {name} needs no further pass: its figures are exact. Evaluate it.")
    if missing := whole.unseen:
        raise InputError(
            f"refine: {name} lacks {len(missing)} of {len(whole.shards)} shards in pass {whole.n_passes + 1}: "
            f"{shortened(', '.join(missing))}. Merge all shards of that pass, and refine by that."
        )


def _way_in_words(refining: Any, name: str) -> list[Message]:
    """What a further pass did, and what follows."""
    n, words = refining.n_open, "detectors and pairs are counted in cells"
    words = f"{words} in place of {counted(n, 'open one')}" if n else words
    return [Message("note", name, f"{words}. Merge these, and see whether some are open")]


def kind_of_shards(shards: PathLike | Sequence[PathLike], key: PathLike | None, options: Options) -> KindName:
    """What shards are about: as the user says, or else as the first one shows.

    Parameters
    ----------
    shards, key
        As for `summarize_files`.
    options : Options
    """
    if options.kind is not None:
        return options.kind
    return "classes" if _opened_shard(_shard_files(shards)[0], key, options).classes else "two-class"


def _shard_files(shards: PathLike | Sequence[PathLike]) -> list[PathLike]:
    given = [shards] if isinstance(shards, str | Path) else list(shards)  # type: ignore[arg-type]
    found = list[PathLike]()
    for path in given:
        for one in files_of(path):
            found += sorted(Path(one).rglob("*.parquet")) if Path(one).is_dir() else [one]
    if not found:
        raise InputError("shards: none given. Name at least one.")
    return found


def _opened_shard(path: PathLike, key: PathLike | None, options: Options) -> ShardSource:
    from deciban.workflows.streaming import source_in_pieces

    large: Scale = replace(options.scale, approximate=True)
    source = source_in_pieces([path], key, replace(options, scale=large))
    assert source is not None  # noqa: S101  # as pieces are asked for
    return source


def _content_of(speakers: Any) -> str:
    """By what a table of speakers is known: they decide who is a target, so they are part of the question."""
    if isinstance(speakers, Mapping):
        return hashlib.sha256(json.dumps(sorted((str(a), str(b)) for a, b in speakers.items())).encode()).hexdigest()
    with Path(speakers).open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _question_of(source: ShardSource, path: PathLike, options: Options, whole: SummaryPart | None) -> Any:
    from deciban.evaluation.multiclass.figures import ClassFigures
    from deciban.evaluation.summary import TwoClassFigures
    from deciban.io.summary_records import Question

    said = {name: str(getattr(options.reading, name)) for name in _MEANING if options.reading.says(name)}
    if options.scale.speakers is not None:
        said["speakers"] = ", ".join(map(_content_of, options.scale.speaker_files))
    made = ClassFigures if source.classes else TwoClassFigures
    figures: Any = made(**options.figures.given()) if whole is None else whole.question.figures
    if source.classes:
        figures.require_parts()
    if source.classes and figures.groups is not None:
        raise InputError(
            "groups: how much a class counts in its group follows from all segments, and a job sees its own alone. "
            "Leave them out, or evaluate the shards themselves, in pieces."
        )
    systems = source.systems
    if len(systems) == 1 and systems[0] == Path(path).name.removesuffix("".join(Path(path).suffixes)):
        systems = (_NAME,)  # what is called by its file would be another system in every shard
    kind = "float64" if source.is_double else "float32"
    read = tuple(sorted(said.items()))
    question = Question(figures, systems, kind, read, source.has_weights, source.classes)
    if whole is not None and (differences := question.differences(whole.question)):
        raise InputError(f"{source.name}: is not what was counted: {'; '.join(differences)}.")
    return question
