"""How trained parameters of two classes change with the weight of each unit: their influences.

Unit k gets the weight ``u_k``: a trial counts as much as the product of the weights of its units, and the classes are
renormalized. Training makes the gradient of its objective 0 whatever the weights are; so, at ``u = 1``, the parameters
change by ``-H^-1`` times the derivative of the gradient, which is the sum of the gradients of the trials of the unit,
each relative to the mean of its class (infinitesimal jackknife; Huber's sandwich is the sum of the squares).

Up to 1000 units are left out one after the other, instead: see `deciban.core.training.influences`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.special import expit

from deciban.core.resampling.intervals import effective_numbers
from deciban.core.resampling.linearised import (
    UnitChanges,
    add_by_code,
    add_by_unit,
    require_effective,
    require_several,
    sums_by_unit,
)
from deciban.core.resampling.units import TrialUnits
from deciban.core.rules.proper import kernel
from deciban.core.training.batches import PartsOfTrials
from deciban.core.training.linear_objective import Trials
from deciban.core.training.moments import SAMPLE, moments, sample
from deciban.core.training.separation import with_class_weights
from deciban.core.training.sums import Sums, UnitSums
from deciban.errors import InputError
from deciban.types import AnyArray, BoolArray, FloatArray, IntArray

MOST_UNITS = 1000
"""Units up to which each is left out; of more, one alone changes parameters so little that derivatives tell as much."""


MOST_PARAMETERS = 16
"""Parameters up to which each unit is left out; of more, second derivatives of each unit take too long."""


_AT_ONCE = 1 << 22
"""Numbers of log odds, for units times trials, that a sample of trials is chosen for."""


_SLAB = 1 << 16
"""Numbers that are worked on together."""


_LOOKS = 15

_PRECISE = 1e-3
"""How exact a change is, relative to itself and to the root mean square of all changes."""


def leaves_out(n_units: int, n_trials: float, n_parameters: int = 1) -> bool:
    """Return whether each unit is left out; not if there are too many, or if every trial is a unit."""
    return n_units < n_trials and n_units <= MOST_UNITS and n_parameters <= MOST_PARAMETERS


@dataclass(frozen=True, slots=True, eq=False)
class Points:
    """Where a look evaluates the trials of each unit.

    Attributes
    ----------
    moves : (n_units, n_parameters) array
        Steps from the parameters of all trials.
    inverse : (n_units, n_classes) array
        How much more a trial of each class counts without a unit.
    strides : (n_classes,) int array
        One trial in so many of each class is in the sample.
    """

    moves: FloatArray
    inverse: FloatArray
    strides: IntArray

    @classmethod
    def start(cls, moves: FloatArray, shares: FloatArray, n_trials: FloatArray, work: int = 1) -> Points:
        """Return the points of the first look.

        Parameters
        ----------
        moves : (n_units, n_parameters) array
            Nearly the right ones.
        shares : (n_units, n_classes) array
            Of each class.
        n_trials : (n_classes,) array
        work : int
            Numbers for each unit and trial.
        """
        room = max(_AT_ONCE // (len(shares) * len(n_trials) * work), 1)
        strides = np.maximum(np.ceil(n_trials / room), 1.0).astype(np.int64)
        return cls(moves, 1.0 / (1.0 - shares), strides)

    def sampled(self, label: IntArray, amounts: FloatArray) -> tuple[IntArray, FloatArray]:
        """Return positions of a sample of trials, and for how much each of them stands."""
        places, stand_for = list[IntArray](), list[FloatArray]()
        for k, stride in enumerate(self.strides.tolist()):
            own = np.flatnonzero(label == k)
            some = own[::stride]
            drawn, total = float(amounts[some].sum()), float(amounts[own].sum())
            places.append(some)
            stand_for.append(amounts[some] * (total / drawn if drawn > 0.0 else 0.0))
        return np.concatenate(places), np.concatenate(stand_for)

    def slabs(self, n: int, numbers: int = 1) -> list[slice]:
        """Return slices of ``n`` sampled trials that are small enough."""
        size = max(_SLAB // (len(self.moves) * numbers), 1)
        return [slice(i, i + size) for i in range(0, n, size)]


def sides_of(codes: tuple[IntArray, ...]) -> list[tuple[IntArray, BoolArray]]:
    """Return the units of each side, and where they count: a unit on both sides of a trial counts once."""
    first, *others = codes
    return [(first, np.ones(len(first), np.bool_)), *((side, side != first) for side in others)]


@dataclass(frozen=True, slots=True, eq=False)
class WholeSums:
    """Derivatives of the objective by class at the parameters of all trials.

    Attributes
    ----------
    gradients : (n_classes, n_parameters) array
    hessians : (n_classes, n_parameters, n_parameters) array
    penalty : (n_parameters, n_parameters) array
        Second derivatives of the penalty.
    """

    gradients: FloatArray
    hessians: FloatArray
    penalty: FloatArray

    def at(self, points: Points, found: AnyArray) -> tuple[FloatArray, FloatArray]:
        """Return gradients and Hessians without each unit.

        Parameters
        ----------
        points : Points
        found : (n_units, ...) array
            Of each unit what other trials add to their quadratic form at its point less what its own trials add there:
            gradient, then upper triangle of the Hessian.
        """
        n = points.moves.shape[1]
        rows, columns = np.triu_indices(n)
        hessian = np.zeros((len(found), n, n))
        hessian[:, rows, columns] = hessian[:, columns, rows] = found[:, n:]
        whole = np.einsum("uc,cij->uij", points.inverse, self.hessians) + self.penalty
        gradient = found[:, :n] + points.inverse @ self.gradients - self.gradients.sum(axis=0)
        return gradient + np.einsum("uij,uj->ui", whole, points.moves), hessian + whole


def moves_without_each(
    look: Callable[[Points], Sums], whole: WholeSums, points: Points, used: BoolArray, noun: str
) -> FloatArray:
    """Return how far training without each unit ends from training on all, (n_units, n_parameters).

    Parameters
    ----------
    look : function
        What `WholeSums.at` takes, of some points.
    whole : WholeSums
        In coordinates in which the Hessian of all trials is the identity.
    points : Points
    used : (n_units,) bool array
        Units that have trials.
    noun : str
        What a unit is called.

    Raises
    ------
    InputError
        If training without some unit ends nowhere near.
    """
    moves = points.moves
    gradient, hessian = whole.at(points, look(points).total)
    scale = np.ones(len(moves))
    for _ in range(_LOOKS):
        step = np.where(used[:, None], _newton(gradient, hessian), 0.0)
        typical = np.sqrt(np.mean((moves + step)[used] ** 2))
        exact = np.abs(scale[:, None] * step) <= _PRECISE * (np.abs(moves) + typical)
        if exact.all() and (scale == 1.0).all():
            return moves + step
        new = replace(points, moves=moves + scale[:, None] * step)
        slope, bend = whole.at(new, look(new).total)
        worse = ~(np.linalg.norm(slope, axis=1) <= np.maximum(np.linalg.norm(gradient, axis=1), 1e-12))
        better = ~worse
        moves = np.where(better[:, None], new.moves, moves)
        gradient = np.where(better[:, None], slope, gradient)
        hessian = np.where(better[:, None, None], bend, hessian)
        scale = np.where(worse, 0.25 * scale, 1.0)
    raise InputError(
        f"training without one of the {noun}s has no optimum, or one far from that of all: few {noun}s decide on it"
    )


def _newton(gradient: FloatArray, hessian: FloatArray) -> FloatArray:
    """Return Newton's steps; where the curvature is not clearly positive it is taken for a small one."""
    if not (np.isfinite(gradient).all() and np.isfinite(hessian).all()):
        raise InputError("the derivatives of the objective do not fit a float.")
    values, vectors = np.linalg.eigh(hessian)
    along = np.einsum("uij,ui->uj", vectors, gradient) / np.maximum(values, 1e-3)
    found: FloatArray = -np.einsum("uij,uj->ui", vectors, along)
    return found


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
) -> UnitChanges:
    """Return the changes of the weights of columns, and of the offset, with the units.

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
    UnitChanges
        Of units that trials have. The last column is 0 if there is no offset. Where the data do not tell some
        combination of parameters, such as the weights of two systems that are the same, that combination does not
        change.

    Raises
    ------
    InputError
        If a class has effectively fewer than five units, or the parameters are no minimum.
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
    sums, shares, hessians, totals, n_trials = of_units.parts
    shares = shares / priors
    used: BoolArray = np.asarray(shares.any(axis=1) | of_units.is_folded)
    n_effective = require_effective(effective_of(of_units, shares), ("non-target", "target"), units)
    free = np.flatnonzero(np.append(np.isfinite(width), intercept))
    penalty = np.diag(np.append(np.full(len(weights), ridge), 0.0))[np.ix_(free, free)]
    hessians = hessians[:, free][:, :, free]
    basis = steep(hessians.sum(axis=0) + penalty)
    centred = (sums - shares @ totals)[:, free] @ basis
    leave_out = not of_units.is_folded and leaves_out(int(used.sum()), n_trials.sum(), basis.shape[1])
    if leave_out:
        whole = WholeSums(totals[:, free] @ basis, basis.T @ hessians @ basis, basis.T @ penalty @ basis)
        without = _WithoutEach(look, np.zeros((len(point), basis.shape[1])))
        without.basis[free] = basis
        start = Points.start(centred, shares, n_trials, work=4)
        moves = moves_without_each(
            lambda points: trials.each_by_unit(replace(without, points=points), units), whole, start, used, units.noun
        )
    else:
        moves = -centred  # derivatives by the weights of units
    found = np.zeros((int(used.sum()), len(point)))
    found[:, free] = moves[used] @ basis.T
    found[:, :-1] /= width
    found[:, -1] -= found[:, :-1] @ center
    form = {"left_out": leave_out, "listed": not of_units.is_folded, "penalized": ridge > 0.0}
    n_units = int(n_trials.sum()) if of_units.is_folded else len(found)
    return UnitChanges(values=found, n_units=n_units, n_effective=n_effective, **form)


def effective_of(of_units: UnitSums, shares: FloatArray) -> FloatArray:
    """Return the effective number of units of each class."""
    if of_units.is_folded:  # every trial is a unit, and the shares of all make 1
        return np.asarray(1.0 / (shares**2).sum(axis=0))
    return effective_numbers(shares.sum(axis=0), (shares**2).sum(axis=0))


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
        n = len(self.point)
        hessians, totals, counts = np.zeros((2, n, n)), np.zeros((2, n)), np.zeros(2)
        sums, shares = np.zeros((units.n_units, n)), np.zeros((units.n_units, 2))
        for rows, one in self.blocks(trials):
            pull, bend = slopes(one.log_odds, one.is_target, self.rule)
            amount = one.amounts.sum(axis=0)
            gradients = _times(amount, pull) * one.features + amount * one.of_penalty
            curved = one.features * _times(amount, bend)
            own = units.take(rows)
            add_by_unit(sums, gradients, own)
            add_by_unit(shares, one.amounts, own)
            for k, some in enumerate((~one.is_target, one.is_target)):
                hessians[k] += curved[:, some] @ one.features[:, some].T
                totals[k] += gradients[:, some].sum(axis=1)
                counts[k] += np.count_nonzero(one.amounts[k])
        return UnitSums(tuple(map(Sums.of, (sums, shares, hessians, totals, counts))), by_unit=(0, 1))

    def blocks(self, trials: Trials) -> Iterator[tuple[slice, _Block]]:
        """Yield some trials after the other, at the parameters of all."""
        trials = replace(trials, class_weights=self.class_weights)
        is_open = _open(trials)
        for rows in (slice(i, i + _BLOCK) for i in range(0, len(trials), _BLOCK)):
            features = _features(trials, rows, self.center, self.width, is_open)
            of_penalty = np.zeros((len(features), 1))
            if self.ridge > 0.0:  # the widths that the penalty is measured in are moments of the trials, too
                of_penalty = _features(trials, rows, self.middle, self.width, is_open) ** 2
                of_penalty *= self.ridge * np.append(self.point[:-1], 0.0)[:, None]
            log_odds = _log_odds(trials, rows, self.point, features, self.rule)
            yield rows, _Block(features, log_odds, trials.is_target[rows], _amounts(trials, rows), of_penalty)


@dataclass(frozen=True, slots=True, eq=False)
class _Block:
    """Some trials: features (n, n_trials), log odds, classes, amounts by class (2, n_trials), slopes of the penalty."""

    features: FloatArray
    log_odds: FloatArray
    is_target: BoolArray
    amounts: FloatArray
    of_penalty: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class _WithoutEach:
    """A look at trials with their units that finds what `WholeSums.at` needs."""

    derivatives: _Derivatives
    basis: FloatArray
    points: Points = field(default_factory=lambda: Points(np.zeros((0, 0)), np.zeros((0, 0)), np.zeros(0, np.int64)))

    def __call__(self, trials: Trials, units: TrialUnits) -> Sums:
        n = self.basis.shape[1]
        found = np.zeros((units.n_units, n + n * (n + 1) // 2))
        for rows, one in self.derivatives.blocks(trials):
            features, of_penalty = self.basis.T @ one.features, self.basis.T @ one.of_penalty
            self._take_away(found, one, features, of_penalty, units.take(rows))
            self._add_others(found, one, features)
        return Sums.of(found)

    def _take_away(
        self, found: FloatArray, one: _Block, features: FloatArray, of_penalty: FloatArray, units: TrialUnits
    ) -> None:
        """Subtract what the trials of each unit contribute at its own point."""
        products, label = _products(features), one.is_target.astype(np.int64)
        for side, counts in sides_of(units.codes):
            log_odds = one.log_odds + np.einsum("nt,tn->t", features, self.points.moves[side])
            pull, bend = slopes(log_odds, one.is_target, self.derivatives.rule)
            amount = np.where(counts, one.amounts.sum(axis=0) * self.points.inverse[side, label], 0.0)
            gradients = _times(amount, pull) * features + amount * of_penalty
            add_by_code(found, -np.vstack((gradients, _times(amount, bend) * products)), side)

    def _add_others(self, found: FloatArray, one: _Block, features: FloatArray) -> None:
        """Add what trials contribute at the points of all units, beyond their quadratic form: of a sample of them."""
        label, moves = one.is_target.astype(np.int64), self.points.moves
        if not moves.any():
            return
        places, stand_for = self.points.sampled(label, one.amounts.sum(axis=0))
        for some in self.points.slabs(len(places)):
            at, n = places[some], len(features)
            own, is_target, rule = features[:, at], one.is_target[at], self.derivatives.rule
            change = moves @ own
            start, bend_at_start = slopes(one.log_odds[at], is_target, rule)
            pull, bend = slopes(one.log_odds[at] + change, is_target, rule)
            amount = stand_for[some] * self.points.inverse[:, label[at]]
            found[:, :n] += _times(amount, pull - start - bend_at_start * change) @ own.T
            found[:, n:] += _times(amount, bend - bend_at_start) @ _products(own).T


def _products(features: FloatArray) -> FloatArray:
    """Return products of two features, those of the upper triangle."""
    rows, columns = np.triu_indices(len(features))
    return np.asarray(features[rows] * features[columns])


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


def _amounts(trials: Trials, rows: slice) -> FloatArray:
    """Return how much each trial counts in its class, (2, n)."""
    is_target, own = trials.is_target[rows], 1.0 if trials.weights is None else trials.weights[rows]
    non, tar = trials.class_weights
    return np.array([np.where(is_target, 0.0, non) * own, np.where(is_target, tar, 0.0) * own])


@np.errstate(all="ignore")  # what is not finite is refused in `steep`
def _log_odds(
    trials: Trials, rows: slice, point: FloatArray, features: FloatArray, rule: tuple[float, float, float]
) -> FloatArray:
    """Return the log odds of trials."""
    z: FloatArray = rule[2] + point @ features
    if trials.base is not None:
        base: AnyArray = np.asarray(trials.base[rows], np.float64)
        z += np.where(np.isfinite(base), base, 0.0)
    return z


@np.errstate(all="ignore")  # what is not finite is refused in `steep`
def slopes(z: FloatArray, is_target: BoolArray, rule: tuple[float, float, float]) -> tuple[FloatArray, FloatArray]:
    """Return slopes and curvatures of the costs of trials by their log odds, (..., n_trials)."""
    alpha, beta, _ = rule
    pull, bend = np.empty(z.shape), np.empty(z.shape)
    for rows_of, sign, shape in ((~is_target, 1.0, (alpha, beta)), (is_target, -1.0, (beta, alpha))):
        own = z[..., rows_of]
        terms = kernel(*shape)(sign * own.ravel(), 2)
        assert terms.curvature is not None  # noqa: S101  # both derivatives were asked for
        pull[..., rows_of] = sign * terms.slope.reshape(own.shape)
        bend[..., rows_of] = terms.curvature.reshape(own.shape)
    return pull, bend


@np.errstate(all="ignore")
def _times(amount: FloatArray, values: FloatArray) -> FloatArray:
    """Return the product; nothing of an infinite value is nothing."""
    return np.where(amount > 0.0, amount * values, 0.0)


def steep(hessian: FloatArray) -> FloatArray:
    """Return coordinates in which a Hessian is the identity, as columns, for all directions that are not flat.

    Raises
    ------
    InputError
        If the curvature is negative in some direction, or derivatives are no numbers.
    """
    if not np.isfinite(hessian).all():
        raise InputError("the derivatives of the objective do not fit a float.")
    values, vectors = np.linalg.eigh(0.5 * hessian + 0.5 * hessian.T)
    largest = float(np.max(np.abs(values), initial=0.0))
    if np.any(values < -_FLAT * largest):
        raise InputError("the parameters are no minimum of the objective, but a saddle.")
    is_steep = values > _FLAT * largest
    return np.asarray(vectors[:, is_steep] / np.sqrt(values[is_steep]))


Spread = tuple[float, float, float]
"""How much the trials of a class count, and mean and standard deviation of their scores."""


@dataclass(frozen=True, slots=True)
class MomentSums:
    """Sums by unit of how far trials are from the mean and the variance of their class, relative to all of the class.

    The last two columns are the shares of units in the classes.

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
                found.append([*(share * np.array([apart, (apart - sd) * (apart + sd)])), share])
        values = np.array([of_class[at] for at in range(3) for of_class in found])
        return UnitSums((Sums.of(sums_by_unit(values, units)),))
