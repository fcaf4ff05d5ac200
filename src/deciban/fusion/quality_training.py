"""What training of a fusion with quality measures found; and that training on trials in pieces."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

import numpy as np

from deciban.core.resampling.units import TrialUnits
from deciban.core.training.linear_objective import Trials
from deciban.core.training.moments import equal_classes, moments, ranges
from deciban.core.training.separation import undecided
from deciban.core.training.sums import Ends, Sums
from deciban.errors import InputError
from deciban.fusion.linear import LinearFusion, penalized
from deciban.fusion.quality_measures import Measures, combined_measures, no_trial_with_all
from deciban.models.model import ParameterCovariance
from deciban.models.score_model import tell_lacking
from deciban.models.sources import SourceTrials
from deciban.models.two_class import Fusion, results_of
from deciban.trials.passes import Engine
from deciban.trials.sources import Chunk, Piece, ShardSource, Wanted
from deciban.trials.speakers import UnitsOfPieces
from deciban.types import AnyArray, BoolArray, FloatArray, ScoreArray

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
    indices: tuple[tuple[int, int], ...] = ()

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
        terms = cls((enroll, test), (enroll_width, test_width), symmetric, (constants[0], constants[1]))
        none = {side: np.zeros((0, len(moments[side][0]))) for side in _SIDES if side in moments}
        return replace(terms, indices=tuple(dict(terms.terms_of(Measures(none, np.zeros(0, np.bool_))))))

    def terms_of(self, measures: Measures) -> Iterator[tuple[tuple[int, int], _Term]]:
        """Where in ``W`` each term stands, and the term of these trials."""
        sides = []
        for side, center, constant in zip(_SIDES, self.centers, self.constants, strict=True):
            table = measures.tables.get(side)
            own = () if table is None else zip(table.T, center.tolist(), constant, strict=True)
            sides.append([*((_Measure(*each),) for each in own), ()])
        shared = self.symmetric and set(_SIDES) <= set(measures.tables)
        return _terms(sides[0], sides[1], shared=shared)

    def columns_of(self, measures: Measures) -> tuple[_Term, ...]:
        """The terms of these trials, columns to train on."""
        return tuple(term for _, term in self.terms_of(measures))

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


def _terms(
    enroll: list[tuple[_Measure, ...]], test: list[tuple[_Measure, ...]], *, shared: bool
) -> Iterator[tuple[tuple[int, int], _Term]]:
    """Index and term of each independent parameter; each side ends in an empty product for the constant 1."""
    for i, left in enumerate(enroll):
        for j, right in enumerate(test):
            products = [left + right]
            if shared and i != j:
                products.append(enroll[j] + test[i])
            if products[0] and (i <= j or not shared):
                yield (i, j), _Term(tuple(products))


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


class MeasuredFusion(Fusion):
    """A fusion with quality measures: what training found, and training on trials in pieces."""

    combine: Any
    quality_weights_: FloatArray
    trial_quality_weights_: FloatArray
    standardized_quality_weights_: FloatArray
    standardized_trial_quality_weights_: FloatArray
    quality_sides_: tuple[str, ...]
    backoff_: LinearFusion

    @abstractmethod
    def _is_symmetric(self) -> bool:
        """Whether the matrix of weights is."""

    @abstractmethod
    def _in_units_of_measures(self, terms: QualityTerms, influences: FloatArray) -> FloatArray:
        """Return influences on the parameters of the fusion, from those on what was trained."""

    def fit_pieces(
        self, source: ShardSource, engine: Engine | None, memory: int, *, units: UnitsOfPieces | None = None
    ) -> Self:
        """Train on trials in pieces; see `deciban.models.score_model.ScoreModel.fit_pieces`."""
        symmetric, data = self._is_symmetric(), SourceTrials(source, engine, memory, units)
        if not source.quality and engine is not None:
            raise InputError(f"{type(self).__name__}: needs quality measures, and {source.name} has none.")
        data.quality = source.quality
        lacking: _Lacking = data.look(partial(_lacking, self.combine, symmetric))
        n_measures = dict(lacking.n_measures)
        terms = _terms_of_source(data, self.combine, n_measures, symmetric=symmetric)
        backoff = LinearFusion(p_target=self.p_target, alpha=self.alpha, beta=self.beta, ridge=self.ridge)
        backoff.system_names = self.system_names
        backoff.fit_pieces(source.map(_without_quality, quality=()), engine, memory, units=units)
        parts = data.made_by(partial(_measured, self.combine, terms))
        fit = self._train(parts)
        if terms.indices:
            of_terms = fit.weights[-len(terms.indices) :]
            terms.refuse_lost(float(data.look(partial(_lost, self.combine, terms, of_terms)).high))
        n_systems = backoff.n_systems_
        n_linear = n_systems + n_measures["trial"]
        self.weights_, self.standardized_weights_ = fit.weights[:n_systems], fit.standardized[:n_systems]
        self.trial_quality_weights_ = fit.weights[n_systems:n_linear]
        self.standardized_trial_quality_weights_ = fit.standardized[n_systems:n_linear]
        self.quality_weights_, offset = terms.matrix(fit.weights[n_linear:])
        self.standardized_quality_weights_ = terms.standardized(fit.standardized[n_linear:])
        self.quality_sides_ = tuple(side for side in ("enroll", "test") if n_measures[side])
        self.offset_, self.backoff_ = fit.offset + offset, backoff
        self.penalized_objective_ = penalized(fit, self.ridge)
        n_lacking, n = (int(one) for one in lacking.sums.total)
        self.training_ = data.training(results_of(fit) | {"n_without_quality": n_lacking})
        if n_lacking:
            where = "" if data.batch is None else f", the first at index {lacking.first}"
            tell_lacking("QualityFusion", n_lacking, n, where, "left out where the quality part was trained")

        def uncertainty(counting: SourceTrials, own: TrialUnits) -> ParameterCovariance:
            given = parts if counting is data else counting.made_by(partial(_measured, self.combine, terms))
            found = self._influences(given, own, fit.weights, fit.offset)
            changes = self._in_units_of_measures(terms, found.values)
            return ParameterCovariance.of(replace(found, values=changes), own)

        self._learn_uncertainty(data, uncertainty)
        return self


def _terms_of_source(
    data: SourceTrials, combine: Any, n_measures: Mapping[str, int], *, symmetric: bool
) -> QualityTerms:
    """Terms around the means of the measures of both sides.

    Raises
    ------
    InputError
        If no trial of a class has all measures, or these are too large or small.
    """
    parts, amounts = undecided(data.made_by(partial(_measured, combine, None)), 1.0, 1.0)
    for amount, name in zip(amounts.total, ("non-target", "target"), strict=True):
        if not amount:
            raise no_trial_with_all(name)
    center, width = moments(equal_classes(parts))
    low, high = ranges(parts) if len(center) else (center, center)
    of_side, ends, begin = {}, {}, 0
    for side in ("enroll", "test"):
        if n := n_measures[side]:
            own = slice(begin, begin := begin + n)
            of_side[side] = center[own], width[own]
            ends[side] = low[own], high[own]
    terms = QualityTerms.around(of_side, symmetric=symmetric)
    terms.require_sizes(ends)
    return terms


def _measures_of(chunk: Chunk, combine: Any) -> Measures:
    """The combined measures of a piece."""
    tables = chunk.quality or {}
    given = {side: tables.get(f"{side}_quality") for side in ("enroll", "test", "trial")}
    return combined_measures(Measures.of(len(chunk.scores[0]), **given), combine)


def _without_quality(piece: Piece, wanted: Wanted) -> Chunk:
    return replace(piece.read(wanted), quality=None)


def _counting(chunk: Chunk, measures: Measures) -> BoolArray | slice:
    """The trials that count and have all measures."""
    counts = measures.present if chunk.weight is None else measures.present & (chunk.weight > 0)
    return slice(None) if counts.all() else counts


@dataclass(frozen=True, slots=True, eq=False)
class _Lacking:
    """How many trials lack a measure, of how many; and how many measures there are."""

    sums: Sums
    n_measures: tuple[tuple[str, int], ...]
    first: int

    def __add__(self, other: _Lacking) -> _Lacking:
        return _Lacking(self.sums + other.sums, self.n_measures, self.first)


def _lacking(combine: Any, symmetric: bool, chunk: Chunk) -> _Lacking:  # noqa: FBT001
    """Count trials of a piece without measures."""
    measures = _measures_of(chunk, combine)
    if symmetric:
        measures.require_same()
    sums = Sums.of([float(np.count_nonzero(~measures.present)), float(len(measures.present))])
    return _Lacking(sums, tuple(measures.n_measures.items()), int(np.argmin(measures.present)))


def _measured(combine: Any, terms: QualityTerms | None, chunk: Chunk) -> tuple[Trials, BoolArray | slice]:
    """Make trials of the measures of a piece, those of both sides; or of scores and terms of measures."""
    measures = _measures_of(chunk, combine)
    rows = _counting(chunk, measures)
    own, weight = measures.take(rows), chunk.float_weight
    of_sides = [own.tables[side] for side in ("enroll", "test") if side in own.tables]
    if terms is None:
        columns = [column for table in of_sides for column in table.T]
    else:
        of_trial = list(own.tables["trial"].T) if "trial" in own.tables else []
        columns = [*(one[rows] for one in chunk.scores), *of_trial, *terms.columns_of(own)]
    return Trials.of(columns, chunk.labels[rows], weights=None if weight is None else weight[rows]), rows


def _lost(combine: Any, terms: QualityTerms, weights: FloatArray, chunk: Chunk) -> Ends | None:
    """Find by how much rounding changes llrs of a piece."""
    measures = _measures_of(chunk, combine)
    own = measures.take(_counting(chunk, measures))
    return Ends.up_to(terms.lost_of(weights, own)) if len(own.present) else None
