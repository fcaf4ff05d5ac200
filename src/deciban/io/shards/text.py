"""Text files read block by block, into tables of trials or into temporary Parquet files."""

from __future__ import annotations

import math
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from deciban._files import PathLike, ScratchFolder, display_name, is_open_file, stream_of
from deciban._validate.arrays import Vocabulary
from deciban.errors import FormatError
from deciban.io.columns.columnar import ReadAs, table_of
from deciban.io.contents import ContentKind, Contents, only_format_errors
from deciban.io.formats import BinaryFormat, Options, bare_name
from deciban.io.reader import read_input
from deciban.io.recognition import OpenedFile, Recognized, is_stream, recognize
from deciban.io.shards.files import TableFile, is_columnar, open_files, table_files
from deciban.io.shards.meaning import HowToRead
from deciban.io.shards.writing import write_batches
from deciban.io.source import Source, codec_of, unpack_into
from deciban.io.text import reader
from deciban.io.text.reader import Layout, TextBlocks, lines_of_rows, parse_blocks
from deciban.io.units import of_detection_llrs
from deciban.memory import Cost, rows_that_fit
from deciban.steps import teller
from deciban.trials import Origin
from deciban.types import ScoreUnit

_LEAST_BLOCK = 1 << 20


def write_table_of(given: Any, target: Path, how: HowToRead, *, of_key: bool) -> Origin | None:
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
    Origin or None
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
            with only_format_errors(source.name, "Arrow"):
                stream = pa.ipc.open_stream(pa.memory_map(str(source.path)))
                write_batches(target, stream.schema, stream, memory=how.memory)
            return None
        columns, chosen = (how.key_columns, how.key_format) if of_key else (how.columns, how.format)
        found = recognize(path, format=chosen, columns=columns, labels=how.labels, of_key=of_key).files[0]
        origin = _write(replace(found, source=source), target, how, of_key=of_key)
        if not found.is_text or found.needs_translation or is_open_file(given) or is_stream(given):
            return origin
        layout = found.layout(_need(found, how, of_key=of_key))
        return replace(origin, lines=partial(_lines_of_rows, given, layout, block_size(how.memory), None))


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


def _write(found: OpenedFile, target: Path, how: HowToRead, *, of_key: bool) -> Origin:
    need = _need(found, how, of_key=of_key)
    asked = isinstance(found.asked, BinaryFormat) or found.source.is_binary
    size = block_size(how.memory)
    if asked or found.needs_translation or not found.source.is_plain or found.source.size <= size:
        contents = read_input(Recognized(found.source.path, (found,)), need=need, unit=how.unit).contents
        table = table_of(contents)
        write_batches(target, table.schema, [table], memory=how.memory)
        return replace(contents.origin, lines=None)
    tables = _tables(found, replace(found.options, need=need, unit=how.unit), how.memory)
    first = next(tables)
    write_batches(target, first.schema, chain([first], tables), memory=3 * how.memory // 4)  # a block is there, too
    return Origin(found.source.name, str(found.layout(need)))


def block_size(memory: float) -> int:
    """Return how many bytes of text are parsed at once."""
    return rows_that_fit(memory, Cost.TEXT, fewest=_LEAST_BLOCK, most=reader.BLOCK)


def _need(found: OpenedFile, how: HowToRead, *, of_key: bool) -> ContentKind | None:
    """What a file is read as."""
    kinds: tuple[ContentKind, ContentKind] = ("key", "class-key") if of_key else ("scores", "class-scores")
    if how.kind is not None or how.classes is not None:
        return kinds[0] if how.kind == "two-class" else kinds[1]
    held = found.readable_as(kinds)
    return kinds[1] if held == (kinds[1],) else kinds[0]


def _tables(found: OpenedFile, options: Options, memory: int) -> Iterator[pa.Table]:
    """The table of each block."""
    schema: pa.Schema | None = None
    for _, contents in contents_in_blocks(found, options, memory):
        table = table_of(contents)
        schema = schema or table.schema
        yield table.cast(schema)


def contents_in_blocks(
    found: OpenedFile, options: Options, memory: float = math.inf, given: PathLike | None = None
) -> Iterator[tuple[int, Contents]]:
    """What each block of lines holds.

    Parameters
    ----------
    found : OpenedFile
        Plain text.
    options : Options
    memory : float
        Bytes that a block may take when it is parsed.
    given : path, optional
        The file, which may be packed, where lines of rows are looked up afterwards.

    Yields
    ------
    int
        How many lines are before it, beside the header.
    Contents
    """
    layout, name, system = found.layout(options.need), found.source.name, options.name or "system"
    size = block_size(memory)
    options = layout.declared(replace(options, need=options.need or layout.holds), name)
    for at, (first, text) in enumerate(TextBlocks(name, layout, Path(found.source.path), size=size)):
        lines = None if given is None else partial(_lines_of_rows, given, layout, size, at)
        origin = Origin(name, str(layout), lines)
        contents = parse_blocks(TextBlocks(name, layout, text=text, first=first), origin, system, options)
        options = replace(options, vocabulary=_settled(contents, options.vocabulary))
        yield first, of_detection_llrs(contents) if layout.format.detection_llr else contents


def _lines_of_rows(given: PathLike, layout: Layout, size: int, at: int | None, rows: Sequence[int]) -> list[int | None]:
    """Find the lines of rows of a file, or of one of its blocks, by reading the file once more."""
    folder = ScratchFolder()
    try:
        with as_file(given, Source(given), folder.path / "copy") as path:
            return lines_of_rows(TextBlocks(display_name(given), layout, path, size=size, only=at), rows)
    except (OSError, FormatError):
        return [None] * len(rows)
    finally:
        folder.remove()


def _settled(contents: Contents, vocabulary: Vocabulary) -> Vocabulary:
    """The vocabulary of the blocks that follow: of two words that mean something only together, one may be missing."""
    words = contents.words
    if not words or all(vocabulary.meaning(word) is not None for word in words):
        return vocabulary
    return Vocabulary({word.casefold(): means for word, means in words.items()}, folded=True)


def is_readable_in_batches(path: Path, need: ContentKind | None, given: Mapping[str, Any]) -> bool:
    """Whether a file is one of rows that stand one behind the other, and of which all are needed to know none."""
    if is_columnar(path):
        return True
    asked = {name: given[name] for name in ("format", "columns", "labels")}
    opened = recognize(path, **asked).files[0]
    if isinstance(opened.asked, BinaryFormat) or opened.source.is_binary:
        return False
    return "class" not in opened.layout(need).roles


def contents_in_batches(
    source: PathLike, need: ContentKind | None, memory: float, *, unit: ScoreUnit | None = None, **given: Any
) -> Iterator[tuple[str, Contents]]:
    """What a file holds, piece by piece.

    Parameters
    ----------
    source : path
        Files for which `is_readable_in_batches` says so.
    need : str, optional
        What they must hold.
    memory : float
        Bytes that a batch of a text file may take.
    unit : {"nats", "log10", "lr"}, optional
        The declared unit of the scores.
    **given
        ``format``, ``columns`` and ``labels``, as of `deciban.io.read_scores`.

    Yields
    ------
    str
        What messages call the piece.
    Contents

    Raises
    ------
    FormatError, OSError
        If something cannot be read; the message names the place.
    """
    files = table_files(source)
    name = bare_name(display_name(source))
    if all(is_columnar(file.path) for file in files):
        options = recognize(files[0].path, **given).files[0].options
        options = replace(options, need=need, name=name, unit=unit)
        table = open_files(source, files, options)
        reader = ReadAs.of(table, options, of_folders=True).settled()
        tell, done = teller(table.n_rows, "rows"), 0
        for rows in table.rows:
            yield rows.name, reader.contents([rows], rows.name)
            done += rows.n_rows
            tell(done)
        return
    opened = plain_text_files(files, **given)
    for file, found in zip(files, opened, strict=False):
        asked = replace(found.options, need=need, name=name, unit=unit)
        for line, contents in contents_in_blocks(found, asked, memory, file.path):
            yield f"{found.source.name}, lines after {line:,}", contents


def plain_text_files(files: Sequence[TableFile], **given: Any) -> Iterator[OpenedFile]:
    """Text files one after the other, unpacked as long as each is looked at."""
    folder = ScratchFolder()
    try:
        for at, file in enumerate(files):
            named = Source(file.path)
            with as_file(file.path, named, folder.path / f"{at}.copy") as path:
                plain = Source(path)
                plain.name = named.name
                yield replace(recognize(path, **given).files[0], source=plain)
    finally:
        folder.remove()
