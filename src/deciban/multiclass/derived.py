"""Other forms of the same information: posteriors, detection and pairwise log-likelihood ratios, and the way back."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from deciban._validate import classes as _validate_classes
from deciban._validate.classes import Class
from deciban.core.classes import loglik as kernels
from deciban.core.rules.proper import softplus
from deciban.errors import InputError
from deciban.multiclass.tables import ScoredClasses
from deciban.types import FloatArray, Names, Priors


def posterior(loglik: ArrayLike, *, prior: Priors = None) -> FloatArray:
    """Posterior probabilities of the classes (paper 001 eq. 4).

    Parameters
    ----------
    loglik : (n_trials, n_classes) array_like
        Log-likelihoods in nats. Classes with ``+inf`` share everything as the prior says, those with ``-inf`` get
        nothing (unless only such classes are possible by the prior: then the posterior is the prior).
    prior : (n_classes,) array_like, optional
        Probabilities, flat when left out.

    Returns
    -------
    (n_trials, n_classes) array
        Rows sum to 1.

    Raises
    ------
    InputError
        If there is NaN, a trial excludes every class, or the prior is not one.

    Examples
    --------
    >>> posterior([[0.0, 0.0], [1000.0, 0.0]], prior=[0.25, 0.75])
    array([[0.25, 0.75],
           [1.  , 0.  ]])
    """
    matrix = _validate_classes.loglik(loglik)
    checked = _validate_classes.prior(prior, matrix.shape[1])
    columns = np.flatnonzero(checked > 0)
    ratio = kernels.prior_ratio(checked[columns])
    result = np.zeros(matrix.shape)
    for rows in kernels.row_blocks(*matrix.shape):
        result[rows, columns] = kernels.posterior(kernels.relative(matrix, rows, columns), ratio).T
    return result


def detection_llr(loglik: ArrayLike, *, target: Class, prior: Priors = None, classes: Names = None) -> FloatArray:
    """Log-likelihood ratio of one class against the rest (paper 001 eq. 9).

    Parameters
    ----------
    loglik : (n_trials, n_classes) array_like
        Log-likelihoods in nats; only differences within a row matter. Infinite values are legal.
    target : int or str
        Position of the class, or its name if ``classes`` are given.
    prior : (n_classes,) array_like, optional
        Flat when left out. Only how likely the other classes are, relative to each other, matters.
    classes : sequence of str, optional
        Names of the columns.

    Returns
    -------
    (n_trials,) array
        ``-ln sum_{i != t} prior_i / (1 - prior_t) exp(lam_i - lam_t)`` in nats; for two classes the difference of
        their log-likelihoods.

    Raises
    ------
    InputError
        If there is NaN, a trial excludes every class, the prior is not one, or the target is no class or has prior 0.

    Examples
    --------
    >>> detection_llr([[1.0, 0.0, 0.0], [0.0, 2.0, -1.0]], target=0).round(4)
    array([ 1.    , -1.3554])
    """
    matrix = _validate_classes.loglik(loglik)
    names = _validate_classes.names(classes, matrix.shape[1])
    place = _validate_classes.class_index(target, matrix.shape[1], names, "target")
    checked = _validate_classes.prior(prior, matrix.shape[1])
    if checked[place] == 0:
        raise InputError(f"target: {_validate_classes.called(place, names)} has prior 0.")
    return ScoredClasses(matrix, np.zeros(len(matrix), np.int64), None, names).detection_llr(
        np.arange(len(matrix)), place, checked
    )


def detection_llrs(loglik: ArrayLike, *, prior: Priors = None) -> FloatArray:
    """`detection_llr` of every class; at the flat prior the inverse of `project_detection_llr`.

    Parameters
    ----------
    loglik : (n_trials, n_classes) array_like
        Log-likelihoods in nats; only differences within a row matter. Infinite values are legal.
    prior : (n_classes,) array_like, optional
        Flat when left out; no entry is 0.

    Returns
    -------
    (n_trials, n_classes) array
        In nats; ``+inf`` for a class that is the only one possible.

    Raises
    ------
    InputError
        If there is NaN, a trial excludes every class, or the prior is not one or has an entry of 0.

    Examples
    --------
    >>> detection_llrs([[1.0, 0.0, 0.0]]).round(4)
    array([[ 1.    , -0.6201, -0.6201]])
    """
    matrix = _validate_classes.loglik(loglik)
    checked = _validate_classes.prior(prior, matrix.shape[1])
    if not checked.all():
        raise InputError(
            f"prior: class {int(np.argmin(checked))} has prior 0 and cannot be detected. Leave its column out."
        )
    ratio = kernels.prior_ratio(checked)
    result = np.empty(matrix.shape)
    for rows in kernels.row_blocks(*matrix.shape):
        result[rows] = kernels.detection_llrs(kernels.relative(matrix, rows), ratio).T
    return result


def project_detection_llr(detection_llr: ArrayLike) -> FloatArray:
    """Turn detection log-likelihood ratios of all classes into log-likelihoods (slides part II, "projection").

    Parameters
    ----------
    detection_llr : (n_trials, n_classes) array_like
        For each class its log-likelihood ratio against the rest, in nats, at the flat prior. Infinite values are
        legal.

    Returns
    -------
    (n_trials, n_classes) array
        ``ln sigma(s_k - ln(n_classes - 1))``: logarithms of the posteriors at the flat prior if the ratios come from
        one recognizer. Then `detection_llrs` gives them back.

    Raises
    ------
    InputError
        If there is NaN, or a trial excludes every class.

    Examples
    --------
    >>> project_detection_llr(detection_llrs([[1.0, 0.0, 0.0]])).round(4)
    array([[-0.5514, -1.5514, -1.5514]])
    """
    matrix = _validate_classes.loglik(detection_llr, "detection_llr")
    log_rivals = np.log(matrix.shape[1] - 1)
    result = np.empty(matrix.shape)
    for rows in kernels.row_blocks(*matrix.shape):
        result[rows] = -softplus(log_rivals - matrix[rows].astype(np.float64))
    return result


def pairwise_llr(loglik: ArrayLike, i: Class, j: Class, *, classes: Names = None) -> FloatArray:
    """Log-likelihood ratio of class ``i`` against class ``j`` (paper 001 section 2.4.1).

    Parameters
    ----------
    loglik : (n_trials, n_classes) array_like
        Log-likelihoods in nats; only differences within a row matter. Infinite values are legal.
    i, j : int or str
        Positions of the classes, or their names if ``classes`` are given.
    classes : sequence of str, optional
        Names of the columns.

    Returns
    -------
    (n_trials,) array
        ``lam_i - lam_j`` in nats; 0 where both are the same infinity.

    Raises
    ------
    InputError
        If there is NaN, a trial excludes every class, or one of the two is no class.

    Examples
    --------
    >>> pairwise_llr([[1.0, 0.0, 0.5], [0.0, 2.0, -1.0]], 0, 2)
    array([0.5, 1. ])
    """
    matrix = _validate_classes.loglik(loglik)
    names = _validate_classes.names(classes, matrix.shape[1])
    one, other = (
        matrix[:, _validate_classes.class_index(k, matrix.shape[1], names, name)].astype(np.float64)
        for k, name in ((i, "i"), (j, "j"))
    )
    return kernels.difference(one, other)
