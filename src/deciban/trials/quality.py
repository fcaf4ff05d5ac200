"""Quality measures: numbers that belong to the name of a segment or a model, and what they say of trials."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike

from deciban._arrow import compute as pc
from deciban._arrow import of_numpy, to_numpy
from deciban._validate import arrays as _validate
from deciban.errors import InputError
from deciban.messages import counted, shortened
from deciban.trials.lists import Frozen, Origin, Trials, owned
from deciban.trials.names import NamesLike, encode, plain_names, positions
from deciban.trials.tables import Chosen
from deciban.types import BoolArray, FloatArray


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
        """Make quality measures from names and numbers.

        Parameters
        ----------
        names : sequence of str
        values : (n_segments, n_measures) or (n_segments,) array_like
        measures : sequence of str, optional
            Names of the measures; ``q1``, ``q2``, ... when left out.
        origin : Origin, optional

        Raises
        ------
        InputError
            If a name occurs twice, a value is not finite, or the shapes do not fit.

        Examples
        --------
        >>> SegmentQuality.of(["x", "y"], [[0.5, 20.0], [0.25, 30.0]], measures=["clarity", "snr"]).values.shape
        (2, 2)
        """
        origin = origin or Origin("quality")
        listed = plain_names(names, "names")
        codes, distinct = encode(listed, "names")
        numbers = _real(values, "values")
        numbers = numbers[:, None] if numbers.ndim == 1 else numbers
        if len(distinct) < len(codes):
            twice = distinct[int(np.argmax(np.bincount(codes) > 1))].as_py()
            raise InputError(f"{origin.name}: {twice!r} has more than one line of quality measures.")
        if numbers.ndim != 2 or len(numbers) != len(listed) or not numbers.shape[1]:
            raise InputError(
                f"{origin.name}: expected one row of measures for each of {len(listed)} names, got {numbers.shape}."
            )
        if not np.isfinite(numbers).all():
            row = int(np.argmin(np.isfinite(numbers).all(axis=1)))
            raise InputError(f"{origin.name}: a quality measure of {listed[row].as_py()!r} is not finite.")
        return cls(listed, owned(numbers, values), _measure_names(measures, numbers.shape[1]), origin)

    def __len__(self) -> int:
        return len(self.names)

    def keep(self, names: str | Sequence[str]) -> SegmentQuality:
        """Keep the measures of these names; names that do not occur are no error.

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
        """Leave out the measures of these names; see `keep`.

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
        wanted = plain_names([names] if isinstance(names, str) else names, "names")
        return to_numpy(pc.is_in(self.names, value_set=wanted))

    def _chosen(self, rows: BoolArray) -> SegmentQuality:
        if not rows.any():
            raise InputError(f"{self.origin.name}: none of {len(self):,} names is left after the selection.")
        return replace(self, names=self.names.filter(of_numpy(rows)), values=self.values[rows])

    def select(self, measures: Sequence[str]) -> SegmentQuality:
        """Some of the measures, in the order asked for.

        Raises
        ------
        InputError
            If one of them is not here.

        Examples
        --------
        >>> SegmentQuality.of(["x"], [[0.5, 20.0]], measures=["clarity", "snr"]).select(["snr"]).values
        array([[20.]])
        """
        wanted = plain_names([measures] if isinstance(measures, str) else measures, "measures").to_pylist()
        unknown = [name for name in wanted if name not in self.measures]
        if unknown:
            raise InputError(f"{self.origin.name}: no measure {unknown[0]!r}; there are {', '.join(self.measures)}.")
        columns = [self.measures.index(name) for name in wanted]
        return replace(self, values=self.values[:, columns], measures=_measure_names(wanted, len(wanted)))

    def combine_measures(self, matrix: ArrayLike, *, measures: Sequence[str] | None = None) -> SegmentQuality:
        """Make new measures that are weighted sums of these.

        Parameters
        ----------
        matrix : (n_new, n_measures) array_like
            Row ``i`` holds the weights of new measure ``i``: the vector q of every segment becomes ``matrix @ q``.
        measures : sequence of str, optional
            Names of the new measures; ``q1``, ``q2``, ... when left out.

        Raises
        ------
        InputError
            If the matrix does not fit, or a weight or result is not finite.

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
        """The measures of the name that every trial has on one side.

        Parameters
        ----------
        trials : Trials
        side : str
            ``enroll``, ``test`` or ``trial``.

        Returns
        -------
        values : (n_trials, n_measures) float array
            Zeros, which add nothing to a weighted sum, where the name has no measures.
        present : (n_trials,) bool array
            Whether it has.

        Raises
        ------
        InputError
            If the trials have no such side.

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
    """Quality vectors of both sides of trials, as a fusion takes them.

    Attributes
    ----------
    trials : Trials
    enroll, test : (n_trials, n_measures) float array or None
        None for a side without any measures; zeros where a name has none.
    present : (n_trials,) bool array
        Whether all sides that have measures have them for this trial.
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
        Measures of enrolments and of test segments; None for a side without any. A name that is not listed has none.
    trials : Trials or None
        The trials they were made for, where the file says so.
    """

    enroll: SegmentQuality | None
    test: SegmentQuality | None
    trials: Trials | None = None

    def __repr__(self) -> str:
        sides = {"enroll": self.enroll, "test": self.test}
        return f"Quality({', '.join(f'{side}={one!r}' for side, one in sides.items())})"

    def align(self, trials: Trials) -> AlignedQuality:
        """Quality vectors of both sides of every trial: q and r of the fusion formula.

        Source: BOSARIS toolkit paper, eq. 30.

        Raises
        ------
        InputError
            If the trials have no such sides.

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
        """Keep the measures of these names; a side that is left out stays as it is.

        Raises
        ------
        InputError
            If a side that is named has no measures, or none is left.
        """
        return self._chosen(SegmentQuality.keep, {"enroll": enroll, "test": test})

    def drop(self, *, enroll: Chosen = None, test: Chosen = None) -> Quality:
        """Leave out the measures of these names; see `keep`.

        Raises
        ------
        InputError
            If a side that is named has no measures, or none is left.
        """
        return self._chosen(SegmentQuality.drop, {"enroll": enroll, "test": test})

    def _chosen(self, choose: Callable[..., SegmentQuality], names: Mapping[str, Chosen]) -> Quality:
        sides: dict[str, Any] = {}
        for side, wanted in names.items():
            if wanted is None:
                continue
            measured: SegmentQuality | None = getattr(self, side)
            if measured is None:
                raise InputError(f"{side}: there are no quality measures of this side.")
            sides[side] = choose(measured, wanted)
        return replace(self, **sides)

    def _each(self, change: Callable[[SegmentQuality], SegmentQuality]) -> Quality:
        enroll, test = (None if side is None else change(side) for side in (self.enroll, self.test))
        return replace(self, enroll=enroll, test=test)

    def select(self, measures: Sequence[str]) -> Quality:
        """Some of the measures, of both sides.

        Raises
        ------
        InputError
            If a side lacks one of them.
        """
        return self._each(lambda side: side.select(measures))

    def combine_measures(self, matrix: ArrayLike, *, measures: Sequence[str] | None = None) -> Quality:
        """Make new measures that are weighted sums of these, in the same way on both sides.

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
        raise InputError(f"measures: {n_measures} measures need as many distinct names, got {called}.")
    return called


def _real(values: Any, argument: str) -> FloatArray:
    array = _validate.array(values, argument)
    if array.dtype.kind not in "biuf":
        raise InputError(f"{argument}: expected real numbers, got {array.dtype} values.")
    return array.astype(np.float64, copy=False)
