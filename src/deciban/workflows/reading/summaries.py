"""Summary files of partitions of a data set: written by independent jobs, merged, and opened as a source."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence
from dataclasses import replace
from operator import add
from pathlib import Path
from typing import Any, Self

import numpy as np

from deciban._files import ScratchFolder
from deciban.errors import WARNING, InputError, Message, counted, display_name, not_none, option, shortened
from deciban.io import summary_files
from deciban.io.source import files_of, parts_of
from deciban.memory import LEAST_FOR_MERGING, allowed_memory, require_least, rows_that_fit
from deciban.trials.classes import ScoreStatistics, ratio_messages
from deciban.trials.lists import PAIR
from deciban.trials.sources import Batch, SourcePartition, SourcePass, TrialFields, TrialSource
from deciban.types import AnyArray, PathLike, Progress
from deciban.workflows.options import Options, Reading

_NAME = "score"
"""Name of a system without a name."""

_MOST_ROWS = 1 << 20
"""Maximum number of rows that are sorted at once."""

SUMMARIZED = {*Reading.__dataclass_fields__, "kind", "units", "units_required", "memory", "speakers"}
"""Options for the content of summaries; all others are for evaluations."""


def summarize_files(
    shards: PathLike | Sequence[PathLike],
    output: PathLike,
    key: PathLike | None = None,
    *,
    keep_names: bool = False,
    progress: Progress | None = None,
    **options: object,
) -> tuple[Message, ...]:
    """Write the trials of some partitions of a data set to a file, with the count of each distinct trial.

    Such files can be merged. Metrics of merged files are exactly the metrics of the trials.

    Parameters
    ----------
    shards : path, or sequence of paths
        Files with scores and labels, folders or patterns; each file is a partition.
    output : path
        Summary file, which is written completely or not at all.
    key : path, optional
        Key of these partitions, if they contain no labels.
    keep_names : bool
        Whether to keep the names of both sides of trials, as numbers, for intervals by speaker.
    progress : function, optional
        Called with a short description of every step.
    **options
        Options for reading and joining partitions, as for `deciban.evaluate_files`: attributes of
        `deciban.workflows.Reading`, ``kind``, ``memory``, ``speakers``, and ``units`` to keep.

    Returns
    -------
    tuple of Message
        Messages about inputs and assumptions.

    Raises
    ------
    InputError, FormatError, OSError
        If partitions cannot be read, have different classes or systems, or occur twice; or if an option is for metrics,
        which belongs to the evaluation of the summary.

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
    from deciban.workflows.reading.inputs import open_source

    chosen, say, lacks_links = _options(options), progress or (lambda _words: None), False
    paths, messages, heads = _partition_files(shards), list[Message](), list[summary_files.SummaryHead]()
    scratch = ScratchFolder()
    with scratch.or_nothing(), chosen.scale.engine() as engine:
        runs = list[Path]()
        for path in paths:
            source = open_source([path], key, chosen)
            messages.extend(source.messages)
            say(f"counting {source.name}")
            sha256 = _content_of(path, key)  # computed before reading, to detect changes in between
            engine.make_room(source, chosen.scale.n_bytes, n_systems=len(source.systems))
            head = _head_of(source, path, chosen, keep_names=keep_names)
            lacks_links = len(paths) == 1 and head.units == "names" and bool(source.of_key)
            result = CountedRuns(head, scratch.path)
            result.rows_per_batch = rows_that_fit(
                chosen.scale.n_bytes / 8, head.bytes_per_row, at_once=engine.n_at_once, most=_MOST_ROWS
            )
            work = engine.run(result, source.partitions)
            if work.first is None:
                raise InputError(f"{source.name}: contains no trials to summarize. Leave it out.")
            record = summary_files.PartitionRecord(
                Path(path).name, source.n_rows, tuple(work.n.tolist()), sha256, tuple(map(str, source.messages))
            )
            heads.append(replace(work.with_units(), shards=(record,)))
            runs += work.runs
            messages += ratio_messages([(source.name, one) for one in work.looks])
        whole = summary_files.head_of_all(heads, list(map(display_name, paths)))
        say("merging")
        summary_files.write_summary(whole, summary_files.merged_rows(runs, scratch), output)
    scratch.remove()
    wrote = [Message("wrote", display_name(output), f"a summary of {counted(len(paths), 'partition')}")]
    if whole.units == "none":
        words = "names of speakers are not kept: evaluations of the summary have no intervals"
        wrote.append(Message(WARNING, "", f"{words} ({option('keep_names', 'units')})"))
    if lacks_links:
        words = "target trials that no partition scored will not link names, so speakers may be split: name the units"
        wrote.append(Message(WARNING, "", f"{words} ({option('units')})"))
    return (*messages, *wrote)


def _options(entries: dict[str, Any]) -> Options:
    """Return the options; refuse options for metrics.

    Raises
    ------
    InputError
        If there are any.
    """
    chosen = Options.of("summarize_files", entries)
    if chosen.scale.memory is not None:
        require_least(chosen.scale.memory, allowed_memory(chosen.scale.memory), LEAST_FOR_MERGING, "merging")
    for name, value in entries.items():
        if name not in {*SUMMARIZED, "options"} and value not in (None, False, ()):
            raise InputError(
                f"{name}: is for an evaluation, but a summary contains only trials. Leave it out, and use it to "
                "evaluate the summary (deciban eval)."
            )
    return chosen


def _partition_files(shards: PathLike | Sequence[PathLike]) -> list[PathLike]:
    values = [shards] if isinstance(shards, str | Path) else list(shards)  # type: ignore[arg-type]
    paths = [part for path in values for part in parts_of(path, ".parquet")]
    if not paths:
        raise InputError("shards: none given. Name at least one file.")
    return paths


def _content_of(path: PathLike, key: PathLike | None) -> str:
    """Return a fingerprint of a partition: of its file, and of its key if it has one."""
    result = hashlib.sha256()
    for file in (part for one in (path, key) if one is not None for part in parts_of(one, ".parquet")):
        with Path(file).open("rb") as stream:
            result.update(hashlib.file_digest(stream, "sha256").digest())
    return result.hexdigest()


def _head_of(source: TrialSource, path: PathLike, options: Options, *, keep_names: bool) -> summary_files.SummaryHead:
    """Return the head of the summary of a partition."""
    systems = source.systems
    if len(systems) == 1 and systems[0] == Path(path).name.removesuffix("".join(Path(path).suffixes)):
        systems = (_NAME,)  # named after its file, the system would be another one in every partition
    weights = (options.reading.weights or summary_files.WEIGHT) if source.has_weights else ""
    units = _kept(source, options, keep_names=keep_names)
    return summary_files.SummaryHead(systems, source.classes, (), units, weights=weights, log10=source.log10)


def _kept(source: TrialSource, options: Options, *, keep_names: bool) -> str:
    """Return the kind of units that are kept; see `SummaryHead.units`."""
    naming, has_names = options.how_sure.naming, source.sides[:2] == PAIR
    if keep_names and not has_names:
        raise InputError(
            f"keep_names: {source.name} has no names of two sides, from which speakers could be found. Leave it out."
        )
    if naming is not None and naming.each_trial:
        return "trials"
    if source.has_units and not source.are_units:
        return "named"
    return ("names" if keep_names else "none") if has_names else "trials"


class CountedRuns(SourcePass):
    """Pass that writes the trials of some partitions at a time to temporary files, in ascending order.

    Parameters
    ----------
    head : SummaryHead
        Head of the summary, which defines the columns.
    folder : path

    Attributes
    ----------
    runs : list of path
    n : (n_classes,) int array
        Number of trials of each class.
    looks : list of ScoreStatistics
        Statistics of the scores of each system; only for two classes.
    first : Batch or None
        One trial, for the description of its units.
    """

    words = "counting"

    def __init__(self, head: summary_files.SummaryHead, folder: Path) -> None:
        self.head, self.folder = head, folder
        self.runs = list[Path]()
        self.n = np.zeros(len(head.classes) or 2, np.int64)
        self.looks = [ScoreStatistics()] * len(head.systems)
        self.first: Batch | None = None
        has_units, has_names = (head.units == kept for kept in ("named", "names"))
        systems = tuple(range(len(head.systems)))
        self.fields = TrialFields(systems, truth=True, units=has_units, weight=bool(head.weights), names=has_names)

    def take(self, partitions: Sequence[SourcePartition]) -> None:
        """See `SourcePass.take`."""
        batches = [partition.read(self.fields) for partition in partitions]
        batches = [one for one in batches if one.truth is not None and len(one.truth)]
        if not batches:
            return
        parts = [self._columns(one) for one in batches]
        rows = {name: np.concatenate([one[name] for one in parts]) for name in parts[0]}
        scores = zip(*(one.scores for one in batches), strict=True)
        run = self.folder / f"{secrets.token_hex(8)}.run"
        summary_files.write_run(summary_files.count_rows(rows), run)
        with self.lock:
            self.first = self.first or batches[0].take(np.zeros(1, np.int64))
            self.runs.append(run)
            if not self.head.classes:
                self.looks = [
                    sum(map(ScoreStatistics.of_llrs, own), one) for one, own in zip(self.looks, scores, strict=True)
                ]
            self.n = self.n + np.bincount(rows[self.head.truth], minlength=len(self.n))

    def _columns(self, batch: Batch) -> summary_files.Columns:
        """Return the columns of a summary with one row for each trial."""
        head, columns = self.head, dict[str, AnyArray]()
        for names, scores in zip(head.score_columns, batch.scores, strict=True):
            each = scores.T if head.classes else [scores]
            columns |= {name: own + own.dtype.type(0) for name, own in zip(names, each, strict=True)}  # -0 is 0
        truth: AnyArray = np.asarray(batch.truth)
        columns[head.truth] = truth.astype(np.int32) if head.classes else truth
        sides = _sides(batch)
        columns |= dict(zip(replace(head, n_sides=len(sides)).unit_columns, sides, strict=True))
        if head.weights and batch.weight is not None:
            columns[summary_files.WEIGHT] = batch.weight
        return columns

    def with_units(self) -> summary_files.SummaryHead:
        """Return the head of the summary with the description of units."""
        first = not_none(self.first, "first trial")
        head = replace(self.head, n_sides=len(_sides(first)))
        units = first.units if self.head.units == "named" else None
        return head if units is None else replace(head, noun=units.noun, source=units.source)

    def __add__(self, other: Self) -> Self:
        """See `SourcePass.__add__`."""
        values = self.empty()
        values.runs, values.n, values.first = self.runs + other.runs, self.n + other.n, self.first or other.first
        values.looks = list(map(add, self.looks, other.looks))
        return values


def _sides(batch: Batch) -> tuple[AnyArray, ...]:
    """Return the numbers of the kept units: one array, or one for each side."""
    if batch.units is not None:
        return tuple(batch.units.keys[side] for side in batch.units.codes)
    return batch.names or ()


def merge_summaries(summaries: Sequence[PathLike], output: PathLike) -> tuple[Message, ...]:
    """Merge the summaries of different partitions; the result does not depend on their order.

    Parameters
    ----------
    summaries : sequence of paths
        Files from `summarize_files`, or from this function.
    output : path

    Returns
    -------
    tuple of Message
        Messages about the merged files.

    Raises
    ------
    InputError, FormatError, OSError
        If a file is no summary or damaged, the columns differ, or a partition would count twice.

    Examples
    --------
    See `deciban.summarize_files`.
    """
    files = [one for path in summaries for one in files_of(path)]
    names = list(map(display_name, files))
    head = summary_files.head_of_all([summary_files.read_head(file) for file in files], names)
    scratch = ScratchFolder()
    with scratch.or_nothing():
        summary_files.write_summary(head, summary_files.merged_rows(files, scratch), output)
    scratch.remove()
    read = Message("read", shortened(", ".join(names)), summary_files.head_in_words(head))
    return read, Message("wrote", display_name(output), "the summary of all of them")
