"""What calibration loses: cross-entropy now, and after the best scale and offsets (thesis section 8.4.2)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from deciban.core.class_training import train_classes
from deciban.core.loglik import relative, row_blocks
from deciban.errors import InputError
from deciban.multiclass.costs import expected_surprise
from deciban.multiclass.scored_classes import ScoredClasses
from deciban.types import FloatArray

_RIDGE = 1e-12
"""Where the best parameters are infinite, a penalty this small finds some that cost about as little."""


@dataclass(frozen=True, slots=True, eq=False)
class ClassCalibration:
    """Cross-entropy of log-likelihoods as they are, and after the best maps ``scale * loglik + offset``, in bits.

    Attributes
    ----------
    total : float
        As they are: at the flat prior `cllr`.
    minimum : float
        After the best map, ``scale`` at least 0: the discrimination loss. Never above ``reference``.
    after_offset_only, after_scale_only : float
        After the best offsets with scale 1, and after the best scale without offsets.
    reference : float
        Entropy of the prior: what a recognizer without information gets.
    scale : float
        Of the best map; of those that come close to the infimum if that is reached at infinity only.
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

    @property
    def loss(self) -> float:
        """Calibration loss: what the best scale and offsets together save, at least 0."""
        return _saved(self.total, self.minimum)

    @property
    def offset_loss(self) -> float:
        """What offsets alone save."""
        return _saved(self.total, self.after_offset_only)

    @property
    def scale_loss(self) -> float:
        """What a scale alone saves. Both alone may save more or less than both together."""
        return _saved(self.total, self.after_scale_only)

    @property
    def loss_after_offset_only(self) -> float:
        """Calibration loss that offsets alone leave."""
        return _saved(self.after_offset_only, self.minimum)

    @property
    def loss_after_scale_only(self) -> float:
        """Calibration loss that a scale alone leaves."""
        return _saved(self.after_scale_only, self.minimum)


def _saved(before: float, after: float) -> float:
    return 0.0 if before == after else max(before - after, 0.0)  # inf less inf is nothing saved


@dataclass(frozen=True, slots=True, eq=False)
class _Best:
    """The least cross-entropy of a family of maps in nats, and a map that has it (or comes as close as one can)."""

    cost: float
    scale: float
    offset: FloatArray


def min_cllr(
    loglik: ArrayLike,
    label: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    classes: Sequence[str] | None = None,
) -> float:
    """`cllr` after the best scale and offsets on the same trials, in bits (paper 001 section 4.1).

    Parameters
    ----------
    loglik : (n_trials, n_classes) array_like
        Log-likelihoods in nats; only differences within a row matter. Infinite values are legal.
    label : (n_trials,) array_like
        True classes: positions from 0, or names if ``classes`` are given.
    sample_weight : (n_trials,) array_like, optional
        Weight of each trial within its class, at least 0.
    classes : sequence of str, optional
        Names of the columns.

    Returns
    -------
    float
        At most ``log2 n_classes``, and never above `cllr`. Two classes have less freedom here than in
        `deciban.metrics.min_cllr`, where any increasing map is allowed.

    Raises
    ------
    InputError
        If there is NaN, a label is no class, or a class has no trial.

    Examples
    --------
    >>> loglik = [[2.0, 0.0, -1.0], [0.0, 1.0, 0.0], [0.0, 0.5, 1.5], [1.0, 1.5, 0.0]]
    >>> round(min_cllr(loglik, [0, 1, 2, 2]), 4)
    0.7201
    """
    trials = ScoredClasses.of(loglik, label, sample_weight, classes)
    prior = trials.prior(None)
    return _best(trials, prior, expected_surprise(trials, prior)).cost / math.log(2)


def calibration_analysis(
    loglik: ArrayLike,
    label: ArrayLike,
    *,
    prior: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    classes: Sequence[str] | None = None,
) -> ClassCalibration:
    """Split cross-entropy into what discrimination and what calibration loses (thesis eqs. 8.22 to 8.25).

    Parameters
    ----------
    loglik : (n_trials, n_classes) array_like
        Log-likelihoods in nats; only differences within a row matter. Infinite values are legal; where one says the
        opposite of the truth, the best scale is 0.
    label : (n_trials,) array_like
        True classes: positions from 0, or names if ``classes`` are given.
    prior : (n_classes,) array_like, optional
        Probabilities, flat when left out; classes of prior 0 drop out with their trials.
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
        If there is NaN, a label is no class, a class of positive prior has no trial, or the prior is not one.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> label = rng.integers(0, 3, 1000)
    >>> calibrated = 3.0 * np.eye(3)[label] + rng.normal(size=(1000, 3)) * np.sqrt(3.0)
    >>> found = calibration_analysis(2.0 * calibrated + [1.0, 0.0, -1.0], label)
    >>> round(found.scale, 1), found.loss > found.scale_loss > found.offset_loss > 0
    (0.5, True)
    """
    trials = ScoredClasses.of(loglik, label, sample_weight, classes)
    checked = trials.prior(prior)
    total = expected_surprise(trials, checked)
    both = _best(trials, checked, total)
    scaled = _best(trials, checked, total, offset=False)
    shifted = _best(trials, checked, total, scale=False)
    return ClassCalibration(
        total=total / math.log(2),
        minimum=both.cost / math.log(2),
        after_offset_only=shifted.cost / math.log(2),
        after_scale_only=scaled.cost / math.log(2),
        reference=_entropy(checked) / math.log(2),
        scale=both.scale,
        offset=both.offset,
    )


def _entropy(prior: FloatArray) -> float:
    possible = prior[prior > 0]
    return -math.fsum(possible * np.log(possible))


def _best(trials: ScoredClasses, prior: FloatArray, total: float, *, scale: bool = True, offset: bool = True) -> _Best:
    nothing = np.zeros(trials.n_classes)
    if total == 0.0:
        return _Best(0.0, 1.0, nothing)
    thrown_away = _Best(_entropy(prior), 0.0, nothing) if scale else _Best(total, 1.0, nothing)
    if _is_beyond_repair(trials, total) or (scale and _is_constant(trials)):
        return thrown_away
    fit = _fitted(trials, prior, scale=scale, offset=offset)
    if fit.scale < 0.0 or fit.cost >= thrown_away.cost:  # a convex function: where scales are at least 0, 0 is best
        return thrown_away
    return fit


def _fitted(trials: ScoredClasses, prior: FloatArray, *, scale: bool, offset: bool) -> _Best:
    """Train; if the optimum lies at infinity, come close to it."""
    weights = None if trials.weights is None else trials.weights.astype(np.float64)

    def trained(ridge: float) -> _Best:
        fit = train_classes(
            trials.loglik, trials.label, prior=prior, weights=weights, ridge=ridge, scale=scale, offset=offset
        )
        return _Best(fit.objective, float(fit.weights[0]), fit.offsets)

    try:
        return trained(0.0)
    except InputError:
        close = trained(_RIDGE)  # what is wrong with the input itself is refused again
    separated = scale and _is_separated(trials, prior, close)
    return _Best(0.0, close.scale, close.offset) if separated else close


def _is_beyond_repair(trials: ScoredClasses, total: float) -> bool:
    """Whether infinite evidence speaks against the truth, which no scale above 0 mends."""
    return math.isinf(total) and not np.isfinite(trials.loglik).all()


def _is_constant(trials: ScoredClasses) -> bool:
    """Whether all trials have the same log-likelihoods, up to what each row may be shifted by."""
    first = relative(trials.loglik, slice(0, 1))
    return all(
        np.array_equal(block, np.broadcast_to(first, block.shape))
        for block in (relative(trials.loglik, rows) for rows in row_blocks(*trials.loglik.shape))
    )


def _is_separated(trials: ScoredClasses, prior: FloatArray, best: _Best) -> bool:
    """Whether the true class is ahead in every trial that counts, so that a greater scale costs less without end."""
    columns = np.flatnonzero(prior > 0)
    for k in columns.tolist():
        rows, rivals = trials.rows(k), np.delete(columns, np.searchsorted(columns, k))
        for part in row_blocks(len(rows), trials.n_classes):
            mapped = best.scale * relative(trials.loglik, rows[part]) + best.offset[:, None]
            if not np.all(mapped[k] > mapped[rivals].max(axis=0)):
                return False
    return True
