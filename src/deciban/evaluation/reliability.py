"""Reliability of posteriors, and detection of scores that are not log-likelihoods or their ratios.

The curve is by Dimitriadis, Gneiting and Jordan ("Stable reliability diagrams for probabilistic classifiers", PNAS 118,
2021): monotone, piecewise constant, with as many steps as the trials support. With two classes it shows the posterior
of a target, in multiclass evaluations the posterior of the recognized class.

Bad calibration alone does not mean that scores are no log-likelihoods, nor do a few wrong scores of high confidence.
A note appears only if all of the following holds. The best scale is above 4 or below 1/4, or all scores have one sign.
With the best scale and offset, the scores deliver most of the information of the best increasing map. Without them,
they deliver less than half of it. Chance is excluded by a likelihood ratio on at least 30 trials of each class.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit, logit

from deciban._validate.classes import LIKE_PROBABILITIES, LIKE_RATIOS, like_probabilities, like_ratios
from deciban.core.by_value import ByValue
from deciban.core.ranks.counts import SortedClass
from deciban.core.ranks.hull import FEW_ERRORS, pool
from deciban.core.resampling.intervals import LEVEL, checked_level
from deciban.errors import InputError, Note
from deciban.evaluation.summary import Summary
from deciban.metrics import SortedScores
from deciban.types import AnyArray, FloatArray, FloatPair, IntArray

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
    n_in_cells : (n_cells,) int array or None
        Trials in cells of posterior log odds, at the proportion of targets among the trials; None for weighted trials.
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
    n_in_cells: IntArray | None = None

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
        if self.n_in_cells is None or not 0 < self.n_tar < self.n_trials:
            return None
        used = np.flatnonzero(self.n_in_cells)
        n, own = self.n_in_cells[used], float(logit(self.n_tar / self.n_trials))
        tau, rng = float(logit(self.prior[0])), np.random.default_rng(SEED)
        posterior = expit(_MIDDLES[used] - own + tau)
        drawn: Any = n
        if design_effect is not None:
            block = np.clip(np.searchsorted(self.low, posterior, side="right") - 1, 0, len(self.low) - 1)
            drawn = _rounded(n / design_effect[block], rng)
        tar = rng.binomial(drawn, expit(_MIDDLES[used]), (N_REPLICATES, len(n)))
        each: Any = 1 if design_effect is None else n / np.maximum(drawn, 1)
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


def _rounded(n: FloatArray, rng: np.random.Generator) -> IntArray:
    """Round numbers up or down at random in every replicate, so that their means stay the same."""
    down = np.floor(n)
    found: IntArray = (down + (rng.random((N_REPLICATES, len(n))) < n - down)).astype(np.int64)
    return found


def _refitted(tar: AnyArray, non: AnyArray, shift: float) -> FloatArray:
    """Fit PAV to each row of counts, and return the share of targets in every cell, moved by log odds."""
    n_rows, n_cells = tar.shape
    is_first = np.zeros(tar.shape, np.bool_)
    is_first[:, 0] = True
    starts = pool(tar.ravel(), non.ravel(), is_first.ravel())
    n_tar, n_non = (np.add.reduceat(one.ravel(), starts) for one in (tar, non))
    with np.errstate(divide="ignore", invalid="ignore"):
        log_odds = np.log(n_tar) - np.log(n_non)
    sizes = np.diff(np.append(starts, tar.size))
    found: FloatArray = np.repeat(expit(log_odds + shift), sizes).reshape(n_rows, n_cells)
    return found


def reliability_of(summary: Summary) -> Reliability:
    """Return the reliability of the posterior of a target, at the first requested prior, or at even odds."""
    prior = (*summary.figures.posteriors_at, _EVEN)[0]
    tau, pav = float(logit(prior)), summary.pav
    with np.errstate(over="ignore"):
        low, high = expit(pav.low + tau), expit(pav.high + tau)
    shares = [_in_bins(one, tau) / one.total for one in (summary.ranks.tar, summary.ranks.non)]
    shown = prior * shares[0], (1.0 - prior) * shares[1]
    return Reliability((prior,), low, high, expit(pav.llr + tau), EDGES, *shown, **_cells(summary))


def _cells(summary: Summary) -> dict[str, Any]:
    """Return the numbers of trials for `Reliability`: targets, all, and in each cell; empty for weighted trials."""
    tar, non = summary.ranks.tar, summary.ranks.non
    if summary.is_weighted:
        return {}
    places = _PLACES - np.log(tar.total / non.total)
    below = tar.below(places) + non.below(places)
    n_trials = int(tar.total + non.total)
    in_cells = np.diff(np.concatenate(([0], below, [n_trials]))).astype(np.int64)
    return {"n_tar": int(tar.total), "n_trials": n_trials, "n_in_cells": in_cells}


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


def reliability_of_classes(found: PooledOdds, prior: FloatArray) -> Reliability:
    """Return the reliability of the posterior of the recognized class, on all trials."""
    observed, total = found.n_right / (found.n_right + found.n_wrong), found.happened.sum() + found.failed.sum()
    shares = found.happened / total, found.failed / total
    return Reliability(tuple(prior.tolist()), expit(found.low), expit(found.high), observed, EDGES, *shares)


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
        Summary of scores that favour targets.
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
    scale, mended = _best_scale(summary.ranks.tar, summary.ranks.non)
    if 1.0 - mended < _MENDED * (1.0 - least) or not far_off(summary.cllr, mended, 1.0, n_least, 2):
        return ""
    why = beyond(scale)
    if not why and (lowest >= 0.0 or highest <= 0.0):
        why = "none is negative" if lowest >= 0.0 else "none is positive"
    return no_log_likelihoods("log-likelihood ratios", why) if why else ""


def _remark_on_ratios(summary: Summary) -> str:
    """Return the note on scores that look like likelihood ratios, with most non-targets below 1; empty if not."""
    tar, non = summary.ranks.tar, summary.ranks.non
    if summary.figures.axis == "log10" or summary.finite_range is None:
        return ""
    if any(len(one.scores) and one.scores[0] < 0.0 for one in (tar, non)):
        return ""
    positive = np.array([np.nextafter(0.0, 1.0)])
    firsts = [one.scores[int(one.positions(positive)[0]) :][:1] for one in (tar, non)]
    low = min((float(first[0]) for first in firsts if len(first)), default=math.inf)
    high, share = summary.finite_range[1], float(non.below(np.ones(1))[0]) / non.total
    is_like = share > 0.5 and like_ratios(low, high, summary.n_tar + summary.n_non, share, 0.5)
    return Note(LIKE_RATIOS.format(low=low, high=high), "ratios") if is_like else ""


def remark_on_range(summary: Summary) -> str:
    """Return the note on two-class scores that are all in [0, 1]; empty if they are not."""
    if summary.n_infinite or summary.finite_range is None:
        return ""
    are_alike = like_probabilities(*summary.finite_range, summary.n_tar + summary.n_non)
    return Note(LIKE_PROBABILITIES, "no-llrs") if are_alike else ""


def beyond(scale: float) -> str:
    """Return the reason why a best scale is not plausible for log-likelihoods; empty if it is.

    >>> beyond(10.0), beyond(0.4)
    ('calibration would multiply them by more than 4', '')
    """
    times = "multiply" if scale > FARTHEST else "divide" if scale < 1 / FARTHEST else ""
    return f"calibration would {times} them by more than {FARTHEST:g}" if times else ""


def no_log_likelihoods(what: str, why: str) -> str:
    """Return the note on scores that are not log-likelihoods or their ratios."""
    words = (
        f"The scores are not {what} ({why}): calibrate them before you use actual costs and Cllr (deciban calibrate)."
    )
    return Note(words, "no-llrs")


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


def _best_scale(tar: SortedClass, non: SortedClass) -> tuple[float, float]:
    """Return the best scale with an offset, and Cllr after both; (1, inf) if there is none."""
    from deciban.core.training.linear_training import train  # loads slowly, and most evaluations do not need it

    (of_tar, w_tar), (of_non, w_non) = _thinned(tar), _thinned(non)
    is_target = np.arange(len(of_tar) + len(of_non)) < len(of_tar)
    rule: dict[str, Any] = {"alpha": 1.0, "beta": 1.0, "log_odds": 0.0, "ridge": _RIDGE}
    try:
        found = train([np.append(of_tar, of_non)], is_target, weights=np.append(w_tar, w_non), **rule)
    except InputError:
        return 1.0, math.inf
    return float(found.weights[0]), found.objective / math.log(2)


def _thinned(one: SortedClass) -> FloatPair:
    if one.weights is not None and len(one.scores) <= _SHOWN:
        return one.scores.astype(np.float64), one.weights.astype(np.float64)
    n = min(len(one.scores), _SHOWN)
    lines = (np.arange(n) + 0.5) * one.total / n
    rows = lines.astype(np.int64)
    if one.cumulated is not None:  # positions of these trials among weighted entries
        rows = np.searchsorted(one.cumulated, lines, side="right") - 1
    return one.scores[rows].astype(np.float64), np.ones(n)
