"""Fusion with quality measures of both sides of a trial."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from deciban._validate import arrays as _validate
from deciban.core.resampling.units import TrialUnits
from deciban.core.training.linear_objective import TrainingTrials, undecided
from deciban.core.training.moments import equal_classes, moments, ranges
from deciban.core.training.sums import Ends, Sums
from deciban.errors import InputError
from deciban.fusion import quality_measures
from deciban.fusion.linear import LinearFusion, combined, linear_like, source_of_systems
from deciban.fusion.quality_measures import Combination, Measures, QualityTerms
from deciban.models import score_model
from deciban.models.loading import model_of
from deciban.models.model import Bounds, ParameterCovariance, Plain
from deciban.models.score_model import objective_line, penalized, require_systems
from deciban.models.sources import SourceTrials
from deciban.trials.sources import Batch, SourcePartition, TrialFields
from deciban.types import BoolArray, FloatArray, IntArray, Json, ScoreArray, Units, Weights

if TYPE_CHECKING:
    from deciban.core.training.batches import PartsOfTrials
    from deciban.core.training.linear_training import LinearFit

_NUMBERS = {"type": "array", "items": {"type": "number"}}


_MATRIX = {"type": "array", "minItems": 1, "items": {**_NUMBERS, "minItems": 1}}


def slopes_of_quality(fusion: QualityFusion, scores: FloatArray, measures: Measures) -> FloatArray:
    """Return derivatives of the llrs in the parameters, (n_trials, n_parameters), for trials with all measures.

    Parameters
    ----------
    fusion : QualityFusion
    scores : (n_trials, n_systems) array
    measures : Measures
        Combined measures of these trials.
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


class QualityFusion(score_model.Fusion):
    """Log-likelihood ratio ``offset + sum_k weight_k score_k + q' W r`` (BOSARIS paper, eq. 30).

    ``q`` and ``r`` are measures of the enrolment and of the test side with a constant 1 appended. So ``W`` also
    contains the additive effects of each side. Its last corner is 0, because this is the offset. In total, there are
    ``(Q + 1) (Q + 2) / 2 - 1`` independent weights for ``Q`` measures of both sides.

    Parameters
    ----------
    p_target : float
        Prior of the objective, in (0, 1).
    alpha, beta : float
        Member of the beta family of proper scoring rules, each in [0.05, 100].
    ridge : float
        Penalty ``ridge / 2 * sum(weights**2)`` on the weights of systems and the independent weights in ``W``, added to
        the objective. The unit of each weight is the prior-weighted standard deviation of its factor. Products use
        measures relative to their mean, so that units and zeros of measures do not matter. The offset is never
        penalized.
    symmetric : bool
        If True, ``W`` is symmetric: both sides have the same measures in the same order, and exchanging the sides does
        not matter. If False, the two sides have different measures, of any numbers.
    combine : (n_new, n_measures) array_like, or mapping of str to such, optional
        Matrix that computes the measures of ``W`` from the measures that are passed: row ``i`` contains the weights of
        new measure ``i``. One matrix for all, or one each for ``enroll``, ``test`` and ``trial``. A row with a single 1
        selects a measure.

    Attributes
    ----------
    weights_, standardized_weights_ : (n_systems,) arrays
        Factor of each system's scores, and the same for scores divided by their standard deviation.
    offset_ : float
        In nats.
    quality_weights_ : (n_enroll_measures + 1, n_test_measures + 1) array
        ``W``, for measures without standardization. If it is symmetric and only one side has measures, the other side
        has the same number of measures, all 0: only the last row and column of ``W`` are not 0.
    trial_quality_weights_ : (n_trial_measures,) array
        Factors of measures of the whole trial.
    standardized_quality_weights_, standardized_trial_quality_weights_ : arrays
        Penalized weights, in the same places: of measures relative to their mean, and of products of such measures,
        divided by their standard deviation.
    quality_sides_ : tuple of str
        Sides with measures: ``enroll`` or ``test`` or both.
    backoff_ : LinearFusion
        Fusion of trials that lack a measure.
    objective_, penalized_objective_ : float
        Expected cost at the optimum, without and with the penalty, of trials with all measures.
    parameter_covariance_ : (n_parameters, n_parameters) array or None
        Covariance of the trained parameters, in the order of ``parameter_names``, by the sampling of units, if ``fit``
        received units. The means of measures in the penalty count as constants.
    training_ : Training
        Counts of all trials, a fingerprint of the data, and ``results`` of training: ``n_without_quality`` is the
        number of trials that lack a measure.

    Notes
    -----
    NaN means that a measure is missing. A trial with a missing measure on either side is not used to train ``W``. It is
    fused by `backoff_`: a linear fusion of the same systems with the same settings, trained on all trials. A warning
    states the number of these trials each time. (The linear terms of the formula above are no substitute: they are for
    measures of 0, which may be far from all trials, such as a signal-to-noise ratio of 0 dB, or 0 seconds of speech.)

    `quality_vectors` converts files of measures by segment to matrices with one row per trial. To reduce the number of
    measures, use ``combine``, which is saved in the model, or `deciban.trials.Quality.select` and
    ``Quality.combine_measures`` beforehand: the number of weights grows with the square of the number of measures.

    The fusion does not depend on affine changes of measures: other units or zeros change ``W``, but not the llrs. A
    measure is refused if it is so far from 0 (about 1e5 standard deviations) that rounding would cost more than 1e-6
    nats.

    Examples
    --------
    Noise affects both measures and raises all scores:

    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> is_target = np.arange(4000) < 2000
    >>> enroll, test = rng.random((2, 4000, 1))
    >>> scores = np.where(is_target, 1.0, -1.0)[:, None] + 3.0 * (enroll + test) + rng.normal(size=(4000, 1))
    >>> fusion = QualityFusion().fit(scores, is_target, enroll_quality=enroll, test_quality=test)
    >>> round(fusion.backoff_.objective_, 2), round(fusion.objective_, 2)
    (0.53, 0.35)
    >>> fusion.weights_.round(1), fusion.quality_weights_.round(1)
    (array([2.]), array([[ 0., -6.],
           [-6.,  0.]]))
    >>> fusion.transform([[3.0], [3.0]], enroll_quality=[[0.2], [0.8]], test_quality=[[0.3], [0.9]]).round(0)
    array([ 3., -4.])
    """

    kind: ClassVar[str] = "quality-fusion"
    takes_quality = True
    table_name = "fusion with quality"
    parameter_schema: ClassVar[Mapping[str, object]] = {
        "weights": {**_NUMBERS, "minItems": 1},
        "standardized_weights": _NUMBERS,
        "offset": {"type": "number"},
        "quality_weights": _MATRIX,
        "trial_quality_weights": _NUMBERS,
        "standardized_quality_weights": _MATRIX,
        "standardized_trial_quality_weights": _NUMBERS,
        "quality_sides": {"type": "array", "uniqueItems": True, "items": {"enum": ["enroll", "test"]}},
        "backoff": {"type": "object"},
    }

    quality_weights_: FloatArray
    trial_quality_weights_: FloatArray
    standardized_quality_weights_: FloatArray
    standardized_trial_quality_weights_: FloatArray
    quality_sides_: tuple[str, ...]
    backoff_: LinearFusion
    _in_terms: tuple[QualityTerms, LinearFit]

    def __init__(
        self,
        *,
        p_target: float = 0.5,
        alpha: float = 1.0,
        beta: float = 1.0,
        ridge: float = 0.0,
        symmetric: bool = True,
        combine: ArrayLike | Mapping[str, ArrayLike] | None = None,
    ) -> None:
        super().__init__(p_target=p_target, alpha=alpha, beta=beta, ridge=ridge)
        self.symmetric = symmetric
        self.combine: Combination = quality_measures.plain_combination(combine)
        self._is_symmetric()

    def _is_symmetric(self) -> bool:
        """Return the checked setting; it is an attribute, which may have changed."""
        _validate.flag(self.symmetric, "symmetric")
        return bool(self.symmetric)

    def fit(
        self,
        scores: ArrayLike,
        is_target: ArrayLike,
        *,
        enroll_quality: ArrayLike | None = None,
        test_quality: ArrayLike | None = None,
        trial_quality: ArrayLike | None = None,
        sample_weight: Weights = None,
        units: Units = None,
    ) -> Self:
        """Train on labelled trials.

        Parameters
        ----------
        scores : (n_trials, n_systems) array_like
            Scores of all systems on the same trials; infinite scores represent certainty.
        is_target : (n_trials,) array_like
            True (or 1) for targets, False (or 0) for non-targets.
        enroll_quality, test_quality : (n_trials, n_measures) array_like, optional
            Measures of both sides, or of one side; finite, or NaN if missing.
        trial_quality : (n_trials, n_measures) array_like, optional
            Measures of the whole trial, such as a side score: each is multiplied by a weight and added.
        sample_weight : (n_trials,) array_like, optional
            Weight of each trial within its class, at least 0; whole numbers count like copies.
        units : (n_trials,) or (n_trials, 2) array_like, or TrialUnits, optional
            Speaker or other unit of each trial, or of its two sides; see `interval`.

        Returns
        -------
        self

        Raises
        ------
        InputError
            If a score is NaN, a measure is infinite, shapes do not match, a class is empty or has no trial with all
            measures, the classes are separated and there is no penalty, or infinite scores contradict each other or the
            true class.

        Warns
        -----
        DecibanWarning
            If trials lack a measure.
        """
        n_trials = len(_validate.matrix(scores, "scores", "system"))
        entries = dict(zip(score_model.ARGUMENTS, (enroll_quality, test_quality, trial_quality), strict=True))
        quality = Measures.of(n_trials, entries).arguments
        source = source_of_systems(scores, is_target, sample_weight, units, quality)
        return self.fit_source(source, None, 0, units=source.held_units)

    def _data(self, *arguments: Any) -> SourceTrials:
        data: SourceTrials = super()._data(*arguments)
        data.quality = data.source.quality
        if not data.quality and data.engine is not None:
            raise InputError(f"{type(self).__name__}: needs quality measures, but {data.source.name} has none.")
        return data

    def _fit(self, data: SourceTrials) -> Mapping[str, Plain]:
        from deciban.core.training.linear_training import train_trials  # only needed for training

        symmetric = self._is_symmetric()
        lacking: _MissingMeasures = data.look(partial(_lacking, self.combine, symmetric))
        n_measures = dict(lacking.n_measures)
        terms = _terms_of_source(data, self.combine, n_measures, symmetric=symmetric)
        alone = data.source.map(_without_quality, quality=())
        backoff = linear_like(self, self.system_names)
        backoff.fit_source(alone, data.engine, data.memory or 0, units=data.units)
        fit = train_trials(self._of_terms(data, terms), *self._rule(), called=self.called)
        self._note(fit)
        self._in_terms = terms, fit
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
        if n_lacking:
            where = "" if data.batch is None else f", the first at index {lacking.first}"
            score_model.warn_lacking("QualityFusion", n_lacking, n, where, "not used to train the quality part")
        return score_model.results_of(fit) | {"n_without_quality": n_lacking}

    def _of_terms(self, data: SourceTrials, terms: QualityTerms) -> TrainingTrials | PartsOfTrials:
        """Return scores, measures of trials and terms of measures, as columns to train on."""
        return data.made_by(partial(_measured, self.combine, terms), key="terms")

    def _uncertainty(self, data: SourceTrials, units: TrialUnits) -> ParameterCovariance:
        terms, fit = self._in_terms
        result = self._influences(self._of_terms(data, terms), units, fit.weights, fit.offset)
        return ParameterCovariance.of(replace(result, values=self._in_units_of_measures(terms, result.values)), units)

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """Names of the parameters in `parameter_rows`, without the fusion of trials without measures."""
        n_parameters = self.n_systems_ + 1 + len(quality_entries(self)) + len(self.trial_quality_weights_)
        return (*super().parameter_names, *(row.name for row in rows_of_quality(self)))[:n_parameters]

    def _bounds(self, scores: ArrayLike, llr: FloatArray, level: float, **quality: ArrayLike) -> Bounds:
        matrix = np.asarray(scores, np.float64)
        measures = quality_measures.combined_measures(Measures.of(len(matrix), quality), self.combine)
        known, result = measures.present, self._require_covariance()
        low, high = np.empty(len(llr)), np.empty(len(llr))
        own, of_known = measures.take(known), matrix[known]
        low[known], high[known] = result.bounds(
            llr[known], lambda rows: slopes_of_quality(self, of_known[rows], own.take(rows)), level
        )
        if not known.all():
            bounds_without = self.backoff_._bounds  # noqa: SLF001
            low[~known], high[~known] = bounds_without(matrix[~known], llr[~known], level)
        return low, high

    def transform(
        self,
        scores: ArrayLike,
        *,
        enroll_quality: ArrayLike | None = None,
        test_quality: ArrayLike | None = None,
        trial_quality: ArrayLike | None = None,
    ) -> FloatArray:
        """Fuse the scores of trials.

        Parameters
        ----------
        scores : (n_trials, n_systems) array_like
            Systems in the order of training.
        enroll_quality, test_quality, trial_quality : (n_trials, n_measures) array_like
            The measures of training, in the same order; NaN if missing.

        Returns
        -------
        (n_trials,) array
            Log-likelihood ratios in nats.

        Raises
        ------
        InputError
            If the fusion was not trained, a score is NaN, a measure is infinite, systems or measures differ from
            training, or systems contradict each other with infinite scores.

        Warns
        -----
        DecibanWarning
            If trials lack a measure.
        """
        self.require_fitted()
        matrix = _validate.score_matrix(scores, "scores")
        require_systems(matrix, self.n_systems_)
        entries = dict(zip(score_model.ARGUMENTS, (enroll_quality, test_quality, trial_quality), strict=True))
        measures = Measures.of(len(matrix), entries)
        measures.require(quality_measures.raw_sizes(self.combine, self._n_measures()))
        measures = quality_measures.combined_measures(measures, self.combine)
        if measures.present.all():
            return self._fused(matrix, measures, np.arange(len(matrix)))
        llr = np.empty(len(matrix))
        known, lacking = np.flatnonzero(measures.present), np.flatnonzero(~measures.present)
        llr[known] = self._fused(matrix[known], measures.take(known), known)
        alone = self.backoff_
        llr[lacking] = combined(matrix[lacking], alone.weights_, alone.offset_, numbers=lacking)
        score_model.warn_missing("QualityFusion", measures.present, "fused by their scores alone")
        return llr

    def _n_measures(self) -> dict[str, int]:
        """Return the number of measures with weights, of each kind."""
        sizes = zip(("enroll", "test"), self.quality_weights_.shape, strict=True)
        of_sides = {side: size - 1 for side, size in sizes if side in self.quality_sides_}
        return {**of_sides, "trial": len(self.trial_quality_weights_)}

    @property
    def quality_arguments(self) -> tuple[str, ...]:
        """Names of the arguments of `transform` for the measures in training."""
        of_trial = ("trial",) if len(self.trial_quality_weights_) else ()
        return tuple(f"{side}_quality" for side in (*self.quality_sides_, *of_trial))

    @property
    def without_quality(self) -> LinearFusion:
        """The fusion of trials without quality measures."""
        return self.backoff_

    def parameter_rows(self) -> tuple[score_model.ParameterRow, ...]:
        """Return weights of systems and measures and the offset, then of the fusion of trials without measures."""
        return (*super().parameter_rows(), *rows_of_quality(self))

    def training_lines(self) -> list[str]:
        """Return sentences on training, with and without measures."""
        training, alone = self.training_, self.backoff_.training_
        results = {} if training is None else dict(training.results)
        n = 0 if training is None else sum(training.counts.values()) - int(results["n_without_quality"] or 0)
        of_trials = f" of the {n:,} trials that have all quality measures"
        lines = [f"training: {results['status']}", objective_line(results, of_trials)] if results else []
        if alone is not None:
            n_trials, status = sum(alone.counts.values()), alone.results["status"]
            lines.append(f"without quality: a linear fusion, trained on all {n_trials:,} trials: {status}")
            lines.append(f"without quality: {objective_line(dict(alone.results))}")
        return [*lines, *self.uncertainty_lines()]

    def _fused(self, scores: ScoreArray, measures: Measures, numbers: IntArray) -> FloatArray:
        """Return llrs of trials with all measures."""
        llr = combined(scores, self.weights_, self.offset_, numbers=numbers)
        part = quality_measures.quality_part(self.quality_weights_, measures)
        if (of_trial := measures.tables.get("trial")) is not None:
            with np.errstate(over="ignore", invalid="ignore"):
                part += of_trial @ self.trial_quality_weights_
        words = "quality: measures of {n} trials are so large that their products exceed double precision, the first "
        _validate.refuse_trials(~np.isfinite(part), words, ". Were the training measures in another unit?", numbers)
        llr += part
        return llr

    def set_parameters(self, parameters: Mapping[str, Json]) -> None:
        """Set weights and offset from a file."""
        backoff = model_of(parameters["backoff"], "backoff")
        if not isinstance(backoff, LinearFusion):
            raise InputError(f"backoff: expected a linear fusion, got a model of kind {backoff.kind!r}.")
        if not len(parameters["weights"]) == len(parameters["standardized_weights"]) == len(backoff.weights_):
            raise InputError("weights, standardized_weights and the weights of backoff have different lengths.")
        sides = tuple(side for side in ("enroll", "test") if side in parameters["quality_sides"])
        for name in ("quality_weights", "standardized_quality_weights"):
            quality_measures.require_matrix(parameters[name], sides, symmetric=self._is_symmetric(), name=name)
        for like in ("quality_weights", "trial_quality_weights"):
            if np.shape(parameters[name := f"standardized_{like}"]) != np.shape(parameters[like]):
                raise InputError(f"{name}: shape differs from the weights.")
        super().set_parameters({n: v for n, v in parameters.items() if n not in ("quality_sides", "backoff")})
        self.quality_sides_, self.backoff_ = sides, backoff
        quality_measures.require_fitting(self.combine, self._n_measures())

    def _in_units_of_measures(self, terms: QualityTerms, influences: FloatArray) -> FloatArray:
        """Return influences on the parameters of the fusion from influences on the trained terms (a linear map).

        Parameters
        ----------
        terms : QualityTerms
        influences : (n_units, n_columns + 1) array
            Influences on weights of systems, of measures of trials and of terms, and on the offset with these terms.

        Returns
        -------
        (n_units, n_parameters) array
            Influences on weights of systems, the offset, entries of ``W``, and weights of measures of trials.
        """
        n_systems, n_linear = self.n_systems_, self.n_systems_ + len(self.trial_quality_weights_)
        of_terms, places = influences[:, n_linear:-1], quality_entries(self)
        items = [terms.matrix(one) for one in np.eye(of_terms.shape[1])]
        entries = np.array([[matrix[at] for at in places] for matrix, _ in items]).reshape(len(items), len(places))
        offset = influences[:, -1] + of_terms @ np.array([more for _, more in items])
        of_trial = influences[:, n_systems:n_linear]
        return np.hstack((influences[:, :n_systems], offset[:, None], of_terms @ entries, of_trial))


def sums_of_measures(fusion: QualityFusion) -> dict[str, list[tuple[str, str]]]:
    """Return the names and formulas of the quality measures of each side.

    Returns
    -------
    dict of side to list of (name, sum)
        ``q3`` for an unchanged measure, by its number from 1; ``combined 1``, with its sum, for a combined measure.

    Examples
    --------
    >>> from deciban.fusion import QualityFusion
    >>> fusion = QualityFusion(combine=[[0, 1], [0.5, -2]], ridge=0.1)
    >>> scores, is_target = [[1.0], [0.0], [3.0], [2.0], [0.5], [2.5]], [True, False, True, False, True, False]
    >>> quality = [[1, 2], [2, 1], [0, 3], [3, 3], [1, 0], [4, 1]]
    >>> sums_of_measures(fusion.fit(scores, is_target, trial_quality=quality))
    {'trial': [('q2', 'q2'), ('combined 1', '0.5 q1 - 2 q2')]}
    """
    n_rows, n_columns = fusion.quality_weights_.shape
    sizes = {"enroll": n_rows - 1, "test": n_columns - 1, "trial": len(fusion.trial_quality_weights_)}
    matrices = quality_measures.matrices_of(fusion.combine)
    entries = {}
    for side, size in sizes.items():
        if size and (side == "trial" or side in fusion.quality_sides_):
            rows = matrices.get(side, np.eye(size))
            sums = [weighted_sum(row, [f"q{k + 1}" for k in range(len(row))]) for row in rows.tolist()]
            is_one = [np.count_nonzero(row) == 1 and row.max() == 1.0 for row in rows]
            numbers = np.cumsum(~np.array(is_one)).tolist()
            combined_sums = zip(is_one, numbers, sums, strict=True)
            entries[side] = [(text if one else f"combined {k}", text) for one, k, text in combined_sums]
    return entries


def weighted_sum(weights: Sequence[float], names: Sequence[str]) -> str:
    """Return a weighted sum as text.

    >>> weighted_sum([1.0, 0.0, -2.0], ["snr", "age", "speech"]), weighted_sum([0.0], ["snr"])
    ('snr - 2 speech', '0')
    """
    text = ""
    for weight, name in zip(weights, names, strict=True):
        if weight:
            sign = (" - " if weight < 0 else " + ") if text else "-" * (weight < 0)
            text += sign + (name if abs(weight) == 1 else f"{abs(weight):g} {name}")
    return text or "0"


def rows_of_quality(fusion: QualityFusion) -> Iterator[score_model.ParameterRow]:
    """Yield the entries of q' W r (a symmetric matrix once); then the fusion of trials without quality."""
    measures = {side: [name for name, _ in items] for side, items in sums_of_measures(fusion).items()}
    matrix, standardized = fusion.quality_weights_, fusion.standardized_quality_weights_
    errors = iter(fusion.errors_in_order[fusion.n_systems_ + 1 :])
    n_test = matrix.shape[1] - 1
    both = fusion.symmetric and len(fusion.quality_sides_) == 2
    for i, j in quality_entries(fusion):
        name = " * ".join(f"{measures[side][k]} of {side}" for side, k in _factors(fusion, i, j).items())
        if both and i != j:
            name = _of_either(measures, i) if j == n_test else f"{name}, and the reverse"
        yield score_model.ParameterRow(name, float(matrix[i, j]), float(standardized[i, j]), next(errors, None))
    of_trial = fusion.trial_quality_weights_.tolist(), fusion.standardized_trial_quality_weights_.tolist()
    for name, value, standard in zip(measures.get("trial", []), *of_trial, strict=True):
        yield score_model.ParameterRow(f"{name} of the trial", value, standard, next(errors, None))
    for one in fusion.backoff_._rows(fusion.trained_systems):  # noqa: SLF001
        yield replace(one, name=f"without quality: {one.name}")


def quality_entries(fusion: QualityFusion) -> list[tuple[int, int]]:
    """Return the positions of the independent weights in ``W``; for a symmetric matrix, each once."""
    both = fusion.symmetric and len(fusion.quality_sides_) == 2
    places = np.ndindex(fusion.quality_weights_.shape)
    items = [(i, j, set(_factors(fusion, i, j))) for i, j in places if not (both and i > j)]
    return [(i, j) for i, j, sides in items if sides and sides <= set(fusion.quality_sides_)]


def _factors(fusion: QualityFusion, i: int, j: int) -> dict[str, int]:
    """Return the measures of an entry of ``W``, by side."""
    n_enroll, n_test = (size - 1 for size in fusion.quality_weights_.shape)
    return ({"enroll": i} if i < n_enroll else {}) | ({"test": j} if j < n_test else {})


def _of_either(measures: Mapping[str, Sequence[str]], k: int) -> str:
    """Return the name of a measure of both sides, which may differ between the sides."""
    enroll, test = measures["enroll"][k], measures["test"][k]
    return f"{enroll} of either side" if enroll == test else f"{enroll} of enroll, or {test} of test"


def _terms_of_source(
    data: SourceTrials, combine: Combination, n_measures: Mapping[str, int], *, symmetric: bool
) -> QualityTerms:
    """Return terms relative to the means of the measures of both sides.

    Raises
    ------
    InputError
        If no trial of a class has all measures, or measures are too large or small.
    """
    parts, amounts = undecided(data.made_by(partial(_measured, combine, None), key="measures"), 1.0, 1.0)
    for amount, name in zip(amounts.total, ("non-target", "target"), strict=True):
        if not amount:
            raise InputError(
                f"quality: no {name} trial that counts has all measures. Training needs both classes; leave out the "
                "measure that is missing."
            )
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


def _measures_of(batch: Batch, combine: Combination) -> Measures:
    """Return the combined measures of a batch."""
    return quality_measures.combined_measures(Measures.of(len(batch.scores[0]), batch.quality or {}), combine)


def _without_quality(partition: SourcePartition, fields: TrialFields) -> Batch:
    return replace(partition.read(fields), quality=None)


def _counting(batch: Batch, measures: Measures) -> BoolArray | slice:
    """Return the trials that count and have all measures."""
    counts = measures.present if batch.weight is None else measures.present & (batch.weight > 0)
    return slice(None) if counts.all() else counts


@dataclass(frozen=True, slots=True, eq=False)
class _MissingMeasures:
    """Numbers of trials that lack a measure and of all trials, and numbers of measures."""

    sums: Sums
    n_measures: tuple[tuple[str, int], ...]
    first: int

    def __add__(self, other: _MissingMeasures) -> _MissingMeasures:
        return _MissingMeasures(self.sums + other.sums, self.n_measures, self.first)


def _lacking(combine: Combination, symmetric: bool, batch: Batch) -> _MissingMeasures:  # noqa: FBT001
    """Count trials of a batch without measures."""
    measures = _measures_of(batch, combine)
    if symmetric:
        measures.require_same()
    sums = Sums.of([float(np.count_nonzero(~measures.present)), float(len(measures.present))])
    return _MissingMeasures(sums, tuple(measures.n_measures.items()), int(np.argmin(measures.present)))


def _measured(
    combine: Combination, terms: QualityTerms | None, batch: Batch
) -> tuple[TrainingTrials, BoolArray | slice]:
    """Return trials of the measures of both sides of a batch; or of scores and terms of measures."""
    measures = _measures_of(batch, combine)
    rows = _counting(batch, measures)
    own, weight = measures.take(rows), batch.float_weight
    of_sides = [own.tables[side] for side in ("enroll", "test") if side in own.tables]
    if terms is None:
        columns = [column for table in of_sides for column in table.T]
    else:
        of_trial = list(own.tables["trial"].T) if "trial" in own.tables else []
        columns = [*(one[rows] for one in batch.scores), *of_trial, *terms.columns_of(own)]
    return TrainingTrials.of(columns, batch.labels[rows], weights=None if weight is None else weight[rows]), rows


def _lost(combine: Combination, terms: QualityTerms, weights: FloatArray, batch: Batch) -> Ends | None:
    """Return the largest effect of rounding on llrs of a batch."""
    measures = _measures_of(batch, combine)
    own = measures.take(_counting(batch, measures))
    return Ends.up_to(terms.lost_of(weights, own)) if len(own.present) else None
