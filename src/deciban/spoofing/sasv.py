"""One score against non-targets and spoofs: a-DCF, SASV error rates, and error rates of presentation attacks."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from deciban._validate import arrays as _validate
from deciban.errors import InputError
from deciban.metrics.scores import eer_conventions
from deciban.spoofing.tandem import (
    P_SPOOF,
    accepted,
    checked_threshold,
    rejected,
    require_costs,
    sorted_scores,
    target_prior,
)
from deciban.types import FloatArray


def _a_dcf(
    tar: ArrayLike, non: ArrayLike, spoof: ArrayLike, thresholds: FloatArray | None, about: Mapping[str, float]
) -> FloatArray:
    """Return the normalized a-DCF at thresholds, by default at every score of a target and for rejecting all.

    ``about`` has the priors and costs by the names of the arguments.
    """
    require_costs(**{name: about[name] for name in ("c_miss", "c_fa", "c_fa_spoof")})
    miss = target_prior(about["p_non"], about["p_spoof"]) * about["c_miss"]
    fa, fa_spoof = about["p_non"] * about["c_fa"], about["p_spoof"] * about["c_fa_spoof"]
    norm = min(miss, fa + fa_spoof)
    if norm <= 0.0:
        raise InputError("p_non, p_spoof, c_miss, c_fa, c_fa_spoof: one constant decision costs nothing.")
    targets, others, spoofs = (sorted_scores(a, name) for a, name in ((tar, "tar"), (non, "non"), (spoof, "spoof")))
    at = np.unique(targets).astype(np.float64) if thresholds is None else thresholds
    total: FloatArray = miss * rejected(targets, at) + fa * accepted(others, at) + fa_spoof * accepted(spoofs, at)
    if thresholds is None:
        total = np.append(total, miss)  # reject all
    normalized: FloatArray = total / norm
    return normalized


def min_a_dcf(
    tar: ArrayLike,
    non: ArrayLike,
    spoof: ArrayLike,
    *,
    p_non: float = P_SPOOF,
    p_spoof: float = P_SPOOF,
    c_miss: float = 1.0,
    c_fa: float = 10.0,
    c_fa_spoof: float = 20.0,
) -> float:
    """Minimum architecture-agnostic detection cost of one score against non-targets and spoofs (Shim et al., 2024).

    Parameters
    ----------
    tar, non, spoof : (n,) array_like
        Scores; larger favours a target.
    p_non, p_spoof : float
        Priors of non-targets and spoofs; the rest are targets.
    c_miss, c_fa, c_fa_spoof : float
        Costs of a rejected target, an accepted non-target and an accepted spoof.

    Returns
    -------
    float
        ``C_miss P_tar P_miss + C_fa P_non P_fa + C_fa_spoof P_spoof P_fa_spoof`` at the best threshold, divided by
        the cost of the better constant decision, ``min(P_tar C_miss, P_non C_fa + P_spoof C_fa_spoof)``.

    Raises
    ------
    InputError
        If there are no scores of a kind, one is NaN, or a prior or a cost is not valid.

    Examples
    --------
    >>> round(min_a_dcf([2.0, 3.0, 1.0], [0.0, -1.0, 0.5], [0.5, 2.5, -1.0]), 3)
    0.37
    """
    how = {"p_non": p_non, "p_spoof": p_spoof, "c_miss": c_miss, "c_fa": c_fa, "c_fa_spoof": c_fa_spoof}
    return float(_a_dcf(tar, non, spoof, None, how).min())


def act_a_dcf(
    tar: ArrayLike,
    non: ArrayLike,
    spoof: ArrayLike,
    *,
    threshold: float | None = None,
    p_non: float = P_SPOOF,
    p_spoof: float = P_SPOOF,
    c_miss: float = 1.0,
    c_fa: float = 10.0,
    c_fa_spoof: float = 20.0,
) -> float:
    """Normalized a-DCF at a threshold.

    Parameters
    ----------
    tar, non, spoof : (n,) array_like
        Scores; larger favours a target.
    p_non, p_spoof, c_miss, c_fa, c_fa_spoof : float
        As in `min_a_dcf`.
    threshold : float, optional
        By default the scores are natural-log likelihood ratios of targets against the mixture of non-targets and
        spoofs in which each has its share of ``P_non C_fa + P_spoof C_fa_spoof``; the threshold is the logarithm of
        this sum over ``P_tar C_miss``.

    Returns
    -------
    float

    Raises
    ------
    InputError
        As in `min_a_dcf`, or if the threshold is NaN.

    Examples
    --------
    >>> round(act_a_dcf([2.0, 3.0, 1.0], [0.0, -1.0, 0.5], [0.5, 2.5, -1.0], threshold=0.75), 3)
    0.37
    """
    how = {"p_non": p_non, "p_spoof": p_spoof, "c_miss": c_miss, "c_fa": c_fa, "c_fa_spoof": c_fa_spoof}
    require_costs(c_miss=c_miss, c_fa=c_fa, c_fa_spoof=c_fa_spoof)
    if threshold is None:
        wrong, miss = p_non * c_fa + p_spoof * c_fa_spoof, target_prior(p_non, p_spoof) * c_miss
        at = math.log(wrong / miss) if wrong > 0.0 < miss else 0.0  # a cost of 0 is refused below
    else:
        at = checked_threshold(threshold)
    return float(_a_dcf(tar, non, spoof, np.array([at]), how)[0])


def sasv_eers(tar: ArrayLike, non: ArrayLike, spoof: ArrayLike) -> tuple[float, float, float]:
    """Equal error rates of targets against non-targets and spoofs together, non-targets alone, and spoofs alone.

    Parameters
    ----------
    tar, non, spoof : (n,) array_like
        Scores; larger favours a target.

    Returns
    -------
    sasv, sv, spf : float
        Fractions: the mean of both error rates at the threshold where they are closest, as in the SASV challenge.

    Raises
    ------
    InputError
        If there are no scores of a kind, or one is NaN.

    Examples
    --------
    >>> sasv_eers([2.0, 3.0, 1.0], [0.0, -1.0, 1.5], [1.0, 2.5, 0.0])
    (0.3333333333333333, 0.3333333333333333, 0.3333333333333333)
    """
    targets, others, spoofs = (sorted_scores(a, name) for a, name in ((tar, "tar"), (non, "non"), (spoof, "spoof")))
    sasv, sv, spf = (
        eer_conventions(targets, against)["closest_mean"]
        for against in (np.concatenate((others, spoofs)), others, spoofs)
    )
    return sasv, sv, spf


def apcer(attacks: Mapping[str, ArrayLike], *, threshold: float) -> dict[str, float]:
    """Attack presentation classification error rate of each attack instrument (ISO/IEC 30107-3).

    Parameters
    ----------
    attacks : mapping of str to (n,) array_like
        Scores of the countermeasure by attack; larger favours bona fide presentations.
    threshold : float
        Presentations with scores at or above it are accepted as bona fide.

    Returns
    -------
    dict of str to float
        Accepted shares. The standard reports the largest: ``max(found.values())``.

    Raises
    ------
    InputError
        If there are no attacks, an attack has no scores, or the threshold is NaN.

    Examples
    --------
    >>> apcer({"replay": [0.0, 1.0], "synthesis": [2.0, 0.0, -1.0, 3.0]}, threshold=1.0)
    {'replay': 0.5, 'synthesis': 0.5}
    """
    if not attacks:
        raise InputError("attacks: there are none. It is a mapping from names of attacks to their scores.")
    at = np.array([checked_threshold(threshold)])
    return {
        name: float(accepted(sorted_scores(scores, f"attacks[{name!r}]"), at)[0]) for name, scores in attacks.items()
    }


def bpcer_at_apcer(bona: ArrayLike, attacks: Mapping[str, ArrayLike], *, max_apcer: float = 0.05) -> float:
    """Least rate of rejected bona fide presentations while no attack is accepted more often than a limit.

    Parameters
    ----------
    bona : (n,) array_like
        Scores of bona fide presentations; larger favours them.
    attacks : mapping of str to (n,) array_like
        Scores by attack instrument.
    max_apcer : float
        Limit of the APCER of every attack, a fraction: 0.1, 0.05 and 0.01 give BPCER10, BPCER20 and BPCER100.

    Returns
    -------
    float
        BPCER, a fraction (ISO/IEC 30107-3).

    Raises
    ------
    InputError
        If there are no scores of a kind, or the limit is not in [0, 1].

    Examples
    --------
    >>> bpcer_at_apcer([1.0, 2.0, 3.0, 4.0], {"replay": [0.0, 1.5], "synthesis": [2.5, 0.0]}, max_apcer=0.2)
    0.5
    """
    _validate.in_range(max_apcer, "max_apcer", 0.0, 1.0, "An error rate is a fraction in [0, 1]")
    positive = sorted_scores(bona, "bona")
    if not attacks:
        raise InputError("attacks: there are none. It is a mapping from names of attacks to their scores.")
    spoofs = [sorted_scores(scores, f"attacks[{name!r}]") for name, scores in attacks.items()]
    at = np.append(np.unique(positive).astype(np.float64), np.inf)
    worst = np.max([accepted(scores, at) for scores in spoofs], axis=0)
    worst[-1] = 0.0
    p_miss = np.append(rejected(positive, at[:-1]), 1.0)
    return float(p_miss[int(np.argmax(worst <= max_apcer))])
