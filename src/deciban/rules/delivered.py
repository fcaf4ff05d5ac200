"""Information of a recognizer: costs of its posteriors under any proper rule, and delivered information."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize, minimize_scalar
from scipy.special import expit, logsumexp

from deciban._validate import arrays as _validate
from deciban._validate.arrays import tell_of_two
from deciban.core.expected import MeanCost, WeightedScores, cross_entropy
from deciban.core.expected import mixed as mixed_at
from deciban.core.logliks import posterior, relative, row_blocks
from deciban.errors import InputError
from deciban.metrics.scores import ScoredTrials, SortedScores
from deciban.multiclass.recalibration import calibration_analysis_of
from deciban.multiclass.tables import ScoredClasses, entropy, expected_surprise, mixed
from deciban.rules.families import Logarithmic
from deciban.rules.scoring import ScoringRule
from deciban.types import ByValue, FloatArray, IntArray, Names, Priors, Weights

BITS = Logarithmic(base=2)
"""Logarithmic rule in bits; its entropies are Shannon entropies."""


@dataclass(frozen=True, slots=True)
class Information(ByValue):
    """Entropy of the prior and delivered information, in the unit of a scoring rule (thesis 2.43 to 2.47).

    ``entropy = delivered + lost_by_calibration + lost_by_discrimination``.

    Attributes
    ----------
    entropy : float
        Entropy of the prior: the expected cost without a recognizer, ``L_def``.
    cost : float
        Expected cost of the recognizer's posteriors, ``L_tot``; may be infinite.
    minimum : float or None
        The cost after ideal recalibration, ``L_ref``; None if unknown.
    unit : str
        ``"bits"``, ``"nats"``, or ``"units of cost"``.
    """

    entropy: float
    cost: float
    minimum: float | None
    unit: str

    @property
    def delivered(self) -> float:
        """Entropy of the prior minus the cost; negative if using only the prior would be better."""
        return self.entropy - self.cost

    @property
    def available(self) -> float | None:
        """Information after ideal recalibration."""
        return None if self.minimum is None else self.entropy - self.minimum

    @property
    def lost_by_calibration(self) -> float | None:
        """Calibration loss ``L_cal``, at least 0."""
        if self.minimum is None:
            return None
        return 0.0 if self.cost == self.minimum else max(self.cost - self.minimum, 0.0)

    @property
    def lost_by_discrimination(self) -> float | None:
        """Refinement loss ``L_ref``: the loss that no recalibration can remove."""
        return self.minimum

    def __str__(self) -> str:
        """Return the information as text."""
        unit = self.unit.removesuffix("s") if self.entropy == 1.0 else self.unit
        text = f"{self.delivered:.4g} of {self.entropy:.4g} {unit}"
        return text if self.available is None else f"{text}, {self.available:.4g} after calibration"


def expected_cost(
    loglik: ArrayLike,
    label: ArrayLike,
    *,
    rule: ScoringRule,
    prior: Priors = None,
    sample_weight: Weights = None,
    classes: Names = None,
) -> float:
    """Return prior-weighted class means of the costs of posteriors under a rule (thesis 5.4, 6.1, 8.11).

    Parameters
    ----------
    loglik : (n_trials, n_classes) array_like
        Log-likelihoods in nats; only differences within a row matter. May be infinite.
    label : (n_trials,) array_like
        True classes: positions from 0, or names if ``classes`` are passed.
    rule : ScoringRule
    prior : (n_classes,) array_like, optional
        Probabilities, default: flat; classes of prior 0 are dropped with their trials.
    sample_weight : (n_trials,) array_like, optional
        Weight of each trial within its class, at least 0.
    classes : sequence of str, optional
        Names of the columns.

    Returns
    -------
    float
        ``sum_i prior_i mean_{trials of i} C*(posterior | i)`` in the unit of the rule.

    Raises
    ------
    InputError
        If there is NaN, a label is unknown, a class of positive prior has no trials, the prior is invalid, or the rule
        is for another number of classes.

    Examples
    --------
    >>> from deciban.rules import DetectionOfEach
    >>> loglik = [[2.0, 0.0, -1.0], [0.0, 1.0, 0.0], [0.0, 0.5, 1.5]]
    >>> round(expected_cost(loglik, [0, 1, 2], rule=Logarithmic(base=2)), 6)  # Cllr
    0.570182
    >>> round(expected_cost(loglik, [0, 1, 2], rule=DetectionOfEach(), prior=[0.6, 0.2, 0.2]), 6)
    0.05
    """
    trials = ScoredClasses.of_metric(loglik, label, sample_weight, classes)
    return _expected_cost(trials, rule, trials.prior(prior))


def information(
    tar: ArrayLike,
    non: ArrayLike,
    *,
    rule: ScoringRule = BITS,
    p_target: float | None = None,
    prior_log_odds: float | None = None,
    tar_weights: Weights = None,
    non_weights: Weights = None,
) -> Information:
    """Return the information in log-likelihood ratios at a prior (thesis 2.43 to 2.47).

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Log-likelihood ratios of target and non-target trials, in nats; may be infinite.
    rule : ScoringRule
        Rule for two classes, target and non-target; default: the logarithmic rule in bits.
    p_target, prior_log_odds : float
        The prior, as a probability inside (0, 1) or as finite log odds in nats: exactly one of them.
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0; whole numbers count like copies of the trial.

    Returns
    -------
    Information
        ``minimum`` is the cost after the best increasing map, which is the same for all proper rules (thesis appendix
        C).

    Raises
    ------
    InputError
        If a class is empty or contains NaN, not exactly one prior is passed or it is out of range, or the rule is not
        for two classes.

    Examples
    --------
    >>> print(information([1.0, 2.0, 2.0], [0.0, 1.0, -1.0], p_target=0.5))
    0.3059 of 1 bit, 0.6667 after calibration
    """
    scores = SortedScores(tar, non, tar_weights=tar_weights, non_weights=non_weights)
    log_odds = _validate.single_log_odds(p_target, prior_log_odds, way="Use each prior separately")
    prior = np.array([expit(log_odds), expit(-log_odds)])
    if not prior.all():
        raise InputError(
            f"prior_log_odds: {log_odds:g} is a prior of 0 or 1 in double precision. Pass log odds from -700 to 700."
        )
    items = [mixed_at(*costs_of_llrs(one, rule, log_odds), log_odds) for one in (scores.trials, scores.recalibrated)]
    return Information(float(rule.entropy(prior)), items[0], min(items), rule.unit)


def class_information(
    loglik: ArrayLike,
    label: ArrayLike,
    *,
    rule: ScoringRule = BITS,
    prior: Priors = None,
    sample_weight: Weights = None,
    classes: Names = None,
) -> Information:
    """Return the information in multiclass log-likelihoods at a prior (thesis 2.43 to 2.47, 8.22 to 8.25).

    Parameters
    ----------
    loglik : (n_trials, n_classes) array_like
        Log-likelihoods in nats; only differences within a row matter. May be infinite.
    label : (n_trials,) array_like
        True classes: positions from 0, or names if ``classes`` are passed.
    rule : ScoringRule
        Default: the logarithmic rule in bits.
    prior : (n_classes,) array_like, optional
        Probabilities, default: flat; classes of prior 0 are dropped with their trials.
    sample_weight : (n_trials,) array_like, optional
        Weight of each trial within its class, at least 0.
    classes : sequence of str, optional
        Names of the columns.

    Returns
    -------
    Information
        ``minimum`` is the cost after the best scale and offsets; only for the logarithmic rule.

    Raises
    ------
    InputError
        See `expected_cost`.

    Examples
    --------
    >>> loglik = [[2.0, 0.0, -1.0], [0.0, 1.0, 0.0], [0.0, 0.5, 1.5], [1.0, 1.5, 0.0]]
    >>> print(class_information(loglik, [0, 1, 2, 2]))
    0.6205 of 1.585 bits, 0.8649 after calibration
    """
    trials = ScoredClasses.of_metric(loglik, label, sample_weight, classes)
    checked = trials.prior(prior)
    cost, minimum = _expected_cost(trials, rule, checked), None
    if isinstance(rule, Logarithmic):
        result = calibration_analysis_of(trials, checked, expected_surprise(trials, checked))
        minimum = result.minimum * math.log(2) / math.log(rule.base)
    return Information(float(rule.entropy(checked)), cost, minimum, rule.unit)


def _expected_cost(trials: ScoredClasses, rule: ScoringRule, prior: FloatArray) -> float:
    _require_classes(rule, trials.n_classes)
    possible = np.flatnonzero(prior > 0)
    with np.errstate(divide="ignore"):
        log_prior = np.log(prior[possible])[:, None]
    sums = []
    for k in possible.tolist():
        rows = trials.rows(k)
        costs = np.empty(len(rows))
        for part in row_blocks(len(rows), trials.n_classes):
            stated = np.zeros((part.stop - part.start, trials.n_classes))
            columns = relative(trials.loglik, rows[part], possible) + log_prior
            stated[:, possible] = posterior(columns - columns.max(axis=0), np.ones(len(possible))).T
            costs[part] = rule.costs(stated)[:, k]
        sums.append(MeanCost.of(costs, lambda values: values, trials.weights_of(rows)))
    return mixed(sums, prior)


def costs_of_llrs(trials: ScoredTrials, rule: ScoringRule, log_odds: float) -> tuple[MeanCost, MeanCost]:
    """Return sums of the costs of checked targets and non-targets under a rule at prior log odds."""
    _require_classes(rule, 2)
    sums = []
    for k, (llr, weights) in enumerate((trials.tar, trials.non)):

        def cost(values: FloatArray, k: int = k) -> FloatArray:
            return rule._costs_at(values + log_odds)[:, k]  # noqa: SLF001  # checked log odds

        sums.append(MeanCost.of(llr, cost, weights))
    return sums[0], sums[1]


def _require_classes(rule: ScoringRule, n_classes: int) -> None:
    if rule.n_classes not in (None, n_classes):
        raise InputError(f"rule: for {rule.n_classes} classes, but the scores have {n_classes}.")


_FURTHEST, _PLACES = 25.0, 101
"""Range of prior log odds of the search, and initial number of points."""


_NOTHING = 1e-13
"""Information in nats that rounding may produce if there is none."""


_FEW_CLASSES = 16
"""Number of classes up to which the search starts with each class favoured once."""


@dataclass(frozen=True, slots=True, eq=False)
class Capacity(ByValue):
    """Maximum of the delivered information over all priors.

    Attributes
    ----------
    bits : float
        Information delivered at the best prior; 0 if there is no information at any prior.
    prior : (n_classes,) array
        Best prior; for two classes target, then non-target; flat if there is no information.
    """

    bits: float
    prior: FloatArray


def capacity(
    tar: ArrayLike,
    non: ArrayLike,
    *,
    recalibrated: bool = True,
    tar_weights: Weights = None,
    non_weights: Weights = None,
) -> Capacity:
    """Return the maximum information of log-likelihood ratios over all priors: the channel capacity (thesis 7.7.4).

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Scores of target and non-target trials; larger scores favour targets. May be infinite.
    recalibrated : bool
        Apply the best increasing map first, as in the thesis; otherwise scores are log-likelihood ratios in nats.
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0; whole numbers count like copies of the trial.

    Returns
    -------
    Capacity
        ``max over p of entropy(p) - cross-entropy(p)`` in bits, and the best p.

    Raises
    ------
    InputError
        If a class is empty or contains NaN.

    Examples
    --------
    >>> found = capacity([1.0, 2.0, 2.0], [0.0, 1.0, -1.0])
    >>> round(found.bits, 4), found.prior.round(2)
    (0.6667, array([0.5, 0.5]))
    """
    scores = SortedScores(tar, non, tar_weights=tar_weights, non_weights=non_weights)
    if not recalibrated:
        tell_of_two(tar, non)
    trials = scores.recalibrated if recalibrated else scores.trials
    return capacity_of(trials.tar, trials.non)


def capacity_of(tar: WeightedScores, non: WeightedScores) -> Capacity:
    """Return the maximum information of checked, weighted log-likelihood ratios over all priors; see `capacity`."""

    def delivered(log_odds: float) -> float:
        return entropy(np.array([expit(log_odds), expit(-log_odds)])) - cross_entropy(tar, non, log_odds)

    places = np.linspace(-_FURTHEST, _FURTHEST, _PLACES)
    values = np.array([delivered(x) for x in places.tolist()])
    best = int(np.argmax(values))
    if values[best] < _NOTHING:
        return Capacity(0.0, np.array([0.5, 0.5]))
    low, high = places[max(best - 1, 0)], places[min(best + 1, _PLACES - 1)]
    result = minimize_scalar(
        lambda x: -delivered(float(x)), bounds=(low, high), method="bounded", options={"xatol": 1e-9}
    )
    at = float(result.x) if -result.fun > values[best] else float(places[best])
    return Capacity(max(-float(result.fun), float(values[best])) / math.log(2), np.array([expit(at), expit(-at)]))


def class_capacity(
    loglik: ArrayLike, label: ArrayLike, *, sample_weight: Weights = None, classes: Names = None
) -> Capacity:
    """Return the maximum information of multiclass log-likelihoods over all priors, without recalibration.

    Parameters
    ----------
    loglik : (n_trials, n_classes) array_like
        Log-likelihoods in nats; only differences within a row matter. May be infinite.
    label : (n_trials,) array_like
        True classes: positions from 0, or names if ``classes`` are passed.
    sample_weight : (n_trials,) array_like, optional
        Weight of each trial within its class, at least 0.
    classes : sequence of str, optional
        Names of the columns.

    Returns
    -------
    Capacity
        ``max over priors of sum_i prior_i mean_{trials of i} log2 (likelihood_i / sum_j prior_j likelihood_j)``.
        Classes that are best left out have a prior near 0; classes that are excluded in one of their own trials have
        prior 0.

    Raises
    ------
    InputError
        If there is NaN, a label is unknown, or a class has no trials.

    Notes
    -----
    For calibrated log-likelihoods, the information is a concave function of the prior. For others, it may have several
    maxima; the result is the best of the maxima reached from the flat prior and from priors that favour one class.

    Examples
    --------
    >>> found = class_capacity([[2.0, 0.0, -1.0], [0.0, 1.0, 0.0], [0.0, 0.5, 1.5]], [0, 1, 2])
    >>> round(found.bits, 4), found.prior.round(3)
    (1.0184, array([0.347, 0.292, 0.361]))
    """
    trials = ScoredClasses.of_metric(loglik, label, sample_weight, classes)
    n = trials.n_classes
    trials.prior(None)
    return _best_capacity(trials, [np.zeros(n), *(2.0 * np.eye(n) if n <= _FEW_CLASSES else [])], _AS_THEY_ARE)


def calibrated_capacity_of(trials: ScoredClasses, scale: float, offset: FloatArray) -> Capacity:
    """Return the maximum information of checked log-likelihoods over all priors, after a calibrating map.

    Parameters
    ----------
    trials : ScoredClasses
        Trials of all classes.
    scale : float
        At least 0.
    offset : (n_classes,) array
        In nats.

    Returns
    -------
    Capacity
        Maximum reached from the flat prior, because the information of calibrated scores is concave in the prior.
    """
    flat = np.zeros(trials.n_classes)
    # With scale 0 only the offsets remain, which are the same for all trials.
    return _best_capacity(trials, [flat] if scale > 0.0 else [], (scale, offset))


_Map: TypeAlias = tuple[float, FloatArray | None]
"""A scale, and an offset for each class."""


_AS_THEY_ARE: _Map = (1.0, None)


def _best_capacity(trials: ScoredClasses, starts: Sequence[FloatArray], mapped: _Map) -> Capacity:
    """Return the best maximum reached from some log priors."""
    n = trials.n_classes
    columns = np.flatnonzero([not _is_excluded(trials, k) for k in range(n)])
    best, at = 0.0, np.full(n, 1.0 / n)
    for start in starts if len(columns) > 1 else []:
        bounds = [(-40.0, 40.0)] * len(columns)
        items = (trials, columns, mapped)
        result = minimize(_lost_information, start[columns], args=items, jac=True, method="L-BFGS-B", bounds=bounds)
        if -result.fun > best:
            best, at = -float(result.fun), np.zeros(n)
            at[columns] = np.exp(result.x - logsumexp(result.x))
    return Capacity(best / math.log(2), at)


def _is_excluded(trials: ScoredClasses, k: int) -> bool:
    """Return True if a trial of a class excludes this class: the cost is infinite unless its prior is 0."""
    rows, columns = trials.rows(k), np.arange(trials.n_classes)
    weights = trials.weights_of(rows)
    counted = rows if weights is None else rows[weights > 0]
    return any(
        bool(np.isneginf(relative(trials.loglik, counted[part], columns)[k]).any())
        for part in row_blocks(len(counted), trials.n_classes)
    )


def _lost_information(
    logits: FloatArray, trials: ScoredClasses, columns: IntArray, mapped: _Map = _AS_THEY_ARE
) -> tuple[float, FloatArray]:
    """Return minus the information in nats, up to a constant, and its derivative in log priors.

    Only some classes are used; the others are left out.
    """
    log_prior = logits - logsumexp(logits)
    prior, n = np.exp(log_prior), len(columns)
    total, by_class = 0.0, np.zeros(n)
    for k, number in enumerate(columns.tolist()):
        rows, gain, shares = trials.rows(number), 0.0, np.zeros(n)
        weights = trials.weights_of(rows)
        weight = np.ones(len(rows)) if weights is None else weights.astype(np.float64)
        for part in row_blocks(len(rows), n):
            llr = relative(trials.loglik, rows[part], columns)
            if mapped is not _AS_THEY_ARE:
                llr = mapped[0] * llr + (0.0 if mapped[1] is None else mapped[1][columns, None])
            mean = logsumexp(llr + log_prior[:, None], axis=0)
            with np.errstate(under="ignore", invalid="ignore"):
                gain += float(weight[part] @ (llr[k] - mean))
                shares += np.exp(llr + log_prior[:, None] - mean) @ weight[part]
        gain, shares = gain / weight.sum(), shares / weight.sum()
        total += prior[k] * gain
        by_class[k] += prior[k] * gain
        by_class -= prior[k] * shares
    # Derivatives in normalized log priors: subtract the common part.
    slope = by_class - prior * by_class.sum()
    return -total, -slope
