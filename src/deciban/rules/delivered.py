"""How much a recognizer tells: what its posteriors cost under any proper rule, and the information they deliver."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from deciban._validate import arrays as _validate
from deciban.core.by_value import ByValue
from deciban.core.classes.loglik import posterior, relative, row_blocks
from deciban.core.rules.expected import MeanCost
from deciban.core.rules.expected import mixed as mixed_at
from deciban.errors import InputError
from deciban.metrics.scores import ScoredTrials, SortedScores
from deciban.multiclass.costs import expected_surprise, mixed
from deciban.multiclass.recalibration import calibration_analysis_of
from deciban.multiclass.tables import ScoredClasses
from deciban.rules.families import Logarithmic
from deciban.rules.scoring import ScoringRule
from deciban.types import FloatArray, Names, Priors, Weights

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
        """In words."""
        text = f"tells {self.delivered:.4g} of {self.entropy:.4g} {self.unit}"
        return text if self.available is None else f"{text}; {self.available:.4g} if it were calibrated"


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
    tells 0.3059 of 1 bits; 0.6667 if it were calibrated
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
    tells 0.6205 of 1.585 bits; 0.8649 if it were calibrated
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
