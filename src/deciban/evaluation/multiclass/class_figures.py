"""Figures of many classes with what each trial costs, and the sums of squares that their intervals are made of."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from deciban.core.resampling.class_sums import ClassMeans
from deciban.core.resampling.intervals import Estimate, NothingSeen
from deciban.core.resampling.rates import ClassSize, ClusterDesign, RatePart, RateSum, Scale
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
    scale : {"log", "logit", "identity"}
    nothing_seen : NothingSeen or None
        What is known if no unit moves the figure.
    limits : (float, float)
        What the figure cannot leave.
    shift : float or None
        What to add for new units, if it was found as a minimum and that is known.
    n_units : int or None
        Units of the class, or of the class of a detector or a pair that has fewest, if not all count.
    n_candidates : int
        So many were there, of which this one was picked.
    n_trials : float or None
        Of an error rate of a class: its trials.
    """

    name: Figure
    value: float
    costs: FloatArray
    scale: Scale = "log"
    nothing_seen: NothingSeen | None = None
    limits: tuple[float, float] = (0.0, math.inf)
    shift: float | None = None
    n_units: int | None = None
    n_candidates: int = 1
    n_trials: float | None = None

    def estimate(self, error: float, design: ClusterDesign) -> Estimate | None:
        """Return the metric with its standard error; None if there is no interval."""
        if not design.is_enough(self.n_units):
            return None
        corrected = None if self.shift is None else min(max(self.value + self.shift, self.limits[0]), self.limits[1])
        n_units, degrees, rates = design.n_units, design.degrees, None
        if self.n_units is not None:
            n_units, degrees = self.n_units, self.n_units - 1.0
        if self.n_trials is not None:
            size = ClassSize(self.n_trials, degrees + 1.0, n_units)
            rates = RateSum(((RatePart(1.0, self.value, error * error, size),), ()))
        about = error, n_units, self.scale, corrected, self.nothing_seen, self.limits, self.n_candidates
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
        self.figures: list[ClassFigure] = []
        self.squares: list[float] = []
        self.influences: dict[Figure, FloatArray] = {}

    def add(self, figures: Iterable[ClassFigure], *, keep: bool) -> None:
        """Add those that are finite, and keep their influences or not; their costs are gone then."""
        some = [one for one in figures if math.isfinite(one.value)]
        if not some:
            return
        if self.replicates is not None:
            self.replicates.add(some)
        at_once = max(_AT_ONCE // len(self.means.share), 1)
        for first in range(0, len(some), at_once):
            self._add(some[first : first + at_once], keep=keep)

    def _add(self, some: Sequence[ClassFigure], *, keep: bool) -> None:
        centred = self.means.centred(np.stack([one.costs for one in some]))
        if keep:
            found = self.means.by_unit(centred)
            self.influences.update(zip((one.name for one in some), found, strict=True))
            squares = np.einsum("fu,fu->f", found, found)
        else:
            squares = self.means.squares(centred)
        self.add_squares(some, squares.tolist())

    def add_fixed(self, figures: Iterable[ClassFigure]) -> None:
        """Add those that have no replicates, one after the other; their influences are not kept."""
        for one in figures:
            self.add_squares([one], self.means.squares(self.means.centred(one.costs[None])).tolist())

    def add_squares(self, figures: Iterable[ClassFigure], squares: Sequence[float]) -> None:
        """Add figures whose squares were found elsewhere."""
        for one, square in zip(figures, squares, strict=True):
            if math.isfinite(one.value):
                self.figures.append(replace(one, costs=NO_COSTS))
                self.squares.append(square)

    def estimates(self, design: ClusterDesign) -> dict[Figure, Estimate]:
        """Return all metrics that have an interval: ``n / (n - 1)`` times the sum of squares is the variance."""
        errors = np.sqrt(np.array(self.squares) * design.n_units / (design.n_units - 1)).tolist()
        found = ((one.name, one.estimate(error, design)) for one, error in zip(self.figures, errors, strict=True))
        return {name: one for name, one in found if one is not None}
