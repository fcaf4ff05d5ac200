"""Decisions trial by trial with what they are expected to cost, and what all of them come to (thesis 2.4 to 2.11)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from deciban.core.classes.loglik import posterior as posterior_of
from deciban.core.classes.loglik import relative, row_blocks
from deciban.core.rules.expected import MeanCost
from deciban.decisions.actions import least_cost_actions
from deciban.decisions.application import Application
from deciban.decisions.risks import checked_loglik
from deciban.types import CountArray, FloatArray, IntArray, Priors, ScoreArray

_ROUNDING = 1e-9
"""Shares of a cost that sums over trials may be off."""


@dataclass(frozen=True, slots=True, eq=False)
class Decisions:
    """What to do in each trial, and what that is expected to cost.

    Attributes
    ----------
    action : (n_trials,) int array
        Row of the costs, that of least expected cost; the lowest in a tie.
    posterior : (n_trials, n_classes) array
        Probabilities of the classes, given the scores and the prior.
    expected : (n_trials, n_actions) array
        Expected cost of every action.
    """

    action: IntArray
    posterior: FloatArray
    expected: FloatArray

    @property
    def expected_cost(self) -> FloatArray:
        """Of the action that is taken, (n_trials,)."""
        return np.asarray(np.take_along_axis(self.expected, self.action[:, None], axis=1)[:, 0])

    @property
    def margin(self) -> FloatArray:
        """How much more the next best action is expected to cost, (n_trials,); ``inf`` if there is no other."""
        if self.expected.shape[1] == 1:
            return np.full(len(self.action), np.inf)
        others = self.expected.copy()
        np.put_along_axis(others, self.action[:, None], np.inf, axis=1)
        return np.asarray(np.maximum(others.min(axis=1) - self.expected_cost, 0.0))

    def tally(self) -> DecisionTally:
        """What all of these come to."""
        n_actions = self.expected.shape[1]
        without = []
        for k in range(n_actions):
            others = np.delete(self.expected, k, axis=1)
            least = others.min(axis=1) if n_actions > 1 else np.full(len(others), np.inf)
            without.append(MeanCost.of(least, lambda values: values))
        chosen = MeanCost.of(self.expected_cost, lambda values: values)
        return DecisionTally(np.bincount(self.action, minlength=n_actions), chosen, tuple(without))


@dataclass(frozen=True, slots=True, eq=False)
class DecisionTally:
    """What decisions come to; ``a + b`` is that of the trials of both, in any order.

    Attributes
    ----------
    counts : (n_actions,) int array
        How often each action is taken.
    chosen : MeanCost
        Expected costs of what is taken.
    without : tuple of MeanCost
        For each action, expected costs if it could not be taken.
    """

    counts: CountArray
    chosen: MeanCost
    without: tuple[MeanCost, ...]

    def __add__(self, other: DecisionTally) -> DecisionTally:
        """Of the trials of both."""
        without = tuple(one + two for one, two in zip(self.without, other.without, strict=True))
        return replace(self, counts=self.counts + other.counts, chosen=self.chosen + other.chosen, without=without)

    @property
    def n_trials(self) -> int:
        """How many were decided."""
        return int(self.counts.sum())

    @property
    def expected_cost(self) -> float:
        """Mean expected cost of a trial, by posteriors as they were computed."""
        return self.chosen.value

    @property
    def worth(self) -> FloatArray:
        """How much more a trial would be expected to cost without each action, (n_actions,): what it is worth."""
        return np.array([max(one.value - self.chosen.value, 0.0) for one in self.without])

    def lines(self, actions: Sequence[str], application: Application) -> list[str]:
        """In words, a sentence for each thing that a reader wants to know.

        Parameters
        ----------
        actions : sequence of str
            What the actions are called.
        application : Application
        """
        n = self.n_trials
        shares = [
            f"{name} {count:,} ({count / n:.3g})" for name, count in zip(actions, self.counts.tolist(), strict=True)
        ]
        default = actions[application.default_action]
        found = [f"{n:,} decided: {', '.join(shares)}"]
        by_prior = f"{application.default_risk:.6g} by the prior alone ({default} always)"
        found.append(f"a decision is expected to cost {self.expected_cost:.6g} on average; {by_prior}")
        if self.expected_cost > application.default_risk * (1.0 + _ROUNDING):
            found.append(
                "that is more, so the prior is not that of these trials, or the scores are not calibrated: what "
                "decisions cost at this prior, a key tells"
            )
        worth = self.worth
        unused = [name for name, count in zip(actions, self.counts.tolist(), strict=True) if not count]
        found += [f"{name} is never the best action here" for name in unused]
        if len(actions) > 2:
            saved = [f"{name} {one:.6g}" for name, one in zip(actions, worth.tolist(), strict=True)]
            found.append(f"how much more a decision would cost without each action: {', '.join(saved)}")
        return found


def decide(loglik: ArrayLike, *, costs: ArrayLike, prior: Priors = None) -> Decisions:
    """Bayes decisions with posteriors and the expected cost of every action (thesis 2.4, 2.5, 2.8).

    Parameters
    ----------
    loglik : (n_trials, n_classes) or, for two classes, (n_trials,) array_like
        As in `bayes_decisions`.
    costs : (n_actions, n_classes) array_like
        Cost of each action when each class is true, finite and at least 0.
    prior : (n_classes,) array_like, optional
        Flat if left out. Classes of prior 0 play no part.

    Returns
    -------
    Decisions
        ``action`` is that of `bayes_decisions`; ``expected_cost`` and ``margin`` in the unit of the costs.

    Raises
    ------
    InputError
        As `bayes_decisions`.

    Examples
    --------
    >>> found = decide([3.0, 0.2, -4.0], costs=[[0, 10], [1, 0], [0.3, 0.3]], prior=[0.5, 0.5])
    >>> found.action, found.expected_cost.round(3), found.margin.round(3)
    (array([2, 2, 1]), array([0.3  , 0.3  , 0.018]), array([0.174, 0.25 , 0.282]))
    """
    application = Application(costs, prior)
    return decided(checked_loglik(loglik, application), application)


def decided(table: ScoreArray, application: Application) -> Decisions:
    """Decide trials of checked log-likelihoods (n_trials, n_classes)."""
    action = least_cost_actions(table, application.costs, application.prior)
    posterior, expected = np.zeros(table.shape), np.zeros((len(table), application.n_actions))
    possible = np.flatnonzero(application.prior > 0)
    log_prior = np.log(application.prior[possible])[:, None]
    for rows in row_blocks(*table.shape):
        shifted = relative(table, rows, possible) + log_prior
        with np.errstate(under="ignore"):
            block = posterior[rows]  # a view
            block[:, possible] = posterior_of(shifted - shifted.max(axis=0), np.ones(len(possible))).T
            for k in possible.tolist():  # a matrix product would round by how many trials there are
                expected[rows] += block[:, k : k + 1] * application.costs[:, k]
    return Decisions(action, posterior, expected)
