"""Figures of many classes with what each trial costs, and the sums of squares that their intervals are made of."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from deciban.core.resampling.class_design import ClusterDesign, Groups, Spread
from deciban.core.resampling.class_sums import ClassMeans
from deciban.core.resampling.intervals import Estimate, NothingSeen
from deciban.core.resampling.scales import Scale
from deciban.evaluation.uncertainty import Figure
from deciban.types import FloatArray

if TYPE_CHECKING:
    from deciban.evaluation.multiclass.influences import ClassReplicates

NO_COSTS = np.zeros(0)
"""Of figures whose squares were found elsewhere."""

_AT_ONCE = 1 << 18
"""Costs of trials that are handled at once: many trials take one figure after the other."""


@dataclass(frozen=True, slots=True, eq=False)
class ClassFigure:
    """A figure that is a sum of class means.

    Attributes
    ----------
    name : Figure
    value : float
    costs : (n_trials,) array
        What each trial adds to the mean of its class.
    groups : Groups
        Of classes, on which the figure depends.
    scale : {"log", "logit", "identity", "complement"}
    nothing_seen : NothingSeen or None
        What is known if no unit moves the figure.
    limits : (float, float)
        What the figure cannot leave.
    shift : float or None
        What to add for new units, if it was found as a minimum and that is known.
    n_candidates : int
        So many were there, of which this one was picked.
    most : (n_groups,) array or None
        Of a sum of error rates: what each group adds if all of its trials are wrong.
    are_graded : bool
        Whether trials may be wrong in part.
    fixed : (n_trials,) array or None
        Of minima, where costs are by decisions that were made without the unit: costs by the best decisions.
    is_minimum : bool
        Whether the best decisions, or the best map, for these trials are part of the figure.
    is_refused : bool
        Whether there is no interval: classes are perfectly separated, so that no error shows how costly one would be.
    """

    name: Figure
    value: float
    costs: FloatArray
    groups: Groups
    scale: Scale = "log"
    nothing_seen: NothingSeen | None = None
    limits: tuple[float, float] = (0.0, math.inf)
    shift: float | None = None
    n_candidates: int = 1
    most: FloatArray | None = None
    are_graded: bool = False
    fixed: FloatArray | None = None
    is_minimum: bool = False
    is_refused: bool = False

    def estimate(self, spread: Spread, design: ClusterDesign, held_out: float | None = None) -> Estimate | None:
        """Return the metric with its standard error; None if there is no interval.

        Parameters
        ----------
        spread : Spread
            Of this metric, by the best decisions.
        design : ClusterDesign
        held_out : float, optional
            Sum of squares of the influences by decisions that were made without units.
        """
        if self.is_refused or not design.has_enough(self.groups):
            return None
        corrected = None if self.shift is None else min(max(self.value + self.shift, self.limits[0]), self.limits[1])
        error = design.standard_error(float(spread.total) if held_out is None else held_out)
        about = (
            error,
            design.n_units_of(self.groups),
            self.scale,
            corrected,
            self.nothing_seen,
            self.limits,
            self.n_candidates,
        )
        rates = None
        if self.most is not None:
            rates = design.rates(spread, self.groups, self.most, are_graded=self.are_graded)
        degrees = design.degrees(spread, self.groups, is_mean=rates is None and not self.is_minimum)
        found = Estimate(self.value, *about, rates=rates, degrees=degrees)
        return found if found.is_known else None


class Collected:
    """Squares of the influences of all units, figure by figure, and influences of some.

    Parameters
    ----------
    means : ClassMeans
    replicates : ClassReplicates or None
        Of the same figures, where they are asked for.
    """

    def __init__(self, means: ClassMeans, replicates: ClassReplicates | None = None) -> None:
        self.means, self.replicates = means, replicates
        self.found: dict[Figure, Estimate] = {}
        self.influences: dict[Figure, FloatArray] = {}

    def add(self, figures: Iterable[ClassFigure], *, keep: bool) -> None:
        """Add those that are finite, and keep their influences or not; their costs are gone then."""
        some = [one for one in figures if math.isfinite(one.value)]
        if some and self.replicates is not None:
            self.replicates.add(some)
        self.add_fixed(some, keep=keep)

    def add_fixed(self, figures: Iterable[ClassFigure], *, keep: bool = False) -> None:
        """Add those that have no replicates."""
        at_once, waiting = max(_AT_ONCE // self.means.n_trials, 1), list[ClassFigure]()
        for one in figures:
            if not math.isfinite(one.value):
                continue
            if waiting and (waiting[0].groups is not one.groups or len(waiting) >= at_once):
                self._add(waiting, keep=keep)
                waiting = []
            waiting.append(one)
        if waiting:
            self._add(waiting, keep=keep)

    def _add(self, some: Sequence[ClassFigure], *, keep: bool) -> None:
        costs = np.stack([one.costs if one.fixed is None else one.fixed for one in some])
        sums = self.means.sums(costs)
        spread = sums.spread(slice(None), some[0].groups)
        for k, one in enumerate(some):
            influences, held_out = None, None
            if one.fixed is not None:
                (influences,) = self.means.sums(one.costs[None]).influences()
            elif keep:
                (influences,) = sums.influences(slice(k, k + 1))
            if one.fixed is not None and influences is not None:
                held_out = float(influences @ influences)
            if keep and influences is not None:
                self.influences[one.name] = influences
            self.add_known(one, spread[k], held_out)

    def add_known(self, one: ClassFigure, spread: Spread, held_out: float | None = None) -> None:
        """Add a figure whose spread is known."""
        if not math.isfinite(one.value):
            return
        estimate = one.estimate(spread, self.means.design.clusters, held_out)
        if estimate is not None:
            self.found[one.name] = estimate
