"""The least cross-entropy that scale and offsets can reach or come close to, infinities and separated classes included.

Scales are at least 0. A scale above 0 leaves infinite log-likelihoods infinite; scale 0 makes all scores alike.
Where the cost falls forever along a direction (`deciban.core.training.separation.Escape`), rivals that fall
behind forever cost nothing in the limit: they are excluded, and what is left has an optimum.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Self, TypeAlias

import numpy as np

from deciban._validate.arrays import all_finite
from deciban.core.classes.certainty import CountedTrials, decided, ruled_out
from deciban.core.classes.loglik import row_blocks
from deciban.core.rules.expected import ClassCosts
from deciban.core.training.multiclass_objective import ClassTrials
from deciban.core.training.multiclass_training import ClassFit, Survey, train_counted
from deciban.core.training.separation import Escape
from deciban.core.training.sums import Ends, Sums
from deciban.errors import InputError
from deciban.multiclass.costs import entropy, mixed, surprises
from deciban.multiclass.tables import ScoredClasses
from deciban.types import BoolArray, FloatArray, IntArray

_EPS = float(np.finfo(np.float64).eps)

_LARGEST = float(np.finfo(np.float64).max)


@dataclass(frozen=True, slots=True, eq=False)
class OpenTrials:
    """Trials of the classes of positive prior, all of them or those of a piece.

    Attributes
    ----------
    trials : ScoredClasses
    is_open : (n_trials,) bool array
        Whether infinite log-likelihoods leave the class of a trial open.
    """

    trials: ScoredClasses
    is_open: BoolArray

    @classmethod
    def of(cls, trials: ScoredClasses) -> OpenTrials:
        """From trials of classes that all have a positive prior."""
        if all_finite(trials.loglik):
            return cls(trials, np.ones(len(trials.label), np.bool_))
        found = ClassTrials(trials.loglik[:, None, :], trials.label, np.zeros(trials.n_classes), None)
        return cls(trials, ~decided(found)[0])

    def leads(self) -> FloatArray:
        """How far each class (column) is ahead of the true one (row) in trials that are open, at most; see `Escape`."""
        n = self.trials.n_classes
        leads = np.full((n, n), -np.inf)
        for k, _, block in self._blocks():
            leads[k] = np.maximum(leads[k], block.max(axis=0))
        np.fill_diagonal(leads, -np.inf)
        return leads

    def without_beaten(self, escape: Escape, leads: FloatArray) -> tuple[OpenTrials, FloatArray]:
        """The trials without rivals that fall behind forever, and how far these do so with a step of 1, at least.

        The latter is a matrix of true classes and rivals, infinite where no rival falls behind.

        Parameters
        ----------
        escape : Escape
        leads : (n_classes, n_classes) array
            Of all trials, of which these may be some.
        """
        loglik = np.array(self.trials.loglik, np.float64)
        room = np.full(leads.shape, np.inf)
        stays = leads - escape.margin if escape.scale else np.full(room.shape, -np.inf)
        stays[~escape.level] = np.inf
        np.fill_diagonal(stays, -np.inf)
        for k, rows, lead in self._blocks():
            beaten = (lead < stays[k]) & (lead > -np.inf)
            drop = escape.offsets[k] - escape.offsets
            fall = np.maximum(drop - escape.scale * np.where(beaten, lead, 0.0), _EPS * np.abs(drop))
            room[k] = np.minimum(room[k], np.where(beaten, fall, np.inf).min(axis=0))
            loglik[rows] = np.where(beaten, -np.inf, loglik[rows])
        return replace(self, trials=replace(self.trials, loglik=loglik)), room

    def flat(self) -> OpenTrials:
        """The trials at scale 0: only what is excluded still counts."""
        flat = np.array(self.trials.loglik, np.float64)
        flat[np.isfinite(flat) & self.is_open[:, None]] = 0.0
        return replace(self, trials=replace(self.trials, loglik=flat))

    def pull(self, likelihood: FloatArray) -> FloatArray:
        """Of each class, sums of the slopes of costs in the scale at scale 0, and of their sizes, (2, n_classes).

        Parameters
        ----------
        likelihood : (n_classes,) array
            What offsets and the prior make of the classes there, up to a factor.
        """
        found = np.zeros((2, self.trials.n_classes))
        for k, rows, lead in self._blocks():
            posterior = np.where(np.isneginf(lead), 0.0, likelihood)
            posterior /= posterior.sum(axis=1, keepdims=True)
            pull = posterior * np.where(np.isneginf(lead), 0.0, lead)
            weight = self.trials.weights_of(rows)
            own = np.ones(len(rows)) if weight is None else weight
            found[:, k] += own @ pull.sum(axis=1), own @ np.abs(pull).sum(axis=1)
        return found

    def lack_rivals(self) -> bool:
        """Whether infinite log-likelihoods leave one class in every open trial."""
        if self.trials.n_classes > 1 and all_finite(self.trials.loglik):
            return not len(self.trials.label)
        return bool(np.all(np.count_nonzero(self.trials.loglik[self.is_open] > -np.inf, axis=1) == 1))

    def _blocks(self) -> Iterator[tuple[int, IntArray, FloatArray]]:
        """Open trials of one class after the other: the class, rows, and how far the classes are ahead of it."""
        n = self.trials.n_classes
        for k in range(n):
            own = self.trials.rows(k)
            own = own[self.is_open[own]]
            for part in row_blocks(len(own), n):
                block = np.array(self.trials.loglik[own[part]], np.float64)
                excluded = np.isneginf(block)
                with np.errstate(over="ignore"):
                    block -= block[:, k : k + 1].copy()
                np.clip(block, -_LARGEST, _LARGEST, out=block)
                block[excluded] = -np.inf
                if len(block):
                    yield k, own[part], block


_RIDGE = 1e-12
"""Where an optimum is too far away to be told from one at infinity, this penalty finds what costs about as little."""


_BEHIND = 36.0
"""Nats behind the true class at which a rival costs next to nothing: 2e-16."""


_NEARLY_ZERO = 1e-13
"""Nats by which a scale that stands for the limit 0 moves log-likelihoods."""


_ROUNDING = 1e-14
"""Relative difference that sums in another order may have."""


@dataclass(frozen=True, slots=True, eq=False)
class Best:
    """The least cross-entropy of a family of maps in nats, and a map that has it (or comes as close as one can)."""

    cost: float
    scale: float
    offset: FloatArray


def given_up(total: float, prior: FloatArray, *, scale: bool) -> Best:
    """What a map has that changes nothing or, if it may, throws everything away; ``total`` is the cost as it is."""
    nothing = np.zeros(len(prior))
    return Best(entropy(prior), 0.0, nothing) if scale else Best(total, 1.0, nothing)


def no_worse(found: Best, without: Best) -> Best:
    """The map that was found, unless one costs no more that was `given_up`."""
    return without if found.cost >= without.cost * (1.0 - _ROUNDING) else found


Step: TypeAlias = Callable[[OpenTrials], OpenTrials]
"""Makes other trials of some; can be pickled."""


class CalibratedTrials(ABC):
    """Trials that count, wherever they are, by the classes of positive prior.

    Attributes
    ----------
    prior : (n_possible,) array
        Positive.
    is_finite : bool
        Whether all log-likelihoods are.
    """

    prior: FloatArray
    is_finite: bool

    @abstractmethod
    def look(self, look: Callable[[OpenTrials], Any]) -> Any:
        """Return what a look at all of them finds; it can be pickled, and what it finds of several batches adds up."""

    @abstractmethod
    def changed(self, step: Step, *, is_finite: bool) -> Self:
        """Return the trials with other log-likelihoods."""

    @property
    @abstractmethod
    def totals(self) -> FloatArray:
        """How much the trials of each class count."""

    @abstractmethod
    def lack_rivals(self) -> bool:
        """See `OpenTrials.lack_rivals`."""

    @abstractmethod
    def train(self, **form: Any) -> ClassFit:
        """See `deciban.core.training.multiclass_training.train_counted`."""

    def leads(self) -> FloatArray:
        """See `OpenTrials.leads`."""
        found: Ends = self.look(_leads)
        return found.high

    def without_beaten(self, escape: Escape, leads: FloatArray) -> tuple[Self, FloatArray]:
        """See `OpenTrials.without_beaten`."""
        found: Ends = self.look(partial(_room, escape, leads))
        is_finite = self.is_finite and not bool(np.isfinite(found.low).any())
        return self.changed(partial(_without_beaten, escape, leads), is_finite=is_finite), found.low

    def flat(self) -> Self:
        """See `OpenTrials.flat`."""
        return self.changed(OpenTrials.flat, is_finite=self.is_finite)

    def pull(self, likelihood: FloatArray) -> tuple[float, float]:
        """The slope of the cost in the scale at scale 0, and sums of sizes of what adds up to it.

        Parameters
        ----------
        likelihood : (n_possible,) array
            See `OpenTrials.pull`.
        """
        found: Sums = self.look(partial(_pull, likelihood))
        slope, size = found.total @ (self.prior / self.totals)
        return float(slope), float(size)

    def surprise(self) -> float:
        """Cross-entropy in nats."""
        found: ClassCosts = self.look(partial(_surprise_costs, self.prior))
        return mixed(found.of_class, self.prior)


def _leads(trials: OpenTrials) -> Ends:
    return Ends.up_to(trials.leads())


def _without_beaten(escape: Escape, leads: FloatArray, trials: OpenTrials) -> OpenTrials:
    return trials.without_beaten(escape, leads)[0]


def _room(escape: Escape, leads: FloatArray, trials: OpenTrials) -> Ends:
    """How far rivals fall behind."""
    found = trials.without_beaten(escape, leads)[1]
    return Ends.of(found, found)


def _pull(likelihood: FloatArray, trials: OpenTrials) -> Sums:
    return Sums.of(trials.pull(likelihood))


def _surprise_costs(prior: FloatArray, trials: OpenTrials) -> ClassCosts:
    return ClassCosts(surprises(trials.trials, prior))


class CalibratedAtHand(CalibratedTrials):
    """All trials are in memory.

    Parameters
    ----------
    counted : CountedTrials
        Those that count.
    at_hand : OpenTrials
        The same.
    survey : Survey, optional
        What is known of them.
    """

    def __init__(self, counted: CountedTrials, at_hand: OpenTrials, survey: Survey | None = None) -> None:
        self.counted, self.at_hand, self.prior, self._survey = counted, at_hand, counted.prior, survey
        self.is_finite = all_finite(at_hand.trials.loglik)

    @classmethod
    def of(cls, trials: ScoredClasses, prior: FloatArray) -> CalibratedAtHand:
        """From checked trials."""
        weights = None if trials.weights is None else trials.weights.astype(np.float64)
        counted = CountedTrials.of(trials.loglik[:, None, :], trials.label, prior, weights)
        few = counted.trials
        counted = replace(counted, is_possible=np.ones(len(counted.prior), np.bool_))
        at_hand = OpenTrials.of(ScoredClasses(few.systems[:, 0], few.label, few.weights, None))
        return cls(counted, at_hand, Survey(few))

    def look(self, look: Callable[[OpenTrials], Any]) -> Any:
        """See `CalibratedTrials.look`."""
        return look(self.at_hand)

    def changed(self, step: Step, *, is_finite: bool) -> CalibratedAtHand:  # noqa: ARG002  # that is looked up
        """See `CalibratedTrials.changed`."""
        at_hand, counted = step(self.at_hand), self.counted
        trials, weights = at_hand.trials, counted.trials.weights
        systems = CountedTrials.of(trials.loglik[:, None, :], trials.label, counted.prior, weights)
        return CalibratedAtHand(systems, at_hand)

    @property
    def totals(self) -> FloatArray:
        """See `CalibratedTrials.totals`."""
        return np.asarray(self.at_hand.trials.totals(), np.float64)

    def lack_rivals(self) -> bool:
        """See `CalibratedTrials.lack_rivals`."""
        return self.at_hand.lack_rivals()

    def train(self, **form: Any) -> ClassFit:
        """See `CalibratedTrials.train`."""
        return train_counted(self.counted, self._survey, **form)


@dataclass(frozen=True, eq=False)
class CalibrationLimits:
    """What calibration of trials can reach.

    Attributes
    ----------
    given : CalibratedTrials
    place : (n_possible,) int array
        The columns of the classes of positive prior among all.
    n_classes : int
        Number of all classes.
    total : float
        Cross-entropy without calibration, in nats.
    is_wrong : bool
        Whether infinite log-likelihoods rule out a true class.
    """

    given: CalibratedTrials
    place: IntArray
    n_classes: int
    total: float
    is_wrong: bool

    @classmethod
    def of(cls, trials: ScoredClasses, prior: FloatArray, total: float) -> CalibrationLimits:
        """From checked trials; ``total`` is their cross-entropy at the prior."""
        given = CalibratedAtHand.of(trials, prior)
        is_wrong = not given.is_finite and bool(ruled_out(given.counted.trials).any())
        return cls(given, np.flatnonzero(prior > 0.0), trials.n_classes, total, is_wrong)

    def least(self, *, scale: bool = True, offset: bool = True) -> Best:
        """The infimum over scales (0 and above, or only 1) and offsets (any, or only 0); not both only these."""
        nothing = np.zeros(self.n_classes)
        if self.total == 0.0:
            return Best(0.0, 1.0, nothing)
        without = replace(given_up(self.total, self.given.prior, scale=scale), offset=nothing)
        if self.is_wrong:
            return without
        if not np.any(self._leads > -np.inf):  # infinite log-likelihoods decide everything
            found = Best(self.total, 1.0, np.zeros(len(self.given.prior)))
        elif (escape := Escape.of(self._leads, scale=scale, offset=offset)) is not None:
            found = self._along(escape, scale=scale, offset=offset)
        else:
            found = self._optimum(self.given, scale=scale, offset=offset)
        offsets = nothing.copy()
        offsets[self.place] = found.offset - found.offset.mean()
        return no_worse(Best(found.cost, found.scale, offsets), without)

    @cached_property
    def _leads(self) -> FloatArray:
        return self.given.leads()

    def _along(self, escape: Escape, *, scale: bool, offset: bool) -> Best:
        """What the cost falls to along a direction in which it does so forever."""
        left, room = self.given.without_beaten(escape, self._leads)
        # With a scale that grows, all leads that are left stay what they are at scale 0.
        at = self._at_zero(left, offset=offset) if escape.scale else self._optimum(left, scale=scale, offset=offset)
        log_prior = np.log(self.given.prior)
        beaten = np.isfinite(room)
        z = at.offset + log_prior
        lead = z - z[:, None] + (0.0 if escape.scale else at.scale * np.where(beaten, self._leads, 0.0))
        least = 0.0 if self.given.is_finite else escape.scale
        steps = float(np.max((_BEHIND + lead[beaten]) / room[beaten], initial=least))
        steps = min(steps, _LARGEST / 8.0 / max(1.0, float(np.ptp(escape.offsets))))
        grown = steps if escape.scale else at.scale
        return Best(at.cost, grown, at.offset + steps * escape.offsets)

    def _optimum(self, trials: CalibratedTrials, *, scale: bool, offset: bool) -> Best:
        """The optimum of trials in which the cost does not fall forever, but where the scale becomes negative."""
        if not scale:
            return self._trained(trials, scale=False, offset=True)
        at_zero = self._at_zero(trials, offset=offset)
        if not self._falls(trials, at_zero.offset):
            return at_zero
        found = self._trained(trials, scale=True, offset=offset)
        return found if found.scale > 0.0 and found.cost < at_zero.cost else at_zero

    def _trained(self, trials: CalibratedTrials, *, scale: bool, offset: bool, ridge: float = 0.0) -> Best:
        if not scale and trials.lack_rivals():
            return Best(trials.surprise(), 1.0, np.zeros(len(trials.prior)))
        try:
            fit = trials.train(scale=scale, offset=offset, ridge=ridge, has_optimum=ridge > 0.0)
        except InputError:
            if ridge > 0.0 or not scale:
                raise
            return self._trained(trials, scale=scale, offset=offset, ridge=_RIDGE)
        return Best(fit.objective, float(fit.weights[0]), fit.offsets)

    def _at_zero(self, trials: CalibratedTrials, *, offset: bool) -> Best:
        """The limit for small scales: only what is excluded still counts."""
        nothing = np.zeros(len(trials.prior))
        if trials.is_finite:
            return Best(entropy(trials.prior), 0.0, nothing)
        left, smallest = trials.flat(), 0.0
        if not self.given.is_finite:
            finite = np.abs(self._leads[np.isfinite(self._leads)])
            smallest = _NEARLY_ZERO / max(float(finite.max(initial=0.0)), _NEARLY_ZERO)
        if offset:
            return replace(self._trained(left, scale=False, offset=True), scale=smallest)
        return Best(left.surprise(), smallest, nothing)

    def _falls(self, trials: CalibratedTrials, offsets: FloatArray) -> bool:
        """Whether the cost falls as the scale leaves 0; it is convex, so otherwise no scale above 0 is better."""
        slope, size = trials.pull(trials.prior * np.exp(offsets - offsets.max()))
        return slope < -_ROUNDING * size
