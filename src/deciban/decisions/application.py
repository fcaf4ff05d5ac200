"""Applications: what each action costs when each class is true, and how probable the classes are (thesis ch. 6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from deciban._validate import arrays as _validate
from deciban._validate import classes as _validate_classes
from deciban.core.ranks.operating import OperatingPoint
from deciban.decisions.actions import least_cost_actions
from deciban.errors import InputError
from deciban.types import FloatArray, Priors

_MOST_ACTIONS = 2**20
"""Limit of compound actions: their costs are written out."""

_ALIKE = 1e-9
"""Relative difference of costs that rounding may have made."""


@dataclass(frozen=True, eq=False)
class Application:
    """What decisions are for: the cost of each action when each class is true, and the prior (thesis chapter 6).

    Parameters
    ----------
    costs : (n_actions, n_classes) array_like
        Finite and at least 0. There may be more or fewer actions than classes, one that rejects the trial among them.
    prior : (n_classes,) array_like, optional
        Prior probabilities; flat if left out. Classes of prior 0 play no part.

    Raises
    ------
    InputError
        If a cost is negative, infinite or NaN, the prior is none, or their shapes do not agree.

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
        """Detection: classes target (0) and non-target (1), actions accept (0) and reject (1)."""
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
        """Bayes decision from the prior alone, the lowest index if several cost the least."""
        return int(least_cost_actions(np.zeros((1, self.n_classes)), self.costs, self.prior)[0])

    @property
    def default_risk(self) -> float:
        """Risk of the default action, ``min_a sum_i prior_i C[a, i]``: the entropy of the prior (thesis 2.11, 2.46)."""
        return float((self.costs @ self.prior).min())

    @property
    def least_risk(self) -> float:
        """Risk of one who knows the true class, ``sum_i prior_i min_a C[a, i]``; 0 in canonical form."""
        return float(self.costs.min(axis=0) @ self.prior)

    def at_prior(self, prior: Priors = None) -> Application:
        """Return the equivalent application at another prior: ``prior_i C[a, i]`` stays (thesis 6.3, 6.8).

        Decisions and risks stay what they are, if the decisions are made at the new prior.

        Parameters
        ----------
        prior : (n_classes,) array_like, optional
            Flat if left out; above 0 where that of this application is.

        Raises
        ------
        InputError
            If it is not a prior, or 0 where it may not be.
        """
        wanted = _validate_classes.prior(prior, self.n_classes)
        impossible = np.flatnonzero((wanted == 0) & (self.prior > 0))
        if len(impossible):
            raise InputError(
                f"prior: 0 for class {impossible[0]}, whose prior is {self.prior[impossible[0]]:g} here. "
                "No cost makes up for a prior of 0: give it a prior above 0."
            )
        ratio = np.divide(self.prior, wanted, out=np.zeros(self.n_classes), where=wanted > 0)
        return Application(self.costs * ratio, wanted)

    def canonical(self) -> Application:
        """Return the canonical form: flat prior, and for each class an action that costs nothing (thesis 3.10, 6.3.1).

        Decisions made at the flat prior are the same; every risk is smaller by `least_risk`.
        """
        return Application(self.costs - self.costs.min(axis=0), self.prior).at_prior()

    def is_equivalent_to(self, other: Application) -> bool:
        """Whether both compare recognizers alike: the same canonical form but for a positive factor (thesis 3.9, 6.8).

        Actions are compared in their order, costs to a relative 1e-9, which is what rounding of a prior near 1 makes.
        """
        if self.costs.shape != other.costs.shape:
            return False
        forms = [application.canonical().costs for application in (self, other)]
        one, two = (form / (form.max() or 1.0) for form in forms)
        return bool(np.allclose(one, two, rtol=_ALIKE, atol=0.0))

    def operating_point(self) -> OperatingPoint:
        """Return the operating point of a detection problem: action 0 accepts class 0, action 1 rejects it.

        What decisions cannot avoid is taken off the costs. Its ``effective_prior`` is the prior of the equivalent
        problem with unit costs.

        Raises
        ------
        InputError
            If there are not two actions and two classes, or an action is never worse than the other.
        """
        if self.costs.shape != (2, 2):
            raise InputError(
                f"costs: an operating point has 2 actions and 2 classes, here are {self.n_actions} and "
                f"{self.n_classes}. Use the application as it is."
            )
        avoidable = self.costs - self.costs.min(axis=0)
        if avoidable[0, 0] > 0 or avoidable[1, 1] > 0 or not avoidable.any():
            raise InputError(
                f"costs: {self.costs.tolist()} is no detection problem: action 0 is to cost less than action 1 if "
                "class 0 is true, and more if class 1 is. Change the order of the actions or of the classes."
            )
        return OperatingPoint(float(self.prior[0]), float(avoidable[1, 0]), float(avoidable[0, 1]))


def combine_applications(
    applications: Sequence[Application], *, weights: ArrayLike | None = None, prior: Priors = None
) -> Application:
    """One application whose risk is the weighted sum of the risks of several (thesis eqs. 6.3 to 6.7).

    Its actions are compound: one action for each application. Bayes decisions are compounds of the Bayes decisions
    of the applications, each made at its own prior.

    Parameters
    ----------
    applications : sequence of Application
        All on the same classes.
    weights : (n_applications,) array_like, optional
        Positive and finite; 1 each if left out. With weights that add up to 1 the risk is an expectation over a
        mixture of applications.
    prior : (n_classes,) array_like, optional
        Prior of the combination; flat if left out. It changes nothing but how costs are written.

    Returns
    -------
    Application
        Compound action ``k`` stands for the actions ``numpy.unravel_index(k, [a.n_actions for a in applications])``.

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
        raise InputError("applications: empty. Give at least one.")
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
            "them one by one: the risk of the combination is the weighted sum of their risks."
        )
    factors = _validate.finite(np.ones(len(applications)) if weights is None else weights, "weights")
    if factors.shape != (len(applications),) or not (factors > 0).all():
        raise InputError(f"weights: expected {len(applications)} numbers above 0, got {factors.tolist()}.")
    costs = np.zeros((1, n_classes))
    common = Application(costs, prior).prior
    for application, factor in zip(applications, factors, strict=True):
        part = factor * application.at_prior(common).costs
        costs = (costs[:, None] + part).reshape(-1, n_classes)
    return Application(costs, common)


def error_costs(n_classes: int, *, reject: float | None = None) -> FloatArray:
    """Costs of recognizing the wrong class: 1 for every error, and ``reject`` for saying nothing if that is allowed.

    Parameters
    ----------
    n_classes : int
        At least 2. Action ``i`` says that class ``i`` is the true one.
    reject : float, optional
        Cost of one more action, the last, that rejects the trial; from ``1 - 1 / n_classes`` on it never pays.

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
        raise InputError(f"n_classes: got {n_classes!r}. There are at least 2 classes.")
    costs = 1.0 - np.eye(n_classes)
    return costs if reject is None else _cost_matrix(np.vstack((costs, np.full((1, n_classes), reject))))


def _cost_matrix(costs: ArrayLike) -> FloatArray:
    matrix = np.array(_validate.finite(costs, "costs"))
    if matrix.ndim != 2 or len(matrix) < 1 or matrix.shape[1] < 2:
        raise InputError(
            f"costs: expected an array of shape (n_actions, n_classes) with at least 2 classes, got {matrix.shape}. "
            "Each action is a row with its cost for each true class."
        )
    negative = np.argwhere(matrix < 0)
    if len(negative):
        action, true = negative[0]
        raise InputError(
            f"costs: {len(negative)} of {matrix.size} are negative, the first of action {action} for class {true}: "
            f"{matrix[action, true]:g}. Costs are at least 0: add a number to all costs of a class, decisions stay."
        )
    return matrix
