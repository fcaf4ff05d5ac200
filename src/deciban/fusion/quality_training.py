"""What training of a fusion with quality measures found; and that training on trials in pieces."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from deciban.core.resampling.units import TrialUnits
from deciban.core.training.linear_objective import Trials
from deciban.core.training.linear_training import LinearFit
from deciban.core.training.moments import equal_classes, moments
from deciban.core.training.sums import Ends, Sums
from deciban.errors import InputError
from deciban.fusion.linear import LinearFusion, penalized
from deciban.fusion.quality_measures import Measures, combined_measures, no_trial_with_all, quality_entries
from deciban.fusion.quality_terms import QualityTerms
from deciban.models.score_model import tell_lacking
from deciban.models.sources import SourceTrials, float_weight
from deciban.models.two_class import Fusion, results_of
from deciban.models.uncertainty import ParameterCovariance
from deciban.trials.passes import Engine
from deciban.trials.sources import Chunk, ShardSource
from deciban.trials.speakers import UnitsOfPieces
from deciban.types import BoolArray, FloatArray

if TYPE_CHECKING:
    from deciban.fusion.quality import QualityFusion


def in_units_of_measures(fusion: QualityFusion, terms: QualityTerms, influences: FloatArray) -> FloatArray:
    """From influences on what was trained those on what the fusion holds, which is linear in it.

    Parameters
    ----------
    fusion : QualityFusion
        Trained.
    terms : QualityTerms
    influences : (n_units, n_columns + 1) array
        On weights of systems, of measures of trials and of terms, and on the offset beside these.

    Returns
    -------
    (n_units, n_parameters) array
        Of weights of systems, the offset, entries of ``W``, and weights of measures of trials.
    """
    n_systems, n_linear = fusion.n_systems_, fusion.n_systems_ + len(fusion.trial_quality_weights_)
    of_terms, places = influences[:, n_linear:-1], quality_entries(fusion)
    made = [terms.matrix(one) for one in np.eye(of_terms.shape[1])]
    entries = np.array([[matrix[at] for at in places] for matrix, _ in made]).reshape(len(made), len(places))
    offset = influences[:, -1] + of_terms @ np.array([more for _, more in made])
    of_trial = influences[:, n_systems:n_linear]
    return np.hstack((influences[:, :n_systems], offset[:, None], of_terms @ entries, of_trial))


def slopes_of_quality(fusion: QualityFusion, scores: FloatArray, measures: Measures) -> FloatArray:
    """Derivatives of the llrs of trials that have all measures by the parameters, (n_trials, n_parameters).

    Parameters
    ----------
    fusion : QualityFusion
    scores : (n_trials, n_systems) array
    measures : Measures
        Of these trials, combined.
    """
    n, is_one = len(scores), np.ones((len(scores), 1))
    sides = list[FloatArray]()
    for side, size in zip(("enroll", "test"), fusion.quality_weights_.shape, strict=True):
        table = measures.tables.get(side)
        sides.append(np.hstack((np.zeros((n, size - 1)) if table is None else table, is_one)))
    enroll, test = sides
    both = fusion.symmetric and len(fusion.quality_sides_) == 2
    columns = [
        enroll[:, i] * test[:, j] + (enroll[:, j] * test[:, i] if both and i != j else 0.0)
        for i, j in quality_entries(fusion)
    ]
    of_trial = [np.asarray(measures.tables["trial"], np.float64)] if "trial" in measures.tables else []
    return np.hstack((scores, is_one, *(column[:, None] for column in columns), *of_trial))


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

    def _take_over(
        self, fit: LinearFit, terms: QualityTerms, backoff: LinearFusion, n_measures: Mapping[str, int]
    ) -> None:
        """Take what was trained: weights of systems, then of measures of trials, then of terms."""
        n_systems = backoff.n_systems_
        n_linear = n_systems + n_measures["trial"]
        self.weights_, self.standardized_weights_ = fit.weights[:n_systems], fit.standardized[:n_systems]
        self.trial_quality_weights_ = fit.weights[n_systems:n_linear]
        self.standardized_trial_quality_weights_ = fit.standardized[n_systems:n_linear]
        self.quality_weights_, offset = terms.matrix(fit.weights[n_linear:])
        self.standardized_quality_weights_ = terms.standardized(fit.standardized[n_linear:])
        self.quality_sides_ = tuple(side for side in ("enroll", "test") if n_measures[side])
        self.offset_ = fit.offset + offset
        self.penalized_objective_ = penalized(fit, self.ridge)
        self.backoff_ = backoff

    def fit_pieces(
        self, source: ShardSource, engine: Engine, memory: int, *, units: UnitsOfPieces | None = None
    ) -> Self:
        """Train on trials in pieces; see `deciban.models.score_model.ScoreModel.fit_pieces`."""
        symmetric, data = self._is_symmetric(), SourceTrials(source, engine, memory, units)
        if not source.quality:
            raise InputError(f"{type(self).__name__}: needs quality measures, and {source.name} has none.")
        data.quality = source.quality
        lacking: _Lacking = data.look(_Lacked(self.combine, symmetric))
        n_measures = dict(lacking.n_measures)
        terms = _terms_of_source(data, self.combine, n_measures, symmetric=symmetric)
        backoff = LinearFusion(p_target=self.p_target, alpha=self.alpha, beta=self.beta, ridge=self.ridge)
        backoff.system_names = self.system_names
        backoff.fit_pieces(source, engine, memory, units=units)
        parts = data.made_by(_Measured(self.combine, terms))
        fit = self._train(parts)
        if terms.indices:
            of_terms = fit.weights[-len(terms.indices) :]
            terms.refuse_lost(float(data.look(_Lost(self.combine, terms, of_terms)).high))
        self._take_over(fit, terms, backoff, n_measures)
        n_lacking, n = (int(one) for one in lacking.sums.total)
        self.training_ = data.training(results_of(fit) | {"n_without_quality": n_lacking})
        if n_lacking:
            tell_lacking("QualityFusion", n_lacking, n, "", "left out where the quality part was trained")

        def uncertainty(own: TrialUnits) -> ParameterCovariance:
            fusion: Any = self
            found = self._influences(parts, own, fit.weights, fit.offset)
            changes = in_units_of_measures(fusion, terms, found.values)
            return ParameterCovariance.of(replace(found, values=changes), own)

        self._learn_uncertainty(None if units is None else units.units, uncertainty)
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
    parts, amounts = data.made_by(_Measured(combine, None)).undecided(1.0, 1.0)
    for amount, name in zip(amounts.total, ("non-target", "target"), strict=True):
        if not amount:
            raise no_trial_with_all(name)
    center, width = moments(equal_classes(parts))
    of_side, ends, begin = {}, {}, 0
    for side in ("enroll", "test"):
        if n := n_measures[side]:
            own = slice(begin, begin := begin + n)
            of_side[side] = center[own], width[own]
            ends[side] = parts.first.ends.low[own], parts.first.ends.high[own]
    terms = QualityTerms.around(of_side, symmetric=symmetric)
    terms.require_sizes(ends)
    return terms


def _measures_of(chunk: Chunk, combine: Any) -> Measures:
    """The combined measures of a piece."""
    tables = chunk.quality or {}
    given = {side: tables.get(f"{side}_quality") for side in ("enroll", "test", "trial")}
    return combined_measures(Measures.of(len(chunk.scores[0]), **given), combine)


def _counting(chunk: Chunk, measures: Measures) -> BoolArray:
    """The trials that count and have all measures."""
    return measures.present if chunk.weight is None else measures.present & (chunk.weight > 0)


@dataclass(frozen=True, slots=True, eq=False)
class _Lacking:
    """How many trials lack a measure, of how many; and how many measures there are."""

    sums: Sums
    n_measures: tuple[tuple[str, int], ...]

    def __add__(self, other: _Lacking) -> _Lacking:
        return _Lacking(self.sums + other.sums, self.n_measures)


@dataclass(frozen=True, slots=True)
class _Lacked:
    """A look at a piece that counts trials without measures."""

    combine: Any
    symmetric: bool

    def __call__(self, chunk: Chunk) -> _Lacking:
        measures = _measures_of(chunk, self.combine)
        if self.symmetric:
            measures.require_same()
        lacking = np.count_nonzero(~measures.present)
        return _Lacking(Sums.of([float(lacking), float(len(measures.present))]), tuple(measures.n_measures.items()))


@dataclass(frozen=True, slots=True)
class _Measured:
    """Makes trials of the measures of a piece, those of both sides; or of scores and terms of measures."""

    combine: Any
    terms: QualityTerms | None

    def rows(self, chunk: Chunk) -> BoolArray:
        """Those of trials that have all measures."""
        return _counting(chunk, _measures_of(chunk, self.combine))

    def __call__(self, chunk: Chunk) -> Trials:
        assert chunk.truth is not None  # noqa: S101  # it was asked for
        measures = _measures_of(chunk, self.combine)
        rows = _counting(chunk, measures)
        own, weight = measures.take(rows), float_weight(chunk)
        of_sides = [own.tables[side] for side in ("enroll", "test") if side in own.tables]
        if self.terms is None:
            columns = [column for table in of_sides for column in table.T]
        else:
            of_trial = list(own.tables["trial"].T) if "trial" in own.tables else []
            of_terms = [np.asarray(term) for term in self.terms.columns_of(own)]
            columns = [*(one[rows] for one in chunk.scores), *of_trial, *of_terms]
        return Trials.of(columns, chunk.truth[rows], weights=None if weight is None else weight[rows])


@dataclass(frozen=True, slots=True, eq=False)
class _Lost:
    """A look at a piece that finds by how much rounding changes llrs."""

    combine: Any
    terms: QualityTerms
    weights: FloatArray

    def __call__(self, chunk: Chunk) -> Ends | None:
        measures = _measures_of(chunk, self.combine)
        rows = _counting(chunk, measures)
        return Ends.up_to(self.terms.lost_of(self.weights, measures.take(rows))) if rows.any() else None
