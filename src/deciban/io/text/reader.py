"""Reader of text tables: Arrow parses blocks of lines; if it fails, a slow second pass finds the faulty line.

The module also splits a line into fields, and recognizes numbers among them.
"""

from __future__ import annotations

import csv
import math
import re
import unicodedata
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pyarrow as pa
from pyarrow import csv as arrow_csv

from deciban._arrow import lengths, of_numpy, pc, text_of, to_numpy
from deciban._validate.arrays import Vocabulary
from deciban.errors import FormatError, InputError, in_lines, not_none, some_of, teller
from deciban.io.columns import headers as naming
from deciban.io.formats import NO_NAN, ContentKind, Contents, InputOptions, RowError, TextFormat, assemble, same_names
from deciban.io.source import BLANKS, clean_text, end_of_lines, numbered_lines, without_comments
from deciban.trials import Origin
from deciban.trials.lists import identity_of


@dataclass(frozen=True, slots=True)
class Layout:
    """The layout of a text table: one role per column, as in `deciban.io.columns.headers`.

    ``quoted`` is True if quotes enclose fields although no commas separate them. ``compared`` are two columns that
    contain the same name in targets only.
    """

    format: TextFormat
    roles: tuple[str, ...]
    delimiter: str
    header: tuple[str, ...] | None = None
    holds: ContentKind | None = None
    quoted: bool = False
    compared: tuple[int, int] | None = None

    @property
    def known(self) -> tuple[str, ...]:
        """The roles of the columns, and of derived columns."""
        return self.roles if self.compared is None else (*self.roles, "label")

    @property
    def quotes_fields(self) -> bool:
        """True if quotes enclose fields, which may contain line breaks."""
        return self.delimiter == "," or self.quoted

    @property
    def sides(self) -> tuple[str, ...]:
        """The columns that identify a trial; empty if only its row does."""
        return identity_of(self.roles)

    def declared(self, options: InputOptions, name: str) -> InputOptions:
        """Return the options with the unit that the format declares.

        Raises
        ------
        FormatError
            If the user declared a different unit.
        """
        return options.declaring("log10", f"{name} (format {self.format.name})") if self.format.log10 else options

    def __str__(self) -> str:
        separated = "" if self.delimiter == " " else f", {DELIMITERS[self.delimiter]}"
        unit = ", log10" if self.format.log10 else ""
        unit += "" if self.compared is None else f", target if {' is '.join(map(repr, self.names_compared))}"
        if self.header is None:
            return f"{self.format.name} '{' '.join(self.roles)}'{separated}{unit}"
        pairs = list(zip(self.roles, self.header, strict=True))
        others = [name for role, name in pairs if role.startswith(naming.CONDITION)]
        known = [f"{role}={name!r}" for role, name in pairs if role[0] not in (naming.IGNORED, naming.CONDITION)]
        columns = some_of(known, " ", naming.MOST_SHOWN)
        kept = f", other columns: {some_of(others, ' ', naming.MOST_SHOWN)}" if others else ""
        if not self.format.log10 and self.holds != "class-scores":
            unit = naming.unit_in_words(naming.declared_unit(name) for role, name in pairs if role == "score") + unit
        return f"{self.format.name}{' ' * bool(columns)}{columns}{separated}{unit}{kept}"

    @property
    def names_compared(self) -> tuple[str, str]:
        """The two compared columns, by their headers or their numbers."""
        compared = not_none(self.compared, "compared columns")
        one, other = (f"column {at + 1}" if self.header is None else self.header[at] for at in compared)
        return one, other


BLOCK = 1 << 25
"""Largest number of bytes of text that are parsed at once."""

_LONGEST_FIELD = 1 << 26
"""Largest number of bytes in which the end of a quote is searched."""


@dataclass(frozen=True, slots=True, eq=False)
class TextBlocks:
    """The lines of a text table, which can be read more than once.

    Attributes
    ----------
    name : str
        Name of the file for messages.
    layout : Layout
    path : path, optional
        A plain file; one block of it is in memory at a time.
    text : bytes
        All lines, in place of a file.
    first : int
        Number of lines before these, without the header.
    size : int
        Number of bytes of a block of a file; by default `BLOCK`.
    only : int, optional
        Index of the only block of a file to read.
    """

    name: str
    layout: Layout
    path: Path | None = None
    text: bytes = b""
    first: int = 0
    size: int | None = None
    only: int | None = None

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        """Yield the number of lines before each block, without the header, and the block."""
        n_lines = self.first
        for at, (header, block) in enumerate(islice(self.raw(), None if self.only is None else self.only + 1)):
            text = clean_text(header + block, self.name, n_lines)
            if self.only in (None, at):
                yield n_lines, text
            n_lines += int(np.count_nonzero(np.frombuffer(text, np.uint8) == _END))
            n_lines -= clean_text(header, self.name).count(b"\n")

    def raw(self) -> Iterator[tuple[bytes, bytes]]:
        """Yield the header of the file and each block of lines below it, with their line ends and NUL bytes."""
        if self.path is None:
            yield b"", self.text
            return
        header, rest = b"" if self.layout.header is None else None, b""
        tell = teller(self.path.stat().st_size, "bytes")
        with self.path.open("rb") as stream:
            stream.seek(3 if stream.read(3) == b"\xef\xbb\xbf" else 0)
            while data := whole_lines(stream, max(self.size or BLOCK, len(rest))):
                tell(stream.tell())
                data = rest + data
                cut = _end_of_rows(data, self.layout)
                rest, data = data[cut:], data[:cut]
                if data:
                    if header is None:
                        header = not_none(_HEADER.match(data), "header")[0]
                        data = data[len(header) :]
                    yield header, data
        if rest.strip():
            yield header or b"", rest


def whole_lines(stream: BinaryIO, size: int) -> bytes:
    """Read to the end of the line after ``size`` bytes, so that no part of a line is copied in front of the next."""
    start = stream.tell()
    stream.seek(start + size)
    n_more = len(stream.readline())
    stream.seek(start)
    return stream.read(size + n_more)


def _end_of_rows(data: bytes, layout: Layout) -> int:
    """Return the end of the last whole line; line breaks inside quotes do not count, unless a quote has no end."""
    whole = cut = data.rfind(b"\n") + 1
    if layout.quotes_fields:
        is_odd = data.count(b'"', 0, cut) % 2
        while is_odd and cut:
            before = data.rfind(b"\n", 0, cut - 1) + 1
            is_odd = (is_odd + data.count(b'"', before, cut)) % 2
            cut = before
    return cut or (whole if len(data) > _LONGEST_FIELD else 0)


_HEADER = re.compile(rb"(?:[ \t\v\f]*(?:(?:#|;;)[^\r\n]*)?(?:\r\n?|\n))*[^\r\n]*(?:\r\n?|\n)?")
"""The lines up to the first that is neither blank nor a comment."""

_HUGE_NUMBER = re.compile(rb"[eE]\+?[0-9]{3}|[0-9]{300}")

_DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+")

_BLANKS = rb"[ \t\v\f]+(?=\n|\Z)"
_BLANK_LINE = re.compile(rb"\n" + _BLANKS)  # a pattern that begins with a character is found seven times faster
_BLANK_START = re.compile(_BLANKS)

_BLOCK = 1 << 24
"""Number of bytes that one thread parses at a time."""

_TEXT = pa.dictionary(pa.int32(), pa.string())

_QUOTE, _END = b'"\n'


def parse_blocks(blocks: TextBlocks, origin: Origin, system: str, options: InputOptions) -> Contents:
    """Read a text table and concatenate its blocks.

    Raises
    ------
    FormatError
        With the number of the first invalid line.
    """
    layout, name = blocks.layout, origin.name
    try:
        parts, is_odd = list[list[pa.ChunkedArray]](), False
        is_plain = layout.header is None and not any(role.startswith(naming.CONDITION) for role in layout.roles)
        for header, block in blocks.raw():
            body, columns = block, _quick_columns(block, layout, has_comments=True) if is_plain else None
            if columns is None:
                is_plain = False  # do not parse all blocks twice
                if b"\x00" in block:
                    deque(blocks, 0)  # raises with the number of the line
                body = _body(_with_whole_fields(clean_text(header + block, name), layout), layout, name)
                columns = _columns(body, layout)
            parts.append(columns)
            if not is_odd and len(parts[-1][0]):
                is_odd = _has_odd_quotes(body, layout) or _may_overflow(parts[-1], layout, body)
        # Arrow tolerates unbalanced quotes and reads 1e999 as inf, so such lines are checked one by one.
        if is_odd and (odd := next(faults_in(blocks, options.vocabulary), None)) is not None:
            raise odd
        columns = [_together(one) for one in zip(*parts, strict=True)]
        parts.clear()  # frees as much memory as the columns take
        if not columns or not len(columns[0]):
            raise FormatError(f"{name}: contains no trial, only a header or comments.")
        return assemble(*derived(columns, layout), origin=origin, system=system, options=options)
    except (pa.ArrowInvalid, RowError, InputError) as error:
        fault = next(faults_in(blocks, options.vocabulary), None)
        row = getattr(error, "row", None)
        line = None if row is None or fault is not None else lines_of_rows(blocks, [row])[0]
        place = name if line is None else f"{name}:{line}"
        raise fault or FormatError(f"{place}: {error}") from error


def _together(parts: Sequence[pa.ChunkedArray]) -> pa.ChunkedArray:
    """Concatenate the parts of one column; names of a dictionary keep the order in which they occur."""
    chunks, kind = [chunk for one in parts for chunk in one.chunks], parts[0].type
    if len(chunks) < 2 or not pa.types.is_dictionary(kind):
        return pa.chunked_array(chunks, kind)
    # Arrow would write all codes twice: once for the common dictionary, and once more to concatenate them.
    names = [chunk.dictionary for chunk in chunks]
    alone = [pa.DictionaryArray.from_arrays(of_numpy(np.arange(len(one), dtype=np.int32)), one) for one in names]
    places, done = pa.chunked_array(alone).unify_dictionaries().chunks, 0
    codes = np.empty(sum(map(len, chunks)), np.int32)
    for place, chunk in zip(places, chunks, strict=True):
        rows = codes[done : done + len(chunk)]
        np.take(to_numpy(place.indices), to_numpy(chunk.indices), out=rows, mode="clip")
        done += len(chunk)
    return pa.chunked_array([pa.DictionaryArray.from_arrays(of_numpy(codes), places[0].dictionary)])


def _with_whole_fields(data: bytes, layout: Layout) -> bytes:
    """Replace line breaks inside quotes by blanks, so that quoted fields end on the line where they begin.

    Blank lines are inserted after them, so that line numbers stay. If the last quote has no end, nothing is changed.
    """
    if not layout.quotes_fields or b'"' not in data:
        return data
    values = np.frombuffer(data, np.uint8)
    quotes, ends = np.flatnonzero(values == _QUOTE), np.flatnonzero(values == _END)
    if len(quotes) % 2 or not np.any(np.searchsorted(quotes, ends) % 2):
        return data
    parts, n_taken = data.split(b'"'), 0
    for place, part in enumerate(parts):
        if place % 2:
            n_taken += part.count(b"\n")
            parts[place] = b" ".join(part.splitlines()) if b"\n" in part else part
        elif n_taken and b"\n" in part:
            parts[place] = part.replace(b"\n", b"\n" * (n_taken + 1), 1)
            n_taken = 0
    return b'"'.join(parts)


def _has_odd_quotes(data: bytes, layout: Layout) -> bool:
    """Return True if a quote is used otherwise than around a whole field that is not empty and contains no quote."""
    if not layout.quotes_fields:
        return False
    values = np.frombuffer(data, np.uint8)
    quotes = np.flatnonzero(values == _QUOTE)
    begins, ends = quotes[::2], quotes[1::2]
    if len(begins) != len(ends) or np.any(ends - begins < 2):
        return True
    is_border = np.zeros(256, bool)
    is_border[[ord(layout.delimiter), *b"\r\n"]] = True
    before, after = values[begins[begins > 0] - 1], values[ends[ends < len(values) - 1] + 1]
    return not (is_border[before].all() and is_border[after].all())


def lines_of_rows(blocks: TextBlocks, rows: Sequence[int]) -> list[int | None]:
    """Return the line numbers of rows of the table, found in one pass; None for a row that does not exist."""
    layout = blocks.layout
    each = (numbered_lines(_with_whole_fields(one, layout), blocks.name, first) for first, one in blocks)
    lines = (number for rows in each for number, _ in islice(rows, int(layout.header is not None), None))
    items = {*rows}
    entries = {row: line for row, line in enumerate(islice(lines, max(items, default=-1) + 1)) if row in items}
    return [entries.get(row) for row in rows]


def _body(data: bytes, layout: Layout, name: str) -> bytes:
    """Return the lines after the header, without comments."""
    data = without_comments(data)
    if layout.header is not None:
        first, _ = next(numbered_lines(data, name))
        data = data[end_of_lines(data, first) :]
    if b"\v" in data or b"\f" in data:
        data = data.translate(bytes.maketrans(b"\v\f", b"  "))
    if layout.delimiter != " " or layout.quoted:
        return _BLANK_LINE.sub(b"\n", _BLANK_START.sub(b"", data, 1) if _BLANK_START.match(data) else data)
    return data.translate(bytes.maketrans(b"\t", b" ")) if b"\t" in data else data


def _quick_columns(data: bytes, layout: Layout, *, has_comments: bool = False) -> list[pa.ChunkedArray] | None:
    """Return the columns; None if the lines need more care: a field is empty, a line has another number of fields.

    Comments, tabs and NUL bytes would be in names, if a block that ``has_comments`` could be parsed at all. Names are
    searched because they are much shorter than the lines.
    """
    if layout.delimiter != " " or layout.quoted or naming.IGNORED in layout.roles:
        return None
    try:
        columns = parse(data, layout)
    except pa.ArrowInvalid:
        return None
    words = [chunk.dictionary for one in columns if has_comments and one.type == _TEXT for chunk in one.chunks]
    is_odd = any(one in text for text in map(bytes, map(text_of, words)) for one in b"\x00\t\v\f#;")
    return None if is_odd or any(has_empty(column) for column in columns) else columns


def _columns(body: bytes, layout: Layout) -> list[pa.ChunkedArray]:
    """Return one column for each role except ignored ones.

    Repeated blanks, or blanks at an end of a line, make empty fields. Searching for them first would take a tenth of
    the reading time. So the lines are parsed unchanged, and again without these blanks if a field was empty.
    """
    if (columns := _quick_columns(body, layout)) is not None:
        return columns
    if layout.delimiter == " " and not layout.quoted:
        body = re.sub(rb"(?m)^ +| +$", b"", re.sub(rb" {2,}", b" ", body))
    columns = [trimmed(column) for column in parse(body, layout)]
    for role, column in zip(kept(layout), columns, strict=True):
        if role in naming.IDENTITY and has_empty(column):
            raise RowError(f"the name of the {role} is empty", None)
    return columns


def kept(layout: Layout) -> list[str]:
    """Return the roles of the columns that are not ignored."""
    return [role for role in layout.roles if role != naming.IGNORED]


def has_empty(column: pa.ChunkedArray) -> bool:
    """Return True if a field of a text column is empty."""
    if pa.types.is_dictionary(column.type):
        return not all(lengths(chunk.dictionary).all() for chunk in column.chunks)
    return pa.types.is_string(column.type) and not all(lengths(chunk).all() for chunk in column.chunks)


def trimmed(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Remove blanks around text, and unify dictionaries."""
    if not pa.types.is_dictionary(column.type):
        return pc.utf8_trim(column, BLANKS) if pa.types.is_string(column.type) else column
    if not column.num_chunks:
        return column
    whole = _together([column]).chunk(0)
    trimmed = pc.utf8_trim(whole.dictionary, BLANKS)
    if trimmed.equals(whole.dictionary):
        return pa.chunked_array([whole])
    again = trimmed.dictionary_encode()
    return pa.chunked_array([pa.DictionaryArray.from_arrays(again.indices.take(whole.indices), again.dictionary)])


def parse(data: bytes, layout: Layout) -> list[pa.ChunkedArray]:
    """Return the columns that are not ignored; conditions as plain text, names and labels as dictionaries."""
    columns = {f"{i}": role for i, role in enumerate(layout.roles) if role != naming.IGNORED}
    types = {
        name: pa.float64() if role == "score" else pa.string() if role.startswith(naming.CONDITION) else _TEXT
        for name, role in columns.items()
    }
    if not data or data.isspace():
        return [pa.chunked_array([], kind) for kind in types.values()]
    table = arrow_csv.read_csv(
        pa.BufferReader(data),
        read_options=arrow_csv.ReadOptions(
            column_names=[f"{i}" for i in range(len(layout.roles))],
            block_size=_BLOCK,
            use_threads=len(data) > _BLOCK,  # a thread pool that has just started can crash the interpreter at exit
        ),
        parse_options=arrow_csv.ParseOptions(
            delimiter=layout.delimiter, quote_char='"' if layout.quotes_fields else False
        ),
        convert_options=arrow_csv.ConvertOptions(column_types=types, include_columns=list(columns), null_values=[]),
    )
    return list(table.columns)


def _may_overflow(columns: list[pa.ChunkedArray], layout: Layout, body: bytes) -> bool:
    """Return True if a score may be infinite because its digits exceed the range of a float."""
    scores = [to_numpy(column) for role, column in zip(kept(layout), columns, strict=True) if role == "score"]
    infinite = any(np.max(score) == np.inf or np.min(score) == -np.inf for score in scores)
    return infinite and _HUGE_NUMBER.search(body) is not None


def derived(
    columns: list[pa.ChunkedArray], layout: Layout
) -> tuple[list[pa.ChunkedArray], list[str], list[str] | None]:
    """Return columns, roles and headers, with the columns that the format derives."""
    roles = kept(layout)
    named = zip(layout.roles, layout.header or layout.roles, strict=True)
    headers = None if layout.header is None else [header for role, header in named if role != naming.IGNORED]
    if layout.compared is not None:
        one, other = (columns[sum(role != naming.IGNORED for role in layout.roles[:at])] for at in layout.compared)
        label = same_names(one, other, layout.names_compared)
        return [*columns, label], [*roles, "label"], None if headers is None else [*headers, "label"]
    if layout.format.derive is None:
        return columns, roles, headers
    by_role = layout.format.derive(dict(zip(roles, columns, strict=True)))
    return list(by_role.values()), list(by_role), None


def faults_in(blocks: TextBlocks, vocabulary: Vocabulary) -> Iterator[FormatError]:
    """Yield an error for each invalid line, by checking all lines."""
    layout, words = blocks.layout, set[str]()
    if "label" in layout.roles:
        at = layout.roles.index("label")
        for _, block in blocks:
            rows = (row for *_, row in _fields(_with_whole_fields(block, layout), 0, layout, blocks.name))
            words |= {row[at] for row in rows if len(row) == len(layout.roles)}
    for first, block in blocks:
        yield from _faults(_with_whole_fields(block, layout), first, layout, vocabulary, words, blocks.name)


def _faults(
    data: bytes, first: int, layout: Layout, vocabulary: Vocabulary, words: set[str], name: str
) -> Iterator[FormatError]:
    """Yield the faults in a block; ``first`` lines are before it, and ``words`` are the labels of all lines."""
    expected = f"{len(layout.roles)} columns ({shortened(' '.join(layout.roles))})"
    vocabulary = vocabulary.within(words)
    none_is_known = not any(vocabulary.meaning(word) is not None for word in words)
    ways = in_lines(naming.words_in_options(sorted(words))) if none_is_known else ""
    for number, line, fields in _fields(data, first, layout, name):
        shown = repr(shortened(line))
        if len(fields) != len(layout.roles):
            broken = ""
            if layout.delimiter == "," and line.count('"') % 2:
                broken = " A quote has no end on this line: remove line breaks from quoted fields."
            yield FormatError(f"{name}:{number}: expected {expected}, got {len(fields)}: {shown}.{broken}")
            continue
        for role, field in zip(layout.roles, fields, strict=True):
            if role == "label" and vocabulary.meaning(field) is None:
                problem = naming.unknown_label(field, vocabulary, f" in the line {shown}")
                yield FormatError(f"{name}:{number}: {problem}.{ways}")
            elif (wrong := _problem(role, field)) is not None:
                yield FormatError(f"{name}:{number}: {wrong}, in the line {shown}.")


def _fields(data: bytes, first: int, layout: Layout, name: str) -> Iterator[tuple[int, str, list[str]]]:
    """Yield the number, the text and the fields of each line after the header."""
    for number, line in islice(numbered_lines(data, name, first), int(layout.header is not None), None):
        yield number, line, split(line, layout.delimiter, quoted=layout.quoted)


def _problem(role: str, field: str) -> str | None:
    if role == "score":
        return _problem_of_score(field)
    return f"the name of the {role} is empty" if role in naming.IDENTITY and not field else None


def _problem_of_score(field: str) -> str | None:
    if field == "-":
        return "there is no score, only '-': leave such lines out, or name a column without gaps"
    hint = "; it has a decimal comma, write numbers with a point" if _DECIMAL_COMMA.fullmatch(field) else ""
    odd = "" if is_number(field) else odd_character(field)
    return problem_of_score(field, f": it has {odd}" if odd else hint, NO_NAN)


DELIMITERS = {"\t": "tabs", ",": "commas", " ": "white space"}


_NUMBER = re.compile(r"[+-]?(\d+\.?\d*([eE][+-]?\d+)?|\.\d+([eE][+-]?\d+)?|inf|infinity|nan)", re.IGNORECASE | re.ASCII)


_HEXADECIMAL = re.compile(r"[+-]?0x[\da-f]+(\.[\da-f]*)?(p[+-]?\d+)?", re.IGNORECASE | re.ASCII)


_PLAIN = {"\u2212": "-", "\u2013": "-", "\u2010": "-", "\u2011": "-", "\u066b": ".", "\u00a0": "", "\u202f": ""}
"""Characters that word processors and spreadsheets write in numbers."""


_ODD = frozenset(_PLAIN) | {"\u2007", "\u2009", "\u200b", "\ufeff"}


_PAIR_OR_DECIMAL = re.compile(r"[+-]?\d+,\d+")


_WHITE_SPACE = re.compile(f"[{BLANKS}]+")


def split(line: str, delimiter: str, *, quoted: bool = False) -> list[str]:
    """Split one line into fields; a line with unbalanced quotes is one field."""
    if delimiter == " ":
        line = line.strip(BLANKS)
        if not quoted:
            return _WHITE_SPACE.split(line)
    fields = line.split(delimiter)
    if (delimiter == "," or quoted) and '"' in line:
        try:
            fields = next(csv.reader([line], delimiter=delimiter, strict=True))
        except csv.Error:
            return [line]
    return [field.strip(BLANKS) for field in fields]


def shortened(line: str) -> str:
    """Return the beginning of a line for a message."""
    return line if len(line) <= 80 else line[:77] + "..."


def is_number(text: str) -> bool:
    """Return True if a field can be parsed as a number, including infinity and NaN."""
    return _NUMBER.fullmatch(text) is not None


def odd_character(text: str) -> str:
    """Return a text for the first character that is written in place of a minus, a blank or a digit, or an empty text.

    Spreadsheets and word processors write such characters.

    Examples
    --------
    >>> odd_character("m0 \u22121.5"), odd_character("-1.5")
    ('MINUS SIGN (U+2212, character 4)', '')
    """
    for at, sign in enumerate(text, start=1):
        is_odd = sign in _ODD or (sign > "\x7f" and (sign.isdigit() or unicodedata.category(sign) == "Zs"))
        if is_odd:
            return f"{unicodedata.name(sign, 'a character without a name')} (U+{ord(sign):04X}, character {at})"
    return ""


def is_odd_number(text: str) -> bool:
    """Return True for a number in an unsupported form: hexadecimal, with underscores, percent or unusual characters.

    Examples
    --------
    >>> [is_odd_number(text) for text in ("0x1p3", "1_000.5", "\u22121.5", "93.5%", "1.5", "m1")]
    [True, True, True, True, False, False]
    """
    if is_number(text) or not any(sign.isdigit() for sign in text):
        return False
    plain = "".join(_PLAIN.get(sign, str(unicodedata.decimal(sign, sign))) for sign in text)
    plain = plain.strip().removesuffix("%").strip()
    return is_number(plain) or is_number(plain.replace("_", "")) or _HEXADECIMAL.fullmatch(plain) is not None


def looks_numeric(fields: Sequence[str]) -> bool:
    """Return True if nearly all fields of a column are numbers."""
    return mostly(sum(map(is_number, fields)), len(fields))


def mostly(count: int, total: int) -> bool:
    """Return True if nearly all fields have a property; the line of the exception then gets an error."""
    return count > 0 and count >= 0.9 * total - 1


def counts_rows(values: Sequence[str]) -> bool:
    """Return True if values count rows from 0 or 1, with at most one gap (between first and last lines of a file).

    Examples
    --------
    >>> counts_rows(["0", "1", "2", "97", "98"]), counts_rows(["1", "3", "5"])
    (True, False)
    """
    if not values or not all(value.isdecimal() and value.isascii() for value in values):
        return not values
    numbers = list(map(int, values))
    steps = [after - before for before, after in pairwise(numbers)]
    return numbers[0] in (0, 1) and min(steps, default=1) > 0 and sum(step > 1 for step in steps) <= 1


def may_be_decimals(sample: Sequence[str]) -> bool:
    """Return True if pairs of integers could also be numbers with decimal commas.

    >>> may_be_decimals(["1,25", "-0,5"]), may_be_decimals(["a1,25"])
    (True, False)
    """
    return all(_PAIR_OR_DECIMAL.fullmatch(line.strip()) for line in sample)


def problem_of_score(field: str, hint: str, way_out: str) -> str | None:
    """Return the problem of a score, or None.

    Parameters
    ----------
    field : str
    hint : str
        End of the message for a field that is not a number.
    way_out : str
        Advice on NaN.
    """
    if not is_number(field):
        return f"the score {field!r} is not a number{hint}"
    if math.isnan(float(field)):
        return f"the score is NaN ({way_out})"
    if math.isinf(float(field)) and "inf" not in field.casefold():
        return f"the score {field!r} exceeds the largest float, 1.8e308; write inf for infinity"
    return None
