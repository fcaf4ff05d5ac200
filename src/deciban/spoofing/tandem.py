"""A countermeasure in tandem with a verifier: the tandem detection cost function (t-DCF) and the tandem EER."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from deciban._validate import arrays as _validate
from deciban.errors import InputError
from deciban.types import FloatArray, IntArray, ScoreArray

Edition: TypeAlias = Literal["2019", "2021"]
"""Form of the t-DCF: ASV-constrained (ASVspoof 2019), or with the errors of the verifier as a lower limit (2021)."""


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
    result: ScoreArray = np.sort(_validate.scores(values, name))
    if not len(result):
        raise InputError(f"{name}: there are no scores.")
    return result


@dataclass(frozen=True, slots=True)
class AsvErrors:
    """Error rates of a verifier at its threshold, as fractions.

    Attributes
    ----------
    p_miss, p_fa, p_fa_spoof : float
        Rejected targets, accepted non-targets, accepted spoofs.
    threshold : float
        NaN if unknown.
    """

    p_miss: float
    p_fa: float
    p_fa_spoof: float
    threshold: float = math.nan

    def __post_init__(self) -> None:
        for name in ("p_miss", "p_fa", "p_fa_spoof"):
            _validate.in_range(getattr(self, name), name, 0.0, 1.0, "An error rate is a fraction in [0, 1]")
        known: object = self.threshold
        if not (isinstance(known, float | np.floating) and np.isnan(known)):
            _validate.threshold(known)


def asv_errors(tar: ArrayLike, non: ArrayLike, spoof: ArrayLike, *, threshold: float | None = None) -> AsvErrors:
    """Return the error rates of a verifier at a threshold, by default the threshold of its EER.

    Parameters
    ----------
    tar, non, spoof : (n,) array_like
        Scores of the verifier; larger scores favour a target.
    threshold : float, optional
        By default, the score at which the rates of targets at or below it and of non-targets above it are closest (in a
        tie, the lowest), as in the evaluation packages of ASVspoof.

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
    at = _closest(targets, others) if threshold is None else _validate.threshold(threshold)
    where = np.array([at])
    fa, fa_spoof = (float(accepted(scores, where)[0]) for scores in (others, spoofs))
    return AsvErrors(float(rejected(targets, where)[0]), fa, fa_spoof, at)


def _closest(tar: ScoreArray, non: ScoreArray) -> float:
    """Return the score with the closest rates of targets at or below it and non-targets above it."""
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


P_SPOOF, P_NON = 0.05, 0.95 * 0.01
"""Priors of ASVspoof: 5 % spoofs, and 1 % non-targets among the other trials."""


@dataclass(frozen=True, slots=True)
class TDcfWeights:
    """Weights of the t-DCF ``floor + miss P_miss_cm + fa P_fa_cm``; the norm is the cost of a constant decision."""

    floor: float
    miss: float
    fa: float

    @property
    def norm(self) -> float:
        """Cost of the better constant decision."""
        return self.floor + min(self.miss, self.fa)

    def at(self, p_miss: FloatArray, p_fa: FloatArray, *, normalize: bool) -> FloatArray:
        """Return the t-DCF at error rates of the countermeasure."""
        cost: FloatArray = self.floor + self.miss * p_miss + self.fa * p_fa
        return cost / self.norm if normalize else cost


@dataclass(frozen=True, slots=True)
class TDcfCosts:
    """Priors and costs of the t-DCF; see `min_t_dcf`."""

    p_spoof: float = P_SPOOF
    p_non: float = P_NON
    c_miss: float = 1.0
    c_fa: float = 10.0
    c_fa_spoof: float = 10.0
    c_miss_cm: float | None = None

    def weights(self, asv: AsvErrors, edition: str) -> TDcfWeights:
        """Return the weights of both errors of a countermeasure in tandem with a verifier.

        Raises
        ------
        InputError
            If a prior, a cost or the edition is invalid, or the countermeasure has no effect.
        """
        _validate.one_of(edition, "edition", get_args(Edition))
        if not isinstance(asv, AsvErrors):
            raise InputError(f"asv: got {type(asv).__name__}. Pass the error rates of the verifier: asv_errors(...).")
        if self.c_miss_cm is not None and edition == "2021":
            raise InputError("c_miss_cm: the form of 2021 has one cost of rejected targets, c_miss.")
        miss_cm = self.c_miss if self.c_miss_cm is None else self.c_miss_cm
        p_tar = target_prior(self.p_non, self.p_spoof)
        require_costs(c_miss=self.c_miss, c_fa=self.c_fa, c_fa_spoof=self.c_fa_spoof, c_miss_cm=miss_cm)
        verifier = p_tar * self.c_miss * asv.p_miss + self.p_non * self.c_fa * asv.p_fa
        miss, fa = p_tar * miss_cm - verifier, self.p_spoof * self.c_fa_spoof * asv.p_fa_spoof
        result = TDcfWeights(verifier if edition == "2021" else 0.0, miss, fa)
        if miss < 0.0:
            raise InputError(
                f"asv: with P_miss {asv.p_miss:.4g} and P_fa {asv.p_fa:.4g} the verifier costs more than rejecting "
                "all trials, so that the t-DCF is not defined. Use another threshold of the verifier."
            )
        if result.norm <= 0.0:
            raise InputError("asv: the verifier accepts no spoof, so that a countermeasure has no effect.")
        return result


def require_costs(**costs: float) -> None:
    """Refuse a cost that is negative or not finite.

    Raises
    ------
    InputError
    """
    for name, cost in costs.items():
        _validate.in_range(cost, name, 0.0, sys.float_info.max, "A cost is at least 0 and finite")


def target_prior(p_non: float, p_spoof: float) -> float:
    """Return the prior of targets, from the priors of non-targets and spoofs.

    Raises
    ------
    InputError
        If a prior is not in [0, 1), or no prior remains for targets.
    """
    for name, prior in (("p_non", p_non), ("p_spoof", p_spoof)):
        _validate.in_range(prior, name, 0.0, 1.0, "A prior is in [0, 1)")
    if p_non + p_spoof >= 1.0:
        raise InputError(f"p_non, p_spoof: got {p_non:g} and {p_spoof:g}. Their sum must be below 1.")
    return 1.0 - p_non - p_spoof


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
    c_miss_cm: float | None = None,
) -> TDcfCurve:
    """Return the t-DCF at every threshold of the countermeasure.

    Parameters
    ----------
    bona, spoof : (n,) array_like
        Scores of the countermeasure; larger scores favour bona fide trials.
    asv : AsvErrors
        Error rates of the verifier.
    edition, normalize, p_spoof, p_non, c_miss, c_fa, c_fa_spoof, c_miss_cm
        See `min_t_dcf`.

    Returns
    -------
    TDcfCurve

    Raises
    ------
    InputError
        See `min_t_dcf`.

    Examples
    --------
    >>> curve = t_dcf_curve([1.0, 2.0], [0.0, 1.5], asv=AsvErrors(0.05, 0.05, 0.3))
    >>> curve.threshold, curve.t_dcf.round(3)
    (array([0. , 1. , 1.5, 2. , inf]), array([1.   , 0.628, 2.831, 2.459, 4.661]))
    """
    weights = TDcfCosts(p_spoof, p_non, c_miss, c_fa, c_fa_spoof, c_miss_cm).weights(asv, edition)
    return _curve(bona, spoof, weights, normalize=normalize)


def _curve(bona: ArrayLike, spoof: ArrayLike, weights: TDcfWeights, *, normalize: bool) -> TDcfCurve:
    _validate.flag(normalize, "normalize")
    positive, negative = sorted_scores(bona, "bona"), sorted_scores(spoof, "spoof")
    thresholds = np.append(np.unique(np.concatenate((positive, negative))).astype(np.float64), np.inf)
    p_miss, p_fa = rejected(positive, thresholds), accepted(negative, thresholds)
    p_miss[-1], p_fa[-1] = 1.0, 0.0  # also for infinite scores
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
    c_miss_cm: float | None = None,
) -> float:
    """Return the minimum t-DCF of a countermeasure in tandem with a verifier (Kinnunen et al., 2020).

    Parameters
    ----------
    bona, spoof : (n,) array_like
        Scores of the countermeasure; larger scores favour bona fide trials.
    asv : AsvErrors
        Error rates of the verifier: from `asv_errors`, or published.
    edition : {"2021", "2019"}
        With ``C0 = P_tar C_miss P_miss_asv + P_non C_fa P_fa_asv``, ``C1 = P_tar C_miss - C0`` and
        ``C2 = P_spoof C_fa_spoof P_fa_spoof_asv``: 2021 is ``C0 + C1 P_miss + C2 P_fa``, normalized by
        ``C0 + min(C1, C2)``; 2019 is the same without ``C0``.
    normalize : bool
        Divide by the cost of the better constant decision of a countermeasure: accept all, or reject all.
    p_spoof, p_non : float
        Priors of spoofs and of non-targets; the rest are targets.
    c_miss, c_fa, c_fa_spoof : float
        Costs of a rejected target, an accepted non-target and an accepted spoof.
    c_miss_cm : float, optional
        Only 2019: cost of a target that the countermeasure rejects; by default ``c_miss``.

    Returns
    -------
    float
        The least cost over all thresholds of the countermeasure.

    Raises
    ------
    InputError
        If there are no scores of a kind, a prior or a cost is invalid, the verifier costs more than rejecting all
        trials, or it accepts no spoof (2019).

    Examples
    --------
    >>> round(min_t_dcf([1.0, 2.0], [0.0, 1.5], asv=AsvErrors(0.05, 0.05, 0.3)), 3)
    0.628
    """
    weights = TDcfCosts(p_spoof, p_non, c_miss, c_fa, c_fa_spoof, c_miss_cm).weights(asv, edition)
    return float(_curve(bona, spoof, weights, normalize=normalize).t_dcf.min())


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
    c_miss_cm: float | None = None,
) -> float:
    """Return the t-DCF of a countermeasure at a threshold.

    Parameters
    ----------
    bona, spoof : (n,) array_like
        Scores of the countermeasure; larger scores favour bona fide trials.
    asv : AsvErrors
        Error rates of the verifier.
    edition, normalize, p_spoof, p_non, c_miss, c_fa, c_fa_spoof, c_miss_cm
        See `min_t_dcf`.
    threshold : float, optional
        By default, the scores are log-likelihood ratios (in nats) of bona fide trials against spoofs, and the threshold
        is the Bayes threshold ``ln(C2 / C1)``.

    Returns
    -------
    float

    Raises
    ------
    InputError
        See `min_t_dcf`. Also if the threshold is NaN.

    Examples
    --------
    >>> round(act_t_dcf([1.0, 2.0], [0.0, 1.5], asv=AsvErrors(0.05, 0.05, 0.3), threshold=0.5), 3)
    0.628
    """
    weights = TDcfCosts(p_spoof, p_non, c_miss, c_fa, c_fa_spoof, c_miss_cm).weights(asv, edition)
    _validate.flag(normalize, "normalize")
    if threshold is None:
        at = (
            math.inf if weights.miss == 0.0 else -math.inf if weights.fa == 0.0 else math.log(weights.fa / weights.miss)
        )
    else:
        at = _validate.threshold(threshold)
    positive, negative = sorted_scores(bona, "bona"), sorted_scores(spoof, "spoof")
    where = np.array([at])
    return float(weights.at(rejected(positive, where), accepted(negative, where), normalize=normalize)[0])


_CELLS = 32
"""Number of groups of thresholds of each system in the search for the tandem EER."""

_FEW = 1 << 12
"""Number of pairs of thresholds of which all are compared."""


@dataclass(frozen=True, slots=True)
class _TandemRates:
    """Accepted shares of three kinds of trials, by thresholds of a verifier and of a countermeasure: (3, n) arrays.

    The accepted share of a tandem is the product. `bounds` limits the spread of the three error rates in groups of
    thresholds, so that most groups need no search.
    """

    asv: FloatArray
    cm: FloatArray

    def cuts(self) -> tuple[list[int], list[int]]:
        """Return borders of groups of thresholds, within which all rates change little."""
        numbers = list[list[int]]()
        for shares in (self.asv, self.cm):
            total, n = -shares.sum(axis=0), shares.shape[1]
            borders = np.searchsorted(total, np.linspace(total[0], total[-1], min(_CELLS, n), endpoint=False))
            numbers.append([*np.unique(borders).tolist(), n])
        return numbers[0], numbers[1]

    def bounds(self, rows: list[int], columns: list[int]) -> tuple[FloatArray, int]:
        """Return a lower bound of the spread in each pair of groups, and the number of groups of columns."""
        both = ((self.asv, rows), (self.cm, columns))
        high_asv, high_cm = (shares[:, cuts[:-1]] for shares, cuts in both)
        low_asv, low_cm = (shares[:, np.array(cuts[1:]) - 1] for shares, cuts in both)
        high, low = high_asv[:, :, None] * high_cm[:, None], low_asv[:, :, None] * low_cm[:, None]
        least = np.stack((1.0 - high[0], low[1], low[2]))
        most = np.stack((1.0 - low[0], high[1], high[2]))
        values: FloatArray = np.maximum(least.max(axis=0) - most.min(axis=0), 0.0)
        return values, len(columns) - 1

    def best(
        self, known: tuple[float, int, int] = (math.inf, 0, 0), first: tuple[int, int] = (0, 0)
    ) -> tuple[float, int, int]:
        """Return the least spread and its thresholds, the lowest in a tie, or what is known already if that is less.

        ``first`` is the pair of thresholds with which these rates begin, if they are groups of longer lists. Large
        groups are divided and searched in the same way.
        """
        if self.asv.shape[1] * self.cm.shape[1] <= _FEW:
            share = self.asv[:, :, None] * self.cm[:, None]
            share[0] = 1.0 - share[0]
            spread = np.ptp(share, axis=0)
            at, beside = divmod(int(np.argmin(spread)), spread.shape[1])
            return min(known, (float(spread[at, beside]), first[0] + at, first[1] + beside))
        rows, columns = self.cuts()
        low, width = self.bounds(rows, columns)
        for cell in np.argsort(low, axis=None, kind="stable"):
            if low.flat[cell] > known[0]:
                break
            at, beside = divmod(int(cell), width)
            asv, cm = self.asv[:, rows[at] : rows[at + 1]], self.cm[:, columns[beside] : columns[beside + 1]]
            known = _TandemRates(asv, cm).best(known, (first[0] + rows[at], first[1] + columns[beside]))
        return known


def _accepted(
    tar: ArrayLike, non: ArrayLike, asv_spoof: ArrayLike, bona: ArrayLike, cm_spoof: ArrayLike
) -> tuple[list[FloatArray], list[FloatArray]]:
    """Return accepted shares of three kinds by a verifier, of two by a countermeasure, and the thresholds of each."""
    result = list[list[FloatArray]]()
    for kinds in ({"tar": tar, "non": non, "asv_spoof": asv_spoof}, {"bona": bona, "cm_spoof": cm_spoof}):
        scores = [sorted_scores(values, name) for name, values in kinds.items()]
        at = np.append(np.unique(np.concatenate(scores)).astype(np.float64), np.inf)
        result.append([*(accepted(one, at) for one in scores), at])
    return result[0], result[1]


@dataclass(frozen=True, slots=True)
class TEerPath:
    """Pairs of thresholds at which a tandem makes misses and false alarms at the same rate.

    Attributes
    ----------
    cm_threshold, asv_threshold : (n,) float64 arrays
        Thresholds of the countermeasure, ascending, and of the verifier.
    eer : (n,) float64 array
        The common rate: the mean of both rates where they are closest.
    """

    cm_threshold: FloatArray
    asv_threshold: FloatArray
    eer: FloatArray


def t_eer_path(
    tar: ArrayLike,
    non: ArrayLike,
    asv_spoof: ArrayLike,
    *,
    bona: ArrayLike,
    cm_spoof: ArrayLike,
    spoof_share: float = 0.5,
) -> TEerPath:
    """Return the equal error rate of a tandem at each threshold of the countermeasure (Kinnunen et al., 2023).

    Parameters
    ----------
    tar, non, asv_spoof, bona, cm_spoof
        See `t_eer`.
    spoof_share : float
        Share of spoofs among non-targets and spoofs, in [0, 1]. All paths meet at the concurrent `t_eer`.

    Returns
    -------
    TEerPath
        Only thresholds with which both rates can be equal.

    Raises
    ------
    InputError
        See `t_eer`. Also if the share is not in [0, 1].

    Examples
    --------
    >>> scores = {"bona": [1.0, 2.0, 3.0], "cm_spoof": [0.0, 1.5, -1.0]}
    >>> path = t_eer_path([2.0, 3.0, 1.0], [0.0, -1.0, 1.5], [1.0, 2.5, 0.0], **scores, spoof_share=0.0)
    >>> path.cm_threshold.tolist(), path.eer.round(3).tolist()
    ([-1.0, 0.0, 1.0, 1.5, 2.0], [0.333, 0.333, 0.333, 0.389, 0.389])
    """
    share = _validate.in_range(spoof_share, "spoof_share", 0.0, 1.0, "A share is in [0, 1]")
    (hit, fa, fa_spoof, at_asv), (passed, passed_spoof, at_cm) = _accepted(tar, non, asv_spoof, bona, cm_spoof)
    places = np.arange(len(at_cm))

    def rates(k: int | IntArray | slice, j: int | IntArray | slice) -> tuple[FloatArray, FloatArray]:
        return 1.0 - passed[j] * hit[k], (1.0 - share) * passed[j] * fa[k] + share * passed_spoof[j] * fa_spoof[k]

    miss, wrong = rates(0, places)
    places = places[miss <= wrong]  # otherwise misses exceed false alarms at all thresholds
    low, high = np.zeros(len(places), np.intp), np.full(len(places), len(at_asv) - 1)
    while np.any(low < high - 1):  # misses increase and false alarms decrease with the threshold of the verifier
        middle = (low + high) // 2
        miss, wrong = rates(middle, places)
        low, high = np.where(miss <= wrong, middle, low), np.where(miss <= wrong, high, middle)
    (miss, wrong), (miss_above, wrong_above) = rates(low, places), rates(high, places)
    above = np.abs(miss_above - wrong_above) < np.abs(miss - wrong)
    eer = 0.5 * np.where(above, miss_above + wrong_above, miss + wrong)
    return TEerPath(at_cm[places], at_asv[np.where(above, high, low)], eer)


def t_eer(
    tar: ArrayLike, non: ArrayLike, asv_spoof: ArrayLike, *, bona: ArrayLike, cm_spoof: ArrayLike
) -> tuple[float, float, float]:
    """Return the concurrent tandem EER of a verifier and a countermeasure (Kinnunen et al., 2023).

    Parameters
    ----------
    tar, non, asv_spoof : (n,) array_like
        Scores of the verifier.
    bona, cm_spoof : (n,) array_like
        Scores of the countermeasure, assumed to be independent of the scores of the verifier.

    Returns
    -------
    t_eer : float
        Mean of three rates of the tandem (rejected targets, accepted non-targets, accepted spoofs) at the thresholds
        where the largest and the smallest of them are closest. It does not depend on the prior of spoofs.
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
    (hit, fa, fa_spoof, at_asv), (passed, passed_spoof, at_cm) = _accepted(tar, non, asv_spoof, bona, cm_spoof)
    _, k, j = _TandemRates(np.stack((hit, fa, fa_spoof)), np.stack((passed, passed, passed_spoof))).best()
    three = (1.0 - passed[j] * hit[k], passed[j] * fa[k], passed_spoof[j] * fa_spoof[k])
    return math.fsum(three) / 3.0, float(at_asv[k]), float(at_cm[j])
