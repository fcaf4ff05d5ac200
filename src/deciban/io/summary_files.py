"""Summary files, Parquet with the distinct trials of some partitions and their counts, also as a source.

Rows are sorted, so that files can be merged as streams. The metadata contain, as JSON, the meaning of the columns and
the partitions that were read.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
import pyarrow as pa

from deciban._arrow import of_numpy, to_numpy
from deciban._files import ScratchFolder, atomic_write
from deciban.core.resampling.units import Keys, TrialUnits, independent, mixed_bits
from deciban.errors import FormatError, InputError, Message, counted, display_name, names_apart, shortened
from deciban.io.formats import SUMMARY, only_format_errors
from deciban.trials.joining.matching import JoinReport
from deciban.trials.lists import PAIR
from deciban.trials.sources import Batch, SourcePartition, TrialFields, TrialSource
from deciban.trials.units import keys_of_trials
from deciban.types import AnyArray, Foreign, IntArray, Json, PathLike

if TYPE_CHECKING:
    from deciban.io.partitions.files import FileRows

COUNT = "count"
"""The last column: the number of trials of a row. All other columns together are distinct."""

Columns: TypeAlias = Mapping[str, AnyArray]
"""Columns of numbers by name, of equal length, without NaN."""


def count_rows(columns: Columns) -> Columns:
    """Sort rows in ascending order, by all columns, and sum the counts of equal rows.

    Parameters
    ----------
    columns : mapping of str to (n,) arrays
        Without a column of counts, each row counts once.

    Examples
    --------
    >>> found = count_rows({"score": np.array([2.0, 1.0, 2.0, 2.0]), "label": np.array([True, False, False, True])})
    >>> [(name, values.tolist()) for name, values in found.items()]
    [('score', [1.0, 2.0, 2.0]), ('label', [False, False, True]), ('count', [1, 1, 2])]
    """
    names = [name for name in columns if name != COUNT]
    keys = [columns[name] for name in names]
    n_rows = len(keys[0])
    count = columns.get(COUNT, np.ones(n_rows, np.int64))
    order = _ascending(keys)
    keys = [key[order] for key in keys]
    is_first = np.ones(n_rows, np.bool_)
    if n_rows:
        is_first[1:] = np.logical_or.reduce([key[1:] != key[:-1] for key in keys])
    starts = np.flatnonzero(is_first)
    if len(starts) < n_rows:
        keys = [key[starts] for key in keys]
    summed = np.add.reduceat(count[order], starts) if n_rows else count
    return {**dict(zip(names, keys, strict=True)), COUNT: summed}


def _ascending(keys: Sequence[AnyArray]) -> IntArray:
    """Return the order of rows by the first column, then by the others."""
    order: IntArray = np.argsort(keys[0])
    own = keys[0][order]
    same = own[1:] == own[:-1]
    if len(keys) == 1 or not same.any():
        return order
    is_tied = np.zeros(len(own), np.bool_)
    is_tied[1:] |= same
    is_tied[:-1] |= same
    tied = np.flatnonzero(is_tied)
    rows = order[tied]
    order[tied] = rows[np.lexsort([key[rows] for key in reversed(keys)])]
    return order


def merged(parts: Sequence[Iterable[Columns]]) -> Iterator[Columns]:
    """Merge tables, with only a few rows of each in memory at once.

    Parameters
    ----------
    parts : sequence of iterables of columns
        For each table, batches of rows in the order of `count_rows`. All have the same columns.

    Yields
    ------
    columns
        Batches of rows, in the order of `count_rows`.

    Examples
    --------
    >>> one, other = (count_rows({"score": np.array(scores)}) for scores in ([1.0, 2.0, 4.0], [2.0, 3.0]))
    >>> [(rows["score"].tolist(), rows["count"].tolist()) for rows in merged([[one], [other]])]
    [([1.0, 2.0, 3.0], [1, 2, 1]), ([4.0], [1])]
    """
    left = [iter(part) for part in parts]
    heads = [(rows, part) for part in left if (rows := _next(part)) is not None]
    while heads:
        bound = min(tuple(values[-1] for name, values in rows.items() if name != COUNT) for rows, _ in heads)
        ends = [_upto(rows, bound) for rows, _ in heads]
        taken = [_slice(rows, 0, end) for (rows, _), end in zip(heads, ends, strict=True) if end]
        yield count_rows({name: np.concatenate([rows[name] for rows in taken]) for name in taken[0]})
        remaining = []
        for (rows, part), end in zip(heads, ends, strict=True):
            kept = _slice(rows, end, None) if end < len(rows[COUNT]) else _next(part)
            if kept is not None:
                remaining.append((kept, part))
        heads = remaining


def _next(part: Iterator[Columns]) -> Columns | None:
    """Return the next rows, or None if there are no more."""
    return next((rows for rows in part if len(rows[COUNT])), None)


def _upto(rows: Columns, bound: tuple[float, ...]) -> int:
    """Return the number of rows that are not after a given row."""
    begin, end = 0, len(rows[COUNT])
    for values, value in zip(rows.values(), bound, strict=False):
        own = values[begin:end]
        begin, end = (begin + int(np.searchsorted(own, value, side=side)) for side in ("left", "right"))
    return end


def _slice(rows: Columns, begin: int, end: int | None) -> Columns:
    return {name: values[begin:end] for name, values in rows.items()}


def in_groups(tables: Iterable[Columns], n_rows: int) -> Iterator[Columns]:
    """Divide a stream of rows into tables of ``n_rows`` each, whatever the lengths of its batches.

    Examples
    --------
    >>> [rows["count"].tolist() for rows in in_groups([{"count": np.array([1, 2])}, {"count": np.array([3])}], 1)]
    [[1], [2], [3]]
    """
    waiting, n_waiting = list[Columns](), 0
    for table in tables:
        waiting.append(table)
        n_waiting += len(table[COUNT])
        if n_waiting >= n_rows:
            whole = _joined(waiting)
            for begin in range(0, n_waiting - n_rows + 1, n_rows):
                yield _slice(whole, begin, begin + n_rows)
            waiting, n_waiting = [_slice(whole, n_waiting - n_waiting % n_rows, None)], n_waiting % n_rows
    if n_waiting:
        yield _joined(waiting)


def _joined(tables: Sequence[Columns]) -> Columns:
    return {name: np.concatenate([one[name] for one in tables]) for name in tables[0]}


VERSION = 2
_MOST_ROWS, _BYTES = 1 << 18, 1 << 23
"""Largest number of rows of a row group, and its approximate bytes if there are many columns."""

LABEL, CLASS, WEIGHT, UNIT = "label", "class", "weight", "unit"
_PARQUET = b"PAR1"
_AT_ONCE = 1 << 23
"""Bytes for the rows of all files that are in memory during a merge."""

_FEWEST = 1 << 12
"""Smallest number of rows of each file in memory."""

_MOST_FILES = 64
"""Largest number of files that are merged at once; more are merged via temporary files."""


@dataclass(frozen=True, slots=True)
class PartitionRecord:
    """A partition that was read.

    Attributes
    ----------
    name : str
        Name of its file, without folders.
    n_rows : int
    n_trials : tuple of int
        Number of trials of each class; for two classes, of non-targets and targets.
    sha256 : str
        Hash of its content, which identifies the partition.
    reading : tuple of str
        Texts on how it was read.
    """

    name: str
    n_rows: int
    n_trials: tuple[int, ...]
    sha256: str
    reading: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SummaryHead:
    """The description of a summary, without its rows.

    Attributes
    ----------
    systems : tuple of str
    classes : tuple of str
        Names of the classes for multiclass; empty for two classes.
    shards : tuple of PartitionRecord
        Sorted by their content.
    units : {"none", "trials", "named", "names"}
        Information about units: none; none, because each trial is a unit; units from columns; or the names of both
        sides.
    n_sides : int
        Number of columns of units or names: one, or one for each side.
    noun, source : str
        For units from columns, see `deciban.core.resampling.units.TrialUnits`.
    weights : str
        Original name of the column of weights; empty if every trial counts once.
    log10 : bool
        True if scores were common logarithms; in the summary they are natural ones.
    """

    systems: tuple[str, ...]
    classes: tuple[str, ...]
    shards: tuple[PartitionRecord, ...]
    units: str
    n_sides: int = 0
    noun: str = ""
    source: str = ""
    weights: str = ""
    log10: bool = False

    @property
    def score_columns(self) -> list[list[str]]:
        """The columns of each system: one, or one for each class."""
        systems = [""] if len(self.systems) == 1 else [f" {name}" for name in self.systems]
        words = [[f" {name}" for name in self.classes] or [""]] * len(systems)
        names = [f"score{system}{word}" for system, own in zip(systems, words, strict=True) for word in own]
        apart, width = names_apart(names, ()), len(self.classes) or 1
        return [apart[start : start + width] for start in range(0, len(apart), width)]

    @property
    def truth(self) -> str:
        """The column with the truth."""
        return CLASS if self.classes else LABEL

    @property
    def unit_columns(self) -> list[str]:
        """The columns of numbers for units, or for the names of both sides."""
        return [f"{UNIT} {side}" for side in PAIR] if self.n_sides == len(PAIR) else [UNIT] * self.n_sides

    @property
    def rows_of_group(self) -> int:
        """Number of rows of a row group; it depends only on the contents, so that equal rows give equal bytes."""
        return min(1 << (_BYTES // self.bytes_per_row).bit_length() - 1, _MOST_ROWS)

    @property
    def bytes_per_row(self) -> int:
        """The largest number of bytes of a row in memory."""
        return 8 * (len(self.systems) * (len(self.classes) or 1) + self.n_sides + bool(self.weights) + 2)

    @property
    def n_trials(self) -> int:
        """Number of trials of all partitions."""
        return sum(sum(one.n_trials) for one in self.shards)

    @property
    def n_rows(self) -> int:
        """Number of rows of all partitions."""
        return sum(one.n_rows for one in self.shards)

    @property
    def of_classes(self) -> list[int]:
        """Number of trials of each class."""
        return [sum(each) for each in zip(*(one.n_trials for one in self.shards), strict=True)]

    def differences(self, other: SummaryHead) -> list[str]:
        """Return messages on differences in the meaning of rows that prevent merging."""
        lines = list[str]()
        for name in ("classes", "systems", "units", "n_sides", "weights"):
            one, two = getattr(self, name), getattr(other, name)
            if one != two:
                lines.append(f"{name.replace('n_sides', 'sides of units')} {_in_words(one)} and {_in_words(two)}")
        return lines


def _in_words(value: Json) -> str:
    return (", ".join(value) if isinstance(value, tuple) else str(value)) or "none"


def read_head(path: PathLike) -> SummaryHead:
    """Read the description of a summary file.

    Parameters
    ----------
    path : path

    Raises
    ------
    FormatError, OSError
        If the file is not a summary, has another version, or is damaged.
    """
    import pyarrow.parquet as pq

    name = display_name(path)
    with Path(path).open("rb") as stream:
        if stream.read(len(_PARQUET)) != _PARQUET:
            raise _no_summary(name)
    try:
        text = (pq.read_metadata(path).metadata or {}).get(SUMMARY)
    except Exception as error:  # the library raises errors of any type
        raise _damaged(name) from error
    if text is None:
        raise _no_summary(name)
    try:
        about = json.loads(text)
        version = about.pop("version")
        if version == VERSION:
            return _head(about)
    except (KeyError, TypeError, ValueError) as error:
        raise _damaged(name) from error
    raise FormatError(
        f"{name}: is a summary of version {version}, but this package reads version {VERSION}. Summarize the original "
        "files again (deciban summarize)."
    )


def _no_summary(name: str) -> FormatError:
    return FormatError(f"{name}: is not a summary file. Use deciban summarize to write one.")


def _damaged(name: str) -> FormatError:
    return FormatError(f"{name}: is incomplete or damaged. Summarize the original files again.")


def _head(about: dict[str, Json]) -> SummaryHead:
    result = (PartitionRecord(**{key: _tuple(value) for key, value in one.items()}) for one in about.pop("shards"))
    return SummaryHead(shards=tuple(result), **{key: _tuple(value) for key, value in about.items()})


def _tuple(value: Json) -> Json:
    return tuple(value) if isinstance(value, list) else value


def head_of_all(heads: Sequence[SummaryHead], names: Sequence[str]) -> SummaryHead:
    """Combine the descriptions of summaries of different partitions.

    Parameters
    ----------
    heads : sequence of SummaryHead
    names : sequence of str
        Names of the summaries for messages.

    Raises
    ------
    InputError
        If there is none, their rows have different meanings, or a partition is in two of them.
    """
    if not heads:
        raise InputError("summaries: none given. Name at least one.")
    seen, doubled = dict[str, str](), list[str]()
    for one, name in zip(heads, names, strict=True):
        if differences := heads[0].differences(one):
            raise InputError(
                f"{name}: does not match {names[0]}: {'; '.join(map(shortened, differences))}. Use the same options to "
                "summarize all files."
            )
        for shard in one.shards:
            if shard.sha256 in seen:
                doubled.append(f"{shard.name} ({seen[shard.sha256]}, {name})")
            seen[shard.sha256] = name
    if doubled:
        more = f", and {counted(len(doubled) - 3, 'other')}" if len(doubled) > 3 else ""
        raise InputError(
            f"shards: {counted(len(doubled), 'shard')} would count twice: {'; '.join(doubled[:3])}{more}. Merge each "
            "shard once."
        )
    shards = sorted((shard for one in heads for shard in one.shards), key=lambda one: one.sha256)
    noun, source = min(one.noun for one in heads), min(one.source for one in heads)
    return replace(heads[0], shards=tuple(shards), noun=noun, source=source, log10=all(one.log10 for one in heads))


def head_in_words(head: SummaryHead) -> str:
    """Return a short text about a summary."""
    return f"summary of {counted(len(head.shards), 'shard')}, {head.n_trials:,} trials"


def write_summary(head: SummaryHead, tables: Iterable[Columns], path: PathLike) -> None:
    """Write a summary file atomically; equal rows and partitions give equal bytes.

    Parameters
    ----------
    head : SummaryHead
    tables : iterable of columns
        Batches of all rows in ascending order; at least one batch, which may be empty.
    path : path
    """
    about = json.dumps({"version": VERSION, **asdict(head)}, ensure_ascii=False, sort_keys=True)
    with atomic_write(path) as stream:
        _write_rows(in_groups(tables, head.rows_of_group), stream, {SUMMARY: about.encode()})


def _write_rows(tables: Iterable[Columns], target: object, metadata: Mapping[bytes, bytes] | None = None) -> None:
    """Write rows with compression for sorted numbers."""
    import pyarrow.parquet as pq

    with ExitStack() as closing:
        file: Foreign = None
        for rows in tables:
            columns = {name: of_numpy(values) for name, values in rows.items()}
            table = pa.table(columns, metadata=metadata)
            if file is None:
                floats = [name for name, values in rows.items() if values.dtype.kind == "f"]
                others = [name for name in rows if name not in floats]
                write = partial(pq.ParquetWriter, compression="zstd", write_statistics=False, write_page_checksum=True)
                encoding = dict.fromkeys(floats, "BYTE_STREAM_SPLIT")
                opened = write(target, table.schema, use_dictionary=others, column_encoding=encoding)
                file = closing.enter_context(opened)
            file.write_table(table, row_group_size=max(len(table), 1))


def write_run(rows: Columns, path: Path) -> None:
    """Write sorted rows to a temporary file for `merged_rows`."""
    _write_rows([rows], path)


def merged_rows(paths: Sequence[PathLike], scratch: ScratchFolder) -> Iterator[Columns]:
    """Merge the rows of files, whatever their number and size, and yield them in batches.

    Parameters
    ----------
    paths : sequence of path
        Summary files, or files of `write_run`.
    scratch : ScratchFolder
        Folder for intermediate files, if there are many.

    Raises
    ------
    FormatError, OSError
        If a file cannot be read, or is damaged.
    """
    left = list(paths)
    while len(left) > _MOST_FILES:
        together = scratch.path / f"merged-{len(left)}-{Path(left[0]).name}"
        _write_rows(merged_rows(left[:_MOST_FILES], scratch), together)
        left = [*left[_MOST_FILES:], together]
    return merged(_of_one_type([_rows_of(path, _AT_ONCE // len(left)) for path in left]))


def _rows_of(path: PathLike, n_bytes: int) -> Iterator[Columns]:
    """Yield the rows of a file in batches of ``n_bytes``."""
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path, pre_buffer=False, buffer_size=1 << 18, page_checksum_verification=True) as file:
            n_at_once = max(n_bytes // (8 * file.metadata.num_columns), _FEWEST)
            for batch in file.iter_batches(batch_size=n_at_once, use_threads=False):
                yield dict(zip(batch.schema.names, map(to_numpy, batch.columns), strict=True))
    except OSError as error:  # also errors of the library
        if isinstance(error, FileNotFoundError):
            raise
        raise _damaged(display_name(path)) from error


def _of_one_type(parts: Sequence[Iterator[Columns]]) -> list[Iterator[Columns]]:
    """Convert scores to float64 if some files contain float64, so that equal numbers compare equal."""
    first = [next(part, None) for part in parts]
    known = [rows for rows in first if rows is not None]
    kinds = {name: np.result_type(*(rows[name].dtype for rows in known)) for name in (known[0] if known else ())}

    def typed(rows: Columns | None, part: Iterator[Columns]) -> Iterator[Columns]:
        while rows is not None:
            yield {name: values.astype(kinds[name], copy=False) for name, values in rows.items()}
            rows = next(part, None)

    return [typed(rows, part) for rows, part in zip(first, parts, strict=True)]


_MOST_TRIALS = 1 << 18
"""Largest number of trials of a partition in which rows are repeated."""

_WORTHWHILE = 4
"""Number of trials per row above which weights need less memory than repeated rows."""


def summary_source(paths: Sequence[PathLike], *, units: Literal["", "kept", "trials"] = "kept") -> TrialSource:
    """Open summary files of different data as one source.

    Parameters
    ----------
    paths : sequence of path
    units : str
        The units: none, those in the files, or one per trial. Rows are repeated by their counts, unless counts as
        weights need less memory and trials need not be distinguished.

    Raises
    ------
    FormatError, InputError, OSError
        If a file is not a summary or is damaged, their rows have different meanings, or their data overlap.
    """
    names = list(map(display_name, paths))
    head = head_of_all([read_head(path) for path in paths], names)
    if units != "kept":
        head = replace(head, units=units or "none", n_sides=0)
    are_units = head.units in ("trials", "names")
    rows: list[FileRows] = []
    double = False
    for path, name in zip(paths, names, strict=True):
        own, is_double = _row_groups(path, name, head)
        rows += own
        double |= is_double
    are_many = head.n_trials >= _WORTHWHILE * sum(one.n_rows for one in rows)
    repeats = bool(head.classes or head.weights or are_units) or not are_many
    if repeats:
        partitions = tuple(_repeated(rows, head))
    else:
        partitions = tuple(SummaryPartition(one, head, one.name, one.n_rows) for one in rows)
    name = shortened(", ".join(names))
    messages = [Message("read", name, head_in_words(head))]
    messages += [Message("weights", name, f"column {head.weights!r}")] if head.weights else []
    return TrialSource(
        name,
        partitions,
        head.systems,
        head.classes,
        is_double=double,
        has_units=head.units == "named" or are_units,
        are_units=are_units,
        has_weights=bool(head.weights) or not repeats,
        weights_are_counts=not repeats,
        is_summary=True,
        sides=PAIR if head.units == "names" else (),
        messages=tuple(messages),
        paths=tuple(paths),
        units=() if head.classes else (("log10" if head.log10 else "nats"),) * len(head.systems),
        report=JoinReport(head.n_trials, 0, 0, 0),
    )


def _row_groups(path: PathLike, name: str, head: SummaryHead) -> tuple[list[FileRows], bool]:
    """Return the row groups of a file, and True if scores are float64."""
    import pyarrow.parquet as pq

    from deciban.io.partitions.files import FileRows, full_path, stamp_of

    with only_format_errors(name, "a summary of shards"):
        stamp, footer = stamp_of(path), pq.read_metadata(path)
        kinds = footer.schema.to_arrow_schema()
        double = any(kinds.field(column).type == pa.float64() for own in head.score_columns for column in own)
        sizes = [footer.row_group(at).num_rows for at in range(footer.num_row_groups)]
    called = [f"{name}, row group {at}" for at in range(len(sizes))]
    parts = enumerate(zip(called, sizes, strict=True))
    return [FileRows(full_path(path), at, own, n, stamp) for at, (own, n) in parts if n], double


def _repeated(rows: Sequence[FileRows], head: SummaryHead) -> Iterator[SummaryPartition]:
    """Yield partitions with about equal numbers of trials."""
    start = 0
    for one in rows:
        n_trials = int(_column(one.table([COUNT]), COUNT).sum())
        for begin in range(0, n_trials, _MOST_TRIALS):
            end = min(begin + _MOST_TRIALS, n_trials)
            yield SummaryPartition(one, head, one.name, end - begin, begin, start + begin)
        start += n_trials


def _column(table: pa.Table, name: str) -> AnyArray:
    return to_numpy(table.column(name))


@dataclass(frozen=True, slots=True)
class SummaryPartition(SourcePartition):
    """Rows of a summary as trials.

    Attributes
    ----------
    rows : FileRows
    head : SummaryHead
    name : str
    n_rows : int
    begin : int, optional
        Index of the first trial, if rows are repeated by their counts; None if they are not.
    start : int
        Its index among the trials of all partitions.
    """

    rows: FileRows
    head: SummaryHead
    name: str
    n_rows: int
    begin: int | None = None
    start: int = 0

    def read(self, fields: TrialFields) -> Batch:
        """See `SourcePartition.read`."""
        head, table = self.head, self.rows.table(self._columns(fields))
        chosen: AnyArray | slice = slice(None)
        if self.begin is not None:
            ends = np.cumsum(_column(table, COUNT))
            within = np.diff(np.clip(ends - self.begin, 0, self.n_rows), prepend=0)
            chosen = np.repeat(np.arange(len(within)), within)
        own = {name: _column(table, name)[chosen] for name in table.column_names}
        weight = None
        if fields.weight and (head.weights or self.begin is None):
            weight = own[WEIGHT if head.weights else COUNT]
        sides = self._sides(own) if fields.names else ()
        scores = ([own[name] for name in head.score_columns[at]] for at in fields.systems)
        return Batch(
            tuple(np.column_stack(each) if head.classes else each[0] for each in scores),
            own[head.truth].astype(np.int64 if head.classes else np.bool_) if fields.truth else None,
            self._units(own) if fields.units else None,
            weight,
            names=(sides[0], sides[1]) if fields.names and head.units == "names" else None,
        )

    def _columns(self, fields: TrialFields) -> list[str]:
        """Return the columns to read."""
        head = self.head
        items = [name for at in fields.systems for name in head.score_columns[at]]
        items += [head.truth] if fields.truth else []
        items += [WEIGHT] if fields.weight and head.weights else []
        items += head.unit_columns if (fields.units or fields.names) else []
        return list(dict.fromkeys([*items, COUNT]))

    def _units(self, own: Columns) -> TrialUnits | None:
        if self.head.units == "named":
            sides = self._sides(own)
            keys, codes = np.unique(np.concatenate(sides), return_inverse=True)
            return TrialUnits(tuple(np.split(codes, len(sides))), keys, self.head.noun, self.head.source)
        if self.head.units not in ("trials", "names"):
            return None
        numbers = np.arange(self.start, self.start + self.n_rows)
        keys = keys_of_trials(self._sides(own)) if self.head.n_sides else mixed_bits(numbers)
        return TrialUnits((np.arange(self.n_rows),), keys, "trial", independent("trial"))

    def _sides(self, own: Columns) -> tuple[Keys, ...]:
        return tuple(own[name] for name in self.head.unit_columns)
