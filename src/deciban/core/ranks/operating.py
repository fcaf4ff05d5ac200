"""Operating points: what a prior and two costs say about thresholds and about the cost of errors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from scipy.special import expit, logit

from deciban._validate import arrays as _validate
from deciban.errors import InputError
from deciban.types import FloatArray


@dataclass(frozen=True, slots=True)
class OperatingPoint:
    """A detection problem: how likely targets are, and what the two kinds of error cost.

    Parameters
    ----------
    p_target : float
        Prior probability of a target, inside (0, 1).
    c_miss, c_fa : float
        Cost of a miss and of a false alarm, at least 0.

    Raises
    ------
    InputError
        If the prior is outside (0, 1), a cost is negative or not finite, or both are 0.

    Examples
    --------
    >>> point = OperatingPoint(0.01, c_miss=10, c_fa=1)
    >>> round(point.effective_prior, 5)
    0.09174
    >>> round(point.threshold, 4)
    2.2925
    """

    p_target: float
    c_miss: float = 1.0
    c_fa: float = 1.0

    def __post_init__(self) -> None:
        if _validate.prior_log_odds(self.p_target, None).ndim:
            raise InputError(f"p_target: an operating point has one prior, got {self.p_target!r}.")
        _validate.costs(self.c_miss, self.c_fa)
        for name in ("p_target", "c_miss", "c_fa"):
            object.__setattr__(self, name, np.asarray(getattr(self, name)).item())  # which may be a NumPy scalar

    @property
    def log_odds(self) -> float:
        """Effective prior log odds ``logit p_eff`` in nats (BOSARIS paper eq. 10)."""
        return float(effective_log_odds(logit(self.p_target), self.c_miss, self.c_fa))

    @property
    def effective_prior(self) -> float:
        """The prior that with unit costs poses the same problem (BOSARIS paper eq. 10)."""
        miss, false_alarm = self.p_target * self.c_miss, (1 - self.p_target) * self.c_fa
        both = miss + false_alarm
        return miss / both if 0 < both < np.inf else float(expit(self.log_odds))

    @property
    def default_cost(self) -> float:
        """Cost of the better of accept-all and reject-all: what normalized costs are divided by (BOSARIS eq. 19)."""
        return min(self.p_target * self.c_miss, (1.0 - self.p_target) * self.c_fa)

    @property
    def threshold(self) -> float:
        """Bayes threshold on log-likelihood ratios in nats: accept at or above it (BOSARIS paper eq. 11)."""
        return -self.log_odds

    def __str__(self) -> str:
        costs = "" if self.c_miss == self.c_fa == 1 else f", costs {self.c_miss:g}:{self.c_fa:g}"
        prior = f"{self.p_target:g}"
        return f"p_target {prior if float(prior) == self.p_target else repr(self.p_target)}{costs}"


_FARTHEST = 700.0
"""Prior log odds in nats up to which both priors are numbers above 0 with all their digits."""

PointLike: TypeAlias = OperatingPoint | float | Sequence[float]
"""How users write operating points: see `as_operating_point`."""

WORSE_THAN_NONE = 1.0 + 1e-9
"""Normalized costs above this are worse than those of no recognizer, and not only so because they were rounded."""


def as_operating_point(point: Any) -> OperatingPoint:
    """Return an operating point with costs that normalized costs exist for.

    ``point`` is an `OperatingPoint`, a ``p_target``, or ``(p_target, c_miss, c_fa)``.

    Raises
    ------
    InputError
        If it is none of these, or has a prior or a cost that makes no sense there, such as 0, or an effective prior
        that double precision cannot tell from 0 or 1.
    """
    if not isinstance(point, OperatingPoint):
        values = tuple(point) if isinstance(point, Sequence) or getattr(point, "ndim", 0) > 0 else (point,)
        if isinstance(point, str) or not 1 <= len(values) <= 3:
            raise InputError(f"operating_points: expected p_target or (p_target, c_miss, c_fa), got {point!r}.")
        try:
            point = OperatingPoint(*values)
        except InputError as error:
            raise InputError(f"operating_points: {error}") from error
    checked: OperatingPoint = point
    if checked.c_miss == 0 or checked.c_fa == 0:
        raise InputError(f"operating_points: {checked} has a cost of 0: its default decision costs nothing.")
    if abs(checked.log_odds) > _FARTHEST:
        raise InputError(
            f"operating_points: {checked} has effective prior log odds {checked.log_odds:.4g}, which is beyond "
            f"{_FARTHEST:g} nats: double precision cannot tell its prior from 0 or 1. Name a less extreme prior, or "
            "costs that differ less."
        )
    return checked


def effective_log_odds(
    log_odds: float | FloatArray, c_miss: float | FloatArray, c_fa: float | FloatArray
) -> FloatArray:
    """Prior log odds of the problem with unit costs that has the same decisions (BOSARIS paper eq. 10).

    Plain additions of logarithms: with unit costs the log odds come back unchanged, so that a score exactly at
    ``-prior_log_odds`` is compared as it stands. A cost of 0 gives infinite log odds.
    """
    with np.errstate(divide="ignore"):
        return np.asarray(log_odds + (np.log(c_miss) - np.log(c_fa)))


def default_error(log_odds: FloatArray) -> FloatArray:
    """Error rate of decisions without scores at prior log odds in nats: the smaller of both priors.

    Examples
    --------
    >>> default_error(np.array([0.0, np.log(3.0), -np.inf])).tolist()
    [0.5, 0.25, 0.0]
    """
    return np.asarray(expit(-np.abs(log_odds)))


def detection_cost(
    p_miss: FloatArray,
    p_fa: FloatArray,
    log_odds: FloatArray,
    c_miss: float | FloatArray,
    c_fa: float | FloatArray,
    *,
    normalize: bool,
) -> FloatArray:
    """Detection cost of error rates at prior log odds (BOSARIS paper eqs. 7 and 19).

    Parameters
    ----------
    p_miss, p_fa, log_odds : arrays of one shape
        Error rates as fractions; prior log odds in nats, finite.
    c_miss, c_fa : float or arrays of the same shape
    normalize : bool
        Divide by the cost of the better of accept-all and reject-all. Priors may be so extreme that both costs
        underflow; their ratio is still right.

    Raises
    ------
    InputError
        If ``normalize`` is asked for and one cost is 0: then accept-all or reject-all costs nothing.
    """
    if not normalize:
        return expit(log_odds) * c_miss * p_miss + expit(-log_odds) * c_fa * p_fa
    if not (np.all(c_miss) and np.all(c_fa)):
        raise InputError("normalize: with a cost of 0 the default decision costs nothing. Pass normalize=False.")
    odds = effective_log_odds(log_odds, c_miss, c_fa)
    # Dividing by the smaller of the two weights leaves weights 1 and exp(|log odds|) >= 1.
    with np.errstate(over="ignore"):
        heavy = np.exp(np.abs(odds))
    rare, common = np.where(odds <= 0, p_miss, p_fa), np.where(odds <= 0, p_fa, p_miss)
    return rare + np.multiply(heavy, common, where=common > 0, out=np.zeros(np.broadcast(heavy, common).shape))
