"""Frozen tables of trials: index, key and scores, in the user's order, and criteria by which trials are chosen."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike

from deciban._arrow import compute as pc
from deciban._arrow import constant, of_numpy, of_words, to_numpy, with_gaps
from deciban._validate import arrays as _validate
from deciban.errors import InputError
from deciban.trials.lists import NO_CONDITIONS, Conditions, Frozen, Trials, as_text, owned
from deciban.trials.names import IdMap, Ids, plain_names, positions
from deciban.types import AnyArray, BoolArray, IntArray, ScoreArray, ScoreUnit

Chosen: TypeAlias = str | Sequence[str] | None
"""Names to choose, one or several; None sets no criterion."""

Where: TypeAlias = Mapping[str, str | Sequence[str]]


def criteria(trials: Trials, names: Mapping[str, Chosen], where: Where) -> list[BoolArray]:
    """For every criterion, the trials that meet it.

    Raises
    ------
    InputError
        If there is no criterion, or a side, condition column or condition value does not exist or is not given as text.
    """
    if not isinstance(where, Mapping):
        raise InputError(f"where: got {where!r}. Write the values of each condition column: {{'gender': 'f'}}.")
    meets = []
    for side, wanted in names.items():
        if wanted is None:
            continue
        if side not in trials.sides:
            raise InputError(f"{side}: trials of {trials.origin.name} are identified by {', '.join(trials.sides)}.")
        at = trials.sides.index(side)
        known = to_numpy(pc.is_in(trials.names[at], value_set=_listed(wanted, side)))
        meets.append(known[trials.codes[at]])
    for name, values in where.items():
        meets.append(_with_values(trials, name, _listed(values, name)))
    if not meets:
        raise InputError("keep or drop: no criterion given. Name enroll, test or trial, or a condition (where).")
    return meets


def _with_values(trials: Trials, name: str, listed: pa.Array) -> BoolArray:
    """Trials whose condition has one of these values, in whichever way they are written."""
    column = trials.condition(name).dictionary_encode()
    there = column.dictionary
    chosen = np.zeros(len(there) + 1, np.bool_)  # the last entry is for trials without a value
    for text in listed.to_pylist():
        found = texts_alike(there, text)
        if not found.any():
            listing = ", ".join(str(value) for value in as_text(there)[:20].to_pylist())
            raise InputError(f"{trials.origin.name}: no trial has {name} = {text!r}; there are {listing}.")
        chosen[:-1] |= found
    meets: BoolArray = chosen[with_gaps(column.indices, len(there))]
    return meets


def texts_alike(values: pa.Array, text: str) -> BoolArray:
    """Which values are what a text says, in whichever way they are written; what is missing is nothing.

    Examples
    --------
    >>> texts_alike(pa.array([1.0, 2.0]), "1")
    array([ True, False])
    """
    alike = pc.equal(as_text(values), constant(text))
    value = _value(text, values.type)
    if value is not None:
        alike = pc.or_(alike, pc.is_in(values, value_set=value))  # NaN is in it, and equals nothing
    return with_gaps(alike, False)  # noqa: FBT003  # a value to fill in, no option


def _value(text: str, kind: pa.DataType) -> pa.Array | None:
    """A text as a value of a column, None where it can be none; 1.0 is a whole number, too."""
    for ways in ((kind,), (pa.float64(), kind)):
        value = of_words([text])
        try:
            for way in ways:
                value = pc.cast(value, way)
        except pa.ArrowException:
            continue
        return value
    return None


def _listed(values: str | Sequence[str], argument: str) -> pa.Array:
    """One name or several as an Arrow array: a single text is never taken for a list of letters."""
    return plain_names([values] if isinstance(values, str) else values, argument)


LOG_10 = float(np.log(10.0))


class TrialTable(Frozen):
    """A list of trials and what belongs to each of them; what `Index`, `Key` and `Scores` have in common."""

    trials: Trials
    holds: ClassVar[str | None] = None
    """The attribute that holds a row for each trial; None where there is none."""
    conflict: ClassVar[str] = "is listed in two ways"
    """What is wrong with a trial whose copies differ."""

    def __post_init__(self) -> None:
        if self.holds is not None:
            self._freeze(self.holds)

    def __len__(self) -> int:
        return len(self.trials)

    def __repr__(self) -> str:
        name = getattr(self, "name", None)
        words = ("" if name is None else f"{name!r}: ") + "; ".join((self.trials.in_words, *self._in_words()))
        return f"{type(self).__name__}({words})"

    def _in_words(self) -> Sequence[str]:
        """What is to be said of the content, shortly."""
        return ()

    @property
    def content(self) -> AnyArray | None:
        """What belongs to each trial and must be the same for all copies of it; None for nothing."""
        return None if self.holds is None else getattr(self, self.holds)

    @property
    def index(self) -> Index:
        """The trials alone."""
        return Index(self.trials)

    def _with(self, trials: Trials, rows: IntArray | BoolArray | slice) -> Self:
        """The same for other trials, whose values stand in these rows."""
        table: Any = self
        values = {} if self.holds is None else {self.holds: getattr(self, self.holds)[rows]}
        made: Self = replace(table, trials=trials, **values)
        return made

    def take(self, rows: IntArray | BoolArray) -> Self:
        """Some of the trials, by row number or by a mask over the trials."""
        rows = self.trials.row_numbers(rows)
        return self._with(self.trials.take(rows), rows)

    def keep(
        self, *, enroll: Chosen = None, test: Chosen = None, trial: Chosen = None, where: Where = NO_CONDITIONS
    ) -> Self:
        """Keep the trials that meet every criterion.

        Parameters
        ----------
        enroll, test, trial : str or sequence of str, optional
            Names on that side. Names that do not occur are no error.
        where : mapping of str to str or sequence of str
            Values of condition columns: ``{"gender": "f", "channel": ["tel", "mic"]}``.
            Numbers and truth values count, not how they are written: 1 and 1.0, True and true are the same.

        Returns
        -------
        The same kind of table.

        Raises
        ------
        InputError
            If a side, condition column or condition value does not exist, or no trial is left.

        Examples
        --------
        >>> from deciban.trials import Scores
        >>> scores = Scores.of({"enroll": ["a", "a", "b"], "test": ["x", "y", "x"]}, [1.0, 2.0, 3.0])
        >>> scores.keep(enroll=["a"], test=["x", "z"]).score
        array([1.])
        """
        meets = criteria(self.trials, {"enroll": enroll, "test": test, "trial": trial}, where)
        return self._selected(np.logical_and.reduce(meets))

    def drop(
        self, *, enroll: Chosen = None, test: Chosen = None, trial: Chosen = None, where: Where = NO_CONDITIONS
    ) -> Self:
        """Leave out the trials that meet any of the criteria; see `keep`.

        Raises
        ------
        InputError
            As in `keep`.

        Examples
        --------
        >>> from deciban.trials import Scores
        >>> scores = Scores.of({"enroll": ["a", "a", "b"], "test": ["x", "y", "x"]}, [1.0, 2.0, 3.0])
        >>> scores.drop(enroll=["b"], test=["y"]).score
        array([1.])
        """
        meets = criteria(self.trials, {"enroll": enroll, "test": test, "trial": trial}, where)
        return self._selected(~np.logical_or.reduce(meets))

    def _selected(self, chosen: BoolArray) -> Self:
        if not chosen.any():
            raise InputError(f"{self.trials.origin.name}: none of {len(self):,} trials is left after the selection.")
        return self if chosen.all() else self.take(chosen)

    def split(self, by: str) -> dict[str, Self]:
        """One table for each value of a condition column or name of a side, in the order of first occurrence.

        Trials without a value go together with those whose value is an empty text.

        Raises
        ------
        InputError
            If there is no such column or side.

        Examples
        --------
        >>> from deciban.trials import Key
        >>> key = Key.of({"trial": ["a", "b", "c"]}, [True, False, True], conditions={"gender": ["f", "m", "f"]})
        >>> {gender: part.n_tar for gender, part in key.split("gender").items()}
        {'f': 2, 'm': 0}
        """
        trials = self.trials
        if by in trials.sides:
            values = trials.column(by)
        else:
            values = pc.coalesce(as_text(trials.condition(by)), constant("")).dictionary_encode()
        codes = to_numpy(values.indices)
        order = np.argsort(codes, kind="stable")
        groups = np.split(order, np.flatnonzero(np.diff(codes[order])) + 1) if len(order) else []
        groups.sort(key=lambda rows: int(rows[0]))
        return {values.dictionary[int(codes[rows[0]])].as_py(): self.take(rows) for rows in groups}

    def rename(self, id_map: IdMap, side: str, *, unknown: str = "error") -> Self:
        """Give the names of one side the names that an id map has for them.

        Parameters
        ----------
        id_map : IdMap
        side : str
            ``enroll``, ``test`` or ``trial``.
        unknown : {"error", "keep", "drop"}
            What to do about names that the map lacks: refuse, keep the name, or leave out their trials.

        Returns
        -------
        The same kind of table.

        Raises
        ------
        InputError
            If there is no such side, or names are unknown.

        Examples
        --------
        >>> from deciban.trials import IdMap, Scores
        >>> scores = Scores.of({"enroll": ["m1", "m2"], "test": ["x", "x"]}, [1.0, 2.0])
        >>> scores.rename(IdMap.of({"m1": "ann", "m2": "bob"}), "enroll").trials.name_of(1)
        '(bob, x)'
        """
        if side not in self.trials.sides:
            raise InputError(f"side: trials are identified by {', '.join(self.trials.sides)}, not by {side!r}.")
        if unknown not in ("error", "keep", "drop"):
            raise InputError(f"unknown: expected 'error', 'keep' or 'drop', got {unknown!r}.")
        at = self.trials.sides.index(side)
        names = self.trials.names[at]
        found = positions(names, id_map.left)
        lacking, used = found < 0, np.zeros(len(names), np.bool_)
        if lacking.any() and unknown != "keep":
            used[self.trials.codes[at]] = True
            lacking &= used
        if lacking.any() and unknown == "error":
            first = names[int(np.argmax(lacking))].as_py()
            raise InputError(
                f"rename: {np.count_nonzero(lacking):,} of {np.count_nonzero(used):,} names of {side} are not in the "
                f'map, the first {first!r}. Add them, or pass unknown="keep" or unknown="drop".'
            )
        if lacking.any() and unknown == "drop":
            return self._selected(~lacking[self.trials.codes[at]]).rename(id_map, side)
        renamed = pc.coalesce(id_map.right.take(of_numpy(found, lacking=found < 0)), names)
        return self._with(self.trials.with_names(at, renamed), slice(None))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Index(TrialTable):
    """Which trials there are.

    Attributes
    ----------
    trials : Trials
    """

    trials: Trials

    @classmethod
    def of(cls, ids: Ids, *, conditions: Conditions = NO_CONDITIONS) -> Index:
        """Make an index from names.

        Examples
        --------
        >>> len(Index.of({"enroll": ["ann", "ann"], "test": ["x", "y"]}))
        2
        """
        return cls(Trials.of(ids, conditions=conditions))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Key(TrialTable):
    """Which trials there are, and which of them are targets.

    Attributes
    ----------
    trials : Trials
    is_target : (n_trials,) bool array
    """

    trials: Trials
    is_target: BoolArray
    holds: ClassVar[str] = "is_target"
    conflict: ClassVar[str] = "is target and non-target at once"

    @classmethod
    def of(cls, ids: Ids, is_target: ArrayLike, *, conditions: Conditions = NO_CONDITIONS) -> Key:
        """Make a key from names and truth.

        Raises
        ------
        InputError
            If the truth is not one boolean per trial.

        Examples
        --------
        >>> key = Key.of({"enroll": ["ann", "ann"], "test": ["x", "y"]}, [True, False])
        >>> key.n_tar, key.n_non
        (1, 1)
        """
        truth = _validate.array(is_target, "is_target")
        trials = Trials.of(ids, conditions=conditions)
        if truth.dtype != np.bool_ or truth.shape != (len(trials),):
            raise InputError(
                f"is_target: expected {len(trials)} booleans, got {truth.dtype} values of shape {truth.shape}."
            )
        return cls(trials, owned(truth, is_target))

    def _in_words(self) -> Sequence[str]:
        return (f"{self.n_tar:,} target, {self.n_non:,} non-target",)

    @property
    def n_tar(self) -> int:
        """Number of target trials."""
        return int(np.count_nonzero(self.is_target))

    @property
    def n_non(self) -> int:
        """Number of non-target trials."""
        return len(self.is_target) - self.n_tar


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Scores(TrialTable):
    """The scores of one system.

    Attributes
    ----------
    trials : Trials
    score : (n_trials,) float array
    name : str
        What tables and legends call the system.
    log10 : bool
        Whether these are common logarithms of likelihood ratios, as forensic tools write them. They are kept as they
        came; ``nats`` gives natural logarithms.
    is_from_lr : bool
        Whether the input held likelihood ratios, of which these are the natural logarithms.
    """

    trials: Trials
    score: ScoreArray
    name: str = "system"
    log10: bool = False
    is_from_lr: bool = False
    holds: ClassVar[str] = "score"
    conflict: ClassVar[str] = "has two different scores"

    @classmethod
    def of(
        cls,
        ids: Ids,
        score: ArrayLike,
        *,
        name: str = "system",
        log10: bool = False,
        conditions: Conditions = NO_CONDITIONS,
    ) -> Scores:
        """Make scores from names and numbers.

        Raises
        ------
        InputError
            If there is not one score per trial, or one is NaN.

        Examples
        --------
        >>> len(Scores.of({"trial": ["a", "b"]}, [0.5, -1.0]))
        2
        """
        trials, values = Trials.of(ids, conditions=conditions), _validate.scores(score, "score")
        if len(values) != len(trials):
            raise InputError(f"score: {len(values)} scores for {len(trials)} trials.")
        return cls(trials, owned(values, score), name, log10)

    @property
    def unit(self) -> ScoreUnit:
        """The unit of the scores in the input: ``"nats"`` (also where none was declared), ``"log10"`` or ``"lr"``."""
        return "lr" if self.is_from_lr else "log10" if self.log10 else "nats"

    def _in_words(self) -> Sequence[str]:
        if not len(self.score):
            return ()
        return (f"from {self.score.min():g} to {self.score.max():g}{', log10' * self.log10}",)

    @property
    def nats(self) -> ScoreArray:
        """Scores on the natural scale: as they are, or common logarithms times ln 10."""
        return self.score * self.score.dtype.type(LOG_10) if self.log10 else self.score

    def in_nats(self) -> Scores:
        """The same scores as natural logarithms.

        Examples
        --------
        >>> natural = Scores.of({"trial": ["a", "b"]}, [0.0, 1.0], log10=True).in_nats()
        >>> natural.score.round(3).tolist(), natural.log10
        ([0.0, 2.303], False)
        """
        return replace(self, score=self.nats, log10=False)

    def negated(self) -> Scores:
        """Return the scores with the opposite sign, as distances need it: larger ones must favour target.

        Examples
        --------
        >>> Scores.of({"trial": ["a", "b"]}, [0.0, 1.5]).negated().score
        array([ 0. , -1.5])
        """
        return replace(self, score=0.0 - self.score)

    def transform(self, function: Callable[[ScoreArray], ArrayLike], *, log10: bool | None = None) -> Scores:
        """Pass the scores through a function of the whole array, a calibration for example.

        Parameters
        ----------
        function : callable
            Gets a copy of the scores as they are, common logarithms too (`in_nats` turns them into natural ones).
        log10 : bool, optional
            Whether the results are common logarithms; left out, as the scores were.

        Raises
        ------
        InputError
            If the result is not one number per trial, or one is NaN.

        Examples
        --------
        >>> Scores.of({"trial": ["a", "b"]}, [0.5, -1.0]).transform(lambda score: 2 * score + 1).score
        array([ 2., -1.])
        """
        made = function(self.score.copy())
        values = owned(_validate.scores(made, "result of the function"), made)
        if values.shape != self.score.shape:
            raise InputError(f"transform: the function made {len(values)} scores of {len(self.score)}.")
        return replace(self, score=values, log10=self.log10 if log10 is None else log10)
