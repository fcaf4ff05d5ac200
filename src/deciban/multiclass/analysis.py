"""Multiclass decisions and their two-class problems: error rates, C_avg, detectors, pairs, subsets.

Subsets of the classes: thesis section 8.3.3, slides part II.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, DTypeLike
from scipy.special import gammaln

from deciban._validate import arrays as _validate
from deciban._validate import classes as _validate_classes
from deciban._validate.classes import Class, distributions
from deciban.core.class_counts import SubsetCounts, accepted_open_set, chosen, is_among_first, non_target_priors, tally
from deciban.core.class_counts import confusion as _confusion
from deciban.core.ranks.roc import detection_cost
from deciban.errors import InputError, option
from deciban.metrics import SortedScores
from deciban.metrics.classification import Scheme, binned_gaps
from deciban.multiclass.recalibration import calibration_analysis
from deciban.multiclass.tables import Detectors, Pairs, ScoredClasses, mixed, posterior, sums_of_costs
from deciban.types import BoolArray, ByValue, CountArray, FloatArray, FloatPair, IntArray, Names, Priors, Weights


@dataclass(frozen=True, slots=True, eq=False)
class DetectionAnalysis(ByValue):
    """Each class against the rest: detection costs and Cllr, before and after the best monotone recalibration.

    Every array has one entry for each target. With several priors, ``cost`` and ``min_cost`` are curves, ``(n_targets,
    n_priors)``.

    Attributes
    ----------
    target : int array
        Positions of the targets: all classes of positive prior.
    classes : tuple of str or None
        Names of the targets.
    p_target : float or array
        Prior of the target in the detection costs.
    cost, min_cost : arrays
        Detection cost at the Bayes threshold, and at the best threshold: fractions, not normalized. The mean of
        ``cost`` at a flat prior is `c_avg`.
    eer : array
        Equal error rate on the ROC convex hull, a fraction.
    cllr, min_cllr : arrays
        Cllr of the detection log-likelihood ratios in bits, and its minimum by PAV.
    rates : array
        Miss rate and false-alarm rate at the Bayes threshold, then both at the best threshold, ``(n_targets, 4)``; with
        several priors, ``(n_targets, 4, n_priors)``.
    """

    target: IntArray
    classes: tuple[str, ...] | None
    p_target: float | FloatArray
    cost: FloatArray
    min_cost: FloatArray
    eer: FloatArray
    cllr: FloatArray
    min_cllr: FloatArray
    rates: FloatArray

    def at(self, place: int) -> DetectionAnalysis:
        """Return the analysis with the costs at one of several priors, by its position."""
        p_target = float(np.atleast_1d(self.p_target)[place])
        at = {name: getattr(self, name)[..., place] for name in ("cost", "min_cost", "rates")}
        return replace(self, p_target=p_target, **at)

    @property
    def calibration_loss(self) -> FloatArray:
        """Calibration loss ``cllr - min_cllr`` in bits, at least 0."""
        return np.maximum(self.cllr - self.min_cllr, 0.0)

    @property
    def mean_cost(self) -> float | FloatArray:
        """Mean of ``cost`` over the targets, at each prior."""
        return _mean(self.cost)

    @property
    def mean_min_cost(self) -> float | FloatArray:
        """Mean of ``min_cost``: the value of `c_avg` with the best threshold for each target."""
        return _mean(self.min_cost)


@dataclass(frozen=True, slots=True, eq=False)
class PairwiseAnalysis(ByValue):
    """Each pair of classes: Cllr before and after the best monotone recalibration.

    Attributes
    ----------
    classes : tuple of str or None
    cllr, min_cllr : (n_classes, n_classes) arrays
        Cllr of the pairwise log-likelihood ratios in bits, and its minimum by PAV; symmetric, with 1 on the diagonal.
        Evaluations of trials in memory compute them when they are read.
    """

    classes: tuple[str, ...] | None
    cllr: FloatArray
    min_cllr: FloatArray

    @property
    def calibration_loss(self) -> FloatArray:
        """Calibration loss ``cllr - min_cllr`` in bits, at least 0."""
        return np.maximum(self.cllr - self.min_cllr, 0.0)

    @property
    def largest_loss(self) -> float:
        """Largest finite loss of two classes in bits, by discrimination or by calibration; 0 if there is none."""
        apart = ~np.eye(len(self.cllr), dtype=bool)
        losses = np.concatenate((self.min_cllr[apart], self.calibration_loss[apart]))
        return float(np.max(losses, where=np.isfinite(losses), initial=0.0))


def detection_analysis(
    loglik: ArrayLike,
    label: ArrayLike,
    *,
    prior: Priors = None,
    p_target: ArrayLike = 0.5,
    sample_weight: Weights = None,
    classes: Names = None,
) -> DetectionAnalysis:
    """Analyse every class against the rest (Bruemmer and van Leeuwen 2006, section 4.3).

    Parameters
    ----------
    loglik : (n_trials, n_classes) array_like
        Log-likelihoods in nats; only differences within a row matter. May be infinite.
    label : (n_trials,) array_like
        True classes: positions from 0, or names if ``classes`` are given.
    prior : (n_classes,) array_like, optional
        Default: flat. Relative weights of the non-targets in the detection log-likelihood ratios and in averages over
        non-target trials. Classes of prior 0 are dropped.
    p_target : float or array_like
        Prior of the target in the detection costs. A vector of priors gives curves for APE plots.
    sample_weight : (n_trials,) array_like, optional
        Weight of each trial within its class, at least 0.
    classes : sequence of str, optional
        Names of the columns.

    Returns
    -------
    DetectionAnalysis

    Raises
    ------
    InputError
        If there is NaN, a label is unknown, a class of positive prior has no trial, or a prior is out of range.

    Notes
    -----
    Separately recalibrated detectors do not belong to one recognizer: each minimum is a bound for its own target. The
    minima change when the log-likelihoods are scaled and shifted (Bruemmer and van Leeuwen 2006, eq. 19).

    Memory is needed for the log-likelihood ratios of all trials and targets, as much as for ``loglik`` in float64.

    Examples
    --------
    >>> loglik = [[2.0, 0.0, -1.0], [0.0, 1.0, 0.0], [0.0, 0.5, 1.5], [1.0, 0.0, 0.5]]
    >>> found = detection_analysis(loglik, [0, 1, 2, 2])
    >>> found.cllr.round(4)
    array([0.4713, 0.4616, 0.5512])
    >>> found.min_cllr.round(4)
    array([0., 0., 0.])
    """
    trials = ScoredClasses.of_metric(loglik, label, sample_weight, classes)
    checked = trials.prior(prior)
    log_odds = _validate.prior_log_odds(p_target, None)
    if log_odds.ndim > 1:
        raise InputError(f"p_target: expected one prior or a vector of priors, got shape {log_odds.shape}.")
    detectors = Detectors.of(trials, checked)
    return detection_analysis_of(detectors, detectors.cllrs(), p_target, log_odds, checked, trials.classes)


def detection_analysis_of(
    detectors: Iterable[SortedScores],
    cllr: FloatArray,
    p_target: ArrayLike,
    log_odds: FloatArray,
    prior: FloatArray,
    classes: tuple[str, ...] | None,
) -> DetectionAnalysis:
    """Return `detection_analysis` of detectors and their Cllr, at checked priors of the target and of all classes."""
    target = np.flatnonzero(prior > 0)
    cost, min_cost = np.empty((2, len(target), *log_odds.shape))
    eer, min_cllr = np.empty((2, len(target)))
    rates = np.empty((len(target), 4, *log_odds.shape))
    for at, scores in enumerate(detectors):
        errors = scores.error_counts(-log_odds)
        rates[at] = errors.p_miss, errors.p_fa, *scores.rocch.best_rates(log_odds)
        for costs, (misses, alarms) in ((cost, rates[at][:2]), (min_cost, rates[at][2:])):
            costs[at] = detection_cost(misses, alarms, log_odds, 1.0, 1.0, normalize=False)
        eer[at], min_cllr[at] = scores.rocch.eer(), scores.min_cllr()
    names = None if classes is None else tuple(classes[k] for k in target)
    prior_of_target = np.array(p_target, np.float64) if log_odds.ndim else float(np.asarray(p_target))
    return DetectionAnalysis(target, names, prior_of_target, cost, min_cost, eer, cllr, min_cllr, rates)


def _mean(costs: FloatArray) -> float | FloatArray:
    return np.asarray(costs.mean(axis=0)) if costs.ndim > 1 else float(costs.mean())


def pairwise_analysis(
    loglik: ArrayLike, label: ArrayLike, *, sample_weight: Weights = None, classes: Names = None
) -> PairwiseAnalysis:
    """Analyse every pair of classes (Bruemmer and van Leeuwen 2006, section 4.2).

    Parameters
    ----------
    loglik : (n_trials, n_classes) array_like
        Log-likelihoods in nats; only differences within a row matter. May be infinite.
    label : (n_trials,) array_like
        True classes: positions from 0, or names if ``classes`` are given.
    sample_weight : (n_trials,) array_like, optional
        Weight of each trial within its class, at least 0.
    classes : sequence of str, optional
        Names of the columns.

    Returns
    -------
    PairwiseAnalysis

    Raises
    ------
    InputError
        If there is NaN, a label is unknown, or a class has no trial.

    Examples
    --------
    >>> loglik = [[2.0, 0.0, -1.0], [0.0, 1.0, 0.0], [0.0, 0.5, 1.5], [1.0, 0.0, 0.5]]
    >>> found = pairwise_analysis(loglik, [0, 1, 2, 2])
    >>> found.cllr.round(4)
    array([[1.    , 0.3175, 0.459 ],
           [0.3175, 1.    , 0.5099],
           [0.459 , 0.5099, 1.    ]])
    >>> found.min_cllr.round(4)
    array([[1., 0., 0.],
           [0., 1., 0.],
           [0., 0., 1.]])
    """
    trials = ScoredClasses.of_metric(loglik, label, sample_weight, classes)
    trials.require()
    return pairwise_analysis_of(trials)


def pairwise_analysis_of(trials: ScoredClasses, call: Callable[..., Any] = operator.call) -> PairwiseAnalysis:
    """Return `pairwise_analysis` of checked trials of all classes; ``call`` computes the costs, or defers this."""
    both = cache(lambda: Pairs.of(trials).cllr())
    return PairwiseAnalysis(trials.classes, call(lambda: both()[0]), call(lambda: both()[1]))


MOST_CLASSES = 20
"""Limit of classes: the number of subsets doubles with every class; 20 classes have a million."""


@dataclass(frozen=True, slots=True, eq=False)
class SubsetCosts(ByValue):
    """One number for every subset of two or more classes; as an array it is `value`.

    Attributes
    ----------
    value : (n_subsets,) array
        Average detection costs, as fractions. Evaluations of trials in memory compute them when they are read.
    mask : (n_subsets,) int array
        Subsets in binary: bit ``k`` is set if the subset contains class ``k``. Small subsets come first, in the order
        of `itertools.combinations`; the last one contains all classes.
    size : (n_subsets,) int array
        Number of classes in each.
    classes : tuple of str or None
        Names of the classes.
    """

    value: FloatArray
    mask: IntArray
    size: IntArray
    classes: tuple[str, ...] | None

    def __len__(self) -> int:
        return len(self.mask)

    def __iter__(self) -> Iterator[float]:
        return iter(self.value.tolist())

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> FloatArray:  # noqa: FBT001
        """Return the values."""
        return np.array(self.value, dtype=dtype, copy=copy)

    @property
    def mean_by_size(self) -> dict[int, float]:
        """Return the mean over all subsets of each number of classes."""
        sizes, at = np.unique(self.size, return_inverse=True)
        means = np.bincount(at, self.value) / np.bincount(at)
        return dict(zip(sizes.tolist(), means.tolist(), strict=True))

    def of(self, members: Sequence[Class]) -> float:
        """Return the number of one subset, from positions or names of its classes.

        Raises
        ------
        InputError
            If there is no such subset.
        """
        n_classes = int(self.size[-1])
        items = {_validate_classes.class_index(one, n_classes, self.classes, "members") for one in members}
        if len(items) < 2:
            raise InputError(f"members: a subset has at least two classes, got {members!r}.")
        return float(self.value[self.mask == sum(1 << k for k in items)][0])

    def members(self, at: int) -> tuple[int, ...]:
        """Return positions of the classes in the subset at a position."""
        mask = int(self.mask[at])
        return tuple(k for k in range(mask.bit_length()) if mask >> k & 1)


def subset_c_avg(loglik: ArrayLike, label: ArrayLike, *, p_target: float = 0.5, classes: Names = None) -> SubsetCosts:
    """Return `c_avg` of every subset of two or more classes, with its trials and columns only (thesis figure 8.3).

    Parameters
    ----------
    loglik : (n_trials, n_classes) array_like
        Log-likelihoods in nats, of 2 to 20 classes; only differences within a row matter. May be infinite: classes of a
        subset that are all excluded count as equal.
    label : (n_trials,) array_like
        True classes: positions from 0, or names if ``classes`` are given.
    p_target : float
        Prior of each target class, inside (0, 1). Every subset is a closed set, without out-of-set classes.
    classes : sequence of str, optional
        Names of the columns.

    Returns
    -------
    SubsetCosts
        ``2^n - n - 1`` subsets: 16,369 for 14 classes. There, 10^5 trials take one to ten seconds, more for difficult
        trials.

    Raises
    ------
    InputError
        If there is NaN, a label is unknown, a class has no trial, or there are more than 20 classes.

    Notes
    -----
    A likelihood that is below its threshold by a relative difference of less than 1e-14 is accepted, so that rounding
    does not decide ties.

    Examples
    --------
    >>> loglik = [[2.0, 0.0, -1.0], [0.0, 1.0, 0.0], [0.0, 0.5, 1.5], [1.0, 0.0, 0.5]]
    >>> costs = subset_c_avg(loglik, [0, 1, 2, 2])
    >>> costs.value
    array([0.   , 0.25 , 0.   , 0.125])
    >>> costs.of([0, 2])
    0.25
    """
    return subset_c_avg_of(ScoredClasses.of_metric(loglik, label, None, classes), p_target)


def subset_c_avg_of(trials: ScoredClasses, p_target: float, call: Callable[..., Any] = operator.call) -> SubsetCosts:
    """Return `subset_c_avg` of checked trials without weights; ``call`` computes the costs, or defers this."""
    n_classes = trials.n_classes
    if n_classes > MOST_CLASSES:
        raise InputError(
            f"loglik: {n_classes} classes have {float(2**n_classes):.1g} subsets; subset_c_avg takes at most "
            f"{MOST_CLASSES} classes. Drop columns and their trials."
        )
    trials.require()
    _validate.single_log_odds(p_target, largest=300.0)  # before costs are computed
    mask = _masks(n_classes)
    costs = call(lambda: subset_counts_of(trials, p_target).costs()[mask])
    return SubsetCosts(costs, mask, np.bitwise_count(mask).astype(np.int64), trials.classes)


def subset_counts_of(trials: ScoredClasses, p_target: float) -> SubsetCounts:
    """Count decisions about checked trials without weights in all subsets; a batch may lack classes."""
    log_odds = _validate.single_log_odds(p_target, largest=300.0)
    return SubsetCounts.of(trials.loglik, [trials.rows(k) for k in range(trials.n_classes)], float(np.exp(log_odds)))


def subset_costs_of(counts: SubsetCounts, classes: tuple[str, ...] | None) -> SubsetCosts:
    """Return the costs of counted decisions."""
    mask = _masks(len(counts.totals))
    return SubsetCosts(counts.costs()[mask], mask, np.bitwise_count(mask).astype(np.int64), classes)


def _masks(n_classes: int) -> IntArray:
    """Return all subsets of at least two classes, small ones first, in the order of `itertools.combinations`."""
    mask = np.arange(1 << n_classes, dtype=np.int64)
    size = np.bitwise_count(mask)
    # Combinations of one size are in the order of their lowest classes, that is, of their reversed binary numbers.
    mirrored = np.zeros_like(mask)
    for k in range(n_classes):
        mirrored |= (mask >> k & 1) << (n_classes - 1 - k)
    return mask[np.lexsort((-mirrored, size))][n_classes + 1 :]


def error_rate(
    loglik: ArrayLike, label: ArrayLike, *, prior: Priors = None, sample_weight: Weights = None, classes: Names = None
) -> float:
    """Return the rate of wrong Bayes decisions with unit costs, each class averaged separately.

    Parameters
    ----------
    loglik : (n_trials, n_classes) array_like
        Log-likelihoods in nats; only differences within a row matter. May be infinite.
    label : (n_trials,) array_like
        True classes: positions from 0, or names if ``classes`` are given.
    prior : (n_classes,) array_like, optional
        Probabilities for the decisions and the average; default: flat. Classes of prior 0 are dropped.
    sample_weight : (n_trials,) array_like, optional
        Weight of each trial within its class, at least 0; whole numbers count like copies of the trial.
    classes : sequence of str, optional
        Names of the columns.

    Returns
    -------
    float
        ``sum_i prior_i P(decision is not i | i)``, a fraction. The decision is the class of greatest posterior
        probability, the first one in a tie.

    Raises
    ------
    InputError
        If there is NaN, a label is unknown, a class of positive prior has no trial, or the prior is invalid.

    Notes
    -----
    Posteriors are compared exactly. At a flat prior these are the log-likelihoods; with two classes, their difference
    is compared with the Bayes threshold, as in `deciban.metrics`. `deciban.decisions` compares sums of costs, which
    count as equal if they agree to a relative 2^-46. At a flat prior its decisions are the same; at others they can
    differ for trials this close to a tie.

    Examples
    --------
    >>> error_rate([[2.0, 0.0, -1.0], [0.0, 1.0, 0.0], [0.0, 0.5, 0.4], [0.0, 0.5, 1.0]], [0, 1, 2, 2], prior=None)
    0.16666666666666666
    """
    trials = ScoredClasses.of_metric(loglik, label, sample_weight, classes)
    checked = trials.prior(prior)
    possible = checked > 0
    return float(checked[possible] @ rates_of(confusion_of(trials, checked))[possible])


def class_error_rates(
    loglik: ArrayLike, label: ArrayLike, *, prior: Priors = None, sample_weight: Weights = None, classes: Names = None
) -> FloatArray:
    """Return the rate of wrong Bayes decisions with unit costs for every class; their weighted mean is `error_rate`.

    Parameters
    ----------
    loglik : (n_trials, n_classes) array_like
        Log-likelihoods in nats; only differences within a row matter. May be infinite.
    label : (n_trials,) array_like
        True classes: positions from 0, or names if ``classes`` are given.
    prior : (n_classes,) array_like, optional
        Probabilities for the decisions, default: flat; a class of prior 0 is never chosen.
    sample_weight : (n_trials,) array_like, optional
        Weight of each trial within its class, at least 0; whole numbers count like copies of the trial.
    classes : sequence of str, optional
        Names of the columns.

    Returns
    -------
    (n_classes,) array
        Fractions; 0 for a class of prior 0 without trials.

    Raises
    ------
    InputError
        If there is NaN, a label is unknown, a class of positive prior has no trial, or the prior is invalid.

    Examples
    --------
    >>> class_error_rates([[2.0, 0.0], [0.0, 1.0], [0.5, 0.0]], [0, 1, 1])
    array([0. , 0.5])
    """
    trials = ScoredClasses.of_metric(loglik, label, sample_weight, classes)
    return rates_of(confusion_of(trials, trials.prior(prior)))


def class_f1(
    loglik: ArrayLike, label: ArrayLike, *, prior: Priors = None, sample_weight: Weights = None, classes: Names = None
) -> FloatArray:
    """Return the F1 score of Bayes decisions for every class; their mean is macro F1.

    Parameters
    ----------
    loglik, label, prior, sample_weight, classes
        See `class_error_rates`. With the shares of the classes in the data as prior, decisions for log posteriors are
        their largest values, as in scikit-learn.

    Returns
    -------
    (n_classes,) array
        ``2 TP / (2 TP + FP + FN)``; 0 for a class without trials and decisions. It changes with the shares of the
        classes in the data; the recall of a class, 1 minus `class_error_rates`, does not.

    Raises
    ------
    InputError
        See `class_error_rates`.

    Examples
    --------
    >>> class_f1([[2.0, 0.0], [0.0, 1.0], [0.5, 0.0]], [0, 1, 1]).round(3).tolist()
    [0.667, 0.667]
    """
    return f1_of(confusion(loglik, label, prior=prior, sample_weight=sample_weight, classes=classes))


def f1_of(confusion: CountArray) -> FloatArray:
    """Return the F1 score of every class; 0 for a class without trials and decisions."""
    total = confusion.sum(axis=0) + confusion.sum(axis=1)
    return np.asarray(np.divide(2.0 * np.diag(confusion), total, out=np.zeros(len(total)), where=total > 0))


def ece(
    loglik: ArrayLike,
    label: ArrayLike,
    *,
    prior: Priors = None,
    bins: int = 15,
    scheme: Scheme = "width",
    kind: Literal["class-wise", "top-label"] = "class-wise",
    sample_weight: Weights = None,
    classes: Names = None,
) -> float:
    """Return the expected calibration error of multiclass posteriors in bins.

    Parameters
    ----------
    loglik : (n_trials, n_classes) array_like
        Log-likelihoods in nats. For log posteriors, pass the prior that they contain, and subtract its logarithm.
    label : (n_trials,) array_like
        True classes: positions from 0, or names if ``classes`` are given.
    prior : (n_classes,) array_like, optional
        Positive probabilities, default: flat. With the shares of the classes in the data, the result is the ECE of
        classification papers.
    bins, scheme
        See `deciban.metrics.ece`.
    kind : {"class-wise", "top-label"}
        Mean over classes of the ECE of the posterior of each class (Kull and others, 2019), or the ECE of the largest
        posterior as probability of a correct decision (Guo and others, 2017).
    sample_weight : (n_trials,) array_like, optional
        Weight of each trial within its class, at least 0.
    classes : sequence of str, optional
        Names of the columns.

    Returns
    -------
    float
        A fraction. With many classes, most class-wise posteriors are close to 0, and the mean hides large errors; the
        top label ignores all other classes.

    Raises
    ------
    InputError
        If there is NaN, a label is unknown, a class has no trial, or prior, bins, scheme or kind are invalid.

    Examples
    --------
    >>> round(ece([[2.0, 0.0], [0.0, 1.0], [0.5, 0.0]], [0, 1, 1], bins=5), 3)
    0.282
    """
    _validate.one_of(kind, "kind", ("class-wise", "top-label"))
    trials = ScoredClasses.of_metric(loglik, label, sample_weight, classes)
    share = trials.prior(prior)
    if not (share > 0.0).all():
        raise InputError("prior: the calibration error needs a positive prior of every class.")
    own = np.ones(len(trials.label)) if trials.weights is None else np.asarray(trials.weights, np.float64)
    weight = own * (share / np.bincount(trials.label, own, trials.n_classes))[trials.label]
    return ece_of(posterior(trials.loglik, prior=share), trials.label, weight, bins=bins, scheme=scheme, kind=kind)


def ece_of(
    chances: FloatArray,
    label: IntArray,
    weight: FloatArray,
    *,
    bins: int = 15,
    scheme: Scheme = "width",
    kind: Literal["class-wise", "top-label"] = "class-wise",
) -> float:
    """Return `ece` of posteriors, with the share of each trial in the weight; trials are added in a fixed order."""
    if kind == "top-label":
        parts = [(chances.max(axis=1), chances.argmax(axis=1) == label)]
    else:
        parts = [(chances[:, k], label == k) for k in range(chances.shape[1])]
    gaps = []
    for chance, is_right in parts:
        order = np.argsort(chance, kind="stable")
        own = weight[order]
        gaps.append(binned_gaps(chance[order], own, own * is_right[order], bins, scheme))
    return math.fsum(math.fsum(total * gap) for total, gap in gaps) / len(parts)


def classifier_metrics_of(trials: ScoredClasses) -> tuple[dict[str, float], CountArray]:
    """Return metrics of classifier papers at the shares of the classes in the data, and the confusion matrix.

    Every class has a trial.
    """
    totals, label, k = trials.totals(), trials.label, top_k_of(trials.n_classes)
    n, share = totals.sum(), totals / totals.sum()
    counts, chances = confusion_of(trials, share), posterior(trials.loglik, prior=share)
    own = np.ones(len(label)) if trials.weights is None else trials.weights.astype(np.float64)
    is_hit = is_among_first(trials.loglik, label, k, share)
    errors = partial(ece_of, chances, label, own / n)
    log_costs, quadratic = sums_of_costs(trials, share)
    entries = {
        "k": k,
        "accuracy": float(np.diag(counts).sum() / n),
        "top_k_accuracy": float(tally(label, trials.n_classes, own * is_hit).sum() / n),
        "balanced_accuracy": float(1.0 - rates_of(counts).mean()),
        "sample_macro_f1": float(f1_of(counts).mean()),
        "ece": errors(),
        "ace": errors(scheme="mass"),
        "top_ece": errors(kind="top-label"),
        "top_ace": errors(kind="top-label", scheme="mass"),
        "sample_log_loss": mixed(log_costs, share),
        "sample_brier": mixed(quadratic, share),
    }
    return entries, counts


def top_k_of(n_classes: int) -> int:
    """Return the ``k`` of the top-k accuracy: 5, or less so that one class is left out.

    Examples
    --------
    >>> [top_k_of(n) for n in (2, 4, 1000)]
    [1, 3, 5]
    """
    return min(5, n_classes - 1)


def confusion(
    loglik: ArrayLike, label: ArrayLike, *, prior: Priors = None, sample_weight: Weights = None, classes: Names = None
) -> CountArray:
    """Return the confusion matrix of Bayes decisions with unit costs.

    Parameters
    ----------
    loglik : (n_trials, n_classes) array_like
        Log-likelihoods in nats; only differences within a row matter. May be infinite.
    label : (n_trials,) array_like
        True classes: positions from 0, or names if ``classes`` are given.
    prior : (n_classes,) array_like, optional
        Probabilities for the decisions, default: flat; a class of prior 0 is never chosen.
    sample_weight : (n_trials,) array_like, optional
        Weight of each trial, at least 0; whole numbers count like copies of the trial.
    classes : sequence of str, optional
        Names of the columns.

    Returns
    -------
    (n_classes, n_classes) array
        Number of trials (or their weight) by true class (row) and decision (column).

    Raises
    ------
    InputError
        If there is NaN, a label is unknown, a class of positive prior has no trial, or the prior is invalid.

    Notes
    -----
    Posteriors are compared exactly. At a flat prior these are the log-likelihoods; with two classes, their difference
    is compared with the Bayes threshold, as in `deciban.metrics`. `deciban.decisions` compares sums of costs, which
    count as equal if they agree to a relative 2^-46. At a flat prior its decisions are the same; at others they can
    differ for trials this close to a tie.

    Examples
    --------
    >>> confusion([[2.0, 0.0], [0.0, 1.0], [0.5, 0.0]], [0, 1, 1])
    array([[1, 0],
           [1, 1]])
    """
    trials = ScoredClasses.of_metric(loglik, label, sample_weight, classes)
    return confusion_of(trials, trials.prior(prior))


def confusion_of(trials: ScoredClasses, prior: FloatArray) -> CountArray:
    """Return `confusion` of checked trials; matrices of two sets of trials can be added."""
    return _confusion(trials.label, chosen(trials.loglik, prior), trials.n_classes, trials.weights)


def rates_of(confusion: CountArray) -> FloatArray:
    """Return the rate of wrong decisions for every class; 0 for a class without trials."""
    totals = confusion.sum(axis=1)
    wrong = (confusion * (1 - np.eye(len(confusion), dtype=confusion.dtype))).sum(axis=1)
    return np.asarray(np.divide(wrong, totals, out=np.zeros(len(confusion)), where=totals > 0))


def c_avg(
    loglik: ArrayLike,
    label: ArrayLike,
    *,
    p_target: ArrayLike = 0.5,
    p_out_of_set: float | None = None,
    normalize: bool = False,
    sample_weight: Weights = None,
    classes: Names = None,
) -> float | FloatArray:
    """Return the average detection cost of the NIST language evaluations (thesis eqs. 8.3, 8.10 and 8.28).

    Parameters
    ----------
    loglik : (n_trials, n_classes) array_like
        Log-likelihoods in nats; only differences within a row matter. May be infinite.
    label : (n_trials,) array_like
        True classes: positions from 0, or names if ``classes`` are given.
    p_target : float or array_like
        Prior of each target class, inside (0, 1); the other classes share the rest equally. An array gives the curve of
        thesis eq. 8.28.
    p_out_of_set : float, optional
        If passed, the last class is out of set: never a target, with this prior. The other non-targets share ``1 -
        p_target - p_out_of_set``. LRE 2007 and 2009 used 0.2 in the open-set condition.
    normalize : bool
        Divide by the cost of the better of accept-all and reject-all, ``min(p_target, 1 - p_target)``.
    sample_weight : (n_trials,) array_like, optional
        Weight of each trial within its class, at least 0; whole numbers count like copies of the trial.
    classes : sequence of str, optional
        Names of the columns.

    Returns
    -------
    float, or array of the shape of ``p_target``
        ``mean_t [p_target P_miss(t) + sum_{i != t} prior_i P_fa(t, i)]``, a fraction. Bayes decisions accept if
        `detection_llr` is at or above ``-ln(p_target / (1 - p_target))``.

    Raises
    ------
    InputError
        If there is NaN, a label is unknown, a class has no trial, or a prior is out of range.

    Examples
    --------
    >>> loglik = [[2.0, 0.0, -1.0], [0.0, 1.0, 0.0], [0.0, 0.5, 1.5], [1.0, 0.0, 0.5]]
    >>> round(c_avg(loglik, [0, 1, 2, 2]), 6)
    0.125
    >>> c_avg(loglik, [0, 1, 2, 2], p_target=[0.2, 0.5], normalize=True).round(4)
    array([0.6667, 0.25  ])
    >>> round(c_avg(loglik, [0, 1, 2, 2], p_out_of_set=0.2), 6)
    0.05
    """
    trials = ScoredClasses.of_metric(loglik, label, sample_weight, classes)
    trials.require()
    log_odds = _validate.prior_log_odds(p_target, None)
    if p_out_of_set is None:
        flat = np.full(trials.n_classes, 1.0 / trials.n_classes)
        costs = c_avg_of(Detectors.of(trials, flat), log_odds.ravel(), normalize=normalize)
    else:
        targets = np.asarray(p_target, dtype=np.float64).ravel()
        out_of_set = checked_out_of_set(p_out_of_set, targets, trials.n_classes)
        counts = accepted_open_set(trials.loglik, trials.label, trials.weights, targets, out_of_set)
        rates = open_set_rates(counts, trials.totals(), targets, out_of_set)
        costs = mean_cost(*rates, log_odds.ravel(), normalize=normalize)
    return costs.reshape(log_odds.shape) if log_odds.ndim else float(costs[0])


def checked_out_of_set(p_out_of_set: float, p_target: FloatArray, n_classes: int) -> float:
    """Return the checked prior of the out-of-set class, given the priors of a target.

    Raises
    ------
    InputError
        If there are too few classes, or no prior remains for the other non-targets.
    """
    if n_classes < 3:
        raise InputError("p_out_of_set: at least three classes are needed, two targets and one out of set.")
    largest = float(p_target.max(initial=0.0))
    share = out_of_set_prior(p_out_of_set)
    if share >= 1.0 - largest:
        raise InputError(
            f"p_out_of_set: {share:.12g} and a target prior of {largest:.12g} leave none for the other non-targets; "
            f"target priors ({option('p_target')}) must be below {1.0 - share:.12g}."
        )
    return share


def out_of_set_prior(value: float) -> float:
    """Check that it is one prior, for any classes and priors of a target."""
    return _validate.in_range(
        value, "p_out_of_set", 1e-12, float(np.nextafter(1.0, 0.0)), "It must be above 0 and below 1"
    )


def c_avg_of(detectors: Detectors, log_odds: FloatArray, *, normalize: bool = False) -> FloatArray:
    """Return `c_avg` of detectors of a closed set at a flat prior, for every prior of a target."""
    n_classes, order, totals = len(detectors.prior), np.argsort(-log_odds), detectors.totals
    others = (1.0 - np.eye(n_classes)) / (n_classes - 1)
    p_miss, p_fa = np.empty((2, len(log_odds), n_classes))
    for k in range(n_classes):
        rates = error_rates(detectors.accepted_by(k, -log_odds[order]), totals, others[k], np.array([k]))
        p_miss[order, k : k + 1], p_fa[order, k : k + 1] = rates
    return mean_cost(p_miss, p_fa, log_odds, normalize=normalize)


def mean_cost(p_miss: FloatArray, p_fa: FloatArray, log_odds: FloatArray, *, normalize: bool = False) -> FloatArray:
    """Return the mean over targets of the detection costs of (n_priors, n_targets) error rates."""
    costs = detection_cost(p_miss, p_fa, log_odds.reshape(-1, 1), 1.0, 1.0, normalize=normalize)
    return np.asarray(costs.mean(axis=1))


def open_set_rates(counts: CountArray, totals: CountArray, p_target: FloatArray, p_out_of_set: float) -> FloatPair:
    """Return error rates of targets in an open set, from accepted trials (n_priors, n_targets, n_classes)."""
    n_classes = len(totals)
    priors = non_target_priors(p_target, p_out_of_set, n_classes)
    return error_rates(counts, totals, priors[:, None, :] * (1.0 - np.eye(n_classes - 1, n_classes)))


def error_rates(
    counts: CountArray, totals: CountArray, rivals: FloatArray, targets: IntArray | None = None
) -> FloatPair:
    """Return miss and false-alarm rates of detectors.

    Parameters
    ----------
    counts : (n_thresholds, n_targets, n_classes) array
        Accepted trials of every class.
    totals : (n_classes,) array
        Trials of every class.
    rivals : (n_targets, n_classes) array, or one for each threshold
        Weights of the other classes in the false-alarm rate of a target; they sum to 1.
    targets : (n_targets,) int array, optional
        Classes of the targets; default: the first classes.

    Returns
    -------
    p_miss, p_fa : (n_thresholds, n_targets) arrays
        Fractions.
    """
    targets = np.arange(counts.shape[1]) if targets is None else targets
    p_miss = (totals[targets] - counts[:, np.arange(counts.shape[1]), targets]) / totals[targets]
    p_fa = np.sum(counts / totals * rivals, axis=2)
    return p_miss, p_fa


def decision_c_avg(
    accepted: ArrayLike,
    label: ArrayLike,
    *,
    p_target: float = 0.5,
    normalize: bool = False,
    sample_weight: Weights = None,
    classes: Names = None,
) -> float:
    """Return C_avg of any accept and reject decisions, one for each trial and class (thesis 8.3).

    Parameters
    ----------
    accepted : (n_trials, n_classes) array_like
        True for classes that were accepted in a trial: booleans, or 0 and 1. Any number of classes may be accepted.
    label : (n_trials,) array_like
        True classes: positions from 0, or names if ``classes`` are given.
    p_target : float
        Prior of each target class, inside (0, 1); the other classes share the rest equally.
    normalize : bool
        Divide by the cost of the better of accept-all and reject-all, ``min(p_target, 1 - p_target)``.
    sample_weight : (n_trials,) array_like, optional
        Weight of each trial within its class, at least 0; whole numbers count like copies of the trial.
    classes : sequence of str, optional
        Names of the columns.

    Returns
    -------
    float
        A fraction, or a ratio if normalized. For Bayes decisions it equals `c_avg`.

    Raises
    ------
    InputError
        If a decision is neither true nor false, a label is unknown, a class has no trials, or the prior is out of
        range.

    Examples
    --------
    >>> decision_c_avg([[1, 0], [0, 1], [1, 0], [0, 0]], [0, 1, 1, 1])
    0.25
    """
    table = _decisions(accepted)
    n, n_classes = table.shape
    names = _validate_classes.names(classes, n_classes)
    true = _validate_classes.label(label, n, n_classes, names)
    weights = _validate.weights(sample_weight, n, "sample_weight")
    _validate_classes.all_classes(true, n_classes, weights=weights, classes=names)
    log_odds = _validate.single_log_odds(p_target, None, way="Use each prior separately")
    counted = np.ones(n, np.int64) if weights is None else weights
    is_class = true[:, None] == np.arange(n_classes)
    counts = table.T.astype(counted.dtype) @ (is_class * counted[:, None])
    totals = counted @ is_class
    others = (1.0 - np.eye(n_classes)) / (n_classes - 1)
    rates = error_rates(counts[None], totals, others)
    return float(mean_cost(*rates, np.array([log_odds]), normalize=normalize)[0])


def recalibrated_c_avg(
    loglik: ArrayLike,
    label: ArrayLike,
    *,
    p_target: ArrayLike = 0.5,
    normalize: bool = False,
    sample_weight: Weights = None,
    classes: Names = None,
) -> float | FloatArray:
    """Return C_avg after the scale and offsets that minimize the cross-entropy of the same trials (thesis 8.24).

    Parameters
    ----------
    loglik : (n_trials, n_classes) array_like
        Log-likelihoods in nats; only differences within a row matter. May be infinite.
    label : (n_trials,) array_like
        True classes: positions from 0, or names if ``classes`` are given.
    p_target, normalize, sample_weight, classes
        See `c_avg`.

    Returns
    -------
    float, or array of the shape of ``p_target``
        Cost of the decisions of a calibrated recognizer. It is not a minimum, because another map may give a lower
        C_avg.

    Raises
    ------
    InputError
        See `c_avg`.

    Examples
    --------
    >>> loglik = [[9, 8, 0], [5, 6, 0], [6, 7, 4], [8, 7, 7], [0, 8, 7], [7, 5, 6], [5, 5, 9], [6, 9, 9]]
    >>> label = [0, 1, 0, 2, 2, 0, 2, 1]
    >>> round(c_avg(loglik, label), 4), round(recalibrated_c_avg(loglik, label), 4)
    (0.2917, 0.2222)
    """
    result = calibration_analysis(loglik, label, sample_weight=sample_weight, classes=classes)
    scores = _validate_classes.loglik(loglik)
    with np.errstate(over="ignore"):
        mapped = scores * result.scale if result.scale > 0.0 else np.zeros(scores.shape)
    return c_avg(
        mapped + result.offset,
        label,
        p_target=p_target,
        normalize=normalize,
        sample_weight=sample_weight,
        classes=classes,
    )


def error_rate_weighting(prior: ArrayLike) -> FloatArray:
    """Return the weight of the error rate at a prior in the cross-entropy at the flat prior (thesis D.1, figure D.1).

    Parameters
    ----------
    prior : (n, n_classes) array_like
        Priors of the classes, rows that sum to 1, all above 0.

    Returns
    -------
    (n,) array
        The density ``w`` over ``x_k = ln(prior_k / prior_N)``, ``k < N``: the integral of ``w`` times the `error_rate`
        at that prior is the `cross_entropy` at the flat prior in nats.

    Raises
    ------
    InputError
        If rows are not probabilities, or a prior is 0.

    Notes
    -----
    Decisions with regions that meet at ``eta`` are optimal for the prior proportional to ``1 / eta``. So thesis 8.13
    becomes an integral of error rates: with ``T = sum_k 1 / prior_k``, ``w = (N - 2)! / N * T^(1 - N) * prod_k 1 /
    prior_k``. For two classes it is 1/2 everywhere: the area under the curve of error rates over log odds is twice the
    cross-entropy.

    Examples
    --------
    >>> error_rate_weighting([[0.5, 0.5], [0.01, 0.99]])
    array([0.5, 0.5])
    >>> error_rate_weighting([[1 / 3, 1 / 3, 1 / 3]]).round(6)
    array([0.111111])
    """
    table = distributions(prior, "prior")
    if not table.all():
        row = int(np.argmin(table.all(axis=1)))
        raise InputError(f"prior: row {row} has a class of prior 0. All priors must be above 0.")
    n_classes = table.shape[1]
    log_total = np.log((1.0 / table).sum(axis=1))
    log_weight = gammaln(n_classes - 1) - np.log(n_classes) + (1 - n_classes) * log_total - np.log(table).sum(axis=1)
    return np.asarray(np.exp(log_weight))


def _decisions(values: ArrayLike) -> BoolArray:
    value = _validate.array(values, "accepted")
    if value.ndim != 2 or value.shape[1] < 2 or not len(value):
        raise InputError(f"accepted: shape {value.shape}. Pass a row for each trial and a column for each class.")
    return _validate.truth(value.ravel(), value.size, "accepted").reshape(value.shape)
