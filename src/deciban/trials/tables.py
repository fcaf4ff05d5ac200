"""Immutable tables of trials: index, key, scores, quality measures and id maps; selection of trials by criteria."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike

from deciban._arrow import (
    Ids,
    NamesLike,
    as_text,
    constant,
    encode,
    of_numpy,
    of_words,
    pc,
    plain_names,
    positions,
    to_numpy,
    with_gaps,
)
from deciban._validate import arrays as _validate
from deciban.errors import InputError, counted, shortened
from deciban.trials.lists import NO_CONDITIONS, Conditions, Frozen, Origin, Trials
from deciban.types import AnyArray, BoolArray, FloatArray, IntArray, ScoreArray, ScoreUnit

Chosen: TypeAlias = str | Sequence[str] | None
"""One name or several names to select; None for no criterion."""

Where: TypeAlias = Mapping[str, str | Sequence[str]]


def criteria(trials: Trials, names: Mapping[str, Chosen], where: Where) -> list[BoolArray]:
    """Return, for each criterion, a mask of the trials that fulfil it.

    Raises
    ------
    InputError
        If there is no criterion, or a side, condition column or condition value does not exist or is not a string.
    """
    if not isinstance(where, Mapping):
        raise InputError(f"where: got {where!r}. Pass the values of each condition column: {{'gender': 'f'}}.")
    meets = []
    for side, expected in names.items():
        if expected is None:
            continue
        if side not in trials.sides:
            raise InputError(f"{side}: trials of {trials.origin.name} are identified by {', '.join(trials.sides)}.")
        at = trials.sides.index(side)
        known = to_numpy(pc.is_in(trials.names[at], value_set=_listed(expected, side)))
        meets.append(known[trials.codes[at]])
    for name, values in where.items():
        meets.append(_with_values(trials, name, _listed(values, name)))
    if not meets:
        raise InputError("keep or drop: no criterion. Pass enroll, test or trial, or a condition (where).")
    return meets


def _with_values(trials: Trials, name: str, array: pa.Array) -> BoolArray:
    """Return a mask of trials whose condition has one of these values, in any notation."""
    column = trials.condition(name).dictionary_encode()
    there = column.dictionary
    chosen = np.zeros(len(there) + 1, np.bool_)  # the last entry is for trials without a value
    for text in array.to_pylist():
        result = texts_alike(there, text)
        if not result.any():
            listing = ", ".join(str(value) for value in as_text(there)[:20].to_pylist())
            raise InputError(f"{trials.origin.name}: no trial has {name} = {text!r}; the values are {listing}.")
        chosen[:-1] |= result
    meets: BoolArray = chosen[with_gaps(column.indices, len(there))]
    return meets


def texts_alike(values: pa.Array, text: str) -> BoolArray:
    """Return a mask of the values that a text denotes, in any notation; False for missing values.

    Examples
    --------
    >>> texts_alike(pa.array([1.0, 2.0]), "1")
    array([ True, False])
    """
    alike = pc.equal(as_text(values), constant(text))
    value = _value(text, values.type)
    if value is not None:
        alike = pc.or_(alike, pc.is_in(values, value_set=value))  # is_in also finds NaN
    return with_gaps(alike, False)  # noqa: FBT003  # a value to fill in, not an option


def _value(text: str, kind: pa.DataType) -> pa.Array | None:
    """Convert a text to a value of a column type, or None; "1.0" is also an integer."""
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
    """Return one name or several names as an Arrow array."""
    return plain_names([values] if isinstance(values, str) else values, argument)


LOG_10 = float(np.log(10.0))


class TrialTable(Frozen):
    """A list of trials with their values; the base of `Index`, `Key` and `Scores`."""

    trials: Trials
    holds: ClassVar[str | None] = None
    """The attribute with one row per trial; None if the table has only trials."""
    conflict: ClassVar[str] = "is listed in two ways"
    """Part of the message about a trial with different values in two rows."""

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
        """Return short texts about the values."""
        return ()

    @property
    def content(self) -> AnyArray | None:
        """The values of the trials, which must be equal for all copies of a trial; None without values."""
        return None if self.holds is None else getattr(self, self.holds)

    @property
    def index(self) -> Index:
        """The trials without values."""
        return Index(self.trials)

    def _with(self, trials: Trials, rows: IntArray | BoolArray | slice) -> Self:
        """Return the table for other trials, whose values are in these rows."""
        table: Any = self
        values = {} if self.holds is None else {self.holds: getattr(self, self.holds)[rows]}
        result: Self = replace(table, trials=trials, **values)
        return result

    def take(self, rows: IntArray | BoolArray) -> Self:
        """Select trials by row number or by a mask over the trials."""
        rows = self.trials.row_numbers(rows)
        return self._with(self.trials.take(rows), rows)

    def keep(
        self, *, enroll: Chosen = None, test: Chosen = None, trial: Chosen = None, where: Where = NO_CONDITIONS
    ) -> Self:
        """Keep the trials that fulfil all criteria.

        Parameters
        ----------
        enroll, test, trial : str or sequence of str, optional
            Names on that side. Names that do not occur are ignored.
        where : mapping of str to str or sequence of str
            Values of condition columns: ``{"gender": "f", "channel": ["tel", "mic"]}``. Numbers and truth values are
            compared by value: 1 and 1.0, True and true are the same.

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
        """Drop the trials that fulfil any of the criteria; see `keep`.

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

    def _selected(self, mask: BoolArray) -> Self:
        if not mask.any():
            raise InputError(f"{self.trials.origin.name}: none of {len(self):,} trials is left after the selection.")
        return self if mask.all() else self.take(mask)

    def split(self, by: str) -> dict[str, Self]:
        """Split the table by the values of a condition column or the names of a side, in the order of first occurrence.

        Missing values are treated as empty text.

        Raises
        ------
        InputError
            If the column or side does not exist.

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
        """Replace the names of one side by the names of an id map.

        Parameters
        ----------
        id_map : IdMap
        side : str
            ``enroll``, ``test`` or ``trial``.
        unknown : {"error", "keep", "drop"}
            Treatment of names that the map lacks: raise, keep the name, or drop their trials.

        Returns
        -------
        The same kind of table.

        Raises
        ------
        InputError
            If the side does not exist, or names are unknown.

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
        result = positions(names, id_map.left)
        lacking, used = result < 0, np.zeros(len(names), np.bool_)
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
        renamed = pc.coalesce(id_map.right.take(of_numpy(result, lacking=result < 0)), names)
        return self._with(self.trials.with_names(at, renamed), slice(None))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Index(TrialTable):
    """A list of trials without values.

    Attributes
    ----------
    trials : Trials
    """

    trials: Trials

    @classmethod
    def of(cls, ids: Ids, *, conditions: Conditions = NO_CONDITIONS) -> Index:
        """Return an index from names.

        Examples
        --------
        >>> len(Index.of({"enroll": ["ann", "ann"], "test": ["x", "y"]}))
        2
        """
        return cls(Trials.of(ids, conditions=conditions))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Key(TrialTable):
    """A list of trials that are targets or non-targets.

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
        """Return a key from names and truth values.

        Raises
        ------
        InputError
            If the truth values are not one boolean per trial.

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
        return cls(trials, _validate.owned(truth, is_target))

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
        Name of the system in tables and legends.
    log10 : bool
        True for common logarithms of likelihood ratios, as forensic tools write them. ``score`` is unchanged; ``nats``
        converts to natural logarithms.
    is_from_lr : bool
        True if the input contained likelihood ratios; the scores are their natural logarithms.
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
        """Return scores from names and numbers.

        Raises
        ------
        InputError
            If there is not one score per trial, or a score is NaN.

        Examples
        --------
        >>> len(Scores.of({"trial": ["a", "b"]}, [0.5, -1.0]))
        2
        """
        trials, values = Trials.of(ids, conditions=conditions), _validate.scores(score, "score")
        if len(values) != len(trials):
            raise InputError(f"score: {len(values)} scores for {len(trials)} trials.")
        return cls(trials, _validate.owned(values, score), name, log10)

    @property
    def unit(self) -> ScoreUnit:
        """The unit of the scores in the input: ``"nats"`` (also if none was declared), ``"log10"`` or ``"lr"``."""
        return "lr" if self.is_from_lr else "log10" if self.log10 else "nats"

    def _in_words(self) -> Sequence[str]:
        if not len(self.score):
            return ()
        return (f"from {self.score.min():g} to {self.score.max():g}{', log10' * self.log10}",)

    @property
    def nats(self) -> ScoreArray:
        """Scores as natural logarithms; common logarithms are multiplied by ln 10."""
        return self.score * self.score.dtype.type(LOG_10) if self.log10 else self.score

    def in_nats(self) -> Scores:
        """Return the scores as natural logarithms.

        Examples
        --------
        >>> natural = Scores.of({"trial": ["a", "b"]}, [0.0, 1.0], log10=True).in_nats()
        >>> natural.score.round(3).tolist(), natural.log10
        ([0.0, 2.303], False)
        """
        return replace(self, score=self.nats, log10=False)

    def negated(self) -> Scores:
        """Return the scores with the opposite sign, for distances: larger scores must favour targets.

        Examples
        --------
        >>> Scores.of({"trial": ["a", "b"]}, [0.0, 1.5]).negated().score
        array([ 0. , -1.5])
        """
        return replace(self, score=0.0 - self.score)

    def transform(self, function: Callable[[ScoreArray], ArrayLike], *, log10: bool | None = None) -> Scores:
        """Apply a function to the array of scores, for example a calibration.

        Parameters
        ----------
        function : callable
            Receives a copy of the scores, in their own unit (`in_nats` converts common logarithms to natural ones).
        log10 : bool, optional
            True if the results are common logarithms; by default as the scores.

        Raises
        ------
        InputError
            If the result is not one number per trial, or a result is NaN.

        Examples
        --------
        >>> Scores.of({"trial": ["a", "b"]}, [0.5, -1.0]).transform(lambda score: 2 * score + 1).score
        array([ 2., -1.])
        """
        transformed = function(self.score.copy())
        values = _validate.owned(_validate.scores(transformed, "result of the function"), transformed)
        if values.shape != self.score.shape:
            raise InputError(f"transform: the function returned {len(values)} scores for {len(self.score)} trials.")
        return replace(self, score=values, log10=self.log10 if log10 is None else log10)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SegmentQuality(Frozen):
    """Several quality measures of segments (or of models).

    Attributes
    ----------
    names : pyarrow string array
        Distinct names of the segments.
    values : (n_segments, n_measures) float array
    measures : tuple of str
        Names of the measures.
    origin : Origin
    """

    names: pa.Array
    values: FloatArray
    measures: tuple[str, ...]
    origin: Origin = field(default_factory=lambda: Origin("quality"))

    def __post_init__(self) -> None:
        self._freeze("values")

    def __repr__(self) -> str:
        return f"SegmentQuality({counted(len(self), 'name')}; {shortened(', '.join(self.measures))})"

    @classmethod
    def of(
        cls, names: NamesLike, values: ArrayLike, *, measures: Sequence[str] | None = None, origin: Origin | None = None
    ) -> SegmentQuality:
        """Return quality measures from names and numbers.

        Parameters
        ----------
        names : sequence of str
        values : (n_segments, n_measures) or (n_segments,) array_like
        measures : sequence of str, optional
            Names of the measures; by default ``q1``, ``q2``, ...
        origin : Origin, optional

        Raises
        ------
        InputError
            If a name occurs twice, a value is not finite, or the shapes do not match.

        Examples
        --------
        >>> SegmentQuality.of(["x", "y"], [[0.5, 20.0], [0.25, 30.0]], measures=["clarity", "snr"]).values.shape
        (2, 2)
        """
        origin = origin or Origin("quality")
        items = plain_names(names, "names")
        codes, distinct = encode(items, "names")
        numbers = _real(values, "values")
        numbers = numbers[:, None] if numbers.ndim == 1 else numbers
        if len(distinct) < len(codes):
            twice = distinct[int(np.argmax(np.bincount(codes) > 1))].as_py()
            raise InputError(f"{origin.name}: {twice!r} has more than one line of quality measures.")
        if numbers.ndim != 2 or len(numbers) != len(items) or not numbers.shape[1]:
            raise InputError(
                f"{origin.name}: expected one row of measures for each of {len(items)} names, got {numbers.shape}."
            )
        if not np.isfinite(numbers).all():
            row = int(np.argmin(np.isfinite(numbers).all(axis=1)))
            raise InputError(f"{origin.name}: a quality measure of {items[row].as_py()!r} is not finite.")
        return cls(items, _validate.owned(numbers, values), _measure_names(measures, numbers.shape[1]), origin)

    def __len__(self) -> int:
        return len(self.names)

    def keep(self, names: str | Sequence[str]) -> SegmentQuality:
        """Keep the measures of these names; names that do not occur are ignored.

        Raises
        ------
        InputError
            If no name is left.

        Examples
        --------
        >>> SegmentQuality.of(["x", "y"], [0.5, 0.25]).keep("y").values
        array([[0.25]])
        """
        return self._chosen(self._listed(names))

    def drop(self, names: str | Sequence[str]) -> SegmentQuality:
        """Drop the measures of these names; see `keep`.

        Raises
        ------
        InputError
            If no name is left.

        Examples
        --------
        >>> SegmentQuality.of(["x", "y"], [0.5, 0.25]).drop(["y", "z"]).values
        array([[0.5]])
        """
        return self._chosen(~self._listed(names))

    def _listed(self, names: str | Sequence[str]) -> BoolArray:
        return to_numpy(pc.is_in(self.names, value_set=_listed(names, "names")))

    def _chosen(self, rows: BoolArray) -> SegmentQuality:
        if not rows.any():
            raise InputError(f"{self.origin.name}: none of {len(self):,} names is left after the selection.")
        return replace(self, names=self.names.filter(of_numpy(rows)), values=self.values[rows])

    def select(self, measures: Sequence[str]) -> SegmentQuality:
        """Return some of the measures, in the given order.

        Raises
        ------
        InputError
            If a measure does not exist.

        Examples
        --------
        >>> SegmentQuality.of(["x"], [[0.5, 20.0]], measures=["clarity", "snr"]).select(["snr"]).values
        array([[20.]])
        """
        names = _listed(measures, "measures").to_pylist()
        unknown = [name for name in names if name not in self.measures]
        if unknown:
            raise InputError(
                f"{self.origin.name}: no measure {unknown[0]!r}; the measures are {', '.join(self.measures)}."
            )
        columns = [self.measures.index(name) for name in names]
        return replace(self, values=self.values[:, columns], measures=_measure_names(names, len(names)))

    def combine_measures(self, matrix: ArrayLike, *, measures: Sequence[str] | None = None) -> SegmentQuality:
        """Compute new measures as weighted sums of the present ones.

        Parameters
        ----------
        matrix : (n_new, n_measures) array_like
            Row ``i`` contains the weights of new measure ``i``: the vector q of each segment becomes ``matrix @ q``.
        measures : sequence of str, optional
            Names of the new measures; by default ``q1``, ``q2``, ...

        Raises
        ------
        InputError
            If the matrix has the wrong shape, or a weight or result is not finite.

        Examples
        --------
        >>> SegmentQuality.of(["x"], [[0.5, 20.0]]).combine_measures([[2.0, 0.1]], measures=["overall"]).values
        array([[3.]])
        """
        weights = _real(matrix, "matrix")
        if weights.ndim != 2 or weights.shape[1] != len(self.measures) or not len(weights):
            raise InputError(
                f"matrix: expected one row per new measure of {len(self.measures)} weights, one for each of "
                f"{', '.join(self.measures)}; got shape {weights.shape}."
            )
        if not np.isfinite(weights).all():
            raise InputError("matrix: a weight is not finite.")
        with np.errstate(over="ignore", invalid="ignore"):
            values = self.values @ weights.T
        return SegmentQuality.of(self.names, values, measures=measures, origin=self.origin)

    def align(self, trials: Trials, side: str) -> tuple[FloatArray, BoolArray]:
        """Return the measures for one side of each trial.

        Parameters
        ----------
        trials : Trials
        side : str
            ``enroll``, ``test`` or ``trial``.

        Returns
        -------
        values : (n_trials, n_measures) float array
            Zeros for names without measures, so that they add nothing to a weighted sum.
        present : (n_trials,) bool array
            True if the name has measures.

        Raises
        ------
        InputError
            If the trials do not have this side.

        Examples
        --------
        >>> trials = Trials.of({"enroll": ["m", "m"], "test": ["x", "y"]})
        >>> values, present = SegmentQuality.of(["y"], [0.5]).align(trials, "test")
        >>> values.tolist(), present.tolist()
        ([[0.0], [0.5]], [False, True])
        """
        if side not in trials.sides:
            raise InputError(
                f"side: trials of {trials.origin.name} are identified by {', '.join(trials.sides)}, not by {side!r}."
            )
        at = trials.sides.index(side)
        place = positions(trials.names[at], self.names)
        known = place >= 0
        of_name = np.zeros((len(place), len(self.measures)))
        of_name[known] = self.values[place[known]]
        codes = trials.codes[at]
        return of_name[codes], known[codes]


@dataclass(frozen=True, slots=True, eq=False)
class AlignedQuality:
    """Quality vectors of both sides of trials, as input of a fusion.

    Attributes
    ----------
    trials : Trials
    enroll, test : (n_trials, n_measures) float array or None
        None for a side without measures; zeros for a name without measures.
    present : (n_trials,) bool array
        True if the trial has measures on all sides that have measures.
    """

    trials: Trials
    enroll: FloatArray | None
    test: FloatArray | None
    present: BoolArray


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Quality:
    """Quality measures of both sides of trials.

    Attributes
    ----------
    enroll, test : SegmentQuality or None
        Measures of enrolments and of test segments; None for a side without measures. Other names have none.
    trials : Trials or None
        The trials of the measures, if the file contains them.
    """

    enroll: SegmentQuality | None
    test: SegmentQuality | None
    trials: Trials | None = None

    def __repr__(self) -> str:
        sides = {"enroll": self.enroll, "test": self.test}
        return f"Quality({', '.join(f'{side}={one!r}' for side, one in sides.items())})"

    def align(self, trials: Trials) -> AlignedQuality:
        """Return quality vectors of both sides of each trial: q and r of the fusion formula.

        Source: BOSARIS toolkit paper, eq. 30.

        Raises
        ------
        InputError
            If the trials do not have these sides.

        Examples
        --------
        >>> quality = Quality(SegmentQuality.of(["m"], [2.0]), SegmentQuality.of(["x", "y"], [0.5, 0.25]))
        >>> aligned = quality.align(Trials.of({"enroll": ["m", "m"], "test": ["y", "z"]}))
        >>> aligned.enroll.tolist(), aligned.test.tolist(), aligned.present.tolist()
        ([[2.0], [2.0]], [[0.25], [0.0]], [True, False])
        """
        present = np.ones(len(trials), np.bool_)
        values: dict[str, FloatArray | None] = {"enroll": None, "test": None}
        for side, measured in (("enroll", self.enroll), ("test", self.test)):
            if measured is not None:
                values[side], known = measured.align(trials, side)
                present &= known
        return AlignedQuality(trials, values["enroll"], values["test"], present)

    def keep(self, *, enroll: Chosen = None, test: Chosen = None) -> Quality:
        """Keep the measures of these names; other sides stay unchanged.

        Raises
        ------
        InputError
            If a side has no measures, or none is left.
        """
        return self._chosen(SegmentQuality.keep, {"enroll": enroll, "test": test})

    def drop(self, *, enroll: Chosen = None, test: Chosen = None) -> Quality:
        """Drop the measures of these names; see `keep`.

        Raises
        ------
        InputError
            If a side has no measures, or none is left.
        """
        return self._chosen(SegmentQuality.drop, {"enroll": enroll, "test": test})

    def _chosen(self, choose: Callable[..., SegmentQuality], names: Mapping[str, Chosen]) -> Quality:
        sides: dict[str, Any] = {}
        for side, expected in names.items():
            if expected is None:
                continue
            measured: SegmentQuality | None = getattr(self, side)
            if measured is None:
                raise InputError(f"{side}: this side has no quality measures.")
            sides[side] = choose(measured, expected)
        return replace(self, **sides)

    def _each(self, change: Callable[[SegmentQuality], SegmentQuality]) -> Quality:
        enroll, test = (None if side is None else change(side) for side in (self.enroll, self.test))
        return replace(self, enroll=enroll, test=test)

    def select(self, measures: Sequence[str]) -> Quality:
        """Return some of the measures, of both sides.

        Raises
        ------
        InputError
            If a side lacks one of them.
        """
        return self._each(lambda side: side.select(measures))

    def combine_measures(self, matrix: ArrayLike, *, measures: Sequence[str] | None = None) -> Quality:
        """Compute new measures as weighted sums of the present ones, in the same way on both sides.

        Parameters
        ----------
        matrix : (n_new, n_measures) array_like
            As in `SegmentQuality.combine_measures`.
        measures : sequence of str, optional
            Names of the new measures.

        Raises
        ------
        InputError
            As in `SegmentQuality.combine_measures`.
        """
        return self._each(lambda side: side.combine_measures(matrix, measures=measures))


def _measure_names(measures: Sequence[str] | None, n_measures: int) -> tuple[str, ...]:
    if measures is None:
        return tuple(f"q{i + 1}" for i in range(n_measures))
    called = tuple(plain_names(measures, "measures").to_pylist())
    if len(called) != n_measures or len(set(called)) < len(called) or not called:
        raise InputError(f"measures: {n_measures} measures need {n_measures} distinct names, got {called}.")
    return called


def _real(values: ArrayLike, argument: str) -> FloatArray:
    array = _validate.array(values, argument)
    if array.dtype.kind not in "biuf":
        raise InputError(f"{argument}: expected real numbers, got {array.dtype} values.")
    return array.astype(np.float64, copy=False)


@dataclass(frozen=True, slots=True, eq=False)
class IdMap:
    """Pairs of names: a trial called ``left`` in one file is called ``right`` in another.

    Attributes
    ----------
    left : pyarrow string array
        Distinct.
    right : pyarrow string array
        As long as ``left``; names may repeat.
    """

    left: pa.Array
    right: pa.Array

    @classmethod
    def of(cls, pairs: Mapping[str, str]) -> IdMap:
        """Return an id map from a mapping.

        Examples
        --------
        >>> len(IdMap.of({"m1": "ann", "m2": "bob"}))
        2
        """
        return cls.from_columns(list(pairs), list(pairs.values()))

    @classmethod
    def from_columns(
        cls, left: NamesLike, right: NamesLike, *, source: str = "id map", where: Callable[[int], str] | None = None
    ) -> IdMap:
        """Return an id map from two columns; ``where`` returns the place of a row, for messages.

        Raises
        ------
        InputError
            If the columns differ in length, or a name on the left has two names on the right.
        """
        (before, names), after = encode(plain_names(left, "left")), plain_names(right, "right")
        if len(before) != len(after):
            raise InputError(f"{source}: {len(before)} names on the left, {len(after)} on the right.")
        first = np.full(len(names), -1, np.int64)
        first[before[::-1]] = np.arange(len(before))[::-1]
        differs = ~to_numpy(pc.equal(after, after.take(of_numpy(first[before]))))
        if differs.any():
            row = int(np.argmax(differs))
            name, one, other = names[int(before[row])], after[int(first[before[row]])], after[row]
            place = source if where is None else where(row)
            raise InputError(f"{place}: {name.as_py()!r} is mapped to {one.as_py()!r} and to {other.as_py()!r}.")
        return cls(names, after.take(of_numpy(first)))

    def __len__(self) -> int:
        return len(self.left)
