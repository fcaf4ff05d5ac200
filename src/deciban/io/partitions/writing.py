"""Parquet files that are written table by table, and text files that are read in blocks, as such tables."""

from __future__ import annotations

import contextlib
import errno
import math
import os
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import IO, Any, Self, TypeVar, Unpack

import numpy as np
import pyarrow as pa

from deciban._arrow import of_numpy
from deciban._files import ScratchFolder
from deciban._validate.arrays import Vocabulary
from deciban.errors import FormatError, display_name, is_open_file, teller
from deciban.io.columns.columnar import TableRules, plain_type, table_of
from deciban.io.columns.values import Rows, RowTable, require_alike
from deciban.io.formats import BinaryFormat, ContentKind, Contents, InputOptions, bare_name, only_format_errors
from deciban.io.partitions.files import TableFile, is_columnar, open_files, table_files
from deciban.io.partitions.meaning import BatchReading
from deciban.io.reader import lines_again, name_of_both, read_input
from deciban.io.recognition import InputReading, OpenedFile, Recognized, is_stream, recognize
from deciban.io.source import Source, TwoFiles, as_file
from deciban.io.text import reader
from deciban.io.text.reader import TextBlocks, parse_blocks
from deciban.io.units import of_detection_llrs
from deciban.memory import Cost, bytes_of_row, give_back_at_once, n_processors, rows_that_fit
from deciban.trials import Origin
from deciban.trials.frames import is_text_or_bytes
from deciban.types import Foreign, PathLike, ScoreUnit

A = TypeVar("A")

B = TypeVar("B")


class TableWriter:
    """Writer of tables with the same schema, one after the other.

    Parameters
    ----------
    target : path or binary stream
    name : str
        Name of the final file for messages.
    delimiter : str, optional
        Delimiter of text with a header; by default Parquet is written.
    """

    def __init__(self, target: str | os.PathLike[str] | IO[bytes], name: str, *, delimiter: str = "") -> None:
        self._target, self.name, self._delimiter = target, name, delimiter
        self._writer: Foreign = None
        self.schema: pa.Schema | None = None

    def write(self, table: pa.Table, partition: str) -> None:
        """Write a table as a row group.

        Parameters
        ----------
        table : pyarrow.Table
        partition : str
            Name of its source for messages.

        Raises
        ------
        FormatError
            If it has other columns than the first one.
        OSError
            If the disk is full; the message contains the file and ``partition``.
        """
        with _saying(self.name, partition):
            if self.schema is None:
                self._writer, self.schema = self._opened(table.schema), table.schema
            if table.schema.names != self.schema.names:
                raise FormatError(
                    f"{partition}: has the columns {', '.join(table.schema.names)}, but earlier parts have "
                    f"{', '.join(self.schema.names)}. All parts of a table must have the same columns."
                )
            how = {} if self._delimiter else {"row_group_size": max(len(table), 1)}
            self._writer.write_table(table.cast(self.schema), **how)

    def _opened(self, schema: pa.Schema) -> Foreign:
        if self._delimiter:
            from pyarrow import csv

            options = csv.WriteOptions(delimiter=self._delimiter, quoting_style="needed")
            return csv.CSVWriter(self._target, schema, write_options=options)
        import pyarrow.parquet as pq

        names = [one.name for one in schema if pa.types.is_dictionary(one.type)]
        return pq.ParquetWriter(self._target, schema, compression="zstd", use_dictionary=names or False)

    def close(self) -> None:
        """Write the end of the file.

        Raises
        ------
        OSError
            If the disk is full.
        """
        if self._writer is not None:
            with _saying(self.name, "the end"):
                self._writer.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self.close()
        elif self._writer is not None:
            with contextlib.suppress(Exception):  # the file is removed anyway
                self._writer.close()


_NUMBER = re.compile(r"\[[Ee]rrno (\d+)\]")


@contextmanager
def _saying(name: str, partition: str) -> Iterator[None]:
    """Add the name of the file and the current part to errors such as a full disk."""
    try:
        yield
    except OSError as error:
        result = _NUMBER.search(str(error))
        number = error.errno or (int(result[1]) if result else errno.EIO)
        words = f"{os.strerror(number)} (when {partition} was written)"
        raise OSError(number, words, name) from error


def in_order(make: Callable[[A], B], values: Iterable[A], n_rows: int, memory: int) -> Iterator[tuple[A, B]]:
    """Yield the results of a function in order, computed in threads that are not far ahead.

    Parameters
    ----------
    make : function
    values : iterable
        Batches of rows.
    n_rows : int
        Number of rows of the largest batch.
    memory : int
        Bytes for all batches at once.

    Yields
    ------
    tuple
        The argument and the result.

    Examples
    --------
    >>> list(in_order(abs, [-1, 2, -3], 1, 10**6))
    [(-1, 1), (2, 2), (-3, 3)]
    """
    waiting: deque[tuple[A, Future[B]]] = deque()
    n_threads = rows_that_fit(memory, Cost.WRITTEN * n_rows, most=n_processors())
    give_back_at_once(memory)
    pool = ThreadPoolExecutor(n_threads)
    try:
        for one in values:
            waiting.append((one, pool.submit(make, one)))
            if len(waiting) > n_threads:
                first, future = waiting.popleft()
                yield first, future.result()
        for first, future in waiting:
            yield first, future.result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


ROWS = 1 << 20
"""Largest number of rows of a row group that is written."""


_FEWEST_NUMBERS = 1 << 12


def write_batches(path: Path, schema: pa.Schema, batches: Iterable[Foreign], *, memory: int | None = None) -> None:
    """Write batches or tables with the same schema to a Parquet file, in row groups that fit in memory.

    Parameters
    ----------
    path : path
    schema : pyarrow.Schema
    batches : iterable of pyarrow.RecordBatch or pyarrow.Table
    memory : int, optional
        Bytes of one row group when it is read.
    """
    import pyarrow.parquet as pq

    waiting: list[pa.Table] = []
    n_waiting, most = 0, rows_of_group(schema, memory)
    text = [field.name for field in schema if is_text_or_bytes(plain_type(field))]
    with pq.ParquetWriter(path, schema, compression="zstd", compression_level=1, use_dictionary=text) as file:
        for batch in batches:
            table = pa.Table.from_batches([batch], schema) if isinstance(batch, pa.RecordBatch) else batch.cast(schema)
            waiting.append(table)
            n_waiting += len(table)
            if n_waiting >= most:
                file.write_table(pa.concat_tables(waiting).unify_dictionaries(), row_group_size=most)
                waiting, n_waiting = [], 0
        if waiting:
            file.write_table(pa.concat_tables(waiting).unify_dictionaries(), row_group_size=most)


def rows_of_group(schema: pa.Schema, memory: int | None) -> int:
    """Return the number of rows of a row group that fits in memory.

    >>> rows_of_group(pa.schema({"score": pa.float64()}), 25_000_000)
    100000
    """
    if memory is None:
        return ROWS
    n_numbers: int = sum(pa.types.is_floating(field.type) or pa.types.is_integer(field.type) for field in schema)
    of_row = max(Cost.JOINED, bytes_of_row(n_numbers, 8, weighted=n_numbers > 1))
    return rows_that_fit(memory, of_row, fewest=max(_FEWEST_NUMBERS // max(n_numbers, 1), 1), most=ROWS)


def cut_anew(path: Path, target: Path) -> None:
    """Write a Parquet file again with smaller row groups, reading it as a stream.

    Raises
    ------
    FormatError
        If it is damaged.
    """
    import pyarrow.parquet as pq

    with only_format_errors(display_name(path), "Parquet"):
        file = pq.ParquetFile(path, buffer_size=1 << 20, pre_buffer=False, page_checksum_verification=True)
        write_batches(target, file.schema_arrow, file.iter_batches(batch_size=1 << 17, use_threads=False))


TARGET = "\0target"
"""Column that is True for rows of the table of targets."""


@dataclass(frozen=True, slots=True)
class SideRows(Rows):
    """Rows of the table of targets or of the table of non-targets.

    Attributes
    ----------
    name : str
    n_rows : int
    rows : Rows
    is_target : bool
    column : str
        An existing column, to count rows.
    """

    name: str
    n_rows: int
    rows: Rows
    is_target: bool
    column: str

    def table(self, columns: Sequence[str]) -> pa.Table:
        """See `Rows.table`."""
        table = self.rows.table([name for name in columns if name != TARGET] or [self.column])
        if TARGET in columns:
            table = table.append_column(TARGET, of_numpy(np.full(len(table), self.is_target)))
        return table.select(list(columns))

    def where(self, row: int | None, columns: Sequence[str] = ()) -> str:
        """See `Rows.where`."""
        return self.rows.where(row, [name for name in columns if name != TARGET])


def of_both(tar: RowTable, non: RowTable, files: TwoFiles) -> RowTable:
    """Concatenate the scores of targets and of non-targets, targets first.

    Parameters
    ----------
    tar, non : RowTable
    files : TwoFiles
        The argument of the user.

    Raises
    ------
    FormatError
        If their columns differ.
    """
    require_alike(non.schema, tar.schema, non.name, tar.name)
    sides = [(one, side) for side in (tar, non) for one in side.rows]
    rows = tuple(SideRows(one.name, one.n_rows, one, side is tar, tar.schema.names[0]) for one, side in sides)
    return replace(
        tar,
        name=str(files),
        schema=tar.schema.append(pa.field(TARGET, pa.bool_())),
        rows=rows,
        reading=" and ".join(dict.fromkeys((tar.reading, non.reading))),
        system=name_of_both(files),
        is_double=tar.is_double | non.is_double,
        paths=(files,),
        kept=(tar.kept, non.kept),
        is_described=tar.is_described and non.is_described,
        target=TARGET,
    )


def n_of_both(table: RowTable) -> tuple[int, int]:
    """Return the numbers of rows of targets and of non-targets."""
    n_tar = sum(one.n_rows for one in table.rows if isinstance(one, SideRows) and one.is_target)
    return n_tar, table.n_rows - n_tar


_LEAST_BLOCK = 1 << 20


def write_table_of(value: Any, target: Path, how: BatchReading, *, of_key: bool) -> Origin | None:
    """Write the contents of a file as Parquet.

    Parameters
    ----------
    value : path or open file
        Standard input and pipes are copied as a stream; compressed files are decompressed as a stream.
    target : path
        A new file.
    how : BatchReading
    of_key : bool

    Returns
    -------
    Origin or None
        The origin of the file, if the metadata contain the roles of the columns; None if columns are unchanged.

    Raises
    ------
    FormatError, OSError
        If it cannot be read; the message contains the line.
    """
    named = Source(value)
    with as_file(value, named, target.with_suffix(".copy")) as path:
        source = Source(path)
        source.name = named.name
        if path != value and is_columnar(path):
            path.rename(target)
            return None
        if source.kind == "Arrow" and not source.head.startswith(b"FEA1"):
            with only_format_errors(source.name, "Arrow"):
                stream = pa.ipc.open_stream(pa.memory_map(str(source.path)))
                write_batches(target, stream.schema, stream, memory=how.memory)
            return None
        columns, chosen = (how.key_columns, how.key_format) if of_key else (how.columns, how.format)
        result = recognize(path, format=chosen, columns=columns, labels=how.labels, of_key=of_key).files[0]
        origin = _write(replace(result, source=source), target, how, of_key=of_key)
        if not result.is_text or result.foreign or is_open_file(value) or is_stream(value):
            return origin
        layout = result.layout(_need(result, how, of_key=of_key))
        return replace(origin, lines=partial(lines_again, value, layout, block_size(how.memory), None))


def _write(file: OpenedFile, target: Path, how: BatchReading, *, of_key: bool) -> Origin:
    need = _need(file, how, of_key=of_key)
    is_binary = isinstance(file.named_format, BinaryFormat) or file.source.is_binary
    size = block_size(how.memory)
    if is_binary or file.foreign or not file.source.is_plain or file.source.size <= size:
        contents = read_input(Recognized(file.source.path, (file,)), need=need, unit=how.unit).contents
        table = table_of(contents)
        write_batches(target, table.schema, [table], memory=how.memory)
        return replace(contents.origin, lines=None)
    tables = _tables(file, replace(file.options, need=need, unit=how.unit), how.memory)
    first = next(tables)
    write_batches(target, first.schema, chain([first], tables), memory=3 * how.memory // 4)  # the rest is for a block
    return Origin(file.source.name, str(file.layout(need)))


def block_size(memory: float) -> int:
    """Return the number of bytes of text that are parsed at once."""
    return rows_that_fit(memory, Cost.TEXT, fewest=_LEAST_BLOCK, most=reader.BLOCK)


def _need(file: OpenedFile, how: BatchReading, *, of_key: bool) -> ContentKind | None:
    """Return the kind of table as which a file is read."""
    kinds: tuple[ContentKind, ContentKind] = ("key", "class-key") if of_key else ("scores", "class-scores")
    if how.kind is not None or how.classes is not None:
        return kinds[0] if how.kind == "two-class" else kinds[1]
    held = file.readable_as(kinds)
    return kinds[1] if held == (kinds[1],) else kinds[0]


def _tables(file: OpenedFile, options: InputOptions, memory: int) -> Iterator[pa.Table]:
    """Yield the table of each block."""
    schema: pa.Schema | None = None
    for _, contents in contents_in_blocks(file, options, memory):
        table = table_of(contents)
        schema = schema or table.schema
        yield table.cast(schema)


def contents_in_blocks(
    result: OpenedFile, options: InputOptions, memory: float = math.inf, value: PathLike | None = None
) -> Iterator[tuple[int, Contents]]:
    """Yield the contents of each block of lines.

    Parameters
    ----------
    result : OpenedFile
        Plain text.
    options : InputOptions
    memory : float
        Bytes of a block when it is parsed.
    value : path, optional
        The file, perhaps compressed, for looking up lines of rows later.

    Yields
    ------
    int
        Number of lines before the block, without the header.
    Contents
    """
    layout, name, system = result.layout(options.need), result.source.name, options.name or "system"
    size = block_size(memory)
    options = layout.declared(replace(options, need=options.need or layout.holds), name)
    for at, (first, text) in enumerate(TextBlocks(name, layout, Path(result.source.path), size=size)):
        lines = None if value is None else partial(lines_again, value, layout, size, at)
        origin = Origin(name, str(layout), lines)
        contents = parse_blocks(TextBlocks(name, layout, text=text, first=first), origin, system, options)
        options = replace(options, vocabulary=_settled(contents, options.vocabulary))
        yield first, of_detection_llrs(contents) if layout.format.detection_llr else contents


def _settled(contents: Contents, vocabulary: Vocabulary) -> Vocabulary:
    """Return the vocabulary for the next blocks, in which one of two words that need each other may be missing."""
    words = contents.words
    if not words or all(vocabulary.meaning(word) is not None for word in words):
        return vocabulary
    return Vocabulary({word.casefold(): means for word, means in words.items()}, folded=True)


def are_readable_in_batches(path: PathLike, need: ContentKind | None, reading: InputReading) -> bool:
    """Return True if `contents_in_batches` can read a file, or all files of a folder."""
    return str(path) != "-" and all(_is_readable_in_batches(one.path, need, reading) for one in table_files(path))


def _is_readable_in_batches(path: Path, need: ContentKind | None, reading: InputReading) -> bool:
    """Return True if batches of the file can be read without knowing the rest of it."""
    if is_columnar(path):
        return True
    opened = recognize(path, **reading).files[0]
    if isinstance(opened.named_format, BinaryFormat) or opened.source.is_binary:
        return False
    return "class" not in opened.layout(need).roles


def contents_in_batches(
    source: PathLike,
    need: ContentKind | None,
    memory: float,
    *,
    unit: ScoreUnit | None,
    **arguments: Unpack[InputReading],
) -> Iterator[tuple[str, Contents]]:
    """Yield the contents of files in batches.

    Parameters
    ----------
    source : path
        Files for which `are_readable_in_batches` is True.
    need : str, optional
        The kind of table that they must contain.
    memory : float
        Bytes of a batch of a text file.
    unit : {"nats", "log10", "lr"} or None
        The declared unit of the scores.
    **given
        ``format``, ``columns`` and ``labels``, as in `deciban.io.read_scores`.

    Yields
    ------
    str
        Name of the batch for messages.
    Contents

    Raises
    ------
    FormatError, OSError
        If something cannot be read; the message contains the place.
    """
    files = table_files(source)
    name = bare_name(display_name(source))
    if all(is_columnar(file.path) for file in files):
        options = recognize(files[0].path, **arguments).files[0].options
        options = replace(options, need=need, name=name, unit=unit)
        table = open_files(source, files, options)
        reader = TableRules.of(table, options, of_folders=True).settled()
        tell, done = teller(table.n_rows, "rows"), 0
        for rows in table.rows:
            yield rows.name, reader.contents([rows], rows.name)
            done += rows.n_rows
            tell(done)
        return
    opened = plain_text_files(files, **arguments)
    for file, result in zip(files, opened, strict=False):
        request = replace(result.options, need=need, name=name, unit=unit)
        for line, contents in contents_in_blocks(result, request, memory, file.path):
            yield f"{result.source.name}, lines after {line:,}", contents


def plain_text_files(files: Sequence[TableFile], **arguments: Unpack[InputReading]) -> Iterator[OpenedFile]:
    """Yield text files, decompressed while they are used."""
    folder = ScratchFolder()
    try:
        for at, file in enumerate(files):
            named = Source(file.path)
            with as_file(file.path, named, folder.path / f"{at}.copy") as path:
                plain = Source(path)
                plain.name = named.name
                yield replace(recognize(path, **arguments).files[0], source=plain)
    finally:
        folder.remove()
