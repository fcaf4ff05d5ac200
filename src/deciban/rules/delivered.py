"""How much a recognizer tells: what its posteriors cost under any proper rule, and the information they deliver."""

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
from deciban._validate.probabilities import tell_of_two
from deciban.core.by_value import ByValue
from deciban.core.classes.loglik import posterior, relative, row_blocks
from deciban.core.rules.expected import MeanCost, WeightedScores, cross_entropy
from deciban.core.rules.expected import mixed as mixed_at
from deciban.errors import InputError
from deciban.metrics.scores import ScoredTrials, SortedScores
from deciban.multiclass.costs import entropy, expected_surprise, mixed
from deciban.multiclass.recalibration import calibration_analysis_of
from deciban.multiclass.tables import ScoredClasses
from deciban.rules.families import Logarithmic
from deciban.rules.scoring import ScoringRule
from deciban.types import FloatArray, IntArray, Names, Priors, Weights

BITS = Logarithmic(base=2)
"""The rule whose entropies are Shannon's."""


@dataclass(frozen=True, slots=True)
class Information(ByValue):
    """What is to be found out, and how much of it is, in the unit of a scoring rule (thesis 2.43 to 2.47).

    ``entropy = delivered + lost_by_calibration + lost_by_discrimination``.

    Attributes
    ----------
    entropy : float
        Of the prior: what one who hears nothing expects to pay, ``L_def``.
    cost : float
        What one expects to pay who believes the recognizer, ``L_tot``; may be infinite.
    minimum : float or None
        The same after the best recalibration, ``L_ref``; None where it is not known.
    unit : str
        ``"bits"``, ``"nats"``, or ``"units of cost"``.
    """

    entropy: float
    cost: float
    minimum: float | None
    unit: str

    @property
    def delivered(self) -> float:
        """Entropy of the prior less the cost: below 0 if it were better to know the prior only."""
        return self.entropy - self.cost

    @property
    def available(self) -> float | None:
        """What would be delivered after the best recalibration."""
        return None if self.minimum is None else self.entropy - self.minimum

    @property
    def lost_by_calibration(self) -> float | None:
        """Calibration loss ``L_cal``, at least 0."""
        if self.minimum is None:
            return None
        return 0.0 if self.cost == self.minimum else max(self.cost - self.minimum, 0.0)

    @property
    def lost_by_discrimination(self) -> float | None:
        """Refinement loss ``L_ref``: what no recalibration gets back."""
        return self.minimum

    def __str__(self) -> str:
        """Return the information in words."""
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
    """Prior-weighted class means of what posteriors cost under a rule (thesis 5.4, 6.1, 8.11).

    Parameters
    ----------
    loglik : (n_trials, n_classes) array_like
        Log-likelihoods in nats; only differences within a row matter. Infinite values are legal.
    label : (n_trials,) array_like
        True classes: positions from 0, or names if ``classes`` are given.
    rule : ScoringRule
    prior : (n_classes,) array_like, optional
        Probabilities, flat when left out; classes of prior 0 drop out with their trials.
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
        If there is NaN, a label is no class, a class of positive prior has no trial, the prior is not one, or the rule
        is about another number of classes.

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
    """How much log-likelihood ratios tell at a prior (thesis 2.43 to 2.47).

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Log-likelihood ratios of target and non-target trials, in nats. Infinite values are legal.
    rule : ScoringRule
        Of two classes, target and non-target; the logarithm in bits unless told otherwise.
    p_target, prior_log_odds : float
        The prior, as a probability inside (0, 1) or as finite log odds in nats: exactly one of them.
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0; whole numbers count like copies of the trial.

    Returns
    -------
    Information
        ``minimum`` is after the best increasing map, which is the same for all proper rules (thesis appendix C).

    Raises
    ------
    InputError
        If a class is empty or holds NaN, not exactly one prior is given or it is out of range, or the rule is not about
        two classes.

    Examples
    --------
    >>> print(information([1.0, 2.0, 2.0], [0.0, 1.0, -1.0], p_target=0.5))
    0.3059 of 1 bit, 0.6667 after calibration
    """
    scores = SortedScores(tar, non, tar_weights=tar_weights, non_weights=non_weights)
    log_odds = _validate.single_log_odds(p_target, prior_log_odds, way="Ask for one after the other")
    prior = np.array([expit(log_odds), expit(-log_odds)])
    if not prior.all():
        raise InputError(
            f"prior_log_odds: {log_odds:g} is a prior of 0 or 1 in double precision. Give log odds from -700 to 700."
        )
    found = [mixed_at(*costs_of_llrs(one, rule, log_odds), log_odds) for one in (scores.trials, scores.recalibrated)]
    return Information(float(rule.entropy(prior)), found[0], min(found), rule.unit)


def class_information(
    loglik: ArrayLike,
    label: ArrayLike,
    *,
    rule: ScoringRule = BITS,
    prior: Priors = None,
    sample_weight: Weights = None,
    classes: Names = None,
) -> Information:
    """How much log-likelihoods of many classes tell at a prior (thesis 2.43 to 2.47, 8.22 to 8.25).

    Parameters
    ----------
    loglik : (n_trials, n_classes) array_like
        Log-likelihoods in nats; only differences within a row matter. Infinite values are legal.
    label : (n_trials,) array_like
        True classes: positions from 0, or names if ``classes`` are given.
    rule : ScoringRule
        The logarithm in bits unless told otherwise.
    prior : (n_classes,) array_like, optional
        Probabilities, flat when left out; classes of prior 0 drop out with their trials.
    sample_weight : (n_trials,) array_like, optional
        Weight of each trial within its class, at least 0.
    classes : sequence of str, optional
        Names of the columns.

    Returns
    -------
    Information
        ``minimum`` is after the best scale and offsets, and known for the logarithm only.

    Raises
    ------
    InputError
        As `expected_cost`.

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
        found = calibration_analysis_of(trials, checked, expected_surprise(trials, checked))
        minimum = found.minimum * math.log(2) / math.log(rule.base)
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
    """Sums of what checked targets and non-targets cost under a rule at prior log odds."""
    _require_classes(rule, 2)
    sums = []
    for k, (llr, weights) in enumerate((trials.tar, trials.non)):

        def cost(values: FloatArray, k: int = k) -> FloatArray:
            return rule._costs_at(values + log_odds)[:, k]  # noqa: SLF001  # checked log odds

        sums.append(MeanCost.of(llr, cost, weights))
    return sums[0], sums[1]


def _require_classes(rule: ScoringRule, n_classes: int) -> None:
    if rule.n_classes not in (None, n_classes):
        raise InputError(f"rule: about {rule.n_classes} classes, but the scores have {n_classes}.")


_FURTHEST, _PLACES = 25.0, 101
"""Prior log odds among which the best is looked for, and how many at first."""


_NOTHING = 1e-13
"""Nats that rounding may make of nothing."""


_FEW_CLASSES = 16
"""Up to so many, each class is favoured once."""


@dataclass(frozen=True, slots=True, eq=False)
class Capacity(ByValue):
    """The most that a recognizer tells at any prior.

    Attributes
    ----------
    bits : float
        Information delivered at that prior; 0 if it tells nothing at any.
    prior : (n_classes,) array
        Of two classes target, then non-target; flat where nothing is told.
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
    """The most information that log-likelihood ratios deliver at any prior: channel capacity (thesis 7.7.4).

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Scores of target and non-target trials; larger favours target. Infinite scores are legal.
    recalibrated : bool
        Whether after the best increasing map, as in the thesis, or as log-likelihood ratios as they are, in nats.
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0; whole numbers count like copies of the trial.

    Returns
    -------
    Capacity
        ``max over p of entropy(p) - cross-entropy(p)`` in bits, and where it is.

    Raises
    ------
    InputError
        If a class is empty or holds NaN.

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
    """The most that checked log-likelihood ratios with weights, as they are, tell at any prior; see `capacity`."""

    def delivered(log_odds: float) -> float:
        return entropy(np.array([expit(log_odds), expit(-log_odds)])) - cross_entropy(tar, non, log_odds)

    places = np.linspace(-_FURTHEST, _FURTHEST, _PLACES)
    values = np.array([delivered(x) for x in places.tolist()])
    best = int(np.argmax(values))
    if values[best] < _NOTHING:
        return Capacity(0.0, np.array([0.5, 0.5]))
    low, high = places[max(best - 1, 0)], places[min(best + 1, _PLACES - 1)]
    found = minimize_scalar(
        lambda x: -delivered(float(x)), bounds=(low, high), method="bounded", options={"xatol": 1e-9}
    )
    at = float(found.x) if -found.fun > values[best] else float(places[best])
    return Capacity(max(-float(found.fun), float(values[best])) / math.log(2), np.array([expit(at), expit(-at)]))


def class_capacity(
    loglik: ArrayLike, label: ArrayLike, *, sample_weight: Weights = None, classes: Names = None
) -> Capacity:
    """The most information that log-likelihoods of many classes deliver at any prior, as they are.

    Parameters
    ----------
    loglik : (n_trials, n_classes) array_like
        Log-likelihoods in nats; only differences within a row matter. Infinite values are legal.
    label : (n_trials,) array_like
        True classes: positions from 0, or names if ``classes`` are given.
    sample_weight : (n_trials,) array_like, optional
        Weight of each trial within its class, at least 0.
    classes : sequence of str, optional
        Names of the columns.

    Returns
    -------
    Capacity
        ``max over priors of sum_i prior_i mean_{trials of i} log2 (likelihood_i / sum_j prior_j likelihood_j)``.
        Classes that are best left out have a prior near 0; those of which a trial excludes its own class have 0.

    Raises
    ------
    InputError
        If there is NaN, a label is no class, or a class has no trial.

    Notes
    -----
    Of calibrated log-likelihoods this is a concave function of the prior; of others it may have several maxima, and the
    best of those is taken that are reached from the flat prior and from priors with one class favoured.

    Examples
    --------
    >>> found = class_capacity([[2.0, 0.0, -1.0], [0.0, 1.0, 0.0], [0.0, 0.5, 1.5]], [0, 1, 2])
    >>> round(found.bits, 4), found.prior.round(3)
    (1.0184, array([0.347, 0.292, 0.361]))
    """
    trials = ScoredClasses.of_metric(loglik, label, sample_weight, classes)
    n = trials.n_classes
    trials.prior(None)
    return _most_told(trials, [np.zeros(n), *(2.0 * np.eye(n) if n <= _FEW_CLASSES else [])], _AS_THEY_ARE)


def calibrated_capacity_of(trials: ScoredClasses, scale: float, offset: FloatArray) -> Capacity:
    """The most that checked log-likelihoods tell at any prior after a map that calibrates them.

    Parameters
    ----------
    trials : ScoredClasses
        Of all classes.
    scale : float
        At least 0.
    offset : (n_classes,) array
        In nats.

    Returns
    -------
    Capacity
        Reached from the flat prior, for what is calibrated tells as a concave function of the prior.
    """
    flat = np.zeros(trials.n_classes)
    # Scale 0 leaves the offsets, which say the same of all trials.
    return _most_told(trials, [flat] if scale > 0.0 else [], (scale, offset))


_Map: TypeAlias = tuple[float, FloatArray | None]
"""A scale, and an offset for each class."""


_AS_THEY_ARE: _Map = (1.0, None)


def _most_told(trials: ScoredClasses, starts: Sequence[FloatArray], mapped: _Map) -> Capacity:
    """The best of what is reached from some log priors."""
    n = trials.n_classes
    columns = np.flatnonzero([not _is_excluded(trials, k) for k in range(n)])
    best, at = 0.0, np.full(n, 1.0 / n)
    for start in starts if len(columns) > 1 else []:
        bounds = [(-40.0, 40.0)] * len(columns)
        asked = (trials, columns, mapped)
        found = minimize(_told, start[columns], args=asked, jac=True, method="L-BFGS-B", bounds=bounds)
        if -found.fun > best:
            best, at = -float(found.fun), np.zeros(n)
            at[columns] = np.exp(found.x - logsumexp(found.x))
    return Capacity(best / math.log(2), at)


def _is_excluded(trials: ScoredClasses, k: int) -> bool:
    """Whether a trial of a class excludes it, which costs without end unless the prior does so, too."""
    rows, columns = trials.rows(k), np.arange(trials.n_classes)
    weights = trials.weights_of(rows)
    counted = rows if weights is None else rows[weights > 0]
    return any(
        bool(np.isneginf(relative(trials.loglik, counted[part], columns)[k]).any())
        for part in row_blocks(len(counted), trials.n_classes)
    )


def _told(
    logits: FloatArray, trials: ScoredClasses, columns: IntArray, mapped: _Map = _AS_THEY_ARE
) -> tuple[float, FloatArray]:
    """What is not told, in nats less a constant: minus the information, and its derivative by log priors.

    Only of some classes; the others are left out.
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
    # By log priors that add up to 1 by normalization: what all have in common is taken off.
    slope = by_class - prior * by_class.sum()
    return -total, -slope
