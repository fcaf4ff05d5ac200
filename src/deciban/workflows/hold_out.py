"""Which trials are held out together in cross-validation, in how many parts, and how that is told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from deciban._arrow import compute as pc
from deciban.errors import InputError
from deciban.messages import Message
from deciban.trials import Trials
from deciban.trials.frozen import as_text
from deciban.trials.lists import PAIR
from deciban.types import IntArray
from deciban.workflows.key_columns import complete_column

HeldOutGroups: TypeAlias = IntArray | tuple[IntArray, IntArray] | None

DEFAULT_FOLDS = 5


@dataclass(frozen=True, slots=True)
class HoldOut:
    """What is held out together.

    Attributes
    ----------
    by : int, str, or pair of str
        Names of columns of the key, or of sides of trials; a number stands for all sides, and is the number of folds.
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
    def parts(self) -> int:
        """The number of folds."""
        return self.by if isinstance(self.by, int) else self.n_folds

    def groups(self, trials: Trials) -> HeldOutGroups:
        """Whose trials stay together; see `groups_of`."""
        return groups_of(trials, self.by)

    def words(self, trials: Trials) -> str:
        """Say what is held out, and in how many parts."""
        return f"{' and '.join(self._named(trials)) or 'single trials'}, {self.parts} parts"

    def _named(self, trials: Trials) -> tuple[str, ...]:
        """Whose names nobody who is held out shares with training."""
        by = self.by
        return (by,) if isinstance(by, str) else by if isinstance(by, tuple) else pairs_of(trials)

    def message(self, trials: Trials, verb: str) -> Message:
        """Say what was done: that no model has seen what it calibrates, or fuses."""
        named = self._named(trials)
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


def _numbered(columns: list[pa.DictionaryArray]) -> HeldOutGroups:
    """Names as numbers in the order of the alphabet, whatever the order of trials is."""
    names = pc.unique(pa.concat_arrays([pc.cast(column.dictionary, pa.string()) for column in columns]))
    names = names.take(pc.sort_indices(names))
    numbers = [
        np.asarray(pc.index_in(pc.cast(column.dictionary, pa.string()), names))[np.asarray(column.indices)]
        for column in columns
    ]
    return (numbers[0], numbers[1]) if len(numbers) == 2 else numbers[0]
