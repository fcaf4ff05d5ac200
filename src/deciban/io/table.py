"""Columns of a text table: Arrow reads it; where it stumbles, a slow second look names the line and the fault."""

from __future__ import annotations

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
from deciban.io.source import numbered_lines
from deciban.trials import IdColumn
from deciban.types import BoolArray, FloatArray

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
    try:
        columns = _parse(data, layout)
        if layout.delimiter == " " and _needs_cleaning(columns):
            columns = _parse(_cleaned(data), layout)
    except pa.ArrowInvalid:
        try:
            columns = _parse(_cleaned(data) if layout.delimiter == " " else _without_comments(data), layout)
        except pa.ArrowInvalid as error:
            raise _fault(data, layout, vocabulary, name) or FormatError(f"{name}: {error}") from error
    if len(columns[layout.sides[0]]) == 0:
        raise FormatError(f"{name}: holds no trial, only a header or comments.")
    ids = tuple(_id_column(columns[side]) for side in layout.sides)
    score = columns["score"].to_numpy() if "score" in columns else None
    is_target, words = _truth(columns["label"], vocabulary) if "label" in columns else (None, {})
    empty = any(pc.any(pc.equal(column.names, "")).as_py() for column in ids)
    if empty or (score is not None and np.isnan(np.max(score))) or ("label" in columns and is_target is None):
        raise _fault(data, layout, vocabulary, name) or FormatError(f"{name}: holds fields that cannot be read.")
    return Table(ids, score, is_target, words)


def line_of_row(data: bytes, layout: Layout, row: int, name: str) -> int:
    """Find the line that a row of the table stands on."""
    rows = islice(numbered_lines(data, name), row + (layout.header is not None), None)
    return next(rows)[0]


def _parse(data: bytes, layout: Layout) -> dict[str, pa.ChunkedArray]:
    names = [f"{i}" if role == IGNORED else role for i, role in enumerate(layout.roles)]
    text = pa.dictionary(pa.int32(), pa.string())
    wanted = [role for role in layout.roles if role != IGNORED]
    quote = '"' if layout.delimiter == "," else False
    table = pyarrow.csv.read_csv(
        pa.BufferReader(data),
        read_options=pyarrow.csv.ReadOptions(
            column_names=names, skip_rows_after_names=int(layout.header is not None), block_size=_BLOCK
        ),
        parse_options=pyarrow.csv.ParseOptions(delimiter=layout.delimiter, quote_char=quote),
        convert_options=pyarrow.csv.ConvertOptions(
            column_types={role: pa.float64() if role == "score" else text for role in wanted},
            include_columns=wanted,
            null_values=[],
            strings_can_be_null=False,
        ),
    )
    return {role: table.column(role).unify_dictionaries() for role in wanted}


def _needs_cleaning(columns: dict[str, pa.ChunkedArray]) -> bool:
    """Whether names show that white space or comments were taken for content."""
    return any(
        pc.any(pc.match_substring_regex(_dictionary(column), r"[\t\r\v\f]|^#|^;;|^$")).as_py()
        for role, column in columns.items()
        if role != "score"
    )


def _without_comments(data: bytes) -> bytes:
    return re.sub(rb"(?m)^[ \t]*(#|;;).*$", b"", data)


def _cleaned(data: bytes) -> bytes:
    """The same table with single blanks between fields, and without comments."""
    data = _without_comments(data.removeprefix(b"\xef\xbb\xbf")).translate(bytes.maketrans(b"\t\v\f\r", b"    "))
    return re.sub(rb"(?m)^ +| +$", b"", re.sub(rb" {2,}", b" ", data))


def _dictionary(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0).dictionary if column.num_chunks else pa.array([], pa.string())


def _id_column(column: pa.ChunkedArray) -> IdColumn:
    names = _dictionary(column)
    codes = np.concatenate([chunk.indices.to_numpy() for chunk in column.chunks])
    trimmed = pc.utf8_trim_whitespace(names)
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
        if field.casefold().lstrip("+-") == "nan":
            return "the score is NaN; infinite scores are allowed, NaN is not: repair the file or drop the trial"
    if role == "label" and vocabulary.meaning(field) is None:
        return (
            f"unknown label {field!r}; known are {vocabulary}. Say what your words mean: "
            "--labels target=WORD,nontarget=WORD"
        )
    if role in ("enroll", "test", "trial") and not field:
        return f"the name of the {role} is empty"
    return None
