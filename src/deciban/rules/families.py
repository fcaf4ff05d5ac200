"""Families of proper scoring rules: logarithmic, quadratic, beta, Dirichlet, weighted thresholds, decision costs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import ArrayLike
from scipy.special import expit, logit, xlog1py, xlogy

from deciban._validate import arrays as _validate
from deciban.core.expected import softplus
from deciban.core.logliks import complements, sums_of_others
from deciban.core.proper import NODE_WEIGHTS, NODES, beta_cost_non, beta_cost_tar, log_beta
from deciban.core.ranks.roc import OperatingPoint
from deciban.decisions.application import Application, least_cost_actions
from deciban.errors import InputError
from deciban.multiclass.recalibration import dirichlet_rule, eta_rule
from deciban.rules.scoring import Mixture, ScoringRule
from deciban.types import BoolArray, FloatArray, FloatPair, IntArray, Weights

_REACH = 20.0
"""Range of log odds in which a density is sampled: beyond it, 1 - eta has less than eight digits."""

_DEGREE = 16
_WIDTH, _NARROWEST = 0.25, 2.0**-40
"""Initial width of panels, and smallest width, next to a jump of the density."""

_MOST_PANELS = 16_384
_STEEPEST = 32.0
"""Largest ratio of a density on a panel: the values at its low end keep their digits."""

_PRECISION, _NOTHING = 1e-12, 1e-290

_X = chebyshev.chebpts1(_DEGREE + 1)
_TO_COEFFICIENTS = np.linalg.inv(chebyshev.chebvander(_X, _DEGREE))


@dataclass(frozen=True, slots=True)
class Panels:
    """Consecutive intervals of log odds, and a density at the Chebyshev nodes of each interval.

    Attributes
    ----------
    ends : (n_panels + 1,) array
        From `-_REACH` to `_REACH`.
    values : (n_panels, n_nodes) array
    """

    ends: FloatArray
    values: FloatArray

    @classmethod
    def of(cls, function: Callable[[FloatArray], ArrayLike]) -> Panels:
        """Halve panels until polynomials approximate the density of thresholds to about twelve digits.

        Raises
        ------
        InputError
            If the function returns a wrong number of densities, or a density is negative or not finite.

        Examples
        --------
        >>> smooth, jump = Panels.of(np.ones_like), Panels.of(lambda eta: 1.0 * (eta > 0.3))
        >>> len(smooth.values), float(np.diff(jump.ends).min()) < 1e-11
        (160, True)
        """
        n = round(2 * _REACH / _WIDTH)
        low, width = np.linspace(-_REACH, _REACH, n + 1)[:-1], np.full(n, _WIDTH)
        done: list[FloatPair] = []
        n_done = 0
        while len(low):
            values = _sampled(function, _nodes(low, width))
            is_last = (width <= _NARROWEST) | (n_done + 2 * len(low) > _MOST_PANELS)
            held = is_last | _is_held(values, low, width)
            done.append((low[held], values[held]))
            n_done += int(held.sum())
            half = width[~held] / 2
            low, width = np.concatenate((low[~held], low[~held] + half)), np.tile(half, 2)
        starts, result = (np.concatenate([one[k] for one in done]) for k in (0, 1))
        order = np.argsort(starts)
        return cls(np.append(starts[order], _REACH), result[order])

    @property
    def table(self) -> FloatPair:
        """Return all distinct thresholds in double precision, ascending, and their densities."""
        eta, first = np.unique(expit(_nodes(self.ends[:-1], np.diff(self.ends))), return_index=True)
        return eta, self.values.ravel()[first]

    @property
    def mass(self) -> float:
        """Integral of the density over thresholds from 0 to 1."""
        eta = expit(_nodes(self.ends[:-1], np.diff(self.ends)))
        whole = SmoothIntegral(Panels(self.ends, self.values * eta)).above(np.zeros(1), np.ones(1))
        return float(whole[0])

    def mirrored(self) -> Panels:
        """Return the density of 1 minus the threshold."""
        return Panels(-self.ends[::-1], self.values[::-1, ::-1])


class SmoothIntegral:
    """``int_q^1 density(h) / h dh`` of a density on panels; beyond them it continues as a power of h or of 1 - h.

    Parameters
    ----------
    panels : Panels

    Examples
    --------
    >>> whole = SmoothIntegral(Panels.of(np.ones_like)).above(np.array([0.25]), np.array([0.75]))
    >>> round(float(whole[0]), 10)  # log(4)
    1.3862943611
    """

    def __init__(self, panels: Panels) -> None:
        self._ends, width = panels.ends, np.diff(panels.ends)
        other = expit(-_nodes(panels.ends[:-1], width))  # 1 - h: dh / h is (1 - h) du of log odds u
        self._integrals = _integrals(panels.values * other, width)
        first, last = _Tail.of(panels.mirrored()), _Tail.of(panels)
        self._first, self._last = first, last
        whole = _evaluated(self._integrals, np.ones(len(width)))
        beyond = last.integral(0.0, np.inf, 1.0) * np.exp(-_REACH)
        self._beyond = np.append(np.cumsum(whole[::-1])[::-1], 0.0) + beyond

    def above(self, q: FloatArray, rest: FloatArray) -> FloatArray:
        """Return the integral from each q to 1; ``rest`` is 1 minus q."""
        with np.errstate(divide="ignore"):
            u = np.log(q) - np.log(rest)
        inside = np.clip(u, -_REACH, _REACH)
        k = np.clip(np.searchsorted(self._ends, inside, side="right") - 1, 0, len(self._ends) - 2)
        # From the high end of a panel down: the remaining integral is small there, and keeps its digits.
        x = np.clip(2 * (self._ends[k + 1] - inside) / (self._ends[k + 1] - self._ends[k]) - 1, -1.0, 1.0)
        result = _evaluated(self._integrals[k], x) + self._beyond[k + 1]
        low, high = u < -_REACH, u > _REACH
        result[low] += self._first.integral(0.0, -u[low] - _REACH, 0.0)
        result[high] = self._last.integral(u[high] - _REACH, np.inf, 1.0) * np.exp(-_REACH)
        return np.asarray(result)


@dataclass(frozen=True, slots=True)
class _Tail:
    """A density beyond the last panel: ``value * exp(-power * v)`` at distance v in nats."""

    value: float
    power: float

    @classmethod
    def of(cls, panels: Panels) -> _Tail:
        """Compute from the last nat of log odds."""
        middle = np.searchsorted(panels.ends, _REACH - 1.0) - 1
        nodes = _nodes(panels.ends[:-1], np.diff(panels.ends))
        u = nodes[middle, 0], nodes[-1, -1]
        one, other = panels.values[middle, 0], panels.values[-1, -1]
        if one < _NOTHING or other < _NOTHING:
            return cls(0.0, 0.0)
        power = float(np.log(one / other) / (u[1] - u[0]))
        return cls(float(other * np.exp(-power * (_REACH - u[1]))), power)

    def integral(self, low: ArrayLike, high: ArrayLike, more: float) -> FloatArray:
        """Return the integral of the density times ``exp(-more * v)`` from low to high."""
        first, last, rate = np.asarray(low, np.float64), np.asarray(high, np.float64), self.power + more
        if self.value == 0.0:
            return np.zeros(np.broadcast(first, last).shape)
        with np.errstate(over="ignore", invalid="ignore"):
            if abs(rate) < 1e-12:
                return self.value * (last - first)
            return np.where(
                last > first, self.value * np.exp(-rate * first) * -np.expm1(-rate * (last - first)) / rate, 0
            )


def _nodes(low: FloatArray, width: FloatArray) -> FloatArray:
    """Return the Chebyshev nodes of panels, one row for each."""
    return low[:, None] + width[:, None] * (0.5 * _X + 0.5)


def _sampled(function: Callable[[FloatArray], ArrayLike], log_odds: FloatArray) -> FloatArray:
    at = expit(log_odds.ravel())
    result = _validate.finite(function(at), "function")
    if result.shape != at.shape or (result < 0).any():
        raise InputError(
            f"function: expected {len(at)} densities of at least 0 for as many thresholds, got shape {result.shape}"
            f"{' with negative ones' if (result < 0).any() else ''}."
        )
    return result.reshape(log_odds.shape)


def _is_held(values: FloatArray, low: FloatArray, width: FloatArray) -> BoolArray:
    """Return True for panels with an accurate polynomial, up to the rounding of thresholds near 1."""
    least, most = values.min(axis=1), values.max(axis=1)
    rest = np.abs(values @ _TO_COEFFICIENTS[-2:].T).max(axis=1)
    with np.errstate(divide="ignore", over="ignore"):
        slope = np.clip(np.log(most / np.maximum(least, _NOTHING)) / width, 0.0, 1e3)
    rounding = np.finfo(np.float64).eps * np.exp(low + width) * (1.0 + slope)
    is_even = most <= _STEEPEST * least
    return cast("BoolArray", (most < _NOTHING) | (is_even & (rest <= (_PRECISION + rounding) * most)))


def _integrals(values: FloatArray, width: FloatArray) -> FloatArray:
    """Chebyshev coefficients of integrals from the high end of each panel down, by place from -1 (high end) to 1."""
    coefficients = values[:, ::-1] @ _TO_COEFFICIENTS.T
    return chebyshev.chebint(coefficients, lbnd=-1, axis=1) * (width / 2)[:, None]


def _evaluated(coefficients: FloatArray, x: FloatArray) -> FloatArray:
    """Return the value of each row of coefficients at its position."""
    return cast("FloatArray", chebyshev.chebval(x, coefficients.T, tensor=False))


class ActionCosts(ScoringRule):
    """Cost of the action with the least expected cost (thesis 2.9, 3.4): the rule that a cost matrix induces.

    Parameters
    ----------
    costs : (n_actions, n_classes) array_like
        Cost of each action for each true class, finite and at least 0. In a tie, the first action is chosen. Equivalent
        matrices (thesis 3.5) induce equivalent rules.

    Raises
    ------
    InputError
        If costs are negative or not finite.

    Examples
    --------
    >>> undecided = ActionCosts([[0, 1], [1, 0], [0.2, 0.2]])
    >>> undecided.costs([[0.9, 0.1], [0.6, 0.4]])
    array([[0. , 1. ],
           [0.2, 0.2]])
    >>> undecided.entropy([[0.9, 0.1], [0.6, 0.4]])
    array([0.1, 0.2])
    """

    def __init__(self, costs: ArrayLike) -> None:
        self.action_costs = Application(costs).costs

    @property
    def n_classes(self) -> int:
        """Number of columns of costs."""
        return int(self.action_costs.shape[1])

    def actions(self, posterior: ArrayLike) -> IntArray:
        """Return the Bayes decision of each row: index of an action, the lowest in a tie (thesis 2.5).

        Parameters
        ----------
        posterior : (n, n_classes) array_like

        Returns
        -------
        (n,) int array

        Raises
        ------
        InputError
            See `ScoringRule.costs`.
        """
        return self._actions(self._table(posterior, "posterior")[0])

    def _actions(self, posterior: FloatArray) -> IntArray:
        flat = np.full(self.n_classes, 1.0 / self.n_classes)
        with np.errstate(divide="ignore"):
            return least_cost_actions(np.log(posterior), self.action_costs, flat)

    def _costs(self, posterior: FloatArray) -> FloatArray:
        return self.action_costs[self._actions(posterior)]


class DetectionOfEach(ScoringRule):
    """Scoring rule of C_avg: each class is accepted or rejected separately (thesis 8.8 to 8.10).

    Parameters
    ----------
    p_target : float
        Prior of a target in each detection problem, inside (0, 1); 0.5 in the thesis.

    Raises
    ------
    InputError
        If the prior is out of range.

    Notes
    -----
    ``p (1 - u_i) + (1 - p) / (N - 1) sum_{k != i} u_k``, where ``u_k`` is 1 if the detection llr of class k against the
    flat rest is at or above its Bayes threshold, else 0. For log-likelihoods at a flat prior, the mean of this rule
    over classes is C_avg; at another prior it is thesis 8.11.

    Examples
    --------
    >>> DetectionOfEach().costs([[0.6, 0.3, 0.1], [0.4, 0.4, 0.2]])
    array([[0.  , 0.75, 0.75],
           [0.25, 0.25, 1.  ]])
    """

    def __init__(self, p_target: float = 0.5) -> None:
        self.p_target = OperatingPoint(p_target).p_target

    def _costs(self, posterior: FloatArray) -> FloatArray:
        n_classes, p = posterior.shape[1], self.p_target
        # q / (1 - q) >= (1 - p) / p / (N - 1), without divisions and logarithms, so that ties stay ties.
        accepted = (posterior * (p * (n_classes - 1)) >= (1.0 - p) * _rest(posterior)).astype(np.float64)
        others = accepted.sum(axis=1, keepdims=True) - accepted
        return np.asarray(p * (1.0 - accepted) + (1.0 - p) / (n_classes - 1) * others)


def _rest(posterior: FloatArray) -> FloatArray:
    """Return the probability of all other classes, without a difference from 1."""
    n_classes = posterior.shape[1]
    return np.asarray(posterior @ (1.0 - np.eye(n_classes)))


def rule_of_applications(applications: Sequence[Application], *, weights: Weights = None) -> Mixture:
    """Return the scoring rule of a mixture of applications (thesis 6.3 to 6.8), as a sum without compound actions.

    Parameters
    ----------
    applications : sequence of Application
        Applications with the same classes. Priors may differ: each is converted to the flat prior by changing the
        costs.
    weights : (n_applications,) array_like, optional
        Default: 1 each.

    Returns
    -------
    Mixture
        Its expected cost at the flat prior is the weighted sum of the risks.

    Raises
    ------
    InputError
        If there are none, or they have different numbers of classes.

    Examples
    --------
    Two operating points of the same detector form one rule:

    >>> from deciban.decisions import Application
    >>> points = [Application([[0, 1], [10, 0]], [p, 1 - p]) for p in (0.01, 0.1)]
    >>> rule_of_applications(points, weights=[0.5, 0.5]).costs([[0.5, 0.5]]).round(6)
    array([[0.1, 0.9]])
    """
    return Mixture([ActionCosts(one.at_prior().costs) for one in applications], weights)


class Logarithmic(ScoringRule):
    """Logarithm of the posterior of the true class, ``-log q_i`` (thesis 2.1.5, 8.13): entropies are Shannon entropies.

    Parameters
    ----------
    base : float, optional
        Base of the logarithm: 2 for bits; default: nats.

    Raises
    ------
    InputError
        If the base is not above 1.

    Examples
    --------
    >>> Logarithmic(base=2).costs([0.25, 0.75]).round(4)
    array([2.   , 0.415])
    """

    def __init__(self, base: float | None = None) -> None:
        if base is not None and not 1.0 < base < math.inf:
            raise InputError(f"base: {base}. The base must be above 1; leave it out for nats.")
        self.base = math.e if base is None else float(base)
        names = {math.e: "nats", 2.0: "bits", 10.0: "bans"}
        self.unit = names.get(self.base, f"logarithms to base {self.base:g}")

    def _costs_at(self, log_odds: FloatArray) -> FloatArray:
        return np.stack((softplus(-log_odds), softplus(log_odds)), axis=1) / math.log(self.base)

    def _costs(self, posterior: FloatArray) -> FloatArray:
        rest = complements(posterior)
        with np.errstate(divide="ignore"):
            logarithm = np.where(posterior > 0.5, np.log1p(-np.minimum(rest, 0.75)), np.log(posterior))
        return np.asarray(-logarithm / math.log(self.base) + 0.0)  # not -0.0


class Quadratic(ScoringRule):
    """Brier's rule ``1 - 2 q_i + sum_j q_j^2`` (Bruemmer and van Leeuwen 2006, eq. 13).

    Its divergence is the squared distance.
    For two classes ``2 (1 - q_i)^2``, two thirds of ``Beta(2, 2)`` and twice thesis 7.36.

    Examples
    --------
    >>> Quadratic().costs([0.7, 0.2, 0.1]).round(2)
    array([0.14, 1.14, 1.34])
    """

    def _costs(self, posterior: FloatArray) -> FloatArray:
        # The square of the distance to the vertex is never negative.
        return complements(posterior) ** 2 + sums_of_others(posterior**2)


class _TwoClasses(ScoringRule):
    @property
    def n_classes(self) -> int:
        """Two: target, then non-target."""
        return 2


class Beta(_TwoClasses):
    """The two-class beta family: a beta density weights the thresholds (thesis 7.38).

    See also Bruemmer and Doddington 2013, eqs. 10 and 11.

    Parameters
    ----------
    alpha, beta : float
        In [0.05, 100]: (1, 1) is the logarithmic rule in nats, (2, 2) three times thesis 7.36 (Brier), (1/2, 1/2)
        ``2 / pi`` times 7.37 (boosting). ``gamma`` of the thesis is ``alpha - 1 = beta - 1``.

    Raises
    ------
    InputError
        If a parameter is out of range.

    Examples
    --------
    >>> Beta(2, 2).costs([[0.5, 0.5], [0.9, 0.1]]).round(2)
    array([[0.75, 0.75],
           [0.03, 2.43]])
    """

    def __init__(self, alpha: float, beta: float) -> None:
        self.alpha, self.beta = _validate.rule(alpha, beta)
        if self.alpha == self.beta == 1.0:
            self.unit = "nats"

    def density(self, eta: ArrayLike) -> FloatArray:
        """Return the weight ``rho(eta)`` of the detection problem with a miss cost of ``1 / eta``.

        Its false-alarm cost is ``1 / (1 - eta)``.

        Parameters
        ----------
        eta : array_like
            Thresholds of the posterior, inside (0, 1).

        Returns
        -------
        array of the shape of eta
            A density that integrates to 1 (thesis 7.38, figure 7.5).

        Raises
        ------
        InputError
            If a threshold is not inside (0, 1).

        Examples
        --------
        >>> Beta(2, 2).density([0.25, 0.5]).round(6)
        array([1.125, 1.5  ])
        """
        at = _validate.finite(eta, "eta")
        if ((at <= 0) | (at >= 1)).any():
            raise InputError("eta: thresholds of a posterior must be inside (0, 1).")
        log_weight = xlogy(self.alpha - 1.0, at) + xlog1py(self.beta - 1.0, -at) - log_beta(self.alpha, self.beta)
        return np.asarray(np.exp(log_weight))

    def _costs(self, posterior: FloatArray) -> FloatArray:
        with np.errstate(divide="ignore"):
            return self._costs_at(np.log(posterior[:, 0]) - np.log(posterior[:, 1]))

    def _costs_at(self, log_odds: FloatArray) -> FloatArray:
        costs = beta_cost_tar(log_odds, self.alpha, self.beta), beta_cost_non(log_odds, self.alpha, self.beta)
        return np.stack(costs, axis=1)


class Dirichlet(ScoringRule):
    """Decisions with common meeting points, weighted by a Dirichlet density; see `deciban.multiclass.dirichlet_rule`.

    Parameters
    ----------
    concentration : float or (n_classes,) array_like
        Parameters of the density, each in [0.05, 100]; one number for all classes.

    Examples
    --------
    >>> Dirichlet(1.0).costs([0.5, 0.3, 0.2]).round(4)  # minus the logarithm
    array([0.6931, 1.204 , 1.6094])
    """

    def __init__(self, concentration: ArrayLike) -> None:
        self.concentration = _validate.finite(concentration, "concentration")
        if (self.concentration == 1.0).all():
            self.unit = "nats"

    @property
    def n_classes(self) -> int | None:
        """Number of parameters; None if one number is for all classes."""
        return self.concentration.size if self.concentration.ndim else None

    def _costs(self, posterior: FloatArray) -> FloatArray:
        return dirichlet_rule(posterior, concentration=self.concentration)


class MeetingPoint(ScoringRule):
    """Decisions for one class whose regions meet at one point of the simplex (thesis 8.12, 3.11 to 3.13).

    Parameters
    ----------
    eta : (n_classes,) array_like
        Probabilities above 0: the posterior at which all decisions have the same cost.

    Examples
    --------
    >>> MeetingPoint([0.2, 0.8]).costs([[0.3, 0.7], [0.1, 0.9]])
    array([[0.  , 1.25],
           [5.  , 0.  ]])
    """

    def __init__(self, eta: ArrayLike) -> None:
        self.eta = _validate.finite(eta, "eta")

    @property
    def n_classes(self) -> int:
        """Number of entries of the point."""
        return int(self.eta.size)

    def _costs(self, posterior: FloatArray) -> FloatArray:
        return eta_rule(posterior, eta=self.eta)


class ThresholdRule(_TwoClasses):
    """A rule that weights thresholds of the posterior by a table; rules with equal tables are equal."""

    eta: FloatArray
    values: FloatArray
    """Weights of the thresholds, or densities at the thresholds."""

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return np.array_equal(self.eta, other.eta) and np.array_equal(self.values, other.values)

    def __hash__(self) -> int:
        return hash((type(self).__name__, self.eta.shape))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.eta.tolist()}, {self.values.tolist()})"

    def largest_cost(self, log_odds: float) -> float:
        """Return the largest cost of all targets, or of all non-targets, at prior log odds; it may be infinite."""
        costs = self.costs([[0.0, 1.0], [1.0, 0.0]])
        return float(max(expit(log_odds) * costs[0, 0], expit(-log_odds) * costs[1, 1]))

    def jumps(self, log_odds: float) -> FloatArray:  # noqa: ARG002  # a density has none
        """Return the log-likelihood ratios at which costs jump at prior log odds."""
        return np.zeros(0)


class ThresholdWeights(ThresholdRule):
    """A weighted sum of detection problems, each with its threshold of the posterior (thesis 7.34 with point masses).

    Parameters
    ----------
    eta : (n_points,) array_like
        Thresholds inside (0, 1): a trial is accepted at ``posterior >= eta``; a miss costs ``1 / eta``, a false alarm
        ``1 / (1 - eta)``.
    weights : (n_points,) array_like, optional
        At least 0, not normalized; default: ``1 / n_points``.

    Raises
    ------
    InputError
        If a threshold or weight is out of range.

    Examples
    --------
    >>> ThresholdWeights([0.5, 0.9]).costs([[0.7, 0.3]]).round(4)
    array([[0.5556, 1.    ]])
    """

    def __init__(self, eta: ArrayLike, weights: Weights = None) -> None:
        at = _thresholds(eta)
        value = _weights(np.full(len(at), 1.0 / len(at)) if weights is None else weights, len(at))
        order = np.argsort(at, kind="stable")
        self.eta, self.weights = at[order], value[order]
        self.values = self.weights

    def jumps(self, log_odds: float) -> FloatArray:
        """Return the log-likelihood ratios at which costs jump at prior log odds."""
        return np.asarray(logit(self.eta) - log_odds)

    def _costs(self, posterior: FloatArray) -> FloatArray:
        n_below = np.searchsorted(self.eta, posterior[:, 0], side="right")
        missed = np.append(np.cumsum((self.weights / self.eta)[::-1])[::-1], 0.0)
        alarms = np.append(0.0, np.cumsum(self.weights / (1.0 - self.eta)))
        return np.stack((missed[n_below], alarms[n_below]), axis=1)


class ThresholdDensity(ThresholdRule):
    """A density over thresholds of the posterior, from a table with linear interpolation (thesis 7.35).

    Parameters
    ----------
    eta : (n_points,) array_like
        Two or more thresholds, ascending, in [0, 1]. Outside of their range the density is 0.
    density : (n_points,) array_like
        At least 0, not normalized; see `mass`.

    Attributes
    ----------
    mass : float
        Integral of the density: 1 for a normalized density.

    Raises
    ------
    InputError
        If lengths differ, thresholds do not ascend, or a density is negative.

    Notes
    -----
    ``C(q | target) = int_q^1 density / eta`` and ``C(q | non-target) = int_0^q density / (1 - eta)`` in closed form on
    each interval. The rule is strictly proper if the density is positive.

    Examples
    --------
    The uniform density gives the logarithmic rule:

    >>> ThresholdDensity([0.0, 1.0], [1.0, 1.0]).costs([0.25, 0.75]).round(6)
    array([1.386294, 0.287682])
    """

    def __init__(self, eta: ArrayLike, density: ArrayLike) -> None:
        at = _validate.finite(eta, "eta")
        if at.ndim != 1 or len(at) < 2 or (np.diff(at) <= 0).any() or at[0] < 0 or at[-1] > 1:
            raise InputError("eta: expected two or more ascending thresholds in [0, 1].")
        self.eta, self.density = at, _weights(density, len(at), "density")
        self.values = self.density
        self.mass = float(np.trapezoid(self.density, self.eta))
        self._of_miss: _Integral | SmoothIntegral = _Integral(at, 1.0 - at, self.density)
        self._of_alarm: _Integral | SmoothIntegral = _Integral(1.0 - at[::-1], at[::-1], self.density[::-1])

    @classmethod
    def of_function(cls, function: Callable[[FloatArray], ArrayLike]) -> ThresholdDensity:
        """Return the rule of a density that is a function of thresholds in (0, 1).

        Parameters
        ----------
        function : callable
            Takes an array of thresholds and returns their densities.

        Returns
        -------
        ThresholdDensity
            ``eta`` and ``density`` contain the points at which the function was evaluated, closer where it changes
            fast.

        Raises
        ------
        InputError
            If a density is negative or not finite, or the number of densities differs from the number of thresholds.

        Notes
        -----
        Between log odds of -20 and 20, polynomials of degree 16 approximate the density on panels, which are halved
        until the approximation is accurate. Beyond, the density continues as a power of ``eta`` or ``1 - eta``. At
        posteriors with log odds from -10 to 10, costs of the beta family with parameters from 0.5 to 200 have a
        relative error below 1e-8 (most of them below 1e-11). Jumps are located to 1e-12 of log odds. A peak narrower
        than about 0.02 nats may be missed: use `ThresholdWeights` for points.

        Examples
        --------
        >>> ThresholdDensity.of_function(lambda eta: 6 * eta * (1 - eta)).costs([0.5, 0.5]).round(12)
        array([0.75, 0.75])
        """
        panels = Panels.of(function)
        result = cls(*panels.table)
        result.mass = panels.mass
        result._of_miss, result._of_alarm = SmoothIntegral(panels), SmoothIntegral(panels.mirrored())
        return result

    def _costs(self, posterior: FloatArray) -> FloatArray:
        target, other = posterior.T
        return np.stack((self._of_miss.above(target, other), self._of_alarm.above(other, target)), axis=1)


class _Integral:
    """Exact ``int_q^1 density(h) / h dh``, up to rounding, of a density that is linear between points.

    Parameters
    ----------
    at, rest : (n,) array
        The points, and 1 minus each of them: close to 1, differences of `at` have no digits left.
    density : (n,) array
    """

    def __init__(self, at: FloatArray, rest: FloatArray, density: FloatArray) -> None:
        self.at, self.rest, self.density = at, rest, density
        self.width = _distance(at[:-1], rest[:-1], at[1:], rest[1:])
        partitions = _straight(at[:-1], self.width, density[:-1], density[1:])
        self.beyond = np.append(np.cumsum(partitions[::-1])[::-1], 0.0)

    def above(self, q: FloatArray, rest: FloatArray) -> FloatArray:
        """Return the integral from each q to 1; ``rest`` is 1 minus q."""
        k = np.clip(np.searchsorted(self.at, q, side="right") - 1, 0, len(self.width) - 1)
        width = np.clip(_distance(q, rest, self.at[k + 1], self.rest[k + 1]), 0.0, self.width[k])
        share = width / self.width[k]  # of the interval
        low = np.maximum(q, self.at[k])
        density = share * self.density[k] + (1.0 - share) * self.density[k + 1]
        return np.asarray(_straight(low, width, density, self.density[k + 1]) + self.beyond[k + 1])


def _distance(low: FloatArray, rest_of_low: FloatArray, high: FloatArray, rest_of_high: FloatArray) -> FloatArray:
    """Return ``high - low``, from their distances from 1 if these are smaller."""
    return np.where(low > 0.5, rest_of_low - rest_of_high, high - low)


def _straight(low: FloatArray, width: FloatArray, first: FloatArray, last: FloatArray) -> FloatArray:
    """Return ``int density(h) / h dh`` from low to low + width, of a density that is linear from first to last."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        u = width / low
        of_last = 1.0 - np.log1p(u) / u
        of_first = np.log1p(u) - of_last
    is_small = u <= 0.5
    t = NODES[:, None]
    small = u[is_small] / (1.0 + t * u[is_small])
    of_last[is_small] = NODE_WEIGHTS @ (t * small)
    of_first[is_small] = NODE_WEIGHTS @ ((1.0 - t) * small)
    of_last[np.isinf(u)], of_first[np.isinf(u)] = 1.0, np.inf
    is_some = (width > 0.0) & (first > 0.0)
    return np.where(is_some, first, 0.0) * np.where(is_some, of_first, 0.0) + last * np.where(width > 0.0, of_last, 0.0)


def _thresholds(eta: ArrayLike) -> FloatArray:
    at = _validate.finite(eta, "eta")
    if at.ndim != 1 or not len(at) or ((at <= 0) | (at >= 1)).any():
        raise InputError("eta: expected a vector of thresholds of a posterior, each inside (0, 1).")
    return at


def _weights(values: ArrayLike, n: int, name: str = "weights") -> FloatArray:
    value = _validate.finite(values, name)
    if value.shape != (n,) or (value < 0).any():
        raise InputError(f"{name}: expected {n} numbers of at least 0, got shape {value.shape}.")
    return value


REACH = 8.0
"""Range of log odds in nats, on both sides of 0."""


_GRID = np.linspace(-REACH, REACH, 1601)


@dataclass(frozen=True, slots=True, eq=False)
class RuleCurves:
    """Curves of a two-class rule.

    Attributes
    ----------
    name : str
    log_odds : (n,) array
        In nats: log odds of the report, and of a threshold of the posterior.
    target, non_target : (n,) arrays
        Costs of the report for a target, and for a non-target.
    weight : (n,) array or None
        Density of the weight of thresholds, per nat; None if the rule has no density.
    point_log_odds, point_weights : (m,) arrays
        Single thresholds with a weight; may be empty.
    """

    name: str
    log_odds: FloatArray
    target: FloatArray
    non_target: FloatArray
    weight: FloatArray | None
    point_log_odds: FloatArray
    point_weights: FloatArray

    @property
    def has_weights(self) -> bool:
        """True if the weights of thresholds are known."""
        return self.weight is not None or len(self.point_weights) > 0

    def to_dict(self) -> dict[str, object]:
        """Return the rule in the form that ``deciban plot --json`` prints."""
        return {name: getattr(self, name) for name in self.__slots__}


def rule_curves(rules: Mapping[str, ScoringRule]) -> list[RuleCurves]:
    """Tabulate two-class rules.

    Parameters
    ----------
    rules : mapping of str to ScoringRule
        Rules with their names.

    Returns
    -------
    list of RuleCurves

    Raises
    ------
    InputError
        If there is no rule, or a rule is not for two classes.

    Notes
    -----
    The weight of a threshold is that of the application with miss cost ``1 / eta`` and false-alarm cost ``1 / (1 -
    eta)`` (thesis 3.24, 7.34, 7.35, 7.38); per nat of log odds it is ``density(eta) eta (1 - eta)``.

    Examples
    --------
    >>> (curves,) = rule_curves({"Brier": Beta(2, 2)})
    >>> middle = len(curves.log_odds) // 2
    >>> float(curves.target[middle]), float(curves.weight[middle])
    (0.75, 0.375)
    """
    if not rules:
        raise InputError("rules: there are no rules to draw. Pass a mapping of names to rules of deciban.rules.")
    return [_curves(name, rule) for name, rule in rules.items()]


def _curves(name: str, rule: object) -> RuleCurves:
    if not isinstance(rule, ScoringRule) or rule.n_classes not in (None, 2):
        what = type(rule).__name__ if not isinstance(rule, ScoringRule) else f"a rule for {rule.n_classes} classes"
        raise InputError(f"rules: {name!r} is {what}. Pass two-class rules of deciban.rules.")
    costs = rule.costs(np.column_stack((expit(_GRID), expit(-_GRID))))
    places, weights = np.empty(0), np.empty(0)
    if isinstance(rule, ThresholdWeights):
        places, weights = logit(rule.eta), rule.weights
    return RuleCurves(name, _GRID, costs[:, 0], costs[:, 1], _density(rule), places, weights)


def _density(rule: ScoringRule) -> FloatArray | None:
    eta = expit(_GRID)
    if isinstance(rule, ThresholdDensity):
        density = np.interp(eta, rule.eta, rule.density, left=0.0, right=0.0)
    elif isinstance(rule, Beta):
        density = rule.density(eta)
    elif isinstance(rule, Logarithmic):
        density = np.full(len(eta), 1.0 / np.log(rule.base))
    else:
        return None
    return np.asarray(density * eta * expit(-_GRID))
