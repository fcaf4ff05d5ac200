"""The descent to an optimum, over samples and then all trials, and what it found."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from deciban.core.training.batches import TrialsInParts
from deciban.core.training.linear_objective import LinearObjective, Trials
from deciban.core.training.moments import SAMPLE, binned, clipped, informative, quartiles, sample
from deciban.core.training.trust_region import PRECISE, ROUNDING, Minimum, minimize
from deciban.types import FloatArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """What training found; by default without a search, at a point that is known to be the optimum.

    Attributes
    ----------
    weights : (n_columns,) array
        Factor of each column of scores, or of each system's log-likelihoods.
    standardized : (n_columns,) array
        The weights of columns divided by their standard deviation in all trials.
    objective : float
        Expected cost at the optimum, without the penalty.
    objective_at_zero : float
        The same for a system without information.
    gradient_norm : float
        Length of the gradient at the end, by standardized parameters, over all trials.
    n_steps, n_passes : int
        Accepted steps, those on samples included, and passes over all trials in full precision.
    converged : bool
    flat : int
        Number of directions in which the objective does not change: systems that say the same.
    infimum : float, optional
        What steeper and steeper maps come down to, if that is known to be less than the objective. There is no best
        map then, and what was found is a local optimum.
    """

    weights: FloatArray
    standardized: FloatArray
    objective: float
    objective_at_zero: float
    gradient_norm: float = 0.0
    n_steps: int = 0
    n_passes: int = 1
    converged: bool = True
    flat: int = 0
    infimum: float | None = None

    @property
    def status(self) -> str:
        """What became of the search, in words."""
        if self.infimum is not None:
            return (
                f"a local optimum, of {self.objective:.6g}: steeper and steeper maps come down to {self.infimum:.6g}, "
                "so that the best scale is infinite. The rule has alpha or beta above 1, and gives some errors up for "
                "the sake of the other trials; take one with both at most 1, or more trials"
            )
        if not self.converged:
            return (
                f"not converged after {self.n_passes} passes: the gradient is {self.gradient_norm:.1e} long. Likely "
                "causes are scores that hardly overlap, systems that are nearly the same, or extreme outliers; a "
                "penalty (ridge) helps against all of them"
            )
        words = f"converged in {self.n_steps} steps, gradient {self.gradient_norm:.1e}"
        if self.flat:
            which = "one weight is" if self.flat == 1 else f"{self.flat} weights are"
            words += (
                f"; {which} not determined, because systems say the same or always the same: of all that fit equally "
                "well, these are the smallest"
            )
        return words


INFORMATIVE = 12
"""One of so many trials is in the second sample, if memory allows: those that pull most at the first optimum."""

_SAMPLE_BYTES = 2.0
"""Memory of both samples together, per trial of all."""

LARGE = 1 << 16
"""Trials from which on it pays to come close with float32 before the passes that count."""

ROUGH = (1e-3, 1e-5)
"""How precise, relative to its value, the optima of the first and the second sample must be."""

_CLOSE = 3e-6
"""The same for all trials in float32: the next step leaves less than a thousandth of what is missing."""

_BINNED = 1e-8
"""The same for bins."""

_LAST = 1e-9
"""The same for the rows of a large matrix in the end: what the last step leaves is a thousandth of a thousandth."""

_SAME = 1e-6
"""Values that differ by less than this, relative to that of llr 0, belong to the same minimum."""

_NEAR = 4.0
"""Widths of the bulk of scores beyond which they are outliers to a rule that does not punish them without limit."""

_UNCERTAIN = 1e-4
"""Curvature, relative to the largest, below which float32 does not tell much of it."""


SearchOptions = Callable[[Any, float], dict[str, Any]]
"""How to minimize a function to a precision; see `search_options`."""

Starts = Callable[[Any, FloatArray], list[FloatArray]]
"""Where to start on the first level, for functions with several minima."""


def descend(objective: LinearObjective, few: Trials) -> Minimum:
    """Minimize on samples first, then on all trials."""
    given: Any = objective.trials
    if isinstance(given, TrialsInParts):
        return _descend_in_parts(objective, few)
    trials, n = objective.trials, len(objective.trials)
    rough = replace(objective, dtype=np.float32 if _fits_float32(objective) else np.float64)
    way = Way(np.zeros(objective.n_parameters), starts=_starts)
    if few is not trials:
        way.follow(replace(rough, trials=few), ROUGH[0])
    if n < LARGE:
        return way.settle(objective, PRECISE, way.follow(objective, PRECISE))
    if len(trials.columns) == 1 and trials.base is None and trials.weights is None:
        bins, glance = binned(objective, few), None
        if bins is not None:
            glance = replace(objective, trials=bins, center=np.zeros(1), width=np.ones(1))
            way.follow(glance, _BINNED)
        return way.settle(objective, PRECISE, way.follow(objective, PRECISE), glance)
    row = 4 * len(trials.columns)
    size = max(2 * SAMPLE, min(n // INFORMATIVE, int((n * _SAMPLE_BYTES - len(few) * row) / (row + 9))))
    precise = PRECISE if trials.matrix is None else _LAST
    return way.settle(objective, precise, way.through_all(objective, rough, few, size, precise), rough)


def _descend_in_parts(objective: LinearObjective, few: Trials) -> Minimum:
    """Minimize on the sample of trials in parts, as if there were no others, and then on all: a pass for every step."""
    near = descend(replace(objective, trials=few), sample(few, SAMPLE))
    way = Way(near.best)
    found = way.follow(objective, PRECISE)
    return replace(found, n_steps=found.n_steps + near.n_steps)


def search_options(level: Any, precise: float) -> dict[str, Any]:
    """Arguments of `minimize`: as precise as the type of a level allows, to the minimum or a proof that there is none.

    Second derivatives are used again where they cost more than next to nothing.
    """
    return {
        "reuse": level.trials.size >= LARGE and precise not in ROUGH,
        "precise": precise,
        "rounding": ROUNDING if level.dtype is np.float64 else 1e-6,
        "stop": level.has_no_minimum,
        "limit": level.value_at_zero + _SAME,
        "radius": max(4.0, math.sqrt(level.n_parameters)),
    }


def _fits_float32(objective: LinearObjective) -> bool:
    """Whether costs stay within float32; weights of trials may be of any size."""
    weights = np.abs(objective.trials.class_weights)
    moderate = np.all((weights > 1e-30) & (weights < 1e30)) and abs(objective.log_odds) < 80.0
    return objective.trials.weights is None and bool(moderate)


def _is_well_known(near: Minimum) -> bool:
    """Whether second derivatives of float32 tell all directions from flat ones."""
    eigenvalues = np.linalg.eigvalsh(near.at.hessian)
    return bool(eigenvalues[0] > _UNCERTAIN * eigenvalues[-1])


class Way:
    """How far a search has come through levels: samples, rough looks at all trials, and all trials.

    Attributes
    ----------
    point : (n_parameters,) array
        The last optimum.
    last : (n_parameters,) array
        Where the last search ended, if only by finding that its sample is separated.
    rivals : list of (n_parameters,) arrays
        Where the first search began, if there was a choice.
    """

    def __init__(
        self, start: FloatArray, options: SearchOptions = search_options, starts: Starts | None = None
    ) -> None:
        self.point = self.last = start
        self._search_options, self._starts = options, starts
        self.rivals: list[FloatArray] = []
        self._is_fresh = True
        self._n_steps = 0

    def follow(self, level: Any, precise: float, after: Minimum | None = None) -> Minimum:
        """Minimize one more function, from the last optimum on, which is where the minimum ``after`` led."""
        starts = self._starts(level, self.point) if self._is_fresh and self._starts else [self.point]
        self.rivals = self.rivals or (starts if len(starts) > 1 else [])
        known = after if after is not None and after.converged and _is_well_known(after) else None
        options = self._search_options(level, precise)
        results = [minimize(level, start, after=known, **options) for start in starts]
        found = min(results, key=lambda result: result.at.value)
        self._n_steps += found.n_steps
        self.last = found.point
        if found.converged:
            self.point = self.last = found.polished
            self._is_fresh = False
        return replace(found, n_steps=self._n_steps)

    def through_all(self, objective: Any, rough: Any, few: Any, size: int, precise: float) -> Minimum:
        """Minimize on a second sample, of ``size`` trials that matter, then on all in float32, then in full precision.

        ``few`` is the first sample. Second derivatives of the second one are good enough for all trials. There is no
        sample where all trials are too few for one.
        """
        some = None if few is rough.trials else informative(rough, self.last, few, size)
        near = None
        if some is not None:
            near = self.follow(replace(rough, trials=some), ROUGH[1])
            near = replace(near, decrement=np.inf)  # of another function
            del some  # its memory is wanted for the next level
        near = self.follow(rough, _CLOSE, after=near)
        return self.follow(objective, precise, after=near)

    def settle(self, level: Any, precise: float, found: Minimum, glance: Any = None) -> Minimum:
        """Search all trials again from where the first sample did not lead, if that is better for them.

        What a sample of a rule that is not convex takes for its best minimum need not be that of all trials. A
        ``glance`` tells it for less.
        """
        for rival in self.rivals[:2]:
            there = (glance or level)(rival, found.at.hessian)
            if math.isfinite(there.value) and there.value < found.at.value * (1.0 - _SAME):
                other = minimize(level, rival, **self._search_options(level, precise))
                found = min(found, other, key=lambda result: result.at.value)
        return replace(found, n_steps=self._n_steps)


def _starts(level: LinearObjective, point: FloatArray) -> list[FloatArray]:
    """Where to start: for other rules at the optimum of the logarithmic one, and twice and half as steep as that."""
    if level.alpha == level.beta == 1.0:
        return [point]
    log_rule = replace(level, alpha=1.0, beta=1.0, constant=0.0)
    found = minimize(log_rule, point, **search_options(log_rule, ROUGH[0]))
    if log_rule.is_apart(found.at) or level.is_convex:
        return [found.point]
    near = replace(log_rule, trials=clipped(level.trials, *quartiles(level.trials), at=_NEAR))
    # A few outliers spoil the logarithmic rule, but not these.
    of_bulk = minimize(near, point, **search_options(near, ROUGH[0]))
    shift = np.append(np.zeros(len(level.center)), np.full(int(level.intercept), level.log_odds))
    return [found.point, of_bulk.point, *((found.point + shift) * factor - shift for factor in (2.0, 0.5))]
