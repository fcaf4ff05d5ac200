"""Columns of a key that have to say something of every trial: how much it counts, or what it belongs to."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from deciban._arrow import compute as pc
from deciban._arrow import constant, to_numpy, with_gaps
from deciban._validate import arrays as _validate
from deciban.errors import FormatError, InputError, KeyMismatchError
from deciban.io.columns.values import refuse_gaps, weights_of
from deciban.io.contents import RowError
from deciban.messages import Message, counted
from deciban.trials import Aligned, AlignedClasses, ClassKey, Key, Trials
from deciban.trials.frozen import as_text
from deciban.trials.joining.lookup import Wanted
from deciban.trials.lists import PAIR, ROW
from deciban.types import CountArray, FloatArray, IntArray


def complete_column(
    trials: Trials, name: str, role: str, others: tuple[str, ...] = (), *, besides: str = "the label"
) -> pa.Array:
    """A condition column that has a value for every trial.

    Parameters
    ----------
    trials : Trials
    name : str
    role : str
        What the column does, in words for messages: "says ...".
    others : tuple of str
        What else could have been named.
    besides : str
        What no column of these is, in words.

    Raises
    ------
    InputError
        If there is no such column, or a trial has no value.
    """
    asked: object = name
    if not isinstance(asked, str) or name not in trials.conditions:
        there = ", ".join((*others, *trials.conditions)) or "none"
        raise InputError(f"{trials.origin.name}: no column {name!r} {role}; there are {there} (besides {besides}).")
    values = trials.condition(name)
    with placed_trials(trials):
        refuse_gaps(with_gaps(pc.equal(as_text(values), constant("")), 1.0), name, role)
    return values


@contextmanager
def placed_trials(trials: Trials) -> Iterator[None]:
    """Add the place of a trial to the message about its value."""
    try:
        yield
    except RowError as error:
        kind = InputError if error.kind is FormatError else error.kind
        raise kind(f"{trials.origin.where(error.row or 0)}: {error}.") from error


def weight_column(trials: Trials, name: str) -> FloatArray:
    """Weights of trials from a condition column of numbers, or of text that reads as numbers.

    Raises
    ------
    InputError
        If there is no such column, or a value is missing, no number, or no weight; with the place of the first.

    Examples
    --------
    >>> weight_column(Trials.of({"trial": ["a", "b"]}, conditions={"w": ["0.5", "2"]}), "w")
    array([0.5, 2. ])
    """
    names = "the names of trials and the label"
    values = complete_column(trials, name, "says how much trials count", besides=names)
    with placed_trials(trials):
        return weights_of(values, name)


def weights_of_key(aligned: Aligned | AlignedClasses, key: Key | ClassKey, name: str) -> CountArray:
    """Weights of the trials of a key that are left after a join.

    Parameters
    ----------
    aligned : Aligned or AlignedClasses
        On these trials.
    key : Key or ClassKey
        As it was before the join.
    name : str
        Of a column of the key.

    Returns
    -------
    (n_trials,) array
        Whole numbers as int64, else float64. Whether one of many classes is left without weight is for metrics to say.

    Raises
    ------
    InputError
        As in `weight_column`, or if all weights of targets or non-targets are 0.
    KeyMismatchError
        If copies of a trial differ in weight, of which the join kept one.
    """
    if aligned.report.duplicate > 0:
        _refuse_other_copies(key.trials, name)
    column = f"{key.trials.origin.name}, column {name!r}"
    weight = _validate.weights(weight_column(aligned.trials, name), len(aligned.trials), column)
    assert weight is not None  # noqa: S101  # there are some
    if isinstance(aligned, Aligned) and aligned.is_target is not None:
        _validate.both_classes(aligned.is_target, weight, column)
    return weight


def in_words(weight: CountArray) -> str:
    """The range of weights, and how many do not count.

    >>> in_words(np.array([0.0, 0.5, 3.0]))
    'from 0.5 to 3 · 1 of 3 are 0'
    """
    counting = weight[weight > 0]
    words = f"from {counting.min():g} to {counting.max():g}"
    n_zero = len(weight) - len(counting)
    return f"{words} · {n_zero:,} of {len(weight):,} are 0" if n_zero else words


def _refuse_other_copies(trials: Trials, name: str) -> None:
    first, copy = Wanted(trials).surplus
    one, other = weight_column(trials.take(first), name), weight_column(trials.take(copy), name)
    differ = np.flatnonzero(one != other)
    if len(differ):
        row = int(differ[0])
        places = trials.origin.where(int(copy[row])), trials.origin.where(int(first[row]))
        raise KeyMismatchError(
            f"{places[0]}: trial {trials.name_of(int(copy[row]))} has the weight {other[row]:g} in column {name!r}, "
            f"but {one[row]:g} at {places[1]} (copies of {counted(len(differ), 'trial')} in all). Give all "
            "copies of a trial one weight."
        )


HeldOutGroups: TypeAlias = IntArray | tuple[IntArray, IntArray] | None

DEFAULT_FOLDS = 5


@dataclass(frozen=True, slots=True)
class HoldOut:
    """What is held out together.

    Attributes
    ----------
    by : int, str, or pair of str
        Names of columns of the key, or of sides of trials, also as the file calls them; a number stands for all sides,
        and is the number of folds.
    n_folds : int
        Where ``by`` is a name.
    """

    by: int | str | tuple[str, str]
    n_folds: int = DEFAULT_FOLDS

    def __post_init__(self) -> None:
        """Refuse what says nothing about trials.

        Raises
        ------
        InputError
        """
        object.__setattr__(self, "n_folds", _folds(self.n_folds, "n_folds", _WHOLE))
        by: Any = self.by
        by = tuple(by) if isinstance(by, list) else by
        if not isinstance(by, str | tuple):
            by = _folds(by, "cross_validate", f"{_WHOLE}, a column of the key or side of trials, or a pair of these")
        elif isinstance(by, tuple) and not (len(by) in (1, 2) and all(isinstance(name, str) for name in by)):
            raise InputError(
                f"cross_validate: got {by!r}. Name one column of the key or side of trials, or two, one for each side."
            )
        object.__setattr__(self, "by", by)

    @property
    def groups(self) -> tuple[str, ...]:
        """Names of columns; none where a number stands for all sides."""
        return () if isinstance(self.by, int) else (self.by,) if isinstance(self.by, str) else self.by

    @property
    def parts(self) -> int:
        """The number of folds."""
        return self.by if isinstance(self.by, int) else self.n_folds

    def words(self, sides: tuple[str, ...]) -> str:
        """Say what is held out, and in how many parts; ``sides`` are those of trials, as `pairs_of` says."""
        return f"{' and '.join(self.groups or sides) or 'single trials'}, {self.parts} parts"

    def message(self, sides: tuple[str, ...], verb: str) -> Message:
        """Say what was done: that no model has seen what it calibrates, or fuses."""
        named = self.groups or sides
        seen = f"{' or '.join(named)} of the trials" if named else "trials"
        return Message(
            "folds", "", f"cross-validated in {self.parts} parts: no model has seen the {seen} that it {verb}"
        )


_WHOLE = "a whole number of folds (2 or more)"


def _folds(value: object, name: str, expected: str) -> int:
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer) or value < 2:
        raise InputError(f"{name}: got {value!r}. It is {expected}.")
    return int(value)


def groups_of(trials: Trials, by: int | str | tuple[str, str]) -> HeldOutGroups:
    """The groups that every trial belongs to, as numbers: the same name has the same number on both sides.

    Parameters
    ----------
    trials : Trials
    by : int, str, or pair of str
        Names of condition columns or of sides, these also as the file calls them; a number stands for all sides that
        the trials have.

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
    side = name if name in trials.conditions else trials.origin.side_called(name)
    if side in trials.sides:
        return trials.column(side)
    if trials.sides == ROW and not trials.conditions:
        raise InputError(
            f"{trials.origin.name}: no column {name!r} says which trials to hold out together. Its trials have neither "
            "names nor columns, only rows: hold out single trials, by the number of folds (cross_validate=5, "
            "--cross-validate 5)."
        )
    values = complete_column(trials, name, "says which trials to hold out together", trials.sides)
    return as_text(values).dictionary_encode()


def _numbered(columns: list[pa.DictionaryArray]) -> HeldOutGroups:
    """Names as numbers in the order of the alphabet, whatever the order of trials is."""
    names = pc.unique(pa.concat_arrays([pc.cast(column.dictionary, pa.string()) for column in columns]))
    names = names.take(pc.sort_indices(names))
    numbers = [
        to_numpy(pc.index_in(pc.cast(column.dictionary, pa.string()), names))[to_numpy(column.indices)]
        for column in columns
    ]
    return (numbers[0], numbers[1]) if len(numbers) == 2 else numbers[0]
