"""Linear fusion of two-class systems, what all fusions share, and the divergence of posteriors of systems."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from deciban._validate import arrays as _validate
from deciban.core.rules.expected import MeanCost
from deciban.core.training.linear_objective import length_bound
from deciban.errors import InputError
from deciban.models.model import ParameterCovariance, Plain, checked_units
from deciban.models.score_model import scores_alone
from deciban.models.two_class import Fusion, results_of
from deciban.trials.sources import Chunk, Columns, ShardSource, in_memory
from deciban.types import FloatArray, IntArray, ScoreArray

if TYPE_CHECKING:
    from deciban.core.resampling.units import TrialUnits
    from deciban.core.training.linear_training import Fit
    from deciban.models.sources import SourceTrials


def source_of_systems(
    scores: ArrayLike,
    is_target: ArrayLike,
    sample_weight: ArrayLike | None = None,
    units: Any = None,
    quality: Mapping[str, FloatArray] | None = None,
    *,
    missing: bool = False,
) -> ShardSource:
    """Return a source of one batch of what a user passed: checked scores of several systems on the same trials.

    Parameters
    ----------
    scores, is_target, sample_weight, units
        As in ``fit`` of fusions.
    quality : mapping of str to (n_trials, n_measures) array, optional
        Checked measures.
    missing : bool
        Whether NaN stands for a score that is not there.

    Raises
    ------
    InputError
        If a score is NaN, shapes do not fit, labels are no booleans, or a class is empty or weightless.
    """
    matrix = _validate.matrix(scores, "scores", "system")
    if missing:
        matrix = with_one_nan(matrix)
    elif not length_bound(matrix) < np.inf:
        _validate.require_no_nan(matrix, "scores")
    truth, weight = _validate.labels(is_target, sample_weight, len(matrix))
    chunk = Chunk(Columns.of(matrix), truth, checked_units(units, len(matrix)), weight, quality)
    return in_memory(chunk, incomplete=missing)


def with_one_nan(table: ScoreArray) -> ScoreArray:
    """The same numbers; NaN has many forms, with signs and payloads, of which a fingerprint should see one."""
    missing = np.isnan(table)
    return np.where(missing, table.dtype.type(np.nan), table) if missing.any() else table


def require_systems(scores: ScoreArray, n_systems: int, what: str = "fusion") -> None:
    """Refuse scores of more or fewer systems than those of training.

    Raises
    ------
    InputError
        If they are.
    """
    if scores.shape[1] != n_systems:
        raise InputError(
            f"scores: {scores.shape[1]} systems, but the {what} was trained on {n_systems}. Pass the same systems in "
            "the same order."
        )


def penalized(fit: Fit, ridge: float) -> float:
    """What training made as small as it could: the objective with the penalty, which is in its units."""
    return fit.objective + (0.5 * ridge * float(fit.standardized @ fit.standardized) if ridge > 0.0 else 0.0)


def combined(scores: ScoreArray, weights: FloatArray, offset: float, *, numbers: IntArray | None = None) -> FloatArray:
    """Weighted sum of systems; a system of weight 0 does not count, even where it is infinite.

    Parameters
    ----------
    scores : (n_trials, n_systems) array
    weights : (n_systems,) array
    offset : float
    numbers : (n_trials,) array, optional
        The index by which the user knows each trial, if these are a part of what was passed.

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
        Prior of the objective, in (0, 1): which operating points matter. Proportions of the data never do.
    alpha, beta : float
        Member of the beta family of proper scoring rules, each in [0.05, 100]. (1, 1) is the logarithmic rule, and
        training prior-weighted logistic regression.
    ridge : float
        Half of it times the squares of the weights on standardized scores (each system divided by its prior-weighted
        standard deviation) is added to the objective. The offset is never penalized.

    Attributes
    ----------
    weights_ : (n_systems,) array
        Factor of each system's scores. May be negative: a system can tell what another one gets wrong.
    standardized_weights_ : (n_systems,) array
        The same for scores divided by their prior-weighted standard deviation in all trials: how much each system moves
        the result.
    offset_ : float
        In nats.
    objective_ : float
        Expected cost at the optimum, without the penalty.
    penalized_objective_ : float
        What training made as small as it could: the same with the penalty.
    training_ : Training
        Counts of trials, a fingerprint of the data, and in ``results`` how training went.
    parameter_covariance_ : (n_systems + 1, n_systems + 1) array or None
        Of the weights and the offset by the draw of units, if ``fit`` was told the units of the trials.

    Notes
    -----
    One system alone is calibrated: the result is that of `deciban.calibration.AffineCalibrator`. Systems that say the
    same share their weight, a system that is constant, but for rounding, gets weight 0, and classes that the systems
    separate together are refused unless there is a penalty. Where systems lack scores for some trials, see
    `SubsetFusion`; quality measures of both sides go into `QualityFusion`.

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
    parameter_schema: ClassVar[dict[str, Any]] = {
        "weights": {"type": "array", "minItems": 1, "items": {"type": "number"}},
        "standardized_weights": {"type": "array", "items": {"type": "number"}},
        "offset": {"type": "number"},
    }

    def fit(
        self,
        scores: ArrayLike,
        is_target: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        units: ArrayLike | TrialUnits | None = None,
    ) -> Self:
        """Train on labelled trials.

        Parameters
        ----------
        scores : (n_trials, n_systems) array_like
            Scores of all systems on the same trials; infinite ones stand for certainty.
        is_target : (n_trials,) array_like
            True (or 1) for targets, False (or 0) for non-targets.
        sample_weight : (n_trials,) array_like, optional
            Weight of each trial within its class, at least 0; whole numbers count like copies.
        units : (n_trials,) or (n_trials, 2) array_like, or TrialUnits, optional
            Which speaker, or other unit, each trial is of, or its two sides are: names or numbers. See
            `interval` and ``parameter_covariance_``.

        Returns
        -------
        self

        Raises
        ------
        InputError
            If a score is NaN, shapes do not fit, a class is empty, the classes are separated and there is no penalty,
            or infinite scores contradict each other or the truth.
        """
        source = source_of_systems(scores, is_target, sample_weight, units)
        return self.fit_pieces(source, None, 0, units=source.held_units)

    def _fit(self, data: SourceTrials) -> Mapping[str, Plain]:
        from deciban.core.training.linear_training import train_trials  # models that are trained need none of it

        fit = train_trials(data.linear(scores_alone), *self._rule(), called=self.called)
        self._note(fit)
        self.weights_, self.standardized_weights_, self.offset_ = fit.weights, fit.standardized, fit.offset
        self.penalized_objective_ = penalized(fit, self.ridge)
        return results_of(fit)

    def _uncertainty(self, data: SourceTrials, units: TrialUnits) -> ParameterCovariance:
        found = self._influences(data.linear(scores_alone), units, self.weights_, self.offset_)
        return ParameterCovariance.of(found, units)

    def _slopes_of(self, scores: FloatArray) -> FloatArray:
        return np.column_stack((scores, np.ones(len(scores))))

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
            If the fusion was not trained, a score is NaN, the number of systems is another one, or systems contradict
            each other with infinite scores.
        """
        self.require_fitted()
        matrix = _validate.score_matrix(scores, "scores")
        require_systems(matrix, self.n_systems_)
        return combined(matrix, self.weights_, self.offset_)

    def set_parameters(self, parameters: Mapping[str, Any]) -> None:
        """Take weights and offset from a file."""
        if len(parameters["weights"]) != len(parameters["standardized_weights"]):
            raise InputError("weights and standardized_weights are not equally many.")
        super().set_parameters(parameters)


def linear_like(fusion: Fusion, names: tuple[str, ...]) -> LinearFusion:
    """Return an untrained linear fusion with the objective of another fusion, and names of its systems."""
    found = LinearFusion(p_target=fusion.p_target, alpha=fusion.alpha, beta=fusion.beta, ridge=fusion.ridge)
    found.system_names = names
    return found


def posterior_divergence(
    llr: ArrayLike, is_target: ArrayLike, *, p_target: float = 0.5, sample_weight: ArrayLike | None = None
) -> FloatArray:
    """Mean symmetric Kullback-Leibler divergence between the posteriors of every two systems, in bits.

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
        Symmetric, 0 on the diagonal, at least 0; infinite where a system is certain in a trial and the other one is
        not, or of the contrary.

    Raises
    ------
    InputError
        If an llr is NaN, shapes do not fit, a class is empty, or the prior is out of range.

    Warns
    -----
    DecibanWarning
        If 10 scores or more all lie in [0, 1]: these are no log-likelihood ratios, but perhaps probabilities, of which
        `deciban.decisions.llr_from_probability` makes some.

    Notes
    -----
    With posteriors ``q = sigma(llr + logit p_target)`` of two systems, the divergence in a trial is the mean of
    ``KL(q1 || q2)`` and ``KL(q2 || q1)``, the two outcomes being target and non-target. That is half of
    ``(q1 - q2) (llr1 - llr2)``, in nats. The mean over trials is taken in each class, and the two means are
    weighted by ``p_target`` and ``1 - p_target``: the proportions of classes do not enter. Two llrs that are both
    ``inf``, or both ``-inf``, do not differ.

    Examples
    --------
    >>> llr = [[2.0, 2.0, 1.0], [1.0, 1.0, -1.0], [-1.0, -1.0, 0.0], [-2.0, -2.0, -2.0]]
    >>> posterior_divergence(llr, [True, True, False, False]).round(3)
    array([[0.   , 0.   , 0.235],
           [0.   , 0.   , 0.235],
           [0.235, 0.235, 0.   ]])
    """
    from deciban._validate.probabilities import tell_of_two  # fusions need none of it

    trials = source_of_systems(llr, is_target, sample_weight).held
    tell_of_two(trials.stacked)
    log_odds = _validate.single_log_odds(p_target)
    n_systems = len(trials.scores)
    answer = np.zeros((n_systems, n_systems))
    for one in range(n_systems):
        for other in range(one):
            mean = sum(prior * cost for prior, cost in _class_means(trials, one, other, log_odds))
            answer[one, other] = answer[other, one] = mean / math.log(2.0)
    return answer


def _class_means(trials: Chunk, one: int, other: int, log_odds: float) -> Iterator[tuple[float, float]]:
    """Prior and mean divergence in nats of each class."""
    for truth, prior in ((trials.labels, expit(log_odds)), (~trials.labels, expit(-log_odds))):
        rows = truth if trials.weight is None else truth & (trials.weight > 0)
        weight = None if trials.weight is None else trials.weight[rows]
        pair = [trials.scores[k][rows].astype(np.float64) for k in (one, other)]
        costs = _divergence(pair[0], pair[1], log_odds)
        yield float(prior), MeanCost.of(costs, lambda values: values, weight).value


def _divergence(one: FloatArray, other: FloatArray, log_odds: float) -> FloatArray:
    """Divergence in each trial, in nats; ``q1 - q2`` without cancellation."""
    high, low = np.maximum(one, other), np.minimum(one, other)
    with np.errstate(over="ignore", invalid="ignore"):
        gap = high - low
        difference = expit(high + log_odds) * expit(-(low + log_odds)) * -np.expm1(-gap)
        answer: FloatArray = 0.5 * gap * difference
    answer[np.isinf(high) | np.isinf(low)] = np.inf
    answer[high == low] = 0.0
    return answer
