"""Families of proper scoring rules: the logarithm, the quadratic rule, beta and Dirichlet weightings of thresholds."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import xlog1py, xlogy

from deciban._validate import arrays as _validate
from deciban.core.posteriors import complements, sums_of_others
from deciban.core.rules.proper import beta_cost_non, beta_cost_tar, softplus
from deciban.core.rules.tables import log_beta
from deciban.errors import InputError
from deciban.multiclass.scoring_rules import dirichlet_rule, eta_rule
from deciban.rules.scoring import ScoringRule
from deciban.types import FloatArray


class Logarithmic(ScoringRule):
    """The logarithm of the posterior of the true class, ``-log q_i`` (thesis 2.1.5, 8.13): entropies are Shannon's.

    Parameters
    ----------
    base : float, optional
        Of the logarithm: 2 for bits; nats if left out.

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
            raise InputError(f"base: {base}. A logarithm has a base above 1; leave it out for nats.")
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
    """Brier's rule ``1 - 2 q_i + sum_j q_j^2`` (paper 001 eq. 13): its divergence is the squared distance.

    For two classes ``2 (1 - q_i)^2``, two thirds of ``Beta(2, 2)`` and twice thesis 7.36.

    Examples
    --------
    >>> Quadratic().costs([0.7, 0.2, 0.1]).round(2)
    array([0.14, 1.14, 1.34])
    """

    def _costs(self, posterior: FloatArray) -> FloatArray:
        # The square of the distance to the vertex, which is never negative.
        return complements(posterior) ** 2 + sums_of_others(posterior**2)


class Beta(ScoringRule):
    """The beta family of two classes: thresholds are weighted by a beta density (thesis 7.38, paper 004 eqs. 10, 11).

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

    @property
    def n_classes(self) -> int:
        """Two: target, then non-target."""
        return 2

    def density(self, eta: ArrayLike) -> FloatArray:
        """Weight ``rho(eta)`` of the application with a miss at ``1 / eta`` and a false alarm at ``1 / (1 - eta)``.

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
            raise InputError("eta: thresholds of a posterior lie inside (0, 1).")
        log_weight = xlogy(self.alpha - 1.0, at) + xlog1py(self.beta - 1.0, -at) - log_beta(self.alpha, self.beta)
        return np.asarray(np.exp(log_weight))

    def _costs(self, posterior: FloatArray) -> FloatArray:
        with np.errstate(divide="ignore"):
            return self._costs_at(np.log(posterior[:, 0]) - np.log(posterior[:, 1]))

    def _costs_at(self, log_odds: FloatArray) -> FloatArray:
        costs = beta_cost_tar(log_odds, self.alpha, self.beta), beta_cost_non(log_odds, self.alpha, self.beta)
        return np.stack(costs, axis=1)


class Dirichlet(ScoringRule):
    """Meeting points of decisions weighted by a Dirichlet density; see `deciban.multiclass.dirichlet_rule`.

    Parameters
    ----------
    concentration : float or (n_classes,) array_like
        Parameters of the density, each in [0.05, 100]; one number stands for all.

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
        """As many as there are parameters; None if one stands for all."""
        return self.concentration.size if self.concentration.ndim else None

    def _costs(self, posterior: FloatArray) -> FloatArray:
        return dirichlet_rule(posterior, concentration=self.concentration)


class MeetingPoint(ScoringRule):
    """Decisions for one class whose regions meet at one point of the simplex (thesis 8.12, 3.11 to 3.13).

    Parameters
    ----------
    eta : (n_classes,) array_like
        Probabilities above 0: the posterior at which all decisions cost the same.

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
        """As many as entries of the point."""
        return int(self.eta.size)

    def _costs(self, posterior: FloatArray) -> FloatArray:
        return eta_rule(posterior, eta=self.eta)
