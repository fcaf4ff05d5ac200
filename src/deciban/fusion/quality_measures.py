"""Quality measures of trials as arrays, weighted sums of them, and the terms of ``q' W r``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from deciban._validate import arrays as _validate
from deciban.errors import InputError, either
from deciban.fusion.linear import with_one_nan
from deciban.models.score_model import ARGUMENTS, measure_table
from deciban.types import AnyArray, BoolArray, FloatArray, FloatPair, IntArray, Json, ScoreArray

if TYPE_CHECKING:
    from deciban.trials import Key, Quality, Trials


QualitySide: TypeAlias = Literal["enroll", "test", "trial"]


QUALITY_SIDES: tuple[QualitySide, ...] = get_args(QualitySide)
"""Kinds of quality measures: of a side of the trial, or of the whole trial."""


@dataclass(frozen=True, slots=True, eq=False)
class Measures:
    """Checked quality measures.

    Attributes
    ----------
    tables : mapping of side to (n_trials, n_measures) array
        Measures of ``enroll``, ``test`` and ``trial`` (the whole trial), if any, in this order; NaN if missing, never
        infinite.
    present : (n_trials,) bool array
        True for trials without missing measures.
    """

    tables: Mapping[str, ScoreArray]
    present: BoolArray

    @classmethod
    def of(cls, n_trials: int, entries: Mapping[str, ArrayLike | None]) -> Measures:
        """Check measures from a user.

        Parameters
        ----------
        n_trials : int
        entries : mapping of str to array_like or None
            Measures by argument of fusions: ``enroll_quality``, ``test_quality``, ``trial_quality``.

        Raises
        ------
        InputError
            See `deciban.models.score_model.measure_table`.
        """
        tables: dict[str, ScoreArray] = {}
        for side, name in zip(QUALITY_SIDES, ARGUMENTS, strict=True):
            if (values := entries.get(name)) is not None:
                tables[side] = with_one_nan(measure_table(values, name, n_trials))
        return cls.in_tables(tables, n_trials)

    @property
    def arguments(self) -> dict[str, Json]:
        """Measures by argument of fusions."""
        return {f"{side}_quality": table for side, table in self.tables.items()}

    @classmethod
    def in_tables(cls, tables: Mapping[str, ScoreArray], n_trials: int) -> Measures:
        """Create from checked tables."""
        present = np.ones(n_trials, np.bool_)
        for table in tables.values():
            for column in table.T:
                present &= ~np.isnan(column)
        return cls(tables, present)

    @property
    def n_measures(self) -> dict[str, int]:
        """Number of measures of each kind: ``enroll``, ``test`` and ``trial``."""
        return {side: self.tables[side].shape[1] if side in self.tables else 0 for side in QUALITY_SIDES}

    def take(self, rows: BoolArray | IntArray | slice) -> Measures:
        """Return the measures of some of the trials."""
        return Measures({side: table[rows] for side, table in self.tables.items()}, self.present[rows])

    def require_same(self) -> None:
        """Refuse different numbers of measures on both sides.

        Raises
        ------
        InputError
            If both sides have measures, but different numbers.
        """
        enroll, test, _ = self.n_measures.values()
        if enroll and test and enroll != test:
            raise InputError(
                f"enroll_quality, test_quality: {enroll} and {test} measures. A symmetric matrix needs the same "
                f"measures in the same order on both sides; otherwise pass {either('symmetric=False', '--asymmetric')}."
            )

    def require(self, expected: Mapping[str, int]) -> None:
        """Refuse numbers of measures that differ from training.

        Raises
        ------
        InputError
        """
        for name, n_given in self.n_measures.items():
            if n_given != (n := expected.get(name, 0)):
                raise InputError(
                    f"{name}_quality: {n_given or 'no'} measures, but the fusion was trained on {n or 'none'}. "
                    "Pass the same measures in the same order; use NaN for a missing measure."
                )


def quality_vectors(quality: Quality, trials: Trials | Key) -> tuple[FloatArray | None, FloatArray | None]:
    """Return quality vectors of both sides of every trial, for `QualityFusion`.

    Parameters
    ----------
    quality : deciban.trials.Quality
        Measures by name, for example from a file of `deciban.io`. Before this call, ``quality.select`` can select
        measures, and ``quality.combine_measures`` can compute new ones by a matrix.
    trials : deciban.trials.Trials, or deciban.trials.Key
        Trials of the scores, in their order.

    Returns
    -------
    enroll, test : (n_trials, n_measures) array or None
        None for a side without measures; a row of NaN for a name without measures, which is then fused without quality.

    Raises
    ------
    InputError
        If the trials do not have these sides.

    Examples
    --------
    >>> from deciban.trials import Key, Quality, SegmentQuality
    >>> key = Key.of({"enroll": ["m", "m"], "test": ["y", "z"]}, [True, False])
    >>> quality = Quality(SegmentQuality.of(["m"], [2.0]), SegmentQuality.of(["x", "y"], [0.5, 0.25]))
    >>> enroll, test = quality_vectors(quality, key)
    >>> enroll.tolist(), test.tolist()
    ([[2.0], [2.0]], [[0.25], [nan]])
    """
    items: Any = getattr(trials, "trials", trials)
    sides: list[FloatArray | None] = []
    for side, measured in (("enroll", quality.enroll), ("test", quality.test)):
        if measured is None:
            sides.append(None)
            continue
        values, known = measured.align(items, side)
        values[~known] = np.nan
        sides.append(values)
    return sides[0], sides[1]


Combination: TypeAlias = ArrayLike | Mapping[str, ArrayLike] | None
"""Weights of the measures to combine: a matrix, or one for each kind of measures, or None."""


def plain_combination(combination: Combination) -> Json:
    """Check ``combine`` from a user, and return it in the form of a model file.

    Parameters
    ----------
    combination : None, (n_new, n_measures) array_like, or mapping of str to such
        One matrix for all measures, or one for each of ``enroll``, ``test`` and ``trial``.

    Returns
    -------
    None, list of lists, or dict of such

    Raises
    ------
    InputError
        If the argument has another form.
    """
    if combination is None:
        return None
    if not isinstance(combination, Mapping):
        return _matrix(combination, "combine").tolist()
    if not combination or set(combination) - set(QUALITY_SIDES):
        raise InputError(
            f"combine: expected a matrix, or matrices of {', '.join(QUALITY_SIDES)}; got matrices of {[*combination]}."
        )
    kinds = [kind for kind in QUALITY_SIDES if kind in combination]
    return {kind: _matrix(combination[kind], f"combine[{kind!r}]").tolist() for kind in kinds}


def matrices_of(combine: Combination) -> dict[str, FloatArray]:
    """Return the matrix of each kind of measures to combine; checked, because a setting may have changed."""
    checked = plain_combination(combine)
    if checked is None:
        return {}
    each = checked if isinstance(checked, dict) else dict.fromkeys(QUALITY_SIDES, checked)
    return {kind: np.array(rows, np.float64) for kind, rows in each.items()}


def combined_measures(measures: Measures, combine: Combination) -> Measures:
    """Combine the measures of trials; a missing measure does not matter if its weight is 0.

    Raises
    ------
    InputError
        If a matrix does not match, there is a matrix for absent measures, or a sum is not finite.
    """
    tables = dict(measures.tables)
    for kind, matrix in matrices_of(combine).items():
        if kind in tables:
            tables[kind] = _combined(tables[kind], matrix, kind)
        elif isinstance(combine, Mapping):
            raise InputError(
                f"combine: a matrix for {kind} measures, but no such measures. Leave it out, or pass measures."
            )
    return Measures.in_tables(tables, len(measures.present))


def raw_sizes(combine: Combination, n_measures: Mapping[str, int]) -> dict[str, int]:
    """Return the number of input measures of each kind, given the numbers after combination."""
    matrices = matrices_of(combine)
    return {kind: matrices[kind].shape[1] if n and kind in matrices else n for kind, n in n_measures.items()}


def require_fitting(combine: Combination, n_measures: Mapping[str, int]) -> None:
    """Refuse matrices whose number of new measures differs from the number of weights.

    Raises
    ------
    InputError
    """
    for kind, matrix in matrices_of(combine).items():
        if (n := n_measures.get(kind, 0)) and len(matrix) != n:
            raise InputError(f"combine: computes {len(matrix)} {kind} measures, but {n} have weights.")


def _matrix(values: ArrayLike, name: str) -> FloatArray:
    rows = _validate.array(values, name)
    if rows.ndim != 2 or not rows.size or rows.dtype.kind not in "biuf" or not np.isfinite(rows).all():
        raise InputError(
            f"{name}: expected a matrix of finite numbers with one row for each new measure and one column for each "
            f"existing one, got shape {rows.shape} of {rows.dtype} values."
        )
    return rows.astype(np.float64)


def _combined(table: ScoreArray, matrix: FloatArray, kind: str) -> FloatArray:
    if matrix.shape[1] != table.shape[1]:
        raise InputError(
            f"combine: {matrix.shape[1]} weights in a row for {table.shape[1]} {kind} measures. Pass one for each "
            "measure; use 0 for unwanted measures."
        )
    new = np.empty((len(table), len(matrix)))
    with np.errstate(over="ignore", invalid="ignore"):
        for k, weights in enumerate(matrix):
            used = np.flatnonzero(weights)
            new[:, k] = table[:, used] @ weights[used]
    missing = [np.isnan(table[:, np.flatnonzero(weights)]).any(axis=1) for weights in matrix]
    if not (np.isfinite(new) | np.column_stack(missing)).all():
        raise InputError(f"combine: weighted sums of {kind} measures exceed double precision. Use another unit.")
    return new


_BLOCK = 1 << 14


_SIDES = ("enroll", "test")


_LOST = 1e-6
"""Limit of changes of an llr by rounding, in nats."""


_SIZES = (1e-100, 1e100)
"""Allowed range of distances of measures from their mean, so that products of two are finite."""


@dataclass(frozen=True, slots=True, eq=False)
class _Measure:
    """One measure relative to its mean, in slices; exactly constant if it is constant up to rounding."""

    values: ScoreArray
    center: float
    constant: float | None

    def __getitem__(self, rows: IntArray | BoolArray | slice) -> FloatArray:
        own = self.values[rows]
        if self.constant is not None:
            return np.full(len(own), self.constant - self.center)
        return np.asarray(own, np.float64) - self.center


@dataclass(frozen=True, slots=True, eq=False)
class _Term:
    """Factor of one parameter: a sum of products of measures, computed in slices on access."""

    products: tuple[tuple[_Measure, ...], ...]

    def __getitem__(self, rows: IntArray | BoolArray | slice) -> FloatArray:
        total: Any = 0.0
        for first, *others in self.products:
            product = first[rows]
            for factor in others:
                product *= factor[rows]
            total = product if isinstance(total, float) else total + product
        return np.asarray(total)

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> AnyArray:  # noqa: FBT001
        column = np.empty(len(self.products[0][0].values))
        for i in range(0, len(column), _BLOCK):
            rows = slice(i, i + _BLOCK)
            column[rows] = self[rows]
        return column.astype(dtype, copy=False)  # always new, which is allowed for any value of copy


@dataclass(frozen=True, slots=True, eq=False)
class QualityTerms:
    """Terms of ``q' W r``.

    Attributes
    ----------
    centers : (n_enroll,), (n_test,) arrays
        Means that are subtracted from measures in the terms.
    widths : (n_enroll,), (n_test,) arrays
        Standard deviations of measures.
    symmetric : bool
        True if ``W`` is symmetric.
    constants : tuple of two tuples of float or None
        Values of measures that are constant up to rounding.
    indices : tuple of (int, int)
        Position of the parameter of each term in ``W``.
    """

    centers: FloatPair
    widths: FloatPair
    symmetric: bool
    constants: tuple[tuple[float | None, ...], tuple[float | None, ...]]

    @classmethod
    def around(cls, moments: Mapping[str, FloatPair], *, symmetric: bool) -> QualityTerms:
        """Return terms for measures with this mean and standard deviation on each side."""
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
        """Positions of independent parameters in ``W``: all except the last corner, which is the offset."""
        n_enroll, n_test = map(len, self.centers)
        places = np.ndindex(n_enroll + 1, n_test + 1)
        return tuple(at for at in places if at != (n_enroll, n_test) and (at[0] <= at[1] or not self._is_of_both))

    def columns_of(self, measures: Measures) -> tuple[_Term, ...]:
        """Return the terms of these trials, as columns to train on."""
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

    def require_sizes(self, ends: Mapping[str, FloatPair]) -> None:
        """Refuse measures with this range if products of two could exceed double precision.

        Raises
        ------
        InputError
            If there are any.
        """
        for side, center in zip(_SIDES, self.centers, strict=True):
            if side in ends:
                _require_size(*ends[side], center, f"{side}_quality")

    def matrix(self, weights: FloatArray) -> tuple[FloatArray, float]:
        """Return ``W`` for the original measures, with its last corner 0, and the change of the offset."""
        enroll, test = self.centers
        raw = _relative_to(enroll).T @ self._placed(weights) @ _relative_to(test)
        offset, raw[-1, -1] = float(raw[-1, -1]), 0.0
        if self._is_of_both:
            raw = 0.5 * raw + 0.5 * raw.T  # equal up to rounding
        return self._whole(raw), offset

    def lost_of(self, weights: FloatArray, measures: Measures) -> float:
        """Return the largest change of an llr by rounding."""
        columns = self.columns_of(measures)
        matrix, offset = self.matrix(weights)
        in_units, lost = quality_part(matrix, measures) + offset, 0.0
        for i in range(0, len(in_units), _BLOCK):
            rows = slice(i, i + _BLOCK)
            trained = np.sum([weight * term[rows] for weight, term in zip(weights, columns, strict=True)], axis=0)
            lost = max(lost, float(np.max(np.abs(in_units[rows] - trained))))
        return lost

    def refuse_lost(self, lost: float) -> None:
        """Refuse measures whose rounding changes llrs by too much.

        Raises
        ------
        InputError
            If the change is more than `_LOST`.
        """
        if not lost > _LOST:
            return
        with np.errstate(divide="ignore"):
            away = [np.where(w > 0.0, np.abs(c) / w, 0.0) for c, w in zip(self.centers, self.widths, strict=True)]
        side = int(np.argmax([own.max(initial=-1.0) for own in away]))
        k, name = int(np.argmax(away[side])), ("enroll_quality", "test_quality")[side]
        raise InputError(
            f"{name}: measure {k} is {away[side][k]:.1e} standard deviations away from 0, so that rounding of its "
            f"products changes llrs by up to {lost:.1e}. Subtract a constant from this measure in all trials, in "
            "training and use, for example its mean."
        )

    def standardized(self, weights: FloatArray) -> FloatArray:
        """Return the weights of terms divided by their standard deviation, in the positions of ``W``."""
        return self._whole(self._placed(weights))

    @property
    def _is_of_both(self) -> bool:
        """True if both sides have the same weights."""
        return self.symmetric and all(len(center) > 0 for center in self.centers)

    def _placed(self, weights: FloatArray) -> FloatArray:
        """Return parameters in their positions in the matrix."""
        enroll, test = self.centers
        own = np.zeros((len(enroll) + 1, len(test) + 1))
        for (i, j), weight in zip(self.indices, weights.tolist(), strict=True):
            own[i, j] = weight
            if self._is_of_both:
                own[j, i] = weight
        return own

    def _whole(self, own: FloatArray) -> FloatArray:
        """Return a symmetric matrix, if required and only one side has measures."""
        if not self.symmetric or self._is_of_both:
            return own
        line = own.ravel()
        whole = np.zeros((len(line), len(line)))
        whole[-1] = whole[:, -1] = line
        return whole


def _relative_to(center: FloatArray) -> FloatArray:
    """Return the matrix that subtracts ``center`` from measures with a 1 appended."""
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
            f"exceed double precision. Differences must be 0 or within {_SIZES[0]:g} and {_SIZES[1]:g}: use another "
            "unit."
        )


def quality_part(matrix: FloatArray, measures: Measures) -> FloatArray:
    """Return ``q' W r`` of each trial; a side without measures has zeros before the 1."""
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
    """Refuse a ``W`` from a file, or a matrix of the same form, with an invalid form.

    Raises
    ------
    InputError
        If the form is invalid.
    """
    if len({len(row) for row in rows}) > 1:
        raise InputError(f"{name}: rows of different lengths.")
    matrix = np.array(rows, np.float64)
    if matrix[-1, -1] != 0.0:
        raise InputError(f"{name}: the last corner must be 0; the offset is stored separately.")
    if symmetric and not np.array_equal(matrix, matrix.T):
        raise InputError(f"{name}: not symmetric, but the setting symmetric is true.")
    one_sided = symmetric and len(sides) == 1 and matrix[:-1, :-1].any()
    both_ways = symmetric and sides
    for side, size in zip(("enroll", "test"), matrix.shape, strict=True):
        if (size > 1) != bool(both_ways or side in sides) or one_sided:
            raise InputError(f"{name}: inconsistent with quality_sides.")
