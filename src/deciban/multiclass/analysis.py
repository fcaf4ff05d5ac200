"""Problems inside the problem: one class against the rest and pairs of classes, with their PAV minima; all subsets.

Subsets of the classes: thesis section 8.3.3, slides part II.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from deciban._validate import arrays as _validate
from deciban._validate import classes as _validate_classes
from deciban._validate.classes import Class
from deciban.core.by_value import ByValue
from deciban.core.classes.subsets import SubsetCounts
from deciban.core.ranks.operating import detection_cost
from deciban.errors import InputError
from deciban.multiclass.tables import AnyDetectors, Detectors, Pairs, ScoredClasses
from deciban.types import FloatArray, IntArray, Names, Priors, Weights


@dataclass(frozen=True, slots=True, eq=False)
class DetectionAnalysis(ByValue):
    """Each class against the rest: detection costs and Cllr as they are, and after the best monotone recalibration.

    Every array has one entry for each target; where costs were asked for at several priors, ``cost`` and ``min_cost``
    are curves, ``(n_targets, n_priors)``.

    Attributes
    ----------
    target : int array
        Positions of the targets: all classes that the prior holds possible.
    classes : tuple of str or None
        Names of the targets.
    p_target : float or array
        Prior of the target in the detection costs.
    cost, min_cost : arrays
        Detection cost at the Bayes threshold, and at the best one: fractions, not normalized. The mean of ``cost`` at
        a flat prior is `c_avg`.
    eer : array
        Equal error rate on the ROC convex hull, a fraction.
    cllr, min_cllr : arrays
        Cllr of the detection log-likelihood ratios in bits, and its minimum by PAV.
    """

    target: IntArray
    classes: tuple[str, ...] | None
    p_target: float | FloatArray
    cost: FloatArray
    min_cost: FloatArray
    eer: FloatArray
    cllr: FloatArray
    min_cllr: FloatArray

    def at(self, place: int) -> DetectionAnalysis:
        """Return the same with the costs at one of several priors, by its position."""
        p_target = float(np.atleast_1d(self.p_target)[place])
        return replace(self, p_target=p_target, cost=self.cost[:, place], min_cost=self.min_cost[:, place])

    @property
    def calibration_loss(self) -> FloatArray:
        """``cllr - min_cllr`` in bits, at least 0."""
        return np.maximum(self.cllr - self.min_cllr, 0.0)

    @property
    def mean_cost(self) -> float | FloatArray:
        """Mean of ``cost`` over the targets, at each prior."""
        return _mean(self.cost)

    @property
    def mean_min_cost(self) -> float | FloatArray:
        """Mean of ``min_cost``: what `c_avg` would be with the best threshold for each target."""
        return _mean(self.min_cost)

    @property
    def mean_cllr(self) -> float:
        """Mean of ``cllr`` in bits."""
        return float(self.cllr.mean())

    @property
    def mean_min_cllr(self) -> float:
        """Mean of ``min_cllr`` in bits."""
        return float(self.min_cllr.mean())


@dataclass(frozen=True, slots=True, eq=False)
class PairwiseAnalysis(ByValue):
    """Each class against each other one: Cllr as it is, and after the best monotone recalibration.

    Attributes
    ----------
    classes : tuple of str or None
    cllr, min_cllr : (n_classes, n_classes) arrays
        Cllr of the pairwise log-likelihood ratios in bits, and its minimum by PAV; symmetric. Nothing tells a class
        from itself: the diagonal is 1.
    """

    classes: tuple[str, ...] | None
    cllr: FloatArray
    min_cllr: FloatArray

    @property
    def calibration_loss(self) -> FloatArray:
        """``cllr - min_cllr`` in bits, at least 0."""
        return np.maximum(self.cllr - self.min_cllr, 0.0)

    @property
    def largest_loss(self) -> float:
        """The largest finite loss of two classes in bits, by discrimination or by calibration; 0 if there is none."""
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
    """Analyse every class against the rest (paper 001 section 4.3).

    Parameters
    ----------
    loglik : (n_trials, n_classes) array_like
        Log-likelihoods in nats; only differences within a row matter. Infinite values are legal.
    label : (n_trials,) array_like
        True classes: positions from 0, or names if ``classes`` are given.
    prior : (n_classes,) array_like, optional
        Flat when left out. It says how likely the non-targets are, relative to each other, in the detection
        log-likelihood ratios and in averages over non-target trials; classes of prior 0 drop out.
    p_target : float or array_like
        Prior of the target in the detection costs. A vector of priors gives their curves, which APE plots draw.
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
        If there is NaN, a label is no class, a class of positive prior has no trial, or a prior is out of range.

    Notes
    -----
    Detectors that are recalibrated one by one do not come from one recognizer: the minima are bounds, each for its own
    target. They change when the log-likelihoods are scaled and shifted (paper 001 eq. 19).

    The log-likelihood ratios of all trials and targets are held at once, as much memory as ``loglik`` in float64.

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
    return detection_analysis_of(Detectors.of(trials, checked), p_target, log_odds, checked, trials.classes)


def detection_analysis_of(
    detectors: AnyDetectors,
    p_target: ArrayLike,
    log_odds: FloatArray,
    prior: FloatArray,
    classes: tuple[str, ...] | None,
) -> DetectionAnalysis:
    """`detection_analysis` of detectors, at checked priors of the target and of all classes."""
    target = np.flatnonzero(prior > 0)
    cost, min_cost = np.empty((2, len(target), *log_odds.shape))
    eer, cllr, min_cllr = np.empty((3, len(target)))
    for at, scores in enumerate(detectors):
        errors = scores.error_counts(-log_odds)
        cost[at] = detection_cost(errors.p_miss, errors.p_fa, log_odds, 1.0, 1.0, normalize=False)
        min_cost[at] = detection_cost(*scores.rocch.best_rates(log_odds), log_odds, 1.0, 1.0, normalize=False)
        eer[at], cllr[at], min_cllr[at] = scores.rocch.eer(), scores.cllr(), scores.min_cllr()
    names = None if classes is None else tuple(classes[k] for k in target)
    prior_of_target = np.array(p_target, np.float64) if log_odds.ndim else float(np.asarray(p_target))
    return DetectionAnalysis(target, names, prior_of_target, cost, min_cost, eer, cllr, min_cllr)


def _mean(costs: FloatArray) -> float | FloatArray:
    return np.asarray(costs.mean(axis=0)) if costs.ndim > 1 else float(costs.mean())


def pairwise_analysis(
    loglik: ArrayLike, label: ArrayLike, *, sample_weight: Weights = None, classes: Names = None
) -> PairwiseAnalysis:
    """Analyse every pair of classes (paper 001 section 4.2).

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
    PairwiseAnalysis

    Raises
    ------
    InputError
        If there is NaN, a label is no class, or a class has no trial.

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
    return PairwiseAnalysis(trials.classes, *Pairs.of(trials).cllr())


MOST_CLASSES = 20
"""The number of subsets doubles with every class: a million of them here."""


@dataclass(frozen=True, slots=True, eq=False)
class SubsetCosts(ByValue):
    """One number for every subset of two or more classes; as an array it is `value`.

    Attributes
    ----------
    value : (n_subsets,) array
        Average detection costs, as fractions.
    mask : (n_subsets,) int array
        The subsets in binary: bit ``k`` is set if class ``k`` is in it. Small subsets come first, in the order of
        `itertools.combinations`; the last one holds all classes.
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
        return len(self.value)

    def __iter__(self) -> Iterator[float]:
        return iter(self.value.tolist())

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> FloatArray:  # noqa: FBT001
        """The values."""
        return np.array(self.value, dtype=dtype, copy=copy)

    @property
    def mean_by_size(self) -> dict[int, float]:
        """The mean of all subsets of as many classes, for each number of classes."""
        sizes, at = np.unique(self.size, return_inverse=True)
        means = np.bincount(at, self.value) / np.bincount(at)
        return dict(zip(sizes.tolist(), means.tolist(), strict=True))

    def of(self, members: Sequence[Class]) -> float:
        """The number of one subset, given by positions or names of its classes.

        Raises
        ------
        InputError
            If there is no such subset.
        """
        n_classes = int(self.size[-1])
        wanted = {_validate_classes.class_index(one, n_classes, self.classes, "members") for one in members}
        if len(wanted) < 2:
            raise InputError(f"members: a subset has at least two classes, got {members!r}.")
        return float(self.value[self.mask == sum(1 << k for k in wanted)][0])

    def members(self, at: int) -> tuple[int, ...]:
        """Positions of the classes in the subset at a position."""
        mask = int(self.mask[at])
        return tuple(k for k in range(mask.bit_length()) if mask >> k & 1)


def subset_c_avg(loglik: ArrayLike, label: ArrayLike, *, p_target: float = 0.5, classes: Names = None) -> SubsetCosts:
    """`c_avg` of every subset of two or more classes: its trials only, its columns only (thesis figure 8.3).

    Parameters
    ----------
    loglik : (n_trials, n_classes) array_like
        Log-likelihoods in nats, of 2 to 20 classes; only differences within a row matter. Infinite values are legal:
        classes of a subset that are all excluded are alike.
    label : (n_trials,) array_like
        True classes: positions from 0, or names if ``classes`` are given.
    p_target : float
        Prior of each target class, inside (0, 1). Every subset is a closed set: none of its classes is out of set.
    classes : sequence of str, optional
        Names of the columns.

    Returns
    -------
    SubsetCosts
        ``2^n - n - 1`` of them, 16,369 for 14 classes, where 10^5 trials take one to ten seconds, the more
        the harder they are.

    Raises
    ------
    InputError
        If there is NaN, a label is no class, a class has no trial, or there are more than 20 classes.

    Notes
    -----
    A likelihood that misses its threshold by less than 1e-14 of it is accepted, so that rounding breaks no ties.

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


def subset_c_avg_of(trials: ScoredClasses, p_target: float) -> SubsetCosts:
    """`subset_c_avg` of checked trials without weights."""
    n_classes = trials.n_classes
    if n_classes > MOST_CLASSES:
        raise InputError(
            f"loglik: {n_classes} classes have {float(2**n_classes):.1g} subsets; subset_c_avg takes at most "
            f"{MOST_CLASSES} classes. Leave columns and their trials out."
        )
    trials.require()
    return subset_costs_of(subset_counts_of(trials, p_target), trials.classes)


def subset_counts_of(trials: ScoredClasses, p_target: float) -> SubsetCounts:
    """Decisions about checked trials without weights in all subsets, which add up; a part may lack classes."""
    log_odds = _validate.single_log_odds(p_target, largest=300.0)
    return SubsetCounts.of(trials.loglik, [trials.rows(k) for k in range(trials.n_classes)], float(np.exp(log_odds)))


def subset_costs_of(counts: SubsetCounts, classes: tuple[str, ...] | None) -> SubsetCosts:
    """What these decisions about all trials cost."""
    mask = _masks(len(counts.totals))
    size = np.bitwise_count(mask).astype(np.int64)
    return SubsetCosts(counts.costs()[mask], mask, size, classes)


def _masks(n_classes: int) -> IntArray:
    """All subsets of at least two classes, small ones first, in the order of `itertools.combinations`."""
    mask = np.arange(1 << n_classes, dtype=np.int64)
    size = np.bitwise_count(mask)
    # Combinations of one size are in the order of their lowest classes: as binary numbers read from the other end.
    mirrored = np.zeros_like(mask)
    for k in range(n_classes):
        mirrored |= (mask >> k & 1) << (n_classes - 1 - k)
    return mask[np.lexsort((-mirrored, size))][n_classes + 1 :]
