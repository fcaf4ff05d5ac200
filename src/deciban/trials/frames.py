"""Conversion between tables of trials and data frames of any library.

No library for data frames is imported: Arrow converts pandas frames, and other frames have ``__arrow_c_stream__``.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from deciban._arrow import encode, of_numpy, of_words, pc
from deciban._validate import arrays as _validate
from deciban._validate.arrays import unit_of
from deciban._validate.classes import logarithms_of_ratios
from deciban.errors import InputError
from deciban.trials.classes import ClassKey, ClassScores
from deciban.trials.lists import PAIR, PAIR_SIDE, ROW, SINGLE, Origin, Trials
from deciban.trials.tables import Index, Key, Scores, TrialTable
from deciban.types import BoolArray, Foreign, Frame, Json, ScoreArray

METADATA = b"deciban"
"""Key of the schema metadata that describe the columns as JSON: ``{"roles": {"trial": "trial", "age": "=age"},
"log10": false, "class_scores": true, "classes": ["cat", "dog"]}``."""


LABELS = ("nontarget", "target")


def to_arrow(table: TrialTable, *more: TrialTable) -> pa.Table:
    """Return tables of trials as one Arrow table.

    Parameters
    ----------
    table : Index, Key, Scores, ClassScores or ClassKey
    *more : the same
        Tables of the same trials in the same order: a key and its scores, or scores of further systems.

    Returns
    -------
    pyarrow.Table

    Raises
    ------
    InputError
        If the tables contain different trials, two columns have the same name, or the trials have no names and are not
        numbered from 0.

    Examples
    --------
    >>> from deciban.trials import Scores
    >>> scores = Scores.of({"enroll": ["ann", "ann"], "test": ["x", "y"]}, [0.5, -1.0], conditions={"sex": ["f", "f"]})
    >>> to_arrow(scores).column_names
    ['enroll', 'test', 'sex', 'score']
    """
    tables = (table, *more)
    trials = table.trials
    check_same_trials(trials, *(other.trials for other in more))
    columns = _Columns()
    if trials.sides != ROW:
        for side in trials.sides:
            columns.add(side, side, trials.column(side))
    elif not trials.is_numbered:
        raise InputError(
            f"{trials.origin.name}: the trials have no names, and their row numbers are not 0, 1, 2, ... in this "
            "order. Give them names first."
        )
    for name, values in trials.conditions.items():
        columns.add(name, f"={name}", values)
    meta: dict[str, Json] = {"log10": _base(tables)}
    systems = [one for one in tables if isinstance(one, Scores)]
    meta |= {"is_from_lr": True} if systems and all(one.is_from_lr for one in systems) else {}
    alone = sum(isinstance(one, Scores) for one in tables) == 1
    for one in tables:
        meta |= _add_values(columns, one, alone=alone)
    if not columns.values:
        raise InputError(f"{trials.origin.name}: trials without names and values cannot become a table.")
    meta = {"roles": columns.roles} | meta
    return pa.table(columns.values).replace_schema_metadata({METADATA: json.dumps(meta).encode()})


class _Columns:
    def __init__(self) -> None:
        self.values: dict[str, pa.Array] = {}
        self.roles: dict[str, str] = {}

    def add(self, name: str, role: str, values: pa.Array) -> None:
        if name in self.values:
            raise InputError(f"two columns would be called {name!r}. Rename the system, the class or the condition.")
        self.values[name] = values
        self.roles[name] = role


def _add_values(columns: _Columns, table: TrialTable, *, alone: bool) -> dict[str, Json]:
    """Add the columns of one table; return additional metadata."""
    if isinstance(table, Scores):
        columns.add("score" if alone else table.name, "score", of_numpy(table.score))
    elif isinstance(table, Key):
        codes = of_numpy(table.is_target.astype(np.int8))
        columns.add("label", "label", pa.DictionaryArray.from_arrays(codes, of_words(LABELS)))
    elif isinstance(table, ClassKey):
        codes = of_numpy(table.label.astype(np.int32))
        columns.add("class", "class", pa.DictionaryArray.from_arrays(codes, of_words(table.classes)))
        return {"classes": table.classes}
    elif isinstance(table, ClassScores):
        if "score" in columns.roles.values():
            raise InputError("scores of trials and of classes cannot be in one table.")
        for at, name in enumerate(table.classes):
            columns.add(name, "score", of_numpy(table.score[:, at]))
        return {"class_scores": True}
    return {}


def _base(tables: Sequence[TrialTable]) -> bool:
    bases = {one.log10 for one in tables if isinstance(one, Scores)}
    if len(bases) > 1:
        raise InputError(
            "common and natural logarithms cannot be in one table. Convert common ones with Scores.in_nats()."
        )
    return bases == {True}


def check_same_trials(*lists: Trials) -> None:
    """Raise if lists do not contain the same trials in the same order.

    Raises
    ------
    InputError
    """
    for other in lists[1:]:
        one = lists[0]
        is_alike = one.sides == other.sides and len(one) == len(other)
        if one is not other and not (is_alike and np.array_equal(other.codes_in(one), one.codes_in(one))):
            raise InputError(
                f"{one.origin.name} and {other.origin.name} do not contain the same trials in the same order. "
                "Align them first."
            )


def description(schema: pa.Schema) -> dict[str, Json]:
    """Return the description of columns in the schema metadata; empty if there is none."""
    try:
        described = json.loads((schema.metadata or {}).get(METADATA, b"{}"))
    except (ValueError, RecursionError):
        return {}
    return described if isinstance(described, dict) else {}


def to_pandas(table: TrialTable, *more: TrialTable) -> Frame:
    """Return tables as a pandas data frame; see `to_arrow`. Names become categories.

    Parameters
    ----------
    table, *more : Index, Key, Scores, ClassScores or ClassKey

    Returns
    -------
    pandas.DataFrame

    Raises
    ------
    InputError
        If pandas is not installed, or as in `to_arrow`.
    """
    require_library("pandas", "to_pandas")
    return to_arrow(table, *more).to_pandas()


def to_polars(table: TrialTable, *more: TrialTable) -> Frame:
    """Return tables as a polars data frame; see `to_arrow`. Names become categories.

    Parameters
    ----------
    table, *more : Index, Key, Scores, ClassScores or ClassKey

    Returns
    -------
    polars.DataFrame

    Raises
    ------
    InputError
        If polars is not installed, or as in `to_arrow`.
    """
    return require_library("polars", "to_polars").from_arrow(to_arrow(table, *more))


def require_library(name: str, function: str) -> Foreign:
    """Import an optional library for a function.

    Raises
    ------
    InputError
        If the library is not installed.
    """
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise InputError(
            f"{function}: {name} is not installed. Install it (pip install {name}) or use to_arrow."
        ) from error


def is_frame(value: object) -> bool:
    """Return True for a data frame: a table with columns, or a mapping of names to columns.

    >>> is_frame({"score": [1.0]}), is_frame([1.0]), is_frame(None)
    (True, False, False)
    """
    if isinstance(value, pa.Table | pa.RecordBatch | Mapping):
        return True
    shown = any(hasattr(value, name) for name in ("columns", "__arrow_c_stream__", "fetch_arrow_table"))
    return shown and getattr(value, "ndim", 2) == 2 and not isinstance(value, pa.ChunkedArray)


def as_table(frame: Frame) -> pa.Table:
    """Convert a data frame of any library to an Arrow table.

    Raises
    ------
    InputError
        If it is not a data frame, or two columns have the same name.
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
        elif hasattr(frame, "fetch_arrow_table"):  # a relation of DuckDB
            table = frame.fetch_arrow_table()
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
    """Return a column.

    Raises
    ------
    InputError
        If the table has no column with this name.
    """
    value: object = name
    if not isinstance(value, str):
        raise InputError(f"frame: names of columns must be strings, got {type(value).__name__}.")
    if name not in table.column_names:
        raise InputError(
            f"frame: no column {name!r}; the columns are {', '.join(map(str, table.column_names)) or 'none'}."
        )
    return table.column(name)


_TEXT = (pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary(), pa.binary_view())


def is_text_or_bytes(kind: pa.DataType) -> bool:
    """Return True if a column contains text, or bytes that may be text."""
    return kind in _TEXT


def of_strings(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Convert dictionaries with any type of text to dictionaries of strings, because Arrow cannot decode all types."""
    if column.type.value_type == pa.string() or not column.num_chunks:
        return column
    parts = ((chunk.indices, pc.cast(chunk.dictionary, pa.string())) for chunk in column.chunks)
    return pa.chunked_array([pa.DictionaryArray.from_arrays(*part) for part in parts])


def names_of(column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    """Return a column of names as text; integers become their digits.

    Raises
    ------
    InputError
        If a name is missing.
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
    """Return a column of scores as floats.

    Raises
    ------
    InputError
        If the values are not numbers, or one is missing or NaN.
    """
    kind = column.type
    if not (pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_decimal(kind)):
        raise InputError(f"{name}: contains {kind} values, but scores must be numbers.")
    _refuse_missing(column, name, "score")
    column = pc.cast(column, pa.float64()) if pa.types.is_decimal(kind) else column
    return _validate.scores(column.to_numpy(), name)


def truth_of(column: pa.ChunkedArray, name: str) -> BoolArray:
    """Return a column of labels (booleans, 1 and 0, or the words target and nontarget) as booleans.

    Raises
    ------
    InputError
        If there is another value, or a label is missing.
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
        result = values[row].as_py() if isinstance(values, pa.ChunkedArray) else values[row].item()
        raise InputError(
            f"{name}: row {row} contains {result!r}; expected booleans, 1 and 0, or target and nontarget. Compare the "
            "column with your word for target first."
        )
    return np.asarray(truth, np.bool_)


_PANDAS_INDEX = "__index_level_"

_ORIGIN = Origin("data frame")


Column: TypeAlias = str | None
"""Name of a column, or None if there is none."""


def index_from(
    frame: Frame, *, enroll: Column = None, test: Column = None, side: Column = None, trial: Column = None
) -> Index:
    """Return an index from a data frame.

    Parameters
    ----------
    frame : pyarrow.Table, pandas.DataFrame, polars.DataFrame, mapping of str to arrays
        Or another object with ``__arrow_c_stream__``.
    enroll, test, side, trial : str, optional
        Columns that identify a trial: enroll and test, with or without side, or trial. By default, the columns with
        these names. All other columns are kept as conditions.

    Returns
    -------
    Index

    Raises
    ------
    InputError
        If a column does not exist, or a name is missing.

    Examples
    --------
    >>> index_from({"model": ["ann"], "segment": ["x"]}, enroll="model", test="segment").trials.name_of(0)
    '(ann, x)'
    """
    return Index(_trials(as_table(frame), _given(enroll, test, side, trial), used=()))


def scores_from(
    frame: Frame,
    *,
    score: str = "score",
    enroll: str | None = None,
    test: str | None = None,
    side: str | None = None,
    trial: str | None = None,
    name: str = "system",
    log10: bool | None = None,
    lr: bool = False,
) -> Scores:
    """Return scores from a data frame.

    Parameters
    ----------
    frame : data frame
    enroll, test, side, trial : str, optional
        See `index_from`.
    score : str
        Column of the scores.
    name : str
        Name of the system in tables and legends.
    log10 : bool, optional
        True for common logarithms. By default, the metadata of `to_arrow` decide; otherwise natural logarithms.
    lr : bool
        True for likelihood ratios; their natural logarithms are returned.

    Returns
    -------
    Scores

    Raises
    ------
    InputError
        If a column does not exist, or a name or score is missing.

    Examples
    --------
    >>> scores_from({"utt": ["a", "b"], "llr": [0.5, -1.0]}, trial="utt", score="llr").score
    array([ 0.5, -1. ])
    """
    table = as_table(frame)
    values = numbers_of(column_of(table, score), score)
    trials = _trials(table, _given(enroll, test, side, trial), used=(score,))
    described = description(table.schema)
    if unit_of(log10=bool(described.get("log10") if log10 is None else log10), lr=lr) == "lr":
        if described.get("is_from_lr"):
            raise InputError("lr: the frame already contains natural logarithms of likelihood ratios. Leave lr out.")
        return Scores(trials, logarithms_of_ratios(values), name, is_from_lr=True)
    is_from_lr = described.get("is_from_lr") is True
    return Scores(trials, values, name, bool(described.get("log10")) if log10 is None else log10, is_from_lr)


def key_from(
    frame: Frame,
    *,
    is_target: str = "label",
    enroll: str | None = None,
    test: str | None = None,
    side: str | None = None,
    trial: str | None = None,
) -> Key:
    """Return a key from a data frame.

    Parameters
    ----------
    frame : data frame
    is_target : str
        Column of the labels: booleans, numbers 1 and 0, or the words target and nontarget.
    enroll, test, side, trial : str, optional
        See `index_from`.

    Returns
    -------
    Key

    Raises
    ------
    InputError
        If a column does not exist, a name or label is missing, or a label has another value.

    Examples
    --------
    >>> key_from({"trial": ["a", "b"], "truth": [True, False]}, is_target="truth").n_tar
    1
    """
    table = as_table(frame)
    truth = truth_of(column_of(table, is_target), is_target)
    return Key(_trials(table, _given(enroll, test, side, trial), used=(is_target,)), truth)


def class_scores_from(
    frame: Frame, classes: Sequence[str], *, trial: str = "trial", name: str = "system"
) -> ClassScores:
    """Return class scores from a data frame with one column per class.

    Parameters
    ----------
    frame : data frame
        See `index_from`.
    classes : sequence of str
        The columns.
    trial : str
        Column of the names of the segments.
    name : str
        Name of the system in tables and legends.

    Returns
    -------
    ClassScores

    Raises
    ------
    InputError
        If a column does not exist, or a name or score is missing.

    Examples
    --------
    >>> class_scores_from({"trial": ["a"], "cat": [0.0], "dog": [-1.5]}, ["cat", "dog"]).score
    array([[ 0. , -1.5]])
    """
    table = as_table(frame)
    columns = [numbers_of(column_of(table, one), one) for one in classes]
    matrix = np.column_stack(columns) if columns else np.empty((0, 0))
    return ClassScores.of(_trials(table, {"trial": trial}, used=classes), classes, matrix, name=name)


def class_key_from(
    frame: Frame, *, label: str = "class", trial: str = "trial", classes: Sequence[str] | None = None
) -> ClassKey:
    """Return a class key from a data frame.

    Parameters
    ----------
    frame : data frame
        See `index_from`.
    label : str
        Column of the names of the true classes.
    trial : str
        Column of the names of the segments.
    classes : sequence of str, optional
        All classes in their order; by default the classes that occur, sorted.

    Returns
    -------
    ClassKey

    Raises
    ------
    InputError
        If a column does not exist, or a name is missing.

    Examples
    --------
    >>> class_key_from({"trial": ["a", "b"], "class": ["dog", "cat"]}).label
    array([1, 0])
    """
    table = as_table(frame)
    names = names_of(column_of(table, label), label)
    return ClassKey.of(_trials(table, {"trial": trial}, used=(label,)), names, classes=classes)


def _given(enroll: str | None, test: str | None, side: str | None, trial: str | None) -> dict[str, str]:
    named = {"enroll": enroll, "test": test, "side": side, "trial": trial}
    entries = {role: column for role, column in named.items() if column is not None}
    if entries and tuple(entries) not in (PAIR, PAIR_SIDE, SINGLE):
        raise InputError(f"trials are identified by enroll and test (and side), or by trial; got {', '.join(entries)}.")
    return entries


def _trials(table: pa.Table, entries: Mapping[str, str], used: Sequence[str]) -> Trials:
    there = table.column_names
    default = next((sides for sides in (PAIR_SIDE, PAIR, SINGLE) if set(sides) <= set(there)), ())
    sides = entries or {side: side for side in default}
    if not sides and "roles" not in description(table.schema):
        raise InputError(
            f"frame: no columns enroll and test, and no column trial; the columns are {', '.join(map(str, there))}. "
            "Pass the columns that identify a trial: enroll=..., test=... or trial=..."
        )
    taken = {*sides.values(), *used}
    conditions = {
        name: table.column(name) for name in there if name not in taken and not name.startswith(_PANDAS_INDEX)
    }
    if not sides:  # to_arrow wrote trials without names
        return Trials.of_rows(len(table), conditions=conditions, origin=_ORIGIN)
    ids = {side: names_of(column_of(table, name), name) for side, name in sides.items()}
    return Trials.of(ids, conditions=conditions, origin=_ORIGIN).densest()
