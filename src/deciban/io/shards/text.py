"""Text tables, and whatever else only one reader can read as a whole: written as Parquet, block by block."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from deciban._files import is_open_file, stream_of
from deciban._validate.labels import Vocabulary
from deciban.errors import FormatError
from deciban.io.columns.columnar import table_of
from deciban.io.contents import ContentKind, Contents
from deciban.io.formats import BinaryFormat, Options
from deciban.io.library_errors import only_format_errors
from deciban.io.packing import codec_of, unpack_into
from deciban.io.reader import read_input
from deciban.io.recognition import Opened, Recognized, recognize
from deciban.io.shards.files import is_columnar
from deciban.io.shards.how import HowToRead
from deciban.io.shards.writing import write_batches
from deciban.io.source import Source
from deciban.io.text.reader import Layout, faults, line_of_row, parse_table
from deciban.io.units import of_detection_llrs
from deciban.memory import Cost, rows_that_fit
from deciban.trials import Origin

_BLOCK = 1 << 25
"""Most bytes of text that are parsed at once."""

_LEAST_BLOCK = 1 << 20


def write_table_of(given: Any, target: Path, how: HowToRead, *, of_key: bool) -> str | None:
    """Write what a file holds as Parquet.

    Parameters
    ----------
    given : path or open file
        Standard input and pipes are copied as a stream, compressed files unpacked as one.
    target : path
        A new file.
    how : HowToRead
    of_key : bool

    Returns
    -------
    str or None
        How the file was read, where the metadata name the roles of the columns; None if they are as they were.

    Raises
    ------
    FormatError, OSError
        If it cannot be read; the message names the line.
    """
    named = Source(given)
    with as_file(given, named, target.with_suffix(".copy")) as path:
        source = Source(path)
        source.name = named.name
        if path != given and is_columnar(path):
            path.rename(target)
            return None
        if source.kind == "Arrow" and not source.head.startswith(b"FEA1"):
            _write_stream(source, target, how.memory)
            return None
        columns, chosen = (how.key_columns, how.key_format) if of_key else (how.columns, how.format)
        found = recognize(path, format=chosen, columns=columns, labels=how.labels, of_key=of_key).files[0]
        return _write(replace(found, source=source), target, how, of_key=of_key)


@contextmanager
def as_file(given: Any, source: Source, copy: Path) -> Iterator[Path]:
    """A plain file with the same content; only a part of it is ever in memory."""
    if source.is_plain:
        yield Path(given)
        return
    try:
        with copy.open("wb") as out:
            if source.is_file:
                _unpack(source, out)
            else:
                _pour(given, out)
        again = Source(copy)
        if not again.is_plain:
            again.name = source.name
            with copy.with_suffix(".plain").open("wb") as out:
                _unpack(again, out)
            copy.with_suffix(".plain").replace(copy)
        yield copy
    finally:
        copy.unlink(missing_ok=True)


def _unpack(source: Source, out: IO[bytes]) -> None:
    with Path(source.path).open("rb") as packed:
        codec = codec_of(packed.read(16))
        packed.seek(0)
        assert codec is not None  # noqa: S101  # it is compressed
        unpack_into(out, packed, codec, source.name)


def _pour(given: Any, out: IO[bytes]) -> None:
    """Copy all that is left in a stream."""
    if is_open_file(given):
        while block := given.read(1 << 20):
            out.write(block.encode("utf-8", "surrogateescape") if isinstance(block, str) else block)
    else:
        with stream_of(given) as stream:
            shutil.copyfileobj(stream, out, 1 << 20)


def _write(found: Opened, target: Path, how: HowToRead, *, of_key: bool) -> str:
    need = _need(found, how, of_key=of_key)
    asked = isinstance(found.asked, BinaryFormat) or found.source.is_binary
    size = block_size(how.memory)
    if asked or found.needs_translation or not found.source.is_plain or found.source.size <= size:
        contents = read_input(Recognized(found.source.path, (found,)), need=need, unit=how.unit).contents
        table = table_of(contents)
        write_batches(target, table.schema, [table], memory=how.memory)
        return contents.origin.reading
    layout = found.layout(need)
    options = layout.declared(replace(found.options, need=need or layout.holds, unit=how.unit), found.source.name)
    tables = _tables(found, layout, options, size)
    first = next(tables)
    write_batches(target, first.schema, chain([first], tables), memory=3 * how.memory // 4)  # a block is there, too
    return str(layout)


def block_size(memory: float) -> int:
    """Return how many bytes of text are parsed at once."""
    return rows_that_fit(memory, Cost.TEXT, fewest=_LEAST_BLOCK, most=_BLOCK)


def _write_stream(source: Source, target: Path, memory: int) -> None:
    """Write the batches of an Arrow stream."""
    with only_format_errors(source.name, "Arrow"):
        reader = pa.ipc.open_stream(pa.memory_map(str(source.path)))
        write_batches(target, reader.schema, reader, memory=memory)


def _need(found: Opened, how: HowToRead, *, of_key: bool) -> ContentKind | None:
    """What a file is read as."""
    kinds: tuple[ContentKind, ContentKind] = ("key", "class-key") if of_key else ("scores", "class-scores")
    if how.kind is not None or how.classes is not None:
        return kinds[0] if how.kind == "two-class" else kinds[1]
    held = found.readable_as(kinds)
    return kinds[1] if held == (kinds[1],) else kinds[0]


def _tables(found: Opened, layout: Layout, options: Options, size: int) -> Iterator[pa.Table]:
    """The table of each block."""
    schema: pa.Schema | None = None
    for _, contents in contents_in_blocks(found, layout, options, size):
        table = table_of(contents)
        schema = schema or table.schema
        yield table.cast(schema)


def contents_in_blocks(
    found: Opened, layout: Layout, options: Options, size: int | None = None
) -> Iterator[tuple[int, Contents]]:
    """What each block of lines holds.

    Parameters
    ----------
    found : Opened
        Plain text.
    layout : Layout
    options : Options
    size : int, optional
        Bytes of a block.

    Yields
    ------
    int
        How many lines are before it, beside the header.
    Contents
    """
    source = found.source
    with Path(source.path).open("rb") as stream:
        for first_line, block in _blocks(stream, layout, source.name, size):
            contents = _parsed(block, first_line, layout, source.name, options)
            options = replace(options, vocabulary=_settled(contents, options.vocabulary))
            if layout.format.detection_llr:
                contents = of_detection_llrs(contents)
            yield first_line, contents


def faults_in_blocks(found: Opened, layout: Layout, options: Options) -> Iterator[FormatError]:
    """Find all lines of a plain text file that cannot be read; see `deciban.io.text.reader.faults`."""
    name = found.source.name
    with Path(found.source.path).open("rb") as stream:
        for first_line, block in _blocks(stream, layout, name):
            for one in faults(block, layout, options.vocabulary, name):
                yield _later(one, name, first_line)


def lines_of_rows(found: Opened, layout: Layout, n_rows: Sequence[int], rows: Sequence[int]) -> dict[int, int]:
    """The lines on which some rows of a plain text file stand.

    Parameters
    ----------
    found : Opened
    layout : Layout
    n_rows : sequence of int
        Of every block.
    rows : sequence of int
    """
    lines: dict[int, int] = {}
    first = 0
    with Path(found.source.path).open("rb") as stream:
        for n, (first_line, block) in zip(n_rows, _blocks(stream, layout, found.source.name), strict=False):
            for row in (one for one in rows if first <= one < first + n):
                line = line_of_row(block, layout, row - first, found.source.name)
                if line is not None:
                    lines[row] = line + first_line
            first += n
    return lines


def _settled(contents: Contents, vocabulary: Vocabulary) -> Vocabulary:
    """The vocabulary of the blocks that follow: of two words that mean something only together, one may be missing."""
    words = contents.words
    if not words or all(vocabulary.meaning(word) is not None for word in words):
        return vocabulary
    return Vocabulary({word.casefold(): means for word, means in words.items()}, folded=True)


def _parsed(block: bytes, first_line: int, layout: Layout, name: str, options: Options) -> Contents:
    try:
        return parse_table(block, layout, Origin(name, str(layout)), options.name or "system", options)
    except FormatError as error:  # lines of a block are counted from its beginning
        raise _later(error, name, first_line) from error


def _later(error: FormatError, name: str, n_lines: int) -> FormatError:
    """The same error so many lines later."""
    pattern = rf"^{re.escape(name)}:(\d+)"
    return FormatError(re.sub(pattern, lambda line: f"{name}:{int(line[1]) + n_lines}", str(error), count=1))


def _blocks(stream: IO[bytes], layout: Layout, name: str, size: int | None = None) -> Iterator[tuple[int, bytes]]:
    """Whole lines, the header before each block; and how many lines of the file are before them, beside the header."""
    header, rest, n_lines = b"", b"", 0
    begins = True
    while data := stream.read(size or _BLOCK):
        data = (rest + data).removeprefix(b"\xef\xbb\xbf") if begins else rest + data
        cut = data.rfind(b"\n") + 1
        rest, data = data[cut:], data[:cut]
        if data:
            yield n_lines, _clean(header + data, name, n_lines)
            n_lines += data.count(b"\n")
            if begins and layout.header is not None:
                header = _header(data)
                n_lines -= header.count(b"\n")
            begins = False
    if rest.strip():
        yield n_lines, _clean(header + rest, name, n_lines)


def _header(data: bytes) -> bytes:
    """All up to the first line that is neither blank nor a comment."""
    end = 0
    for line in data.splitlines(keepends=True):
        end += len(line)
        content = line.strip()
        if content and not content.startswith((b"#", b";;")):
            break
    return data[:end]


def _clean(data: bytes, name: str, n_lines: int) -> bytes:
    if b"\x00" in data:
        line = data.count(b"\n", 0, data.index(b"\x00")) + 1 + n_lines
        raise FormatError(f"{name}:{line}: holds NUL bytes, so it is not text. Expected a text table in UTF-8.")
    return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in data else data
