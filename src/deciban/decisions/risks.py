"""Decisions and their costs on trials, and the scores for which each action is best (thesis 2.8, 5.4, 6.1)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logit

from deciban._validate import arrays as _validate
from deciban._validate import classes as _validate_classes
from deciban._validate.probabilities import tell_of_many, tell_of_two
from deciban.core.by_value import Additive
from deciban.core.classes.counts import tally
from deciban.core.classes.loglik import posterior as posterior_of
from deciban.core.classes.loglik import relative, row_blocks
from deciban.core.rules.expected import MeanCost
from deciban.decisions.application import TIE, Application, least_cost_actions
from deciban.errors import InputError
from deciban.types import AnyArray, CountArray, FloatArray, IntArray, Priors, ScoreArray, Weights

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
class DecisionTally(Additive):
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
                "this is more than by the prior alone: the trials have another prior, or the scores are not "
                "calibrated. A key shows what decisions cost (--key)"
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


_MARGIN = 1e-12
"""Shares of the largest cost by which an action has to be better."""


@dataclass(frozen=True, slots=True)
class Region:
    """Where an action of two classes is best.

    Attributes
    ----------
    action : int
    low, high : float
        Posteriors of class 0, the target, between which it is best.
    """

    action: int
    low: float
    high: float

    def llrs(self, p_target: float) -> tuple[float, float]:
        """The same as log-likelihood ratios in nats at a prior."""
        shift = float(logit(p_target))
        low, high = (float(logit(one)) - shift for one in (self.low, self.high))
        return low, high


def regions(application: Application) -> list[Region]:
    """Posteriors for which each action of two classes is best, from low to high; actions that never pay are not there.

    Parameters
    ----------
    application : Application
        Of two classes; its prior plays no part.

    Returns
    -------
    list of Region

    Raises
    ------
    InputError
        If there are more classes.

    Notes
    -----
    Expected costs are straight lines in the posterior (thesis 2.4), and the least of them is their lower envelope.
    Where lines cross, the action with the lower index is taken, as in Bayes decisions.

    Examples
    --------
    >>> for one in regions(Application([[0, 10], [1, 0], [0.5, 0.5], [3, 3]])):
    ...     print(one)
    Region(action=1, low=0.0, high=0.5)
    Region(action=2, low=0.5, high=0.95)
    Region(action=0, low=0.95, high=1.0)
    """
    if application.n_classes != 2:
        raise InputError(f"costs: thresholds are of two classes, here are {application.n_classes}.")
    scaled = application.costs / (application.costs.max() or 1.0)  # differences of large ones stay finite
    at_zero, at_one = scaled[:, 1], scaled[:, 0]
    slope = at_one - at_zero
    low, found = 0.0, list[Region]()
    current = int(np.lexsort((np.arange(len(slope)), slope, at_zero))[0])
    while True:
        # The next action is one that falls more steeply, and is the first to cross.
        gain = slope[current] - slope
        here = at_zero[current] - at_zero
        with np.errstate(divide="ignore", invalid="ignore"):
            crossing = np.where(gain > 0, -here / gain, np.inf)
        crossing = np.maximum(crossing, low)
        place = float(crossing.min())
        if not place < 1.0:
            found.append(Region(current, low, 1.0))
            return found
        # Where several meet, rounding would leave slivers between them.
        ties = np.flatnonzero(crossing - place <= TIE * min(place, 1.0 - place))
        best = int(ties[np.lexsort((ties, slope[ties]))[0]])
        if place > low:
            found.append(Region(current, low, place))
        low, current = place, best


def explained(application: Application, actions: Sequence[str], classes: Sequence[str]) -> list[str]:
    """What a cost matrix and a prior amount to, in sentences.

    Parameters
    ----------
    application : Application
    actions, classes : sequence of str
        What its rows and columns are called.

    Returns
    -------
    list of str
        The default action and its risk; thresholds of two classes, or the canonical costs of more; actions that are
        never best.

    Examples
    --------
    >>> for line in explained(Application([[0, 1], [10, 0]], [0.01, 0.99]), ["accept", "reject"], ["target", "other"]):
    ...     print(line)
    By the prior alone: reject, which costs 0.1 on average.
    reject up to llr 2.29253 (posterior of target 0.0909091), accept from there on.
    Like unit costs at the effective prior 0.0917431 (canonical costs: accept 0 1.98; reject 0.2 0).
    """
    default = actions[application.default_action]
    lines = [f"By the prior alone: {default}, which costs {application.default_risk:.6g} on average."]
    if application.n_classes == 2:
        lines += _two(application, actions, classes)
    else:
        lines.append(f"Canonical costs at the flat prior: {_rows(application.canonical().costs, actions)}.")
    never = [name for name, is_best in zip(actions, ever_best(application), strict=True) if not is_best]
    lines += [f"{name} is never best, whatever the scores." for name in never]
    return lines


def _two(application: Application, actions: Sequence[str], classes: Sequence[str]) -> list[str]:
    p_target, found = float(application.prior[0]), regions(application)
    words = []
    for one in found:
        _, high = one.llrs(p_target)
        if one.high < 1.0:
            words.append(f"{actions[one.action]} up to llr {high:.6g} (posterior of {classes[0]} {one.high:.6g})")
        else:
            words.append(f"{actions[one.action]} from there on" if len(found) > 1 else f"{actions[one.action]} always")
    lines = [", ".join(words) + "."]
    canonical = _rows(application.canonical().costs, actions)
    try:
        prior = application.operating_point().effective_prior
        lines.append(f"Like unit costs at the effective prior {prior:.6g} (canonical costs: {canonical}).")
    except InputError:
        lines.append(f"Canonical costs at the flat prior: {canonical}.")
    return lines


def _rows(costs: FloatArray, actions: Sequence[str]) -> str:
    rows = [f"{name} {' '.join(f'{cost:.6g}' for cost in row)}" for name, row in zip(actions, costs, strict=True)]
    return "; ".join(rows)


def ever_best(application: Application) -> list[bool]:
    """Whether there is a posterior at which each action is strictly best, or first among equals.

    Parameters
    ----------
    application : Application

    Returns
    -------
    list of bool
        One for each action; by linear programming where there are more than two classes.

    Examples
    --------
    >>> ever_best(Application([[0, 1, 1], [1, 0, 1], [1, 1, 0], [0.7, 0.7, 0.7]]))
    [True, True, True, False]
    """
    if application.n_classes == 2:
        used = {one.action for one in regions(application)}
        return [k in used for k in range(application.n_actions)]
    from scipy.optimize import linprog  # few need it

    costs = application.costs / (application.costs.max() or 1.0)
    found = []
    for k, row in enumerate(costs):
        others = np.delete(costs, k, axis=0)
        if not len(others):
            found.append(True)
            continue
        # The widest margin t by which action k is better than all others at some posterior.
        rows = np.column_stack((row - others, np.ones(len(others))))
        equal = np.append(np.ones(application.n_classes), 0.0)[None]
        objective = np.append(np.zeros(application.n_classes), -1.0)
        bounds = [(0, None)] * application.n_classes + [(None, None)]
        best = linprog(objective, A_ub=rows, b_ub=np.zeros(len(others)), A_eq=equal, b_eq=[1.0], bounds=bounds)
        margin = float(np.asarray(best.x)[-1])
        alike = [at for at, other in enumerate(costs) if at != k and np.array_equal(row, other)]
        found.append(margin > _MARGIN or bool(alike and k < min(alike)))
    return found


def bayes_decisions(loglik: ArrayLike, *, costs: ArrayLike, prior: Priors = None) -> IntArray:
    """Bayes decisions: for each trial the action of least expected cost (thesis eqs. 2.5 and 2.8).

    Parameters
    ----------
    loglik : (n_trials, n_classes) array_like
        Log-likelihoods in nats; what is added to all of a trial changes nothing. Infinite ones are limits: a class of
        -inf is out of the question, one of +inf certain, and several of +inf are equally likely. With two classes
        also (n_trials,) log-likelihood ratios of class 0 to class 1.
    costs : (n_actions, n_classes) array_like
        Cost of each action when each class is true, finite and at least 0.
    prior : (n_classes,) array_like, optional
        Flat if left out. Classes of prior 0 play no part.

    Returns
    -------
    (n_trials,) int array
        Indices of actions. Of several that cost the least the lowest; expected costs, less what no action avoids,
        that agree to 2^-46 (1.4e-14) of themselves are equal, so that rounding does not decide ties.

    Notes
    -----
    Where all errors cost the same and the prior is flat, scores are compared as they are, here and in
    `deciban.multiclass.error_rate`: both make the same decisions. Otherwise costs are sums, whose rounding would break
    exact ties by chance: hence the tolerance. `deciban.multiclass.error_rate` has none at any prior. It compares single
    numbers, log posteriors, so that two classes meet the Bayes threshold to the last digit as in `deciban.metrics`,
    where a log-likelihood ratio just below it is rejected; here that is still a tie, which goes to action 0.

    Raises
    ------
    InputError
        If log-likelihoods hold NaN, costs are negative or not finite, shapes do not agree, the prior is none, or a
        trial excludes every class.

    Examples
    --------
    >>> loglik = [[2.0, 0.0, -1.0], [0.0, 0.5, 0.4], [0.0, 0.0, -3.0]]
    >>> bayes_decisions(loglik, costs=[[0, 1, 1], [1, 0, 1], [1, 1, 0], [0.4, 0.4, 0.4]])
    array([0, 3, 3])
    >>> bayes_decisions([2.0, 2.2, 2.4], costs=[[0, 1], [1, 0]], prior=[0.1, 0.9])
    array([1, 0, 0])
    """
    application = Application(costs, prior)
    return least_cost_actions(checked_loglik(loglik, application), application.costs, application.prior)


def empirical_risk(
    loglik: ArrayLike,
    label: ArrayLike,
    *,
    costs: ArrayLike,
    prior: Priors = None,
    normalize: bool = False,
    classes: Iterable[str] | None = None,
    sample_weight: Weights = None,
) -> float:
    """Mean cost of Bayes decisions, each class averaged by itself and weighted by its prior (thesis eqs. 5.4, 6.1).

    Parameters
    ----------
    loglik : (n_trials, n_classes) or, for two classes, (n_trials,) array_like
        As in `bayes_decisions`.
    label : (n_trials,) array_like
        True class of each trial: indices from 0, or names if ``classes`` is given.
    costs : (n_actions, n_classes) array_like
        Cost of each action when each class is true, finite and at least 0.
    prior : (n_classes,) array_like, optional
        Flat if left out. Decides with the costs, and weights the classes.
    normalize : bool
        Divide by `default_risk`: above 1, decisions are worse than those that the prior alone makes.
    classes : iterable of str, optional
        Names of the classes in the order of the columns.
    sample_weight : (n_trials,) array_like, optional
        Weight of each trial, at least 0; whole numbers count like copies of the trial.

    Returns
    -------
    float
        ``sum_i prior_i mean over class i of C[decision, i]``, in units of the costs, or a plain ratio.

    Raises
    ------
    InputError
        As `bayes_decisions`; if a class of prior above 0 has no trial, or the default risk to divide by is 0.

    Examples
    --------
    >>> loglik, label = [[2.0, 0.0, -1.0], [0.0, 0.5, 0.4], [0.0, 0.0, 3.0]], [0, 1, 2]
    >>> empirical_risk(loglik, label, costs=[[0, 1, 1], [1, 0, 1], [1, 1, 0], [0.3, 0.3, 0.3]])
    0.09999999999999999
    """
    application = Application(costs, prior)
    decision = least_cost_actions(checked_loglik(loglik, application), application.costs, application.prior)
    counts = _counts(decision, label, application, classes, sample_weight, needed=True)
    return _risk(counts, application, normalize=normalize)


def decision_risk(
    decision: ArrayLike,
    label: ArrayLike,
    *,
    costs: ArrayLike,
    prior: Priors = None,
    normalize: bool = False,
    classes: Iterable[str] | None = None,
    sample_weight: Weights = None,
) -> float:
    """Mean cost of decisions however they were made, classes averaged as in `empirical_risk`.

    Parameters
    ----------
    decision : (n_trials,) array_like
        Index of the action taken in each trial.
    label : (n_trials,) array_like
        True class of each trial: indices from 0, or names if ``classes`` is given.
    costs : (n_actions, n_classes) array_like
        Cost of each action when each class is true, finite and at least 0.
    prior : (n_classes,) array_like, optional
        Flat if left out.
    normalize : bool
        Divide by `default_risk`.
    classes : iterable of str, optional
        Names of the classes in the order of the columns of ``costs``.
    sample_weight : (n_trials,) array_like, optional
        Weight of each trial, at least 0; whole numbers count like copies of the trial.

    Returns
    -------
    float
        In units of the costs, or a plain ratio. The decisions of one who knows better can cost less than Bayes
        decisions from the log-likelihoods: the difference is what calibration might gain.

    Raises
    ------
    InputError
        As `empirical_risk`; if a decision is not the index of an action.

    Examples
    --------
    >>> decision_risk([0, 1, 1, 1], [0, 0, 1, 1], costs=[[0, 1], [10, 0]], prior=[0.01, 0.99])
    0.05
    """
    application = Application(costs, prior)
    counts = _counts(_actions(decision, application), label, application, classes, sample_weight, needed=True)
    return _risk(counts, application, normalize=normalize)


def counts_and_risk(
    decision: AnyArray, label: ArrayLike, application: Application, sample_weight: Weights = None
) -> tuple[CountArray, float]:
    """`decision_counts` of decisions that were made, and their `decision_risk`."""
    counts = _counts(decision, label, application, None, sample_weight, needed=True)
    return counts, _risk(counts, application, normalize=False)


def decision_counts(
    loglik: ArrayLike,
    label: ArrayLike,
    *,
    costs: ArrayLike,
    prior: Priors = None,
    classes: Iterable[str] | None = None,
    sample_weight: Weights = None,
) -> CountArray:
    """How often Bayes decisions take each action in trials of each class.

    Parameters
    ----------
    loglik : (n_trials, n_classes) or, for two classes, (n_trials,) array_like
        As in `bayes_decisions`.
    label : (n_trials,) array_like
        True class of each trial: indices from 0, or names if ``classes`` is given.
    costs : (n_actions, n_classes) array_like
        Cost of each action when each class is true, finite and at least 0.
    prior : (n_classes,) array_like, optional
        Flat if left out.
    classes : iterable of str, optional
        Names of the classes in the order of the columns.
    sample_weight : (n_trials,) array_like, optional
        Weight of each trial, at least 0.

    Returns
    -------
    (n_actions, n_classes) array
        Numbers of trials, or sums of weights if these are not whole numbers.

    Raises
    ------
    InputError
        As `bayes_decisions`, but classes may be without trials.

    Examples
    --------
    >>> decision_counts([1.0, -1.0, 0.5, -2.0], [0, 0, 1, 1], costs=[[0, 1], [1, 0]])
    array([[1, 1],
           [1, 1]])
    """
    application = Application(costs, prior)
    decision = least_cost_actions(checked_loglik(loglik, application), application.costs, application.prior)
    return _counts(decision, label, application, classes, sample_weight, needed=False)


def default_risk(*, costs: ArrayLike, prior: Priors = None) -> float:
    """Cost of the best decision without any data, ``min_a sum_i prior_i C[a, i]`` (thesis eqs. 2.11, 2.46).

    Parameters
    ----------
    costs : (n_actions, n_classes) array_like
        Cost of each action when each class is true, finite and at least 0.
    prior : (n_classes,) array_like, optional
        Flat if left out.

    Returns
    -------
    float
        In units of the costs: the entropy of the prior that belongs to these costs. What a recognizer is worth in
        this application is this minus its `empirical_risk`.

    Raises
    ------
    InputError
        If costs are negative or not finite, or the prior is none.

    Examples
    --------
    >>> default_risk(costs=[[0, 1], [10, 0]], prior=[0.01, 0.99])
    0.1
    """
    return Application(costs, prior).default_risk


def checked_loglik(loglik: ArrayLike, application: Application, *, tell: bool = True) -> ScoreArray:
    """Return checked log-likelihoods of the classes of an application; log-likelihood ratios become two columns.

    That they look like probabilities is told, unless they are a piece of something.
    """
    table = _validate.array(loglik, "loglik")
    if table.ndim == 1:
        llr = _validate.scores(table, "loglik")
        if tell:
            tell_of_two(llr)
        table = np.column_stack((llr, np.zeros_like(llr)))
    checked = _validate_classes.loglik(table)
    if checked.shape[1] != application.n_classes:
        raise InputError(
            f"loglik: {checked.shape[1]} classes, but costs are given for {application.n_classes}. One column of both "
            "is a class."
        )
    if tell:
        tell_of_many(checked)
    return checked


def _actions(decision: ArrayLike, application: Application) -> AnyArray:
    """Return decisions as indices of actions."""
    vector = _validate.array(decision, "decision")
    if vector.ndim != 1 or len(vector) == 0 or vector.dtype.kind not in "iu":
        raise InputError(
            f"decision: expected a vector of indices of actions, got {vector.dtype} of shape {vector.shape}. Give one "
            "per trial."
        )
    bad = np.flatnonzero((vector < 0) | (vector >= application.n_actions))
    if len(bad):
        raise InputError(
            f"decision: {len(bad)} of {len(vector)} are no actions, the first at index {bad[0]}: {vector[bad[0]]}. "
            f"Actions are rows of costs, 0 to {application.n_actions - 1}."
        )
    return vector


def _counts(
    decision: AnyArray,
    label: ArrayLike,
    application: Application,
    classes: Iterable[str] | None,
    sample_weight: Weights,
    *,
    needed: bool,
) -> CountArray:
    """Return trials, or their weights, by action and true class; if ``needed``, possible classes must have some."""
    n_actions, n_classes = application.costs.shape
    names = _validate_classes.names(classes, n_classes)
    true = _validate_classes.label(label, len(decision), n_classes, names)
    weights = _validate.weights(sample_weight, len(decision), "sample_weight")
    if needed:
        possible = application.prior > 0
        _validate_classes.all_classes(true, n_classes, weights=weights, needed=possible, classes=names)
    cell = decision.astype(np.int64, copy=False) * n_classes + true
    return tally(cell, n_actions * n_classes, weights).reshape(n_actions, n_classes)


def _risk(counts: CountArray, application: Application, *, normalize: bool) -> float:
    """Return the risk of counted decisions."""
    possible = application.prior > 0
    rates = counts[:, possible] / counts[:, possible].sum(axis=0)
    risk = float((application.costs[:, possible] * rates).sum(axis=0) @ application.prior[possible])
    if not normalize:
        return risk
    default = application.default_risk
    if default == 0:
        raise InputError(
            "normalize: the default decision costs nothing, there is an action that is free whatever class is true. "
            "Pass normalize=False."
        )
    return risk / default
