r"""Matrices of trials as wide tables (``matrix-csv``) and as binary files of OpenBR (``openbr``).

A wide table: a row for each enrolment, a column for each test segment, and a score or a label in each cell.

    id,x,y,z                id,x,y,z                  id,x,y,z
    ann,1.5,-2,0.25         ann,target,nontarget,     ann,1,-1,0
    bob,-1,3.5,             bob,nontarget,target,     bob,-1,1,0

Commas or tabs separate the columns; the title of the first one may be anything. An empty cell is no trial. Cells of a
key are words for target and non-target, or 1 and -1 with 0 for no trial, or 1 and 0 without -1.

Scores of classes look the same, so the format is never guessed from the file alone: it must be named, or the trials of
the key must be pairs of a row and a column (`deciban.io.reader`). The file is held in memory as a whole.

OpenBR: similarity matrices and masks (``.mtx``, ``.mask``) of NIST's Biometric Evaluation Environment.

Four lines of text, then the cells row by row, probes as rows and gallery as columns::

    S2                            D2 if smaller scores favour a match (distances)
    gallery.xml                   the enrolments
    probes.xml                    the test samples
    MF 100 20 xV4\x12             F: float32, a similarity; B: a byte, a mask. Rows, columns, and the integer 0x12345678
                                  in the byte order of the machine, which determines the byte order of the cells

In a mask, 0xff is a match (target), 0x7f a non-match, and 0 no trial. NaN among similarities is no trial, too, as Bob
writes it. Names are in other files. Trials are named by their column and row: "3/20" is the third of 20, so that
matrices of different sizes share no names. The sign of distances is changed, as in OpenBR. Layout, words and signs were
seen in the code of OpenBR and of Bob, which reads and writes such files, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np
import pyarrow as pa
from pyarrow import csv

from deciban._arrow import pc, to_numpy
from deciban._validate.arrays import Vocabulary
from deciban.errors import FormatError, option
from deciban.io.columns.headers import unknown_label
from deciban.io.formats import ContentKind, Contents, InputOptions, only_format_errors
from deciban.io.matrices.named_matrix import contents_of_grid
from deciban.io.source import BLANKS, Source, end_of_lines, numbered_lines, read_text, without_comments
from deciban.io.text.reader import DELIMITERS, is_number, problem_of_score, shortened, split
from deciban.trials import Origin
from deciban.types import AnyArray

_MOST_WORDS = 64
"""Largest number of different words of a key; with more, the cells are not labels."""

_LOOKED_AT = 20
"""Number of lines to check whether cells are numbers."""

_SIGNED = {"1": 1, "-1": -1, "0": 0, "": 0}
"""Meaning of cells if some are -1: target, non-target, no trial."""


@dataclass(frozen=True, slots=True)
class _Table:
    """A text table with a header.

    Attributes
    ----------
    name : str
    text : bytes
    start : int
        Offset of the line after the header.
    header : tuple of str
    delimiter : str
    """

    name: str
    text: bytes
    start: int
    header: tuple[str, ...]
    delimiter: str

    @classmethod
    def of(cls, source: Source) -> _Table:
        """Read a text and its header."""
        name, text = source.name, without_comments(read_text(source))
        number, line = next(numbered_lines(text, name), (1, ""))
        start = end_of_lines(text, number)
        delimiter = max((",", "\t"), key=line.count)
        header = tuple(split(line, delimiter, quoted=True))
        if len(header) < 2:
            raise FormatError(
                f"{name}:1: expected a first line with the names of test segments, between commas or tabs, got "
                f"{shortened(line)!r}."
            )
        for at, one in enumerate(header[1:], 2):
            if not one or header.index(one, 1) != at - 1:
                what = f"a second column {one!r}" if one else "no name of a test segment"
                raise FormatError(f"{name}:1: {what}, in column {at}. Each column needs its own name.")
        return cls(name, text, start, header, delimiter)

    def lines(self) -> Iterator[tuple[int, list[str]]]:
        """Yield the number and the fields of each line after the header."""
        for number, line in islice(numbered_lines(self.text, self.name), 1, None):
            yield number, split(line, self.delimiter, quoted=True)

    def columns(self, kind: pa.DataType) -> tuple[pa.Array, list[pa.ChunkedArray]]:
        """Return the names of rows, and the cells of each column; an empty cell is null."""
        numbered = [str(at) for at in range(len(self.header))]
        if not self.text[self.start :].strip():
            raise FormatError(f"{self.name}: contains no trial, only the names of columns.")
        types, size = {"0": pa.string()} | dict.fromkeys(numbered[1:], kind), max(1 << 24, 16 * len(self.header))
        try:
            result = csv.read_csv(
                pa.BufferReader(memoryview(self.text)[self.start :]),
                read_options=csv.ReadOptions(column_names=numbered, block_size=size, use_threads=False),
                parse_options=csv.ParseOptions(delimiter=self.delimiter),
                convert_options=csv.ConvertOptions(column_types=types, null_values=[""]),
            )
        except pa.ArrowInvalid as error:
            raise self.fault(are_scores=kind == pa.float64()) or FormatError(f"{self.name}: {error}") from error
        names = pc.utf8_trim(result.column(0), BLANKS).combine_chunks()
        empty = pc.index(names, "").as_py()
        if empty >= 0:
            number, _ = next(islice(self.lines(), empty, None))
            raise FormatError(f"{self.name}:{number}: the name of the enrolment is empty.")
        return names, result.columns[1:]

    def fault(self, *, are_scores: bool) -> FormatError | None:
        """Return the error for the first fault: a wrong number of cells, or an invalid score."""
        for number, fields in self.lines():
            if len(fields) != len(self.header):
                return FormatError(f"{self.name}:{number}: expected {len(self.header):,} columns, got {len(fields):,}.")
            for title, cell in zip(self.header[1:], fields[1:], strict=True):
                if are_scores and (words := _problem(cell)):
                    where = f"in the column {title!r} of {fields[0]!r}"
                    return FormatError(f"{self.name}:{number}: {words}, {where}.")
        return None


def read_csv(source: Source, options: InputOptions) -> Contents:
    """Read a wide table."""
    table = _Table.of(source)
    if options.columns is not None:
        raise FormatError(f"{source.name}: columns of a matrix-csv have no roles. Leave the columns out.")
    kind: ContentKind = _kinds_of(table)[0] if options.need in (None, "index") else options.need
    segments = pa.array(table.header[1:])
    reading = f"matrix-csv enroll x test, {DELIMITERS[table.delimiter]}"
    if kind == "key":
        names, words, codes = _words(table)
        meanings, reading_more = _meanings(words, options.vocabulary, table)
        values = np.array([meanings[word] for word in words], np.int8)[codes]
        known = {word: meanings[word] > 0 for word in words if meanings[word]}
        origin, sides = Origin(table.name, f"{reading}{reading_more}"), (names, segments)
        return replace(contents_of_grid(sides, values != 0, origin, options, is_target=values > 0), words=known)
    names, columns = table.columns(pa.float64())
    scores = np.column_stack([to_numpy(column) for column in columns])
    is_empty = np.isnan(scores)
    if np.count_nonzero(is_empty) > sum(column.null_count for column in columns) or np.isinf(scores).any():
        fault = table.fault(are_scores=True)  # NaN, or digits beyond the range of a float
        if fault is not None:
            raise fault
    return contents_of_grid((names, segments), ~is_empty, Origin(table.name, reading), options, scores=scores)


def holds_csv(source: Source, options: InputOptions) -> tuple[ContentKind, ...]:  # noqa: ARG001  # as for all formats
    """Return the kinds of tables as which the file can be read, by its first lines."""
    return _kinds_of(_Table.of(source))


def _kinds_of(table: _Table) -> tuple[ContentKind, ...]:
    """Return scores if the cells of the first lines are numbers, key if they are words or only 1, 0 and -1."""
    cells = {cell for _, fields in islice(table.lines(), _LOOKED_AT) for cell in fields[1:]}
    if not all(is_number(cell) for cell in cells if cell):
        return ("key",)
    return ("scores", "key") if cells <= _SIGNED.keys() else ("scores",)


def _words(table: _Table) -> tuple[pa.Array, list[str], AnyArray]:
    """Return the names of rows, the distinct cells as text, and a matrix of their indices."""
    names, columns = table.columns(pa.string())
    chunks = [chunk for column in columns for chunk in column.chunks]
    cells = pc.utf8_trim(pa.chunked_array(chunks), BLANKS).combine_chunks().dictionary_encode()
    words = cells.dictionary.to_pylist()
    if len(words) > _MOST_WORDS:
        shown = ", ".join(words[:5])
        raise FormatError(f"{table.name}: more than {_MOST_WORDS} different cells ({shown}, ...), so not labels.")
    return names, words, to_numpy(cells.indices).reshape(len(columns), len(names)).T


def _meanings(words: list[str], vocabulary: Vocabulary, table: _Table) -> tuple[Mapping[str, int], str]:
    """Return the meaning of cells (1 target, -1 non-target, 0 no trial), and text for the message on reading."""
    if "-1" in words and {*words} <= _SIGNED.keys() and vocabulary.folded:
        return _SIGNED, ", 1 target, -1 non-target, 0 no trial" if "0" in words else ""
    known = vocabulary.within([word for word in words if word])
    meanings = {word: known.meaning(word) for word in words if word}
    for word, meaning in meanings.items():
        if meaning is None:
            number, fields = next((number, fields) for number, fields in table.lines() if word in fields[1:])
            title = table.header[fields.index(word, 1)]
            raise FormatError(f"{table.name}:{number}: {unknown_label(word, known, f' in column {title!r}')}.")
    return {"": 0} | {word: 1 if meaning else -1 for word, meaning in meanings.items()}, ""


def _problem(cell: str) -> str | None:
    if not cell:
        return None
    way_out = "leave the cell empty if it is no trial"
    return problem_of_score(cell, f"; {way_out}", way_out)


_HEADER = re.compile(rb"([SD])2[^\n]*\n([^\n]*)\n([^\n]*)\nM([FB]) (\d{1,9}) (\d{1,9}) ([\x00-\xff]{4})\n")
_MAGIC = 0x12345678
_MATCH, _NO_MATCH, _NO_TRIAL = 0xFF, 0x7F, 0x00


@dataclass(frozen=True, slots=True)
class _Header:
    """The contents of the four header lines.

    Attributes
    ----------
    length : int
        Length of the lines in bytes.
    kind : np.dtype
        Type of a cell.
    shape : tuple of int
        Numbers of probes and gallery entries.
    is_distance : bool
    sets : pair of str
        Names of the lists of the gallery and of the probes.
    """

    length: int
    kind: np.dtype[np.generic]
    shape: tuple[int, int]
    is_distance: bool
    sets: tuple[str, str]


def read_openbr(source: Source, options: InputOptions) -> Contents:
    """Read a file of OpenBR."""
    if options.columns is not None:
        raise FormatError(f"{source.name}: columns of a matrix of OpenBR have no roles. Leave out {option('columns')}.")
    with only_format_errors(source.name, "a matrix of OpenBR"):
        header = _header(source)
        cells = _cells(source, header).T  # rows become gallery entries
        what = "a mask" if header.kind.itemsize == 1 else "distances, signs changed" if header.is_distance else ""
        size = f"{header.shape[1]:,} gallery x {header.shape[0]:,} probes"
        sets = f"{header.sets[0]} against {header.sets[1]}"
        origin = Origin(source.name, f"openbr, {size}{', ' if what else ''}{what}, {sets}")
        if header.kind.itemsize == 1:
            return _key(cells, origin, options)
        return _scores(cells, header, origin, options)


def holds_openbr(source: Source, options: InputOptions) -> tuple[ContentKind, ...]:  # noqa: ARG001  # as for all formats
    """Return scores, or key if it is a mask."""
    return ("key",) if _header(source).kind.itemsize == 1 else ("scores",)


def _header(source: Source) -> _Header:
    result = _HEADER.match(source.head)
    if result is None:
        raise FormatError(
            f"{source.name}: not a matrix of OpenBR: expected a line S2 or D2, two lines with the names of lists, and "
            "a line 'MF rows columns' or 'MB rows columns' with the byte order."
        )
    order = next((sign for sign in "<>" if np.frombuffer(result[7], f"{sign}i4")[0] == _MAGIC), None)
    if order is None:
        raise FormatError(
            f"{source.name}: the fourth line ends with the bytes {result[7].hex()}, expected 0x12345678 in either byte "
            "order. Write the file again, in binary mode."
        )
    kind: np.dtype[np.generic] = np.dtype(np.uint8) if result[4] == b"B" else np.dtype(f"{order}f4")
    sets = tuple(result[at].decode("utf-8", "replace").strip() or "a list without a name" for at in (2, 3))
    return _Header(result.end(), kind, (int(result[5]), int(result[6])), result[1] == b"D", (sets[0], sets[1]))


def _cells(source: Source, header: _Header) -> AnyArray:
    """Return the cells, with probes as rows; raise if their number differs from the header."""
    rows, columns = header.shape
    expected, held = rows * columns * header.kind.itemsize, source.size - header.length
    if not expected or held != expected:
        why = "the file was cut off" if held < expected else "other data follow"
        why = why if expected else "there is no trial"
        raise FormatError(
            f"{source.name}: {rows:,} x {columns:,} cells of {header.kind.itemsize} bytes are {expected:,} bytes, but "
            f"there are {held:,}: {why}. Write the file again."
        )
    with source.stream() as stream:
        stream.seek(header.length)
        data = stream.read(expected)
    return np.frombuffer(data, header.kind).reshape(rows, columns)


def _key(cells: AnyArray, origin: Origin, options: InputOptions) -> Contents:
    known = np.isin(cells, (_MATCH, _NO_MATCH, _NO_TRIAL))
    if not known.all():
        column, row = np.unravel_index(int(np.argmin(known)), cells.shape)
        raise FormatError(
            f"{origin.name}: the mask contains 0x{cells[column, row]:02x} in row {row + 1}, column {column + 1}; only "
            "0xff (match), 0x7f (non-match) and 0x00 (no trial) are valid."
        )
    return contents_of_grid(_names(cells), cells != _NO_TRIAL, origin, options, is_target=cells == _MATCH)


def _scores(cells: AnyArray, header: _Header, origin: Origin, options: InputOptions) -> Contents:
    held = ~np.isnan(cells)
    score = cells.astype(np.float32)  # converts to the byte order of this machine
    n_absent = np.count_nonzero(~held)
    notes = (f"{n_absent:,} cells are NaN, so they are not trials.",) if n_absent else ()
    signed = np.negative(score, out=score) if header.is_distance else score
    return contents_of_grid(_names(cells), held, origin, options, scores=signed, notes=notes)


def _names(cells: AnyArray) -> tuple[pa.Array, pa.Array]:
    """Return names of trials: the numbers of their columns and rows."""
    gallery, probes = (pa.array([f"{at + 1}/{n}" for at in range(n)]) for n in cells.shape)
    return gallery, probes
