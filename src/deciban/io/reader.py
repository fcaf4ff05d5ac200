"""Reading of any input: find its format, read it, and see that it holds what is asked for."""

from __future__ import annotations

import glob
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from deciban.errors import FormatError, InputError
from deciban.io.columns.headers import Columns
from deciban.io.contents import Contents, Kind
from deciban.io.format import BinaryFormat, Format, Options, TextFormat
from deciban.io.formats import bare_name, binary_formats, by_name
from deciban.io.multi_file import joined
from deciban.io.source import PathLike, Source, display_name, numbered_lines, read_text
from deciban.io.text.fast_reader import parse_plain
from deciban.io.text.labels import Vocabulary
from deciban.io.text.layout import Layout, find_layout
from deciban.io.text.reader import faults, line_of_row, parse_table
from deciban.trials import Origin

_SAMPLED_LINES = 1000
_START = 1 << 20
"""Lines, and bytes of a big file, that the format is found from."""

_BIG = 1 << 25
"""Bytes above which a plain file is not read into memory as a whole."""

_NO_TEXT_FOR_QUALITY = (
    "It is read from HDF5 and MATLAB files; text files hold the quality of one side (segment-quality)."
)

_TEXT_FORMAT_OF: dict[Kind | None, str] = {"segment-quality": "bosaris-quality", "id-map": "bosaris-idmap"}
"""Text files that are no lists of trials are never guessed, but taken for these when such a thing is asked for."""


def read_contents(
    path: PathLike,
    *,
    need: Kind | None = None,
    format: str | None = None,  # noqa: A002  # the word users know
    columns: Columns | None = None,
    labels: Mapping[str, str] | None = None,
    name: str | None = None,
    log10: bool = False,
) -> Contents:
    """Read everything that an input holds.

    Parameters
    ----------
    path : path
        A file, compressed or not; ``-`` for standard input; a folder of Parquet files; or a pattern with ``*`` whose
        files, in the order of their names, are read as one.
    need : str, optional
        What the input must hold: ``scores``, ``key``, ``index``, ``class-scores``, ``class-key``, ``quality``,
        ``segment-quality`` or ``id-map``. What else is there is read, too.
    format, columns, labels, name, log10 : optional
        See `deciban.read_scores`.

    Returns
    -------
    Contents

    Raises
    ------
    FormatError, InputError, OSError
        As in `deciban.read_scores`.
    """
    return read_input(path, need=need, format=format, columns=columns, labels=labels, name=name, log10=log10).contents


@dataclass(frozen=True, slots=True, eq=False)
class Input:
    """What was read, and how: for those who write it again.

    Attributes
    ----------
    contents : Contents
    format : Format
        Of several files, that of the first.
    source : Source or None
        The bytes; None if they are those of several files.
    layout : Layout or None
        How the lines are read, if this is text; of several files, those of the first.
    """

    contents: Contents
    format: Format
    source: Source | None = None
    layout: Layout | None = None


def read_input(
    path: PathLike,
    *,
    need: Kind | None = None,
    format: str | None = None,  # noqa: A002  # the word users know
    columns: Columns | None = None,
    labels: Mapping[str, str] | None = None,
    name: str | None = None,
    log10: bool = False,
) -> Input:
    """Read everything that an input holds, and tell how it was read.

    Parameters, errors
        As in `read_contents`.

    Returns
    -------
    Input
    """
    options = Options(need=need, columns=columns, vocabulary=Vocabulary.of(labels), name=name, log10=log10)
    chosen = None if format is None else by_name(format)
    parts = [_read_one(one, chosen, options) for one in files_of(path)]
    found = parts[0]
    if len(parts) > 1:
        together = joined([part.contents for part in parts], display_name(path), _system_name(path, name))
        found = Input(together, found.format, None, found.layout)
    contents = found.contents
    if need is not None and need not in contents.kinds:
        raise FormatError(
            f"{contents.origin.name}: holds {' and '.join(contents.kinds) or 'nothing known'}, but {need} were asked "
            f"for. It was read as {contents.origin.reading}; --format or --columns can say otherwise."
        )
    return found


def files_of(path: PathLike) -> list[PathLike]:
    """The files that a pattern stands for, or the path itself if it is none.

    Raises
    ------
    InputError
        If no file matches the pattern.
    """
    text = str(path)
    if text == "-" or not set(text) & set("*?[") or Path(path).exists():
        return [path]
    found: list[PathLike] = [*sorted(glob.glob(text, recursive=True))]  # noqa: PTH207  # a whole path, absolute or not
    if not found:
        raise InputError(f"{display_name(path)}: no file matches this pattern.")
    return found


def _read_one(path: PathLike, chosen: Format | None, options: Options) -> Input:
    source = Source(path)
    if chosen is None and options.need in _TEXT_FORMAT_OF and not source.is_binary:
        chosen = by_name(_TEXT_FORMAT_OF[options.need])
    if chosen is None and source.is_binary:
        chosen = _recognized(source)  # or None, and the reader of text says what is wrong
    if isinstance(chosen, BinaryFormat):
        return Input(chosen.read(source, replace(options, name=_system_name(path, options.name))), chosen, source)
    return _read_lines(source, chosen, options)


def _recognized(source: Source) -> BinaryFormat | None:
    """The one format that a binary input is in; None if its kind of file is of no use at all."""
    fitting = [one for one in binary_formats().values() if one.recognizes(source)]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        names = " or ".join(one.name for one in fitting)
        raise FormatError(f"{source.name}: could be {names}. Say which: --format {fitting[0].name}.")
    if source.kind not in ("HDF5", "MATLAB"):
        return None
    raise FormatError(
        f"{source.name}: {source.kind}, but not laid out like any that is known. See the documentation of file "
        "formats for the names that its datasets should have."
    )


def _read_lines(source: Source, chosen: TextFormat | None, options: Options) -> Input:
    system = _system_name(source.path, options.name)
    if source.is_plain and source.size > _BIG:
        found = _read_plain(source, chosen, system, options)
        if found is not None:
            return found
    data, layout = _text_layout(source, chosen, options)
    options = replace(options, log10=options.log10 or layout.format.log10, need=options.need or layout.holds)
    contents = parse_table(data, layout, _origin(source, layout), system, options)
    return Input(contents, layout.format, source, layout)


def _read_plain(source: Source, chosen: TextFormat | None, system: str, options: Options) -> Input | None:
    """Read a big file without holding its text; None if it needs more care."""
    with Path(source.path).open("rb") as file:
        start = file.read(_START)
    lines = start[: start.rfind(b"\n") + 1].splitlines()[:_SAMPLED_LINES]
    try:
        sample = [line.decode("utf-8") for line in lines]
        if not sample or not all(map(str.strip, sample)) or start.startswith((b"\xef\xbb\xbf", b"#", b";;")):
            return None
        layout = find_layout(sample, source.name, options, chosen)
    except (FormatError, InputError, UnicodeDecodeError):
        return None
    options = replace(options, log10=options.log10 or layout.format.log10, need=options.need or layout.holds)
    contents = parse_plain(Path(source.path), layout, _origin(source, layout), system, options)
    return None if contents is None else Input(contents, layout.format, source, layout)


def _text_layout(source: Source, chosen: TextFormat | None, options: Options) -> tuple[bytes, Layout]:
    data = read_text(source)
    if options.need == "quality":
        raise FormatError(
            f"{source.name}: a text table, but quality of both sides was asked for. {_NO_TEXT_FOR_QUALITY}"
        )
    sample = [line for _, line in islice(numbered_lines(data, source.name), _SAMPLED_LINES)]
    if not sample:
        raise FormatError(f"{source.name}: the file is empty. Expected one trial per line.")
    return data, find_layout(sample, source.name, options, chosen)


def text_faults(
    path: PathLike,
    *,
    format: str | None = None,  # noqa: A002  # the word users know
    columns: Columns | None = None,
    labels: Mapping[str, str] | None = None,
) -> Iterator[FormatError]:
    """Find all lines of a score file that cannot be read; nothing if it is no text table.

    Parameters
    ----------
    path, format, columns, labels
        See `deciban.read_scores`.

    Yields
    ------
    FormatError
    """
    options = Options(need="scores", columns=columns, vocabulary=Vocabulary.of(labels))
    chosen = None if format is None else by_name(format)
    for source in map(Source, files_of(path)):
        if isinstance(chosen, BinaryFormat) or source.is_binary:
            continue
        try:
            data, layout = _text_layout(source, chosen, options)
        except FormatError:
            continue
        yield from faults(data, layout, options.vocabulary, source.name)


@dataclass(frozen=True, slots=True)
class _LineOf:
    """Finds the line of a row by reading the file again: only for messages, cheaper than to keep all line numbers."""

    path: PathLike
    layout: Layout

    def __call__(self, row: int) -> int | None:
        try:
            return line_of_row(read_text(self.path), self.layout, row, display_name(self.path))
        except (OSError, FormatError):
            return None


def _origin(source: Source, layout: Layout) -> Origin:
    if not source.is_file:
        return Origin(source.name, str(layout))  # a stream can be read only once: messages count rows instead of lines
    return Origin(source.name, str(layout), _LineOf(source.path, layout))


def _system_name(path: PathLike, given: str | None) -> str:
    """What to call a system: as the user wants, or as its file without the endings."""
    return bare_name(Path(display_name(path)).name) if given is None else given
