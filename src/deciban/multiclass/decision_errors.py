"""Hard decisions among many classes: which one is chosen, which targets are accepted, and how often that is wrong."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln

from deciban._validate import arrays as _validate
from deciban._validate import classes as _validate_classes
from deciban._validate.probabilities import distributions
from deciban.core.classes.counts import accepted, accepted_open_set, chosen, non_target_priors
from deciban.core.classes.counts import confusion as _confusion
from deciban.core.ranks.operating import detection_cost
from deciban.errors import InputError
from deciban.multiclass.recalibration import calibration_analysis
from deciban.multiclass.tables import AnyDetectors, ScoredClasses
from deciban.types import BoolArray, CountArray, FloatArray, IntArray, Names, Priors, Weights


def error_rate(
    loglik: ArrayLike, label: ArrayLike, *, prior: Priors = None, sample_weight: Weights = None, classes: Names = None
) -> float:
    """Rate of wrong Bayes decisions with unit costs, each class averaged by itself.

    Parameters
    ----------
    loglik : (n_trials, n_classes) array_like
        Log-likelihoods in nats; only differences within a row matter. Infinite values are legal.
    label : (n_trials,) array_like
        True classes: positions from 0, or names if ``classes`` are given.
    prior : (n_classes,) array_like, optional
        Probabilities, flat when left out: of the decisions and of the average. Classes of prior 0 drop out.
    sample_weight : (n_trials,) array_like, optional
        Weight of each trial within its class, at least 0; whole numbers count like copies of the trial.
    classes : sequence of str, optional
        Names of the columns.

    Returns
    -------
    float
        ``sum_i prior_i P(decision is not i | i)``, a fraction. The decision is the class of greatest posterior
        probability, the first of them in a tie.

    Raises
    ------
    InputError
        If there is NaN, a label is no class, a class of positive prior has no trial, or the prior is not one.

    Notes
    -----
    Posteriors are compared exactly, without tolerance: at a flat prior the log-likelihoods as they are, of two classes
    their difference with the Bayes threshold, as in `deciban.metrics`. `deciban.decisions` compares sums of costs, and
    takes those that agree to 2^-46 for a tie; it decides alike at a flat prior, and can differ at others where a trial
    is that close to a tie.

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
    """Rate of wrong Bayes decisions with unit costs for every class; their prior-weighted mean is `error_rate`.

    Parameters
    ----------
    loglik : (n_trials, n_classes) array_like
        Log-likelihoods in nats; only differences within a row matter. Infinite values are legal.
    label : (n_trials,) array_like
        True classes: positions from 0, or names if ``classes`` are given.
    prior : (n_classes,) array_like, optional
        Probabilities that decisions are made with, flat when left out; a class of prior 0 is never chosen.
    sample_weight : (n_trials,) array_like, optional
        Weight of each trial within its class, at least 0; whole numbers count like copies of the trial.
    classes : sequence of str, optional
        Names of the columns.

    Returns
    -------
    (n_classes,) array
        Fractions; 0 for a class of prior 0 that has no trial.

    Raises
    ------
    InputError
        If there is NaN, a label is no class, a class of positive prior has no trial, or the prior is not one.

    Examples
    --------
    >>> class_error_rates([[2.0, 0.0], [0.0, 1.0], [0.5, 0.0]], [0, 1, 1])
    array([0. , 0.5])
    """
    trials = ScoredClasses.of_metric(loglik, label, sample_weight, classes)
    return rates_of(confusion_of(trials, trials.prior(prior)))


def confusion(
    loglik: ArrayLike, label: ArrayLike, *, prior: Priors = None, sample_weight: Weights = None, classes: Names = None
) -> CountArray:
    """Confusion matrix of Bayes decisions with unit costs.

    Parameters
    ----------
    loglik : (n_trials, n_classes) array_like
        Log-likelihoods in nats; only differences within a row matter. Infinite values are legal.
    label : (n_trials,) array_like
        True classes: positions from 0, or names if ``classes`` are given.
    prior : (n_classes,) array_like, optional
        Probabilities that decisions are made with, flat when left out; a class of prior 0 is never chosen.
    sample_weight : (n_trials,) array_like, optional
        Weight of each trial, at least 0; whole numbers count like copies of the trial.
    classes : sequence of str, optional
        Names of the columns.

    Returns
    -------
    (n_classes, n_classes) array
        Number of trials (or their weight) of the true class of the row that were taken for the class of the column.

    Raises
    ------
    InputError
        If there is NaN, a label is no class, a class of positive prior has no trial, or the prior is not one.

    Notes
    -----
    Posteriors are compared exactly, without tolerance: at a flat prior the log-likelihoods as they are, of two classes
    their difference with the Bayes threshold, as in `deciban.metrics`. `deciban.decisions` compares sums of costs, and
    takes those that agree to 2^-46 for a tie; it decides alike at a flat prior, and can differ at others where a trial
    is that close to a tie.

    Examples
    --------
    >>> confusion([[2.0, 0.0], [0.0, 1.0], [0.5, 0.0]], [0, 1, 1])
    array([[1, 0],
           [1, 1]])
    """
    trials = ScoredClasses.of_metric(loglik, label, sample_weight, classes)
    return confusion_of(trials, trials.prior(prior))


def confusion_of(trials: ScoredClasses, prior: FloatArray) -> CountArray:
    """`confusion` of checked trials; those of other trials can be added."""
    return _confusion(trials.label, chosen(trials.loglik, prior), trials.n_classes, trials.weights)


def rates_of(confusion: CountArray) -> FloatArray:
    """Rate of wrong decisions for every class; 0 for a class without trials."""
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
    """Average detection cost of the NIST language recognition evaluations (thesis eqs. 8.3, 8.10 and 8.28).

    Parameters
    ----------
    loglik : (n_trials, n_classes) array_like
        Log-likelihoods in nats; only differences within a row matter. Infinite values are legal.
    label : (n_trials,) array_like
        True classes: positions from 0, or names if ``classes`` are given.
    p_target : float or array_like
        Prior of each target class, inside (0, 1); the other classes share the rest evenly. As an array it gives the
        curve of thesis eq. 8.28.
    p_out_of_set : float, optional
        The last class is out of set: never a target, and with this prior. The other non-targets share
        ``1 - p_target - p_out_of_set``. LRE 2007 and 2009 had 0.2 in the open-set condition.
    normalize : bool
        Divide by the cost of the better of accepting and rejecting everything, ``min(p_target, 1 - p_target)``.
    sample_weight : (n_trials,) array_like, optional
        Weight of each trial within its class, at least 0; whole numbers count like copies of the trial.
    classes : sequence of str, optional
        Names of the columns.

    Returns
    -------
    float, or array of the shape of ``p_target``
        ``mean_t [p_target P_miss(t) + sum_{i != t} prior_i P_fa(t, i)]``: Bayes decisions on `detection_llr`, accepted
        at or above ``-ln(p_target / (1 - p_target))``. A fraction.

    Raises
    ------
    InputError
        If there is NaN, a label is no class, a class has no trial, or a prior is out of range.

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
        p_miss, p_fa = _closed(trials, log_odds.ravel())
    else:
        p_miss, p_fa = _open(trials, np.asarray(p_target, dtype=np.float64).ravel(), p_out_of_set)
    costs = mean_cost(p_miss, p_fa, log_odds, normalize=normalize)
    return costs.reshape(log_odds.shape) if log_odds.ndim else float(costs[0])


def _closed(trials: ScoredClasses, log_odds: FloatArray) -> tuple[FloatArray, FloatArray]:
    flat = np.full(trials.n_classes, 1.0 / trials.n_classes)
    counts = accepted(trials.loglik, trials.label, trials.weights, flat, -log_odds)
    others = (1.0 - np.eye(trials.n_classes)) / (trials.n_classes - 1)
    return error_rates(counts, trials.totals(), others)


def _open(trials: ScoredClasses, p_target: FloatArray, p_out_of_set: float) -> tuple[FloatArray, FloatArray]:
    """Here the rivals' shares depend on the target prior."""
    out_of_set = checked_out_of_set(p_out_of_set, p_target, trials.n_classes)
    counts = accepted_open_set(trials.loglik, trials.label, trials.weights, p_target, out_of_set)
    return _open_rates(counts, trials.totals(), p_target, out_of_set)


def _open_rates(
    counts: CountArray, totals: CountArray, p_target: FloatArray, p_out_of_set: float
) -> tuple[FloatArray, FloatArray]:
    n_classes = len(totals)
    priors = non_target_priors(p_target, p_out_of_set, n_classes)
    return error_rates(counts, totals, priors[:, None, :] * (1.0 - np.eye(n_classes - 1, n_classes)))


def checked_out_of_set(p_out_of_set: float, p_target: FloatArray, n_classes: int) -> float:
    """Check the prior of the class that is out of set, beside priors of a target.

    Raises
    ------
    InputError
        If there are too few classes, or nothing is left for the other non-targets.
    """
    if n_classes < 3:
        raise InputError("p_out_of_set: needs at least three classes, two targets and one out of set.")
    largest = float(p_target.max(initial=0.0))
    share = out_of_set_prior(p_out_of_set)
    if share >= 1.0 - largest:
        raise InputError(
            f"p_out_of_set: {share:.12g} and a target prior of {largest:.12g} leave nothing for the other non-targets; "
            f"target priors (p_target, --p-target) must be below {1.0 - share:.12g}."
        )
    return share


def out_of_set_prior(value: float) -> float:
    """Check that it is one prior, whatever the classes and the priors of a target."""
    return _validate.in_range(value, "p_out_of_set", 1e-12, float(np.nextafter(1.0, 0.0)), "It is above 0 and below 1")


def c_avg_of(detectors: AnyDetectors, log_odds: FloatArray) -> FloatArray:
    """`c_avg` of detectors of a closed set at a flat prior, for every prior of a target; not normalized."""
    n_classes, order, totals = len(detectors.prior), np.argsort(-log_odds), detectors.totals
    others = (1.0 - np.eye(n_classes)) / (n_classes - 1)
    p_miss, p_fa = np.empty((2, len(log_odds), n_classes))
    for k in range(n_classes):
        rates = error_rates(detectors.accepted_by(k, -log_odds[order]), totals, others[k], np.array([k]))
        p_miss[order, k : k + 1], p_fa[order, k : k + 1] = rates
    return mean_cost(p_miss, p_fa, log_odds)


def mean_cost(p_miss: FloatArray, p_fa: FloatArray, log_odds: FloatArray, *, normalize: bool = False) -> FloatArray:
    """Mean over targets of the detection costs of (n_priors, n_targets) error rates."""
    costs = detection_cost(p_miss, p_fa, log_odds.reshape(-1, 1), 1.0, 1.0, normalize=normalize)
    return np.asarray(costs.mean(axis=1))


def open_set_cost(counts: CountArray, totals: CountArray, p_target: FloatArray, p_out_of_set: float) -> FloatArray:
    """`c_avg` of an open set from accepted trials (n_priors, n_targets, n_classes), not normalized."""
    p_miss, p_fa = _open_rates(counts, totals, p_target, p_out_of_set)
    return mean_cost(p_miss, p_fa, _validate.prior_log_odds(p_target, None))


def error_rates(
    counts: CountArray, totals: CountArray, rivals: FloatArray, targets: IntArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """Miss and false-alarm rates of detectors.

    Parameters
    ----------
    counts : (n_thresholds, n_targets, n_classes) array
        Trials of every class that were accepted.
    totals : (n_classes,) array
        Trials of every class.
    rivals : (n_targets, n_classes) array, or one for each threshold
        Shares of the other classes in the false-alarm rate of a target; they sum to 1.
    targets : (n_targets,) int array, optional
        Which classes they are; the first ones when left out.

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
    """C_avg of accept and reject decisions however they were made, one for each trial and class (thesis 8.3).

    Parameters
    ----------
    accepted : (n_trials, n_classes) array_like
        Whether each trial was accepted as each class: booleans, or 0 and 1. Any number of classes may be accepted.
    label : (n_trials,) array_like
        True classes: positions from 0, or names if ``classes`` are given.
    p_target : float
        Prior of each target class, inside (0, 1); the other classes share the rest evenly.
    normalize : bool
        Divide by the cost of the better of accepting and rejecting everything, ``min(p_target, 1 - p_target)``.
    sample_weight : (n_trials,) array_like, optional
        Weight of each trial within its class, at least 0; whole numbers count like copies of the trial.
    classes : sequence of str, optional
        Names of the columns.

    Returns
    -------
    float
        A fraction, or a plain ratio if normalized. Of Bayes decisions it is `c_avg`.

    Raises
    ------
    InputError
        If a decision is neither true nor false, a label is no class, a class has no trial, or the prior is out of
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
    log_odds = _validate.single_log_odds(p_target, None, way="Ask for one after the other")
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
    """C_avg after the scale and offsets that are best for the cross-entropy of the same trials (thesis 8.24).

    Parameters
    ----------
    loglik : (n_trials, n_classes) array_like
        Log-likelihoods in nats; only differences within a row matter. Infinite values are legal.
    label : (n_trials,) array_like
        True classes: positions from 0, or names if ``classes`` are given.
    p_target, normalize, sample_weight, classes
        As of `c_avg`.

    Returns
    -------
    float, or array of the shape of ``p_target``
        What decisions of a calibrated recognizer would cost; not a minimum, as another map may serve C_avg better.

    Raises
    ------
    InputError
        As `c_avg`.

    Examples
    --------
    >>> loglik = [[9, 8, 0], [5, 6, 0], [6, 7, 4], [8, 7, 7], [0, 8, 7], [7, 5, 6], [5, 5, 9], [6, 9, 9]]
    >>> label = [0, 1, 0, 2, 2, 0, 2, 1]
    >>> round(c_avg(loglik, label), 4), round(recalibrated_c_avg(loglik, label), 4)
    (0.2917, 0.2222)
    """
    found = calibration_analysis(loglik, label, sample_weight=sample_weight, classes=classes)
    scores = _validate_classes.loglik(loglik)
    with np.errstate(over="ignore"):
        mapped = scores * found.scale if found.scale > 0.0 else np.zeros(scores.shape)
    return c_avg(
        mapped + found.offset,
        label,
        p_target=p_target,
        normalize=normalize,
        sample_weight=sample_weight,
        classes=classes,
    )


def error_rate_weighting(prior: ArrayLike) -> FloatArray:
    """How much the error rate at a prior weighs in the cross-entropy at the flat one (thesis D.1, figure D.1).

    Parameters
    ----------
    prior : (n, n_classes) array_like
        Priors of the classes, rows that sum to 1, all above 0.

    Returns
    -------
    (n,) array
        The density ``w`` over ``x_k = ln(prior_k / prior_N)``, ``k < N``, with which the integral of `error_rate` at
        that prior is `cross_entropy` at the flat prior in nats.

    Raises
    ------
    InputError
        If rows are no probabilities, or one is 0.

    Notes
    -----
    Decisions whose regions meet at ``eta`` are those of the prior that is proportional to ``1 / eta``, so thesis 8.13
    becomes an integral of error rates: with ``T = sum_k 1 / prior_k``,
    ``w = (N - 2)! / N * T^(1 - N) * prod_k 1 / prior_k``. Of two classes it is 1/2 everywhere: the area under the curve
    of error rates over log odds is twice the cross-entropy.

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
        raise InputError(f"prior: row {row} has a class of prior 0. Error rates are weighted at priors above 0.")
    n_classes = table.shape[1]
    log_total = np.log((1.0 / table).sum(axis=1))
    log_weight = gammaln(n_classes - 1) - np.log(n_classes) + (1 - n_classes) * log_total - np.log(table).sum(axis=1)
    return np.asarray(np.exp(log_weight))


def _decisions(values: ArrayLike) -> BoolArray:
    given = _validate.array(values, "accepted")
    if given.ndim != 2 or given.shape[1] < 2 or not len(given):
        raise InputError(f"accepted: shape {given.shape}. Give a row for each trial and a column for each class.")
    return _validate.truth(given.ravel(), given.size, "accepted").reshape(given.shape)
