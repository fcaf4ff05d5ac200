"""Recognition of an input: its files, their format, the layout of their lines, and possible kinds of tables."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Any, TypedDict

import pyarrow as pa

from deciban._files import looked_ahead
from deciban._validate.arrays import Vocabulary
from deciban.errors import FormatError, InputError, display_name, in_lines, is_open_file, option
from deciban.io import formats
from deciban.io import source as sources
from deciban.io.columns.headers import Columns, fits_label, role_of
from deciban.io.text import Translated, has_decimal_commas, has_semicolons, of_semicolons, of_workbook
from deciban.io.text.finding import FirstLines
from deciban.io.text.reader import Layout, TextBlocks
from deciban.memory import TIMES_ITS_SIZE, bytes_of_parquet
from deciban.trials.joining.matching import Duplicates, Missing
from deciban.types import KindName, PathLike, Readable


class InputReading(TypedDict):
    """Arguments of `recognize` that declare what an input contains."""

    format: str | None
    columns: Columns | None
    labels: Mapping[str, str] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinOptions:
    """Options of reading and joining tables, in memory or in batches; see `deciban.workflows.Reading`."""

    missing: Missing = "error"
    duplicates: Duplicates = "error"
    format: str | None = None
    columns: Columns | None = None
    key_format: str | None = None
    key_columns: Columns | None = None
    labels: Mapping[str, str] | None = None
    where: Mapping[str, str | Sequence[str]] | None = None
    by_order: bool = False
    weights: str | None = None
    weights_required: bool = True
    classes: Sequence[str] | None = None


_SAMPLED_LINES, _SAMPLED_BYTES = 1000, 1 << 20
_END_LINES, _END_BYTES = 100, 1 << 16
"""Number of lines at the end of a file for the sample, and number of bytes to search for them."""

_LONG = 4 * _SAMPLED_BYTES
"""Smallest size in bytes of a plain file that is not read as a whole to find its layout."""

_FEWEST_LINES = 3
"""Smallest number of lines in the sample, even if they are long: a header and two lines."""

_TEXT_FORMAT_OF: dict[formats.ContentKind | None, str] = {
    "segment-quality": "bosaris-quality",
    "id-map": "bosaris-idmap",
}
"""Text formats that are not lists of trials: never guessed, but used if such a table is needed."""


@dataclass(frozen=True, eq=False)
class OpenedFile:
    """One file, which can be inspected repeatedly and is read once; layouts are cached.

    Attributes
    ----------
    source : Source
    named_format : Format or None
        The format that the user named.
    options : InputOptions
        Other options of the user; the needed kind of table is an argument of the methods.
    is_side : bool
        True for a list of scores of targets, or of non-targets.
    """

    source: sources.Source
    named_format: formats.Format | None
    options: formats.InputOptions
    is_side: bool = False
    _layouts: dict[formats.ContentKind | None, Layout | None] = field(default_factory=dict)

    def format_for(self, need: formats.ContentKind | None) -> formats.Format | None:
        """Return the format that was named, or that the first bytes show; None for text without a named format.

        Raises
        ------
        FormatError
            If this could be two formats, or none of its kind.
        """
        if self.named_format is not None:
            return self.named_format
        if self.is_text:
            return formats.by_name(_TEXT_FORMAT_OF[need]) if need in _TEXT_FORMAT_OF else None
        return self._recognized

    @cached_property
    def _recognized(self) -> formats.BinaryFormat | None:
        """The format of a binary file; None if no format of its kind matches."""
        source = self.source
        fitting = [one for one in formats.binary_formats(source.kind).values() if one.recognizes(source)]
        if len(fitting) > 1:
            names = " or ".join(one.name for one in fitting)
            raise FormatError(f"{source.name}: could be {names}. Choose one: {option(format=fitting[0].name)}.")
        if fitting or source.kind not in ("HDF5", "MATLAB"):
            return fitting[0] if fitting else None
        raise FormatError(
            f"{source.name}: {source.kind}, but with an unknown layout. The documentation of file formats lists the "
            "names of datasets that deciban reads."
        )

    @property
    def is_text(self) -> bool:
        """True if lines are read, also of a sheet of a workbook."""
        return not isinstance(self.named_format, formats.BinaryFormat) and self.source.kind in ("text", "Excel")

    @property
    def is_plain(self) -> bool:
        """True if the lines are those of an uncompressed file, which is read in blocks."""
        return self.source.is_plain and not self.foreign

    @cached_property
    def foreign(self) -> str:
        """Excel for a workbook; the delimiter of a table with semicolons or decimal commas; otherwise empty."""
        head, is_list, kind = self.source.head, self.is_side and self.options.columns is None, self.source.kind
        if kind != "text" or self.named_format is not None:
            return kind if kind == "Excel" else ""
        if b";" in head and has_semicolons(head):
            return ";"
        has_commas = b"," in head and has_decimal_commas(head, is_list=is_list)
        return ("\t" if b"\t" in head else " ") if has_commas else ""

    @cached_property
    def translated(self) -> Translated | None:
        """The file of a spreadsheet program as a text table; None for other files."""
        if self.foreign == "Excel":
            return of_workbook(self.source)
        return of_semicolons(sources.read_text(self.source), self.source, self.foreign) if self.foreign else None

    @cached_property
    def text(self) -> bytes:
        """The whole text; see `deciban.io.source.read_text`."""
        return sources.read_text(self.source) if self.translated is None else self.translated.text

    @property
    def is_cut_off(self) -> bool:
        """True if the last line of a text file has no line end, as after an interrupted write."""
        if self.source.kind != "text":
            return False
        if not self.is_plain:
            return not self.text.endswith(b"\n")
        with Path(self.source.path).open("rb") as file:
            file.seek(-1, os.SEEK_END)
            return file.read(1) not in (b"\n", b"\r")

    @property
    def class_shape(self) -> tuple[int, int] | None:
        """The number of rows (an upper bound) and of classes of a text or Parquet table; None for other files."""
        if self.is_text:
            n_lines = sum(block.count(b"\n") for _, block in self.blocks("class-scores")) + 1
            return n_lines, self.layout("class-scores").roles.count("score")
        if self.source.kind != "Parquet" or self.source.is_folder:
            return None
        from pyarrow.parquet import ParquetFile

        from deciban.io.columns.columnar import schema_roles
        from deciban.io.columns.values import RowTable

        opened = self.source.seekable()
        with ParquetFile(str(opened) if isinstance(opened, Path) else opened) as file:
            table = RowTable(self.source.name, file.schema_arrow, (), "")
            roles = schema_roles(table, replace(self.options, need="class-scores"))
            return file.metadata.num_rows, list(roles).count("score")

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """The first lines, and the last lines of a long file, without comments and blank lines.

        Labels are often sorted, so the last lines may contain other labels than the first.

        Raises
        ------
        FormatError
            If the file is not text.
        """
        is_long = self.is_plain and self.source.size > _LONG
        data = sources.clean_text(_start(Path(self.source.path)), self.source.name) if is_long else self.text
        lines: list[str] = []
        n_bytes = 0
        for _, line in islice(
            sources.numbered_lines(data.removeprefix(b"\xef\xbb\xbf"), self.source.name), _SAMPLED_LINES
        ):
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

    def layout(self, need: formats.ContentKind | None) -> Layout:
        """Return the layout of the lines for a kind of table; for None, for the contents of the file.

        Raises
        ------
        FormatError, InputError
            As in `deciban.io.text.finding.FirstLines.layout`, or if there are no lines.
        """
        return self._only_layout(need) or replace(self._cut_lines, options=replace(self.options, need=need)).layout()

    def _only_layout(self, need: formats.ContentKind | None) -> Layout | None:
        """Return the only layout for a kind of table; None if no layout or several match. Raises as `layout`."""
        if need not in self._layouts:
            lines = replace(self._cut_lines, options=replace(self.options, need=need))
            self._layouts[need] = lines.only_layout()
        return self._layouts[need]

    @cached_property
    def _cut_lines(self) -> FirstLines:
        """The first lines, split into fields."""
        if not self.lines:
            raise FormatError(f"{self.source.name}: the file is empty. Expected one trial per line.")
        text_format = self.named_format if isinstance(self.named_format, formats.TextFormat) else None
        return FirstLines.of(self.lines, self.source.name, self.options, text_format)

    def blocks(self, need: formats.ContentKind | None, size: int | None = None) -> TextBlocks:
        """Return the lines of a text table, in blocks of a size if given; a big file is never read as a whole."""
        layout = self.layout(need)
        if self.is_plain:
            return TextBlocks(self.source.name, layout, Path(self.source.path), size=size)
        return TextBlocks(self.source.name, layout, text=self.text)

    def ways(self, need: formats.ContentKind | None) -> list[str]:
        """Return options that define the columns of a table; empty if columns have no names."""
        if self.named_format is not None or self.options.columns is not None:
            return []
        if self.is_text:
            seen = self._cut_lines.seen() if self.lines else None
            return [] if seen is None else seen.ways(need)
        from deciban.io.text.suggestions import ColumnsSeen  # needed only for messages

        form, rows = self._recognized, list[list[str]]()
        if form is not None and form.sample is not None:
            with suppress(FormatError, ValueError, OSError, pa.ArrowException):
                rows = form.sample(self.source)
        return ColumnsSeen(rows, has_header=True, options=self.options).ways(need) if len(rows) > 1 else []

    def readable_as(self, kinds: Iterable[formats.ContentKind]) -> tuple[formats.ContentKind, ...]:
        """Return the kinds of tables as which the file can be read; empty if it is invalid."""
        try:
            chosen = self.format_for(None)
            if isinstance(chosen, formats.BinaryFormat):
                fitting = [kind for kind in kinds if kind in chosen.reads]
                with formats.only_format_errors(self.source.name, chosen.name):
                    held = chosen.holds(self.source, self.options) if fitting and chosen.holds else chosen.reads
                return tuple(kind for kind in fitting if kind in held)
            entries: dict[formats.ContentKind, Layout] = {}
            for kind in kinds:
                with suppress(FormatError, InputError):
                    layout = self._only_layout(kind)
                    if layout is not None and formats.could_hold(layout.known, kind):
                        entries[kind] = layout
            entries = self._by_label(entries)
        except (FormatError, InputError, ValueError, pa.ArrowException):
            return ()
        # A header is stronger evidence than the lines, and the header of a format is the strongest.
        most = max((_described_by_header(layout) for layout in entries.values()), default=0)
        return tuple(kind for kind, layout in entries.items() if _described_by_header(layout) == most)

    def _by_label(self, entries: dict[formats.ContentKind, Layout]) -> dict[formats.ContentKind, Layout]:
        """Return the layouts that agree with the labels of a plain table: one of several classes, or targets."""
        if self.options.columns is not None or not any(layout.header for layout in entries.values()):
            return entries
        of_classes = self._cut_lines.label_names_classes()
        named = [role_of(header) for header in next(layout.header for layout in entries.values() if layout.header)]
        return {
            kind: layout
            for kind, layout in entries.items()
            if layout.format.header or fits_label(kind, named, of_classes)
        }


@dataclass(frozen=True, slots=True, eq=False)
class Recognized:
    """An input with its format, ready to be read (`deciban.io.reader.read_input`).

    Attributes
    ----------
    path : path
        As the user gave it.
    files : tuple of OpenedFile
        Several for a pattern or for two files; the first one determines the contents.
    sides : pair of Recognized, optional
        For two files: the file of targets and the file of non-targets.
    """

    path: PathLike | sources.TwoFiles
    files: tuple[OpenedFile, ...]
    sides: tuple[Recognized, Recognized] | None = None


def recognize(
    path: Readable | sources.TwoFiles | Recognized,
    *,
    format: str | None = None,
    columns: Columns | None = None,
    labels: Mapping[str, str] | None = None,
    of_key: bool = False,
) -> Recognized:
    """Open an input to recognize its contents, and to read it afterwards.

    Parameters
    ----------
    path : path
        As in `deciban.io.read_contents`. Standard input and pipes can be read only once, so pass on the result, not
        the path. An input that was already recognized is returned unchanged, with its own options.
    format, columns, labels
        As in `deciban.read_scores`.
    of_key : bool
        True for the key of score files, so that messages contain its own options.

    Returns
    -------
    Recognized
        An argument for `readable_as` and `deciban.io.reader.read_input` in place of a path. Nothing is read yet.

    Raises
    ------
    InputError
        If no file matches a pattern, or an option is invalid.

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
    if isinstance(path, sources.TwoFiles):
        tar, non = (
            recognize(one, format=format, columns=columns, labels=labels, of_key=of_key) for one in (path.tar, path.non)
        )
        tar, non = (replace(side, files=tuple(replace(one, is_side=True) for one in side.files)) for side in (tar, non))
        return Recognized(path, (*tar.files, *non.files), (tar, non))
    options = formats.InputOptions(columns=columns, vocabulary=Vocabulary.of(labels), of_key=of_key)
    named = None if format is None else formats.by_name(format)
    opened = tuple(OpenedFile(sources.Source(one), named, options) for one in sources.files_of(path))
    value: Any = path
    return Recognized(opened[0].source.path if is_open_file(path) else value, opened)


def held_in_memory(contents: formats.Contents, name: str) -> Recognized:
    """Return tables in memory as an input for readers and workflows.

    Examples
    --------
    >>> from deciban.io.reader import read_input
    >>> from deciban.trials import Key
    >>> key = formats.Contents.of(Key.of({"trial": ["a", "b"]}, [True, False]))
    >>> read_input(held_in_memory(key, "frame"), need="key").contents.label_counts
    '1 target · 1 non-target'
    """
    form = formats.BinaryFormat(
        name="memory",
        summary="Tables in memory.",
        reads=contents.kinds,
        read=lambda source, options: contents,  # noqa: ARG005  # arguments of all readers
        holds=lambda source, options: contents.kinds,  # noqa: ARG005
    )
    source = sources.Source(BytesIO())
    source.name = source.path = name
    return Recognized(name, (OpenedFile(source, form, formats.InputOptions()),))


def is_stream(path: Readable) -> bool:
    """Return True if an input can be read only once: standard input, an open file or a pipe."""
    return (
        is_open_file(path)
        or str(path) == "-"
        or (Path(f"{path}").exists() and not (Path(f"{path}").is_file() or Path(f"{path}").is_dir()))
    )


def readable_as(
    path: PathLike | Recognized,
    kinds: Iterable[formats.ContentKind],
    *,
    format: str | None = None,
    columns: Columns | None = None,
    labels: Mapping[str, str] | None = None,
) -> tuple[formats.ContentKind, ...]:
    """Return the kinds of tables as which an input can be read, by its first lines, its header or its schema.

    Parameters
    ----------
    path : path
        As in `deciban.io.read_contents`, or an input that was recognized (`recognize`), which can be read afterwards
        without opening it again. For a pattern, the first file decides.
    kinds : iterable of kinds
        Some of ``scores``, ``key``, ``class-scores``, ``class-key``.
    format, columns, labels
        As in `deciban.read_scores`.

    Returns
    -------
    tuple of kinds
        All kinds for the path of standard input or of a pipe, which can be read only once. Empty if the input is
        invalid; reading it raises the error.

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
        result = recognize(path, format=format, columns=columns, labels=labels)
    except InputError:
        if isinstance(path, Recognized):
            raise
        return ()
    return result.files[0].readable_as(kinds)


def _described_by_header(layout: Layout) -> int:
    """Return the evidence of the header of a table: 0 without a header, 2 for the header of a format, else 1."""
    return 0 if layout.header is None else 2 if layout.format.header else 1


def _start(path: Path) -> bytes:
    """Return the first whole lines of a plain file."""
    with path.open("rb") as file:
        data = file.read(_SAMPLED_BYTES)
        while data.count(b"\n") < _FEWEST_LINES and (more := file.read(_SAMPLED_BYTES)):
            data += more
    if len(data) >= _SAMPLED_BYTES:
        data = data[: data.rfind(b"\n") + 1] or data
    return data


def _shape(line: str) -> tuple[int, int, int]:
    """Return the numbers of tabs, commas and blank-separated fields of a line."""
    return line.count("\t"), line.count(","), len(line.split())


_HEAD = 4096
_MANY_ROWS = 2 * 10**7

_WIDTHS = {"BOOLEAN": 1 / 8, "INT32": 4, "INT64": 8, "INT96": 12, "FLOAT": 4, "DOUBLE": 8, "BYTE_ARRAY": 4}
"""Bytes of a value in memory; text is stored as a number of a dictionary."""


def memory_of(scores: Sequence[PathLike | sources.TwoFiles | None], key: PathLike | None = None) -> int:
    """Return the approximate bytes for reading these files as a whole; 0 for streams and open files."""
    return sum(n_bytes for _, n_bytes in _sizes([*scores, key]))


def rows_of(scores: PathLike) -> int:
    """Return the approximate number of rows of one input, from Parquet footers and the first lines of text."""
    return sum(n_rows for n_rows, _ in _sizes([scores]))


def _sizes(paths: Sequence[PathLike | sources.TwoFiles | None]) -> Iterator[tuple[int, int]]:
    """Yield the approximate rows of each file, and bytes for reading it as a whole, without streams and open files."""
    for path in sources.single_files(paths):
        for part in [] if is_open_file(path) or str(path) == "-" else sources.parts_of(path):
            if Path(part).is_file():
                yield _size(Path(part))


def _size(path: Path) -> tuple[int, int]:
    with path.open("rb") as stream:
        head = stream.read(_HEAD)
    if head.startswith(b"PAR1"):  # its footer contains the number and width of the rows; it may be compressed strongly
        with suppress(FormatError):  # the error is raised when the file is read
            return _size_by_footer(path)
    n_bytes, n_lines = path.stat().st_size, 0 if b"\0" in head else head.count(b"\n")
    return n_bytes * n_lines // max(len(head), 1), _times_of(head) * n_bytes


def _size_by_footer(path: Path) -> tuple[int, int]:
    import pyarrow.parquet as pq

    with formats.only_format_errors(str(path), "Parquet"):
        footer = pq.read_metadata(path)
        widths = [footer.schema.column(at) for at in range(footer.num_columns)]
        decoded = footer.num_rows * sum(_WIDTHS.get(one.physical_type, one.length) for one in widths)
        n_numbers = sum(one.physical_type in ("FLOAT", "DOUBLE") for one in widths)
        written = sum(footer.row_group(at).total_byte_size for at in range(footer.num_row_groups))
    return footer.num_rows, bytes_of_parquet(footer.num_rows, n_numbers, max(decoded, written))


def is_long_without_names(path: PathLike) -> bool:
    """Return True for Parquet files of so many labelled scores without names that batches are faster than one table."""
    if rows_of(path) < _MANY_ROWS:
        return False
    import pyarrow.parquet as pq

    with suppress(FormatError), formats.only_format_errors(str(path), "Parquet"):
        return all(pq.read_metadata(part).num_columns == 2 for part in sources.parts_of(path))  # scores and labels
    return False


def is_longer(scores: Sequence[PathLike | sources.TwoFiles | None], key: PathLike | None, room: int) -> bool:
    """Return True if standard input or a pipe is too long to be read as a whole; only its beginning is read.

    Parameters
    ----------
    scores : sequence of paths
    key : path or None
    room : int
        Bytes of memory that reading may take.
    """
    for path in sources.single_files([*scores, key]):
        if not is_open_file(path) and is_stream(path):
            most = room // _times_of(looked_ahead(path, _HEAD))
            if len(looked_ahead(path, most + 1)) > most:
                return True
    return False


def _times_of(head: bytes) -> int:
    """Return the memory of a file or stream with these first bytes, as a multiple of its size."""
    packed = sources.codec_of(head[:16]) is not None
    return TIMES_ITS_SIZE["packed" if packed else "binary" if b"\0" in head else "text"]


def are_summaries(paths: Sequence[PathLike | sources.TwoFiles | None]) -> bool:
    """Return True if all inputs are summary files."""
    items = [
        one for path in paths if isinstance(path, str | Path) and str(path) != "-" for one in sources.files_of(path)
    ]
    return bool(items) and len(items) >= len(paths) and all(map(is_summary_file, items))


def is_summary_file(path: PathLike) -> bool:
    """Return True if a file is a summary; only its first bytes and its footer are read."""
    import pyarrow.parquet as pq

    if not Path(path).is_file():  # a pipe can be read only once
        return False
    try:
        with Path(path).open("rb") as stream:
            if stream.read(4) != b"PAR1":
                return False
        return formats.SUMMARY in (pq.read_metadata(path).metadata or {})
    except (OSError, TypeError, ValueError, pa.ArrowException):
        return False


TRUTHS: tuple[formats.ContentKind, ...] = ("key", "class-key")


def kind_shown(scores: Recognized, key: Recognized | None) -> KindName:
    """Return the kind of scores that files contain; if both kinds are possible, the key decides.

    Raises
    ------
    InputError
        If the key does not decide.
    """
    if key is not None and scores.files[0].source.kind == "NumPy" and readable_as(key, TRUTHS) == ("key",):
        return "two-class"  # if this is a matrix, reading it asks for one of its columns
    held = readable_as(scores, ("scores", "class-scores"))
    if len(held) == 1:
        return "classes" if held == ("class-scores",) else "two-class"
    truth = readable_as(scores if key is None else key, TRUTHS)
    if len(truth) == 1:
        return "classes" if truth == ("class-key",) else "two-class"
    if not held:
        return "two-class"  # reading the file raises an error with a hint
    ways = [option(kind="two-class"), option(kind="classes"), *scores.files[0].ways("scores")[:1]]
    raise InputError(
        f"{display_name(scores.path)}: can be two-class scores of several systems, or multiclass scores of one system. "
        f"Set the kind, name the classes ({option(classes=...)}), or choose a column:{in_lines(ways)}"
    )
