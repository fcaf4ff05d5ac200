"""Summaries of shards in files: jobs that know nothing of each other write them; they merge, and are a source."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence
from dataclasses import replace
from operator import add
from pathlib import Path
from typing import Any, Self

import numpy as np

from deciban._files import PathLike, ScratchFolder, display_name
from deciban.errors import InputError
from deciban.io.source import files_of
from deciban.io.summary_files import (
    WEIGHT,
    Columns,
    ShardRecord,
    SummaryHead,
    count_rows,
    head_in_words,
    head_of_all,
    is_summary_file,
    merged_rows,
    read_head,
    write_run,
    write_summary,
)
from deciban.memory import LEAST_FOR_MERGING, allowed_memory, require_least, rows_that_fit
from deciban.messages import WARNING, Message, counted, shortened
from deciban.trials.classes import Looks, ratio_messages
from deciban.trials.lists import PAIR
from deciban.trials.passes import Work
from deciban.trials.sources import Chunk, Piece, ShardSource, Wanted
from deciban.types import AnyArray, Progress
from deciban.workflows.kinds import kind_called
from deciban.workflows.options import KindName, Options, Reading

_NAME = "score"
"""What a system is called of which the shards say no name."""

_MOST_ROWS = 1 << 20
"""Rows that are put in order at once."""

SUMMARIZED = {*Reading.__dataclass_fields__, "kind", "units", "units_required", "memory", "speakers"}
"""Options that say something of what is written; all others belong to an evaluation."""


def summarize_files(
    shards: PathLike | Sequence[PathLike],
    output: PathLike,
    key: PathLike | None = None,
    *,
    keep_names: bool = False,
    progress: Progress | None = None,
    **options: Any,
) -> tuple[Message, ...]:
    """Write the trials of some shards of a data set to a file, equal ones once with their number; such files merge.

    Figures of merged files are those of the trials themselves.

    Parameters
    ----------
    shards : path, or sequence of paths
        Files with scores and labels, folders or patterns; each file is a shard.
    output : path
        The file of the summary, which is written as a whole or not at all.
    key : path, optional
        Of these shards, if they do not say themselves which trials are targets.
    keep_names : bool
        Whether the names of both sides of trials are kept, as numbers, from which intervals by speaker are made.
    progress : function, optional
        Called with a few words at every step.
    **options
        How shards are read and joined, as for `deciban.evaluate_files`: the attributes of
        `deciban.workflows.Reading`, ``kind``, ``memory`` and ``speakers``; and ``units``, which are kept where they
        are named.

    Returns
    -------
    tuple of Message
        What was read and assumed.

    Raises
    ------
    InputError, FormatError, OSError
        If shards cannot be read, have different classes or systems, or count twice; or if an option is about
        figures, which an evaluation of the summary is asked for.

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
    from deciban.workflows.inputs import open_source

    chosen, say = _options(options), progress or (lambda _words: None)
    paths, messages, heads = _shard_files(shards), list[Message](), list[SummaryHead]()
    scratch = ScratchFolder()
    with scratch.or_nothing(), chosen.scale.engine() as engine:
        runs = list[Path]()
        for path in paths:
            source = open_source([path], key, chosen)
            messages.extend(source.messages)
            say(f"counting {source.name}")
            sha256 = _content_of(path, key)  # made before it is read, so that a change in between is seen
            engine.make_room(source, chosen.scale.n_bytes, n_systems=len(source.systems))
            head = _head_of(source, path, chosen, keep_names=keep_names)
            made = CountedRuns(head, scratch.path)
            made.rows_per_batch = rows_that_fit(
                chosen.scale.n_bytes / 8, head.bytes_per_row, at_once=engine.n_at_once, most=_MOST_ROWS
            )
            work = engine.run(made, source.pieces)
            if work.first is None:
                raise InputError(f"{source.name}: no trial is left of it. Leave it out.")
            record = ShardRecord(
                Path(path).name, source.n_rows, tuple(work.n.tolist()), sha256, tuple(map(str, source.messages))
            )
            heads.append(replace(work.with_units(), shards=(record,)))
            runs += work.runs
            messages += ratio_messages([(source.name, one) for one in work.looks])
        whole = head_of_all(heads, list(map(display_name, paths)))
        say("merging")
        write_summary(whole, merged_rows(runs, scratch), output)
    scratch.remove()
    wrote = [Message("wrote", display_name(output), f"a summary of {counted(len(paths), 'shard')}")]
    if whole.units == "none":
        words = "names of speakers are not kept: evaluations of the summary have no intervals (--keep-names, --units)"
        wrote.append(Message(WARNING, "", words))
    return (*messages, *wrote)


def _options(given: dict[str, Any]) -> Options:
    """The options, of which none is about figures.

    Raises
    ------
    InputError
        If one is.
    """
    chosen = Options.of("summarize_files", given)
    if chosen.scale.memory is not None:
        require_least(chosen.scale.memory, allowed_memory(chosen.scale.memory), LEAST_FOR_MERGING, "merging")
    for name, value in given.items():
        if name not in {*SUMMARIZED, "options"} and value not in (None, False, ()):
            raise InputError(
                f"{name}: is not about what a summary holds, which are the trials. Leave it out, and say it where the "
                "summary is evaluated (deciban eval)."
            )
    return chosen


def _shard_files(shards: PathLike | Sequence[PathLike]) -> list[PathLike]:
    given = [shards] if isinstance(shards, str | Path) else list(shards)  # type: ignore[arg-type]
    found = list[PathLike]()
    for path in given:
        for one in files_of(path):
            found += sorted(Path(one).rglob("*.parquet")) if Path(one).is_dir() else [one]
    if not found:
        raise InputError("shards: none given. Name at least one.")
    return found


def _content_of(path: PathLike, key: PathLike | None) -> str:
    """By what a shard is known: the content of its file, and of its key if it has one."""
    found = hashlib.sha256()
    for one in map(Path, (path,) if key is None else (path, key)):
        for file in sorted(one.rglob("*.parquet")) if one.is_dir() else [one]:
            with file.open("rb") as stream:
                found.update(hashlib.file_digest(stream, "sha256").digest())
    return found.hexdigest()


def _head_of(source: ShardSource, path: PathLike, options: Options, *, keep_names: bool) -> SummaryHead:
    """What the rows of a shard mean."""
    systems = source.systems
    if len(systems) == 1 and systems[0] == Path(path).name.removesuffix("".join(Path(path).suffixes)):
        systems = (_NAME,)  # what is called by its file would be another system in every shard
    weights = (options.reading.weights or WEIGHT) if source.has_weights else ""
    units = _kept(source, options, keep_names=keep_names)
    return SummaryHead(systems, source.classes, (), units, weights=weights, log10=source.log10)


def _kept(source: ShardSource, options: Options, *, keep_names: bool) -> str:
    """What is kept of who is in a trial; see `SummaryHead.units`."""
    naming, has_names = options.how_sure.naming, source.sides[:2] == PAIR
    if keep_names and not has_names:
        raise InputError(
            f"keep_names: nothing says who is in a trial of {source.name} but what names its units, if anything does: "
            "names of two sides, from which speakers could be found, are lacking. Leave it out."
        )
    if naming is not None and naming.each_trial:
        return "trials"
    if source.has_units and not source.are_units:
        return "named"
    return ("names" if keep_names else "none") if has_names else "trials"


class CountedRuns(Work):
    """A pass that writes the trials of some pieces at a time to temporary files, in ascending order.

    Parameters
    ----------
    head : SummaryHead
        What columns there are.
    folder : path

    Attributes
    ----------
    runs : list of path
    n : (n_classes,) int array
        Trials of each class.
    looks : list of Looks
        Of the scores of each system; of two classes only.
    first : Chunk or None
        Of a trial, for what is said of its units.
    """

    words = "counting"

    def __init__(self, head: SummaryHead, folder: Path) -> None:
        self.head, self.folder = head, folder
        self.runs = list[Path]()
        self.n = np.zeros(len(head.classes) or 2, np.int64)
        self.looks = [Looks()] * len(head.systems)
        self.first: Chunk | None = None
        has_units, has_names = (head.units == kept for kept in ("named", "names"))
        systems = tuple(range(len(head.systems)))
        self.wanted = Wanted(systems, truth=True, units=has_units, weight=bool(head.weights), names=has_names)

    def take(self, pieces: Sequence[Piece]) -> None:
        """See `Work.take`."""
        chunks = [piece.read(self.wanted) for piece in pieces]
        chunks = [one for one in chunks if one.truth is not None and len(one.truth)]
        if not chunks:
            return
        parts = [self._columns(one) for one in chunks]
        rows = {name: np.concatenate([one[name] for one in parts]) for name in parts[0]}
        scores = zip(*(one.scores for one in chunks), strict=True)
        run = self.folder / f"{secrets.token_hex(8)}.run"
        write_run(count_rows(rows), run)
        with self.lock:
            self.first = self.first or chunks[0].take(np.zeros(1, np.int64))
            self.runs.append(run)
            if not self.head.classes:
                self.looks = [sum(map(Looks.of_llrs, own), one) for one, own in zip(self.looks, scores, strict=True)]
            self.n = self.n + np.bincount(rows[self.head.truth], minlength=len(self.n))

    def _columns(self, chunk: Chunk) -> Columns:
        """The columns of a summary that has one row for each trial."""
        head, found = self.head, dict[str, AnyArray]()
        for names, scores in zip(head.score_columns, chunk.scores, strict=True):
            each = scores.T if head.classes else [scores]
            found |= {name: own + own.dtype.type(0) for name, own in zip(names, each, strict=True)}  # -0 is 0
        truth: AnyArray = np.asarray(chunk.truth)
        found[head.truth] = truth.astype(np.int32) if head.classes else truth
        sides = _sides(chunk)
        found |= dict(zip(replace(head, n_sides=len(sides)).unit_columns, sides, strict=True))
        if head.weights and chunk.weight is not None:
            found[WEIGHT] = chunk.weight
        return found

    def with_units(self) -> SummaryHead:
        """What columns mean, with what is said of units."""
        assert self.first is not None  # noqa: S101  # there is a trial
        units = self.first.units if self.head.units == "named" else None
        about: Any = {} if units is None else {"noun": units.noun, "source": units.source}
        return replace(self.head, n_sides=len(_sides(self.first)), **about)

    def __add__(self, other: Self) -> Self:
        """See `Work.__add__`."""
        found = self.empty()
        found.runs, found.n, found.first = self.runs + other.runs, self.n + other.n, self.first or other.first
        found.looks = list(map(add, self.looks, other.looks))
        return found


def _sides(chunk: Chunk) -> tuple[AnyArray, ...]:
    """Numbers of units that are kept: one, or one for each side."""
    if chunk.units is not None:
        return tuple(chunk.units.keys[side] for side in chunk.units.codes)
    return chunk.names or ()


def merge_summaries(summaries: Sequence[PathLike], output: PathLike) -> tuple[Message, ...]:
    """Merge the summaries of different shards into one, in any order and grouping to the same bytes.

    Parameters
    ----------
    summaries : sequence of paths
        Files of `summarize_files`, or of this function.
    output : path

    Returns
    -------
    tuple of Message
        What was merged.

    Raises
    ------
    InputError, FormatError, OSError
        If one is no summary or damaged, their rows mean different things, or a shard would count twice.

    Examples
    --------
    See `deciban.summarize_files`.
    """
    files = _files(summaries)
    names = list(map(display_name, files))
    head = head_of_all([read_head(file) for file in files], names)
    scratch = ScratchFolder()
    with scratch.or_nothing():
        write_summary(head, merged_rows(files, scratch), output)
    scratch.remove()
    read = Message("read", shortened(", ".join(names)), head_in_words(head))
    return read, Message("wrote", display_name(output), "the summary of all of them")


def are_summaries(paths: Sequence[Any]) -> bool:
    """Return whether all inputs are files of summaries."""
    found = [one for path in paths if isinstance(path, str | Path) and str(path) != "-" for one in files_of(path)]
    return bool(found) and len(found) >= len(paths) and all(map(is_summary_file, found))


def _files(paths: Sequence[PathLike]) -> list[PathLike]:
    return [one for path in paths for one in files_of(path)]


def opened_summaries(paths: Sequence[PathLike], options: Options) -> ShardSource:
    """Open summaries of different shards as one source.

    Parameters
    ----------
    paths : sequence of paths
        Patterns are welcome.
    options : Options

    Raises
    ------
    InputError, FormatError, OSError
        As in `deciban.io.shards.summaries.summary_source`; or if an option says how trials are read, which was decided
        when they were summarized.
    """
    how_sure, naming = options.how_sure, options.how_sure.naming
    said = [
        name
        for name in Reading.__dataclass_fields__
        if options.reading.says(name) and name not in ("from_classes", "missing", "duplicates", "weights_required")
    ]
    said += ["units"] if naming is not None and not naming.each_trial else []
    said += ["speakers"] if options.scale.speakers is not None else []
    if said:
        raise InputError(
            f"{said[0]}: says how trials are read, which was decided when they were summarized. Leave it out, or "
            "summarize the shards with it."
        )
    if options.groups is not None:
        raise InputError(
            f"{', '.join(map(display_name, paths))}: trials cannot be held out, as a summary holds no names of them. "
            "Name the shards themselves, or leave out what cross-validates or selects."
        )
    options.split.refuse("a summary", "Evaluate the trials themselves, or leave it out.")
    units: Any = "" if not how_sure.intervals else "kept" if naming is None else "trials"
    from deciban.io.shards.summaries import summary_source  # most inputs are no summaries

    source = summary_source(_files(paths), units=units)
    kind: KindName = "classes" if source.classes else "two-class"
    if options.kind not in (None, kind):
        held, asked = (kind_called(one).about for one in (kind, options.kind))
        raise InputError(
            f"kind: {source.name} is a summary of scores of {held}, and those of {asked} were asked for. Leave kind "
            "out (--kind)."
        )
    return source
