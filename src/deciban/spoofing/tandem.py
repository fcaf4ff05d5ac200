"""A countermeasure in front of a verifier: the tandem detection cost function (t-DCF) and the tandem EER."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from deciban._validate import arrays as _validate
from deciban.errors import InputError
from deciban.types import FloatArray, ScoreArray

Edition: TypeAlias = Literal["2019", "2021"]
"""Form of the t-DCF: ASV-constrained (ASVspoof 2019), or with the errors of the verifier as a floor (2021)."""


def rejected(scores: ScoreArray, thresholds: FloatArray) -> FloatArray:
    """Return the share of sorted scores below each threshold."""
    return np.searchsorted(scores, thresholds, side="left") / len(scores)


def accepted(scores: ScoreArray, thresholds: FloatArray) -> FloatArray:
    """Return the share of sorted scores at or above each threshold."""
    return (len(scores) - np.searchsorted(scores, thresholds, side="left")) / len(scores)


def sorted_scores(values: ArrayLike, name: str) -> ScoreArray:
    """Return checked scores in ascending order.

    Raises
    ------
    InputError
        If there are no scores, or one is NaN.
    """
    found: ScoreArray = np.sort(_validate.scores(values, name))
    if not len(found):
        raise InputError(f"{name}: there are no scores.")
    return found


@dataclass(frozen=True, slots=True)
class AsvErrors:
    """Error rates of a verifier at its threshold, as fractions.

    Attributes
    ----------
    p_miss, p_fa, p_fa_spoof : float
        Rejected targets, accepted non-targets, accepted spoofs.
    threshold : float
        NaN if it is not known.
    """

    p_miss: float
    p_fa: float
    p_fa_spoof: float
    threshold: float = math.nan

    def __post_init__(self) -> None:
        for name in ("p_miss", "p_fa", "p_fa_spoof"):
            _validate.in_range(getattr(self, name), name, 0.0, 1.0, "An error rate is a fraction in [0, 1]")


def asv_errors(tar: ArrayLike, non: ArrayLike, spoof: ArrayLike, *, threshold: float | None = None) -> AsvErrors:
    """Error rates of a verifier at a threshold, by default that of its EER.

    Parameters
    ----------
    tar, non, spoof : (n,) array_like
        Scores of the verifier; larger favours a target.
    threshold : float, optional
        By default, the score at which the rates of targets at or below it and of non-targets above it are closest
        (in a tie the lowest), as in the evaluation packages of ASVspoof.

    Returns
    -------
    AsvErrors

    Raises
    ------
    InputError
        If there are no scores of a kind, or one is NaN.

    Examples
    --------
    >>> asv_errors([2.0, 3.0, 1.0], [0.0, -1.0, 1.5], [1.0, 2.5])
    AsvErrors(p_miss=0.0, p_fa=0.3333333333333333, p_fa_spoof=1.0, threshold=1.0)
    """
    targets, others, spoofs = (sorted_scores(a, name) for a, name in ((tar, "tar"), (non, "non"), (spoof, "spoof")))
    at = _closest(targets, others) if threshold is None else checked_threshold(threshold)
    where = np.array([at])
    fa, fa_spoof = (float(accepted(scores, where)[0]) for scores in (others, spoofs))
    return AsvErrors(float(rejected(targets, where)[0]), fa, fa_spoof, at)


def _closest(tar: ScoreArray, non: ScoreArray) -> float:
    """Return the score that rejects targets and accepts non-targets at the closest rates, itself rejected."""
    scores = np.unique(np.concatenate((tar, non)))
    miss = np.searchsorted(tar, scores, side="right") / len(tar)
    fa = 1.0 - np.searchsorted(non, scores, side="right") / len(non)
    return float(scores[int(np.argmin(np.abs(miss - fa)))])


@dataclass(frozen=True, slots=True)
class TDcfCurve:
    """The t-DCF at every threshold of a countermeasure.

    Attributes
    ----------
    threshold : (n,) float64 array
        Ascending; the last one, inf, rejects all trials.
    p_miss, p_fa : (n,) float64 arrays
        Rejected bona fide trials and accepted spoofs, fractions.
    t_dcf : (n,) float64 array
    """

    threshold: FloatArray
    p_miss: FloatArray
    p_fa: FloatArray
    t_dcf: FloatArray


@dataclass(frozen=True, slots=True)
class _Weights:
    """The t-DCF is ``floor + miss P_miss_cm + fa P_fa_cm``; the norm is the cost of the better constant decision."""

    floor: float
    miss: float
    fa: float

    @property
    def norm(self) -> float:
        return self.floor + min(self.miss, self.fa)

    def at(self, p_miss: FloatArray, p_fa: FloatArray, *, normalize: bool) -> FloatArray:
        cost: FloatArray = self.floor + self.miss * p_miss + self.fa * p_fa
        return cost / self.norm if normalize else cost


def _weights(
    asv: AsvErrors, edition: str, *, p_spoof: float, p_non: float, c_miss: float, c_fa: float, c_fa_spoof: float
) -> _Weights:
    """Return the weights of both errors of a countermeasure in front of a verifier.

    Raises
    ------
    InputError
        If a prior, a cost or the edition is not valid, or the countermeasure cannot make a difference.
    """
    if edition not in get_args(Edition):
        raise InputError(f"edition: got {edition!r}. The forms of the t-DCF are {', '.join(get_args(Edition))}.")
    p_tar = target_prior(p_non, p_spoof)
    require_costs(c_miss=c_miss, c_fa=c_fa, c_fa_spoof=c_fa_spoof)
    verifier = p_tar * c_miss * asv.p_miss + p_non * c_fa * asv.p_fa
    miss, fa = p_tar * c_miss - verifier, p_spoof * c_fa_spoof * asv.p_fa_spoof
    found = _Weights(verifier if edition == "2021" else 0.0, miss, fa)
    if miss < 0.0:
        raise InputError(
            f"asv: with P_miss {asv.p_miss:.4g} and P_fa {asv.p_fa:.4g} the verifier costs more than rejecting all "
            "trials, so that the t-DCF is not defined. Use another threshold of the verifier."
        )
    if found.norm <= 0.0:
        raise InputError("asv: the verifier accepts no spoof, so that a countermeasure makes no difference.")
    return found


def require_costs(**costs: float) -> None:
    """Refuse a cost that is negative or not finite.

    Raises
    ------
    InputError
    """
    for name, cost in costs.items():
        _validate.in_range(cost, name, 0.0, sys.float_info.max, "A cost is at least 0 and finite")


def checked_threshold(value: float) -> float:
    """Return a threshold as a float.

    Raises
    ------
    InputError
        If it is NaN.
    """
    if math.isnan(value):
        raise InputError("threshold: got nan. It is a number, or inf to reject all trials.")
    return float(value)


def target_prior(p_non: float, p_spoof: float) -> float:
    """Return the prior of targets, from the priors of non-targets and spoofs.

    Raises
    ------
    InputError
        If a prior is not in [0, 1), or nothing is left for targets.
    """
    for name, prior in (("p_non", p_non), ("p_spoof", p_spoof)):
        _validate.in_range(prior, name, 0.0, 1.0, "A prior is in [0, 1)")
    if p_non + p_spoof >= 1.0:
        raise InputError(f"p_non, p_spoof: got {p_non:g} and {p_spoof:g}. They leave no prior for targets.")
    return 1.0 - p_non - p_spoof


P_SPOOF, P_NON = 0.05, 0.95 * 0.01
"""Priors of ASVspoof: 5 % spoofs, and 1 % non-targets among the other trials."""


def t_dcf_curve(
    bona: ArrayLike,
    spoof: ArrayLike,
    *,
    asv: AsvErrors,
    edition: Edition = "2021",
    normalize: bool = True,
    p_spoof: float = P_SPOOF,
    p_non: float = P_NON,
    c_miss: float = 1.0,
    c_fa: float = 10.0,
    c_fa_spoof: float = 10.0,
) -> TDcfCurve:
    """The t-DCF at every threshold of the countermeasure.

    Parameters
    ----------
    bona, spoof : (n,) array_like
        Scores of the countermeasure; larger favours bona fide trials.
    asv : AsvErrors
        Error rates of the verifier.
    edition, normalize, p_spoof, p_non, c_miss, c_fa, c_fa_spoof
        As in `min_t_dcf`.

    Returns
    -------
    TDcfCurve

    Raises
    ------
    InputError
        As in `min_t_dcf`.

    Examples
    --------
    >>> curve = t_dcf_curve([1.0, 2.0], [0.0, 1.5], asv=AsvErrors(0.05, 0.05, 0.3))
    >>> curve.threshold, curve.t_dcf.round(3)
    (array([0. , 1. , 1.5, 2. , inf]), array([1.   , 0.628, 2.831, 2.459, 4.661]))
    """
    how = {"p_spoof": p_spoof, "p_non": p_non, "c_miss": c_miss, "c_fa": c_fa, "c_fa_spoof": c_fa_spoof}
    weights = _weights(asv, edition, **how)
    positive, negative = sorted_scores(bona, "bona"), sorted_scores(spoof, "spoof")
    thresholds = np.append(np.unique(np.concatenate((positive, negative))).astype(np.float64), np.inf)
    p_miss, p_fa = rejected(positive, thresholds), accepted(negative, thresholds)
    p_miss[-1], p_fa[-1] = 1.0, 0.0  # infinite scores, too
    return TDcfCurve(thresholds, p_miss, p_fa, weights.at(p_miss, p_fa, normalize=normalize))


def min_t_dcf(
    bona: ArrayLike,
    spoof: ArrayLike,
    *,
    asv: AsvErrors,
    edition: Edition = "2021",
    normalize: bool = True,
    p_spoof: float = P_SPOOF,
    p_non: float = P_NON,
    c_miss: float = 1.0,
    c_fa: float = 10.0,
    c_fa_spoof: float = 10.0,
) -> float:
    """Minimum t-DCF of a countermeasure in front of a verifier (Kinnunen et al., 2020).

    Parameters
    ----------
    bona, spoof : (n,) array_like
        Scores of the countermeasure; larger favours bona fide trials.
    asv : AsvErrors
        Error rates of the verifier: from `asv_errors`, or published ones.
    edition : {"2021", "2019"}
        With ``C0 = P_tar C_miss P_miss_asv + P_non C_fa P_fa_asv``, ``C1 = P_tar C_miss - C0`` and
        ``C2 = P_spoof C_fa_spoof P_fa_spoof_asv``: 2021 is ``C0 + C1 P_miss + C2 P_fa``, normalized by
        ``C0 + min(C1, C2)``; 2019 is the same without ``C0``.
    normalize : bool
        Divide by the cost of the better of two countermeasures that look at nothing: accept all, or reject all.
    p_spoof, p_non : float
        Priors of spoofs and of non-targets; the rest are targets.
    c_miss, c_fa, c_fa_spoof : float
        Costs of a rejected target, an accepted non-target and an accepted spoof.

    Returns
    -------
    float
        The least cost over all thresholds of the countermeasure.

    Raises
    ------
    InputError
        If there are no scores of a kind, a prior or a cost is not valid, the verifier costs more than rejecting all
        trials, or it accepts no spoof (2019).

    Examples
    --------
    >>> round(min_t_dcf([1.0, 2.0], [0.0, 1.5], asv=AsvErrors(0.05, 0.05, 0.3)), 3)
    0.628
    """
    how = {"p_spoof": p_spoof, "p_non": p_non, "c_miss": c_miss, "c_fa": c_fa, "c_fa_spoof": c_fa_spoof}
    return float(t_dcf_curve(bona, spoof, asv=asv, edition=edition, normalize=normalize, **how).t_dcf.min())


def act_t_dcf(
    bona: ArrayLike,
    spoof: ArrayLike,
    *,
    asv: AsvErrors,
    threshold: float | None = None,
    edition: Edition = "2021",
    normalize: bool = True,
    p_spoof: float = P_SPOOF,
    p_non: float = P_NON,
    c_miss: float = 1.0,
    c_fa: float = 10.0,
    c_fa_spoof: float = 10.0,
) -> float:
    """The t-DCF of a countermeasure at a threshold.

    Parameters
    ----------
    bona, spoof : (n,) array_like
        Scores of the countermeasure; larger favours bona fide trials.
    asv : AsvErrors
        Error rates of the verifier.
    edition, normalize, p_spoof, p_non, c_miss, c_fa, c_fa_spoof
        As in `min_t_dcf`.
    threshold : float, optional
        By default the scores are natural-log likelihood ratios of bona fide trials against spoofs, and the threshold is
        the one that Bayes decisions have: ``ln(C2 / C1)``.

    Returns
    -------
    float

    Raises
    ------
    InputError
        As in `min_t_dcf`, or if the threshold is NaN.

    Examples
    --------
    >>> round(act_t_dcf([1.0, 2.0], [0.0, 1.5], asv=AsvErrors(0.05, 0.05, 0.3), threshold=0.5), 3)
    0.628
    """
    how = {"p_spoof": p_spoof, "p_non": p_non, "c_miss": c_miss, "c_fa": c_fa, "c_fa_spoof": c_fa_spoof}
    weights = _weights(asv, edition, **how)
    if threshold is None:
        at = (
            math.inf if weights.miss == 0.0 else -math.inf if weights.fa == 0.0 else math.log(weights.fa / weights.miss)
        )
    else:
        at = checked_threshold(threshold)
    positive, negative = sorted_scores(bona, "bona"), sorted_scores(spoof, "spoof")
    where = np.array([at])
    cost = weights.at(rejected(positive, where), accepted(negative, where), normalize=normalize)
    return float(cost[0])


def t_eer(
    tar: ArrayLike, non: ArrayLike, asv_spoof: ArrayLike, *, bona: ArrayLike, cm_spoof: ArrayLike
) -> tuple[float, float, float]:
    """Concurrent tandem EER of a verifier behind a countermeasure (Kinnunen et al., 2023).

    Parameters
    ----------
    tar, non, asv_spoof : (n,) array_like
        Scores of the verifier.
    bona, cm_spoof : (n,) array_like
        Scores of the countermeasure, taken as independent of the verifier's.

    Returns
    -------
    t_eer : float
        Mean of three rates of the tandem at the thresholds where the largest and the smallest of them are closest:
        rejected targets, accepted non-targets, accepted spoofs. No prior of spoofs matters there.
    asv_threshold, cm_threshold : float

    Raises
    ------
    InputError
        If there are no scores of a kind, or one is NaN.

    Examples
    --------
    >>> t_eer([2.0, 3.0, 1.0], [0.0, -1.0, 1.5], [1.0, 2.5, 0.0], bona=[1.0, 2.0, 3.0], cm_spoof=[0.0, 1.5, -1.0])
    (0.3333333333333333, 1.5, -1.0)
    """
    named = ((tar, "tar"), (non, "non"), (asv_spoof, "asv_spoof"), (bona, "bona"), (cm_spoof, "cm_spoof"))
    targets, others, spoofs, positive, negative = (sorted_scores(values, name) for values, name in named)
    at_asv = np.append(np.unique(np.concatenate((targets, others))).astype(np.float64), np.inf)
    at_cm = np.append(np.unique(np.concatenate((positive, negative))).astype(np.float64), np.inf)
    hit, fa, fa_spoof = (accepted(scores, at_asv) for scores in (targets, others, spoofs))
    passed, passed_spoof = (accepted(scores, at_cm) for scores in (positive, negative))
    best = (math.inf, 0, 0)
    for k in range(len(at_asv)):
        rates = np.stack((1.0 - passed * hit[k], passed * fa[k], passed_spoof * fa_spoof[k]))
        spread = np.ptp(rates, axis=0)
        j = int(np.argmin(spread))
        best = min(best, (float(spread[j]), k, j))
    _, k, j = best
    three = (1.0 - passed[j] * hit[k], passed[j] * fa[k], passed_spoof[j] * fa_spoof[k])
    return math.fsum(three) / 3.0, float(at_asv[k]), float(at_cm[j])
