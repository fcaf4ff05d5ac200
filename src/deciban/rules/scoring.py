"""What every scoring rule can do: costs of a stated distribution, and entropy, cross-entropy and divergence."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from deciban._validate import arrays as _validate
from deciban._validate.probabilities import distributions
from deciban.errors import InputError
from deciban.types import FloatArray


class ScoringRule(ABC):
    """What it costs to have stated a distribution over the classes, for each class that may be true.

    A rule of your own is a subclass with ``_costs``; `check_properness` tells whether it is proper.

    Examples
    --------
    >>> class Spherical(ScoringRule):
    ...     def _costs(self, posterior):
    ...         return 1.0 - posterior / np.linalg.norm(posterior, axis=1, keepdims=True)
    >>> Spherical().costs([0.6, 0.8 - 0.4]).round(3)
    array([0.168, 0.445])
    """

    unit: str = "units of cost"
    """What costs and entropies are counted in."""

    @property
    def n_classes(self) -> int | None:
        """Number of classes that the rule is about; None for any number."""
        return None

    @abstractmethod
    def _costs(self, posterior: FloatArray) -> FloatArray:
        """Costs of checked rows (n, n_classes), of the same shape."""

    def _costs_at(self, log_odds: FloatArray) -> FloatArray:
        """Costs (n, 2) at posterior log odds of the first of two classes; some rules need no posterior."""
        return self._costs(np.stack((expit(log_odds), expit(-log_odds)), axis=1))

    def costs(self, posterior: ArrayLike) -> FloatArray:
        """Cost of each stated distribution if each class is the true one: ``C*(q | theta_i)`` (thesis 2.9).

        Parameters
        ----------
        posterior : (n_classes,) or (n, n_classes) array_like
            Probabilities that sum to 1.

        Returns
        -------
        array of the same shape
            At least 0 for all rules here; ``inf`` where the rule punishes certainty of the wrong class so.

        Raises
        ------
        InputError
            If rows are no probabilities, or the rule is about another number of classes.
        """
        table, shape = self._table(posterior, "posterior")
        return self._costs(table).reshape(shape)

    def cross_entropy(self, posterior: ArrayLike, truth: ArrayLike) -> float | FloatArray:
        """Expected cost of a stated distribution when another one is true: ``C*(q | p)`` (thesis 2.10, 2.12).

        Parameters
        ----------
        posterior : (n_classes,) or (n, n_classes) array_like
            What is stated, or what decisions are made with.
        truth : (n_classes,) or (n, n_classes) array_like
            What is true: one distribution for all rows, or one for each.

        Returns
        -------
        float or (n,) array
            ``sum_i truth_i C*(posterior | i)``, never below `entropy` of the truth (thesis 2.13).

        Raises
        ------
        InputError
            As `costs`, or if the shapes do not fit.

        Examples
        --------
        >>> from deciban.rules import Logarithmic
        >>> Logarithmic(base=2).cross_entropy([0.25, 0.75], [0.5, 0.5]).round(4)
        np.float64(1.2075)
        """
        stated, shape = self._table(posterior, "posterior")
        true, other = self._table(truth, "truth")
        if len(stated) != len(true) and 1 not in (len(stated), len(true)):
            raise InputError(f"truth: {len(true)} rows for {len(stated)} of posterior. Give one row, or one for each.")
        if true.shape[1] != stated.shape[1]:
            raise InputError(f"truth: {true.shape[1]} classes, but posterior has {stated.shape[1]}.")
        found = expectation(self._costs(stated), true)
        return found if len(shape) == 2 or len(other) == 2 else found[0]

    def entropy(self, posterior: ArrayLike) -> float | FloatArray:
        """Expected cost under the stated distribution itself: generalized entropy ``C*(q)`` (thesis 2.11).

        Concave, and 0 at each vertex of the simplex for rules in canonical form. Of `Logarithmic` it is Shannon's, of
        `ActionCosts` the least expected cost of an action.

        Parameters
        ----------
        posterior : (n_classes,) or (n, n_classes) array_like

        Returns
        -------
        float or (n,) array

        Raises
        ------
        InputError
            As `costs`.

        Examples
        --------
        >>> from deciban.rules import Logarithmic
        >>> float(Logarithmic(base=2).entropy([0.5, 0.25, 0.25]))
        1.5
        """
        table, shape = self._table(posterior, "posterior")
        found = expectation(self._costs(table), table)
        return found if len(shape) == 2 else found[0]

    def divergence(self, posterior: ArrayLike, truth: ArrayLike) -> float | FloatArray:
        """What it costs to state something else than the truth: `cross_entropy` less the `entropy` of the truth.

        Of `Logarithmic` it is that of Kullback and Leibler, of `Quadratic` the squared distance.

        Parameters
        ----------
        posterior, truth : (n_classes,) or (n, n_classes) array_like

        Returns
        -------
        float or (n,) array
            At least 0 if the rule is proper, but for rounding; ``inf`` where the cross-entropy is.

        Raises
        ------
        InputError
            As `cross_entropy`.

        Examples
        --------
        >>> from deciban.rules import Quadratic
        >>> round(float(Quadratic().divergence([0.25, 0.75], [0.5, 0.5])), 6)
        0.125
        """
        return self.cross_entropy(posterior, truth) - self.entropy(truth)

    def _table(self, values: ArrayLike, name: str) -> tuple[FloatArray, tuple[int, ...]]:
        given = _validate.array(values, name)
        table = distributions(given[None, :] if given.ndim == 1 else given, name)
        if self.n_classes not in (None, table.shape[1]):
            raise InputError(f"{name}: {table.shape[1]} classes, but the rule is about {self.n_classes}.")
        return table, given.shape

    def __add__(self, other: ScoringRule) -> Mixture:
        """Both costs together."""
        return Mixture([self, other])


def expectation(costs: FloatArray, truth: FloatArray) -> FloatArray:
    """Expected cost of each row, where what cannot be true costs nothing; one row of either stands for all."""
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(truth > 0.0, costs * truth, 0.0).sum(axis=1))


class Mixture(ScoringRule):
    """A weighted sum of rules: proper if they are (thesis 3.24, 3.25 with finitely many terms).

    Parameters
    ----------
    rules : sequence of ScoringRule
        About the same number of classes.
    weights : (n_rules,) array_like, optional
        At least 0; 1 each if left out.

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

    def __init__(self, rules: Sequence[ScoringRule], weights: ArrayLike | None = None) -> None:
        if not rules:
            raise InputError("rules: empty. Give at least one.")
        about = {rule.n_classes for rule in rules} - {None}
        if len(about) > 1:
            raise InputError(f"rules: about {sorted(filter(None, about))} classes. Mix rules of the same classes.")
        given = _validate.finite(np.ones(len(rules)) if weights is None else weights, "weights")
        if given.shape != (len(rules),) or (given < 0).any():
            raise InputError(f"weights: expected {len(rules)} numbers of at least 0, got {given.tolist()}.")
        units = {rule.unit for rule in rules}
        self.rules, self.weights = tuple(rules), given
        self.unit = units.pop() if len(units) == 1 else ScoringRule.unit
        self._n_classes = about.pop() if about else None

    @property
    def n_classes(self) -> int | None:
        """See `ScoringRule.n_classes`."""
        return self._n_classes

    def _costs_at(self, log_odds: FloatArray) -> FloatArray:
        return self._sum(lambda rule: rule._costs_at(log_odds))  # noqa: SLF001  # of the same family

    def _costs(self, posterior: FloatArray) -> FloatArray:
        return self._sum(lambda rule: rule._costs(posterior))  # noqa: SLF001  # of the same family

    def _sum(self, costs: Callable[[ScoringRule], FloatArray]) -> FloatArray:
        """Weighted sum of the costs of all rules; a weight of 0 removes an infinite cost."""
        some = [(rule, weight) for rule, weight in zip(self.rules, self.weights.tolist(), strict=True) if weight > 0]
        found = np.zeros_like(costs(self.rules[0]))
        for rule, weight in some:
            found += weight * costs(rule)
        return found
