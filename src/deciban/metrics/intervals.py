"""How sure a figure is, by the speakers or other units that trials share: one pass over the trials, no replicates."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logit

from deciban.core.ranks.operating import effective_log_odds
from deciban.core.resampling.clusters import ClassRate, ClassVariances, ClusterDesign
from deciban.core.resampling.intervals import FEWEST_CLUSTERS, LEVEL, Interval, Scale, checked_level
from deciban.core.resampling.linearised import (
    Cells,
    LinearCosts,
    cells_of,
    crossing_slopes,
    crossing_weights,
    dcf_weights,
)
from deciban.core.resampling.unit_counts import UnitCounts, in_blocks
from deciban.core.resampling.units import TrialUnits, together
from deciban.errors import InputError
from deciban.metrics.costs import act_dcf, min_dcf
from deciban.metrics.rules import (
    cllr,
    cross_entropy,
    min_cllr,
    min_cross_entropy,
    min_scoring_rule_cost,
    scoring_rule_cost,
)
from deciban.metrics.scores import SortedScores, auc, eer, uer
from deciban.types import FloatArray, Units, Weights


@dataclass(frozen=True, slots=True)
class _Figure:
    """A metric, and its costs of cells at what its other arguments say."""

    metric: Callable[..., Any]
    costs: Callable[..., FloatArray]
    scale: Scale = "log"
    limits: tuple[float, float] = (0.0, math.inf)
    weights: Callable[..., tuple[float, float]] | None = None
    """What a miss rate and a false-alarm rate of 1 add to the metric, if it is a sum of both."""
    rates: Callable[..., FloatArray] | None = None
    """The costs of cells that are this sum, if ``costs`` are not."""


def _odds(p_target: float, c_miss: float = 1.0, c_fa: float = 1.0) -> float:
    return float(effective_log_odds(logit(np.float64(p_target)), c_miss, c_fa))


def _entropy(of: LinearCosts, p_target: float, *, best: bool) -> FloatArray:
    return of.log_cost(_odds(p_target), best=best)


def _rule(of: LinearCosts, alpha: float, beta: float, p_target: float, *, best: bool) -> FloatArray:
    return of.beta_cost(alpha, beta, _odds(p_target), best=best)


def _act_dcf(of: LinearCosts, p_target: float, c_miss: float = 1.0, c_fa: float = 1.0) -> FloatArray:
    log_odds = _odds(p_target, c_miss, c_fa)
    return of.dcf(log_odds, -log_odds)


def _min_dcf(of: LinearCosts, p_target: float, c_miss: float = 1.0, c_fa: float = 1.0) -> FloatArray:
    return np.asarray(of.best.dcf(_odds(p_target, c_miss, c_fa))[:, 0])


def _dcf_weights(_: Any, p_target: float, c_miss: float = 1.0, c_fa: float = 1.0) -> tuple[float, float]:
    return dcf_weights(_odds(p_target, c_miss, c_fa))


def _crossing(of: LinearCosts, ratio: float = 1.0) -> FloatArray:
    return np.asarray(of.best.crossing(ratio)[:, 0])


def _crossing_weights(trials: _Trials, ratio: float = 1.0) -> tuple[float, float]:
    return crossing_weights(trials.costs.rocch, ratio, trials.n_seen)


def _along_chord(trials: _Trials, ratio: float = 1.0) -> FloatArray:
    _, *slopes = crossing_slopes(trials.costs.rocch, ratio, trials.n_seen)
    return np.asarray(trials.costs.best.crossing(ratio, (slopes[0], slopes[1]))[:, 0])


_FIGURES: Mapping[str, _Figure] = {
    "eer": _Figure(eer, _crossing, "logit", (0.0, 0.5), _crossing_weights, _along_chord),
    "uer": _Figure(uer, _crossing, "logit", (0.0, 1.0), _crossing_weights, _along_chord),
    "auc": _Figure(auc, lambda of: of.auc(), "logit", (0.0, 1.0)),
    "act_dcf": _Figure(act_dcf, _act_dcf, weights=_dcf_weights),
    "min_dcf": _Figure(min_dcf, _min_dcf, "logit", (0.0, 1.0), _dcf_weights),
    "cllr": _Figure(cllr, lambda of: of.log_cost(0.0) / math.log(2)),
    "min_cllr": _Figure(min_cllr, lambda of: of.log_cost(0.0, best=True) / math.log(2), limits=(0.0, 1.0)),
    "cross_entropy": _Figure(cross_entropy, lambda of, p_target: _entropy(of, p_target, best=False)),
    "min_cross_entropy": _Figure(min_cross_entropy, lambda of, p_target: _entropy(of, p_target, best=True)),
    "scoring_rule_cost": _Figure(scoring_rule_cost, lambda of, **at: _rule(of, **at, best=False)),
    "min_scoring_rule_cost": _Figure(min_scoring_rule_cost, lambda of, **at: _rule(of, **at, best=True)),
}


def influences(
    figure: str,
    tar: ArrayLike,
    non: ArrayLike,
    *,
    tar_units: Units,
    non_units: Units,
    tar_weights: Weights = None,
    non_weights: Weights = None,
    **at: float,
) -> FloatArray:
    """Derivative of a figure in the weight of every unit: what each speaker does to it.

    A trial of units i and j counts ``u_i u_j``, and class means are those of weighted trials. At ``u = 1`` the
    derivative of a mean cost m in ``u_k`` is ``sum (x - m) / n``, over the trials of unit k; of a minimum it is that
    of the costs at the best threshold or map, held fixed (the envelope theorem). The figure has the variance
    ``n/(n-1) sum_k d_k^2``, n units (infinitesimal jackknife: Efron 1982, The Jackknife, the Bootstrap and Other
    Resampling Plans, chapter 6). Subtract those of two systems on the same trials for the difference of both.

    Parameters
    ----------
    figure : str
        ``"eer"``, ``"uer"``, ``"auc"``, ``"act_dcf"``, ``"min_dcf"``, ``"cllr"``, ``"min_cllr"``, ``"cross_entropy"``,
        ``"min_cross_entropy"``, ``"scoring_rule_cost"``, ``"min_scoring_rule_cost"``: the metric of this name.
    tar, non : (n_tar,) and (n_non,) array_like
        Scores; log-likelihood ratios in nats where the metric takes them as such.
    tar_units, non_units : (n,) or (n, 2) array_like
        Speakers or other units of each trial, by name or whole number: one, or one for each side.
    tar_weights, non_weights : array_like, optional
        Weight of each trial.
    **at : float
        What the metric needs beside: ``ratio``, ``p_target``, ``c_miss``, ``c_fa``, ``alpha``, ``beta``.

    Returns
    -------
    (n_units,) array
        In ascending order of names; in the unit of the figure.

    Raises
    ------
    InputError
        If there is no such figure, it is infinite, arguments of its own are missing or too many, units do not fit, or
        there are fewer than two.

    Examples
    --------
    >>> tar, non = [1.0, 2.0, -1.0], [-2.0, 1.0, -1.0]
    >>> found = influences("act_dcf", tar, non, tar_units=[1, 2, 3], non_units=[1, 2, 3], p_target=0.5)
    >>> found.round(4).tolist()
    [-0.2222, 0.1111, 0.1111]
    """
    of_tar, of_non = _Trials.of(figure, tar, non, (tar_units, non_units), (tar_weights, non_weights), at).influences()
    return of_tar + of_non


def interval(
    figure: str,
    tar: ArrayLike,
    non: ArrayLike,
    *,
    tar_units: Units,
    non_units: Units,
    tar_weights: Weights = None,
    non_weights: Weights = None,
    level: float = LEVEL,
    **at: float,
) -> Interval:
    """Interval of a figure by the units that trials share; see `influences` for the arguments.

    Error rates and their sums have Wilson limits at their effective numbers of trials. Other metrics have ``t``
    quantiles on the scale of log odds (areas) or logarithms (costs), with the jackknife variance. Degrees of freedom
    are the effective number of units minus 1. Minima are not corrected for optimism here: `deciban.evaluate` does.

    Parameters
    ----------
    figure : str
    tar, non : array_like
    tar_units, non_units : array_like
    tar_weights, non_weights : array_like, optional
    level : float
        Share of draws in which the interval should hold the true value.
    **at : float

    Returns
    -------
    Interval

    Raises
    ------
    InputError
        As `influences`, if there are fewer than five effective units of a class, or if the level is not inside (0, 1).

    Examples
    --------
    >>> tar, non = [1.0, 2.0, -1.0, 3.0, 0.5], [-2.0, 1.0, -1.0, -3.0, -0.5]
    >>> found = interval("act_dcf", tar, non, tar_units=range(5), non_units=range(5), p_target=0.5)
    >>> round(found.estimate, 4), round(found.low, 4), round(found.high, 4)
    (0.4, 0.1766, 1.1072)
    """
    level, known = checked_level(level), _known(figure, at)
    trials = _Trials.of(figure, tar, non, (tar_units, non_units), (tar_weights, non_weights), at)
    for name, size in zip(("tar_units", "non_units"), trials.design.sizes, strict=True):
        if not size.is_enough:
            raise InputError(
                f"{name}: {size.n_clusters:.3g} effective units. An interval needs at least {FEWEST_CLUSTERS:g} of "
                "each class."
            )
    if known.rates is not None:
        trials = replace(trials, of_cells=known.rates(trials, **at))
    each = zip(trials.influences(), trials.counts, trials.design.stretch.tolist(), strict=True)
    of_tar, of_non = (one * (own.small_sample * stretch) for one, own, stretch in each)
    variances = ClassVariances([figure], trials.design)
    variances.add(slice(None), of_tar[:, None], of_non[:, None], (of_tar + of_non)[:, None])
    rates = [] if known.weights is None else trials.rates(known.weights(trials, **at))
    of_scale: Any = {"scale": known.scale, "limits": known.limits}
    is_mean = not figure.startswith("min_")
    return variances.estimate(figure, trials.value, rates, is_mean=is_mean, **of_scale).interval(level)


@dataclass(frozen=True, slots=True, eq=False)
class _Trials:
    """A metric of two classes, its costs of cells, and the trials of both by unit and cell."""

    value: float
    costs: LinearCosts
    of_cells: FloatArray
    counts: tuple[UnitCounts, UnitCounts]

    @classmethod
    def of(
        cls,
        figure: str,
        tar: ArrayLike,
        non: ArrayLike,
        units: tuple[Units, Units],
        weights: tuple[Weights, Weights],
        at: Mapping[str, float],
    ) -> _Trials:
        known = _known(figure, at)
        of_weights: Any = {"tar_weights": weights[0], "non_weights": weights[1]}
        value = float(known.metric(tar, non, **of_weights, **at))
        if not math.isfinite(value):
            raise InputError(f"figure: {figure} is {value}; no weight of a unit changes that.")
        ranks = SortedScores(tar, non, **of_weights)
        of_units = together([(units[0], "tar_units"), (units[1], "non_units")])
        of_point = {name: at[name] for name in ("p_target", "c_miss", "c_fa") if name in at}
        wanted = [-_odds(**of_point)] if "p_target" in at else []
        cells = cells_of(ranks.table, ranks.pav, np.array(wanted, np.float64), of_units[0].n_units)
        costs = LinearCosts(ranks.tar, ranks.non, ranks.pav, ranks.rocch, cells)
        counts = [
            _counts_of(np.asarray(scores, np.float64), own, weight, cells, name)
            for scores, own, weight, name in zip((tar, non), of_units, weights, ("tar_units", "non_units"), strict=True)
        ]
        if of_units[0].n_units < 2:
            raise InputError("tar_units, non_units: all trials are of one unit. An interval needs at least two.")
        return cls(value, costs, known.costs(costs, **at), (counts[0], counts[1]))

    @property
    def design(self) -> ClusterDesign:
        tar, non = self.counts
        n_tar, n_non = (own.total / one for own, one in zip(self.counts, self.costs.one_trial, strict=True))
        return ClusterDesign.of_units((tar.totals, non.totals), (n_tar, n_non))

    @property
    def n_seen(self) -> tuple[int, int]:
        """Effective units of each class."""
        n_tar, n_non = self.design.effective.tolist()
        return n_tar, n_non

    def rates(self, weights: tuple[float, float]) -> list[ClassRate]:
        """Return the error rates that add up to the metric with these weights."""
        means = [float(own.mean(one)) for own, one in zip(self.counts, self.of_cells, strict=True)]
        pairs = enumerate(zip(weights, means, strict=True))
        return [ClassRate(kind, weight, min(mean / weight, 1.0) if weight else 0.0) for kind, (weight, mean) in pairs]

    def influences(self) -> tuple[FloatArray, FloatArray]:
        """Return those through targets, and through non-targets."""
        tar, non = (
            np.concatenate([own.influence(one[:, None], part)[:, 0] for _, (part,) in in_blocks([own], 1)])
            for own, one in zip(self.counts, self.of_cells, strict=True)
        )
        return tar, non


def _counts_of(scores: FloatArray, units: TrialUnits, weights: Weights, cells: Cells, name: str) -> UnitCounts:
    if units.n_trials != len(scores):
        raise InputError(f"{name}: units of {units.n_trials} trials for {len(scores)} scores. Give one for each trial.")
    own = None if weights is None else np.asarray(weights)
    return UnitCounts.of(scores, units, cells, np.zeros(units.n_units, np.int64), own)


def _known(figure: str, at: Mapping[str, float]) -> _Figure:
    found = _FIGURES.get(figure)
    if found is None:
        raise InputError(f"figure: got {figure!r}. There are {', '.join(_FIGURES)}.")
    given = inspect.signature(found.metric).parameters
    own = [name for name in ("ratio", "p_target", "alpha", "beta", "c_miss", "c_fa") if name in given]
    missing = [name for name in own if name not in at and name not in ("c_miss", "c_fa")]
    unknown = [name for name in at if name not in own]
    if missing or unknown:
        said = f"lacks {', '.join(missing)}" if missing else f"takes no {', '.join(unknown)}"
        raise InputError(f"figure: {figure} {said}. Its own arguments are {', '.join(own) or 'none'}.")
    return found
