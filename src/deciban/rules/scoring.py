"""Common methods of scoring rules: costs of a reported distribution, entropy, cross-entropy and divergence."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from deciban._validate import arrays as _validate
from deciban._validate.classes import distributions
from deciban.errors import InputError
from deciban.types import AnyArray, BoolArray, ByValue, FloatArray, Weights


class ScoringRule(ABC):
    """Cost of reporting a distribution over the classes, for each class that may be true.

    To define a custom scoring rule, implement ``_costs`` in a subclass; `check_properness` tests whether it is proper.

    Examples
    --------
    >>> class Spherical(ScoringRule):
    ...     def _costs(self, posterior):
    ...         return 1.0 - posterior / np.linalg.norm(posterior, axis=1, keepdims=True)
    >>> Spherical().costs([0.6, 0.8 - 0.4]).round(3)
    array([0.168, 0.445])
    """

    unit: str = "units of cost"
    """Unit of costs and entropies."""

    @property
    def n_classes(self) -> int | None:
        """Number of classes of the rule; None for any number."""
        return None

    @abstractmethod
    def _costs(self, posterior: FloatArray) -> FloatArray:
        """Return costs of checked rows (n, n_classes), of the same shape."""

    def _costs_at(self, log_odds: FloatArray) -> FloatArray:
        """Return costs (n, 2) at posterior log odds of the first of two classes; some rules need no posterior."""
        return self._costs(np.stack((expit(log_odds), expit(-log_odds)), axis=1))

    def costs(self, posterior: ArrayLike) -> FloatArray:
        """Return the cost of each reported distribution for each true class: ``C*(q | theta_i)`` (thesis 2.9).

        Parameters
        ----------
        posterior : (n_classes,) or (n, n_classes) array_like
            Probabilities that sum to 1.

        Returns
        -------
        array of the same shape
            At least 0 for all rules here; ``inf`` if the rule has no limit for certainty of the wrong class.

        Raises
        ------
        InputError
            If rows are not probabilities, or the rule is for another number of classes.
        """
        table, shape = self._table(posterior, "posterior")
        return self._costs(table).reshape(shape)

    def cross_entropy(self, posterior: ArrayLike, truth: ArrayLike) -> float | FloatArray:
        """Return the expected cost of a reported distribution under a true one: ``C*(q | p)`` (thesis 2.10, 2.12).

        Parameters
        ----------
        posterior : (n_classes,) or (n, n_classes) array_like
            Reported distribution, or the distribution for decisions.
        truth : (n_classes,) or (n, n_classes) array_like
            True distribution: one for all rows, or one for each.

        Returns
        -------
        float or (n,) array
            ``sum_i truth_i C*(posterior | i)``, at least the `entropy` of the truth for proper rules (thesis 2.13).

        Raises
        ------
        InputError
            See `costs`. Also if the shapes do not match.

        Examples
        --------
        >>> from deciban.rules import Logarithmic
        >>> Logarithmic(base=2).cross_entropy([0.25, 0.75], [0.5, 0.5]).round(4)
        np.float64(1.2075)
        """
        stated, shape = self._table(posterior, "posterior")
        true, other = self._table(truth, "truth")
        if len(stated) != len(true) and 1 not in (len(stated), len(true)):
            raise InputError(f"truth: {len(true)} rows for {len(stated)} posteriors. Pass one row, or one for each.")
        if true.shape[1] != stated.shape[1]:
            raise InputError(f"truth: {true.shape[1]} classes, but posterior has {stated.shape[1]}.")
        result = expectation(self._costs(stated), true)
        return result if len(shape) == 2 or len(other) == 2 else result[0]

    def entropy(self, posterior: ArrayLike) -> float | FloatArray:
        """Return the expected cost under the reported distribution itself: generalized entropy ``C*(q)`` (thesis 2.11).

        The entropy is concave, and 0 at each vertex of the simplex for rules in canonical form. It is the Shannon
        entropy for `Logarithmic`, and the least expected cost of an action for `ActionCosts`.

        Parameters
        ----------
        posterior : (n_classes,) or (n, n_classes) array_like

        Returns
        -------
        float or (n,) array

        Raises
        ------
        InputError
            See `costs`.

        Examples
        --------
        >>> from deciban.rules import Logarithmic
        >>> float(Logarithmic(base=2).entropy([0.5, 0.25, 0.25]))
        1.5
        """
        table, shape = self._table(posterior, "posterior")
        result = expectation(self._costs(table), table)
        return result if len(shape) == 2 else result[0]

    def divergence(self, posterior: ArrayLike, truth: ArrayLike) -> float | FloatArray:
        """Return the expected cost of not reporting the truth: `cross_entropy` minus the `entropy` of the truth.

        It is the Kullback-Leibler divergence for `Logarithmic`, and the squared distance for `Quadratic`.

        Parameters
        ----------
        posterior, truth : (n_classes,) or (n, n_classes) array_like

        Returns
        -------
        float or (n,) array
            At least 0 (up to rounding) if the rule is proper; ``inf`` if the cross-entropy is infinite.

        Raises
        ------
        InputError
            See `cross_entropy`.

        Examples
        --------
        >>> from deciban.rules import Quadratic
        >>> round(float(Quadratic().divergence([0.25, 0.75], [0.5, 0.5])), 6)
        0.125
        """
        return self.cross_entropy(posterior, truth) - self.entropy(truth)

    def _table(self, values: ArrayLike, name: str) -> tuple[FloatArray, tuple[int, ...]]:
        value = _validate.array(values, name)
        table = distributions(value[None, :] if value.ndim == 1 else value, name)
        if self.n_classes not in (None, table.shape[1]):
            raise InputError(f"{name}: {table.shape[1]} classes, but the rule is for {self.n_classes}.")
        return table, value.shape

    def __add__(self, other: ScoringRule) -> Mixture:
        """Return the sum of both rules."""
        return Mixture([self, other])


def expectation(costs: FloatArray, truth: FloatArray) -> FloatArray:
    """Return the expected cost of each row, with cost 0 for impossible classes; a single row is used for all."""
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(truth > 0.0, costs * truth, 0.0).sum(axis=1))


class Mixture(ScoringRule):
    """A weighted sum of rules, which is proper if the rules are (thesis 3.24, 3.25 with finitely many terms).

    Parameters
    ----------
    rules : sequence of ScoringRule
        Rules for the same number of classes.
    weights : (n_rules,) array_like, optional
        At least 0; default: 1 each.

    Raises
    ------
    InputError
        If there is no rule, numbers of classes differ, or a weight is negative.

    Examples
    --------
    >>> from deciban.rules import Beta, Quadratic
    >>> Mixture([Quadratic(), Beta(2, 2)], [0.5, 2 / 3 * 0.5]).costs([0.7, 0.3]).round(6)
    array([0.18, 0.98])
    """

    def __init__(self, rules: Sequence[ScoringRule], weights: Weights = None) -> None:
        if not rules:
            raise InputError("rules: empty. Pass at least one.")
        about = {rule.n_classes for rule in rules} - {None}
        if len(about) > 1:
            raise InputError(f"rules: for {sorted(filter(None, about))} classes. Mix rules for the same classes.")
        value = _validate.finite(np.ones(len(rules)) if weights is None else weights, "weights")
        if value.shape != (len(rules),) or (value < 0).any():
            raise InputError(f"weights: expected {len(rules)} numbers of at least 0, got {value.tolist()}.")
        units = {rule.unit for rule in rules}
        self.rules, self.weights = tuple(rules), value
        self.unit = units.pop() if len(units) == 1 else ScoringRule.unit
        self._n_classes = about.pop() if about else None

    @property
    def n_classes(self) -> int | None:
        """Number of classes of the rules; see `ScoringRule.n_classes`."""
        return self._n_classes

    def _costs_at(self, log_odds: FloatArray) -> FloatArray:
        return self._sum(lambda rule: rule._costs_at(log_odds))  # noqa: SLF001  # of the same family

    def _costs(self, posterior: FloatArray) -> FloatArray:
        return self._sum(lambda rule: rule._costs(posterior))  # noqa: SLF001  # of the same family

    def _sum(self, costs: Callable[[ScoringRule], FloatArray]) -> FloatArray:
        """Return the weighted sum of the costs of all rules; a weight of 0 removes an infinite cost."""
        some = [(rule, weight) for rule, weight in zip(self.rules, self.weights.tolist(), strict=True) if weight > 0]
        values = np.zeros_like(costs(self.rules[0]))
        for rule, weight in some:
            values += weight * costs(rule)
        return values


Rule: TypeAlias = ScoringRule | Callable[[FloatArray], ArrayLike]
"""A rule, or a function from distributions (n, n_classes) to their costs for each true class."""


_GAIN = 1e-9
"""Gain by rounding, relative to the cost of the truth."""


_FAR = 0.02
"""A report at least this far from the truth with the same cost shows that a rule is not strictly proper."""


_AT_ONCE = 1 << 22
"""Limit of costs in memory."""


@dataclass(frozen=True, slots=True, eq=False)
class Properness(ByValue):
    """Result of a test of a rule.

    Attributes
    ----------
    is_strict : bool
        True if no report with the same cost was found at a distance above 0.02 from the truth.
    truth, report : (n_classes,) array or None
        Truth and report with the largest gain; None for a proper rule.
    honest_cost, other_cost : float
        Expected costs of reporting the truth and of the report; equal for a proper rule.
    n_tried : int
        Number of pairs of distributions.
    """

    is_strict: bool
    truth: FloatArray | None
    report: FloatArray | None
    honest_cost: float
    other_cost: float
    n_tried: int

    @property
    def is_proper(self) -> bool:
        """True if no report costs less than the truth, to a relative 1e-9. This is a search, not a proof."""
        return self.truth is None

    def __str__(self) -> str:
        """Return the result as text."""
        if self.truth is None or self.report is None:
            kind = "strictly proper" if self.is_strict else "proper, not strictly"
            return f"{kind}: no gain in {self.n_tried} pairs of distributions"
        return (
            f"not proper: with truth {self.truth.round(4).tolist()}, reporting it has the expected cost "
            f"{self.honest_cost:.6g}, but reporting {self.report.round(4).tolist()} only {self.other_cost:.6g}"
        )


def check_properness(rule: Rule, n_classes: int | None = None, *, n_points: int = 1500, seed: int = 0) -> Properness:
    """Search for a false report with a lower cost (thesis 3.1): test if a rule is proper, and strictly proper.

    Parameters
    ----------
    rule : ScoringRule or callable
        A function takes distributions (n, n_classes) and returns their costs for each true class.
    n_classes : int, optional
        Number of classes; required unless the rule has a fixed number.
    n_points : int
        Number of distributions, compared in pairs: an even grid for two classes, otherwise random points.
    seed : int
        Seed of the random points.

    Returns
    -------
    Properness

    Raises
    ------
    InputError
        If the number of classes is unknown, or the function returns another shape or NaN.

    Examples
    --------
    The posterior of the true class as a reward leads to exaggeration:

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
    worst, tried = int(np.argmax(gain)), len(points) ** 2
    cost = float(honest[worst])
    if gain[worst] <= 0.0:
        return Properness(
            is_strict=is_strict, truth=None, report=None, honest_cost=cost, other_cost=cost, n_tried=tried
        )
    entries = {"truth": points[worst], "report": points[place[worst]], "other_cost": float(least[worst])}
    return Properness(is_strict=False, honest_cost=cost, n_tried=tried, **entries)


def least_cost_reports(rule: Rule, truth: ArrayLike, reports: ArrayLike) -> BoolArray:
    """Return the reports of least cost for each truth: the minimizers (thesis 3.1, 3.3, 3.26, 3.27, figure 3.1).

    Parameters
    ----------
    rule : ScoringRule or callable
        See `check_properness`.
    truth : (n, n_classes) array_like
        True distributions.
    reports : (m, n_classes) array_like
        Possible reports, which should include the truth.

    Returns
    -------
    (n, m) bool array
        True if the expected cost of the report is the least of all, to a relative 1e-9.

    Raises
    ------
    InputError
        If rows are not probabilities.

    Examples
    --------
    With one threshold, all reports on the same side of it are equally good:

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


def _number_of_classes(rule: Rule, value: int | None) -> int:
    own = rule.n_classes if isinstance(rule, ScoringRule) else None
    if own is not None and value not in (None, own):
        raise InputError(f"n_classes: {value}, but the rule is for {own} classes. Leave it out.")
    n = own or value
    if n is None or n < 2:
        raise InputError(f"n_classes: {n}. Pass the number of classes for the test, at least two.")
    return n


def _distributions(n_classes: int, n_points: int, seed: int) -> FloatArray:
    """Return vertices and centre, plus an even grid (two classes) or random points, dense near the edges."""
    fixed = np.vstack((np.eye(n_classes), np.full(n_classes, 1.0 / n_classes)))
    n = max(n_points - len(fixed), 2)
    if n_classes == 2:
        p = (np.arange(n) + 0.5) / n
        return np.vstack((fixed, np.stack((p, 1.0 - p), axis=1)))
    rng = np.random.default_rng(seed)
    spread = [rng.dirichlet(np.full(n_classes, a), n // 2 + n % 2 * (a < 1)) for a in (1.0, 0.3)]
    return np.vstack((fixed, *spread))


def _costs_of(rule: Rule, points: FloatArray) -> FloatArray:
    values: AnyArray = rule.costs(points) if isinstance(rule, ScoringRule) else np.asarray(rule(points))
    if values.shape != points.shape or values.dtype.kind not in "iuf" or np.isnan(values).any():
        raise InputError(
            f"rule: returned {values.dtype} of shape {values.shape} for {points.shape}. It must return a cost for each "
            "distribution and class, without NaN."
        )
    return values.astype(np.float64, copy=False)


def _expected(costs: FloatArray, truth: FloatArray) -> FloatArray:
    """Return the expected cost of each report for each truth, (n_truths, n_reports); 0 times infinity counts as 0."""
    is_infinite = np.isinf(costs)
    values: FloatArray = truth @ np.where(is_infinite, 0.0, costs).T
    if is_infinite.any():
        values = np.where((truth > 0.0).astype(np.float64) @ is_infinite.T.astype(np.float64) > 0, np.inf, values)
    return values
