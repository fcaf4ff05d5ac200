"""The least cross-entropy that scale and offsets can reach or come close to, infinities and separated classes included.

Scales are at least 0. A scale above 0 leaves infinite log-likelihoods infinite; scale 0 throws everything away.
Where the cost falls forever along a direction (`deciban.core.training.separation.Escape`), rivals that fall
behind forever cost nothing in the limit: they are excluded, and what is left has an optimum.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from deciban._validate.arrays import all_finite
from deciban.core.classes.certainty import CountedTrials, decided, ruled_out
from deciban.core.classes.loglik import row_blocks
from deciban.core.training.multiclass_training import train_counted
from deciban.core.training.separation import Escape
from deciban.core.training.survey import Survey
from deciban.errors import InputError
from deciban.multiclass.costs import entropy, expected_surprise
from deciban.multiclass.tables import ScoredClasses
from deciban.types import BoolArray, FloatArray, IntArray

_RIDGE = 1e-12
"""Where an optimum is too far away to be told from one at infinity, this penalty finds what costs about as little."""

_BEHIND = 36.0
"""Nats behind the true class at which a rival costs next to nothing: 2e-16."""

_NEARLY_ZERO = 1e-13
"""Nats by which a scale that stands for the limit 0 moves log-likelihoods."""

_ROUNDING = 1e-14
"""Relative difference that sums in another order may have."""

_EPS = float(np.finfo(np.float64).eps)
_LARGEST = float(np.finfo(np.float64).max)


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


@dataclass(frozen=True, eq=False)
class CalibrationLimits:
    """What calibration of trials can reach.

    Attributes
    ----------
    counted : CountedTrials
        Those that count, by the classes of positive prior.
    trials : ScoredClasses
        The same.
    prior : (n_possible,) array
        Positive.
    place : (n_possible,) int array
        The columns of these classes among all.
    n_classes : int
        Number of all classes.
    total : float
        Cross-entropy without calibration, in nats.
    is_open : (n_trials,) bool array
        Whether infinite log-likelihoods leave the class of a trial open.
    is_wrong, has_infinite : bool
        Whether infinite log-likelihoods rule out a true class; whether there are any.
    """

    counted: CountedTrials
    trials: ScoredClasses
    prior: FloatArray
    place: IntArray
    n_classes: int
    total: float
    is_open: BoolArray
    is_wrong: bool
    has_infinite: bool

    @classmethod
    def of(cls, trials: ScoredClasses, prior: FloatArray, total: float) -> CalibrationLimits:
        """From checked trials; ``total`` is their cross-entropy at the prior."""
        weights = None if trials.weights is None else trials.weights.astype(np.float64)
        counted = CountedTrials.of(trials.loglik[:, None, :], trials.label, prior, weights)
        few = counted.trials
        has_infinite = not all_finite(few.systems)
        return cls(
            counted=replace(counted, is_possible=np.ones(len(counted.prior), np.bool_)),
            trials=ScoredClasses(few.systems[:, 0], few.label, few.weights, None),
            prior=counted.prior,
            place=counted.possible,
            n_classes=trials.n_classes,
            total=total,
            is_open=~decided(few)[0] if has_infinite else np.ones(len(few), np.bool_),
            is_wrong=has_infinite and bool(ruled_out(few).any()),
            has_infinite=has_infinite,
        )

    def least(self, *, scale: bool = True, offset: bool = True) -> Best:
        """The infimum over scales (0 and above, or only 1) and offsets (any, or only 0); not both only these."""
        nothing = np.zeros(self.n_classes)
        if self.total == 0.0:
            return Best(0.0, 1.0, nothing)
        without = replace(given_up(self.total, self.prior, scale=scale), offset=nothing)
        if self.is_wrong:
            return without
        if not np.any(self._leads > -np.inf):  # infinite log-likelihoods decide everything
            found = Best(self.total, 1.0, np.zeros(len(self.prior)))
        elif (escape := Escape.of(self._leads, scale=scale, offset=offset)) is not None:
            found = self._along(escape, scale=scale, offset=offset)
        else:
            found = self._optimum(self.trials, scale=scale, offset=offset)
        offsets = nothing.copy()
        offsets[self.place] = found.offset - found.offset.mean()
        return no_worse(Best(found.cost, found.scale, offsets), without)

    @cached_property
    def _survey(self) -> Survey:
        return Survey(self.counted.trials)

    @cached_property
    def _leads(self) -> FloatArray:
        """How far each class (column) is ahead of the true one (row) in trials that are open, at most; see `Escape`."""
        n = len(self.prior)
        leads = np.full((n, n), -np.inf)
        for k, _, block in self._blocks(self.trials):
            leads[k] = np.maximum(leads[k], block.max(axis=0))
        np.fill_diagonal(leads, -np.inf)
        return leads

    def _blocks(self, trials: ScoredClasses) -> Iterator[tuple[int, IntArray, FloatArray]]:
        """Open trials of one class after the other: the class, rows, and how far the classes are ahead of it."""
        for k in range(len(self.prior)):
            own = trials.rows(k)
            own = own[self.is_open[own]]
            for part in row_blocks(len(own), len(self.prior)):
                block = np.array(trials.loglik[own[part]], np.float64)
                excluded = np.isneginf(block)
                with np.errstate(over="ignore"):
                    block -= block[:, k : k + 1].copy()
                np.clip(block, -_LARGEST, _LARGEST, out=block)
                block[excluded] = -np.inf
                yield k, own[part], block

    def _along(self, escape: Escape, *, scale: bool, offset: bool) -> Best:
        """What the cost falls to along a direction in which it does so forever."""
        left, room = self._without_beaten(escape)
        # With a scale that grows, all leads that are left stay what they are at scale 0.
        at = self._at_zero(left, offset=offset) if escape.scale else self._optimum(left, scale=scale, offset=offset)
        log_prior = np.log(self.prior)
        beaten = np.isfinite(room)
        z = at.offset + log_prior
        lead = z - z[:, None] + (0.0 if escape.scale else at.scale * np.where(beaten, self._leads, 0.0))
        least = escape.scale if self.has_infinite else 0.0
        steps = float(np.max((_BEHIND + lead[beaten]) / room[beaten], initial=least))
        steps = min(steps, _LARGEST / 8.0 / max(1.0, float(np.ptp(escape.offsets))))
        grown = steps if escape.scale else at.scale
        return Best(at.cost, grown, at.offset + steps * escape.offsets)

    def _without_beaten(self, escape: Escape) -> tuple[ScoredClasses, FloatArray]:
        """The trials without rivals that fall behind forever, and how far these do so with a step of 1, at least.

        The latter is a matrix of true classes and rivals, infinite where no rival falls behind.
        """
        loglik = np.array(self.trials.loglik, np.float64)
        room = np.full(self._leads.shape, np.inf)
        stays = self._leads - escape.margin if escape.scale else np.full(room.shape, -np.inf)
        stays[~escape.level] = np.inf
        np.fill_diagonal(stays, -np.inf)
        for k, rows, lead in self._blocks(self.trials):
            beaten = (lead < stays[k]) & (lead > -np.inf)
            drop = escape.offsets[k] - escape.offsets
            fall = np.maximum(drop - escape.scale * np.where(beaten, lead, 0.0), _EPS * np.abs(drop))
            room[k] = np.minimum(room[k], np.where(beaten, fall, np.inf).min(axis=0))
            loglik[rows] = np.where(beaten, -np.inf, loglik[rows])
        return replace(self.trials, loglik=loglik), room

    def _optimum(self, trials: ScoredClasses, *, scale: bool, offset: bool) -> Best:
        """The optimum of trials in which the cost does not fall forever, but where the scale becomes negative."""
        if not scale:
            return self._trained(trials, scale=False, offset=True)
        at_zero = self._at_zero(trials, offset=offset)
        if not self._falls(trials, at_zero.offset):
            return at_zero
        found = self._trained(trials, scale=True, offset=offset)
        return found if found.scale > 0.0 and found.cost < at_zero.cost else at_zero

    def _trained(self, trials: ScoredClasses, *, scale: bool, offset: bool, ridge: float = 0.0) -> Best:
        if not scale and self._has_no_rivals(trials):
            return Best(expected_surprise(trials, self.prior), 1.0, np.zeros(len(self.prior)))
        form: dict[str, Any] = {"scale": scale, "offset": offset, "ridge": ridge, "has_optimum": ridge > 0.0}
        try:
            fit = train_counted(*self._counted(trials), **form)
        except InputError:
            if ridge > 0.0 or not scale:
                raise
            return self._trained(trials, scale=scale, offset=offset, ridge=_RIDGE)
        return Best(fit.objective, float(fit.weights[0]), fit.offsets)

    def _has_no_rivals(self, trials: ScoredClasses) -> bool:
        """Whether infinite log-likelihoods leave one class in every open trial."""
        if len(self.prior) > 1 and all_finite(trials.loglik):
            return False
        return bool(np.all(np.count_nonzero(trials.loglik[self.is_open] > -np.inf, axis=1) == 1))

    def _counted(self, trials: ScoredClasses) -> tuple[CountedTrials, Survey | None]:
        """Trials to train on; what is known of all trials serves several maps."""
        if trials is self.trials:
            return self.counted, self._survey
        weights = None if trials.weights is None else trials.weights.astype(np.float64)
        return CountedTrials.of(trials.loglik[:, None, :], trials.label, self.prior, weights), None

    def _at_zero(self, trials: ScoredClasses, *, offset: bool) -> Best:
        """The limit for small scales: only what is excluded still counts."""
        nothing = np.zeros(len(self.prior))
        if not self.has_infinite and all_finite(trials.loglik):
            return Best(entropy(self.prior), 0.0, nothing)
        flat = np.array(trials.loglik, np.float64)
        flat[np.isfinite(flat) & self.is_open[:, None]] = 0.0
        left = replace(trials, loglik=flat)
        smallest = 0.0
        if self.has_infinite:
            finite = np.abs(self._leads[np.isfinite(self._leads)])
            smallest = _NEARLY_ZERO / max(float(finite.max(initial=0.0)), _NEARLY_ZERO)
        if offset:
            return replace(self._trained(left, scale=False, offset=True), scale=smallest)
        return Best(expected_surprise(left, self.prior), smallest, nothing)

    def _falls(self, trials: ScoredClasses, offsets: FloatArray) -> bool:
        """Whether the cost falls as the scale leaves 0; it is convex, so otherwise no scale above 0 is better."""
        slope = size = 0.0
        totals = np.asarray(self.trials.totals(), np.float64)
        weights_of_classes = self.prior / totals
        likelihood = self.prior * np.exp(offsets - offsets.max())
        for k, rows, lead in self._blocks(trials):
            posterior = np.where(np.isneginf(lead), 0.0, likelihood)
            posterior /= posterior.sum(axis=1, keepdims=True)
            pull = posterior * np.where(np.isneginf(lead), 0.0, lead)
            weight = trials.weights_of(rows)
            factor = weights_of_classes[k] * (np.ones(len(rows)) if weight is None else weight)
            slope += float(factor @ pull.sum(axis=1))
            size += float(factor @ np.abs(pull).sum(axis=1))
        return slope < -_ROUNDING * size
