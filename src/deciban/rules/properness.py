"""Whether a scoring rule is proper, numerically, with a counter-example if not; and which reports cost the least."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from deciban._validate.probabilities import distributions
from deciban.core.by_value import ByValue
from deciban.errors import InputError
from deciban.rules.scoring import ScoringRule, expectation
from deciban.types import AnyArray, BoolArray, FloatArray

Rule: TypeAlias = ScoringRule | Callable[[FloatArray], ArrayLike]
"""A rule, or a function from distributions (n, n_classes) to what they cost for each class that may be true."""

_GAIN = 1e-9
"""Relative to the honest cost: what rounding may gain."""

_FAR = 0.02
"""Reports that lie this far from the truth, and cost as little, show that a rule is not strict."""

_AT_ONCE = 1 << 22
"""Costs that are held at once."""


@dataclass(frozen=True, slots=True, eq=False)
class Properness(ByValue):
    """What was found about a rule.

    Attributes
    ----------
    is_proper : bool
        Whether no report was found that costs less than the truth, to a relative 1e-9. A search, not a proof.
    is_strict : bool
        Whether no report further than 0.02 from the truth was found that costs as little.
    truth, report : (n_classes,) array or None
        Where most is gained by stating ``report`` while ``truth`` is believed; None of a proper rule.
    honest_cost, other_cost : float
        Expected costs of stating the truth and the report; equal for a proper rule.
    n_tried : int
        Pairs of distributions that were compared.
    """

    is_proper: bool
    is_strict: bool
    truth: FloatArray | None
    report: FloatArray | None
    honest_cost: float
    other_cost: float
    n_tried: int

    def __str__(self) -> str:
        """In words."""
        if self.truth is None or self.report is None:
            kind = "strictly proper" if self.is_strict else "proper, not strictly"
            return f"{kind}: no gain in {self.n_tried} pairs of distributions"
        return (
            f"not proper: who believes {self.truth.round(4).tolist()} expects {self.honest_cost:.6g} for saying so, "
            f"and {self.other_cost:.6g} for saying {self.report.round(4).tolist()}"
        )


def check_properness(rule: Rule, n_classes: int | None = None, *, n_points: int = 1500, seed: int = 0) -> Properness:
    """Look for a distribution that is better not told (thesis 3.1): whether a rule is proper, and strictly so.

    Parameters
    ----------
    rule : ScoringRule or callable
        A function takes distributions (n, n_classes) and returns what each costs if each class is true.
    n_classes : int, optional
        To look at; needed unless the rule is about a certain number.
    n_points : int
        So many distributions are compared with each other: of two classes an even grid, of more a random draw.
    seed : int
        Of the draw.

    Returns
    -------
    Properness

    Raises
    ------
    InputError
        If the number of classes is not known, or the function returns another shape or NaN.

    Examples
    --------
    The posterior of the truth, taken as it is, rewards exaggeration:

    >>> found = check_properness(lambda q: 1.0 - q, 2)
    >>> found.is_proper, found.report
    (False, array([0., 1.]))
    >>> from deciban.rules import Logarithmic
    >>> print(check_properness(Logarithmic(), 3, n_points=200))
    strictly proper: no gain in 40000 pairs of distributions
    """
    n = _number_of_classes(rule, n_classes)
    points = _distributions(n, n_points, seed)
    costs = _costs_of(rule, points)
    honest = expectation(costs, points)
    least, place, is_strict = np.full(len(points), np.inf), np.zeros(len(points), np.int64), True
    step = max(1, _AT_ONCE // len(points))
    for first in range(0, len(points), step):
        some = slice(first, first + step)
        expected = _expected(costs, points[some])
        place[some] = expected.argmin(axis=1)
        least[some] = expected[np.arange(len(expected)), place[some]]
        slack = _GAIN * (1.0 + np.abs(honest[some]))
        is_far = np.abs(points[some][:, None, :] - points).max(axis=2) > _FAR
        as_good = np.isfinite(honest[some])[:, None] & (expected <= (honest[some] + slack)[:, None])
        is_strict &= not bool((is_far & as_good).any())
    with np.errstate(invalid="ignore"):
        gain = np.where(least < np.inf, honest - least, 0.0) - _GAIN * (
            1.0 + np.where(least < np.inf, np.abs(least), 0.0)
        )
    worst = int(np.argmax(gain))
    tried = len(points) ** 2
    if gain[worst] <= 0.0:
        cost = float(honest[worst])
        return Properness(
            is_proper=True,
            is_strict=is_strict,
            truth=None,
            report=None,
            honest_cost=cost,
            other_cost=cost,
            n_tried=tried,
        )
    return Properness(
        is_proper=False,
        is_strict=False,
        truth=points[worst],
        report=points[place[worst]],
        honest_cost=float(honest[worst]),
        other_cost=float(least[worst]),
        n_tried=tried,
    )


def least_cost_reports(rule: Rule, truth: ArrayLike, reports: ArrayLike) -> BoolArray:
    """Which reports cost the least for each truth: the set of minimizers (thesis 3.1, 3.3, 3.26, 3.27, figure 3.1).

    Parameters
    ----------
    rule : ScoringRule or callable
        As in `check_properness`.
    truth : (n, n_classes) array_like
        What is true.
    reports : (m, n_classes) array_like
        What may be stated; the truth should be among them.

    Returns
    -------
    (n, m) bool array
        Whether the expected cost of each report is the least of all, to a relative 1e-9.

    Raises
    ------
    InputError
        If rows are no probabilities.

    Examples
    --------
    With one threshold, all reports on the same side of it serve:

    >>> from deciban.rules import ThresholdWeights
    >>> grid = np.stack([[0.1, 0.4, 0.6, 0.9], [0.9, 0.6, 0.4, 0.1]], axis=1)
    >>> least_cost_reports(ThresholdWeights([0.5]), grid[:1], grid)
    array([[ True,  True, False, False]])
    """
    stated, true = distributions(reports, "reports"), distributions(truth, "truth")
    if true.shape[1] != stated.shape[1]:
        raise InputError(f"reports: {stated.shape[1]} classes, but truth has {true.shape[1]}.")
    expected = _expected(_costs_of(rule, stated), true)
    least = expected.min(axis=1, keepdims=True)
    with np.errstate(invalid="ignore"):
        return np.asarray(expected <= least + _GAIN * (1.0 + np.abs(least)))


def _number_of_classes(rule: Rule, given: int | None) -> int:
    own = rule.n_classes if isinstance(rule, ScoringRule) else None
    if own is not None and given not in (None, own):
        raise InputError(f"n_classes: {given}, but the rule is about {own}. Leave it out.")
    n = own or given
    if n is None or n < 2:
        raise InputError(f"n_classes: {n}. Say how many classes the rule is to be tried with, two at least.")
    return n


def _distributions(n_classes: int, n_points: int, seed: int) -> FloatArray:
    """Vertices and centre, and an even grid of two classes, or random points, dense near the edges, of more."""
    fixed = np.vstack((np.eye(n_classes), np.full(n_classes, 1.0 / n_classes)))
    n = max(n_points - len(fixed), 2)
    if n_classes == 2:
        p = (np.arange(n) + 0.5) / n
        return np.vstack((fixed, np.stack((p, 1.0 - p), axis=1)))
    rng = np.random.default_rng(seed)
    spread = [rng.dirichlet(np.full(n_classes, a), n // 2 + n % 2 * (a < 1)) for a in (1.0, 0.3)]
    return np.vstack((fixed, *spread))


def _costs_of(rule: Rule, points: FloatArray) -> FloatArray:
    found: AnyArray = rule.costs(points) if isinstance(rule, ScoringRule) else np.asarray(rule(points))
    if found.shape != points.shape or found.dtype.kind not in "iuf" or np.isnan(found).any():
        raise InputError(
            f"rule: returned {found.dtype} of shape {found.shape} for {points.shape}. It is to return a cost for each "
            "distribution and class, none of them NaN."
        )
    return found.astype(np.float64, copy=False)


def _expected(costs: FloatArray, truth: FloatArray) -> FloatArray:
    """Expected cost of each report for each truth, (n_truths, n_reports); nothing of an infinite cost is nothing."""
    is_infinite = np.isinf(costs)
    found: FloatArray = truth @ np.where(is_infinite, 0.0, costs).T
    if is_infinite.any():
        found = np.where((truth > 0.0).astype(np.float64) @ is_infinite.T.astype(np.float64) > 0, np.inf, found)
    return found
