"""Tables of trials as Arrow tables and data frames. Neither pandas nor polars is needed to import this.

The columns are ``enroll`` and ``test`` (with ``side``, if the trials have one) or ``trial``, then what is known of
every trial (its conditions), then the values: ``score`` (several systems: one column each, called by their names),
``label`` (``target`` or ``nontarget``), ``class``, or one column per class. Names are dictionary-encoded.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from deciban._arrow import of_numpy, of_words
from deciban.errors import InputError
from deciban.trials.classes import ClassKey, ClassScores
from deciban.trials.lists import ROW, Trials
from deciban.trials.tables import Key, Scores, TrialTable

METADATA = b"deciban"
"""Key of the schema metadata that says, as JSON, what the columns are: ``{"roles": {"trial": "trial", "age": "=age"},
"log10": false, "class_scores": true, "classes": ["cat", "dog"]}``."""

LABELS = ("nontarget", "target")


def to_arrow(table: TrialTable, *more: TrialTable) -> pa.Table:
    """Make an Arrow table.

    Parameters
    ----------
    table : Index, Key, Scores, ClassScores or ClassKey
    *more : the same
        What belongs to the same trials in the same order: a key with its scores, the scores of further systems.

    Returns
    -------
    pyarrow.Table

    Raises
    ------
    InputError
        If the tables are about different trials, two columns would have one name, or the trials have no names and are
        not numbered from 0.

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
    elif not numbered_in_order(trials):
        raise InputError(
            f"{trials.origin.name}: the trials have no names, and their row numbers are not 0, 1, 2, ... in this "
            "order. Give them names first."
        )
    for name, values in trials.conditions.items():
        columns.add(name, f"={name}", values)
    meta: dict[str, Any] = {"log10": _base(tables)}
    systems = [one for one in tables if isinstance(one, Scores)]
    meta |= {"is_from_lr": True} if systems and all(one.is_from_lr for one in systems) else {}
    alone = sum(isinstance(one, Scores) for one in tables) == 1
    for one in tables:
        meta |= _add_values(columns, one, alone=alone)
    if not columns.values:
        raise InputError(f"{trials.origin.name}: trials without names and values make no table.")
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


def _add_values(columns: _Columns, table: TrialTable, *, alone: bool) -> dict[str, Any]:
    """Add the columns of one table; return what else there is to say about it."""
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
            raise InputError("scores of trials and of classes do not go into one table.")
        for at, name in enumerate(table.classes):
            columns.add(name, "score", of_numpy(table.score[:, at]))
        return {"class_scores": True}
    return {}


def _base(tables: Sequence[TrialTable]) -> bool:
    bases = {one.log10 for one in tables if isinstance(one, Scores)}
    if len(bases) > 1:
        raise InputError(
            "common and natural logarithms do not go into one table. Turn the former into the latter, with "
            "Scores.in_nats()."
        )
    return bases == {True}


def check_same_trials(*lists: Trials) -> None:
    """Refuse lists that do not hold the same trials in the same order.

    Raises
    ------
    InputError
        If they do not.
    """
    for other in lists[1:]:
        if not are_same_trials(lists[0], other):
            raise InputError(
                f"{lists[0].origin.name} and {other.origin.name} are not about the same trials in the same order. "
                "Align them first."
            )


def are_same_trials(one: Trials, other: Trials) -> bool:
    """Whether two lists hold the same trials in the same order."""
    if one is other or one.sides != other.sides or len(one) != len(other):
        return one is other
    return np.array_equal(other.codes_in(one), one.codes_in(one))


def description(schema: pa.Schema) -> dict[str, Any]:
    """What the schema metadata say of the columns; empty if they say nothing of use."""
    try:
        described = json.loads((schema.metadata or {}).get(METADATA, b"{}"))
    except (ValueError, RecursionError):
        return {}
    return described if isinstance(described, dict) else {}


def numbered_in_order(trials: Trials) -> bool:
    """Whether trials without names are the rows 0, 1, 2, ... of a table."""
    if trials.sides != ROW:
        return False
    names = trials.names[0].take(of_numpy(trials.codes[0]))
    return bool(names.equals(of_numpy(np.arange(len(trials))).cast(pa.string())))


def to_pandas(table: TrialTable, *more: TrialTable) -> Any:
    """Make a pandas data frame; see `to_arrow`. Names become categories.

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


def to_polars(table: TrialTable, *more: TrialTable) -> Any:
    """Make a polars data frame; see `to_arrow`. Names become categories.

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


def require_library(name: str, function: str) -> Any:
    """Import a library that a function needs and nothing else does.

    Raises
    ------
    InputError
        If it is not installed.
    """
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise InputError(
            f"{function}: {name} is not installed. Install it (pip install {name}) or use to_arrow."
        ) from error
