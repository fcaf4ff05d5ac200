"""Trials at hand of which calibration asks what infinite log-likelihoods and scales that grow forever leave of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from deciban._validate.arrays import all_finite
from deciban.core.classes.certainty import decided
from deciban.core.classes.loglik import row_blocks
from deciban.core.training.class_trials import ClassTrials
from deciban.core.training.separation import Escape
from deciban.multiclass.tables import ScoredClasses
from deciban.types import BoolArray, FloatArray, IntArray

_EPS = float(np.finfo(np.float64).eps)
LARGEST = float(np.finfo(np.float64).max)


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
                np.clip(block, -LARGEST, LARGEST, out=block)
                block[excluded] = -np.inf
                if len(block):
                    yield k, own[part], block
