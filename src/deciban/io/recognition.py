"""An input that is opened once: its files, their format, how their lines are laid out, and what they could be."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa

from deciban._files import PathLike, Readable, is_open_file, looked_ahead
from deciban._validate.arrays import Vocabulary
from deciban.errors import FormatError, InputError
from deciban.io.columns.headers import Columns, could_hold, fits_label, role_of
from deciban.io.contents import ContentKind, Contents, only_format_errors
from deciban.io.formats import BinaryFormat, Format, Options, TextFormat, binary_formats, by_name
from deciban.io.source import Source, TwoFiles, clean_text, codec_of, files_of, numbered_lines, read_text, single_files
from deciban.io.spreadsheets import Translated, has_decimal_commas, has_semicolons, of_semicolons, of_workbook
from deciban.io.text.finding import FirstLines
from deciban.io.text.reader import Layout, TextBlocks
from deciban.memory import TIMES_ITS_SIZE, Cost

_SAMPLED_LINES, _SAMPLED_BYTES = 1000, 1 << 20
_END_LINES, _END_BYTES = 100, 1 << 16
"""Lines at the end of a file that are looked at, and the bytes in which they are looked for."""

_LONG = 4 * _SAMPLED_BYTES
"""Bytes from which on a plain file is not read as a whole to find its layout."""

_FEWEST_LINES = 3
"""A layout is found from this many lines and bytes; of longer lines, from a header and two of them."""

BIG = 1 << 25
"""Bytes above which a plain file is not read into memory as a whole."""

_TEXT_FORMAT_OF: dict[ContentKind | None, str] = {"segment-quality": "bosaris-quality", "id-map": "bosaris-idmap"}
"""Text files that are no lists of trials are never guessed, but taken for these when such a thing is asked for."""


@dataclass(frozen=True, eq=False)
class OpenedFile:
    """One file, looked at as often as needed and read once; layouts that were found are kept.

    Attributes
    ----------
    source : Source
    asked : Format or None
        The format that the user named.
    options : Options
        What else the user said; what the file must hold is said anew each time.
    is_side : bool
        Whether this is a list of scores of targets, or one of non-targets.
    """

    source: Source
    asked: Format | None
    options: Options
    is_side: bool = False
    _layouts: dict[ContentKind | None, Layout | None] = field(default_factory=dict)

    def format_for(self, need: ContentKind | None) -> Format | None:
        """The format that was named, or that the first bytes show; None for text, whose lines have to tell.

        Raises
        ------
        FormatError
            If this could be in two formats, or is in none of its kind.
        """
        if self.asked is not None:
            return self.asked
        if self.is_text:
            return by_name(_TEXT_FORMAT_OF[need]) if need in _TEXT_FORMAT_OF else None
        return self._recognized

    @cached_property
    def _recognized(self) -> BinaryFormat | None:
        """The one format that a binary file is in; None if its kind of file is of no use at all."""
        source = self.source
        fitting = [one for one in binary_formats(source.kind).values() if one.recognizes(source)]
        if len(fitting) > 1:
            names = " or ".join(one.name for one in fitting)
            raise FormatError(f"{source.name}: could be {names}. Say which: --format {fitting[0].name}.")
        if fitting or source.kind not in ("HDF5", "MATLAB"):
            return fitting[0] if fitting else None
        raise FormatError(
            f"{source.name}: {source.kind}, but not laid out like any that is known. See the documentation of file "
            "formats for the names that its datasets should have."
        )

    @property
    def is_text(self) -> bool:
        """Whether lines are read; those of a sheet of a workbook, too."""
        return not isinstance(self.asked, BinaryFormat) and self.source.kind in ("text", "Excel")

    @property
    def is_big(self) -> bool:
        """Whether this is a plain file that is better not held in memory as a whole."""
        return self.source.is_plain and self.source.size > BIG and not self.needs_translation

    @cached_property
    def needs_translation(self) -> bool:
        """True for a workbook, and for a table with semicolons or decimal commas."""
        return self.source.kind == "Excel" or bool(self._separator)

    @cached_property
    def _separator(self) -> str:
        """The delimiter of a table with semicolons or decimal commas; empty for other files."""
        head, is_list = self.source.head, self.is_side and self.options.columns is None
        if self.source.kind != "text" or self.asked is not None:
            return ""
        if has_semicolons(head):
            return ";"
        return ("\t" if b"\t" in head else " ") if has_decimal_commas(head, is_list=is_list) else ""

    @cached_property
    def translated(self) -> Translated | None:
        """What spreadsheet programs write, as a text table; None for files that are read as they are."""
        source = self.source
        if not self.needs_translation:
            return None
        excel = source.kind == "Excel"
        return of_workbook(source) if excel else of_semicolons(read_text(source), source, self._separator)

    @cached_property
    def text(self) -> bytes:
        """The whole text; see `deciban.io.source.read_text`."""
        return read_text(self.source) if self.translated is None else self.translated.text

    @property
    def is_cut_off(self) -> bool:
        """Whether the last line of a text file has no line end, as where writing was interrupted."""
        if self.source.kind != "text":
            return False
        if not self.is_big:
            return not self.text.endswith(b"\n")
        with Path(self.source.path).open("rb") as file:
            file.seek(-1, os.SEEK_END)
            return file.read(1) not in (b"\n", b"\r")

    @property
    def class_shape(self) -> tuple[int, int] | None:
        """The number of rows, or more, and of classes of a table of text or Parquet; None for other files."""
        if self.is_text:
            n_lines = sum(block.count(b"\n") for _, block in self.blocks("class-scores")) + 1
            return n_lines, self.layout("class-scores").roles.count("score")
        if self.source.kind != "Parquet" or self.source.is_folder:
            return None
        from pyarrow.parquet import ParquetFile

        from deciban.io.columns.columnar import schema_roles

        opened = self.source.seekable()
        with ParquetFile(str(opened) if isinstance(opened, Path) else opened) as file:
            roles = schema_roles(file.schema_arrow, replace(self.options, need="class-scores"), self.source.name)
            return file.metadata.num_rows, list(roles).count("score")

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """The first lines and the last ones of a long file, without comments and blank lines.

        Labels are often sorted: the last lines show other ones than the first.

        Raises
        ------
        FormatError
            If they are not text.
        """
        is_long = self.is_big or (self.source.is_plain and self.source.size > _LONG and not self.needs_translation)
        data = clean_text(_start(Path(self.source.path)), self.source.name) if is_long else self.text
        lines: list[str] = []
        n_bytes = 0
        for _, line in islice(numbered_lines(data.removeprefix(b"\xef\xbb\xbf"), self.source.name), _SAMPLED_LINES):
            lines.append(line)
            n_bytes += len(line)
            if n_bytes > _SAMPLED_BYTES and len(lines) >= _FEWEST_LINES:
                break
        if len(lines) == _SAMPLED_LINES:
            end = data[-_END_BYTES:]
            if is_long:
                with Path(self.source.path).open("rb") as file:
                    file.seek(-_END_BYTES, os.SEEK_END)
                    end = file.read()
            last = end.decode("utf-8", "replace").splitlines()[1:-1][-_END_LINES:]
            lines += [line for line in last if _shape(line) == _shape(lines[-1]) and not line.startswith(("#", ";;"))]
        return tuple(lines)

    def layout(self, need: ContentKind | None) -> Layout:
        """How to read the lines as what is needed; None: as what they hold.

        Raises
        ------
        FormatError, InputError
            As in `deciban.io.text.finding.FirstLines.layout`, or if there is no line.
        """
        return self._only_layout(need) or self._first_lines(need).layout()

    def _only_layout(self, need: ContentKind | None) -> Layout | None:
        """The layout of the lines as what is needed; None if no layout fits, or several fit. Raises as `layout`."""
        if need not in self._layouts:
            self._layouts[need] = self._first_lines(need).only_layout()
        return self._layouts[need]

    def _first_lines(self, need: ContentKind | None) -> FirstLines:
        return replace(self._cut_lines, options=replace(self.options, need=need))

    @cached_property
    def _cut_lines(self) -> FirstLines:
        """The first lines, cut into fields."""
        if not self.lines:
            raise FormatError(f"{self.source.name}: the file is empty. Expected one trial per line.")
        text_format = self.asked if isinstance(self.asked, TextFormat) else None
        return FirstLines.of(self.lines, self.source.name, self.options, text_format)

    def blocks(self, need: ContentKind | None, size: int | None = None) -> TextBlocks:
        """The lines of a text table, in blocks of a size if it is given; a big file is never in memory as a whole."""
        layout = self.layout(need)
        if self.is_big or (size is not None and self.source.is_plain and not self.needs_translation):
            return TextBlocks(self.source.name, layout, Path(self.source.path), size=size)
        return TextBlocks(self.source.name, layout, text=self.text)

    def ways(self, need: ContentKind | None) -> list[str]:
        """Options that would say what the columns of a table mean; none where columns have no names."""
        if self.asked is not None or self.options.columns is not None:
            return []
        if self.is_text:
            seen = self._cut_lines.seen() if self.lines else None
            return [] if seen is None else seen.ways(need)
        from deciban.io.text.suggestions import ColumnsSeen  # only messages need it

        form, rows = self._recognized, list[list[str]]()
        if form is not None and form.sample is not None:
            with suppress(FormatError, ValueError, OSError, pa.ArrowException):
                rows = form.sample(self.source)
        return ColumnsSeen(rows, has_header=True, options=self.options).ways(need) if len(rows) > 1 else []

    def readable_as(self, kinds: Iterable[ContentKind]) -> tuple[ContentKind, ...]:
        """Which of several kinds of tables the file could be read as; none if it makes no sense."""
        try:
            chosen = self.format_for(None)
            if isinstance(chosen, BinaryFormat):
                fitting = [kind for kind in kinds if kind in chosen.reads]
                with only_format_errors(self.source.name, chosen.name):
                    held = chosen.holds(self.source, self.options) if fitting and chosen.holds else chosen.reads
                return tuple(kind for kind in fitting if kind in held)
            found: dict[ContentKind, Layout] = {}
            for kind in kinds:
                with suppress(FormatError, InputError):
                    layout = self._only_layout(kind)
                    if layout is not None and could_hold(layout.known, kind):
                        found[kind] = layout
            found = self._by_label(found)
        except (FormatError, InputError, ValueError, pa.ArrowException):
            return ()
        # A header says more than what lines look like, and one that a format is known by says more than any.
        most = max((_told_by_header(layout) for layout in found.values()), default=0)
        return tuple(kind for kind, layout in found.items() if _told_by_header(layout) == most)

    def _by_label(self, found: dict[ContentKind, Layout]) -> dict[ContentKind, Layout]:
        """The layouts that fit what the label of a plain table names: one of many classes, or targets."""
        if self.options.columns is not None or not any(layout.header for layout in found.values()):
            return found
        of_classes = self._cut_lines.label_names_classes()
        named = [role_of(header) for header in next(layout.header for layout in found.values() if layout.header)]
        return {
            kind: layout
            for kind, layout in found.items()
            if layout.format.header or fits_label(kind, named, of_classes)
        }


@dataclass(frozen=True, slots=True, eq=False)
class Recognized:
    """An input whose format was looked for, ready to be read without looking again (`deciban.io.reader.read_input`).

    Attributes
    ----------
    path : path
        As the user gave it.
    files : tuple of OpenedFile
        More than one if it is a pattern, or two files; the first tells what it holds.
    sides : pair of Recognized, optional
        Of two files: that of targets, and that of non-targets.
    """

    path: PathLike | TwoFiles
    files: tuple[OpenedFile, ...]
    sides: tuple[Recognized, Recognized] | None = None


def recognize(
    path: Readable | TwoFiles | Recognized,
    *,
    format: str | None = None,
    columns: Columns | None = None,
    labels: Mapping[str, str] | None = None,
    of_key: bool = False,
) -> Recognized:
    """Open an input to find out what it holds, and to read it afterwards.

    Parameters
    ----------
    path : path
        As in `deciban.io.read_contents`. Standard input and pipes can be read only once: hand the result, not the path,
        to whatever reads it. What was recognized before is returned as it is, with its own options.
    format, columns, labels
        As in `deciban.read_scores`.
    of_key : bool
        Whether this is the key beside score files, so that messages name its own options.

    Returns
    -------
    Recognized
        What `readable_as` and `deciban.io.reader.read_input` take instead of a path. Nothing is read
        yet.

    Raises
    ------
    InputError
        If no file matches a pattern, or an option makes no sense.

    Examples
    --------
    >>> import tempfile
    >>> from deciban.io.reader import read_input
    >>> path = Path(tempfile.mkdtemp()) / "scores.csv"
    >>> _ = path.write_text("trial,eng,fra\\nseg1,2.25,-1.5\\nseg2,-0.5,0.75\\n")
    >>> found = recognize(path)
    >>> readable_as(found, ["scores", "class-scores"])
    ('class-scores',)
    >>> read_input(found, need="class-scores").contents.class_scores.classes
    ('eng', 'fra')
    """
    if isinstance(path, Recognized):
        return path
    if isinstance(path, TwoFiles):
        tar, non = (
            recognize(one, format=format, columns=columns, labels=labels, of_key=of_key) for one in (path.tar, path.non)
        )
        tar, non = (replace(side, files=tuple(replace(one, is_side=True) for one in side.files)) for side in (tar, non))
        return Recognized(path, (*tar.files, *non.files), (tar, non))
    options = Options(columns=columns, vocabulary=Vocabulary.of(labels), of_key=of_key)
    asked = None if format is None else by_name(format)
    opened = tuple(OpenedFile(Source(one), asked, options) for one in files_of(path))
    given: Any = path
    return Recognized(opened[0].source.path if is_open_file(path) else given, opened)


def held_in_memory(contents: Contents, name: str) -> Recognized:
    """Return tables in memory as an input that readers and workflows take like a file.

    Examples
    --------
    >>> from deciban.io.reader import read_input
    >>> from deciban.trials import Key
    >>> key = Contents.of(Key.of({"trial": ["a", "b"]}, [True, False]))
    >>> read_input(held_in_memory(key, "frame"), need="key").contents.label_counts
    '1 target · 1 non-target'
    """
    form = BinaryFormat(
        name="memory",
        summary="Tables in memory.",
        reads=contents.kinds,
        read=lambda source, options: contents,  # noqa: ARG005  # what reads files is called so
        holds=lambda source, options: contents.kinds,  # noqa: ARG005
    )
    source = Source(BytesIO())
    source.name = source.path = name
    return Recognized(name, (OpenedFile(source, form, Options()),))


def is_stream(path: Readable) -> bool:
    """Whether an input can be read only once: standard input, an open file or a pipe."""
    return (
        is_open_file(path)
        or str(path) == "-"
        or (Path(f"{path}").exists() and not (Path(f"{path}").is_file() or Path(f"{path}").is_dir()))
    )


def readable_as(
    path: PathLike | Recognized,
    kinds: Iterable[ContentKind],
    *,
    format: str | None = None,
    columns: Columns | None = None,
    labels: Mapping[str, str] | None = None,
) -> tuple[ContentKind, ...]:
    """Which of several kinds of tables an input could be read as, by its first lines, its header or its schema.

    Parameters
    ----------
    path : path
        As in `deciban.io.read_contents`, or what was recognized (`recognize`), which can be read
        afterwards without being opened again. Of a pattern, the first file tells.
    kinds : iterable of kinds
        Of ``scores``, ``key``, ``class-scores``, ``class-key``.
    format, columns, labels
        As in `deciban.read_scores`.

    Returns
    -------
    tuple of kinds
        All of them for the path of standard input or of a pipe, which can be read only once. None if the input makes no
        sense; reading it says why.

    Raises
    ------
    OSError
        If the file cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "scores.csv"
    >>> _ = path.write_text("trial,eng,fra\\nseg1,2.25,-1.5\\nseg2,-0.5,0.75\\n")
    >>> readable_as(path, ["scores", "class-scores"])
    ('class-scores',)
    """
    if not isinstance(path, Recognized) and is_stream(path):
        return tuple(kinds)
    try:
        found = recognize(path, format=format, columns=columns, labels=labels)
    except InputError:
        if isinstance(path, Recognized):
            raise
        return ()
    return found.files[0].readable_as(kinds)


def _told_by_header(layout: Layout) -> int:
    """How much the header of a table says: 0 if there is none, 2 if it is that of a format."""
    return 0 if layout.header is None else 2 if layout.format.header else 1


def _start(path: Path) -> bytes:
    """The first whole lines of a plain file."""
    with path.open("rb") as file:
        data = file.read(_SAMPLED_BYTES)
        while data.count(b"\n") < _FEWEST_LINES and (more := file.read(_SAMPLED_BYTES)):
            data += more
    if len(data) >= _SAMPLED_BYTES:
        data = data[: data.rfind(b"\n") + 1] or data
    return data


def _shape(line: str) -> tuple[int, int, int]:
    """Count the fields of a line by tabs, commas and blanks."""
    return line.count("\t"), line.count(","), len(line.split())


_HEAD = 4096

_FEWEST_CLASSES = 2
"""A table with more columns of numbers may hold classes."""

_WIDTHS = {"BOOLEAN": 1 / 8, "INT32": 4, "INT64": 8, "INT96": 12, "FLOAT": 4, "DOUBLE": 8, "BYTE_ARRAY": 4}
"""Bytes that a value takes where it is read: text is a number of a dictionary."""


def memory_of(scores: Sequence[Any], key: Any = None) -> int:
    """Bytes that it takes to read these files as a whole, about; 0 for what is no file.

    Of Parquet the footers say how many rows there are, and how wide: files may be as small as you like.
    """
    found = 0
    for path in single_files([*scores, key]):
        for one in [] if is_open_file(path) or str(path) == "-" else files_of(path):
            parts = [part for part in Path(one).rglob("*") if part.is_file()] if Path(one).is_dir() else [Path(one)]
            found += sum(_needed(part) for part in parts if part.is_file())
    return found


def is_longer(scores: Sequence[Any], key: Any, room: int) -> bool:
    """Whether standard input or a pipe among these holds more than can be read as a whole; it is read no further.

    Parameters
    ----------
    scores : sequence of paths
    key : path or None
    room : int
        Bytes of memory that reading may take.
    """
    for path in single_files([*scores, key]):
        if not is_open_file(path) and is_stream(path):
            most = room // _times_of(looked_ahead(path, _HEAD))
            if len(looked_ahead(path, most + 1)) > most:
                return True
    return False


def _times_of(head: bytes) -> int:
    """Return the memory of a file or stream that begins like this, as a multiple of its size."""
    packed = codec_of(head[:16]) is not None
    return TIMES_ITS_SIZE["packed" if packed else "binary" if b"\0" in head else "text"]


def _needed(path: Path) -> int:
    with path.open("rb") as stream:
        head = stream.read(_HEAD)
    if head.startswith(b"PAR1"):
        with suppress(FormatError):  # what is damaged will be told when it is read
            return _needed_by_parquet(path)
    return _times_of(head) * path.stat().st_size


def _needed_by_parquet(path: Path) -> int:
    import pyarrow.parquet as pq

    with only_format_errors(str(path), "Parquet"):
        footer = pq.read_metadata(path)
        widths = [footer.schema.column(at) for at in range(footer.num_columns)]
        decoded = footer.num_rows * sum(_WIDTHS.get(one.physical_type, one.length) for one in widths)
        n_numbers = sum(one.physical_type in ("FLOAT", "DOUBLE") for one in widths)
        written = sum(footer.row_group(at).total_byte_size for at in range(footer.num_row_groups))
    of_row = Cost.PARQUET_ROW + (Cost.CLASS_NUMBER * n_numbers if n_numbers > _FEWEST_CLASSES else 0)
    return int(footer.num_rows * of_row + Cost.PARQUET_COLUMN * max(decoded, written))
