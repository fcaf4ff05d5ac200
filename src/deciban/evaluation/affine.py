"""The best scale and offset of log-likelihood ratios, found on the same trials: how scores of two classes are off."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from deciban.errors import InputError

if TYPE_CHECKING:
    from deciban.metrics.scores import ScoredTrials


@dataclass(frozen=True, slots=True)
class AffineCalibration:
    """What ``scale * llr + offset`` makes of the scores of two classes, where both are best at even odds.

    Attributes
    ----------
    scale : float
        Below 1 where scores are too sure of themselves, above 1 where they are too cautious.
    offset : float
        In nats; above 0 where scores favour non-targets too much.
    cllr : float
        After both, in bits: between Cllr and the minimum over all increasing maps.
    """

    scale: float
    offset: float
    cllr: float


def affine_of(trials: ScoredTrials) -> AffineCalibration | None:
    """The best scale and offset of scores; None where classes are separated, all scores alike, or some are infinite.

    Parameters
    ----------
    trials : ScoredTrials

    Examples
    --------
    >>> from deciban.metrics.scores import ScoredTrials
    >>> too_sure = ScoredTrials.of([9.0, 4.0, -3.0, 12.0], [-6.0, 4.5, -12.0], None, None)
    >>> affine_of(too_sure).scale < 1.0
    True
    """
    from deciban.core.training.linear_training import train  # only for who asks

    scores = np.concatenate([trials.tar[0], trials.non[0]]).astype(np.float64)
    weights = np.concatenate([np.ones(len(s)) if w is None else w for s, w in (trials.tar, trials.non)])
    if not np.isfinite(scores).all():
        return None
    is_target = np.arange(len(scores)) < len(trials.tar[0])
    try:
        found = train([scores], is_target, weights=weights.astype(np.float64), alpha=1.0, beta=1.0, log_odds=0.0)
    except InputError:
        return None
    if found.infimum is not None:
        return None
    return AffineCalibration(float(found.weights[0]), found.offset, found.objective / math.log(2))
