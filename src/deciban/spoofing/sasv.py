"""One score against non-targets and spoofs: a-DCF, SASV error rates, and error rates of presentation attacks."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from deciban._validate import arrays as _validate
from deciban.errors import InputError
from deciban.metrics.scores import eer_conventions, rocch
from deciban.spoofing.tandem import P_SPOOF, accepted, rejected, require_costs, sorted_scores, target_prior
from deciban.types import AnyArray, BoolArray, FloatArray, ScoreArray


class ADcfWeights(NamedTuple):
    """Weights of the error rates in the a-DCF: prior times cost of missed targets, non-targets and spoofs."""

    miss: float
    fa: float
    fa_spoof: float

    @property
    def norm(self) -> float:
        """Cost of the better constant decision."""
        return min(self.miss, self.fa + self.fa_spoof)


def a_dcf_weights(*, p_non: float, p_spoof: float, c_miss: float, c_fa: float, c_fa_spoof: float) -> ADcfWeights:
    """Return the weights of the error rates; see `min_a_dcf`.

    Raises
    ------
    InputError
        If a prior or a cost is invalid, or a constant decision costs nothing.
    """
    require_costs(c_miss=c_miss, c_fa=c_fa, c_fa_spoof=c_fa_spoof)
    weights = ADcfWeights(target_prior(p_non, p_spoof) * c_miss, p_non * c_fa, p_spoof * c_fa_spoof)
    if weights.norm <= 0.0:
        raise InputError("p_non, p_spoof, c_miss, c_fa, c_fa_spoof: one constant decision costs nothing.")
    return weights


def _a_dcf(
    tar: ArrayLike, non: ArrayLike, spoof: ArrayLike, thresholds: FloatArray | None, weights: ADcfWeights
) -> FloatArray:
    """Return the normalized a-DCF at thresholds, by default at every score of a target and for rejecting all."""
    miss, fa, fa_spoof = weights
    targets, others, spoofs = (sorted_scores(a, name) for a, name in ((tar, "tar"), (non, "non"), (spoof, "spoof")))
    at = np.unique(targets).astype(np.float64) if thresholds is None else thresholds
    total: FloatArray = miss * rejected(targets, at) + fa * accepted(others, at) + fa_spoof * accepted(spoofs, at)
    if thresholds is None:
        total = np.append(total, miss)  # reject all
    return total / weights.norm


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
    """Return the minimum architecture-agnostic detection cost with non-targets and spoofs (Shim et al., 2024).

    Parameters
    ----------
    tar, non, spoof : (n,) array_like
        Scores; larger scores favour a target.
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
        If there are no scores of a kind, one is NaN, or a prior or a cost is invalid.

    Examples
    --------
    >>> round(min_a_dcf([2.0, 3.0, 1.0], [0.0, -1.0, 0.5], [0.5, 2.5, -1.0]), 3)
    0.37
    """
    weights = a_dcf_weights(p_non=p_non, p_spoof=p_spoof, c_miss=c_miss, c_fa=c_fa, c_fa_spoof=c_fa_spoof)
    return float(_a_dcf(tar, non, spoof, None, weights).min())


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
    """Return the normalized a-DCF at a threshold.

    Parameters
    ----------
    tar, non, spoof : (n,) array_like
        Scores; larger scores favour a target.
    p_non, p_spoof, c_miss, c_fa, c_fa_spoof : float
        See `min_a_dcf`.
    threshold : float, optional
        By default, the scores are log-likelihood ratios (in nats) of targets against the mixture of non-targets and
        spoofs, with weights proportional to ``P_non C_fa`` and ``P_spoof C_fa_spoof``. The threshold is the logarithm
        of the sum of these products divided by ``P_tar C_miss``.

    Returns
    -------
    float

    Raises
    ------
    InputError
        See `min_a_dcf`. Also if the threshold is NaN.

    Examples
    --------
    >>> round(act_a_dcf([2.0, 3.0, 1.0], [0.0, -1.0, 0.5], [0.5, 2.5, -1.0], threshold=0.75), 3)
    0.37
    """
    weights = a_dcf_weights(p_non=p_non, p_spoof=p_spoof, c_miss=c_miss, c_fa=c_fa, c_fa_spoof=c_fa_spoof)
    bayes = math.log((weights.fa + weights.fa_spoof) / weights.miss)
    at = bayes if threshold is None else _validate.threshold(threshold)
    return float(_a_dcf(tar, non, spoof, np.array([at]), weights)[0])


def min_tandem_a_dcf(
    tar: ArrayLike,
    non: ArrayLike,
    spoof: ArrayLike,
    *,
    bona: ArrayLike,
    cm_spoof: ArrayLike,
    p_non: float = P_SPOOF,
    p_spoof: float = P_SPOOF,
    c_miss: float = 1.0,
    c_fa: float = 10.0,
    c_fa_spoof: float = 20.0,
) -> float:
    """Return the minimum a-DCF of a countermeasure in tandem with a verifier, over the thresholds of both.

    Parameters
    ----------
    tar, non, spoof : (n,) array_like
        Scores of the verifier; larger scores favour a target.
    bona, cm_spoof : (n,) array_like
        Scores of the countermeasure, assumed to be independent of the scores of the verifier.
    p_non, p_spoof, c_miss, c_fa, c_fa_spoof : float
        See `min_a_dcf`.

    Returns
    -------
    float
        Normalized like `min_a_dcf`. The tandem accepts a trial if both systems accept it.

    Raises
    ------
    InputError
        See `min_a_dcf`.

    Examples
    --------
    >>> scores = {"bona": [1.0, 2.0, 3.0], "cm_spoof": [0.0, 1.5, -1.0]}
    >>> round(min_tandem_a_dcf([2.0, 3.0, 1.0], [0.0, -1.0, 0.5], [0.5, 2.5, -1.0], **scores), 3)
    0.123
    """
    weights = a_dcf_weights(p_non=p_non, p_spoof=p_spoof, c_miss=c_miss, c_fa=c_fa, c_fa_spoof=c_fa_spoof)
    miss, fa, fa_spoof = weights
    named = ((tar, "tar"), (non, "non"), (spoof, "spoof"), (bona, "bona"), (cm_spoof, "cm_spoof"))
    targets, others, spoofs, positive, negative = (sorted_scores(values, name) for values, name in named)
    at = np.unique(targets).astype(np.float64)
    floor = miss * rejected(targets, at) + fa * accepted(others, at)
    wrong = fa_spoof * accepted(spoofs, at)
    saved = np.maximum(miss - floor, 0.0)  # otherwise rejecting all trials costs less than this threshold
    with np.errstate(divide="ignore", invalid="ignore"):
        odds = np.log(saved) - np.log(wrong)
    p_miss, p_fa = rocch(positive, negative).best_rates(np.nan_to_num(odds, nan=0.0, posinf=np.inf, neginf=-np.inf))
    return float(min((floor + saved * p_miss + wrong * p_fa).min(), miss) / weights.norm)


@dataclass(frozen=True, slots=True)
class Cascade:
    """A countermeasure in front of a verifier: a trial is accepted if both scores are at or above their thresholds.

    Attributes
    ----------
    a_dcf : float
        Normalized a-DCF.
    cm_threshold, asv_threshold : float
        Infinite thresholds reject all trials.
    """

    a_dcf: float
    cm_threshold: float
    asv_threshold: float

    def accepts(self, scores: ArrayLike) -> BoolArray:
        """Return True for each accepted trial; the columns of ``scores`` are the countermeasure and the verifier."""
        return np.asarray((np.asarray(scores) >= (self.cm_threshold, self.asv_threshold)).all(axis=1))


def _pairs(weights: ADcfWeights, **kinds: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Return the pairs of scores of all trials, and the change of the cost if each is accepted; the targets are first.

    Raises
    ------
    InputError
        If a kind has no pairs of scores, or a score is NaN or infinite.
    """
    tables = [_validate.score_matrix(values, name) for name, values in kinds.items()]
    for name, table in zip(kinds, tables, strict=True):
        if table.shape[1] != 2:
            raise InputError(f"{name}: {table.shape[1]} columns. Pass two: countermeasure and verifier.")
        words = f"{name}: {{n}} trials have infinite scores, the first "
        _validate.refuse_trials(np.asarray(~np.isfinite(table).all(axis=1)), words, ". Give them finite scores.")
    change = np.repeat(
        [sign * weight / len(table) for sign, weight, table in zip((-1, 1, 1), weights, tables, strict=True)],
        [len(table) for table in tables],
    )
    return np.concatenate(tables).astype(np.float64), change


_BATCH = 512
"""Number of trials whose thresholds of the countermeasure are searched together."""


def min_cascade_a_dcf(
    tar: ArrayLike,
    non: ArrayLike,
    spoof: ArrayLike,
    *,
    p_non: float = P_SPOOF,
    p_spoof: float = P_SPOOF,
    c_miss: float = 1.0,
    c_fa: float = 10.0,
    c_fa_spoof: float = 20.0,
) -> Cascade:
    """Return the minimum a-DCF of a cascade over both thresholds, from scores of both systems on the same trials.

    Parameters
    ----------
    tar, non, spoof : (n, 2) array_like
        Scores of the countermeasure and of the verifier; larger scores favour bona fide trials, and targets.
    p_non, p_spoof, c_miss, c_fa, c_fa_spoof : float
        See `min_a_dcf`.

    Returns
    -------
    Cascade
        The best pair of thresholds among all pairs. `min_tandem_a_dcf` is for scores on different trials.

    Raises
    ------
    InputError
        See `min_a_dcf`.

    Examples
    --------
    >>> found = min_cascade_a_dcf([[2, 3], [1, 2]], [[2, 0], [1, 2.5]], [[-1, 2], [0, 3]])
    >>> round(found.a_dcf, 3), found.cm_threshold, found.asv_threshold
    (0.278, 1.0, 2.0)
    """
    weights = a_dcf_weights(p_non=p_non, p_spoof=p_spoof, c_miss=c_miss, c_fa=c_fa, c_fa_spoof=c_fa_spoof)
    pairs, change = _pairs(weights, tar=tar, non=non, spoof=spoof)
    values = np.unique(pairs[change < 0.0, 1])  # a best threshold is the score of a target, or rejects all
    rank = np.searchsorted(values, pairs[:, 1], side="right") - 1
    order = np.argsort(-pairs[:, 0], kind="stable")
    order = order[rank[order] >= 0]
    cm, some, own = pairs[order, 0], change[order], rank[order]
    ends = np.append(cm[1:] < cm[:-1], True)  # equal scores are accepted together
    base = np.zeros(len(values) + 1)  # change of the cost for each threshold of the verifier, of the trials so far
    best = (0.0, math.inf, math.inf)
    for rows in (slice(start, start + _BATCH) for start in range(0, len(cm), _BATCH)):
        if base.min() + np.minimum(some[rows], 0.0).sum() < best[0] - _SAME:  # otherwise the batch has none better
            least, at, place = _best_in(base, own[rows], some[rows], ends[rows])
            if least < best[0] - _SAME:
                best = least, float(cm[rows][at]), float(np.append(values, math.inf)[place])
        base += np.append(np.bincount(own[rows], some[rows], len(values))[::-1].cumsum()[::-1], 0.0)
    cascade = Cascade(0.0, *best[1:])
    return replace(cascade, a_dcf=float((weights.miss + change[cascade.accepts(pairs)].sum()) / weights.norm))


def _best_in(base: FloatArray, rank: AnyArray, change: FloatArray, ends: AnyArray) -> tuple[float, int, int]:
    """Return the least change of the cost at the last trials of a batch, the trial, and the threshold of the verifier.

    Parameters
    ----------
    base : (n,) array
        Change of the cost for each threshold of the verifier, of the trials before.
    rank, change, ends : (m,) arrays
        Highest threshold that accepts each trial, its change, and whether the next trial has another score.
    """
    places, column = np.unique(rank, return_inverse=True)  # between two places, the batch adds the same
    least = np.minimum.reduceat(base, np.append(0, places + 1))
    added = np.zeros((len(rank), len(places) + 1))
    added[np.arange(len(rank)), column] = change
    added = np.cumsum(np.cumsum(added, axis=0)[:, ::-1], axis=1)[:, ::-1]
    total = np.where(ends[:, None], least + added, math.inf)
    at, beside = divmod(int(np.argmin(total)), total.shape[1])
    low = 0 if beside == 0 else int(places[beside - 1]) + 1
    high = len(base) if beside == len(places) else int(places[beside]) + 1
    return float(total[at, beside]), at, low + int(np.argmin(base[low:high]))


_SAME = 1e-12
"""Costs that differ by less are equal."""


@dataclass(frozen=True, slots=True, eq=False)
class ADcfSurface:
    """The a-DCF of a cascade over both thresholds.

    Attributes
    ----------
    cm_threshold, asv_threshold : (n,) and (m,) float64 arrays
        Ascending; the last ones, inf, reject all trials.
    a_dcf : (n, m) float64 array
        Normalized.
    """

    cm_threshold: FloatArray
    asv_threshold: FloatArray
    a_dcf: FloatArray


def a_dcf_surface(
    tar: ArrayLike,
    non: ArrayLike,
    spoof: ArrayLike,
    *,
    n_thresholds: int = 100,
    p_non: float = P_SPOOF,
    p_spoof: float = P_SPOOF,
    c_miss: float = 1.0,
    c_fa: float = 10.0,
    c_fa_spoof: float = 20.0,
) -> ADcfSurface:
    """Return the a-DCF of a cascade at pairs of thresholds.

    Parameters
    ----------
    tar, non, spoof : (n, 2) array_like
        See `min_cascade_a_dcf`.
    n_thresholds : int
        Largest number of finite thresholds of each system: quantiles of its scores.
    p_non, p_spoof, c_miss, c_fa, c_fa_spoof : float
        See `min_a_dcf`.

    Returns
    -------
    ADcfSurface

    Raises
    ------
    InputError
        See `min_a_dcf`. Also if there is no threshold.

    Examples
    --------
    >>> found = a_dcf_surface([[2, 3], [1, 2]], [[2, 0], [1, 2.5]], [[-1, 2], [0, 3]])
    >>> float(found.a_dcf.min().round(3)), found.a_dcf.shape
    (0.278, (5, 5))
    """
    weights = a_dcf_weights(p_non=p_non, p_spoof=p_spoof, c_miss=c_miss, c_fa=c_fa, c_fa_spoof=c_fa_spoof)
    n = _validate.whole(n_thresholds, "n_thresholds", 1, 10_000, "At least one threshold is needed")
    pairs, change = _pairs(weights, tar=tar, non=non, spoof=spoof)
    ticks = [np.unique(np.quantile(one, np.linspace(0, 1, n), method="lower")) for one in pairs.T]
    places = [np.searchsorted(at, one, side="right") for at, one in zip(ticks, pairs.T, strict=True)]
    added = np.zeros((len(ticks[0]) + 1, len(ticks[1]) + 1))
    np.add.at(added, tuple(places), change)
    accepted_at = added[::-1, ::-1].cumsum(axis=0).cumsum(axis=1)[::-1, ::-1]  # [i, j]: places of at least i and j
    costs = np.zeros_like(accepted_at)
    costs[:-1, :-1] = accepted_at[1:, 1:]
    at_cm, at_asv = (np.append(one, np.inf) for one in ticks)
    return ADcfSurface(at_cm, at_asv, (weights.miss + costs) / weights.norm)


def sasv_eers(tar: ArrayLike, non: ArrayLike, spoof: ArrayLike) -> tuple[float, float, float]:
    """Return the EERs of targets against non-targets and spoofs together, non-targets alone, and spoofs alone.

    Parameters
    ----------
    tar, non, spoof : (n,) array_like
        Scores; larger scores favour a target.

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
    both = np.concatenate((others, spoofs))
    sasv, sv, spf = (eer_conventions(targets, against)["closest_mean"] for against in (both, others, spoofs))
    return sasv, sv, spf


def _sorted_attacks(attacks: object) -> dict[str, ScoreArray]:
    """Return the sorted scores of each attack, and refuse anything but a mapping with at least one attack.

    Raises
    ------
    InputError
    """
    if not isinstance(attacks, Mapping) or not attacks:
        got = "empty" if isinstance(attacks, Mapping) else f"got {type(attacks).__name__}"
        raise InputError(f"attacks: {got}. Pass a mapping from names of attacks to their scores.")
    return {name: sorted_scores(scores, f"attacks[{name!r}]") for name, scores in attacks.items()}


def apcer(attacks: Mapping[str, ArrayLike], *, threshold: float) -> dict[str, float]:
    """Return the attack presentation classification error rate of each attack instrument (ISO/IEC 30107-3).

    Parameters
    ----------
    attacks : mapping of str to (n,) array_like
        Scores of the countermeasure by attack; larger scores favour bona fide presentations.
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
    ordered, at = _sorted_attacks(attacks), np.array([_validate.threshold(threshold)])
    return {name: float(accepted(scores, at)[0]) for name, scores in ordered.items()}


def bpcer_at_apcer(bona: ArrayLike, attacks: Mapping[str, ArrayLike], *, max_apcer: float = 0.05) -> float:
    """Return the least rate of rejected bona fide presentations at a limit of the APCER of every attack.

    Parameters
    ----------
    bona : (n,) array_like
        Scores of bona fide presentations; larger scores favour bona fide.
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
    spoofs = _sorted_attacks(attacks).values()
    at = np.append(np.unique(positive).astype(np.float64), np.inf)
    worst = np.max([accepted(scores, at) for scores in spoofs], axis=0)
    worst[-1] = 0.0
    return float(np.append(rejected(positive, at[:-1]), 1.0)[int(np.argmax(worst <= max_apcer))])


def acer(bona: ArrayLike, attacks: Mapping[str, ArrayLike], *, threshold: float) -> float:
    """Return the average classification error rate: the mean of the largest APCER and the BPCER.

    Parameters
    ----------
    bona : (n,) array_like
        Scores of bona fide presentations; larger scores favour bona fide.
    attacks, threshold
        See `apcer`.

    Returns
    -------
    float
        A fraction. It is common in papers, but ISO/IEC 30107-3 reports both rates.

    Raises
    ------
    InputError
        If there are no scores of a kind, or the threshold is NaN.

    Examples
    --------
    >>> acer([1.0, 2.0, 3.0, 4.0], {"replay": [0.0, 1.5], "synthesis": [2.5, 3.0, 0.0, 0.5]}, threshold=2.0)
    0.375
    """
    worst = max(apcer(attacks, threshold=threshold).values())
    return 0.5 * (worst + float(rejected(sorted_scores(bona, "bona"), np.array([threshold]))[0]))
