"""Calibration loss: cross-entropy before and after the best scale and offsets (thesis section 8.4.2).

Scales are at least 0. A scale above 0 leaves infinite log-likelihoods infinite; scale 0 makes all scores equal. If the
cost falls forever along a direction (`deciban.core.training.multiclass_objective.Escape`), rivals that fall behind
forever cost nothing in the limit: they are excluded, and the remaining problem has an optimum.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from deciban._validate import arrays as _validate
from deciban._validate import classes as _validate_classes
from deciban._validate.arrays import all_finite
from deciban.core.class_counts import chosen, log_weights, tally
from deciban.core.expected import ClassCosts
from deciban.core.expected import dirichlet_cost as _dirichlet_cost
from deciban.core.logliks import class_major, difference, row_blocks
from deciban.core.proper import beta_cost_non, beta_cost_tar
from deciban.core.training.batches import PartsOfClassTrials
from deciban.core.training.moments import Survey
from deciban.core.training.multiclass_objective import ClassTrials, CountedTrials, Escape, decided, ruled_out
from deciban.core.training.multiclass_training import train_counted
from deciban.core.training.sums import Ends, Sums
from deciban.errors import InputError
from deciban.multiclass.tables import ScoredClasses, class_costs, entropy, expected_surprise, mixed, surprises
from deciban.types import BoolArray, ByValue, FloatArray, IntArray, Names, Priors, T, Weights

_EPS = float(np.finfo(np.float64).eps)

_LARGEST = float(np.finfo(np.float64).max)


@dataclass(frozen=True, slots=True, eq=False)
class OpenTrials:
    """Trials of the classes of positive prior, all or of one batch.

    Attributes
    ----------
    trials : ScoredClasses
    is_open : (n_trials,) bool array
        True if infinite log-likelihoods leave the class of a trial open.
    """

    trials: ScoredClasses
    is_open: BoolArray

    @classmethod
    def of(cls, trials: ScoredClasses) -> OpenTrials:
        """Create from trials of classes that all have a positive prior."""
        if all_finite(trials.loglik):
            return cls(trials, np.ones(len(trials.label), np.bool_))
        result = ClassTrials(trials.loglik[:, None, :], trials.label, np.zeros(trials.n_classes), None)
        return cls(trials, ~decided(result)[0])

    def leads(self) -> Ends:
        """Return the largest lead of each class (column) over the true one (row) in open trials; see `Escape`."""
        n = self.trials.n_classes
        leads = np.full((n, n), -np.inf)
        for k, _, block in self._blocks():
            leads[k] = np.maximum(leads[k], block.max(axis=1))
        np.fill_diagonal(leads, -np.inf)
        return Ends.up_to(leads)

    def without_beaten(self, escape: Escape, leads: FloatArray) -> tuple[OpenTrials, FloatArray]:
        """Return the trials without rivals that fall behind forever, and the least change of their leads per step.

        The latter is a matrix of true classes and rivals, infinite if no rival falls behind.

        Parameters
        ----------
        escape : Escape
        leads : (n_classes, n_classes) array
            Leads in all trials, which may include other trials.
        """
        loglik = np.array(self.trials.loglik, np.float64)
        room = np.full(leads.shape, np.inf)
        stays = leads - escape.margin if escape.scale else np.full(room.shape, -np.inf)
        stays[~escape.level] = np.inf
        np.fill_diagonal(stays, -np.inf)
        for k, rows, lead in self._blocks():
            beaten = (lead < stays[k][:, None]) & (lead > -np.inf)
            drop = (escape.offsets[k] - escape.offsets)[:, None]
            fall = np.maximum(drop - escape.scale * np.where(beaten, lead, 0.0), _EPS * np.abs(drop))
            room[k] = np.minimum(room[k], np.where(beaten, fall, np.inf).min(axis=1))
            loglik[rows] = np.where(beaten.T, -np.inf, loglik[rows])
        return replace(self, trials=replace(self.trials, loglik=loglik)), room

    def flat(self) -> OpenTrials:
        """Return the trials at scale 0: only exclusions still matter."""
        flat = np.array(self.trials.loglik, np.float64)
        flat[np.isfinite(flat) & self.is_open[:, None]] = 0.0
        return replace(self, trials=replace(self.trials, loglik=flat))

    def pull(self, likelihood: FloatArray) -> Sums:
        """Return class sums of the slopes of costs in the scale at scale 0, and of their sizes, (2, n_classes).

        Parameters
        ----------
        likelihood : (n_classes,) array
            Effect of offsets and prior on the classes, up to a factor.
        """
        values = np.zeros((2, self.trials.n_classes))
        for k, rows, lead in self._blocks():
            excluded, weight = np.isneginf(lead), self.trials.weights_of(rows)
            left = likelihood.sum()
            if excluded.any():
                lead[excluded], left = 0.0, likelihood @ ~excluded
            own = (np.ones(len(rows)) if weight is None else weight) / left
            values[:, k] += own @ (likelihood @ lead), own @ (likelihood @ np.abs(lead))
        return Sums.of(values)

    def surprises(self, prior: FloatArray) -> ClassCosts:
        """Return sums of the surprise of the trials of each class; see `deciban.multiclass.tables.surprises`."""
        return ClassCosts(surprises(self.trials, prior))

    def lack_rivals(self) -> bool:
        """Return True if infinite log-likelihoods leave only one class in every open trial."""
        if self.trials.n_classes > 1 and all_finite(self.trials.loglik):
            return not len(self.trials.label)
        return bool(np.all(np.count_nonzero(self.trials.loglik[self.is_open] > -np.inf, axis=1) == 1))

    def _blocks(self) -> Iterator[tuple[int, IntArray, FloatArray]]:
        """Yield open trials by class: the class, rows, and the leads of the classes over it, (n_classes, n)."""
        n = self.trials.n_classes
        for k in range(n):
            own = self.trials.rows(k)
            own = own[self.is_open[own]]
            for part in row_blocks(len(own), n):
                block = class_major(self.trials.loglik, own[part])
                excluded = np.isneginf(block)
                with np.errstate(over="ignore"):
                    block -= block[k].copy()
                np.clip(block, -_LARGEST, _LARGEST, out=block)
                np.copyto(block, -np.inf, where=excluded)
                yield k, own[part], block


_RIDGE = 1e-12
"""Penalty for finding nearly optimal finite parameters if the optimum may be at infinity."""


_BEHIND = 36.0
"""Lead in nats of the true class at which a rival has almost no cost: 2e-16."""


_NEARLY_ZERO = 1e-13
"""Change of log-likelihoods in nats by a scale that represents the limit 0."""


_ROUNDING = 1e-14
"""Relative difference of sums in another order."""


@dataclass(frozen=True, slots=True, eq=False)
class Best:
    """Least cross-entropy of a family of maps in nats, and a map that reaches it, exactly or nearly."""

    cost: float
    scale: float
    offset: FloatArray


def given_up(total: float, prior: FloatArray, *, scale: bool) -> Best:
    """Return the best of two trivial maps: no change, or, if allowed, scale 0; ``total`` is the cost without change."""
    nothing = np.zeros(len(prior))
    return Best(entropy(prior), 0.0, nothing) if scale else Best(total, 1.0, nothing)


def no_worse(result: Best, without: Best) -> Best:
    """Return the trained map, unless a trivial map (see `given_up`) costs no more."""
    return without if result.cost >= without.cost * (1.0 - _ROUNDING) else result


Step: TypeAlias = Callable[[OpenTrials], OpenTrials]
"""Function that changes trials; can be pickled."""


class CalibratedTrials:
    """Trials that count, in memory or read in batches, restricted to the classes of positive prior.

    Parameters
    ----------
    counted : CountedTrials or PartsOfClassTrials
    at_hand : OpenTrials, optional
        The same trials, if they are in memory.
    survey : Survey, optional
        Survey of trials in memory.
    is_finite : bool, optional
        True if all log-likelihoods are finite; computed for trials in memory.

    Attributes
    ----------
    prior : (n_possible,) array
        Positive.
    """

    def __init__(
        self,
        counted: CountedTrials | PartsOfClassTrials,
        at_hand: OpenTrials | None = None,
        survey: Survey | None = None,
        *,
        is_finite: bool = True,
    ) -> None:
        self.counted, self.prior, self._at_hand = counted, counted.prior, at_hand
        self.survey = survey
        self.is_finite = is_finite if at_hand is None else all_finite(at_hand.trials.loglik)

    @classmethod
    def of(cls, trials: ScoredClasses, prior: FloatArray) -> CalibratedTrials:
        """Create from checked trials."""
        weights = None if trials.weights is None else trials.weights.astype(np.float64)
        counted = CountedTrials.of(trials.loglik[:, None, :], trials.label, prior, weights)
        counted = replace(counted, is_possible=np.ones(len(counted.prior), np.bool_))
        return cls(counted, _open(counted), Survey(counted.trials))

    def look(self, look: Callable[[OpenTrials], Any]) -> Any:
        """Return the sum of ``look`` over the batches; it can be pickled."""
        return self.counted.each(partial(_look, look)) if self._at_hand is None else look(self._at_hand)

    def changed(self, step: Step, *, is_finite: bool) -> CalibratedTrials:
        """Return the trials with other log-likelihoods; batches are changed when they are read."""
        value: Any = self.counted
        if self._at_hand is None:
            result = replace(value, each=lambda look: value.each(partial(_changed, step, look)))
            return CalibratedTrials(result, is_finite=is_finite)
        at_hand = step(self._at_hand)
        trials, weights = at_hand.trials, value.trials.weights
        return CalibratedTrials(CountedTrials.of(trials.loglik[:, None, :], trials.label, self.prior, weights), at_hand)

    def lack_rivals(self) -> bool:
        """True if only one class is left in every open trial; see `OpenTrials.lack_rivals`."""
        value: Any = self.counted
        return not value.first.rivals.any() if self._at_hand is None else self._at_hand.lack_rivals()

    def leads(self) -> FloatArray:
        """Return the largest leads; see `OpenTrials.leads`."""
        if not self.is_finite or self.survey is None or not self.survey.leads:
            ends: Ends = self.look(OpenTrials.leads)
            return ends.high
        leads = np.full((len(self.prior), len(self.prior)), -_LARGEST)
        for (block,), k, _ in self.survey.leads:
            np.maximum(leads[k], block.max(axis=1), out=leads[k])
        np.fill_diagonal(leads, -np.inf)
        return np.asarray(np.minimum(leads, _LARGEST))

    def without_beaten(self, escape: Escape, leads: FloatArray) -> tuple[CalibratedTrials, FloatArray]:
        """Return the trials without beaten rivals; see `OpenTrials.without_beaten`."""
        ends: Ends = self.look(partial(_room, escape, leads))
        is_finite = self.is_finite and not bool(np.isfinite(ends.low).any())
        return self.changed(partial(_without_beaten, escape, leads), is_finite=is_finite), ends.low

    def flat(self) -> CalibratedTrials:
        """Return the trials at scale 0; see `OpenTrials.flat`."""
        return self.changed(OpenTrials.flat, is_finite=self.is_finite)

    def pull(self, likelihood: FloatArray) -> tuple[float, float]:
        """Return the slope of the cost in the scale at scale 0, and the sum of the sizes of its terms.

        Parameters
        ----------
        likelihood : (n_possible,) array
            See `OpenTrials.pull`.
        """
        sums: Sums = self.look(partial(OpenTrials.pull, likelihood=likelihood))
        slope, size = sums.total @ (self.prior / self.counted.amounts)
        return float(slope), float(size)

    def surprise(self) -> float:
        """Return the cross-entropy in nats."""
        costs: ClassCosts = self.look(partial(OpenTrials.surprises, prior=self.prior))
        return mixed(costs.of_class, self.prior)


def _without_beaten(escape: Escape, leads: FloatArray, trials: OpenTrials) -> OpenTrials:
    return trials.without_beaten(escape, leads)[0]


def _room(escape: Escape, leads: FloatArray, trials: OpenTrials) -> Ends:
    """Return the least change of the leads of rivals that fall behind."""
    result = trials.without_beaten(escape, leads)[1]
    return Ends.of(result, result)


def _open(counted: CountedTrials) -> OpenTrials:
    """Return the trials of one system as `OpenTrials`."""
    trials = counted.trials
    return OpenTrials.of(ScoredClasses(trials.systems[:, 0], trials.label, trials.weights, None))


def _look(look: Callable[[OpenTrials], T], counted: CountedTrials) -> T:
    """Apply ``look`` to the trials of a batch."""
    return look(_open(counted))


def _changed(step: Step, look: Callable[[CountedTrials], T], counted: CountedTrials) -> T:
    """Apply ``look`` to the trials of a batch with changed log-likelihoods."""
    loglik = np.asarray(step(_open(counted)).trials.loglik, np.float64)
    return look(replace(counted, trials=replace(counted.trials, systems=loglik[:, None, :])))


@dataclass(frozen=True, eq=False)
class CalibrationLimits:
    """Limits of the calibration of trials.

    Attributes
    ----------
    trials : CalibratedTrials
    place : (n_possible,) int array
        Indices of the classes of positive prior.
    n_classes : int
        Number of all classes.
    total : float
        Cross-entropy without calibration, in nats.
    is_wrong : bool
        True if infinite log-likelihoods rule out a true class.
    """

    trials: CalibratedTrials
    place: IntArray
    n_classes: int
    total: float
    is_wrong: bool

    @classmethod
    def of(cls, trials: ScoredClasses, prior: FloatArray, total: float) -> CalibrationLimits:
        """Create from checked trials; ``total`` is their cross-entropy at the prior."""
        value = CalibratedTrials.of(trials, prior)
        counted: Any = value.counted
        is_wrong = not value.is_finite and bool(ruled_out(counted.trials).any())
        return cls(value, np.flatnonzero(prior > 0.0), trials.n_classes, total, is_wrong)

    def least(self, *, scale: bool = True, offset: bool = True) -> Best:
        """Return the infimum over scales (at least 0, or only 1) and offsets (any, or only 0); one must be free."""
        nothing = np.zeros(self.n_classes)
        if self.total == 0.0:
            return Best(0.0, 1.0, nothing)
        without = replace(given_up(self.total, self.trials.prior, scale=scale), offset=nothing)
        if self.is_wrong:
            return without
        if not np.any(self._leads > -np.inf):  # infinite log-likelihoods decide everything
            result = Best(self.total, 1.0, np.zeros(len(self.trials.prior)))
        elif (escape := Escape.of(self._leads, scale=scale, offset=offset)) is not None:
            # The limit of the cost along a direction in which it falls forever
            left, room = self.trials.without_beaten(escape, self._leads)
            # With a growing scale, the remaining leads stay as they are at scale 0.
            at = self._at_zero(left, offset=offset) if escape.scale else self._optimum(left, scale=scale, offset=offset)
            log_prior = np.log(self.trials.prior)
            beaten = np.isfinite(room)
            z = at.offset + log_prior
            lead = z - z[:, None] + (0.0 if escape.scale else at.scale * np.where(beaten, self._leads, 0.0))
            least = 0.0 if self.trials.is_finite else escape.scale
            steps = float(np.max((_BEHIND + lead[beaten]) / room[beaten], initial=least))
            steps = min(steps, _LARGEST / 8.0 / max(1.0, float(np.ptp(escape.offsets))))
            grown = steps if escape.scale else at.scale
            result = Best(at.cost, grown, at.offset + steps * escape.offsets)
        else:
            result = self._optimum(self.trials, scale=scale, offset=offset)
        offsets = nothing.copy()
        offsets[self.place] = result.offset - result.offset.mean()
        return no_worse(Best(result.cost, result.scale, offsets), without)

    @cached_property
    def _leads(self) -> FloatArray:
        return self.trials.leads()

    def _optimum(self, trials: CalibratedTrials, *, scale: bool, offset: bool, ridge: float = 0.0) -> Best:
        """Return the optimum of trials whose cost does not fall forever, unless the scale becomes negative."""
        if not scale and trials.lack_rivals():
            return Best(trials.surprise(), 1.0, np.zeros(len(trials.prior)))
        at_zero = self._at_zero(trials, offset=offset) if scale and ridge == 0.0 else None
        try:
            train = partial(train_counted, scale=scale, offset=offset, ridge=ridge, has_optimum=ridge > 0.0)
            fit = train(trials.counted, trials.survey, only_value=True)
            result = Best(fit.objective, float(fit.weights[0]), fit.offsets)
        except InputError:
            if at_zero is None:
                raise
            if not self._falls(trials, at_zero.offset):
                return at_zero
            result = self._optimum(trials, scale=scale, offset=offset, ridge=_RIDGE)
        return result if at_zero is None or (result.scale > 0.0 and result.cost < at_zero.cost) else at_zero

    def _at_zero(self, trials: CalibratedTrials, *, offset: bool) -> Best:
        """Return the limit for small scales: only exclusions still matter."""
        nothing = np.zeros(len(trials.prior))
        if trials.is_finite:
            return Best(entropy(trials.prior), 0.0, nothing)
        left, smallest = trials.flat(), 0.0
        if not self.trials.is_finite:
            finite = np.abs(self._leads[np.isfinite(self._leads)])
            smallest = _NEARLY_ZERO / max(float(finite.max(initial=0.0)), _NEARLY_ZERO)
        if offset:
            return replace(self._optimum(left, scale=False, offset=True), scale=smallest)
        return Best(left.surprise(), smallest, nothing)

    def _falls(self, trials: CalibratedTrials, offsets: FloatArray) -> bool:
        """Return True if the cost falls with the scale at 0; it is convex, so otherwise scale 0 is best."""
        bent = trials.prior * np.exp(offsets - offsets.max())
        slope, size = trials.pull(bent if offsets.any() else trials.prior)
        return slope < -_ROUNDING * size


@dataclass(frozen=True, slots=True, eq=False)
class ClassCalibration(ByValue):
    """Cross-entropy of log-likelihoods before and after the best maps ``scale * loglik + offset``, in bits.

    Attributes
    ----------
    total : float
        Without a map: at the flat prior `cllr`.
    minimum : float
        After the best map, with ``scale`` at least 0: the discrimination loss, at most ``reference``. It is an infimum:
        the limit of cross-entropies of finite maps, even if none of them reaches it.
    after_offset_only, after_scale_only : float
        After the best offsets with scale 1, and after the best scale without offsets.
    reference : float
        Entropy of the prior: the cost without information.
    scale : float
        Scale of the best map. If there is no best map because the cost falls forever, the scale of a map that is nearly
        optimal.
    offset : (n_classes,) array
        In nats; their mean is 0.
    """

    total: float
    minimum: float
    after_offset_only: float
    after_scale_only: float
    reference: float
    scale: float
    offset: FloatArray

    @classmethod
    def of(cls, total: float, both: Best, scaled: Best, shifted: Best, prior: FloatArray) -> ClassCalibration:
        """Create from cross-entropies in nats: without a map, with scale and offsets, and with one of these."""
        return cls(
            total=total / math.log(2),
            minimum=both.cost / math.log(2),
            after_offset_only=shifted.cost / math.log(2),
            after_scale_only=scaled.cost / math.log(2),
            reference=entropy(prior) / math.log(2),
            scale=both.scale,
            offset=both.offset,
        )

    @property
    def loss(self) -> float:
        """Calibration loss: the gain by the best scale and offsets together, at least 0."""
        return _saved(self.total, self.minimum)

    @property
    def offset_loss(self) -> float:
        """Gain by offsets alone."""
        return _saved(self.total, self.after_offset_only)

    @property
    def scale_loss(self) -> float:
        """Gain by a scale alone. The sum of both single gains may be more or less than the joint gain."""
        return _saved(self.total, self.after_scale_only)


def _saved(before: float, after: float) -> float:
    return 0.0 if before == after else max(before - after, 0.0)  # inf minus inf counts as 0


def min_cllr(loglik: ArrayLike, label: ArrayLike, *, sample_weight: Weights = None, classes: Names = None) -> float:
    """Return `cllr` in bits after the best scale and offsets (Bruemmer and van Leeuwen 2006, section 4.1).

    Parameters
    ----------
    loglik : (n_trials, n_classes) array_like
        Log-likelihoods in nats; only differences within a row matter. May be infinite.
    label : (n_trials,) array_like
        True classes: positions from 0, or names if ``classes`` are given.
    sample_weight : (n_trials,) array_like, optional
        Weight of each trial within its class, at least 0.
    classes : sequence of str, optional
        Names of the columns.

    Returns
    -------
    float
        At most ``log2 n_classes``, and never above `cllr`. With two classes there is less freedom than in
        `deciban.metrics.min_cllr`, which allows any increasing map.

    Raises
    ------
    InputError
        If there is NaN, a label is unknown, or a class has no trial.

    Examples
    --------
    >>> loglik = [[2.0, 0.0, -1.0], [0.0, 1.0, 0.0], [0.0, 0.5, 1.5], [1.0, 1.5, 0.0]]
    >>> round(min_cllr(loglik, [0, 1, 2, 2]), 4)
    0.7201
    """
    trials = ScoredClasses.of_metric(loglik, label, sample_weight, classes)
    prior = trials.prior(None)
    return CalibrationLimits.of(trials, prior, expected_surprise(trials, prior)).least().cost / math.log(2)


def calibration_analysis(
    loglik: ArrayLike, label: ArrayLike, *, prior: Priors = None, sample_weight: Weights = None, classes: Names = None
) -> ClassCalibration:
    """Split cross-entropy into discrimination loss and calibration loss (thesis eqs. 8.22 to 8.25).

    Parameters
    ----------
    loglik : (n_trials, n_classes) array_like
        Log-likelihoods in nats; only differences within a row matter. May be infinite: any scale above 0 leaves them
        infinite. Scale 0 removes all scores, which is best if an infinite score contradicts the true class.
    label : (n_trials,) array_like
        True classes: positions from 0, or names if ``classes`` are given.
    prior : (n_classes,) array_like, optional
        Probabilities, default: flat; classes of prior 0 are dropped with their trials.
    sample_weight : (n_trials,) array_like, optional
        Weight of each trial within its class, at least 0.
    classes : sequence of str, optional
        Names of the columns.

    Returns
    -------
    ClassCalibration

    Raises
    ------
    InputError
        If there is NaN, a label is unknown, a class of positive prior has no trial, or the prior is invalid.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> label = rng.integers(0, 3, 1000)
    >>> calibrated = 3.0 * np.eye(3)[label] + rng.normal(size=(1000, 3)) * np.sqrt(3.0)
    >>> found = calibration_analysis(2.0 * calibrated + [1.0, 0.0, -1.0], label)
    >>> round(found.scale, 1), found.loss > found.scale_loss > found.offset_loss > 0
    (0.5, True)
    """
    trials = ScoredClasses.of_metric(loglik, label, sample_weight, classes)
    checked = trials.prior(prior)
    return calibration_analysis_of(trials, checked, expected_surprise(trials, checked))


def calibration_analysis_of(trials: ScoredClasses, prior: FloatArray, total: float) -> ClassCalibration:
    """Return `calibration_analysis` of checked trials, given their cross-entropy in nats."""
    limits = CalibrationLimits.of(trials, prior, total)
    return ClassCalibration.of(total, limits.least(), limits.least(offset=False), limits.least(scale=False), prior)


_LEAST_PAIR = 1.1
"""Smallest sum of two parameters: with a sum of 1 or less, all costs of three or more classes are infinite."""


def eta_cost(
    loglik: ArrayLike,
    label: ArrayLike,
    *,
    eta: ArrayLike,
    prior: Priors = None,
    sample_weight: Weights = None,
    classes: Names = None,
) -> float:
    """Return the expected cost of decisions with regions that meet at ``eta`` (thesis eqs. 6.1 and 8.12).

    Parameters
    ----------
    loglik : (n_trials, n_classes) array_like
        Log-likelihoods in nats; only differences within a row matter. May be infinite.
    label : (n_trials,) array_like
        True classes: positions from 0, or names if ``classes`` are given.
    eta : (n_classes,) array_like
        Probabilities above 0: the posterior at which all decisions cost the same, namely 1. The decision is the class
        of greatest ``posterior / eta``, the first one in a tie.
    prior : (n_classes,) array_like, optional
        Probabilities, default: flat; classes of prior 0 are dropped with their trials.
    sample_weight : (n_trials,) array_like, optional
        Weight of each trial within its class, at least 0; whole numbers count like copies of the trial.
    classes : sequence of str, optional
        Names of the columns.

    Returns
    -------
    float
        ``sum_i prior_i P(decision is not i | i) / ((n_classes - 1) eta_i)``. At the flat ``eta`` it is the error rate
        times ``n_classes / (n_classes - 1)``.

    Raises
    ------
    InputError
        If there is NaN, a label is unknown, a class of positive prior has no trials, or a prior or ``eta`` is invalid.

    Examples
    --------
    >>> loglik = [[2.0, 0.0, -1.0], [0.0, 1.0, 0.0], [0.0, 0.5, 0.4], [0.0, 0.5, 1.0]]
    >>> round(eta_cost(loglik, [0, 1, 2, 2], eta=[0.4, 0.4, 0.2]), 6)
    0.0
    >>> round(eta_cost(loglik, [0, 1, 2, 2], eta=[0.2, 0.4, 0.4]), 6)
    0.208333
    """
    trials = ScoredClasses.of_metric(loglik, label, sample_weight, classes)
    checked, point = trials.prior(prior), _meeting_point(eta, trials.n_classes)
    weighted = checked / point
    wrong = chosen(trials.loglik, weighted / weighted.sum()) != trials.label
    weights = None if trials.weights is None else trials.weights[wrong]
    misses, possible = tally(trials.label[wrong], trials.n_classes, weights), checked > 0
    rates = misses[possible] / trials.totals()[possible]
    return float(weighted[possible] @ rates / (trials.n_classes - 1))


def eta_rule(posterior: ArrayLike, *, eta: ArrayLike) -> FloatArray:
    """Return the proper scoring rule of decisions with regions that meet at ``eta`` (thesis eqs. 8.12 and D.2).

    Parameters
    ----------
    posterior : (n, n_classes) array_like
        Probabilities, rows that sum to 1.
    eta : (n_classes,) array_like
        Probabilities above 0.

    Returns
    -------
    (n, n_classes) array
        Cost for each true class: 0 if it has the greatest ``posterior / eta`` (the first one in a tie), else ``1 /
        ((n_classes - 1) eta_i)``. Under ``eta`` itself, all decisions have an expected cost of 1.

    Raises
    ------
    InputError
        If rows are not probabilities, or ``eta`` is invalid or has zeros.

    Examples
    --------
    >>> eta_rule([[0.5, 0.3, 0.2], [0.4, 0.2, 0.4]], eta=[0.5, 0.25, 0.25])
    array([[1., 0., 2.],
           [1., 2., 0.]])
    """
    table = _validate_classes.distributions(posterior, "posterior")
    n, n_classes = table.shape
    point = _meeting_point(eta, n_classes)
    cost = np.tile(1.0 / ((n_classes - 1) * point), (n, 1))
    cost[np.arange(n), np.argmax(table / point, axis=1)] = 0.0
    return cost


def dirichlet_cost(
    loglik: ArrayLike,
    label: ArrayLike,
    *,
    concentration: ArrayLike,
    prior: Priors = None,
    sample_weight: Weights = None,
    classes: Names = None,
) -> float:
    """Return the expected cost of the scoring rule that weights `eta_rule` with a Dirichlet density over ``eta``.

    Parameters
    ----------
    loglik : (n_trials, n_classes) array_like
        Log-likelihoods in nats; only differences within a row matter. May be infinite.
    label : (n_trials,) array_like
        True classes: positions from 0, or names if ``classes`` are given.
    concentration : float or (n_classes,) array_like
        Parameters of the rule, see `dirichlet_rule`; one number for all classes.
    prior : (n_classes,) array_like, optional
        Probabilities, default: flat; classes of prior 0 are dropped with their trials.
    sample_weight : (n_trials,) array_like, optional
        Weight of each trial within its class, at least 0; whole numbers count like copies of the trial.
    classes : sequence of str, optional
        Names of the columns.

    Returns
    -------
    float
        ``sum_i prior_i mean_{trials of i} C(posterior | i)``; with all parameters 1 the cross-entropy in nats. If a
        trial excludes its own class, the cost is ``inf``, or finite if the parameter of this class is above 1.

    Raises
    ------
    InputError
        If there is NaN, a label is unknown, a class of positive prior has no trial, the prior is invalid, or a
        parameter is out of range.

    Examples
    --------
    >>> loglik = [[2.0, 0.0, -1.0], [0.0, 1.0, 0.0], [0.0, 0.5, 1.5]]
    >>> round(dirichlet_cost(loglik, [0, 1, 2], concentration=1), 6)  # nats: Cllr times ln 2
    0.39522
    >>> round(dirichlet_cost(loglik, [0, 1, 2], concentration=[2, 1, 1]), 6)
    0.409916
    """
    trials = ScoredClasses.of_metric(loglik, label, sample_weight, classes)
    checked, shapes = trials.prior(prior), _concentration(concentration, trials.n_classes)
    columns = np.flatnonzero(checked > 0)
    log_prior = log_weights(checked[columns])[:, None]
    sums = class_costs(trials, columns, lambda block, place: _costs(block + log_prior, place, columns, shapes))
    return mixed(sums, checked)


def dirichlet_rule(posterior: ArrayLike, *, concentration: ArrayLike) -> FloatArray:
    """Return the proper scoring rule that weights `eta_rule` with a Dirichlet density over ``eta``.

    It is ``C(q | i) = int C_eta(q | i) Dir(eta; a) d eta`` over the simplex. It is strictly proper, because every
    decision has a positive weight. The thesis does not define this family (section 8.2); the Notes derive its
    computation.

    Parameters
    ----------
    posterior : (n, n_classes) array_like
        Probabilities, rows that sum to 1.
    concentration : float or (n_classes,) array_like
        Parameters ``a`` of the density, each in [0.05, 100]; one number for all classes. Larger values emphasize a
        narrower range of decisions around ``a / sum a``. With three or more classes, every two must sum to at least
        1.1.

    Returns
    -------
    (n, n_classes) array
        Cost for each true class, relative error below 1e-11. It is 0 if the posterior of the class is 1; if the
        posterior is 0, it is ``(A - 1) / ((n_classes - 1) (a_i - 1))`` with ``A = sum a``, or ``inf`` if ``a_i <= 1``.

    Raises
    ------
    InputError
        If rows are not probabilities, or a parameter is out of range.

    Notes
    -----
    A Dirichlet vector is a vector of independent gamma variables ``g_j`` of shapes ``a_j``, divided by their sum. Class
    ``i`` is missed if ``g_j < g_i q_j / q_i`` for some ``j``. With ``Q`` the upper regularized incomplete gamma
    function, one integral remains::

        C(q | i) = (A - 1) / ((N - 1) Gamma(a_i))
                   int_0^inf g^(a_i - 2) e^-g (1 - prod_{j != i} Q(a_j, g q_j / q_i)) dg

    - All ``a = 1``: ``Q`` is an exponential, and the integral (Frullani's) is ``-ln q_i``, which is thesis 8.13.
    - All others 1: ``(A - 1) / (N - 1) * (1 - q_i^(a_i - 1)) / (a_i - 1)``.
    - N = 2: the beta family with ``alpha = a_1, beta = a_2`` and the normalization of
      `deciban.metrics.scoring_rule_cost`.
    - If a class has posterior 0, the costs of the others are, up to a constant factor, those of the family without it.
    - Brier's rule is a member for two classes only (``a = 2``, times 3): for three classes, all ``a = 2`` give ``5/2 (1
      - q_i (1 + q_j + q_k + 2 q_j q_k))``. Boosting (``a = 1/2``) has no counterpart: for N > 2, the integral near the
      edge where two components of ``eta`` vanish is finite only if their parameters sum to more than 1.

    The first three are computed in closed form (the beta family by its own table), all others by the trapezoidal rule
    after a doubly exponential substitution. This takes about 0.1 ms for the cost of one of 14 classes, so more than 1
    ms for all classes of a trial. `dirichlet_cost` only needs the cost of the true class.

    Examples
    --------
    >>> dirichlet_rule([[0.5, 0.3, 0.2], [1.0, 0.0, 0.0]], concentration=2).round(6)
    array([[0.475, 1.075, 1.45 ],
           [0.   , 2.5  , 2.5  ]])
    """
    table = _validate_classes.distributions(posterior, "posterior")
    n, n_classes = table.shape
    shapes, columns = _concentration(concentration, n_classes), np.arange(n_classes)
    cost = np.empty(table.shape)
    with np.errstate(divide="ignore"):
        for rows in row_blocks(n, n_classes):
            block = np.log(table[rows].T)
            for k in columns:
                cost[rows, k] = _costs(block, int(k), columns, shapes)
    return cost


def _costs(block: FloatArray, place: int, columns: IntArray, shapes: FloatArray) -> FloatArray:
    """Return costs of trials of the class in row ``place`` of log posteriors (n_possible, n_trials) of ``columns``.

    Log posteriors may have any constant added. ``shapes`` are the parameters of all classes.
    """
    if len(shapes) == 2:
        x = difference(block[0], block[1])
        alpha, beta = shapes.tolist()
        return beta_cost_tar(x, alpha, beta) if place == 0 else beta_cost_non(x, alpha, beta)
    others = [j for j in range(len(columns)) if j != place]
    log_ratio = np.stack([difference(block[j], block[place]) for j in others])
    scale = (shapes.sum() - 1.0) / (len(shapes) - 1)
    return _dirichlet_cost(log_ratio, float(shapes[columns[place]]), shapes[columns[others]], float(scale))


def _meeting_point(eta: ArrayLike, n_classes: int) -> FloatArray:
    point = _validate_classes.prior(eta, n_classes, "eta")
    if not point.all():
        raise InputError(f"eta: 0 for class {int(np.argmin(point))}. Every entry must be above 0.")
    return point


def _concentration(values: ArrayLike, n_classes: int) -> FloatArray:
    value = _validate.finite(values, "concentration")
    if value.shape not in ((), (n_classes,)):
        raise InputError(
            f"concentration: shape {value.shape} for {n_classes} classes. Pass one number, or one per class."
        )
    shapes = np.broadcast_to(value, (n_classes,)).astype(np.float64)
    bad = np.flatnonzero((shapes < 0.05) | (shapes > 100.0))
    if len(bad):
        raise InputError(f"concentration: {shapes[bad[0]]:g} for class {bad[0]}. Parameters must be in [0.05, 100].")
    one, two = np.argsort(shapes, kind="stable")[:2]
    if n_classes > 2 and shapes[one] + shapes[two] < _LEAST_PAIR:
        raise InputError(
            f"concentration: {shapes[one]:g} and {shapes[two]:g} for classes {one} and {two} sum to less than "
            f"{_LEAST_PAIR:g}. With three or more classes, every two must reach this limit: at 1 costs are infinite."
        )
    return shapes
