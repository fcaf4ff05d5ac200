"""How sure a figure is, by the speakers or other units that trials share: one pass over the trials, no replicates."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logit

from deciban.core.ranks.operating import effective_log_odds
from deciban.core.resampling.cells import cells_of
from deciban.core.resampling.intervals import LEVEL, Estimate, Interval, checked_level
from deciban.core.resampling.linearised import LinearCosts
from deciban.core.resampling.scales import Scale
from deciban.core.resampling.unit_counts import UnitCounts, in_blocks
from deciban.core.resampling.units import TrialUnits, together
from deciban.errors import InputError
from deciban.metrics.costs import act_dcf, min_dcf
from deciban.metrics.ranks import auc, eer, uer
from deciban.metrics.rules import (
    cllr,
    cross_entropy,
    min_cllr,
    min_cross_entropy,
    min_scoring_rule_cost,
    scoring_rule_cost,
)
from deciban.metrics.scores import SortedScores
from deciban.types import FloatArray, Units, Weights


@dataclass(frozen=True, slots=True)
class _Figure:
    """A metric, and its costs of cells at what its other arguments say."""

    metric: Callable[..., Any]
    costs: Callable[..., FloatArray]
    scale: Scale = "log"
    limits: tuple[float, float] = (0.0, math.inf)


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


_FIGURES: Mapping[str, _Figure] = {
    "eer": _Figure(eer, lambda of: of.crossing(1.0), "logit", (0.0, 0.5)),
    "uer": _Figure(uer, lambda of, ratio: of.crossing(ratio), "logit", (0.0, 1.0)),
    "auc": _Figure(auc, lambda of: of.auc(), "logit", (0.0, 1.0)),
    "act_dcf": _Figure(act_dcf, _act_dcf),
    "min_dcf": _Figure(min_dcf, _min_dcf, "logit", (0.0, 1.0)),
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
    return _linearised(figure, tar, non, (tar_units, non_units), (tar_weights, non_weights), at)[1]


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

    Its bounds are ``t`` quantiles of ``n - 1`` degrees of freedom for n units, on the scale of log odds for shares and
    of logarithms for costs. Minima are not corrected for optimism here: `deciban.evaluate` does.

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
        As `influences`, or if the level is not inside (0, 1).

    Examples
    --------
    >>> tar, non = [1.0, 2.0, -1.0, 3.0], [-2.0, 1.0, -1.0, -3.0]
    >>> found = interval("uer", tar, non, tar_units=[1, 2, 3, 4], non_units=[1, 2, 3, 4], ratio=2.0)
    >>> round(found.estimate, 4), round(found.standard_error, 4), found.n_units
    (0.3333, 0.1434, 4)
    """
    level = checked_level(level)
    value, found = _linearised(figure, tar, non, (tar_units, non_units), (tar_weights, non_weights), at)
    n_units, known = len(found), _FIGURES[figure]
    error = math.sqrt(n_units / (n_units - 1) * float(found @ found))
    return Estimate(value, error, n_units, known.scale, limits=known.limits).interval(level)


def _linearised(
    figure: str,
    tar: ArrayLike,
    non: ArrayLike,
    units: tuple[Units, Units],
    weights: tuple[Weights, Weights],
    at: Mapping[str, float],
) -> tuple[float, FloatArray]:
    """The figure, and the influences of its units."""
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
    costs = known.costs(LinearCosts(ranks.tar, ranks.non, ranks.pav, ranks.rocch, cells), **at)
    found = np.zeros(of_units[0].n_units)
    for k, (scores, own, weight) in enumerate(zip((tar, non), of_units, weights, strict=True)):
        found += _of_class(np.asarray(scores, np.float64), own, weight, cells, costs[k], ("tar_units", "non_units")[k])
    if len(found) < 2:
        raise InputError("tar_units, non_units: all trials are of one unit. An interval needs at least two.")
    return value, found


def _of_class(
    scores: FloatArray, units: TrialUnits, weights: Weights, cells: Any, costs: FloatArray, name: str
) -> FloatArray:
    if units.n_trials != len(scores):
        raise InputError(f"{name}: units of {units.n_trials} trials for {len(scores)} scores. Give one for each trial.")
    own = None if weights is None else np.asarray(weights)
    counts = UnitCounts.of(scores, units, cells, np.zeros(units.n_units, np.int64), own)
    return np.concatenate([counts.influence(costs[:, None], part)[:, 0] for _, (part,) in in_blocks([counts], 1)])


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
