"""Bootstrap of figures: the same units drawn again and again, and intervals from what comes out."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from deciban.core.resampling.intervals import LEVEL, Estimate, Interval, checked_level
from deciban.errors import InputError
from deciban.evaluation.uncertainty import Figure, looked_up
from deciban.types import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from deciban.evaluation.unit_trials import Resampling

BootstrapKind = Literal["percentile", "basic"]


_ENOUGH = 10
"""Replicates that should lie beyond each bound."""


_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class Bootstrap:
    """Figures of replicates in which every unit counts a Poisson number of times.

    Attributes
    ----------
    seed : int
        That replicates were drawn from.
    n_replicates : int
        That were drawn.
    left_out : int
        Replicates without a trial of some class, which have no figures.
    values : mapping of figure to (n_replicates - left_out,) array
        Empty if fewer than two replicates are left: they have no spread, and intervals stay linearised.
    numbers : (n_replicates - left_out,) int array
        Which replicates these are.
    estimates : mapping of figure to Estimate
        The figures themselves, with their linearised standard errors.
    level : float
        Of intervals.
    found_anew : frozenset of figures
        Minima over thresholds and maps, and what is left beside them, that were looked for in each replicate.
    """

    seed: int
    n_replicates: int
    left_out: int
    values: Mapping[Figure, FloatArray]
    numbers: IntArray
    estimates: Mapping[Figure, Estimate]
    level: float = LEVEL
    found_anew: frozenset[Figure] = frozenset()

    @classmethod
    def of(
        cls,
        replicates: Mapping[Figure, tuple[FloatArray, float]],
        has_figures: BoolArray,
        estimates: Mapping[Figure, Estimate],
        resampling: Resampling,
        found_anew: Iterable[Figure] = (),
    ) -> Bootstrap:
        """From replicates of figures as they can be resampled.

        Parameters
        ----------
        replicates : mapping of figure to ((n_replicates,) array, float)
            And the same at weights of 1. What this rounds is its difference to the figure itself, and is added to all
            replicates.
        has_figures : (n_replicates,) array
            In which replicates figures exist.
        estimates : mapping of figure to Estimate
        resampling : Resampling
            What was asked for.
        found_anew : iterable of figures
        """
        numbers = np.flatnonzero(has_figures)
        values = dict[Figure, FloatArray]()
        known = {name: one for name, one in replicates.items() if name in estimates}
        for name, (drawn, whole) in known.items() if len(numbers) > 1 else ():
            exact = estimates[name].value
            shift = exact - whole
            values[name] = drawn[numbers] + (shift if abs(shift) > _ROUNDING * abs(exact) else 0.0)
        n, level = resampling.bootstrap, resampling.level
        left_out = n - len(numbers)
        return cls(resampling.seed, n, left_out, values, numbers, estimates, level, frozenset(found_anew))

    def has(self, figure: Figure) -> bool:
        """Whether there are replicates of a figure."""
        return figure in self.values or (figure, 0) in self.values

    def interval(self, figure: Figure, *, kind: BootstrapKind | None = None, level: float | None = None) -> Interval:
        """Return the interval of a figure from its replicates.

        Parameters
        ----------
        figure : str, or (str, place)
            As for `deciban.evaluation.Uncertainty.interval`.
        kind : {"percentile", "basic"}, optional
            Between quantiles of the replicates (Efron 1979), or these mirrored at the estimate, ``2 estimate - q``: as
            far below it as replicates lie above. Left out, minima have basic intervals, as they are lower still in
            replicates than they are here, and all else has percentile intervals. No bound leaves the range of the
            figure, and the interval contains the figure. Error rates of which no unit shows an error add the distance
            of their Wilson limits, in squares. Where all replicates are alike, as without any error, the interval
            without replicates stands.
        level : float, optional
            That of this object when left out.

        Raises
        ------
        InputError
            If there is no such figure or kind, or the level is not inside (0, 1).

        Examples
        --------
        >>> import numpy as np
        >>> from deciban.evaluation import evaluate
        >>> rng, speakers = np.random.default_rng(1), np.arange(400) % 100
        >>> found = evaluate(rng.normal(2, 2, 400), rng.normal(-2, 2, 400), tar_units=speakers, non_units=speakers,
        ...     bootstrap=200, seed=1)
        >>> replicates = found.uncertainty.bootstrap
        >>> interval = replicates.interval("eer", kind="basic")
        >>> interval.low < found.eer < interval.high, interval.method
        (True, 'bootstrap, basic')
        """
        values, estimate = looked_up(self.values, figure), looked_up(self.estimates, figure)
        if kind is None:
            kind = "basic" if {figure, (figure, 0)} & self.found_anew else "percentile"
        level = self.level if level is None else checked_level(level)
        if kind not in get_args(BootstrapKind):
            raise InputError(f"kind: got {kind!r}. It is 'percentile' or 'basic'.")
        if float(np.ptp(values)) <= _ROUNDING * abs(estimate.value):
            return estimate.interval(level)
        bounds = np.quantile(values, [(1.0 - level) / 2.0, (1.0 + level) / 2.0])
        if kind == "basic":
            bounds = 2.0 * estimate.value - bounds[::-1]
        if estimate.rates is not None:  # errors that no unit shows are in no replicate
            below, above = estimate.rates.unseen(level)
            ends = min(bounds[0], estimate.value), max(bounds[1], estimate.value)
            bounds = estimate.value + np.array([-math.hypot(estimate.value - ends[0], below), 0.0])
            bounds[1] += math.hypot(ends[1] - estimate.value, above)
        low, high = np.clip(bounds, *estimate.limits).tolist()
        low, high = min(low, estimate.value), max(high, estimate.value)
        error, method = float(np.std(values, ddof=1)), f"bootstrap, {kind}"
        return Interval(estimate.value, low, high, error, estimate.corrected, level, estimate.n_units, method)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of the intervals must know."""
        left, wanted = self.n_replicates - self.left_out, int(np.ceil(2 * _ENOUGH / (1.0 - self.level) - 1e-9))
        out = (
            f"{self.left_out:,} of {self.n_replicates:,} replicates of the bootstrap have no trial of some class and "
            "are left out"
        )
        if not self.values:
            return (f"{out}: intervals are linearised.",)
        found = [f"{out}."] if self.left_out else []
        if left < wanted:
            rule = f"with fewer than {wanted:,} bounds at level {self.level:g} are rough"
            found.append(f"Bootstrap of {left:,} replicates: {rule}.")
        return tuple(found)
