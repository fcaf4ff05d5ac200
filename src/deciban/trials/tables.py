"""Trials and what is known of them. Identities are encoded once as integers; every table keeps the user's order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import ArrayLike

from deciban import _validate
from deciban.errors import InputError
from deciban.types import BoolArray, IntArray, ScoreArray


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a table came from, for messages.

    ``name`` is what messages call it, ``reading`` how it was understood, and ``line`` finds the line of a row.
    """

    name: str
    reading: str = ""
    line: Callable[[int], int | None] | None = None

    def where(self, row: int) -> str:
        """Name the place of a row: ``file:line``, or the row itself where there are no lines."""
        line = None if self.line is None else self.line(row)
        return f"{self.name}, row {row}" if line is None else f"{self.name}:{line}"


@dataclass(frozen=True, slots=True, eq=False)
class IdColumn:
    """One side of many trials: the distinct names, and for every trial the position of its name.

    Attributes
    ----------
    codes : (n_trials,) int array
    names : pyarrow string array
        Distinct.
    """

    codes: Any
    names: pa.Array

    @classmethod
    def of(cls, values: Sequence[str] | pa.Array) -> IdColumn:
        """Encode names, one per trial.

        Raises
        ------
        InputError
            If a name is not text.
        """
        try:
            names = pa.array(values, pa.string())
        except (pa.ArrowInvalid, pa.ArrowTypeError, UnicodeError) as error:
            raise InputError(f"ids: names of trials are text, but {error}.") from error
        if names.null_count:
            raise InputError(f"ids: {names.null_count} of {len(names)} names are missing. Every trial needs a name.")
        encoded = names.dictionary_encode()
        return cls(encoded.indices.to_numpy(), encoded.dictionary)

    def codes_in(self, names: pa.Array) -> IntArray:
        """For every trial the position of its name in ``names``, -1 where it is not there."""
        found = pc.fill_null(pc.index_in(self.names, value_set=names), -1).to_numpy(zero_copy_only=False)
        codes: IntArray = found.astype(np.int64)[self.codes]
        return codes


@dataclass(frozen=True, slots=True, eq=False)
class Trials:
    """A list of trials: each identified by one name (``trial``) or by two (``enroll``, ``test``)."""

    sides: tuple[str, ...]
    ids: tuple[IdColumn, ...]
    origin: Origin = field(default_factory=lambda: Origin("trials"))

    @classmethod
    def of(cls, ids: Mapping[str, Sequence[str] | pa.Array], origin: Origin | None = None) -> Trials:
        """Make a list of trials from names, one column per side.

        Raises
        ------
        InputError
            If there is no column, or the columns differ in length.
        """
        columns = tuple(IdColumn.of(values) for values in ids.values())
        lengths = {side: len(column.codes) for side, column in zip(ids, columns, strict=True)}
        if len(set(lengths.values())) != 1:
            raise InputError(f"ids: expected columns of one length, got {lengths}.")
        return cls(tuple(ids), columns, origin or Origin("trials"))

    def __len__(self) -> int:
        return len(self.ids[0].codes)

    def name_of(self, row: int) -> str:
        """Name one trial for a message."""
        return "(" + ", ".join(column.names[int(column.codes[row])].as_py() for column in self.ids) + ")"

    def codes_in(self, other: Trials) -> IntArray:
        """One integer per trial, equal for the same trial in both lists; -1 where ``other`` lacks one of its names.

        Raises
        ------
        OverflowError
            If ``other`` has more than 2**63 possible pairs of names.
        """
        combined = np.zeros(len(self), np.int64)
        unknown = np.zeros(len(self), np.bool_)
        possible = 1
        for mine, theirs in zip(self.ids, other.ids, strict=True):
            possible *= max(len(theirs.names), 1)
            if possible >= 2**63:
                raise OverflowError(f"{other.origin.name}: more than 2**63 pairs of names.")
            codes = mine.codes.astype(np.int64) if mine is theirs else mine.codes_in(theirs.names)
            unknown |= codes < 0
            combined *= len(theirs.names)
            combined += codes
        combined[unknown] = -1
        return combined


@dataclass(frozen=True, slots=True, eq=False)
class Key:
    """Which trials there are, and which of them are targets.

    Attributes
    ----------
    trials : Trials
    is_target : (n_trials,) bool array
    """

    trials: Trials
    is_target: BoolArray

    @classmethod
    def of(cls, ids: Mapping[str, Sequence[str]], is_target: ArrayLike) -> Key:
        """Make a key from names and truth.

        Examples
        --------
        >>> key = Key.of({"enroll": ["ann", "ann"], "test": ["x", "y"]}, [True, False])
        >>> key.n_tar, key.n_non
        (1, 1)
        """
        truth = np.asarray(is_target)
        trials = Trials.of(ids)
        if truth.dtype != np.bool_ or truth.shape != (len(trials),):
            raise InputError(
                f"is_target: expected {len(trials)} booleans, got {truth.dtype} values of shape {truth.shape}."
            )
        return cls(trials, truth)

    @property
    def n_tar(self) -> int:
        """Number of target trials."""
        return int(np.count_nonzero(self.is_target))

    @property
    def n_non(self) -> int:
        """Number of non-target trials."""
        return len(self.is_target) - self.n_tar


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """The scores of one system.

    Attributes
    ----------
    trials : Trials
    score : (n_trials,) float array
    name : str
        What tables and legends call the system.
    """

    trials: Trials
    score: ScoreArray
    name: str = "system"

    @classmethod
    def of(cls, ids: Mapping[str, Sequence[str]], score: ArrayLike, *, name: str = "system") -> Scores:
        """Make scores from names and numbers.

        Examples
        --------
        >>> len(Scores.of({"trial": ["a", "b"]}, [0.5, -1.0]).trials)
        2
        """
        trials, values = Trials.of(ids), _validate.scores(score, "score")
        if len(values) != len(trials):
            raise InputError(f"score: {len(values)} scores for {len(trials)} trials.")
        return cls(trials, values, name)
