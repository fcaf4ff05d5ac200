"""Points of curves, errors over grids of priors and at any threshold, and reliability of posteriors and scores."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import expit, logit, ndtr

from deciban._validate.arrays import like_probabilities, probabilities_note
from deciban._validate.classes import like_ratios, ratios_note
from deciban.core.expected import cross_entropy_curve
from deciban.core.ranks.counts import SortedClass, corners
from deciban.core.ranks.roc import FEW_ERRORS, Pav, detection_cost, effective_log_odds, pool
from deciban.core.resampling.intervals import LEVEL, ROUNDING, checked_level
from deciban.core.resampling.linearised import ScoreBins, in_bins
from deciban.errors import InputError, Note
from deciban.evaluation.two_class.summary import Summary
from deciban.metrics import SortedScores
from deciban.metrics.scores import ScoredTrials
from deciban.types import AnyArray, ByValue, CountArray, FloatArray, FloatPair, IntArray

if TYPE_CHECKING:
    from deciban.evaluation.uncertainty import Uncertainty

_BINS = 40
_EVEN = 0.5
"""Default prior of a target."""

EDGES = np.linspace(0.0, 1.0, _BINS + 1)
"""Edges of the bins of posteriors, which are used for the histogram only."""

_PLACES = np.linspace(-12.0, 12.0, 401)
_MIDDLES = np.concatenate(([_PLACES[0]], (_PLACES[1:] + _PLACES[:-1]) / 2, [_PLACES[-1]]))
"""Cells of posterior log odds: borders, and the middles at which the band is drawn."""

N_REPLICATES, SEED = 400, 0
"""Number of replicates of the band, and their seed."""

PLACES = logit(EDGES[1:-1])
"""Inner edges as posterior log odds."""


@dataclass(frozen=True, slots=True, eq=False)
class Reliability(ByValue):
    """Posterior probabilities of an event, and its observed frequency.

    Attributes
    ----------
    prior : tuple of float
        Prior of a target; multiclass: prior of each class.
    low, high : (n_blocks,) arrays
        Lowest and highest posterior in each PAV block, ascending.
    observed : (n_blocks,) array
        Relative frequency of the event in the block, at the prior: strictly ascending.
    bins : (b + 1,) array
        Edges of bins of posteriors.
    happened, failed : (b,) arrays
        Share of trials in each bin with and without the event, at the prior; together they add up to 1.
    n_tar, n_trials : int
        Two classes: number of targets and of all trials. 0 for weighted trials and for multiclass.
    n_in_bins : (n_bins,) int array or None
        Trials in bins of posterior log odds, at the proportion of targets among the trials; None for weighted trials.
    """

    prior: tuple[float, ...]
    low: FloatArray
    high: FloatArray
    observed: FloatArray
    bins: FloatArray
    happened: FloatArray
    failed: FloatArray
    n_tar: int = 0
    n_trials: int = 0
    n_in_bins: IntArray | None = None

    def consistency(
        self, level: float = LEVEL, *, design_effect: FloatArray | None = None, noun: str = "trial"
    ) -> Consistency | None:
        """Return the bounds of the curve under correct posteriors; see `Consistency`.

        Parameters
        ----------
        level : float
            Level at each posterior.
        design_effect : (n_blocks,) array, optional
            Number of trials of each block that carry as much information as one independent trial; at least 1. By
            default, trials count as independent. `deciban.evaluation.bands.consistency_of` computes it.
        noun : str
            Name of the units of the design effect.

        Returns
        -------
        Consistency or None
            None for weighted trials and for multiclass.

        Raises
        ------
        InputError
            If the level is not inside (0, 1).
        """
        level = checked_level(level)
        if self.n_in_bins is None or not 0 < self.n_tar < self.n_trials:
            return None
        used = np.flatnonzero(self.n_in_bins)
        n, own = self.n_in_bins[used], float(logit(self.n_tar / self.n_trials))
        tau, rng = float(logit(self.prior[0])), np.random.default_rng(SEED)
        posterior = expit(_MIDDLES[used] - own + tau)
        drawn = n
        if design_effect is not None:
            block = np.clip(np.searchsorted(self.low, posterior, side="right") - 1, 0, len(self.low) - 1)
            own_n = n / design_effect[block]
            drawn = (np.floor(own_n) + (rng.random((N_REPLICATES, len(n))) < own_n - np.floor(own_n))).astype(np.int64)
        tar = rng.binomial(drawn, expit(_MIDDLES[used]), (N_REPLICATES, len(n)))
        each = 1 if design_effect is None else n / np.maximum(drawn, 1)
        curves = _refitted(tar * each, (drawn - tar) * each, tau - own)
        ends = np.quantile(curves, ((1.0 - level) / 2.0, (1.0 + level) / 2.0), axis=0)
        return Consistency(posterior, ends[0], ends[1], level, noun)


@dataclass(frozen=True, slots=True, eq=False)
class Consistency(ByValue):
    """Pointwise range of a reliability curve by chance if posteriors are correct.

    The labels of all trials are drawn 400 times from seed 0. A trial becomes a target with the posterior of its llr, at
    the share of targets among the trials. PAV of each draw gives a curve, which is moved from this share to the prior.
    Posteriors are resolved to 0.06 nats of log odds. If trials share units, fewer trials are drawn, according to the
    design effect, and each counts several times. Without units, trials count as independent, and the band is too narrow
    if speakers have many trials. Source: Dimitriadis, Gneiting and Jordan, Stable reliability diagrams for
    probabilistic classifiers, PNAS 118, 2021 (consistency bands by resampling).

    Attributes
    ----------
    posterior : (n,) array
        Ascending.
    low, high : (n,) arrays
    level : float
    noun : str
        Name of the units of the band: ``"trial"`` if trials count as independent.
    """

    posterior: FloatArray
    low: FloatArray
    high: FloatArray
    level: float
    noun: str = "trial"


def _refitted(tar: AnyArray, non: AnyArray, shift: float) -> FloatArray:
    """Fit PAV to each row of counts, and return the share of targets in every bin, moved by log odds."""
    n_rows, n_bins = tar.shape
    is_first = np.zeros(tar.shape, np.bool_)
    is_first[:, 0] = True
    starts = pool(tar.ravel(), non.ravel(), is_first.ravel())
    n_tar, n_non = (np.add.reduceat(one.ravel(), starts) for one in (tar, non))
    with np.errstate(divide="ignore", invalid="ignore"):
        log_odds = np.log(n_tar) - np.log(n_non)
    sizes = np.diff(np.append(starts, tar.size))
    return np.repeat(expit(log_odds + shift), sizes).reshape(n_rows, n_bins)


def reliability_of(summary: Summary) -> Reliability:
    """Return the reliability of the posterior of a target, at the first requested prior, or at even odds."""
    prior = (*summary.metrics.posteriors_at, _EVEN)[0]
    tau, pav = float(logit(prior)), summary.ranks.pav
    with np.errstate(over="ignore"):
        low, high = expit(pav.low + tau), expit(pav.high + tau)
    shares = [_in_bins(one, tau) / one.total for one in (summary.ranks.tar, summary.ranks.non)]
    shown = prior * shares[0], (1.0 - prior) * shares[1]
    return Reliability((prior,), low, high, expit(pav.llr + tau), EDGES, *shown, **_bins(summary))


def _bins(summary: Summary) -> dict[str, Any]:
    """Return the numbers of trials for `Reliability`: targets, all, and in each bin; empty for weighted trials."""
    tar, non = summary.ranks.tar, summary.ranks.non
    if summary.is_weighted:
        return {}
    places = _PLACES - np.log(tar.total / non.total)
    below = tar.below(places) + non.below(places)
    n_trials = int(tar.total + non.total)
    in_bins = np.diff(np.concatenate(([0], below, [n_trials]))).astype(np.int64)
    return {"n_tar": int(tar.total), "n_trials": n_trials, "n_in_bins": in_bins}


@dataclass(frozen=True, slots=True, eq=False)
class PooledOdds:
    """Posterior log odds of the recognized classes of all trials, with class weights, in PAV blocks and in bins.

    Attributes
    ----------
    n_right, n_wrong : (n_blocks,) arrays
        Weight of correctly and wrongly recognized trials.
    low, high : (n_blocks,) arrays
        Lowest and highest posterior log odds.
    happened, failed : (b,) arrays
        The same weights in each bin of posteriors.
    """

    n_right: FloatArray
    n_wrong: FloatArray
    low: FloatArray
    high: FloatArray
    happened: FloatArray
    failed: FloatArray

    @classmethod
    def of(cls, scores: SortedScores) -> PooledOdds:
        """Create blocks from posterior log odds, with correctly recognized trials as targets."""
        table = scores.table
        starts = pool(table.n_tar, table.n_non)
        n_right, n_wrong = (np.add.reduceat(counts, starts) for counts in (table.n_tar, table.n_non))
        return cls(n_right, n_wrong, *table.edges(starts), _in_bins(scores.tar), _in_bins(scores.non))


def reliability_of_classes(odds: PooledOdds, prior: FloatArray) -> Reliability:
    """Return the reliability of the posterior of the recognized class, on all trials."""
    observed, total = odds.n_right / (odds.n_right + odds.n_wrong), odds.happened.sum() + odds.failed.sum()
    shares = odds.happened / total, odds.failed / total
    return Reliability(tuple(prior.tolist()), expit(odds.low), expit(odds.high), observed, EDGES, *shares)


def _in_bins(trials: SortedClass, shift: float = 0.0) -> FloatArray:
    """Return the number (or weight) of trials in each bin of posteriors; the last bin includes 1."""
    inner = trials.below(PLACES - shift)
    return np.diff(np.concatenate(([0], inner, [trials.total]))).astype(np.float64)


FARTHEST = 4.0
"""Largest factor by which the best calibration multiplies or divides log-likelihood ratios."""

_TOLD = 0.5
"""Least share of the available information that log-likelihood ratios deliver."""

_CHANCE = 20.0
"""Twice the logarithm of a likelihood ratio, exceeded by chance in one of 20,000 data sets (two parameters)."""

_MENDED = 0.75
"""Least share of the available information that the best scale and offset deliver."""

_RIDGE = 1e-3
"""Penalty on the scale, so that a best scale exists for separated classes."""

_SHOWN = 4096
"""Scores that represent a class, at equal distances in sorted order."""


def remark_on_llrs(summary: Summary) -> str:
    """Return a note on two-class scores that are not log-likelihood ratios; empty if they can be.

    Parameters
    ----------
    summary : Summary
        Summary of scores that do not favour non-targets beyond chance.
    """
    if ratios := _remark_on_ratios(summary):
        return ratios
    if summary.n_infinite or summary.finite_range is None:
        return ""
    if in_range := remark_on_range(summary):
        return in_range
    lowest, highest = summary.finite_range
    n_least, least = min(summary.n_tar, summary.n_non), summary.recalibrated.cllr()
    if not far_off(summary.cllr, least, 1.0, n_least, 2):
        return ""  # no scale and offset can be better than the best increasing map
    fit = affine_of(ScoredTrials(_thinned(summary.ranks.tar), _thinned(summary.ranks.non)), _RIDGE)
    is_better = fit is not None and 1.0 - fit.cllr >= _MENDED * (1.0 - least)
    if fit is None or not is_better or not far_off(summary.cllr, fit.cllr, 1.0, n_least, 2):
        return ""
    why = beyond(fit.scale)
    if not why and (lowest >= 0.0 or highest <= 0.0):
        why = "none is negative" if lowest >= 0.0 else "none is positive"
    return no_log_likelihoods("log-likelihood ratios", why) if why else ""


def _remark_on_ratios(summary: Summary) -> str:
    """Return the note on scores that look like likelihood ratios, with most non-targets below 1; empty if not."""
    tar, non = summary.ranks.tar, summary.ranks.non
    if summary.metrics.axis == "log10" or summary.finite_range is None:
        return ""
    if any(len(one.scores) and one.scores[0] < 0.0 for one in (tar, non)):
        return ""
    positive = np.array([np.nextafter(0.0, 1.0)])
    firsts = [one.scores[int(one.positions(positive)[0]) :][:1] for one in (tar, non)]
    low = min((float(first[0]) for first in firsts if len(first)), default=math.inf)
    high, share = summary.finite_range[1], float(non.below(np.ones(1))[0]) / non.total
    is_like = share > 0.5 and like_ratios(low, high, summary.n_tar + summary.n_non, share, 0.5)
    return Note(ratios_note(low, high), "ratios") if is_like else ""


def remark_on_range(summary: Summary) -> str:
    """Return the note on two-class scores that are all in [0, 1]; empty if they are not."""
    if summary.n_infinite or summary.finite_range is None:
        return ""
    are_alike = like_probabilities(*summary.finite_range, summary.n_tar + summary.n_non)
    return probabilities_note() if are_alike else ""


def beyond(scale: float) -> str:
    """Return the reason why a best scale is not plausible for log-likelihoods; empty if it is.

    >>> beyond(10.0), beyond(0.4)
    ('scale far too small', '')
    """
    size = "small" if scale > FARTHEST else "large" if scale < 1 / FARTHEST else ""
    return f"scale far too {size}" if size else ""


def no_log_likelihoods(what: str, why: str) -> str:
    """Return the note on scores that are not log-likelihoods or their ratios."""
    words = f"The scores are not {what} ({why}), so actual costs and Cllr are meaningless"
    return Note(words, "no-llrs", ": calibrate them (deciban calibrate).")


def far_off(cllr: float, mended: float, silent: float, n_least: float, n_classes: int) -> bool:
    """Return True if scores deliver less than half of the available information, beyond chance.

    Parameters
    ----------
    cllr, mended, silent : float
        In bits: Cllr of the scores, Cllr after calibration, and Cllr of scores without information.
    n_least : int or float
        Trials of the rarest class.
    n_classes : int

    Examples
    --------
    >>> far_off(0.9, 0.2, 1.0, 100, 2), far_off(0.3, 0.2, 1.0, 100, 2), far_off(0.99, 0.97, 1.0, 30, 2)
    (True, False, False)
    """
    if n_least < FEW_ERRORS or not silent - cllr < _TOLD * (silent - mended):
        return False
    return 2.0 * n_classes * n_least * (cllr - mended) * math.log(2) > _CHANCE


@dataclass(frozen=True, slots=True)
class AffineCalibration:
    """Scale and offset that minimize Cllr of ``scale * llr + offset`` on the same trials, at even odds.

    Attributes
    ----------
    scale : float
        Below 1 if scores are overconfident, above 1 if they are underconfident.
    offset : float
        In nats; above 0 if scores favour non-targets.
    cllr : float
        Cllr after scale and offset, in bits: between Cllr and the minimum over all increasing maps.
    """

    scale: float
    offset: float
    cllr: float


def affine_of(trials: ScoredTrials, ridge: float = 0.0) -> AffineCalibration | None:
    """Return the best scale and offset of scores, or None if no finite ones are best.

    There are none if the classes are separated, all scores are equal, or some are infinite.

    Parameters
    ----------
    trials : ScoredTrials
    ridge : float
        Penalty of the scale.

    Returns
    -------
    AffineCalibration or None

    Examples
    --------
    >>> from deciban.metrics.scores import ScoredTrials
    >>> overconfident = ScoredTrials.of([9.0, 4.0, -3.0, 12.0], [-6.0, 4.5, -12.0], None, None)
    >>> affine_of(overconfident).scale < 1.0
    True
    """
    from deciban.core.training.linear_training import train  # loads slowly, and most evaluations do not need it

    scores = np.concatenate([trials.tar[0], trials.non[0]]).astype(np.float64)
    weights = np.concatenate([np.ones(len(s)) if w is None else w for s, w in (trials.tar, trials.non)])
    if not np.isfinite(scores).all():
        return None
    is_target = np.arange(len(scores)) < len(trials.tar[0])
    rule: dict[str, Any] = {"alpha": 1.0, "beta": 1.0, "log_odds": 0.0, "ridge": ridge}
    try:
        fit = train([scores], is_target, weights=weights.astype(np.float64), **rule)
    except InputError:
        return None
    if fit.infimum is not None:
        return None
    return AffineCalibration(float(fit.weights[0]), fit.offset, fit.objective / math.log(2))


def _thinned(one: SortedClass) -> FloatPair:
    if one.weights is not None and len(one.scores) <= _SHOWN:
        return one.scores.astype(np.float64), one.weights.astype(np.float64)
    n = min(len(one.scores), _SHOWN)
    lines = (np.arange(n) + 0.5) * one.total / n
    rows = lines.astype(np.int64)
    if one.cumulated is not None:  # positions of these trials among weighted entries
        rows = np.searchsorted(one.cumulated, lines, side="right") - 1
    return one.scores[rows].astype(np.float64), np.ones(n)


_HALF_WIDTH = 7.0
"""Prior log odds on both sides of 0 that plots show: priors from 0.0009 to 0.9991."""
_GRID = 561
_ENTROPY_GRID = 101
_WIDEST = 25.0
"""Largest log odds of an axis. Costs of operating points further out are in the tables only."""
_LEVELS = 1001
_MANY = 8192
_BINS_PER_NAT = 64
_LINEAR_BEYOND = 40.0
"""Log odds beyond which ln(1 + e^x) is x or 0 to the last digit, so that no bins are needed."""


@dataclass(frozen=True, slots=True, eq=False)
class Curves(ByValue):
    """The points of plots, thinned to a spacing below the size of a pixel.

    Attributes
    ----------
    roc_p_fa, roc_p_miss : (n,) arrays
        Corners of the steppy ROC from accept-all to reject-all.
    hull_p_fa, hull_p_miss : (n,) arrays
        Vertices of the convex hull.
    prior_log_odds : (m,) array
        Grid in nats for the next two.
    act_error, min_error : (m,) arrays
        Bayes error rate, normalized by that of llr 0.
    entropy_log_odds : (e,) array
        Grid in nats for the next two.
    act_cross_entropy, min_cross_entropy : (e,) arrays
        In bits. With more than 8192 trials the actual one is computed from bins of 1/64 nat, which changes it by
        less than 2e-5 bits.
    pav : Pav
        Blocks of scores and their log-likelihood ratios.
    bins : (b + 1,) array
        Edges of score bins of equal width, without infinite scores.
    tar_density, non_density : (b,) arrays
        Share of the class in each bin, divided by the width of the bin.
    levels : (k,) array
        Score levels for the next two.
    tar_above, non_above : (k,) arrays
        Share of the class at or above each level (Tippett).
    reliability : Reliability
        Posteriors and their recalibration by PAV.
    """

    roc_p_fa: FloatArray
    roc_p_miss: FloatArray
    hull_p_fa: FloatArray
    hull_p_miss: FloatArray
    prior_log_odds: FloatArray
    act_error: FloatArray
    min_error: FloatArray
    entropy_log_odds: FloatArray
    act_cross_entropy: FloatArray
    min_cross_entropy: FloatArray
    pav: Pav
    bins: FloatArray
    tar_density: FloatArray
    non_density: FloatArray
    levels: FloatArray
    tar_above: FloatArray
    non_above: FloatArray
    reliability: Reliability


def draw_curves(summary: Summary, trials: ScoredTrials) -> Curves:
    """Return the points of every plot; the prior axis includes all operating points that are not extreme.

    Parameters
    ----------
    summary : Summary
    trials : ScoredTrials
        Trials of the summary, from `binned_trials`.
    """
    costs = AtPriors.of(summary, prior_axis(summary.metrics.thresholds))
    entropy_log_odds = np.linspace(costs.log_odds[0], costs.log_odds[-1], _ENTROPY_GRID)
    # The corners next to each of 4096 lines on both probit axes; other corners differ by less than a pixel
    n_fa, n_miss = corners(summary.ranks.table.n_tar, summary.ranks.table.n_non)
    crossed = corners_to_draw(n_fa, n_miss)
    kept = np.unique(np.clip(np.concatenate((crossed - 1, crossed, [0, len(n_fa) - 1])), 0, len(n_fa) - 1))
    roc_p_fa, roc_p_miss = n_fa[kept] / n_fa[0], n_miss[kept] / n_miss[-1]
    bins, tar_density, non_density = _histogram(summary)
    levels = np.linspace(*_score_range(summary), _LEVELS)
    above = summary.errors(levels)
    return Curves(
        roc_p_fa=roc_p_fa,
        roc_p_miss=roc_p_miss,
        hull_p_fa=summary.ranks.rocch.p_fa,
        hull_p_miss=summary.ranks.rocch.p_miss,
        prior_log_odds=costs.log_odds,
        act_error=costs.act_dcf,
        min_error=costs.min_dcf,
        entropy_log_odds=entropy_log_odds,
        act_cross_entropy=_bits(trials, entropy_log_odds),
        min_cross_entropy=_bits(summary.recalibrated, entropy_log_odds),
        pav=summary.ranks.pav,
        bins=bins,
        tar_density=tar_density,
        non_density=non_density,
        levels=levels,
        tar_above=1.0 - above.p_miss,
        non_above=above.p_fa,
        reliability=reliability_of(summary),
    )


def prior_axis(thresholds: Sequence[float], n_places: int = _GRID) -> FloatArray:
    """Return prior log odds for a plot, symmetric around 0, that include all Bayes thresholds that are not extreme."""
    half_width = min(max([_HALF_WIDTH, *(math.ceil(abs(threshold)) + 1.0 for threshold in thresholds)]), _WIDEST)
    return np.linspace(-half_width, half_width, n_places)


def _bits(trials: ScoredTrials, log_odds: FloatArray) -> FloatArray:
    with np.errstate(over="ignore"):  # costs near the largest float
        return cross_entropy_curve(trials.tar, trials.non, log_odds) / math.log(2)


def drawn_lines() -> FloatArray:
    """Return rates, ascending, next to which the corners of the ROC are drawn."""
    return ndtr(np.linspace(-6.0, 6.0, 4097))


def corners_to_draw(n_fa: CountArray, n_miss: CountArray) -> IntArray:
    """Return the first corner of the ROC beyond each line of both axes; the corner before it is drawn, too.

    Parameters
    ----------
    n_fa, n_miss : (n_corners,) arrays
        From accept-all to reject-all.
    """
    lines = drawn_lines()
    return np.concatenate(
        (np.searchsorted(n_miss, lines * n_miss[-1]), len(n_fa) - np.searchsorted(n_fa[::-1], lines * n_fa[0]))
    )


def _score_range(summary: Summary) -> tuple[float, float]:
    """Return the lowest and highest finite score, halved if their difference would overflow; (0, 0) without scores."""
    low, high = summary.finite_range or (0.0, 0.0)
    return (low, high) if math.isfinite(high - low) else (low / 2, high / 2)


def _histogram(summary: Summary) -> tuple[FloatArray, FloatArray, FloatArray]:
    low, high = _score_range(summary)
    if high - low <= max(1e-9 * max(abs(low), abs(high)), 1e-300):
        margin = 0.5 * max(1.0, abs(high))
        low, high = low - margin, high + margin
    classes = (summary.ranks.tar, summary.ranks.non)
    n_bins = np.clip(4 * min(one.total for one in classes) ** (1 / 3), 20, 100)
    bins = np.linspace(low, high, int(n_bins) + 1)
    edges = np.append(bins[:-1], np.nextafter(high, np.inf))
    tar, non = (np.diff(c.below(edges)) / c.total / (bins[1] - bins[0]) for c in classes)
    return bins, tar, non


def binned_trials(summary: Summary) -> ScoredTrials:
    """Return few weighted trials instead of many: each narrow bin of scores becomes its mean.

    The second derivative of the logarithmic cost is at most 1/4 per nat squared, so a bin of width h changes a mean by
    less than h^2 / 32 nats. Beyond ``_LINEAR_BEYOND`` the cost is linear or 0, so bins may be wide.
    """
    if summary.n_tar + summary.n_non <= _MANY:
        return summary.ranks.trials
    reach = float(prior_axis(summary.metrics.thresholds)[-1]) + _LINEAR_BEYOND
    edges = np.linspace(-reach, reach, 2 * round(reach * _BINS_PER_NAT) + 1)
    return ScoredTrials(_class_in_bins(summary.ranks.tar, edges), _class_in_bins(summary.ranks.non, edges))


def _class_in_bins(trials: SortedClass, edges: FloatArray) -> tuple[FloatArray, CountArray]:
    """Return mean scores and trials of the filled bins; infinite scores have their own bins."""
    largest = np.finfo(np.float64).max
    counts, means = in_bins(trials, ScoreBins(np.concatenate(([-largest], edges, [np.inf]))))
    return means[counts > 0], counts[counts > 0]


_FARTHEST, _APART = 10.0, 0.05
"""Reach of the grid on both sides of log odds 0, and its step, in nats."""

_DIGITS = 4
"""Digits of the priors of the grid, so that they are short to type."""

_COMMON = ((0.01, 10.0, 1.0), (0.95, 1.0, 10.0))
"""Operating points of known evaluations with unequal costs. The round priors of other protocols are in the grid."""


@dataclass(frozen=True, slots=True, eq=False)
class AtPriors(ByValue):
    """Bayes decisions of one system at every prior of a grid, with unit costs.

    For other costs, look up the prior with the same effective log odds: ``logit p_target + log(c_miss/c_fa)``.
    The Bayes threshold is minus these log odds.

    Attributes
    ----------
    log_odds : (n_places,) array
        Effective prior log odds in nats, ascending: priors of four digits in steps of about 0.05 nats from -10 to 10,
        round priors, and every operating point of the evaluation.
    n_miss, n_fa : (n_places,) arrays
        Errors at the Bayes threshold: whole numbers, or sums of weights.
    p_miss, p_fa : (n_places,) arrays
        The same as fractions of the trials of each class.
    act_dcf, min_dcf : (n_places,) arrays
        Costs of these errors and minimum costs, normalized by the default cost. The minimum is NaN if one pass over
        data larger than memory does not determine it.
    """

    log_odds: FloatArray
    n_miss: CountArray
    n_fa: CountArray
    p_miss: FloatArray
    p_fa: FloatArray
    act_dcf: FloatArray
    min_dcf: FloatArray

    @classmethod
    def of(cls, summary: Summary, log_odds: FloatArray) -> AtPriors:
        """Count errors at priors."""
        errors = summary.errors(-log_odds)
        act = detection_cost(errors.p_miss, errors.p_fa, log_odds, 1.0, 1.0, normalize=True)
        least = np.asarray(summary.ranks.rocch.min_dcf(prior_log_odds=log_odds))
        return cls(log_odds, errors.n_miss, errors.n_fa, errors.p_miss, errors.p_fa, act, least)

    def nearest(self, log_odds: float) -> int:
        """Return the position of the place that is nearest to effective prior log odds.

        Examples
        --------
        >>> from deciban import evaluate
        >>> at = evaluate([1.0, 2.0, 2.0], [0.0, 1.0, -1.0]).at_priors
        >>> place = at.nearest(0.02)
        >>> float(at.log_odds[place]), int(at.n_miss[place]), int(at.n_fa[place])
        (0.0, 0, 2)
        """
        return int(np.argmin(np.abs(self.log_odds - log_odds)))


@cache
def _grid() -> tuple[float, ...]:
    """Return the log odds of the grid: priors with few digits, and round priors."""
    steps = expit(np.arange(-round(_FARTHEST / _APART), 1) * _APART)
    small = {float(f"{p:.{_DIGITS - 1}e}") for p in steps}
    small |= {float(f"{digit}e{-power}") for power in range(1, 5) for digit in (1, 2, 5)}
    below = [float(logit(p)) for p in small]
    common = [float(effective_log_odds(logit(p), miss, false_alarm)) for p, miss, false_alarm in _COMMON]
    return tuple(sorted({*below, *(-x for x in below), *common, *(-x for x in common)}))


def priors_of(thresholds: list[float]) -> FloatArray:
    """Return the grid with the log odds of additional Bayes thresholds.

    Examples
    --------
    >>> grid = priors_of([12.5])
    >>> float(grid[0]), len(grid) > 400, bool((np.diff(grid) <= 0.051).all())
    (-12.5, True, False)
    """
    return np.unique(np.concatenate((_grid(), [-one for one in thresholds])))


def rate_bounds(uncertainty: Uncertainty, name: str, rates: FloatArray, variances: FloatArray) -> FloatPair:
    """Return Wilson limits of error rates of a class; see `deciban.core.resampling.intervals.ClassSize`.

    Parameters
    ----------
    uncertainty : Uncertainty
        Uncertainty with an interval for this rate.
    name : {"p_miss", "p_fa"}
    rates, variances : (n,) arrays

    Examples
    --------
    >>> from deciban import evaluate
    >>> units = {"tar_units": ["ann", "bob", "cid", "dan", "eve"], "non_units": ["fay", "gus", "hal", "ivy", "jim"]}
    >>> known = evaluate([1.0, 2.0, 2.0, -0.5, 3.0], [0.0, 1.0, -1.0, -2.0, -1.0], **units).uncertainty
    >>> low, high = rate_bounds(known, "p_miss", np.array([0.0, 0.5]), np.array([0.0, 0.1]))
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([0.0, 0.044], [0.607, 0.956])
    """
    size = uncertainty.size_of(name)
    return (
        (np.zeros_like(rates), np.ones_like(rates))
        if size is None
        else size.limits(rates, variances, uncertainty.level)
    )


def spread_of_rates(rates: FloatArray, errors: FloatArray) -> FloatArray:
    """Return standard errors divided by ``sqrt(p (1 - p))``; rates of 0 or 1 get the value of the nearest other rate.

    Examples
    --------
    >>> spread_of_rates(np.array([0.0, 0.5, 0.5]), np.array([0.0, 0.1, 0.05])).tolist()
    [0.2, 0.2, 0.1]
    """
    base = np.sqrt(np.clip(rates * (1.0 - rates), 0.0, None))
    moved = (rates > ROUNDING) & (rates < 1.0 - ROUNDING)
    if not moved.any():
        return np.zeros(len(rates))
    places = np.arange(len(rates))
    return np.interp(places, places[moved], errors[moved] / base[moved])


REACH = 30.0
"""Largest threshold in nats on both sides of 0: priors down to 1e-13."""

_MOST = 1 << 16
"""Scores that are kept at most."""

_REACH_OF_GRID, _STEP = 16.0, 2.0**-8


@dataclass(frozen=True, slots=True, eq=False)
class ErrorSteps(ByValue):
    """Misses and false alarms as functions of the threshold.

    Attributes
    ----------
    thresholds : (n,) array
        Ascending, in nats: all distinct scores, or a grid.
    n_miss, n_fa : (n + 1,) arrays
        Errors at every threshold, and at one above the last.
    is_exact : bool
        True if thresholds are scores: then a threshold between two neighbours has the errors of the upper one.
        Otherwise its errors are between the errors of both.
    """

    thresholds: FloatArray
    n_miss: CountArray
    n_fa: CountArray
    is_exact: bool

    @property
    def reach(self) -> float:
        """Largest threshold with known errors, on both sides of 0."""
        return REACH if self.is_exact else _REACH_OF_GRID

    def thinned(self, every: int) -> ErrorSteps:
        """Return the errors at every ``every``-th threshold.

        Examples
        --------
        >>> steps = ErrorSteps(np.array([-1.0, 0.0, 1.0]), np.arange(4), np.arange(3, -1, -1), is_exact=True)
        >>> thin = steps.thinned(2)
        >>> thin.thresholds.tolist(), thin.n_fa.tolist(), thin.is_exact
        ([-1.0, 1.0], [3, 1, 0], False)
        """
        kept = np.arange(0, len(self.thresholds), every)
        ends = np.append(kept, len(self.thresholds))
        return ErrorSteps(self.thresholds[kept], self.n_miss[ends], self.n_fa[ends], is_exact=False)


def grid_of_thresholds() -> FloatArray:
    """Return thresholds for counting errors of many trials; the last one ends the grid.

    Examples
    --------
    >>> grid = grid_of_thresholds()
    >>> len(grid), float(grid[0]), float(grid[-1])
    (8193, -16.0, 16.0)
    """
    n = round(_REACH_OF_GRID / _STEP)
    return np.asarray(_STEP * np.arange(-n, n + 1))


def error_steps(summary: Summary) -> ErrorSteps:
    """Return the errors at all thresholds.

    Parameters
    ----------
    summary : Summary

    Examples
    --------
    >>> from deciban.evaluation.two_class.summary import summarize
    >>> steps = error_steps(summarize([1.0, 2.0, 2.0], [0.0, 1.0, -1.0]))
    >>> steps.thresholds.tolist(), steps.n_miss.tolist(), steps.n_fa.tolist()
    ([-1.0, 0.0, 1.0, 2.0], [0, 0, 0, 1, 3], [3, 2, 1, 0, 0])
    """
    classes = summary.ranks.tar, summary.ranks.non
    ends = np.array([-REACH, REACH])
    inside = [one.scores[slice(*one.positions(ends).tolist())] for one in classes]
    if sum(map(len, inside)) <= _MOST:
        thresholds, is_exact = np.union1d(*inside).astype(np.float64), True
        last = np.append(thresholds, REACH)
    else:
        last = grid_of_thresholds()
        thresholds, is_exact = last[:-1], False
    errors = summary.errors(last)
    return ErrorSteps(thresholds, errors.n_miss, errors.n_fa, is_exact)
