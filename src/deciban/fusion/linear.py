"""Linear fusion of two-class systems, common functions of fusions, and divergence of the posteriors of systems."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from deciban._validate import arrays as _validate
from deciban.core.expected import MeanCost
from deciban.core.resampling.units import TrialUnits
from deciban.core.training.sums import length_bound
from deciban.models.model import ParameterCovariance, Plain, scores_alone
from deciban.models.score_model import Fusion, penalized, require_systems, results_of
from deciban.trials.sources import Batch, Columns, TrialSource, in_memory
from deciban.types import FloatArray, IntArray, ScoreArray, Units, Weights

if TYPE_CHECKING:
    from deciban.models.sources import SourceTrials


def source_of_systems(
    scores: ArrayLike,
    is_target: ArrayLike,
    sample_weight: Weights = None,
    units: Any = None,
    quality: Mapping[str, FloatArray] | None = None,
    *,
    missing: bool = False,
) -> TrialSource:
    """Return a source of one batch from a user's arrays: checked scores of several systems on the same trials.

    Parameters
    ----------
    scores, is_target, sample_weight, units
        See ``fit`` of fusions.
    quality : mapping of str to (n_trials, n_measures) array, optional
        Checked measures.
    missing : bool
        Accept NaN for missing scores.

    Raises
    ------
    InputError
        If a score is NaN, shapes do not match, labels are not boolean, or a class is empty or has no weight.
    """
    matrix = _validate.matrix(scores, "scores", "system")
    if missing:
        matrix = with_one_nan(matrix)
    elif not length_bound(matrix) < np.inf:
        _validate.require_no_nan(matrix, "scores")
    truth, weight = _validate.labels(is_target, sample_weight, len(matrix))
    batch = Batch(Columns.of(matrix), truth, TrialUnits.checked(units, len(matrix)), weight, quality)
    return in_memory(batch, incomplete=missing)


def with_one_nan(table: ScoreArray) -> ScoreArray:
    """Return the numbers with a single NaN bit pattern, so that fingerprints do not depend on NaN payloads."""
    missing = np.isnan(table)
    return np.where(missing, table.dtype.type(np.nan), table) if missing.any() else table


def combined(scores: ScoreArray, weights: FloatArray, offset: float, *, numbers: IntArray | None = None) -> FloatArray:
    """Return the weighted sum of systems; a system of weight 0 does not count, even if its score is infinite.

    Parameters
    ----------
    scores : (n_trials, n_systems) array
    weights : (n_systems,) array
    offset : float
    numbers : (n_trials,) array, optional
        Indices of the trials in the user's arrays, if these are a selection.

    Raises
    ------
    TrialError
        If systems contradict each other with infinite scores.
    """
    total = np.full(len(scores), offset)
    with np.errstate(over="ignore", invalid="ignore"):
        for k in np.flatnonzero(weights):
            total += weights[k] * scores[:, k]
    if (wrong := np.isnan(total)).any():
        words = "scores: in {n} trials systems contradict each other with infinite scores, the first "
        after = f": {scores[np.argmax(wrong)].tolist()}. Give them finite scores."
        _validate.refuse_trials(wrong, words, after, numbers)
    return total


class LinearFusion(Fusion):
    """Log-likelihood ratio ``offset + sum_k weight_k score_k`` (BOSARIS paper, eq. 30 without quality).

    Parameters
    ----------
    p_target : float
        Prior of the objective, in (0, 1); it sets the emphasized operating points. The proportions of the data do not
        matter.
    alpha, beta : float
        Member of the beta family of proper scoring rules, each in [0.05, 100]. (1, 1) is the logarithmic rule: training
        is prior-weighted logistic regression.
    ridge : float
        Penalty ``ridge / 2 * sum(weights**2)``, with the weights for standardized scores (each system divided by its
        prior-weighted standard deviation), added to the objective. The offset is never penalized.

    Attributes
    ----------
    weights_ : (n_systems,) array
        Factor of each system's scores. It can be negative: a system may correct the errors of another one.
    standardized_weights_ : (n_systems,) array
        Weights for scores divided by their prior-weighted standard deviation in all trials: the effect of each system
        on the result.
    offset_ : float
        In nats.
    objective_ : float
        Expected cost at the optimum, without the penalty.
    penalized_objective_ : float
        Minimum of the objective, including the penalty.
    training_ : Training
        Counts of trials, a fingerprint of the data, and ``results`` of training.
    parameter_covariance_ : (n_systems + 1, n_systems + 1) array or None
        Covariance of the weights and the offset by the sampling of units, if ``fit`` received units.

    Notes
    -----
    A single system is calibrated, as by `deciban.calibration.AffineCalibrator`. Identical systems share their weight,
    and a system that is constant up to rounding gets weight 0. Classes that the systems separate together are refused
    unless there is a penalty. For missing scores, see `SubsetFusion`; for quality measures, see `QualityFusion`.

    Examples
    --------
    >>> import numpy as np
    >>> scores = np.array([[3.0, 1.0], [1.0, 2.0], [2.0, -1.0], [-1.0, 1.0], [1.5, 0.0], [0.0, -2.0], [2.0, 0.5]])
    >>> is_target = np.array([True, True, True, False, False, False, False])
    >>> fusion = LinearFusion().fit(scores, is_target)
    >>> fusion.weights_.round(2), round(fusion.offset_, 2)
    (array([1.47, 0.7 ]), -2.33)
    >>> fusion.transform(scores[:2]).round(2)
    array([2.79, 0.55])
    """

    kind: ClassVar[str] = "linear-fusion"
    parameter_schema: ClassVar[Mapping[str, object]] = {
        "weights": {"type": "array", "minItems": 1, "items": {"type": "number"}},
        "standardized_weights": {"type": "array", "items": {"type": "number"}},
        "offset": {"type": "number"},
    }

    def fit(
        self, scores: ArrayLike, is_target: ArrayLike, *, sample_weight: Weights = None, units: Units = None
    ) -> Self:
        """Train on labelled trials.

        Parameters
        ----------
        scores : (n_trials, n_systems) array_like
            Scores of all systems on the same trials; infinite scores represent certainty.
        is_target : (n_trials,) array_like
            True (or 1) for targets, False (or 0) for non-targets.
        sample_weight : (n_trials,) array_like, optional
            Weight of each trial within its class, at least 0; whole numbers count like copies.
        units : (n_trials,) or (n_trials, 2) array_like, or TrialUnits, optional
            Speaker or other unit of each trial, or of its two sides: names or numbers. See `interval` and
            ``parameter_covariance_``.

        Returns
        -------
        self

        Raises
        ------
        InputError
            If a score is NaN, shapes do not match, a class is empty, the classes are separated and there is no penalty,
            or infinite scores contradict each other or the true class.
        """
        source = source_of_systems(scores, is_target, sample_weight, units)
        return self.fit_source(source, None, 0, units=source.held_units)

    def _fit(self, data: SourceTrials) -> Mapping[str, Plain]:
        from deciban.core.training.linear_training import train_trials  # only needed for training

        fit = train_trials(data.linear(scores_alone), *self._rule(), called=self.called)
        self._note(fit)
        self.weights_, self.standardized_weights_, self.offset_ = fit.weights, fit.standardized, fit.offset
        self.penalized_objective_ = penalized(fit, self.ridge)
        return results_of(fit)

    def _uncertainty(self, data: SourceTrials, units: TrialUnits) -> ParameterCovariance:
        result = self._influences(data.linear(scores_alone), units, self.weights_, self.offset_)
        return ParameterCovariance.of(result, units)

    def transform(self, scores: ArrayLike) -> FloatArray:
        """Fuse the scores of trials.

        Parameters
        ----------
        scores : (n_trials, n_systems) array_like
            Systems in the order of training.

        Returns
        -------
        (n_trials,) array
            Log-likelihood ratios in nats.

        Raises
        ------
        InputError
            If the fusion was not trained, a score is NaN, the number of systems differs, or systems contradict each
            other with infinite scores.
        """
        self.require_fitted()
        matrix = _validate.score_matrix(scores, "scores")
        require_systems(matrix, self.n_systems_)
        return combined(matrix, self.weights_, self.offset_)


def linear_like(fusion: Fusion, names: tuple[str, ...]) -> LinearFusion:
    """Return an untrained linear fusion with the objective of another fusion, and names of its systems."""
    result = LinearFusion(p_target=fusion.p_target, alpha=fusion.alpha, beta=fusion.beta, ridge=fusion.ridge)
    result.system_names = names
    return result


def posterior_divergence(
    llr: ArrayLike, is_target: ArrayLike, *, p_target: float = 0.5, sample_weight: Weights = None
) -> FloatArray:
    """Return the mean symmetric Kullback-Leibler divergence between the posteriors of each pair of systems, in bits.

    Parameters
    ----------
    llr : (n_trials, n_systems) array_like
        Calibrated log-likelihood ratios of all systems on the same trials, in nats. May be infinite.
    is_target : (n_trials,) array_like
        True (or 1) for targets, False (or 0) for non-targets.
    p_target : float
        Prior of the posteriors, in (0, 1).
    sample_weight : (n_trials,) array_like, optional
        Weight of each trial within its class, at least 0.

    Returns
    -------
    (n_systems, n_systems) array
        Symmetric, at least 0, with 0 on the diagonal. Infinite if one system is certain in a trial and the other one is
        not, or is certain of the opposite.

    Raises
    ------
    InputError
        If an llr is NaN, shapes do not match, a class is empty, or the prior is out of range.

    Warns
    -----
    DecibanWarning
        If at least 10 scores are all in [0, 1]: they are probably probabilities instead of log-likelihood ratios;
        convert them by `deciban.decisions.llr_from_probability`.

    Notes
    -----
    With posteriors ``q = sigma(llr + logit p_target)`` of two systems, the divergence in a trial is the mean of ``KL(q1
    || q2)`` and ``KL(q2 || q1)`` over the outcomes target and non-target. This equals half of ``(q1 - q2) (llr1 -
    llr2)``, in nats. The means over the trials of each class are weighted by ``p_target`` and ``1 - p_target``, so that
    class proportions do not matter. Two llrs that are both ``inf``, or both ``-inf``, do not differ.

    Examples
    --------
    >>> llr = [[2.0, 2.0, 1.0], [1.0, 1.0, -1.0], [-1.0, -1.0, 0.0], [-2.0, -2.0, -2.0]]
    >>> posterior_divergence(llr, [True, True, False, False]).round(3)
    array([[0.   , 0.   , 0.235],
           [0.   , 0.   , 0.235],
           [0.235, 0.235, 0.   ]])
    """
    trials = source_of_systems(llr, is_target, sample_weight).held
    _validate.tell_of_two(trials.stacked)
    log_odds = _validate.single_log_odds(p_target)
    n_systems = len(trials.scores)
    answer = np.zeros((n_systems, n_systems))
    for one in range(n_systems):
        for other in range(one):
            mean = sum(prior * cost for prior, cost in _class_means(trials, one, other, log_odds))
            answer[one, other] = answer[other, one] = mean / math.log(2.0)
    return answer


def _class_means(trials: Batch, one: int, other: int, log_odds: float) -> Iterator[tuple[float, float]]:
    """Yield prior and mean divergence in nats of each class."""
    for truth, prior in ((trials.labels, expit(log_odds)), (~trials.labels, expit(-log_odds))):
        rows = truth if trials.weight is None else truth & (trials.weight > 0)
        weight = None if trials.weight is None else trials.weight[rows]
        pair = [trials.scores[k][rows].astype(np.float64) for k in (one, other)]
        costs = _divergence(pair[0], pair[1], log_odds)
        yield float(prior), MeanCost.of(costs, lambda values: values, weight).value


def _divergence(one: FloatArray, other: FloatArray, log_odds: float) -> FloatArray:
    """Return the divergence in each trial, in nats; ``q1 - q2`` without cancellation."""
    high, low = np.maximum(one, other), np.minimum(one, other)
    with np.errstate(over="ignore", invalid="ignore"):
        gap = high - low
        difference = expit(high + log_odds) * expit(-(low + log_odds)) * -np.expm1(-gap)
        answer: FloatArray = 0.5 * gap * difference
    answer[np.isinf(high) | np.isinf(low)] = np.inf
    answer[high == low] = 0.0
    return answer
