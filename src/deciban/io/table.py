"""Columns of a text table: Arrow reads it; where it stumbles, a slow second look names the line and the fault."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from deciban.errors import FormatError
from deciban.io.labels import Vocabulary
from deciban.io.layout import IGNORED, Layout, is_number, split
from deciban.io.source import BLANKS, numbered_lines, without_comments
from deciban.trials import IdColumn
from deciban.types import BoolArray, FloatArray

_HUGE_NUMBER = re.compile(rb"[eE]\+?[0-9]{3}|[0-9]{300}")

_BLANK_LINE = re.compile(rb"(?m)^[ \t\v\f]+$")

_CHARACTERS = 1 << 18
"""Characters looked at together, so that they stay in cache."""

_BLOCK = 1 << 24
"""Bytes that one thread parses at a time."""


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """What a text table holds, one entry per row."""

    ids: tuple[IdColumn, ...]
    score: FloatArray | None
    is_target: BoolArray | None
    words: Mapping[str, bool]
    """The label words that occur, and whether each means target."""


def parse_table(data: bytes, layout: Layout, vocabulary: Vocabulary, name: str) -> Table:
    """Read the columns that ``layout`` gives a role.

    Raises
    ------
    FormatError
        With the number of the first line that does not fit.
    """
    body = _body(data, layout, name)
    try:
        columns = _parse(body, layout)
    except pa.ArrowInvalid as error:
        raise _fault(data, layout, vocabulary, name) or FormatError(f"{name}: {error}") from error
    if len(columns[layout.sides[0]]) == 0:
        raise FormatError(f"{name}: holds no trial, only a header or comments.")
    ids = tuple(_id_column(columns[side]) for side in layout.sides)
    score = columns["score"].to_numpy() if "score" in columns else None
    is_target, words = _truth(columns["label"], vocabulary) if "label" in columns else (None, {})
    empty = any(pc.any(pc.equal(column.names, "")).as_py() for column in ids)
    is_nan = score is not None and bool(np.isnan(np.max(score)))
    unknown_word = "label" in columns and is_target is None
    # Arrow is generous with quotes: lines are looked at one by one where there are any.
    quoted = layout.delimiter == "," and b'"' in body
    if empty or is_nan or unknown_word or quoted or (score is not None and _may_overflow(score, body)):
        fault = _fault(data, layout, vocabulary, name)
        if fault or empty or is_nan or unknown_word:
            raise fault or FormatError(f"{name}: holds fields that cannot be read.")
    return Table(ids, score, is_target, words)


def line_of_row(data: bytes, layout: Layout, row: int, name: str) -> int | None:
    """Find the line that a row of the table stands on; None if there is no such row (any more)."""
    rows = islice(numbered_lines(data, name), row + (layout.header is not None), None)
    return next(rows, (None, ""))[0]


def _body(data: bytes, layout: Layout, name: str) -> bytes:
    """The lines below the header, with single blanks between words and without comments."""
    data = without_comments(data)
    if layout.header is not None:
        first, _ = next(numbered_lines(data, name))
        start = 0
        for _ in range(first):
            start = data.find(b"\n", start) + 1 or len(data)
        data = data[start:]
    if b"\v" in data or b"\f" in data:
        data = data.translate(bytes.maketrans(b"\v\f", b"  "))
    if layout.delimiter != " ":
        return _BLANK_LINE.sub(b"", data)
    if b"\t" in data:
        data = data.translate(bytes.maketrans(b"\t", b" "))
    if _has_idle_blanks(data):
        data = re.sub(rb"(?m)^ +| +$", b"", re.sub(rb" {2,}", b" ", data))
    return data


def _has_idle_blanks(data: bytes) -> bool:
    """Whether any blank stands beside another one or at an end of a line; three times as fast as ``in``."""
    characters = np.frombuffer(data, np.uint8)
    if data.startswith(b" ") or data.endswith(b" "):
        return True
    for start in range(0, len(characters), _CHARACTERS):
        chunk = characters[start : start + _CHARACTERS + 1]
        blank = chunk == ord(" ")
        edge = blank | (chunk == ord("\n"))
        if np.any(blank[:-1] & edge[1:]) or np.any(edge[:-1] & blank[1:]):
            return True
    return False


def _parse(data: bytes, layout: Layout) -> dict[str, pa.ChunkedArray]:
    names = [f"{i}" if role == IGNORED else role for i, role in enumerate(layout.roles)]
    text = pa.dictionary(pa.int32(), pa.string())
    wanted = [role for role in layout.roles if role != IGNORED]
    if not data or data.isspace():
        return {role: pa.chunked_array([], pa.float64() if role == "score" else text) for role in wanted}
    table = pyarrow.csv.read_csv(
        pa.BufferReader(data),
        read_options=pyarrow.csv.ReadOptions(
            column_names=names,
            block_size=_BLOCK,
            use_threads=len(data) > _BLOCK,  # a pool that hardly started can abort the interpreter at its exit
        ),
        parse_options=pyarrow.csv.ParseOptions(
            delimiter=layout.delimiter, quote_char='"' if layout.delimiter == "," else False
        ),
        convert_options=pyarrow.csv.ConvertOptions(
            column_types={role: pa.float64() if role == "score" else text for role in wanted},
            include_columns=wanted,
            null_values=[],
            strings_can_be_null=False,
        ),
    )
    return {role: table.column(role).unify_dictionaries() for role in wanted}


def _may_overflow(score: FloatArray, body: bytes) -> bool:
    """Whether a score may be infinite because its digits are beyond the range of a float."""
    infinite = np.max(score) == np.inf or np.min(score) == -np.inf
    return bool(infinite and _HUGE_NUMBER.search(body))


def _dictionary(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0).dictionary if column.num_chunks else pa.array([], pa.string())


def _id_column(column: pa.ChunkedArray) -> IdColumn:
    names = _dictionary(column)
    codes = np.concatenate([chunk.indices.to_numpy() for chunk in column.chunks])
    trimmed = pc.utf8_trim(names, BLANKS)
    if trimmed.equals(names):
        return IdColumn(codes, names)
    encoded = trimmed.dictionary_encode()
    return IdColumn(encoded.indices.to_numpy()[codes], encoded.dictionary)


def _truth(column: pa.ChunkedArray, vocabulary: Vocabulary) -> tuple[BoolArray | None, dict[str, bool]]:
    labels = _id_column(column)
    meanings = {word: vocabulary.meaning(word) for word in labels.names.to_pylist()}
    words = {word: meaning for word, meaning in meanings.items() if meaning is not None}
    if len(words) < len(meanings):
        return None, words
    return np.array(list(words.values()), dtype=np.bool_)[labels.codes], words


def _fault(data: bytes, layout: Layout, vocabulary: Vocabulary, name: str) -> FormatError | None:
    """Find the first line that does not fit, by looking at every line."""
    expected = f"{len(layout.roles)} columns ({' '.join(layout.roles)})"
    for number, line in islice(numbered_lines(data, name), int(layout.header is not None), None):
        shown = repr(line if len(line) <= 80 else line[:77] + "...")
        fields = split(line, layout.delimiter)
        if len(fields) != len(layout.roles):
            return FormatError(f"{name}:{number}: expected {expected}, got {len(fields)}: {shown}.")
        for role, field in zip(layout.roles, fields, strict=True):
            problem = _problem(role, field, vocabulary)
            if problem:
                return FormatError(f"{name}:{number}: {problem}, in the line {shown}.")
    return None


def _problem(role: str, field: str, vocabulary: Vocabulary) -> str | None:
    if role == "score":
        if not is_number(field):
            return f"the score {field!r} is not a number"
        if math.isnan(float(field)):
            return "the score is NaN; infinite scores are allowed, NaN is not: repair the file or drop the trial"
        if math.isinf(float(field)) and "inf" not in field.casefold():
            return f"the score {field!r} is beyond the largest float, 1.8e308; write inf if infinite is meant"
    if role == "label" and vocabulary.meaning(field) is None:
        return (
            f"unknown label {field!r}; known are {vocabulary}. Say what your words mean: "
            "--labels target=WORD,nontarget=WORD"
        )
    if role in ("enroll", "test", "trial") and not field:
        return f"the name of the {role} is empty"
    return None
