"""Monitoring of scores without labels: drift, estimated prior, and expected cost if the scores are calibrated."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logit

from deciban._validate import arrays as _validate
from deciban.core.ranks.operating import PointLike, as_operating_point
from deciban.errors import InputError, warn
from deciban.types import FloatArray


@dataclass(frozen=True, slots=True)
class Drift:
    """Difference between the scores of two periods.

    Attributes
    ----------
    stability : float
        Population stability index: the sum over bins of ``(q - p) ln(q / p)``, with the shares of new scores ``q`` and
        reference scores ``p``. By a rule of thumb, values above 0.25 are large. Without any drift, it is about
        ``(bins - 1) (1 / n_reference + 1 / n_new)`` on average: 0.9 for 10 reference scores and 10 bins.
    distance : float
        Largest difference of the distribution functions (Kolmogorov-Smirnov).
    p_value : float
        Of the Kolmogorov-Smirnov test, if scores are independent. Of a million scores, irrelevant differences are
        significant.
    """

    stability: float
    distance: float
    p_value: float


def drift(reference: ArrayLike, scores: ArrayLike, *, bins: int = 10) -> Drift:
    """Compare the distribution of new scores with reference scores, such as the training scores.

    A new proportion of targets is also a drift, but changes no error rate: see `estimate_prior`.

    Parameters
    ----------
    reference, scores : (n,) array_like
        Scores of all trials, without labels.
    bins : int
        Number of bins of the stability index, which have equal numbers of reference scores.

    Returns
    -------
    Drift

    Raises
    ------
    InputError
        If there are no scores, a score is NaN, or bins are invalid.

    Examples
    --------
    >>> found = drift([0.0, 1.0, 2.0, 3.0], [2.0, 3.0, 2.5, 3.5], bins=2)
    >>> round(found.stability, 3), found.distance
    (0.879, 0.5)
    """
    from scipy.stats import ks_2samp  # slow to import

    old, new = (_scores(one, name) for one, name in ((reference, "reference"), (scores, "scores")))
    bins = _validate.whole(bins, "bins", 2, 1000, "It is a number of bins from 2 to 1000")
    borders = np.unique(np.quantile(old, np.arange(1, bins) / bins, method="inverted_cdf"))
    counts = [np.bincount(np.searchsorted(borders, one, "left"), minlength=len(borders) + 1) for one in (old, new)]
    p, q = ((one + 0.5) / (one.sum() + 0.5 * len(one)) for one in counts)  # half a score, so that no share is 0
    test = ks_2samp(old, new)
    return Drift(float(np.sum((q - p) * np.log(q / p))), float(test.statistic), float(test.pvalue))


def estimate_prior(llr: ArrayLike) -> float:
    """Return the proportion of targets among unlabelled trials with the highest likelihood (Saerens and others, 2002).

    Parameters
    ----------
    llr : (n,) array_like
        Calibrated log-likelihood ratios in nats. If their calibration is wrong, so is the proportion.

    Returns
    -------
    float
        The fixed point of the EM algorithm: the mean posterior at this prior is the prior. 0 or 1 if the likelihood has
        its maximum there.

    Raises
    ------
    InputError
        If there are no llrs, one is NaN, or all are 0.

    Warns
    -----
    DecibanWarning
        If the llrs are too few or too close to 0 to exclude any proportion: the likelihood ratio to both 0 and 1 is
        below the 95 % limit of its chi-square distribution.

    References
    ----------
    M. Saerens, P. Latinne, C. Decaestecker, Adjusting the outputs of a classifier to new a priori probabilities: a
    simple procedure, Neural Computation 14, 2002.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> llr = np.append(rng.normal(2, 2, 2000), rng.normal(-2, 2, 8000))  # calibrated: 20 % targets
    >>> round(estimate_prior(llr), 1)
    0.2
    """
    table = _scores(llr, "llr")
    if not table.any():
        raise InputError("llr: all are 0, so every proportion of targets is equally likely.")
    found = _likeliest(table)
    known = [0.0, -np.inf if np.isneginf(table).any() else float(table.sum())]  # log-likelihoods of proportions 0 and 1
    if 0.0 < found < 1.0:
        known.append(float(np.logaddexp(np.log1p(-found), np.log(found) + table).sum()))
    if max(known) - min(known[:2]) < _HALF_CHI_SQUARE:
        warn("llr: too few or too close to 0 for an estimate: every proportion of targets from 0 to 1 is plausible.")
    return found


_HALF_CHI_SQUARE = 1.92
"""Half of the 95 % quantile of the chi-square distribution with one degree of freedom."""


def _likeliest(table: FloatArray) -> float:
    """Return the proportion with the highest likelihood."""
    with np.errstate(over="ignore"):  # the derivatives of the likelihood at 0 and at 1
        if np.expm1(table).mean() <= 0.0:
            return 0.0
        if np.expm1(-table).mean() <= 0.0:
            return 1.0
    low, high = 0.0, 1.0
    for _ in range(_STEPS):
        middle = 0.5 * (low + high)
        is_low = expit(table + logit(middle)).mean() > middle
        low, high = (middle, high) if is_low else (low, middle)
    return 0.5 * (low + high)


_STEPS = 50
"""Number of bisections; the likelihood is concave in the proportion."""


def expected_cost(llr: ArrayLike, point: PointLike, *, prior: float | None = None) -> float:
    """Return the expected normalized cost of Bayes decisions about unlabelled trials, if the llrs are calibrated.

    Parameters
    ----------
    llr : (n,) array_like
        Log-likelihood ratios in nats.
    point : OperatingPoint, float or tuple
        Prior and costs of the decisions.
    prior : float, optional
        Proportion of targets among these trials; by default the prior of the point. See `estimate_prior`.

    Returns
    -------
    float
        In units of the better of both decisions without scores. It cannot reveal bad calibration: overconfident scores
        have a small expected cost. Compare it with the actual cost of labelled trials.

    Raises
    ------
    InputError
        If there are no llrs, one is NaN, or the point or the prior are invalid.

    Examples
    --------
    >>> round(expected_cost([2.0, -2.0, -3.0, -4.0], 0.25), 3)
    0.354
    """
    table, at = _scores(llr, "llr"), as_operating_point(point)
    share = at.p_target if prior is None else _validate.fraction(prior, "prior", "It must be inside (0, 1)")
    posterior = expit(table + logit(share))
    is_accepted = table >= -logit(at.effective_prior)
    cost = np.where(is_accepted, at.c_fa * (1.0 - posterior), at.c_miss * posterior)
    return float(cost.mean() / min(at.c_miss * share, at.c_fa * (1.0 - share)))


def _scores(values: ArrayLike, name: str) -> FloatArray:
    return np.asarray(_validate.scores(values, name), np.float64)
