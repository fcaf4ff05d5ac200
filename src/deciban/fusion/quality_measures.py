"""Quality measures of trials as arrays, weighted sums of them, and the terms of ``q' W r``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from deciban._validate import arrays as _validate
from deciban.errors import InputError
from deciban.fusion.linear import with_one_nan
from deciban.models.score_model import ARGUMENTS, measure_table
from deciban.types import AnyArray, BoolArray, FloatArray, IntArray, ScoreArray

if TYPE_CHECKING:
    from deciban.trials import Key, Quality, Trials


QualitySide: TypeAlias = Literal["enroll", "test", "trial"]


QUALITY_SIDES: tuple[QualitySide, ...] = get_args(QualitySide)
"""What quality measures may be of: a side of the trial, or the trial as a whole."""


@dataclass(frozen=True, slots=True, eq=False)
class Measures:
    """Checked quality measures.

    Attributes
    ----------
    tables : mapping of side to (n_trials, n_measures) array
        Measures of ``enroll``, ``test`` and ``trial`` (the trial as a whole), where there are some, in this order; NaN
        where one is missing, never infinite.
    present : (n_trials,) bool array
        Whether nothing is missing.
    """

    tables: Mapping[str, ScoreArray]
    present: BoolArray

    @classmethod
    def of(cls, n_trials: int, given: Mapping[str, ArrayLike | None]) -> Measures:
        """Check what a user passed.

        Parameters
        ----------
        n_trials : int
        given : mapping of str to array_like or None
            Measures by the arguments of fusions: ``enroll_quality``, ``test_quality``, ``trial_quality``.

        Raises
        ------
        InputError
            As `deciban.models.score_model.measure_table`.
        """
        tables: dict[str, ScoreArray] = {}
        for side, name in zip(QUALITY_SIDES, ARGUMENTS, strict=True):
            if (values := given.get(name)) is not None:
                tables[side] = with_one_nan(measure_table(values, name, n_trials))
        return cls.in_tables(tables, n_trials)

    @property
    def arguments(self) -> dict[str, Any]:
        """The measures by the arguments of fusions."""
        return {f"{side}_quality": table for side, table in self.tables.items()}

    @classmethod
    def in_tables(cls, tables: Mapping[str, ScoreArray], n_trials: int) -> Measures:
        """Checked measures."""
        present = np.ones(n_trials, np.bool_)
        for table in tables.values():
            for column in table.T:
                present &= ~np.isnan(column)
        return cls(tables, present)

    @property
    def n_measures(self) -> dict[str, int]:
        """How many measures there are of each kind: ``enroll``, ``test`` and ``trial``."""
        return {side: self.tables[side].shape[1] if side in self.tables else 0 for side in QUALITY_SIDES}

    @property
    def columns(self) -> list[ScoreArray]:
        """All measures, one after the other; views, not copies."""
        return [column for table in self.tables.values() for column in table.T]

    def take(self, rows: BoolArray | IntArray | slice) -> Measures:
        """Those of some of the trials."""
        return Measures({side: table[rows] for side, table in self.tables.items()}, self.present[rows])

    def require_same(self) -> None:
        """Refuse more measures of one side than of the other.

        Raises
        ------
        InputError
            If both sides have measures, and not equally many.
        """
        enroll, test, _ = self.n_measures.values()
        if enroll and test and enroll != test:
            raise InputError(
                f"enroll_quality, test_quality: {enroll} and {test} measures. A symmetric matrix needs the same ones "
                "in the same order on both sides; pass symmetric=False (--asymmetric) for others."
            )

    def require(self, wanted: Mapping[str, int]) -> None:
        """Refuse other numbers of measures than those of training.

        Raises
        ------
        InputError
        """
        for name, n_given in self.n_measures.items():
            if n_given != (n := wanted.get(name, 0)):
                raise InputError(
                    f"{name}_quality: {n_given or 'no'} measures, but the fusion was trained on {n or 'none'}. "
                    "Pass the same ones in the same order; NaN stands for a measure that a trial does not have."
                )


def no_trial_with_all(name: str) -> InputError:
    """The error of a class of which no trial has all measures."""
    return InputError(
        f"quality: no {name} trial that counts has all measures. Training needs both classes; leave out the measure "
        "that is missing."
    )


def quality_vectors(quality: Quality, trials: Trials | Key) -> tuple[FloatArray | None, FloatArray | None]:
    """Quality vectors of both sides of every trial, as `QualityFusion` takes them.

    Parameters
    ----------
    quality : deciban.trials.Quality
        Measures by name, from a file of `deciban.io` for example. ``quality.select`` chooses among them, and
        ``quality.combine_measures`` makes new ones by a matrix, before they are laid out over trials.
    trials : deciban.trials.Trials, or deciban.trials.Key
        Which trials, in which order: those of the scores.

    Returns
    -------
    enroll, test : (n_trials, n_measures) array or None
        None for a side without measures; a row of NaN for a name that has none, which is then fused without quality.

    Raises
    ------
    InputError
        If the trials have no such sides.

    Examples
    --------
    >>> from deciban.trials import Key, Quality, SegmentQuality
    >>> key = Key.of({"enroll": ["m", "m"], "test": ["y", "z"]}, [True, False])
    >>> quality = Quality(SegmentQuality.of(["m"], [2.0]), SegmentQuality.of(["x", "y"], [0.5, 0.25]))
    >>> enroll, test = quality_vectors(quality, key)
    >>> enroll.tolist(), test.tolist()
    ([[2.0], [2.0]], [[0.25], [nan]])
    """
    listed: Any = getattr(trials, "trials", trials)
    sides: list[FloatArray | None] = []
    for side, measured in (("enroll", quality.enroll), ("test", quality.test)):
        if measured is None:
            sides.append(None)
            continue
        values, known = measured.align(listed, side)
        values[~known] = np.nan
        sides.append(values)
    return sides[0], sides[1]


def plain_combination(given: Any) -> Any:
    """Check what a user passed for ``combine``, and return it as a model file holds it.

    Parameters
    ----------
    given : None, (n_new, n_measures) array_like, or mapping of str to such
        One matrix for all measures that there are, or one for each of ``enroll``, ``test`` and ``trial``.

    Returns
    -------
    None, list of lists, or dict of such

    Raises
    ------
    InputError
        If it is none of these.
    """
    if given is None:
        return None
    if not isinstance(given, Mapping):
        return _matrix(given, "combine").tolist()
    if not given or set(given) - set(QUALITY_SIDES):
        raise InputError(
            f"combine: expected a matrix, or matrices of {', '.join(QUALITY_SIDES)}; got those of {[*given]}."
        )
    return {kind: _matrix(given[kind], f"combine[{kind!r}]").tolist() for kind in QUALITY_SIDES if kind in given}


def matrices_of(combine: Any) -> dict[str, FloatArray]:
    """The matrix of each kind of measures that is to be combined; checked, for a setting may have been changed."""
    checked = plain_combination(combine)
    if checked is None:
        return {}
    each = checked if isinstance(checked, dict) else dict.fromkeys(QUALITY_SIDES, checked)
    return {kind: np.array(rows, np.float64) for kind, rows in each.items()}


def combined_measures(measures: Measures, combine: Any) -> Measures:
    """Combine the measures of trials; a measure that is missing does not matter where its weight is 0.

    Raises
    ------
    InputError
        If a matrix does not fit, there is one for measures that are not there, or a sum is no finite number.
    """
    tables = dict(measures.tables)
    for kind, matrix in matrices_of(combine).items():
        if kind in tables:
            tables[kind] = _combined(tables[kind], matrix, kind)
        elif isinstance(combine, Mapping):
            raise InputError(f"combine: a matrix for {kind} measures, but there are none. Leave it out, or pass them.")
    return Measures.in_tables(tables, len(measures.present))


def raw_sizes(combine: Any, n_measures: Mapping[str, int]) -> dict[str, int]:
    """How many measures of each kind a fusion takes, that uses so many after they were combined."""
    matrices = matrices_of(combine)
    return {kind: matrices[kind].shape[1] if n and kind in matrices else n for kind, n in n_measures.items()}


def require_fitting(combine: Any, n_measures: Mapping[str, int]) -> None:
    """Refuse matrices that make more or fewer measures than have weights.

    Raises
    ------
    InputError
    """
    for kind, matrix in matrices_of(combine).items():
        if (n := n_measures.get(kind, 0)) and len(matrix) != n:
            raise InputError(f"combine: makes {len(matrix)} {kind} measures, but {n} have weights.")


def _matrix(values: Any, name: str) -> FloatArray:
    rows = _validate.array(values, name)
    if rows.ndim != 2 or not rows.size or rows.dtype.kind not in "biuf" or not np.isfinite(rows).all():
        raise InputError(
            f"{name}: expected a matrix of finite numbers with one row for each new measure and one column for each "
            f"that there is, got shape {rows.shape} of {rows.dtype} values."
        )
    return rows.astype(np.float64)


def _combined(table: ScoreArray, matrix: FloatArray, kind: str) -> FloatArray:
    if matrix.shape[1] != table.shape[1]:
        raise InputError(
            f"combine: {matrix.shape[1]} weights in a row for {table.shape[1]} {kind} measures. Give one for each "
            "measure, 0 for those that are not wanted."
        )
    new = np.empty((len(table), len(matrix)))
    with np.errstate(over="ignore", invalid="ignore"):
        for k, weights in enumerate(matrix):
            used = np.flatnonzero(weights)
            new[:, k] = table[:, used] @ weights[used]
    missing = [np.isnan(table[:, np.flatnonzero(weights)]).any(axis=1) for weights in matrix]
    if not (np.isfinite(new) | np.column_stack(missing)).all():
        raise InputError(f"combine: weighted sums of {kind} measures do not fit a float. Take another unit.")
    return new


_BLOCK = 1 << 14


_SIDES = ("enroll", "test")


_LOST = 1e-6
"""Nats by which rounding may change an llr."""


_SIZES = (1e-100, 1e100)
"""What distances of measures from their mean must be within, so that products of two are numbers."""


@dataclass(frozen=True, slots=True, eq=False)
class _Measure:
    """One measure relative to its mean, in slices; one that is constant but for rounding has no rounding here."""

    values: ScoreArray
    center: float
    constant: float | None

    def __getitem__(self, rows: Any) -> FloatArray:
        own = self.values[rows]
        if self.constant is not None:
            return np.full(len(own), self.constant - self.center)
        return np.asarray(own, np.float64) - self.center


@dataclass(frozen=True, slots=True, eq=False)
class _Term:
    """What one parameter is multiplied by: a sum of products of measures, computed in slices when it is asked for."""

    products: tuple[tuple[_Measure, ...], ...]

    def __getitem__(self, rows: Any) -> FloatArray:
        total: Any = 0.0
        for first, *others in self.products:
            product = first[rows]
            for factor in others:
                product *= factor[rows]
            total = product if isinstance(total, float) else total + product
        column: FloatArray = total
        return column

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> AnyArray:  # noqa: FBT001
        column = np.empty(len(self.products[0][0].values))
        for i in range(0, len(column), _BLOCK):
            rows = slice(i, i + _BLOCK)
            column[rows] = self[rows]
        return column.astype(dtype, copy=False)  # always new, which any value of copy allows


@dataclass(frozen=True, slots=True, eq=False)
class QualityTerms:
    """Terms of ``q' W r``.

    Attributes
    ----------
    centers : (n_enroll,), (n_test,) arrays
        Means that the terms take measures relative to.
    widths : (n_enroll,), (n_test,) arrays
        Standard deviations of measures.
    symmetric : bool
        Whether ``W`` is.
    constants : tuple of two tuples of float or None
        Values of measures that are constant but for rounding.
    indices : tuple of (int, int)
        Where in ``W`` the parameter of each term stands.
    """

    centers: tuple[FloatArray, FloatArray]
    widths: tuple[FloatArray, FloatArray]
    symmetric: bool
    constants: tuple[tuple[float | None, ...], tuple[float | None, ...]]

    @classmethod
    def around(cls, moments: Mapping[str, tuple[FloatArray, FloatArray]], *, symmetric: bool) -> QualityTerms:
        """Terms of measures with this mean and standard deviation on each side; without their columns."""
        nothing = np.zeros(0), np.zeros(0)
        (own_enroll, enroll_width), (own_test, test_width) = (moments.get(side, nothing) for side in _SIDES)
        enroll, test = own_enroll, own_test
        if symmetric and set(_SIDES) <= set(moments):
            enroll = test = 0.5 * own_enroll + 0.5 * own_test
        constants = [
            tuple(mean if sd == 0.0 else None for mean, sd in zip(means.tolist(), width, strict=True))
            for means, width in ((own_enroll, enroll_width), (own_test, test_width))
        ]
        return cls((enroll, test), (enroll_width, test_width), symmetric, (constants[0], constants[1]))

    @property
    def indices(self) -> tuple[tuple[int, int], ...]:
        """Where in ``W`` each independent parameter stands: all places but the last corner, which is the offset."""
        n_enroll, n_test = map(len, self.centers)
        places = np.ndindex(n_enroll + 1, n_test + 1)
        return tuple(at for at in places if at != (n_enroll, n_test) and (at[0] <= at[1] or not self._is_of_both))

    def columns_of(self, measures: Measures) -> tuple[_Term, ...]:
        """The terms of these trials, columns to train on."""
        sides = []
        for side, center, constant in zip(_SIDES, self.centers, self.constants, strict=True):
            table = measures.tables.get(side)
            own = () if table is None else zip(table.T, center.tolist(), constant, strict=True)
            sides.append([*((_Measure(*each),) for each in own), ()])
        enroll, test = sides
        return tuple(
            _Term((enroll[i] + test[j], enroll[j] + test[i]) if self._is_of_both and i != j else (enroll[i] + test[j],))
            for i, j in self.indices
        )

    def require_sizes(self, ends: Mapping[str, tuple[FloatArray, FloatArray]]) -> None:
        """Refuse measures between these ends of which the product of two would not fit a float.

        Raises
        ------
        InputError
            If there are such.
        """
        for side, center in zip(_SIDES, self.centers, strict=True):
            if side in ends:
                _require_size(*ends[side], center, f"{side}_quality")

    def matrix(self, weights: FloatArray) -> tuple[FloatArray, float]:
        """``W`` for measures as they are, with its last corner 0, and what that adds to the offset instead."""
        enroll, test = self.centers
        raw = _relative_to(enroll).T @ self._placed(weights) @ _relative_to(test)
        offset, raw[-1, -1] = float(raw[-1, -1]), 0.0
        if self._is_of_both:
            raw = 0.5 * raw + 0.5 * raw.T  # equal but for rounding
        return self._whole(raw), offset

    def lost_of(self, weights: FloatArray, measures: Measures) -> float:
        """By how much rounding changes the llr of a trial, at most."""
        columns = self.columns_of(measures)
        matrix, offset = self.matrix(weights)
        in_units, lost = quality_part(matrix, measures) + offset, 0.0
        for i in range(0, len(in_units), _BLOCK):
            rows = slice(i, i + _BLOCK)
            trained = np.sum([weight * term[rows] for weight, term in zip(weights, columns, strict=True)], axis=0)
            lost = max(lost, float(np.max(np.abs(in_units[rows] - trained))))
        return lost

    def refuse_lost(self, lost: float) -> None:
        """Refuse measures whose rounding changes llrs by so much.

        Raises
        ------
        InputError
            If it is more than `_LOST`.
        """
        if not lost > _LOST:
            return
        with np.errstate(divide="ignore"):
            away = [np.where(w > 0.0, np.abs(c) / w, 0.0) for c, w in zip(self.centers, self.widths, strict=True)]
        side = int(np.argmax([own.max(initial=-1.0) for own in away]))
        k, name = int(np.argmax(away[side])), ("enroll_quality", "test_quality")[side]
        raise InputError(
            f"{name}: measure {k} is {away[side][k]:.1e} standard deviations away from 0, so that rounding of its "
            f"products changes llrs by up to {lost:.1e}. Subtract the same number from this measure in all trials, in "
            "training and use; its mean, for example."
        )

    def standardized(self, weights: FloatArray) -> FloatArray:
        """The weights of terms divided by their standard deviation, where ``W`` has those of the terms."""
        return self._whole(self._placed(weights))

    @property
    def _is_of_both(self) -> bool:
        """Whether the same weights are for both sides."""
        return self.symmetric and all(len(center) > 0 for center in self.centers)

    def _placed(self, weights: FloatArray) -> FloatArray:
        """Parameters where they stand in the matrix."""
        enroll, test = self.centers
        own = np.zeros((len(enroll) + 1, len(test) + 1))
        for (i, j), weight in zip(self.indices, weights.tolist(), strict=True):
            own[i, j] = weight
            if self._is_of_both:
                own[j, i] = weight
        return own

    def _whole(self, own: FloatArray) -> FloatArray:
        """The same as a symmetric matrix, if it must be one and only one side has measures."""
        if not self.symmetric or self._is_of_both:
            return own
        line = own.ravel()
        whole = np.zeros((len(line), len(line)))
        whole[-1] = whole[:, -1] = line
        return whole


def _relative_to(center: FloatArray) -> FloatArray:
    """The matrix that turns measures with a 1 appended into those relative to ``center``, with a 1 appended."""
    matrix = np.eye(len(center) + 1)
    matrix[:-1, -1] = -center
    return matrix


def _require_size(lowest: FloatArray, highest: FloatArray, center: FloatArray, name: str) -> None:
    with np.errstate(over="ignore"):
        low, high = center - lowest, highest - center
    size = np.maximum(low, high)
    if (wrong := np.flatnonzero((size != 0.0) & ~((size >= _SIZES[0]) & (size <= _SIZES[1])))).size:
        raise InputError(
            f"{name}: measure {wrong[0]} differs from its mean by up to {size[wrong[0]]:.1e}, so that products of two "
            f"do not fit a float. That must be 0 or within {_SIZES[0]:g} and {_SIZES[1]:g}: take another unit."
        )


def quality_part(matrix: FloatArray, measures: Measures) -> FloatArray:
    """``q' W r`` of each trial; a side without measures has zeros before the 1."""
    n_trials, tables = len(measures.present), (measures.tables.get("enroll"), measures.tables.get("test"))
    total = np.empty(n_trials)
    inner, of_enroll, of_test = matrix[:-1, :-1], matrix[:-1, -1], matrix[-1, :-1]
    with np.errstate(over="ignore", invalid="ignore"):
        for i in range(0, n_trials, _BLOCK):
            rows = slice(i, i + _BLOCK)
            n_rows = len(measures.present[rows])
            q, r = (
                np.zeros((n_rows, size)) if table is None else table[rows].astype(np.float64, copy=False)
                for table, size in zip(tables, (len(of_enroll), len(of_test)), strict=True)
            )
            total[rows] = ((q @ inner + of_test) * r).sum(axis=1) + q @ of_enroll
    return total


def require_matrix(rows: Sequence[Sequence[float]], sides: tuple[str, ...], *, symmetric: bool, name: str) -> None:
    """Refuse a ``W`` from a file, or a matrix of the same form, that does not have the form that it must have.

    Raises
    ------
    InputError
        If it does not.
    """
    if len({len(row) for row in rows}) > 1:
        raise InputError(f"{name}: rows of different lengths.")
    matrix = np.array(rows, np.float64)
    if matrix[-1, -1] != 0.0:
        raise InputError(f"{name}: the last corner is not 0, but the offset stands elsewhere.")
    if symmetric and not np.array_equal(matrix, matrix.T):
        raise InputError(f"{name}: not symmetric, but the setting says so.")
    one_sided = symmetric and len(sides) == 1 and matrix[:-1, :-1].any()
    both_ways = symmetric and sides
    for side, size in zip(("enroll", "test"), matrix.shape, strict=True):
        if (size > 1) != bool(both_ways or side in sides) or one_sided:
            raise InputError(f"{name}: contradicts quality_sides.")
