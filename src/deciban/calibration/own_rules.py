"""Which member of the beta family cares for the same thresholds as a rule of the user's own, to train with."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from scipy.integrate import cumulative_trapezoid
from scipy.special import expit, logit

from deciban._validate import arrays as _validate
from deciban.calibration.rule_weightings import Rule, suggest_rule
from deciban.errors import InputError
from deciban.rules import ThresholdDensity, ThresholdWeights
from deciban.types import FloatArray

_ROOM = 2.0
"""Nats beyond the outermost of single thresholds, as for operating points."""

_FARTHEST = 30.0
"""Nats: no data tell of decisions that far away."""

_STEPS = 6001


def suggest_for_rule(
    rule: ThresholdWeights | ThresholdDensity, p_target: float | Iterable[float], *, share: float = 0.9
) -> Rule:
    """Suggest alpha, beta and a prior whose objective cares for the thresholds that a rule of one's own cares for.

    Parameters
    ----------
    rule : ThresholdWeights or ThresholdDensity
        Thresholds of the posterior; `deciban.io.read_rule` makes one of a file.
    p_target : float or iterable of float
        Priors, each inside (0, 1), at which posteriors are made of the scores.
    share : float
        How much of the weight is to lie in the range, half of the rest on either side; in [0.1, 0.99].

    Returns
    -------
    Rule
        Its ``asked`` is the range: from the lowest to the highest threshold between which this share of the weight of
        the rule lies at some prior; with 2 nats on both sides if it is a sum of single thresholds, for training between
        a few of them would see few trials.

    Raises
    ------
    InputError
        If the rule is another one, weighs nothing, or cares for thresholds further than 30 nats away; if a prior or the
        share is out of range.

    Notes
    -----
    At the prior p, a threshold ``eta`` of the posterior is the llr ``t = logit(eta) - logit(p)``, and its weight,
    relative to problems of even odds, is ``p / eta * sigma(t)``, as in ``Omega(t)`` of `rule_weighting` (Bruemmer and
    Doddington 2013, eq. 10). Only the range is matched: what the training leaves of the cost by the rule itself is the
    calibration loss that ``deciban eval --rule`` shows.

    Examples
    --------
    >>> ours = ThresholdWeights([0.5, 0.9, 0.99], [0.2, 0.3, 0.5])
    >>> found = suggest_for_rule(ours, 0.01)
    >>> [round(end, 2) for end in found.asked]
    [2.6, 11.19]
    >>> found.alpha, found.beta, found.p_target
    (2.0, 0.5, 0.0074)
    """
    if not isinstance(rule, ThresholdWeights | ThresholdDensity):
        raise InputError(
            f"rule: got {type(rule).__name__}. It is a ThresholdWeights or ThresholdDensity of deciban.rules; "
            "deciban.io.read_rule makes one of a file."
        )
    share = _validate.in_range(share, "share", 0.1, 0.99, "A share of the weight lies in [0.1, 0.99]")
    priors = [p_target] if isinstance(p_target, float | int) else list(p_target)
    if not priors:
        raise InputError(
            "p_target: none given. The thresholds of a rule are those of a posterior, which needs a prior."
        )
    ends = np.array([_range(rule, _validate.single_log_odds(p), share) for p in priors])
    low, high = float(ends[:, 0].min()), float(ends[:, 1].max())
    if max(-low, high) > _FARTHEST:
        raise InputError(f"rule: cares for llrs from {low:.3g} to {high:.3g} nats, and no data tell beyond 30.")
    return suggest_rule(thresholds=(low, high), share=share)


def _range(rule: ThresholdWeights | ThresholdDensity, log_odds: float, share: float) -> tuple[float, float]:
    """Llrs between which the share of the weight lies."""
    ends = np.array([0.5 - share / 2, 0.5 + share / 2])
    if isinstance(rule, ThresholdWeights):
        at = logit(rule.eta) - log_odds
        total = _total(np.cumsum(rule.weights * _relative(at, rule.eta, log_odds)))
        low, high = at[np.searchsorted(total, ends, side="left")]
        return float(low) - _ROOM, float(high) + _ROOM
    with np.errstate(divide="ignore"):
        nodes = logit(rule.eta) - log_odds
    # Only where it is not 0: past that is nothing to be found.
    first, last = max(nodes[0], -_FARTHEST), min(nodes[-1], _FARTHEST)
    if not first < last:
        raise InputError("rule: cares for no llr within 30 nats, and no data tell of others.")
    at = np.union1d(np.linspace(first, last, _STEPS), nodes[(nodes > first) & (nodes < last)])
    eta = expit(at + log_odds)
    density = np.interp(eta, rule.eta, rule.density) * eta * expit(-at - log_odds) * _relative(at, eta, log_odds)
    total = _total(cumulative_trapezoid(density, at, initial=0))
    low, high = np.interp(ends, total, at)
    return float(low), float(high)


def _relative(at: FloatArray, eta: FloatArray, log_odds: float) -> FloatArray:
    """Weights of thresholds as problems of even odds, relative to those as problems of the prior."""
    return np.asarray(expit(log_odds) / eta * expit(at))


def _total(summed: FloatArray) -> FloatArray:
    if not 0.0 < summed[-1] < math.inf:
        raise InputError("rule: weighs nothing. Give some threshold a weight above 0.")
    return np.asarray(summed / summed[-1])
