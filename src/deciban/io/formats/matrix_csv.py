"""A wide table of trials: names of enrolments down, of test segments across, and a score or a label in every cell.

    id,x,y,z                id,x,y,z                  id,x,y,z
    ann,1.5,-2,0.25         ann,target,nontarget,     ann,1,-1,0
    bob,-1,3.5,             bob,nontarget,target,     bob,-1,1,0

Commas or tabs separate the columns; the title of the first one may be anything. An empty cell is no trial. Cells of a
key are words for target and non-target, or 1 and -1 with 0 for no trial, or 1 and 0 without -1.

Scores of classes look the same, so that a file is never taken for this by its looks: the format is named, or the key
names trials by pairs of a row and a column (`deciban.io.reader`). Cells go into their matrix block by block.
"""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.csv

from deciban._arrow import compute as pc
from deciban._arrow import to_numpy
from deciban._validate.arrays import Vocabulary
from deciban.errors import FormatError, InputError
from deciban.io.contents import ContentKind, Contents
from deciban.io.formats import Options
from deciban.io.source import BLANKS, Source, read_text, without_comments
from deciban.io.text.one_line import DELIMITERS, is_number, shortened, split
from deciban.trials import Index, Key, Origin, Trials
from deciban.types import AnyArray, BoolArray, FloatArray

Found = TypeVar("Found")

_BLOCK = 1 << 24
"""Bytes that are parsed at a time, if these are several lines."""

_BIG = 1 << 25
"""Bytes above which a plain file is not held in memory as text."""

_MOST_WORDS = 64
"""Different words of a key; of more, these are no labels."""

_LOOKED_AT = 20
"""Lines that tell whether cells are numbers."""

_SIGNED = {"1": 1, "-1": -1, "0": 0, "": 0}
"""What cells mean of which some are -1: target, non-target, no trial."""


@dataclass(frozen=True, slots=True)
class _Table:
    """A text table that can be read from its beginning more than once.

    Attributes
    ----------
    name : str
    opened : function
        Gives the bytes below the first line.
    header : tuple of str
    delimiter : str
    """

    name: str
    opened: Callable[[], BinaryIO]
    header: tuple[str, ...]
    delimiter: str

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of test segments."""
        return self.header[1:]

    @property
    def n_lines(self) -> int:
        """At least as many lines as there are below the header."""
        with self.opened() as stream:
            return 1 + sum(block.count(b"\n") for block in iter(lambda: stream.read(_BLOCK), b""))

    def first(self, look: Callable[[int, list[str]], Found | None]) -> Found | None:
        """What a function finds first that is called with number and fields of every line below the header."""
        with self.opened() as stream, io.TextIOWrapper(stream, "utf-8", errors="replace") as lines:
            for number, line in enumerate(lines, 2):
                found = look(number, split(line.rstrip("\r\n"), self.delimiter, quoted=True)) if line.strip() else None
                if found is not None:
                    return found
        return None


def read(source: Source, options: Options) -> Contents:
    """Read a file of this format."""
    table = _table(source)
    if options.columns is not None:
        raise FormatError(f"{source.name}: a matrix-csv has no columns to name. Leave out {options.columns_option}.")
    kind: ContentKind = _kinds(table)[0] if options.need in (None, "index") else options.need
    n_rows, n_columns = table.n_lines, len(table.columns)
    reading = f"matrix-csv enroll x test, {DELIMITERS[table.delimiter]}"
    if kind == "key":
        cells: AnyArray = np.zeros((n_rows, n_columns), np.uint8)
        names, words = _read_words(table, cells)
        meanings, reading_more = _meanings(words, options.vocabulary, table)
        values = np.array([meanings[word] for word in words], np.int8)[cells[: len(names)]]
        trials = _trials(names, table, values != 0, f"{reading}{reading_more}")
        key = Key(trials, (values > 0).ravel() if trials.mask is None else values[trials.mask] > 0)
        known = {word: meanings[word] > 0 for word in words if meanings[word]}
        return Contents(origin=trials.origin, index=Index(trials), key=key, words=known)
    scores: FloatArray = np.empty((n_rows, n_columns), np.float64)
    names, n_empty = _read_scores(table, scores)
    scores = scores[: len(names)]
    held = None if not n_empty else ~np.isnan(scores)
    trials = _trials(names, table, held, reading)
    score = scores.ravel() if trials.mask is None else scores[trials.mask]
    system = options.system(trials, score, options.name or "system")
    return Contents(origin=trials.origin, index=Index(trials), systems=(system,))


def holds(source: Source, options: Options) -> tuple[ContentKind, ...]:  # noqa: ARG001  # the same for all
    """Which kinds of tables the file could be read as, by its first lines."""
    return _kinds(_table(source))


def _kinds(table: _Table) -> tuple[ContentKind, ...]:
    """Scores if the cells of some lines are numbers, a key if they are words or only 1, 0 and -1."""
    cells = set[str]()

    def look(number: int, fields: list[str]) -> bool | None:
        cells.update(fields[1:])
        return True if number > _LOOKED_AT else None

    table.first(look)
    if not all(is_number(cell) for cell in cells if cell):
        return ("key",)
    return ("scores", "key") if cells <= _SIGNED.keys() else ("scores",)


def _table(source: Source) -> _Table:
    """Where the header and the lines of a file are.

    Raises
    ------
    FormatError
        If there is no header of at least two columns with distinct names.
    """
    big = source.is_plain and source.size > _BIG and not source.is_binary
    data = b"" if big else without_comments(read_text(source)).lstrip(b"\n")

    def from_start() -> BinaryIO:
        return source.stream() if big else io.BytesIO(data)

    with from_start() as stream:
        first = stream.readline()

    def below() -> BinaryIO:
        stream = from_start()
        stream.seek(len(first))
        return stream

    try:
        line = first.decode("utf-8-sig").rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise FormatError(f"{source.name}:1: not UTF-8 ({error.reason}). Convert the file: iconv -t utf-8.") from error
    delimiter = max((",", "\t"), key=line.count)
    header = tuple(split(line, delimiter, quoted=True))
    if len(header) < 2:
        raise FormatError(
            f"{source.name}:1: expected a first line with the names of test segments, between commas or tabs, got "
            f"{shortened(line)!r}."
        )
    _refuse_bad_names(header[1:], source.name)
    return _Table(source.name, below, header, delimiter)


def _refuse_bad_names(names: Sequence[str], name: str) -> None:
    seen = set[str]()
    for at, one in enumerate(names, 2):
        if not one or one in seen:
            what = f"a second column {one!r}" if one else "no name of a test segment"
            raise FormatError(f"{name}:1: {what}, in column {at}. Every column needs a name of its own.")
        seen.add(one)


def _batches(table: _Table, kind: pa.DataType) -> Iterator[pa.RecordBatch]:
    """The lines in blocks: names, and cells of one type."""
    numbered = [str(at) for at in range(len(table.header))]
    width = 16 * sum(map(len, table.header))
    with table.opened() as stream:
        yield from pyarrow.csv.open_csv(
            pa.PythonFile(stream, "r"),
            read_options=pyarrow.csv.ReadOptions(column_names=numbered, block_size=max(_BLOCK, width)),
            parse_options=pyarrow.csv.ParseOptions(delimiter=table.delimiter),
            convert_options=pyarrow.csv.ConvertOptions(
                column_types={"0": pa.string()} | dict.fromkeys(numbered[1:], kind),
                null_values=[""],
                strings_can_be_null=False,
            ),
        )


def _filled(table: _Table, kind: pa.DataType, put: Callable[[pa.RecordBatch, int], None]) -> pa.Array:
    """Read all lines, hand each block on with the number of its first row, and return the names of rows."""
    names, at = list[pa.Array](), 0
    try:
        for batch in _batches(table, kind):
            names.append(pc.utf8_trim(batch.column(0), BLANKS))
            put(batch, at)
            at += len(batch)
    except pa.ArrowInvalid as error:
        if "Empty CSV" not in str(error):
            raise table.first(_fault_of(table)) or FormatError(f"{table.name}: {error}") from error
    if not at:
        raise FormatError(f"{table.name}: holds no trial, only the names of columns.")
    together: pa.Array = pa.concat_arrays(names)
    empty = pc.equal(together, pa.scalar(""))
    if pc.any(empty).as_py():
        where = table.first(lambda number, fields: f":{number}" if not fields[0] else None) or ""
        raise FormatError(f"{table.name}{where}: the name of the enrolment is empty.")
    return together


def _read_scores(table: _Table, scores: FloatArray) -> tuple[pa.Array, int]:
    """Fill a matrix with scores, NaN where there is none; return the names of rows and how many cells are empty."""
    n_empty = n_infinite = 0

    def put(batch: pa.RecordBatch, at: int) -> None:
        nonlocal n_empty, n_infinite
        rows = scores[at : at + len(batch)]
        for column in range(rows.shape[1]):
            values = batch.column(column + 1)
            n_empty += values.null_count
            rows[:, column] = to_numpy(values)
        n_infinite += int(np.count_nonzero(np.isinf(rows)))

    names = _filled(table, pa.float64(), put)
    if np.count_nonzero(np.isnan(scores[: len(names)])) > n_empty or n_infinite:
        fault = table.first(_fault_of(table))  # NaN, or digits beyond the range of a float
        if fault is not None:
            raise fault
    return names, n_empty


def _read_words(table: _Table, cells: AnyArray) -> tuple[pa.Array, list[str]]:
    """Fill a matrix with numbers of words; return the names of rows and the words."""
    codes: dict[str, int] = {}

    def put(batch: pa.RecordBatch, at: int) -> None:
        rows = cells[at : at + len(batch)]
        for column in range(rows.shape[1]):
            values = pc.dictionary_encode(batch.column(column + 1))
            words = [word.strip(BLANKS) for word in values.dictionary.to_pylist()]
            if len({*codes, *words}) > _MOST_WORDS:
                shown = ", ".join([*codes][:5])
                raise FormatError(f"{table.name}: more than {_MOST_WORDS} different cells ({shown}, ...): no labels.")
            own = np.array([codes.setdefault(word, len(codes)) for word in words], np.uint8)
            rows[:, column] = own[to_numpy(values.indices)]

    names = _filled(table, pa.string(), put)
    return names, list(codes)


def _meanings(words: Sequence[str], vocabulary: Vocabulary, table: _Table) -> tuple[dict[str, int], str]:
    """What cells mean: 1 for target, -1 for non-target, 0 for no trial; and what is to be said about it."""
    if "-1" in words and {*words} <= _SIGNED.keys() and vocabulary.folded:
        return _SIGNED, ", 1 target, -1 non-target, 0 no trial" if "0" in words else ""
    known = vocabulary.within([word for word in words if word])
    meanings = {word: known.meaning(word) for word in words if word}
    unknown = [word for word, meaning in meanings.items() if meaning is None]
    if unknown:

        def look(number: int, fields: list[str]) -> str | None:
            at = fields.index(unknown[0], 1) if unknown[0] in fields[1:] else 0
            return f":{number}: unknown label {unknown[0]!r} in column {table.header[at]!r}" if at else None

        where = table.first(look) or f": unknown label {unknown[0]!r}"
        raise FormatError(
            f"{table.name}{where}; known are {known}. Say what your words mean: --labels target=WORD,nontarget=WORD."
        )
    return {"": 0} | {word: 1 if meaning else -1 for word, meaning in meanings.items()}, ""


def _trials(names: pa.Array, table: _Table, held: BoolArray | None, reading: str) -> Trials:
    """The cells that are trials."""
    try:
        trials = Trials.of_grid(names, pa.array(table.columns), held, origin=Origin(table.name, reading))
    except InputError as error:
        raise FormatError(f"{table.name}: {error}") from error
    if not len(trials):
        raise FormatError(f"{table.name}: all cells are empty. Expected a score or a label in those that are trials.")
    return trials


def _fault_of(table: _Table) -> Callable[[int, list[str]], FormatError | None]:
    """What says of a line what is wrong with it: too many or too few cells, or one that is no score."""

    def look(number: int, fields: list[str]) -> FormatError | None:
        if len(fields) != len(table.header):
            return FormatError(f"{table.name}:{number}: expected {len(table.header):,} columns, got {len(fields):,}.")
        for title, cell in zip(table.columns, fields[1:], strict=True):
            problem = _problem(cell)
            if problem:
                return FormatError(f"{table.name}:{number}: {problem}, in the column {title!r} of {fields[0]!r}.")
        return None

    return look


def _problem(cell: str) -> str | None:
    if not cell:
        return None
    if not is_number(cell):
        return f"the score {cell!r} is not a number; leave the cell empty if it is no trial"
    if math.isnan(float(cell)):
        return "the score is NaN; leave the cell empty if it is no trial"
    if math.isinf(float(cell)) and "inf" not in cell.casefold():
        return f"the score {cell!r} is beyond the largest float, 1.8e308; write inf if infinite is meant"
    return None
