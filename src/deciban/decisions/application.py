"""Applications (costs of actions and a prior; thesis 2.5, 2.8, ch. 6), and monitoring of scores without labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logit

from deciban._validate import arrays as _validate
from deciban._validate import classes as _validate_classes
from deciban._validate.classes import distributions
from deciban.core.class_counts import chosen
from deciban.core.logliks import llr_of_probability, relative
from deciban.core.ranks.roc import OperatingPoint, PointLike, as_operating_point
from deciban.errors import InputError, warn
from deciban.types import BoolArray, FloatArray, IntArray, Priors, ScoreArray, Weights

_MOST_ACTIONS = 2**20
"""Limit of compound actions, because all their costs are stored."""

_ALIKE = 1e-9
"""Relative difference of costs that rounding may cause."""


@dataclass(frozen=True, eq=False)
class Application:
    """Cost of each action for each true class, and the prior (thesis chapter 6).

    Parameters
    ----------
    costs : (n_actions, n_classes) array_like
        Finite and at least 0. There may be more or fewer actions than classes, including an action that rejects the
        trial.
    prior : (n_classes,) array_like, optional
        Prior probabilities; default: flat. Classes of prior 0 do not matter.

    Raises
    ------
    InputError
        If a cost is negative, infinite or NaN, the prior is invalid, or their shapes do not match.

    Examples
    --------
    >>> application = Application([[0, 1], [10, 0]], [0.01, 0.99])
    >>> application.default_action, round(application.default_risk, 3)
    (1, 0.1)
    >>> application.operating_point()
    OperatingPoint(p_target=0.01, c_miss=10.0, c_fa=1.0)
    """

    costs: FloatArray
    prior: FloatArray

    def __init__(self, costs: ArrayLike, prior: Priors = None) -> None:
        checked = _cost_matrix(costs)
        probabilities = np.array(_validate_classes.prior(prior, checked.shape[1]))
        for name, array in (("costs", checked), ("prior", probabilities)):
            array.flags.writeable = False
            object.__setattr__(self, name, array)

    @classmethod
    def of_operating_point(cls, point: OperatingPoint) -> Application:
        """Create for detection: classes target (0) and non-target (1), actions accept (0) and reject (1)."""
        return cls([[0.0, point.c_fa], [point.c_miss, 0.0]], [point.p_target, 1.0 - point.p_target])

    @property
    def n_actions(self) -> int:
        """Number of actions."""
        return len(self.costs)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.prior)

    @property
    def default_action(self) -> int:
        """Bayes decision from the prior alone; in a tie, the lowest index."""
        return int(least_cost_actions(np.zeros((1, self.n_classes)), self.costs, self.prior)[0])

    @property
    def default_risk(self) -> float:
        """Risk of the default action, ``min_a sum_i prior_i C[a, i]``: the entropy of the prior (thesis 2.11, 2.46)."""
        return float((self.costs @ self.prior).min())

    @property
    def least_risk(self) -> float:
        """Risk with known true classes, ``sum_i prior_i min_a C[a, i]``; 0 in canonical form."""
        return float(self.costs.min(axis=0) @ self.prior)

    def at_prior(self, prior: Priors = None) -> Application:
        """Return the equivalent application at another prior, with the same ``prior_i C[a, i]`` (thesis 6.3, 6.8).

        Decisions and risks do not change if the decisions are made at the new prior.

        Parameters
        ----------
        prior : (n_classes,) array_like, optional
            Default: flat. It must be above 0 for all classes with a positive prior in this application.

        Raises
        ------
        InputError
            If it is not a prior, or has an invalid 0.
        """
        weights = _validate_classes.prior(prior, self.n_classes)
        impossible = np.flatnonzero((weights == 0) & (self.prior > 0))
        if len(impossible):
            raise InputError(
                f"prior: 0 for class {impossible[0]}, whose prior is {self.prior[impossible[0]]:g} here. "
                "No cost compensates for a prior of 0: use a prior above 0."
            )
        ratio = np.divide(self.prior, weights, out=np.zeros(self.n_classes), where=weights > 0)
        return Application(self.costs * ratio, weights)

    def canonical(self) -> Application:
        """Return the canonical form: flat prior, and for each class an action with cost 0 (thesis 3.10, 6.3.1).

        Decisions at the flat prior are the same; every risk is smaller by `least_risk`.
        """
        return Application(self.costs - self.costs.min(axis=0), self.prior).at_prior()

    def is_equivalent_to(self, other: Application) -> bool:
        """Return True if the canonical forms are the same up to a positive factor (thesis 3.9, 6.8).

        Then both compare recognizers in the same way. Actions are compared in their order, and costs with a relative
        tolerance of 1e-9, for the rounding of a prior near 1.
        """
        if self.costs.shape != other.costs.shape:
            return False
        forms = [application.canonical().costs for application in (self, other)]
        one, two = (form / (form.max() or 1.0) for form in forms)
        return bool(np.allclose(one, two, rtol=_ALIKE, atol=0.0))

    def operating_point(self) -> OperatingPoint:
        """Return the operating point of a detection problem: action 0 accepts class 0, action 1 rejects it.

        Unavoidable costs are subtracted. Its ``effective_prior`` is the prior of the equivalent problem with unit
        costs.

        Raises
        ------
        InputError
            If there are not two actions and two classes, or an action is never worse than the other.
        """
        if self.costs.shape != (2, 2):
            raise InputError(
                f"costs: an operating point has 2 actions and 2 classes, got {self.n_actions} and "
                f"{self.n_classes}. Use the application itself."
            )
        avoidable = self.costs - self.costs.min(axis=0)
        if avoidable[0, 0] > 0 or avoidable[1, 1] > 0 or not avoidable.any():
            raise InputError(
                f"costs: {self.costs.tolist()} is not a detection problem: action 0 must cost less than action 1 if "
                "class 0 is true, and more if class 1 is. Change the order of the actions or of the classes."
            )
        return OperatingPoint(float(self.prior[0]), float(avoidable[1, 0]), float(avoidable[0, 1]))


def combine_applications(
    applications: Sequence[Application], *, weights: Weights = None, prior: Priors = None
) -> Application:
    """Return an application whose risk is the weighted sum of the risks of several (thesis eqs. 6.3 to 6.7).

    Its actions are compound: one action of each application. Its Bayes decisions combine the Bayes decisions of the
    applications, each at its own prior.

    Parameters
    ----------
    applications : sequence of Application
        Applications on the same classes.
    weights : (n_applications,) array_like, optional
        Positive and finite; default: 1 each. With weights that sum to 1, the risk is an expectation over a mixture of
        applications.
    prior : (n_classes,) array_like, optional
        Prior of the combination; default: flat. It only changes the representation of the costs.

    Returns
    -------
    Application
        Compound action ``k`` means the actions ``numpy.unravel_index(k, [a.n_actions for a in applications])``.

    Raises
    ------
    InputError
        If classes differ in number, a weight is not positive, or there are more than 2^20 compound actions.

    Examples
    --------
    C_avg of three classes is the mean risk of three detection problems (thesis 8.3):

    >>> import numpy as np
    >>> detectors = [
    ...     Application([1.0 - target, target], 0.5 * target + 0.25 * (1.0 - target)) for target in np.eye(3)
    ... ]
    >>> c_avg = combine_applications(detectors, weights=[1 / 3, 1 / 3, 1 / 3])
    >>> c_avg.n_actions, round(c_avg.default_risk, 12)
    (8, 0.5)
    """
    if not applications:
        raise InputError("applications: empty. Pass at least one.")
    n_classes, n_actions = applications[0].n_classes, 1
    for k, application in enumerate(applications):
        n_actions *= application.n_actions
        if application.n_classes != n_classes:
            raise InputError(
                f"applications: number {k} has {application.n_classes} classes, the first has {n_classes}. "
                "Combine applications on the same classes."
            )
    if n_actions > _MOST_ACTIONS:
        raise InputError(
            f"applications: together they have {n_actions} compound actions, more than {_MOST_ACTIONS}. Evaluate "
            "them separately: the risk of the combination is the weighted sum of their risks."
        )
    factors = _validate.finite(np.ones(len(applications)) if weights is None else weights, "weights")
    if factors.shape != (len(applications),) or not (factors > 0).all():
        raise InputError(f"weights: expected {len(applications)} numbers above 0, got {factors.tolist()}.")
    costs = np.zeros((1, n_classes))
    common = Application(costs, prior).prior
    for application, factor in zip(applications, factors, strict=True):
        costs = (costs[:, None] + factor * application.at_prior(common).costs).reshape(-1, n_classes)
    return Application(costs, common)


def error_costs(n_classes: int, *, reject: float | None = None) -> FloatArray:
    """Return costs of wrong decisions: 1 for every error, and optionally ``reject`` for no decision.

    Parameters
    ----------
    n_classes : int
        At least 2. Action ``i`` is the decision for class ``i``.
    reject : float, optional
        Cost of a last action that rejects the trial; at ``1 - 1 / n_classes`` or above it is never useful.

    Returns
    -------
    (n_classes, n_classes) or (n_classes + 1, n_classes) array

    Raises
    ------
    InputError
        If there are fewer than two classes, or the cost is negative, infinite or NaN.

    Examples
    --------
    >>> error_costs(2, reject=0.25)
    array([[0.  , 1.  ],
           [1.  , 0.  ],
           [0.25, 0.25]])
    """
    if n_classes < 2:
        raise InputError(f"n_classes: got {n_classes!r}. At least 2 classes are needed.")
    costs = 1.0 - np.eye(n_classes)
    return costs if reject is None else _cost_matrix(np.vstack((costs, np.full((1, n_classes), reject))))


def _cost_matrix(costs: ArrayLike) -> FloatArray:
    matrix = np.array(_validate.finite(costs, "costs"))
    if matrix.ndim != 2 or len(matrix) < 1 or matrix.shape[1] < 2:
        raise InputError(
            f"costs: expected an array of shape (n_actions, n_classes) with at least 2 classes, got {matrix.shape}. "
            "Each row is an action with its cost for each true class."
        )
    negative = np.argwhere(matrix < 0)
    if len(negative):
        action, true = negative[0]
        raise InputError(
            f"costs: {len(negative)} of {matrix.size} are negative, the first of action {action} for class {true}: "
            f"{matrix[action, true]:g}. Costs must be at least 0: you can add a constant to all costs of a class "
            "without changing the decisions."
        )
    return matrix


def effective_prior(p_target: float, c_miss: float = 1.0, c_fa: float = 1.0) -> float:
    """Return the prior of the same detection problem with unit costs (BOSARIS paper eq. 10).

    Parameters
    ----------
    p_target : float
        Prior probability of a target, inside (0, 1).
    c_miss, c_fa : float
        Cost of a miss and of a false alarm, at least 0 and not both 0.

    Returns
    -------
    float
        ``p Cmiss / (p Cmiss + (1 - p) Cfa)``.

    Raises
    ------
    InputError
        If the prior or a cost is out of range.

    Examples
    --------
    >>> round(effective_prior(0.01, 10, 1), 5)
    0.09174
    """
    return OperatingPoint(p_target, c_miss, c_fa).effective_prior


def bayes_threshold(p_target: float, c_miss: float = 1.0, c_fa: float = 1.0) -> float:
    """Return the lowest accepted log-likelihood ratio (BOSARIS paper eq. 11).

    Parameters
    ----------
    p_target : float
        Prior probability of a target, inside (0, 1).
    c_miss, c_fa : float
        Cost of a miss and of a false alarm, at least 0 and not both 0.

    Returns
    -------
    float
        ``-logit`` of the `effective_prior`, in nats; infinite if a cost is 0.

    Raises
    ------
    InputError
        If the prior or a cost is out of range.

    Examples
    --------
    >>> round(bayes_threshold(0.01, 10, 1), 4)
    2.2925
    >>> bayes_threshold(0.5)
    0.0
    """
    return OperatingPoint(p_target, c_miss, c_fa).threshold + 0.0  # not -0.0


TIE = 2.0**-46
"""Expected costs that agree to this relative difference (1.4e-14) count as equal.

Below it, only the rounding of logarithms, exponentials and sums would decide a tie.
`deciban.core.class_counts.chosen` needs no sums and compares exactly: see `deciban.multiclass.error_rate`.
"""

_SMALL = 1e-280
"""Expected costs below this may have lost underflowed terms, and are computed again."""

_LARGEST = 700.0
"""Exponents beyond this would overflow."""

_ONE_THREAD = 1 << 18
"""Number of multiplications up to which a matrix product uses one thread, because starting others takes longer."""


def least_cost_actions(loglik: ScoreArray, costs: FloatArray, prior: FloatArray) -> IntArray:
    """Return the action of least expected cost for each trial; the lowest index in a tie.

    Parameters
    ----------
    loglik : (n_trials, n_classes) array
        Checked log-likelihoods in nats; see `deciban.core.logliks` for infinite values.
    costs : (n_actions, n_classes) array
        Finite and at least 0.
    prior : (n_classes,) array
        Classes of prior 0 do not matter.
    """
    possible = np.flatnonzero(prior > 0)
    # Without unavoidable costs, small differences stay visible; after scaling, nothing underflows.
    avoidable = (costs - costs.min(axis=0))[:, possible]
    avoidable /= avoidable.max() or 1.0
    avoidable *= prior[possible]
    if len(possible) == len(prior) and _all_errors_alike(avoidable):
        return chosen(loglik, np.ones(len(prior)))  # compares the scores directly, without rounding
    columns = None if len(possible) == len(prior) else possible
    actions = np.empty(len(loglik), dtype=np.int64)
    step = max(_ONE_THREAD // costs.size, 1 << 8)
    for start in range(0, len(loglik), step):
        rows = slice(start, start + step)
        likelihood = relative(loglik, rows, columns)
        with np.errstate(under="ignore"):
            expected = avoidable @ np.exp(likelihood, out=likelihood)
            least = expected.min(axis=0)
            if (small := np.flatnonzero(least < _SMALL)).size:
                expected[:, small] = _scaled(avoidable, relative(loglik, small + start, columns))
                least = expected.min(axis=0)
            least *= 1.0 + TIE
        actions[rows] = (expected <= least).argmax(axis=0)  # the first minimum
    return actions


def _scaled(avoidable: FloatArray, likelihood: FloatArray) -> FloatArray:
    """Return expected costs (n_actions, n) of trials, each in a unit that makes its least positive cost about 1.

    ``likelihood`` (n_classes, n) is relative; it is overwritten.
    """
    with np.errstate(divide="ignore"):
        size = (np.log(avoidable)[:, :, None] + likelihood).max(axis=1)  # size of the largest term of each action
    least = np.min(size, axis=0, where=size > -np.inf, initial=np.inf)
    likelihood -= np.where(least < np.inf, least, 0.0)
    return np.asarray(avoidable @ np.exp(np.minimum(likelihood, _LARGEST, out=likelihood), out=likelihood))


def _all_errors_alike(weighted: FloatArray) -> bool:
    """Return True if action ``i`` is the decision for class ``i``, and all errors have the same weight."""
    n_actions, n_classes = weighted.shape
    weight = weighted[-1, 0]
    return n_actions == n_classes and bool(weight > 0) and np.array_equal(weighted, weight * (1.0 - np.eye(n_classes)))


def expected_costs(posterior: ArrayLike, *, costs: ArrayLike) -> FloatArray:
    """Return the expected cost of each action for each posterior: ``C(a | q)`` (thesis 2.4).

    Parameters
    ----------
    posterior : (n, n_classes) array_like
        Probabilities, rows that sum to 1.
    costs : (n_actions, n_classes) array_like
        Cost of each action for each true class, finite and at least 0.

    Returns
    -------
    (n, n_actions) array
        ``sum_i posterior_i costs[a, i]``, in the unit of the costs.

    Raises
    ------
    InputError
        If rows are not probabilities, costs are negative or not finite, or the numbers of classes differ.

    Examples
    --------
    >>> expected_costs([[0.9, 0.1]], costs=[[0, 10], [1, 0], [0.5, 0.5]])
    array([[1. , 0.9, 0.5]])
    """
    table, application = _of_same_classes(posterior, costs)
    return np.asarray(table @ application.costs.T)


def minimizing_actions(posterior: ArrayLike, *, costs: ArrayLike) -> BoolArray:
    """Return True for all actions with the least expected cost for each posterior (thesis 2.5 to 2.8, 3.3).

    Parameters
    ----------
    posterior : (n, n_classes) array_like
        Probabilities, rows that sum to 1.
    costs : (n_actions, n_classes) array_like
        Cost of each action for each true class, finite and at least 0.

    Returns
    -------
    (n, n_actions) bool array
        At least one in each row; `bayes_decisions` chooses the first. Expected costs that agree to a relative 2^-46,
        without the unavoidable costs, count as equal.

    Raises
    ------
    InputError
        See `expected_costs`.

    Examples
    --------
    At the threshold of two classes, both actions are optimal:

    >>> minimizing_actions([[0.4, 0.6], [0.5, 0.5]], costs=[[0, 1], [1, 0]])
    array([[False,  True],
           [ True,  True]])
    """
    table, application = _of_same_classes(posterior, costs)
    avoidable = application.costs - application.costs.min(axis=0)
    expected = table @ avoidable.T
    return np.asarray(expected <= expected.min(axis=1, keepdims=True) * (1.0 + TIE))


def _of_same_classes(posterior: ArrayLike, costs: ArrayLike) -> tuple[FloatArray, Application]:
    table, application = distributions(posterior, "posterior"), Application(costs)
    if table.shape[1] != application.n_classes:
        raise InputError(
            f"posterior: {table.shape[1]} classes, but costs are for {application.n_classes}. In both, each column "
            "is a class."
        )
    return table, application


def llr_from_probability(probability: ArrayLike, p_target: float) -> FloatArray:
    """Return log-likelihood ratios from probabilities of being a target (Bayes' rule in log odds).

    Parameters
    ----------
    probability : (n_trials,) array_like
        Posteriors of the target, in [0, 1]. 0 and 1 give infinite log-likelihood ratios.
    p_target : float
        Prior of a target in the probabilities, inside (0, 1): for a classifier, usually the share of targets in its
        training data.

    Returns
    -------
    (n_trials,) array
        ``ln(p / (1 - p)) - ln(p_target / (1 - p_target))`` in nats. If the probabilities are badly calibrated, so is
        the result.

    Raises
    ------
    InputError
        If a probability is outside [0, 1] or NaN, or the prior is not inside (0, 1).

    Examples
    --------
    >>> llr_from_probability([0.5, 0.2, 0.9, 1.0], 0.2).round(3)
    array([1.386, 0.   , 3.584,   inf])
    """
    prior = _validate_classes.target_prior(p_target, "p_target")
    return llr_of_probability(_validate_classes.of_target(probability, "probability"), prior)


@dataclass(frozen=True, slots=True)
class Drift:
    """Difference between the scores of two periods.

    Attributes
    ----------
    stability : float
        Population stability index: the sum over bins of ``(q - p) ln(q / p)``, with the shares of new scores ``q`` and
        reference scores ``p``. By a rule of thumb, values above 0.25 are large. Without any drift, it is about
        ``(bins - 1) (1 / n_reference + 1 / n_new)`` on average: 0.9 for 10 reference scores and 10 bins.
    distance : float
        Largest difference of the distribution functions (Kolmogorov-Smirnov).
    p_value : float
        Of the Kolmogorov-Smirnov test, if scores are independent. Of a million scores, irrelevant differences are
        significant.
    """

    stability: float
    distance: float
    p_value: float


def drift(reference: ArrayLike, scores: ArrayLike, *, bins: int = 10) -> Drift:
    """Compare the distribution of new scores with reference scores, such as the training scores.

    A new proportion of targets is also a drift, but changes no error rate: see `estimate_prior`.

    Parameters
    ----------
    reference, scores : (n,) array_like
        Scores of all trials, without labels.
    bins : int
        Number of bins of the stability index, which have equal numbers of reference scores.

    Returns
    -------
    Drift

    Raises
    ------
    InputError
        If there are no scores, a score is NaN, or bins are invalid.

    Examples
    --------
    >>> found = drift([0.0, 1.0, 2.0, 3.0], [2.0, 3.0, 2.5, 3.5], bins=2)
    >>> round(found.stability, 3), found.distance
    (0.879, 0.5)
    """
    from scipy.stats import ks_2samp  # slow to import

    old, new = (_scores(one, name) for one, name in ((reference, "reference"), (scores, "scores")))
    bins = _validate.whole(bins, "bins", 2, 1000, "It is a number of bins from 2 to 1000")
    borders = np.unique(np.quantile(old, np.arange(1, bins) / bins, method="inverted_cdf"))
    counts = [np.bincount(np.searchsorted(borders, one, "left"), minlength=len(borders) + 1) for one in (old, new)]
    p, q = ((one + 0.5) / (one.sum() + 0.5 * len(one)) for one in counts)  # half a score, so that no share is 0
    test = ks_2samp(old, new)
    return Drift(float(np.sum((q - p) * np.log(q / p))), float(test.statistic), float(test.pvalue))


def estimate_prior(llr: ArrayLike) -> float:
    """Return the proportion of targets among unlabelled trials with the highest likelihood (Saerens and others, 2002).

    Parameters
    ----------
    llr : (n,) array_like
        Calibrated log-likelihood ratios in nats. If their calibration is wrong, so is the proportion.

    Returns
    -------
    float
        The fixed point of the EM algorithm: the mean posterior at this prior is the prior. 0 or 1 if the likelihood has
        its maximum there.

    Raises
    ------
    InputError
        If there are no llrs, one is NaN, or all are 0.

    Warns
    -----
    DecibanWarning
        If the llrs are too few or too close to 0 to exclude any proportion: the likelihood ratio to both 0 and 1 is
        below the 95 % limit of its chi-square distribution.

    References
    ----------
    M. Saerens, P. Latinne, C. Decaestecker, Adjusting the outputs of a classifier to new a priori probabilities: a
    simple procedure, Neural Computation 14, 2002.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> llr = np.append(rng.normal(2, 2, 2000), rng.normal(-2, 2, 8000))  # calibrated: 20 % targets
    >>> round(estimate_prior(llr), 1)
    0.2
    """
    table = _scores(llr, "llr")
    if not table.any():
        raise InputError("llr: all are 0, so every proportion of targets is equally likely.")
    value = _likeliest(table)
    known = [0.0, -np.inf if np.isneginf(table).any() else float(table.sum())]  # log-likelihoods of proportions 0 and 1
    if 0.0 < value < 1.0:
        known.append(float(np.logaddexp(np.log1p(-value), np.log(value) + table).sum()))
    if max(known) - min(known[:2]) < _HALF_CHI_SQUARE:
        warn("llr: too few or too close to 0 for an estimate: every proportion of targets from 0 to 1 is plausible.")
    return value


_HALF_CHI_SQUARE = 1.92
"""Half of the 95 % quantile of the chi-square distribution with one degree of freedom."""


def _likeliest(table: FloatArray) -> float:
    """Return the proportion with the highest likelihood."""
    with np.errstate(over="ignore"):  # the derivatives of the likelihood at 0 and at 1
        if np.expm1(table).mean() <= 0.0:
            return 0.0
        if np.expm1(-table).mean() <= 0.0:
            return 1.0
    low, high = 0.0, 1.0
    for _ in range(_STEPS):
        middle = 0.5 * (low + high)
        is_low = expit(table + logit(middle)).mean() > middle
        low, high = (middle, high) if is_low else (low, middle)
    return 0.5 * (low + high)


_STEPS = 50
"""Number of bisections; the likelihood is concave in the proportion."""


def expected_cost(llr: ArrayLike, point: PointLike, *, prior: float | None = None) -> float:
    """Return the expected normalized cost of Bayes decisions about unlabelled trials, if the llrs are calibrated.

    Parameters
    ----------
    llr : (n,) array_like
        Log-likelihood ratios in nats.
    point : OperatingPoint, float or tuple
        Prior and costs of the decisions.
    prior : float, optional
        Proportion of targets among these trials; by default the prior of the point. See `estimate_prior`.

    Returns
    -------
    float
        In units of the better of both decisions without scores. It cannot reveal bad calibration: overconfident scores
        have a small expected cost. Compare it with the actual cost of labelled trials.

    Raises
    ------
    InputError
        If there are no llrs, one is NaN, or the point or the prior are invalid.

    Examples
    --------
    >>> round(expected_cost([2.0, -2.0, -3.0, -4.0], 0.25), 3)
    0.354
    """
    table, at = _scores(llr, "llr"), as_operating_point(point)
    share = at.p_target if prior is None else _validate.fraction(prior, "prior", "It must be inside (0, 1)")
    posterior = expit(table + logit(share))
    is_accepted = table >= -logit(at.effective_prior)
    cost = np.where(is_accepted, at.c_fa * (1.0 - posterior), at.c_miss * posterior)
    return float(cost.mean() / min(at.c_miss * share, at.c_fa * (1.0 - share)))


def _scores(values: ArrayLike, name: str) -> FloatArray:
    return np.asarray(_validate.scores(values, name), np.float64)
