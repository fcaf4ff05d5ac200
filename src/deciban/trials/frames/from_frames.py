"""Tables of trials from data frames: Arrow tables, pandas, polars, whatever hands out its columns the Arrow way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from deciban._validate.ratios import logarithms_of_ratios, unit_of
from deciban.errors import InputError
from deciban.trials.classes import ClassKey, ClassScores
from deciban.trials.frames.columns import as_table, column_of, condition_of, names_of, numbers_of, truth_of
from deciban.trials.frames.to_frames import description
from deciban.trials.lists import PAIR, PAIR_SIDE, SINGLE, Origin, Trials
from deciban.trials.tables import Index, Key, Scores

_PANDAS_INDEX = "__index_level_"
_ORIGIN = Origin("data frame")


def index_from(
    frame: Any, *, enroll: str | None = None, test: str | None = None, side: str | None = None, trial: str | None = None
) -> Index:
    """Make an index from a data frame.

    Parameters
    ----------
    frame : pyarrow.Table, pandas.DataFrame, polars.DataFrame, mapping of str to arrays
        Or anything else that hands out its columns by ``__arrow_c_stream__``.
    enroll, test, side, trial : str, optional
        Columns that identify a trial: enroll and test, with or without side, or trial. Left out, those that are called
        so. All other columns are kept as conditions.

    Returns
    -------
    Index

    Raises
    ------
    InputError
        If a column is not there, or a name is missing.

    Examples
    --------
    >>> index_from({"model": ["ann"], "segment": ["x"]}, enroll="model", test="segment").trials.name_of(0)
    '(ann, x)'
    """
    return Index(_trials(as_table(frame), _given(enroll, test, side, trial), used=()))


def scores_from(
    frame: Any,
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
    """Make scores from a data frame.

    Parameters
    ----------
    frame : data frame
    enroll, test, side, trial : str, optional
        See `index_from`.
    score : str
        Column of the scores.
    name : str
        What tables and legends call the system.
    log10 : bool, optional
        Whether the scores are common logarithms; left out, as a table of `to_arrow` says, natural ones otherwise.
    lr : bool
        Whether the scores are likelihood ratios, whose natural logarithms are taken.

    Returns
    -------
    Scores

    Raises
    ------
    InputError
        If a column is not there, or a name or score is missing.

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
            raise InputError("lr: the frame holds natural logarithms of likelihood ratios already. Leave it out.")
        return Scores(trials, logarithms_of_ratios(values), name, is_from_lr=True)
    is_from_lr = described.get("is_from_lr") is True
    return Scores(trials, values, name, bool(described.get("log10")) if log10 is None else log10, is_from_lr)


def key_from(
    frame: Any,
    *,
    is_target: str = "label",
    enroll: str | None = None,
    test: str | None = None,
    side: str | None = None,
    trial: str | None = None,
) -> Key:
    """Make a key from a data frame.

    Parameters
    ----------
    frame : data frame
    is_target : str
        Column of the truth: booleans, numbers 1 and 0, or the words target and nontarget.
    enroll, test, side, trial : str, optional
        See `index_from`.

    Returns
    -------
    Key

    Raises
    ------
    InputError
        If a column is not there, a name or label is missing, or a label is anything else.

    Examples
    --------
    >>> key_from({"trial": ["a", "b"], "truth": [True, False]}, is_target="truth").n_tar
    1
    """
    table = as_table(frame)
    truth = truth_of(column_of(table, is_target), is_target)
    return Key(_trials(table, _given(enroll, test, side, trial), used=(is_target,)), truth)


def class_scores_from(frame: Any, classes: Sequence[str], *, trial: str = "trial", name: str = "system") -> ClassScores:
    """Make class scores from a data frame with one column per class.

    Parameters
    ----------
    frame : data frame
        See `index_from`.
    classes : sequence of str
        The columns.
    trial : str
        Column of the names of the segments.
    name : str
        What tables and legends call the system.

    Returns
    -------
    ClassScores

    Raises
    ------
    InputError
        If a column is not there, or a name or score is missing.

    Examples
    --------
    >>> class_scores_from({"trial": ["a"], "cat": [0.0], "dog": [-1.5]}, ["cat", "dog"]).score
    array([[ 0. , -1.5]])
    """
    table = as_table(frame)
    matrix = (
        np.column_stack([numbers_of(column_of(table, one), one) for one in classes]) if classes else np.empty((0, 0))
    )
    return ClassScores.of(_trials(table, {"trial": trial}, used=classes), classes, matrix, name=name)


def class_key_from(
    frame: Any, *, label: str = "class", trial: str = "trial", classes: Sequence[str] | None = None
) -> ClassKey:
    """Make a class key from a data frame.

    Parameters
    ----------
    frame : data frame
        See `index_from`.
    label : str
        Column of the names of the true classes.
    trial : str
        Column of the names of the segments.
    classes : sequence of str, optional
        All classes in their order; those that occur, sorted, when left out.

    Returns
    -------
    ClassKey

    Raises
    ------
    InputError
        If a column is not there, or a name is missing.

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
    given = {role: column for role, column in named.items() if column is not None}
    if given and tuple(given) not in (PAIR, PAIR_SIDE, SINGLE):
        raise InputError(f"trials are identified by enroll and test (and side), or by trial; got {', '.join(given)}.")
    return given


def _trials(table: pa.Table, given: Mapping[str, str], used: Sequence[str]) -> Trials:
    there = table.column_names
    default = next((sides for sides in (PAIR_SIDE, PAIR, SINGLE) if set(sides) <= set(there)), ())
    sides = given or {side: side for side in default}
    if not sides and "roles" not in description(table.schema):
        raise InputError(
            f"frame: no columns enroll and test, nor trial; there are {', '.join(map(str, there))}. Say which columns "
            "identify a trial: enroll=..., test=... or trial=..."
        )
    taken = {*sides.values(), *used}
    conditions = {
        name: condition_of(table.column(name), name)
        for name in there
        if name not in taken and not name.startswith(_PANDAS_INDEX)
    }
    if not sides:  # made by to_arrow of trials without names
        return Trials.of_rows(len(table), conditions=conditions, origin=_ORIGIN)
    ids = {side: names_of(column_of(table, name), name) for side, name in sides.items()}
    return Trials.of(ids, conditions=conditions, origin=_ORIGIN).densest()
