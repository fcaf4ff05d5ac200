"""Summaries of shards in files: Parquet with the different trials of some shards and how often each occurs.

Rows ascend, so that files merge as streams. What columns mean, and which shards were read, is JSON in the metadata.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from deciban._arrow import of_numpy, to_numpy
from deciban._files import PathLike, ScratchFolder, atomic_write, display_name
from deciban.errors import FormatError, InputError
from deciban.messages import counted, names_apart, shortened
from deciban.trials.lists import PAIR
from deciban.types import AnyArray, IntArray

COUNT = "count"
"""The last column: how many trials a row stands for. All others tell rows apart."""

Columns: TypeAlias = Mapping[str, AnyArray]
"""Columns of numbers by name, of equal length, and none of them NaN."""


def count_rows(columns: Columns) -> Columns:
    """Put rows in ascending order, column after column, and add up the counts of equal ones.

    Parameters
    ----------
    columns : mapping of str to (n,) arrays
        With the counts, or without: then every row counts once.

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
    """The order of rows: that of the first column, and of all of them where it is tied."""
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
    """Merge tables, of which a few rows each are in memory at once.

    Parameters
    ----------
    parts : sequence of iterables of columns
        Of each table some rows after the other, as `count_rows` orders them. All have the same columns.

    Yields
    ------
    columns
        Some rows after the other, as `count_rows` orders them.

    Examples
    --------
    >>> one, other = (count_rows({"score": np.array(scores)}) for scores in ([1.0, 2.0, 4.0], [2.0, 3.0]))
    >>> [(rows["score"].tolist(), rows["count"].tolist()) for rows in merged([[one], [other]])]
    [([1.0, 2.0, 3.0], [1, 2, 1]), ([4.0], [1])]
    """
    left = [iter(part) for part in parts]
    heads = [(rows, part) for part in left if (rows := _next(part)) is not None]
    while heads:
        bound = min(_last(rows) for rows, _ in heads)
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
    """The next rows, None if there are no more."""
    return next((rows for rows in part if len(rows[COUNT])), None)


def _last(rows: Columns) -> tuple[float, ...]:
    """What tells the last row from others."""
    return tuple(values[-1] for name, values in rows.items() if name != COUNT)


def _upto(rows: Columns, bound: tuple[float, ...]) -> int:
    """How many rows are not after another one."""
    begin, end = 0, len(rows[COUNT])
    for values, value in zip(rows.values(), bound, strict=False):
        own = values[begin:end]
        begin, end = (begin + int(np.searchsorted(own, value, side=side)) for side in ("left", "right"))
    return end


def _slice(rows: Columns, begin: int, end: int | None) -> Columns:
    return {name: values[begin:end] for name, values in rows.items()}


def in_groups(tables: Iterable[Columns], n_rows: int) -> Iterator[Columns]:
    """Cut a stream of rows into tables of so many each, whatever the lengths in which it comes.

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
"""Rows of a row group, and what they take where there are many columns."""

LABEL, CLASS, WEIGHT, UNIT = "label", "class", "weight", "unit"
_METADATA = b"deciban-summary"
_PARQUET = b"PAR1"
_AT_ONCE = 1 << 23
"""Bytes of the rows of all files that are in memory while these are merged."""

_FEWEST = 1 << 12
"""Rows of each of these, however many there are."""

_MOST_FILES = 64
"""Files that are merged at once: more go through temporary ones."""


@dataclass(frozen=True, slots=True)
class ShardRecord:
    """A shard that was read.

    Attributes
    ----------
    name : str
        Of its file, without folders.
    n_rows : int
    n_trials : tuple of int
        Trials of each class; of two classes non-targets and targets.
    sha256 : str
        Of its content: by this a shard is known.
    reading : tuple of str
        What was said of how it was read.
    """

    name: str
    n_rows: int
    n_trials: tuple[int, ...]
    sha256: str
    reading: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SummaryHead:
    """What a summary says beside its rows.

    Attributes
    ----------
    systems : tuple of str
    classes : tuple of str
        Of many classes; empty of two.
    shards : tuple of ShardRecord
        By their content.
    units : {"none", "trials", "named", "names"}
        What is kept of who is in a trial: nothing; nothing, as every trial is a unit; the units that were named; or
        the names of both sides.
    n_sides : int
        Columns of units: one, or one for each side; also of names.
    noun, source : str
        Of units that were named, see `deciban.core.resampling.units.TrialUnits`.
    weights : str
        What the column of weights was called; empty if every trial counts once.
    log10 : bool
        Whether scores were common logarithms; here they are natural ones.
    """

    systems: tuple[str, ...]
    classes: tuple[str, ...]
    shards: tuple[ShardRecord, ...]
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
        """The column that says the truth."""
        return CLASS if self.classes else LABEL

    @property
    def unit_columns(self) -> list[str]:
        """The columns of numbers that stand for units, or for the names of both sides."""
        return [f"{UNIT} {side}" for side in PAIR] if self.n_sides == len(PAIR) else [UNIT] * self.n_sides

    @property
    def rows_of_group(self) -> int:
        """Rows of a row group: what is kept alone decides, so that the same rows are the same bytes."""
        return min(1 << (_BYTES // self.bytes_per_row).bit_length() - 1, _MOST_ROWS)

    @property
    def bytes_per_row(self) -> int:
        """What a row takes in memory, at most."""
        return 8 * (len(self.systems) * (len(self.classes) or 1) + self.n_sides + bool(self.weights) + 2)

    @property
    def n_trials(self) -> int:
        """Trials of all shards."""
        return sum(sum(one.n_trials) for one in self.shards)

    @property
    def n_rows(self) -> int:
        """Rows of all shards."""
        return sum(one.n_rows for one in self.shards)

    @property
    def of_classes(self) -> list[int]:
        """Trials of each class."""
        return [sum(each) for each in zip(*(one.n_trials for one in self.shards), strict=True)]

    def differences(self, other: SummaryHead) -> list[str]:
        """In words what the rows of another summary mean otherwise, so that they do not belong to these."""
        found = list[str]()
        for name in ("classes", "systems", "units", "n_sides", "weights"):
            one, two = getattr(self, name), getattr(other, name)
            if one != two:
                found.append(f"{name.replace('n_sides', 'sides of units')} {_in_words(one)} and {_in_words(two)}")
        return found


def _in_words(value: Any) -> str:
    return (", ".join(value) if isinstance(value, tuple) else str(value)) or "none"


def is_summary_file(path: PathLike) -> bool:
    """Return whether a file is a summary of shards; only its first bytes and its footer are read."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if not Path(path).is_file():  # a pipe can be read only once
        return False
    try:
        with Path(path).open("rb") as stream:
            if stream.read(len(_PARQUET)) != _PARQUET:
                return False
        return _METADATA in (pq.read_metadata(path).metadata or {})
    except (OSError, TypeError, ValueError, pa.ArrowException):
        return False


def refuse_summary(metadata: Mapping[bytes, bytes] | None, name: str) -> None:
    """Refuse a summary where a table of trials is read.

    Parameters
    ----------
    metadata : mapping of bytes to bytes, or None
        Of a Parquet file.
    name : str
        What messages call it.

    Raises
    ------
    FormatError
        If it is one.
    """
    if _METADATA in (metadata or {}):
        raise FormatError(
            f"{name}: is a summary of shards, and no table of trials. It is read with other summaries alone, without a "
            "key, by deciban eval, report, plot, calibrate and fuse; for all else name the shards."
        )


def read_head(path: PathLike) -> SummaryHead:
    """Read what a summary says beside its rows.

    Parameters
    ----------
    path : path

    Raises
    ------
    FormatError, OSError
        If it is no summary, one of another version, or damaged.
    """
    import pyarrow.parquet as pq

    name = display_name(path)
    with Path(path).open("rb") as stream:
        if stream.read(len(_PARQUET)) != _PARQUET:
            raise _no_summary(name)
    try:
        text = (pq.read_metadata(path).metadata or {}).get(_METADATA)
    except Exception as error:  # whatever the library stumbles over
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
        f"{name}: is a summary of version {version}, and this package reads version {VERSION}: summarize its shards "
        "again (deciban summarize)."
    )


def _no_summary(name: str) -> FormatError:
    return FormatError(f"{name}: is no summary of shards. deciban summarize writes some.")


def _damaged(name: str) -> FormatError:
    return FormatError(f"{name}: is incomplete or damaged. Summarize its shards again.")


def _head(about: dict[str, Any]) -> SummaryHead:
    shards = about.pop("shards")
    made = (ShardRecord(**{key: _tuple(value) for key, value in one.items()}) for one in shards)
    return SummaryHead(shards=tuple(made), **{key: _tuple(value) for key, value in about.items()})


def _tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def head_of_all(heads: Sequence[SummaryHead], names: Sequence[str]) -> SummaryHead:
    """What the summaries of different shards say together.

    Parameters
    ----------
    heads : sequence of SummaryHead
    names : sequence of str
        What messages call them.

    Raises
    ------
    InputError
        If there is none, their rows mean different things, or a shard is in two of them.
    """
    if not heads:
        raise InputError("summaries: none given. Name at least one.")
    seen, doubled = dict[str, str](), list[str]()
    for one, name in zip(heads, names, strict=True):
        if differences := heads[0].differences(one):
            raise InputError(
                f"{name}: does not match {names[0]}: {'; '.join(map(shortened, differences))}. Summarize all shards "
                "with the same options."
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
    said: Any = {name: min(getattr(one, name) for one in heads) for name in ("noun", "source", "log10")}
    return replace(heads[0], shards=tuple(shards), **said)


def head_in_words(head: SummaryHead) -> str:
    """Say what a summary is of."""
    return f"summary of {counted(len(head.shards), 'shard')}, {head.n_trials:,} trials"


def write_summary(head: SummaryHead, tables: Iterable[Columns], path: PathLike) -> None:
    """Write a summary, whole or not at all; the same rows and shards always give the same bytes.

    Parameters
    ----------
    head : SummaryHead
    tables : iterable of columns
        All rows in ascending order, some after the other; at least one table, which may be empty.
    path : path
    """
    about = json.dumps({"version": VERSION, **asdict(head)}, ensure_ascii=False, sort_keys=True)
    with atomic_write(path) as stream:
        _write_rows(in_groups(tables, head.rows_of_group), stream, {_METADATA: about.encode()})


def _write_rows(tables: Iterable[Columns], target: Any, metadata: Mapping[bytes, bytes] | None = None) -> None:
    """Write rows with compression that suits ascending numbers."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with ExitStack() as closing:
        file: Any = None
        for rows in tables:
            table = pa.table({name: of_numpy(values) for name, values in rows.items()}).replace_schema_metadata(
                metadata
            )
            if file is None:
                floats = [name for name, values in rows.items() if values.dtype.kind == "f"]
                others = [name for name in rows if name not in floats]
                how: Any = {"use_dictionary": others, "column_encoding": dict.fromkeys(floats, "BYTE_STREAM_SPLIT")}
                how |= {"compression": "zstd", "write_statistics": False, "write_page_checksum": True}
                file = closing.enter_context(pq.ParquetWriter(target, table.schema, **how))
            file.write_table(table, row_group_size=max(len(table), 1))


def write_run(rows: Columns, path: Path) -> None:
    """Write rows in ascending order to a temporary file, which `merged_rows` reads."""
    _write_rows([rows], path)


def merged_rows(paths: Sequence[PathLike], scratch: ScratchFolder) -> Iterator[Columns]:
    """Merge the rows of files, some after the other, whatever their number and their size.

    Parameters
    ----------
    paths : sequence of path
        Of summaries, or of `write_run`.
    scratch : ScratchFolder
        For what is merged on the way, where there are many.

    Raises
    ------
    FormatError, OSError
        If one cannot be read, or is damaged.
    """
    left = list(paths)
    while len(left) > _MOST_FILES:
        together = scratch.path / f"merged-{len(left)}-{Path(left[0]).name}"
        _write_rows(merged_rows(left[:_MOST_FILES], scratch), together)
        left = [*left[_MOST_FILES:], together]
    return merged(_of_one_type([_rows_of(path, _AT_ONCE // len(left)) for path in left]))


def _rows_of(path: PathLike, n_bytes: int) -> Iterator[Columns]:
    """The rows of a file, as many at a time as take so many bytes."""
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path, pre_buffer=False, buffer_size=1 << 18, page_checksum_verification=True) as file:
            n_at_once = max(n_bytes // (8 * file.metadata.num_columns), _FEWEST)
            for batch in file.iter_batches(batch_size=n_at_once, use_threads=False):
                yield dict(zip(batch.schema.names, map(to_numpy, batch.columns), strict=True))
    except OSError as error:  # what the library stumbles over, too
        if isinstance(error, FileNotFoundError):
            raise
        raise _damaged(display_name(path)) from error


def _of_one_type(parts: Sequence[Iterator[Columns]]) -> list[Iterator[Columns]]:
    """The same with scores in float64 where some files have such: what is equal is the same number then."""
    first = [next(part, None) for part in parts]
    known = [rows for rows in first if rows is not None]
    kinds = {name: np.result_type(*(rows[name].dtype for rows in known)) for name in (known[0] if known else ())}

    def typed(rows: Columns | None, part: Iterator[Columns]) -> Iterator[Columns]:
        while rows is not None:
            yield {name: values.astype(kinds[name], copy=False) for name, values in rows.items()}
            rows = next(part, None)

    return [typed(rows, part) for rows, part in zip(first, parts, strict=True)]
