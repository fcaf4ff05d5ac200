"""Columns of data frames, whatever library made them, as names, numbers and truth.

No library for data frames is imported: pandas frames are converted by Arrow, the others have ``__arrow_c_stream__``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from deciban._arrow import compute as pc
from deciban._validate import arrays as _validate
from deciban.errors import InputError
from deciban.trials.frames.to_frames import LABELS
from deciban.trials.names.codes import encode
from deciban.types import BoolArray, ScoreArray


def is_frame(given: Any) -> bool:
    """Whether this is a data frame: a table that has columns, or a mapping of names to columns.

    >>> is_frame({"score": [1.0]}), is_frame([1.0]), is_frame(None)
    (True, False, False)
    """
    if isinstance(given, pa.Table | pa.RecordBatch | Mapping):
        return True
    shown = hasattr(given, "columns") or hasattr(given, "__arrow_c_stream__")
    return shown and getattr(given, "ndim", 2) == 2 and not isinstance(given, pa.ChunkedArray)


def as_table(frame: Any) -> pa.Table:
    """Any data frame as an Arrow table.

    Raises
    ------
    InputError
        If it is none, or two columns have one name.
    """
    try:
        if isinstance(frame, pa.Table):
            table = frame
        elif type(frame).__module__.partition(".")[0] == "pandas" and hasattr(frame, "columns"):
            table = pa.Table.from_pandas(frame, preserve_index=False)
        elif isinstance(frame, pa.RecordBatch):
            table = pa.Table.from_batches([frame])
        elif isinstance(frame, Mapping) or hasattr(frame, "__arrow_c_stream__"):
            table = pa.table(frame)
        else:
            table = None
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise InputError(f"frame: cannot be read as a table ({error}).") from error
    if table is None:
        raise InputError(
            f"frame: expected a pandas, polars or Arrow table, or a mapping of columns, got {type(frame).__name__}."
        )
    twice = [name for name in table.column_names if table.column_names.count(name) > 1]
    if twice:
        raise InputError(f"frame: two columns are called {twice[0]!r}. Rename one.")
    return table


def column_of(table: pa.Table, name: str) -> pa.ChunkedArray:
    """One column.

    Raises
    ------
    InputError
        If there is none of this name.
    """
    given: object = name
    if not isinstance(given, str):
        raise InputError(f"frame: columns have names of text, got {type(given).__name__} for one.")
    if name not in table.column_names:
        raise InputError(f"frame: no column {name!r}; there are {', '.join(map(str, table.column_names)) or 'none'}.")
    return table.column(name)


_TEXT = (pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary(), pa.binary_view())


def is_text_or_bytes(kind: pa.DataType) -> bool:
    """Whether a column holds text, or bytes that may be."""
    return kind in _TEXT


def of_strings(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Dictionaries of any kind of text as dictionaries of the common one: Arrow cannot decode all of them."""
    if column.type.value_type == pa.string() or not column.num_chunks:
        return column
    parts = ((chunk.indices, pc.cast(chunk.dictionary, pa.string())) for chunk in column.chunks)
    return pa.chunked_array([pa.DictionaryArray.from_arrays(*part) for part in parts])


def condition_of(column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    """A column that is kept; text becomes one type of text.

    Raises
    ------
    InputError
        If its values are lists or records.
    """
    if pa.types.is_nested(column.type):
        raise InputError(
            f"{name}: holds {column.type} values. A condition is one value per trial: leave this column out."
        )
    if pa.types.is_dictionary(column.type) and is_text_or_bytes(column.type.value_type):
        column = of_strings(column)
    return pc.cast(column, pa.string()) if column.type in (pa.large_string(), pa.string_view()) else column


def names_of(column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    """Names as text, none missing; whole numbers become the digits they are.

    Raises
    ------
    InputError
        If one is missing.
    """
    if pa.types.is_dictionary(column.type):
        column = of_strings(column) if is_text_or_bytes(column.type.value_type) else column
        decode = any(chunk.dictionary.null_count for chunk in column.chunks)
        column = pc.cast(column, column.type.value_type) if decode else column
    _refuse_missing(column, name, "name")
    return pc.cast(column, pa.string()) if pa.types.is_integer(column.type) else column


def _refuse_missing(column: pa.ChunkedArray, name: str, what: str) -> None:
    if column.null_count:
        row = int(np.argmax(np.asarray(column.is_null())))
        raise InputError(
            f"{name}: {column.null_count:,} of {len(column):,} {what}s are missing, the first in row {row}."
        )


def numbers_of(column: pa.ChunkedArray, name: str) -> ScoreArray:
    """Scores as floats, none missing.

    Raises
    ------
    InputError
        If they are no numbers, or one is missing or NaN.
    """
    kind = column.type
    if not (pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_decimal(kind)):
        raise InputError(f"{name}: holds {kind} values, scores are numbers.")
    _refuse_missing(column, name, "score")
    column = pc.cast(column, pa.float64()) if pa.types.is_decimal(kind) else column
    return _validate.scores(column.to_numpy(), name)


def truth_of(column: pa.ChunkedArray, name: str) -> BoolArray:
    """Booleans, 1 and 0, or the words target and nontarget as truth.

    Raises
    ------
    InputError
        If there is anything else, or a label is missing.
    """
    _refuse_missing(column, name, "label")
    kind = column.type
    if pa.types.is_boolean(kind) or pa.types.is_integer(kind) or pa.types.is_floating(kind):
        values = column.to_numpy()
        known = (values == 0) | (values == 1)
        truth = values == 1
    else:
        codes, words = encode(names_of(column, name), name)
        meaning = [LABELS.index(word) if word in LABELS else -1 for word in words.to_pylist()]
        values, meanings = column, np.array(meaning, np.int8)[codes]
        known, truth = meanings >= 0, meanings == 1
    if not known.all():
        row = int(np.argmin(known))
        found = values[row].as_py() if isinstance(values, pa.ChunkedArray) else values[row].item()
        raise InputError(
            f"{name}: row {row} holds {found!r}; expected booleans, 1 and 0, or target and nontarget. Compare the "
            "column with your word for target first."
        )
    return np.asarray(truth, np.bool_)
