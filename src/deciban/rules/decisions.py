"""Scoring rules that decisions induce: what Bayes decisions cost (thesis 3.4, 6.1 to 6.9, 8.10)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from deciban.core.ranks.operating import OperatingPoint
from deciban.decisions.actions import least_cost_actions
from deciban.decisions.application import Application
from deciban.rules.scoring import Mixture, ScoringRule
from deciban.types import FloatArray, IntArray


class ActionCosts(ScoringRule):
    """The cost of the action of least expected cost (thesis 2.9, 3.4): what a cost matrix induces.

    Parameters
    ----------
    costs : (n_actions, n_classes) array_like
        Cost of each action when each class is true, finite and at least 0. Of actions that cost the same the first is
        taken. Equivalent matrices (thesis 3.5) make equivalent rules.

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
        """As many as columns of costs."""
        return int(self.action_costs.shape[1])

    def actions(self, posterior: ArrayLike) -> IntArray:
        """The Bayes decision of each row: index of an action, the lowest in a tie (thesis 2.5).

        Parameters
        ----------
        posterior : (n, n_classes) array_like

        Returns
        -------
        (n,) int array

        Raises
        ------
        InputError
            As `ScoringRule.costs`.
        """
        return self._actions(self._table(posterior, "posterior")[0])

    def _actions(self, posterior: FloatArray) -> IntArray:
        flat = np.full(self.n_classes, 1.0 / self.n_classes)
        with np.errstate(divide="ignore"):
            return least_cost_actions(np.log(posterior), self.action_costs, flat)

    def _costs(self, posterior: FloatArray) -> FloatArray:
        return self.action_costs[self._actions(posterior)]


class DetectionOfEach(ScoringRule):
    """The rule of C_avg: each class is accepted or rejected by itself (thesis 8.8 to 8.10).

    Parameters
    ----------
    p_target : float
        Prior of a target in each detection problem, inside (0, 1); 0.5 in the thesis.

    Raises
    ------
    InputError
        If it is out of range.

    Notes
    -----
    ``p (1 - u_i) + (1 - p) / (N - 1) sum_{k != i} u_k``, where ``u_k`` says whether the detection llr of class k
    against the flat rest is at or above its Bayes threshold. Of log-likelihoods at a flat prior the mean of this rule
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
        # q / (1 - q) >= (1 - p) / p / (N - 1), without divisions and logarithms: ties stay ties.
        accepted = (posterior * (p * (n_classes - 1)) >= (1.0 - p) * _rest(posterior)).astype(np.float64)
        others = accepted.sum(axis=1, keepdims=True) - accepted
        return np.asarray(p * (1.0 - accepted) + (1.0 - p) / (n_classes - 1) * others)


def _rest(posterior: FloatArray) -> FloatArray:
    """Probability of all other classes, without taking a difference from 1."""
    n_classes = posterior.shape[1]
    return np.asarray(posterior @ (1.0 - np.eye(n_classes)))


def rule_of_applications(applications: Sequence[Application], *, weights: ArrayLike | None = None) -> Mixture:
    """The scoring rule that a mixture of applications induces (thesis 6.3 to 6.8), as a sum without compound actions.

    Parameters
    ----------
    applications : sequence of Application
        Of the same classes. Priors may differ: each is brought to the flat prior with the costs that make up for it.
    weights : (n_applications,) array_like, optional
        1 each if left out.

    Returns
    -------
    Mixture
        Its expected cost at the flat prior is the weighted sum of the risks.

    Raises
    ------
    InputError
        If there is none, or they are about different numbers of classes.

    Examples
    --------
    Two operating points of the same detector are one rule:

    >>> from deciban.decisions import Application
    >>> points = [Application([[0, 1], [10, 0]], [p, 1 - p]) for p in (0.01, 0.1)]
    >>> rule_of_applications(points, weights=[0.5, 0.5]).costs([[0.5, 0.5]]).round(6)
    array([[0.1, 0.9]])
    """
    return Mixture([ActionCosts(one.at_prior().costs) for one in applications], weights)
