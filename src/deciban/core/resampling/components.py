"""Components of variance of a mean: how much of it comes from speakers, from their segments, from pairs and trials.

Two trials, of classes c and c', are alike as far as they share levels of factors: the same speaker, the same segment,
the same pair of speakers, or they are the same trial. Their costs x have covariances

    Cov(x_t, x_t') = sum over factors f of kappa_f m_f(t, t'),

where ``m_f`` counts the levels of f that both have. Sums of squares over the levels of each factor have expectations
that are linear in the components ``kappa``, with coefficients that the design alone decides. Components solve these
equations: the method of moments for unbalanced crossed designs (Searle, Casella and McCulloch, Variance Components,
1992, chapter 5). A speaker on either side of a trial is one level: dyadic data (Aronow, Samii and Assenova, Political
Analysis 23, 2015).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from deciban.types import CountArray, FloatArray, IntArray

Members: TypeAlias = tuple[IntArray, ...]
"""Codes of the levels that trials of one class have: one array, or two where a trial may have two levels."""

_NEW = 0.02
"""A factor stays if more than this share of what it says is said by no factor before it."""


@dataclass(frozen=True, slots=True, eq=False)
class Factor:
    """What trials may share.

    Attributes
    ----------
    name : str
    members : (Members, Members)
        Levels of the trials of both classes, by the same codes.
    n_levels : int
    """

    name: str
    members: tuple[Members, Members]
    n_levels: int


@dataclass(frozen=True, slots=True)
class Component:
    """A part of the variance of a figure.

    Attributes
    ----------
    name : str
        Of the factor.
    pair : (int, int)
        Classes of the two trials: 0 for targets, 1 for non-targets.
    size : float
        ``kappa``: what sharing a level adds to the covariance of two trials.
    share : float
        Sum over levels of the product of the shares of trials that each class has there: what ``size`` is multiplied by
        in the covariance of two means.
    """

    name: str
    pair: tuple[int, int]
    size: float
    share: float

    @property
    def variance(self) -> float:
        """What it adds to the variance of the figure; covariances of targets with non-targets count twice."""
        return self.size * self.share * (1.0 if self.pair[0] == self.pair[1] else 2.0)


def components_of(
    costs: tuple[FloatArray, FloatArray],
    factors: Sequence[Factor],
    weights: tuple[CountArray | None, CountArray | None] = (None, None),
) -> tuple[Component, ...]:
    """Unbiased components of the variance of the mean cost of targets plus that of non-targets.

    Parameters
    ----------
    costs : (n_tar,) and (n_non,) arrays
    factors : sequence of Factor
        From coarse to fine: what the design cannot tell from those before is counted with them.
    weights : (n_tar,) and (n_non,) arrays, optional

    Returns
    -------
    tuple of Component
        Some may be negative, as unbiased estimates of what is 0 must be at times.

    Examples
    --------
    Three speakers with two trials each, in one class; the other one is constant. The variance between the means of
    speakers is 100, of which half of the variance within, 2, is due to trials.

    >>> speaker = Factor("speaker", ((np.array([0, 0, 1, 1, 2, 2]),), (np.zeros(2, int),)), 3)
    >>> trial = Factor("trial", ((np.arange(6),), (np.arange(6, 8),)), 8)
    >>> costs = np.array([9.0, 11.0, 19.0, 21.0, 29.0, 31.0]), np.zeros(2)
    >>> found = components_of(costs, [speaker, trial])
    >>> [(one.name, one.size.__round__(6), one.variance.__round__(6)) for one in found if one.pair == (0, 0)]
    [('speaker', 99.0, 33.0), ('trial', 2.0, 0.333333)]
    """
    sides = [_Side(costs[k], weights[k], factors, k) for k in (0, 1)]
    found = list[Component]()
    for pair in ((0, 0), (0, 1), (1, 1)):
        one, other = (sides[k] for k in pair)
        squares = np.array([own @ others for own, others in zip(one.sums, other.sums, strict=True)])
        expected = _expected(one, other)
        kept = _telling(expected)
        sizes = np.linalg.solve(expected[np.ix_(kept, kept)], squares[kept])
        for f, size in zip(kept, sizes.tolist(), strict=True):
            found.append(Component(factors[f].name, pair, size, float(one.shares[f] @ other.shares[f])))
    return tuple(found)


def sums_of_levels(
    costs: tuple[FloatArray, FloatArray],
    factor: Factor,
    weights: tuple[CountArray | None, CountArray | None] = (None, None),
) -> FloatArray:
    """What each level of a factor adds to the mean costs of both classes, about these means, (n_levels,).

    Of units, these are their influences.
    """
    one, other = (_Side(costs[k], weights[k], [factor], k).sums[0] for k in (0, 1))
    return np.asarray(one + other)


class _Side:
    """Trials of one class: for every level of each factor, their share and the sum of their costs about the mean."""

    def __init__(self, costs: FloatArray, weights: CountArray | None, factors: Sequence[Factor], k: int) -> None:
        n = len(costs)
        share = np.full(n, 1.0 / n) if weights is None else weights / weights.sum()
        centred = share * (costs - share @ costs)
        self.levels = [_incidence(factor.members[k], n, factor.n_levels) for factor in factors]
        self.shares = [one.T @ share for one in self.levels]
        self.sums = [one.T @ centred for one in self.levels]
        self.weighted = [one.multiply(share[:, None]).tocsr() for one in self.levels]


def _incidence(members: Members, n: int, n_levels: int) -> Any:
    """Which levels trials have, (n, n_levels), sparse; a level that a trial has twice counts once."""
    from scipy.sparse import csr_matrix  # few need it

    rows, levels = np.arange(n), members[0]
    for codes in members[1:]:
        other = np.flatnonzero(codes != members[0])
        rows, levels = np.concatenate((rows, other)), np.concatenate((levels, codes[other]))
    return csr_matrix((np.ones(len(rows)), (rows, levels)), shape=(n, n_levels))


def _expected(one: _Side, other: _Side) -> FloatArray:
    """Coefficients of the components in the expected sums of squares about means, (n_factors, n_factors).

    With ``W[g, h]`` the share of trials of a class that have the levels g and h of two factors, and ``s`` the shares:
    ``sum_gh W_gh W'_gh - s'_f W s'_g - s_f W' s_g + (s_f s'_f) (s_g s'_g)``.
    """
    n_factors = len(one.levels)
    found = np.empty((n_factors, n_factors))
    for f in range(n_factors):
        for g in range(f, n_factors):
            own, others = one.levels[f].T @ one.weighted[g], other.levels[f].T @ other.weighted[g]
            products = (one.shares[f] @ other.shares[f]) * (one.shares[g] @ other.shares[g])
            means = other.shares[f] @ (own @ other.shares[g]) + one.shares[f] @ (others @ one.shares[g])
            found[f, g] = found[g, f] = own.multiply(others).sum() - means + products
    return found


def _telling(expected: FloatArray) -> list[int]:
    """Factors that say what those before do not: rows of a Cholesky decomposition with a pivot that is not small."""
    kept = list[int]()
    for f, own in enumerate(np.diag(expected)):
        left = own
        if kept:
            left -= expected[f, kept] @ np.linalg.solve(expected[np.ix_(kept, kept)], expected[kept, f])
        if own > 0.0 and left > _NEW * own:
            kept.append(f)
    return kept
