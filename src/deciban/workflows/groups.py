"""Whose trials stay together when some of them are held out."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import pyarrow as pa

from deciban._arrow import compute as pc
from deciban.trials import Trials
from deciban.trials.conditions import as_text
from deciban.trials.lists import PAIR
from deciban.types import IntArray
from deciban.workflows.key_columns import complete_column

Groups: TypeAlias = IntArray | tuple[IntArray, IntArray] | None


def groups_of(trials: Trials, by: int | str | tuple[str, str]) -> Groups:
    """The groups that every trial belongs to, as numbers: the same name has the same number on both sides.

    Parameters
    ----------
    trials : Trials
    by : int, str, or pair of str
        Names of condition columns or sides; a number stands for all sides that the trials have.

    Returns
    -------
    (n_trials,) int array, a pair of them, or None
        None if every trial stands for itself.

    Raises
    ------
    InputError
        If there is no such column, or it lacks values.

    Examples
    --------
    >>> trials = Trials.of({"enroll": ["bob", "ann"], "test": ["x", "bob"]})
    >>> [side.tolist() for side in groups_of(trials, 2)]
    [[1, 0], [2, 1]]
    """
    if isinstance(by, int):
        sides = pairs_of(trials)
        return _numbered([trials.column(side) for side in sides]) if sides else None
    return _numbered([_column(trials, name) for name in ((by,) if isinstance(by, str) else by)])


def pairs_of(trials: Trials) -> tuple[str, ...]:
    """The two sides whose names stand for somebody; none where every trial has a name of its own."""
    return PAIR if trials.sides[:2] == PAIR else ()


def _column(trials: Trials, name: str) -> pa.DictionaryArray:
    if name in trials.sides:
        return trials.column(name)
    values = complete_column(trials, name, "says which trials to hold out together", trials.sides)
    return as_text(values).dictionary_encode()


def _numbered(columns: list[pa.DictionaryArray]) -> Groups:
    """Names as numbers in the order of the alphabet, whatever the order of trials is."""
    names = pc.unique(pa.concat_arrays([pc.cast(column.dictionary, pa.string()) for column in columns]))
    names = names.take(pc.sort_indices(names))
    numbers = [
        np.asarray(pc.index_in(pc.cast(column.dictionary, pa.string()), names))[np.asarray(column.indices)]
        for column in columns
    ]
    return (numbers[0], numbers[1]) if len(numbers) == 2 else numbers[0]
