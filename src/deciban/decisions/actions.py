"""Actions of least expected cost, for many trials at once (thesis 2.5, 2.8), and the Bayes threshold of two."""

from __future__ import annotations

import numpy as np

from deciban.core.classes.counts import chosen
from deciban.core.classes.loglik import relative
from deciban.core.ranks.operating import OperatingPoint
from deciban.types import FloatArray, IntArray, ScoreArray


def effective_prior(p_target: float, c_miss: float = 1.0, c_fa: float = 1.0) -> float:
    """Prior that with unit costs poses the same detection problem (BOSARIS paper eq. 10).

    Parameters
    ----------
    p_target : float
        Prior probability of a target, inside (0, 1).
    c_miss, c_fa : float
        Cost of a miss and of a false alarm, at least 0 and not both 0.

    Returns
    -------
    float
        ``p Cmiss / (p Cmiss + (1 - p) Cfa)``.

    Raises
    ------
    InputError
        If the prior or a cost is out of range.

    Examples
    --------
    >>> round(effective_prior(0.01, 10, 1), 5)
    0.09174
    """
    return OperatingPoint(p_target, c_miss, c_fa).effective_prior


def bayes_threshold(p_target: float, c_miss: float = 1.0, c_fa: float = 1.0) -> float:
    """Threshold at or above which a log-likelihood ratio is accepted (BOSARIS paper eq. 11).

    Parameters
    ----------
    p_target : float
        Prior probability of a target, inside (0, 1).
    c_miss, c_fa : float
        Cost of a miss and of a false alarm, at least 0 and not both 0.

    Returns
    -------
    float
        ``-logit`` of the `effective_prior`, in nats; infinite if a cost is 0.

    Raises
    ------
    InputError
        If the prior or a cost is out of range.

    Examples
    --------
    >>> round(bayes_threshold(0.01, 10, 1), 4)
    2.2925
    >>> bayes_threshold(0.5)
    0.0
    """
    return OperatingPoint(p_target, c_miss, c_fa).threshold + 0.0  # not -0.0


TIE = 2.0**-46
"""Expected costs that agree to this relative difference (1.4e-14) are equal.

What separates them is then the rounding of logarithms, exponentials and sums, which would decide a tie by chance.
`deciban.core.classes.counts.chosen`, which needs no sums, compares exactly: see `deciban.multiclass.error_rate`.
"""

_SMALL = 1e-280
"""Expected costs below this may have lost what underflowed, and are computed again."""

_LARGEST = 700.0
"""Exponents beyond this would overflow."""

_ONE_THREAD = 1 << 18
"""Multiplications up to which a matrix product is left to one thread: waking others takes longer than the product."""


def least_cost_actions(loglik: ScoreArray, costs: FloatArray, prior: FloatArray) -> IntArray:
    """Return for each trial the lowest index among the actions of least expected cost.

    Parameters
    ----------
    loglik : (n_trials, n_classes) array
        Log-likelihoods in nats, checked; what infinite ones mean is said in `deciban.core.classes.loglik`.
    costs : (n_actions, n_classes) array
        Finite and at least 0.
    prior : (n_classes,) array
        Classes of prior 0 play no part, whatever their log-likelihoods.
    """
    possible = np.flatnonzero(prior > 0)
    # Without the cost that no action avoids, a small difference cannot drown in it; scaled, nothing underflows.
    avoidable = (costs - costs.min(axis=0))[:, possible]
    avoidable /= avoidable.max() or 1.0
    avoidable *= prior[possible]
    if len(possible) == len(prior) and _all_errors_alike(avoidable):
        return chosen(loglik, np.ones(len(prior)))  # comparisons of the scores themselves: nothing is rounded
    columns = None if len(possible) == len(prior) else possible
    actions = np.empty(len(loglik), dtype=np.int64)
    step = max(_ONE_THREAD // costs.size, 1 << 8)
    for start in range(0, len(loglik), step):
        rows = slice(start, start + step)
        likelihood = relative(loglik, rows, columns)
        with np.errstate(under="ignore"):
            expected = avoidable @ np.exp(likelihood, out=likelihood)
            least = expected.min(axis=0)
            if (small := np.flatnonzero(least < _SMALL)).size:
                expected[:, small] = _scaled(avoidable, relative(loglik, small + start, columns))
                least = expected.min(axis=0)
            least *= 1.0 + TIE
        actions[rows] = (expected <= least).argmax(axis=0)  # the first that is true
    return actions


def _scaled(avoidable: FloatArray, likelihood: FloatArray) -> FloatArray:
    """Expected costs (n_actions, n) of trials, each in a unit in which the least that is not 0 is about 1.

    ``likelihood`` (n_classes, n) is relative; it is overwritten.
    """
    with np.errstate(divide="ignore"):
        size = (np.log(avoidable)[:, :, None] + likelihood).max(axis=1)  # of the largest term of each action
    least = np.min(size, axis=0, where=size > -np.inf, initial=np.inf)
    likelihood -= np.where(least < np.inf, least, 0.0)
    return np.asarray(avoidable @ np.exp(np.minimum(likelihood, _LARGEST, out=likelihood), out=likelihood))


def _all_errors_alike(weighted: FloatArray) -> bool:
    """Whether action ``i`` recognizes class ``i``, and all errors weigh the same."""
    n_actions, n_classes = weighted.shape
    weight = weighted[-1, 0]
    return n_actions == n_classes and bool(weight > 0) and np.array_equal(weighted, weight * (1.0 - np.eye(n_classes)))
