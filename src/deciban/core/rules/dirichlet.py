"""Scoring rules of many classes that weight the decisions of thesis 8.12 with a Dirichlet density.

The cost function ``C_eta`` punishes missing class ``i`` with ``1 / ((N-1) eta_i)``; its Bayes decision from a posterior
``q`` is the class of the greatest ``q_j / eta_j``. Weighted with the density ``Dir(eta; a)``, ``A = sum a``, a trial of
class ``i`` costs the mean of ``1 / eta_i`` over all ``eta`` for which another class is chosen, over ``N - 1``.

A Dirichlet vector is a vector of independent gamma variables ``g_j`` of shapes ``a_j`` divided by their sum, which is
independent of it and has ``E[1 / sum] = 1 / (A - 1)``. Class ``i`` is missed if some ``g_j < r_j g_i``, where ``r_j =
q_j / q_i``. With ``Q`` the upper regularized incomplete gamma function one integral is left::

    C(q | i) = (A - 1) / (N - 1) * int_0^inf  g^(a_i - 2) exp(-g) / Gamma(a_i) * F(g) dg
    F(g) = 1 - prod over j != i of Q(a_j, r_j g)

If all other ``a_j`` are 1 the product is ``exp(-g sum r_j)`` and, as ``1 + sum r_j = 1 / q_i``::

    C(q | i) = (A - 1) / (N - 1) * (1 - q_i^(a_i - 1)) / (a_i - 1),  the logarithm -ln q_i for a_i = 1

which proves thesis 8.13 for all ``a = 1``. Where ``g`` is small ``F`` falls as ``g^a_j``: the integral is finite if
``a_i + a_j > 1`` for all other ``j``. With three or more classes all costs are infinite otherwise; with two the rule
exists for all parameters, and is the beta family of `deciban.core.rules.proper`. Classes of posterior 0 have
``r_j = 0`` and play no part in the integral.

The integral over ``u = ln g`` is summed by the trapezoidal rule after ``u = v - exp(-v)``, which makes the integrand
fall doubly exponentially on both sides (Takahasi and Mori 1974): the error squares when the step is halved. Nothing
here checks its arguments or raises.
"""

from __future__ import annotations

import numpy as np
from scipy import special

from deciban.core.rules.proper import softplus
from deciban.types import FloatArray

_DEPTH = 40.0
"""Integrands are followed down to exp(-40) of their height."""

_AGREEMENT = 1e-7
"""Relative difference of two sums, one with half the step of the other, whose better one is good to 1e-13 or so."""

_MOST_HALVINGS = 8

_LARGEST = 700.0
"""Exponents are cut off here: where they are larger, what they multiply is 0, or so small that it does not matter."""

_CELLS = 1 << 15
"""Numbers per step: every temporary stays in cache."""


def dirichlet_cost(log_ratio: FloatArray, own: float, others: FloatArray, scale: float) -> FloatArray:
    """Return the cost of each trial of one class.

    Parameters
    ----------
    log_ratio : (n_classes - 1, n_trials) array
        ``ln(q_j / q_i)`` of the other classes; -inf where they are excluded, +inf where their own class is.
    own : float
        ``a_i`` of the class, from 0.05 to 100.
    others : (n_classes - 1,) array
        ``a_j`` of the others; each together with ``own`` at least 1.1.
    scale : float
        ``(A - 1) / (N - 1)``, of all classes, also of those that are left out of ``others``.

    Returns
    -------
    (n_trials,) array
        Relative error below 1e-12 (larger for costs below 1e-200). At ``q_i = 0`` the limit: ``scale / (own - 1)`` if
        ``own > 1``, else ``inf``; ``inf`` also where it is beyond float64.
    """
    nearest = log_ratio.max(axis=0)
    cost = np.zeros(log_ratio.shape[1])
    lost = nearest == np.inf
    cost[lost] = 1.0 / (own - 1.0) if own > 1.0 else np.inf
    rest = np.flatnonzero(~lost & (nearest > -np.inf))
    if len(rest):
        ratio = log_ratio[:, rest]
        if np.all(others == 1.0):
            with np.errstate(under="ignore"):
                others_together = nearest[rest] + np.log(np.exp(ratio - nearest[rest]).sum(axis=0))
            cost[rest] = _power_cost(others_together, own)
        else:
            cost[rest] = _integrals(ratio, own, others)
    with np.errstate(over="ignore"):
        cost *= scale
    return cost


def _power_cost(x: FloatArray, own: float) -> FloatArray:
    """Return ``(1 - q^(own - 1)) / (own - 1)`` for ``q = sigma(-x)``: the integral for one rival of ``a = 1``."""
    surprise = softplus(x)
    if own == 1.0:
        return surprise
    with np.errstate(over="ignore", under="ignore"):
        return np.asarray(np.expm1((1.0 - own) * surprise) / (1.0 - own))


def _integrals(log_ratio: FloatArray, own: float, others: FloatArray) -> FloatArray:
    """Return the integral of the module's docstring for each trial."""
    rise = (log_ratio - np.log(np.maximum(others, 1.0))[:, None]).max(axis=0)
    shift = np.maximum(rise, 0.0)
    # Where F is near 1 from exp(-shift) on, which may be far, that of a rival of a = 1 is taken off, and its integral,
    # which is known, added. A factor exp(max(1 - own, 0) shift), which may be beyond float64, is left for the end.
    with np.errstate(over="ignore", under="ignore"):
        known = np.where(rise > 0.0, _scaled_power_cost(shift, own), 0.0)
        remainder = _remainders(log_ratio, shift, known, own, others)
        return np.asarray(np.exp(max(1.0 - own, 0.0) * shift) * (known + remainder))


def _remainders(
    log_ratio: FloatArray, shift: FloatArray, known: FloatArray, own: float, others: FloatArray
) -> FloatArray:
    """Return what is left to integrate; halves the step until two sums agree, relative to all of the integral."""
    left = -np.log(_DEPTH / min(own - 1.0 + others.min(), own, 1.0))
    largest = own + others.max()  # where class i is almost certain, g ~ Gamma(a_i + a_j) is what is integrated
    right = np.log(largest + 10.0 * np.sqrt(largest) + _DEPTH)
    step = min(0.5, 2.0 / np.sqrt(max(own, others.max())))
    total: FloatArray = _sums(log_ratio, shift, own, others, np.arange(left, right + step, step)) * step
    pending = np.arange(len(total))
    for _ in range(_MOST_HALVINGS):
        between = np.arange(left + 0.5 * step, right + step, step)
        before = total[pending]
        total[pending] += _sums(log_ratio[:, pending], shift[pending], own, others, between) * step
        total[pending] *= 0.5
        step *= 0.5
        change = np.abs(total[pending] - before)
        pending = pending[change > _AGREEMENT * np.abs(known[pending] + total[pending])]
        if len(pending) == 0:
            break
    return total


def _scaled_power_cost(x: FloatArray, own: float) -> FloatArray:
    """Return `_power_cost` times ``exp(-max(1 - own, 0) x)``, which is finite for all ``x >= 0``."""
    if own >= 1.0:
        return _power_cost(x, own)
    surprise, power = softplus(x), 1.0 - own
    return np.asarray(-np.exp(power * softplus(-x)) * np.expm1(-power * surprise) / power)


def _sums(log_ratio: FloatArray, shift: FloatArray, own: float, others: FloatArray, nodes: FloatArray) -> FloatArray:
    """Return for each trial the sum of the integrand over the nodes ``v``."""
    stretch = np.exp(-nodes)
    s = nodes - stretch
    log_jacobian = np.log1p(stretch) - special.gammaln(own)
    total = np.empty(len(shift))
    step = max(_CELLS // len(nodes), 1)
    with np.errstate(over="ignore", under="ignore"):
        for first in range(0, len(shift), step):
            part = slice(first, first + step)
            u = s - shift[part, None]
            hazard = np.zeros(u.shape)
            for row, shape in zip(log_ratio, others.tolist(), strict=True):
                hazard += _cumulative_hazard(np.exp(s + (row[part] - shift[part])[:, None]), shape)
            missed = -np.expm1(-hazard)
            missed += np.where(shift[part, None] > 0.0, np.expm1(-np.exp(s)), 0.0)
            power = (own - 1.0) * (s if own < 1.0 else u) + log_jacobian - np.exp(u)
            total[part] = (np.exp(np.minimum(power, _LARGEST)) * missed).sum(axis=1)
    return total


def _cumulative_hazard(x: FloatArray, shape: float) -> FloatArray:
    """Return ``-ln Q(shape, x)`` for a gamma variable; ``inf`` where ``Q`` underflows."""
    if shape == 1.0:
        return x
    below = special.gammainc(shape, x)
    hazard = -np.log1p(-np.minimum(below, 0.5))
    large = below > 0.5
    with np.errstate(divide="ignore"):
        hazard[large] = -np.log(special.gammaincc(shape, x[large]))
    return hazard
