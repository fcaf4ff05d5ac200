"""Decisions and their costs on trials, and the scores at which each action is best (thesis 2.8, 5.4, 6.1)."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logit

from deciban._validate import arrays as _validate
from deciban._validate import classes as _validate_classes
from deciban._validate.arrays import tell_of_two
from deciban._validate.classes import tell_of_many
from deciban.core.class_counts import tally
from deciban.core.expected import MeanCost
from deciban.core.logliks import posterior as posterior_of
from deciban.core.logliks import relative, row_blocks
from deciban.decisions.application import TIE, Application, least_cost_actions
from deciban.errors import InputError
from deciban.types import Additive, AnyArray, CountArray, FloatArray, IntArray, Priors, ScoreArray, Weights

_ROUNDING = 1e-9
"""Tolerance of the rounding of sums over trials, as a share of a cost."""

_ENOUGH = 100
"""Fewest trials whose expected costs are compared with the cost at the prior."""


@dataclass(frozen=True, slots=True, eq=False)
class Decisions:
    """Decisions of trials with their expected costs.

    Attributes
    ----------
    action : (n_trials,) int array
        Row of the costs with the least expected cost; the lowest in a tie.
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
        """Expected cost of the chosen action, (n_trials,)."""
        return np.asarray(np.take_along_axis(self.expected, self.action[:, None], axis=1)[:, 0])

    @property
    def margin(self) -> FloatArray:
        """Additional expected cost of the second best action, (n_trials,); ``inf`` if there is no other."""
        if self.expected.shape[1] == 1:
            return np.full(len(self.action), np.inf)
        others = self.expected.copy()
        np.put_along_axis(others, self.action[:, None], np.inf, axis=1)
        return np.asarray(np.maximum(others.min(axis=1) - self.expected_cost, 0.0))

    def tally(self) -> DecisionTally:
        """Return the summary of all decisions."""
        n_actions = self.expected.shape[1]
        without = []
        for k in range(n_actions):
            others = np.delete(self.expected, k, axis=1)
            least = others.min(axis=1) if n_actions > 1 else np.full(len(others), np.inf)
            without.append(MeanCost.of(least, lambda values: values))
        cost = MeanCost.of(self.expected_cost, lambda values: values)
        return DecisionTally(np.bincount(self.action, minlength=n_actions), cost, tuple(without))


@dataclass(frozen=True, slots=True, eq=False)
class DecisionTally(Additive):
    """Summary of decisions; ``a + b`` merges two sets of trials, in any order.

    Attributes
    ----------
    counts : (n_actions,) int array
        Number of trials with each action.
    chosen : MeanCost
        Expected costs of the chosen actions.
    without : tuple of MeanCost
        For each action, expected costs without this action.
    """

    counts: CountArray
    chosen: MeanCost
    without: tuple[MeanCost, ...]

    @property
    def n_trials(self) -> int:
        """Number of trials."""
        return int(self.counts.sum())

    @property
    def expected_cost(self) -> float:
        """Mean expected cost of a trial, according to the computed posteriors."""
        return self.chosen.value

    @property
    def worth(self) -> FloatArray:
        """Additional expected cost of a trial without each action, (n_actions,)."""
        return np.array([max(one.value - self.chosen.value, 0.0) for one in self.without])

    def lines(
        self, actions: Sequence[str], application: Application, by_key: tuple[float, float] | None = None
    ) -> list[str]:
        """Return a description in sentences.

        Parameters
        ----------
        actions : sequence of str
            Names of the actions.
        application : Application
        by_key : (float, float), optional
            Actual and expected mean cost of trials with known classes, weighted by the prior.
        """
        n = self.n_trials
        counts = zip(actions, self.counts.tolist(), strict=True)
        shares = [f"{name} {count:,} ({count / n:.3g})" for name, count in counts]
        default = application.default_risk
        result = [f"{n:,} decided: {', '.join(shares)}"]
        result.append(f"mean expected cost, all trials weighted equally: {self.expected_cost:.6g}")
        if len(actions) > 2:
            saved = [f"{name} +{one:.3g}" for name, one in zip(actions, self.worth.tolist(), strict=True)]
            result.append(f"increase of the mean expected cost if an action is removed: {', '.join(saved)}")
        at_prior = f"mean cost, classes weighted by the prior: {default:.6g} without scores "
        at_prior += f"(always {actions[application.default_action]})"
        if by_key is not None:
            times = f" ({by_key[0] / default:.4g} times the cost without scores)" if default else ""
            at_prior += f", {by_key[0]:.6g} with these decisions according to the key{times}, "
            at_prior += f"{by_key[1]:.6g} expected from the scores"
        result.append(at_prior)
        if by_key is None and n >= _ENOUGH and self.expected_cost > default * (1.0 + _ROUNDING):
            result.append(
                "the mean expected cost is higher than without scores: the classes have other shares in these trials "
                "than in the prior, or the scores are not calibrated (with a key, decide prints the actual cost; a "
                "score file with labels can be its own key)"
            )
        return result


def decide(loglik: ArrayLike, *, costs: ArrayLike, prior: Priors = None) -> Decisions:
    """Return Bayes decisions with posteriors and the expected cost of every action (thesis 2.4, 2.5, 2.8).

    Parameters
    ----------
    loglik : (n_trials, n_classes) or, for two classes, (n_trials,) array_like
        See `bayes_decisions`.
    costs : (n_actions, n_classes) array_like
        Cost of each action for each true class, finite and at least 0.
    prior : (n_classes,) array_like, optional
        Default: flat. Classes of prior 0 do not matter.

    Returns
    -------
    Decisions
        ``action`` is the same as in `bayes_decisions`; ``expected_cost`` and ``margin`` are in the unit of the costs.

    Raises
    ------
    InputError
        See `bayes_decisions`.

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
            for k in possible.tolist():  # the rounding of a matrix product would depend on the number of trials
                expected[rows] += block[:, k : k + 1] * application.costs[:, k]
    return Decisions(action, posterior, expected)


_MARGIN = 1e-12
"""Least advantage of an action, as a share of the largest cost."""


@dataclass(frozen=True, slots=True)
class Region:
    """Range of posteriors in which an action of a two-class application is best.

    Attributes
    ----------
    action : int
    low, high : float
        Range of posteriors of class 0, the target.
    """

    action: int
    low: float
    high: float

    def llrs(self, p_target: float) -> tuple[float, float]:
        """Return the range as log-likelihood ratios in nats at a prior."""
        shift = float(logit(p_target))
        low, high = (float(logit(one)) - shift for one in (self.low, self.high))
        return low, high


def regions(application: Application) -> list[Region]:
    """Return ranges of the posterior in which each action of two classes is best, from low to high.

    Parameters
    ----------
    application : Application
        A two-class application; its prior does not matter.

    Returns
    -------
    list of Region

    Raises
    ------
    InputError
        If there are more classes.

    Notes
    -----
    Actions that are never best are omitted. Expected costs are linear in the posterior (thesis 2.4), and the least of
    them is their lower envelope. If lines cross, the action with the lower index is chosen, as in Bayes decisions.

    Examples
    --------
    >>> for one in regions(Application([[0, 10], [1, 0], [0.5, 0.5], [3, 3]])):
    ...     print(one)
    Region(action=1, low=0.0, high=0.5)
    Region(action=2, low=0.5, high=0.95)
    Region(action=0, low=0.95, high=1.0)
    """
    if application.n_classes != 2:
        raise InputError(f"costs: thresholds need two classes, got {application.n_classes}.")
    scaled = application.costs / (application.costs.max() or 1.0)  # differences of large costs stay finite
    at_zero, at_one = scaled[:, 1], scaled[:, 0]
    slope = at_one - at_zero
    low, result = 0.0, list[Region]()
    current = int(np.lexsort((np.arange(len(slope)), slope, at_zero))[0])
    while True:
        # The next action falls more steeply, and is the first to cross.
        gain = slope[current] - slope
        here = at_zero[current] - at_zero
        with np.errstate(divide="ignore", invalid="ignore"):
            crossing = np.where(gain > 0, -here / gain, np.inf)
        crossing = np.maximum(crossing, low)
        place = float(crossing.min())
        if not place < 1.0:
            result.append(Region(current, low, 1.0))
            return result
        # If several lines meet, rounding would leave slivers between them.
        ties = np.flatnonzero(crossing - place <= TIE * min(place, 1.0 - place))
        best = int(ties[np.lexsort((ties, slope[ties]))[0]])
        if place > low:
            result.append(Region(current, low, place))
        low, current = place, best


def explained(application: Application, actions: Sequence[str], classes: Sequence[str]) -> list[str]:
    """Return a description of a cost matrix and a prior, in sentences.

    Parameters
    ----------
    application : Application
    actions, classes : sequence of str
        Names of the rows and columns.

    Returns
    -------
    list of str
        The default action and its risk; thresholds for two classes, or canonical costs for more; actions that are never
        best.

    Examples
    --------
    >>> for line in explained(Application([[0, 1], [10, 0]], [0.01, 0.99]), ["accept", "reject"], ["target", "other"]):
    ...     print(line)
    Without scores: reject, mean cost 0.1.
    reject up to llr 2.29253 (posterior of target 0.0909091), accept from there on.
    The same decisions follow from costs of 1 at prior 0.0917431.
    The same decisions follow from equal priors and the costs (target, other): accept (0, 1.98), reject (0.2, 0).
    """
    default = actions[application.default_action]
    lines = [f"Without scores: {default}, mean cost {application.default_risk:.6g}."]
    if application.n_classes == 2:
        lines += _two(application, actions, classes)
    else:
        lines.append(_same_costs(application, actions, classes))
    never = [name for name, is_best in zip(actions, ever_best(application), strict=True) if not is_best]
    lines += [f"{name} is never best, at any scores." for name in never]
    return lines


def _two(application: Application, actions: Sequence[str], classes: Sequence[str]) -> list[str]:
    p_target, result = float(application.prior[0]), regions(application)
    words = []
    for one in result:
        _, high = one.llrs(p_target)
        if one.high < 1.0:
            words.append(f"{actions[one.action]} up to llr {high:.6g} (posterior of {classes[0]} {one.high:.6g})")
        else:
            words.append(f"{actions[one.action]} from there on" if len(result) > 1 else f"{actions[one.action]} always")
    lines = [", ".join(words) + "."]
    with contextlib.suppress(InputError):  # no operating point has the same decisions
        lines.append(
            f"The same decisions follow from costs of 1 at prior {application.operating_point().effective_prior:.6g}."
        )
    return [*lines, _same_costs(application, actions, classes)]


def _same_costs(application: Application, actions: Sequence[str], classes: Sequence[str]) -> str:
    rows = zip(actions, application.canonical().costs, strict=True)
    costs = [f"{name} ({', '.join(f'{cost:.6g}' for cost in row)})" for name, row in rows]
    return f"The same decisions follow from equal priors and the costs ({', '.join(classes)}): {', '.join(costs)}."


def ever_best(application: Application) -> list[bool]:
    """Return True for each action that is strictly best, or first in a tie, at some posterior.

    Parameters
    ----------
    application : Application

    Returns
    -------
    list of bool
        One for each action; by linear programming for more than two classes.

    Examples
    --------
    >>> ever_best(Application([[0, 1, 1], [1, 0, 1], [1, 1, 0], [0.7, 0.7, 0.7]]))
    [True, True, True, False]
    """
    if application.n_classes == 2:
        used = {one.action for one in regions(application)}
        return [k in used for k in range(application.n_actions)]
    from scipy.optimize import linprog  # rarely needed

    costs = application.costs / (application.costs.max() or 1.0)
    items = []
    for k, row in enumerate(costs):
        others = np.delete(costs, k, axis=0)
        if not len(others):
            items.append(True)
            continue
        # The largest margin t by which action k is better than all others at some posterior.
        rows = np.column_stack((row - others, np.ones(len(others))))
        equal = np.append(np.ones(application.n_classes), 0.0)[None]
        objective = np.append(np.zeros(application.n_classes), -1.0)
        bounds = [(0, None)] * application.n_classes + [(None, None)]
        best = linprog(objective, A_ub=rows, b_ub=np.zeros(len(others)), A_eq=equal, b_eq=[1.0], bounds=bounds)
        margin = float(np.asarray(best.x)[-1])
        alike = [at for at, other in enumerate(costs) if at != k and np.array_equal(row, other)]
        items.append(margin > _MARGIN or bool(alike and k < min(alike)))
    return items


def bayes_decisions(loglik: ArrayLike, *, costs: ArrayLike, prior: Priors = None) -> IntArray:
    """Return Bayes decisions: the action of least expected cost for each trial (thesis eqs. 2.5 and 2.8).

    Parameters
    ----------
    loglik : (n_trials, n_classes) array_like
        Log-likelihoods in nats; only differences within a trial matter. Infinite values are limits: a class with -inf
        is impossible, a class with +inf is certain, and several classes with +inf are equally likely. For two classes
        also log-likelihood ratios (n_trials,) of class 0 to class 1.
    costs : (n_actions, n_classes) array_like
        Cost of each action for each true class, finite and at least 0.
    prior : (n_classes,) array_like, optional
        Default: flat. Classes of prior 0 do not matter.

    Returns
    -------
    (n_trials,) int array
        Indices of actions; in a tie, the lowest. Expected costs, without the unavoidable costs, count as equal if they
        agree to a relative 2^-46 (1.4e-14), so that rounding does not decide ties.

    Notes
    -----
    If all errors cost the same and the prior is flat, scores are compared directly, here and in
    `deciban.multiclass.error_rate`: both make the same decisions. Otherwise costs are sums, whose rounding would decide
    exact ties, so there is a tolerance. `deciban.multiclass.error_rate` has no tolerance at any prior. It compares
    single numbers, log posteriors, so that two classes are compared exactly with the Bayes threshold, as in
    `deciban.metrics`. There, a log-likelihood ratio just below the threshold is rejected; here it is still a tie, which
    goes to action 0.

    Raises
    ------
    InputError
        If log-likelihoods contain NaN, costs are negative or not finite, shapes do not match, the prior is invalid, or
        a trial excludes every class.

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
    """Return the mean cost of Bayes decisions, averaged by class and weighted by the prior (thesis eqs. 5.4, 6.1).

    Parameters
    ----------
    loglik : (n_trials, n_classes) or, for two classes, (n_trials,) array_like
        See `bayes_decisions`.
    label : (n_trials,) array_like
        True class of each trial: indices from 0, or names if ``classes`` is given.
    costs : (n_actions, n_classes) array_like
        Cost of each action for each true class, finite and at least 0.
    prior : (n_classes,) array_like, optional
        Default: flat. Used for the decisions and for weighting the classes.
    normalize : bool
        Divide by `default_risk`: above 1, decisions are worse than decisions from the prior alone.
    classes : iterable of str, optional
        Names of the classes in the order of the columns.
    sample_weight : (n_trials,) array_like, optional
        Weight of each trial, at least 0; whole numbers count like copies of the trial.

    Returns
    -------
    float
        ``sum_i prior_i mean over class i of C[decision, i]``, in units of the costs, or a ratio.

    Raises
    ------
    InputError
        See `bayes_decisions`. Also if a class of positive prior has no trials, or the default risk is 0 and
        ``normalize`` is True.

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
    """Return the mean cost of any decisions, with classes averaged as in `empirical_risk`.

    Parameters
    ----------
    decision : (n_trials,) array_like
        Index of the action taken in each trial.
    label : (n_trials,) array_like
        True class of each trial: indices from 0, or names if ``classes`` is given.
    costs : (n_actions, n_classes) array_like
        Cost of each action for each true class, finite and at least 0.
    prior : (n_classes,) array_like, optional
        Default: flat.
    normalize : bool
        Divide by `default_risk`.
    classes : iterable of str, optional
        Names of the classes in the order of the columns of ``costs``.
    sample_weight : (n_trials,) array_like, optional
        Weight of each trial, at least 0; whole numbers count like copies of the trial.

    Returns
    -------
    float
        In units of the costs, or a ratio. Better-informed decisions can cost less than Bayes decisions from the
        log-likelihoods: the difference is the possible gain by calibration.

    Raises
    ------
    InputError
        See `empirical_risk`. Also if a decision is not the index of an action.

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
    """Return the `decision_counts` of given decisions, and their `decision_risk`."""
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
    """Count how often Bayes decisions choose each action in trials of each class.

    Parameters
    ----------
    loglik : (n_trials, n_classes) or, for two classes, (n_trials,) array_like
        See `bayes_decisions`.
    label : (n_trials,) array_like
        True class of each trial: indices from 0, or names if ``classes`` is given.
    costs : (n_actions, n_classes) array_like
        Cost of each action for each true class, finite and at least 0.
    prior : (n_classes,) array_like, optional
        Default: flat.
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
        See `bayes_decisions`, but classes may have no trials.

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
    """Return the cost of the best decision without scores, ``min_a sum_i prior_i C[a, i]`` (thesis eqs. 2.11, 2.46).

    Parameters
    ----------
    costs : (n_actions, n_classes) array_like
        Cost of each action for each true class, finite and at least 0.
    prior : (n_classes,) array_like, optional
        Default: flat.

    Returns
    -------
    float
        In units of the costs: the entropy of the prior for these costs. The value of a recognizer in this application
        is this minus its `empirical_risk`.

    Raises
    ------
    InputError
        If costs are negative or not finite, or the prior is invalid.

    Examples
    --------
    >>> default_risk(costs=[[0, 1], [10, 0]], prior=[0.01, 0.99])
    0.1
    """
    return Application(costs, prior).default_risk


def checked_loglik(loglik: ArrayLike, application: Application, *, tell: bool = True) -> ScoreArray:
    """Return checked log-likelihoods of the classes of an application; log-likelihood ratios become two columns.

    Warn if they look like probabilities, unless ``tell`` is False.
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
            f"loglik: {checked.shape[1]} classes, but costs are for {application.n_classes}. In both, each column "
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
            f"decision: expected a vector of indices of actions, got {vector.dtype} of shape {vector.shape}. Pass one "
            "per trial."
        )
    bad = np.flatnonzero((vector < 0) | (vector >= application.n_actions))
    if len(bad):
        raise InputError(
            f"decision: {len(bad)} of {len(vector)} are not actions, the first at index {bad[0]}: {vector[bad[0]]}. "
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
            "normalize: the default decision costs nothing, because an action has cost 0 for every class. "
            "Pass normalize=False."
        )
    return risk / default
