"""How trained parameters of two classes change with the weight of each unit: their influences.

Unit k gets the weight ``u_k``: a trial counts as much as the product of the weights of its units, and the classes are
renormalized. Training makes the gradient of its objective 0 whatever the weights are; so, at ``u = 1``, the parameters
change by ``-H^-1`` times the derivative of the gradient, which is the sum of the gradients of the trials of the unit,
each relative to the mean of its class (infinitesimal jackknife; Huber's sandwich is the sum of the squares).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit

from deciban.core.resampling.covariance import add_by_unit, require_several, sums_by_unit
from deciban.core.resampling.units import TrialUnits
from deciban.core.rules.kernels import kernel
from deciban.core.training.linear_parts import PartsOfTrials
from deciban.core.training.linear_trials import Trials
from deciban.core.training.moments import moments
from deciban.core.training.samples import SAMPLE, sample
from deciban.core.training.sums import Sums
from deciban.core.training.verdicts import with_class_weights
from deciban.errors import InputError
from deciban.types import AnyArray, BoolArray, FloatArray

_BLOCK = 1 << 16
"""Trials that are looked at together."""

_FLAT = 1e-12
"""Curvature, relative to the largest, below which a direction counts as flat: the data say nothing of it."""


def linear_influences(
    trials: Trials | PartsOfTrials,
    units: TrialUnits,
    weights: FloatArray,
    offset: float,
    rule: tuple[float, float, float],
    *,
    ridge: float = 0.0,
    intercept: bool = True,
) -> FloatArray:
    """Influence of each unit on the weights of columns, and on the offset.

    Parameters
    ----------
    trials : Trials or PartsOfTrials
        All that training saw, without class weights; decided ones (infinite scores) change nothing but the classes.
    units : TrialUnits
        Of these trials; of trials in parts, which know their own, all units.
    weights : (n_columns,) array
    offset : float
        What was trained.
    rule : (float, float, float)
        ``alpha``, ``beta`` and the log odds of the prior.
    ridge, intercept
        As in `deciban.core.training.linear_training.train`.

    Returns
    -------
    (n_units, n_columns + 1) array
        Of units that trials have. The last column is 0 if there is no offset. Where the data do not tell some
        combination of parameters, such as the weights of two systems that say the same, that combination does not
        change.

    Raises
    ------
    InputError
        If there is one unit, or the parameters are no minimum.
    """
    require_several(units)
    priors = expit(np.array([-rule[2], rule[2]]))
    left, _ = with_class_weights(trials, *rule)
    middle, width = moments(left if ridge > 0.0 else sample(left, SAMPLE))
    if not np.all(width > 0.0):  # what is constant in a sample need not be so in all trials
        middle, width = moments(left)
    center, size = (middle if intercept else np.zeros_like(middle)), width
    width = np.where(size > 0.0, size, np.inf)
    point = np.append(weights * size, offset + float(weights @ center))
    look = _Derivatives(left.class_weights, middle, center, width, point, rule, ridge)
    of_units = trials.each_by_unit(look, units)
    sums, shares, hessian, totals = of_units.parts
    penalty = np.append(np.full(len(weights), ridge), 0.0)
    used = shares.any(axis=1) | of_units.is_folded
    centred = sums[used] - (shares[used] / priors) @ totals
    free = np.append(np.isfinite(width), intercept)
    moved = solved(hessian[np.ix_(free, free)] + np.diag(penalty[free]), centred[:, free])
    found = np.zeros((len(centred), len(point)))
    found[:, free] = moved
    found[:, :-1] /= width
    found[:, -1] -= found[:, :-1] @ center
    return found


@dataclass(frozen=True, slots=True, eq=False)
class UnitSums:
    """Sums over trials: by unit, and in all; those of more trials add up.

    Where every trial is a unit, so that there are very many, the rows of units are folded into their second moments:
    nothing else is asked of them in the end, as what is made of a row does not depend on others.

    Attributes
    ----------
    sums : tuple of Sums
        As whoever looked knows them.
    by_unit : tuple of int
        Which of them have a row for each unit.
    folded : Sums or None
        Second moments of the rows of these together; they have none then.
    """

    sums: tuple[Sums, ...]
    by_unit: tuple[int, ...] = (0,)
    folded: Sums | None = None

    def __add__(self, other: UnitSums) -> UnitSums:
        """Of both."""
        folded = None if self.folded is None or other.folded is None else self.folded + other.folded
        sums = tuple(a + b for a, b in zip(self.sums, other.sums, strict=True))
        return UnitSums(sums, self.by_unit, folded)

    @property
    def is_folded(self) -> bool:
        """Whether rows do not stand for units, but have the second moments of those of all units."""
        return self.folded is not None

    def fold(self) -> UnitSums:
        """The same with second moments in place of rows."""
        rows = np.hstack([self.sums[at].total for at in self.by_unit])
        with np.errstate(over="ignore", invalid="ignore"):
            product = rows.T @ rows
        left = [one if k not in self.by_unit else Sums.of(one.high[:0]) for k, one in enumerate(self.sums)]
        return UnitSums(tuple(left), self.by_unit, Sums.of(product))

    @property
    def parts(self) -> tuple[FloatArray, ...]:
        """The sums as numbers; what is folded has rows with the second moments of those of all units."""
        found = [one.total for one in self.sums]
        if self.folded is not None:
            ends = np.cumsum([found[at].shape[1] for at in self.by_unit])[:-1]
            for at, columns in zip(self.by_unit, np.split(root_of(self.folded.total), ends, axis=1), strict=True):
                found[at] = columns
        return tuple(found)


def root_of(moments: FloatArray) -> FloatArray:
    """Rows with these second moments: ``R`` with ``R' R`` equal to a symmetric matrix that is not negative.

    Examples
    --------
    >>> rows = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]])
    >>> root = root_of(rows.T @ rows)
    >>> bool(np.allclose(root.T @ root, rows.T @ rows))
    True
    """
    if not np.isfinite(moments).all():
        return np.full(moments.shape, np.nan)  # which is refused where variances are made of it
    size = np.sqrt(np.diag(moments))
    unit = np.where(size > 0.0, size, 1.0)
    values, vectors = np.linalg.eigh(moments / unit / unit[:, None])
    found: FloatArray = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T * unit
    return found


@dataclass(frozen=True, slots=True, eq=False)
class _Derivatives:
    """A look at trials with their units that sums up gradients and amounts by unit, curvatures, gradients by class."""

    class_weights: tuple[float, float]
    middle: FloatArray
    center: FloatArray
    width: FloatArray
    point: FloatArray
    rule: tuple[float, float, float]
    ridge: float

    def __call__(self, trials: Trials, units: TrialUnits) -> UnitSums:
        trials = replace(trials, class_weights=self.class_weights)
        n, is_open = len(self.point), _open(trials)
        hessian, totals = np.zeros((n, n)), np.zeros((2, n))
        sums, shares = np.zeros((units.n_units, n)), np.zeros((units.n_units, 2))
        for rows in (slice(i, i + _BLOCK) for i in range(0, len(trials), _BLOCK)):
            features = _features(trials, rows, self.center, self.width, is_open)
            amounts, pull, bend = _pulls(trials, rows, self.point, features, self.rule)
            hessian += (features * bend) @ features.T
            gradients = pull * features
            if self.ridge > 0.0:  # the widths that the penalty is measured in are moments of the trials, too
                squares = _features(trials, rows, self.middle, self.width, is_open)[:-1] ** 2
                gradients[:-1] += (self.ridge * self.point[:-1])[:, None] * amounts.sum(axis=0) * squares
            own = units.take(rows)
            add_by_unit(sums, gradients, own)
            add_by_unit(shares, amounts, own)
            is_target = trials.is_target[rows]
            totals += [gradients[:, ~is_target].sum(axis=1), gradients[:, is_target].sum(axis=1)]
        return UnitSums(tuple(map(Sums.of, (sums, shares, hessian, totals))), by_unit=(0, 1))


def _open(trials: Trials) -> BoolArray:
    """Trials that no infinite score decides."""
    parts = trials.columns if trials.base is None else (*trials.columns, trials.base)
    is_open: BoolArray = np.ones(len(trials), np.bool_)
    for column in parts:
        for i in range(0, len(trials), _BLOCK):
            rows = slice(i, i + _BLOCK)
            is_open[rows] &= np.isfinite(np.asarray(column[rows]))
    return is_open


def _features(trials: Trials, rows: slice, center: FloatArray, width: FloatArray, is_open: BoolArray) -> FloatArray:
    """Standardized columns and a row of ones, (n_columns + 1, n); 0 throughout for decided trials."""
    own = is_open[rows]
    features = np.ones((len(center) + 1, len(own)))
    for k, column in enumerate(trials.columns):
        np.copyto(features[k], np.where(own, np.asarray(column[rows], np.float64), center[k]))
        features[k] -= center[k]
        features[k] /= width[k]
    features[:, ~own] = 0.0
    return features


@np.errstate(all="ignore")  # what is not finite is refused in `solved`
def _pulls(
    trials: Trials, rows: slice, point: FloatArray, features: FloatArray, rule: tuple[float, float, float]
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """What each trial contributes: amounts by class (2, n), slopes of its cost by its log odds, and curvatures."""
    alpha, beta, log_odds = rule
    z = log_odds + point @ features
    is_target, own = trials.is_target[rows], 1.0 if trials.weights is None else trials.weights[rows]
    if trials.base is not None:
        base: AnyArray = np.asarray(trials.base[rows], np.float64)
        z += np.where(np.isfinite(base), base, 0.0)
    pull, bend = np.empty(len(z)), np.empty(len(z))
    for rows_of, sign, shape in ((~is_target, 1.0, (alpha, beta)), (is_target, -1.0, (beta, alpha))):
        terms = kernel(*shape)(sign * z[rows_of], 2)
        assert terms.curvature is not None  # noqa: S101  # both derivatives were asked for
        pull[rows_of], bend[rows_of] = sign * terms.slope, terms.curvature
    amounts = np.zeros((2, len(z)))
    amounts[0] = np.where(is_target, 0.0, trials.class_weights[0]) * own
    amounts[1] = np.where(is_target, trials.class_weights[1], 0.0) * own
    each = amounts.sum(axis=0)
    is_in = each > 0.0  # nothing of an infinite slope is nothing
    return amounts, np.where(is_in, pull * each, 0.0), np.where(is_in, bend * each, 0.0)


def solved(hessian: FloatArray, gradients: FloatArray) -> FloatArray:
    """``-H^-1 g`` for each row ``g``, in the directions that are not flat.

    Raises
    ------
    InputError
        If the curvature is negative in some direction, or derivatives are no numbers.
    """
    if not (np.isfinite(hessian).all() and np.isfinite(gradients).all()):
        raise InputError("the derivatives of the objective do not fit a float.")
    values, vectors = np.linalg.eigh(0.5 * hessian + 0.5 * hessian.T)
    largest = float(np.max(np.abs(values), initial=0.0))
    if np.any(values < -_FLAT * largest):
        raise InputError("the parameters are no minimum of the objective, but a saddle.")
    steep = values > _FLAT * largest
    inverse = np.divide(1.0, values, out=np.zeros(len(values)), where=steep)
    found: FloatArray = -((gradients @ vectors) * inverse) @ vectors.T
    return found


Spread = tuple[float, float, float]
"""How much the trials of a class count, and mean and standard deviation of their scores."""


@dataclass(frozen=True, slots=True)
class MomentSums:
    """Sums by unit of how far trials are from the mean and the variance of their class, relative to all of the class.

    Attributes
    ----------
    non, tar : (float, float, float)
        How much each class counts, its mean and its standard deviation.
    """

    non: Spread
    tar: Spread

    def __call__(
        self, score: FloatArray, is_target: BoolArray, weights: FloatArray | None, units: TrialUnits
    ) -> UnitSums:
        """Of trials that count, with their units."""
        found = []
        for rows, (total, mean, sd) in ((~is_target, self.non), (is_target, self.tar)):
            share = np.where(rows, 1.0 if weights is None else weights, 0.0) / total
            with np.errstate(over="ignore", invalid="ignore"):  # what does not fit a float is refused with its variance
                apart = np.where(rows, score - mean, 0.0)
                found.append(share * np.array([apart, (apart - sd) * (apart + sd)]))
        (mean_non, variance_non), (mean_tar, variance_tar) = found
        values = np.array([mean_non, mean_tar, variance_non, variance_tar])
        return UnitSums((Sums.of(sums_by_unit(values, units)),))
