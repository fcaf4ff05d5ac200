"""What trials cost at places of the curve of average detection costs, and how sure the curve is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from scipy.special import expit

from deciban.core.resampling.class_design import ClusterDesign, Groups, Spread
from deciban.core.resampling.class_sums import ClassMeans
from deciban.core.resampling.intervals import ROUNDING
from deciban.core.resampling.rates import RateSum
from deciban.evaluation.multiclass.class_figures import ClassFigure
from deciban.evaluation.multiclass.decided_at import TargetErrors, critical_priors_of
from deciban.evaluation.multiclass.summands import InTurn
from deciban.evaluation.multiclass.unit_trials import ClassUnitTrials
from deciban.evaluation.uncertainty import CurveInfluences, Figure
from deciban.multiclass.tables import ByClass, Detectors, ScoredClasses
from deciban.types import FloatArray

if TYPE_CHECKING:
    from deciban.evaluation.multiclass.summary import ClassSummary


@dataclass(frozen=True, slots=True, eq=False)
class AtHand:
    """Trials, class by class, with what is asked of their scores.

    Attributes
    ----------
    costs : ClassUnitTrials
    detectors : callable
        Each class against the rest, by the position of a prior of the rivals: log-likelihood ratios of these trials.
    scored : ScoredClasses or None
        The scores themselves; merged parts do not have them.
    """

    costs: ClassUnitTrials
    detectors: Callable[[int], Detectors]
    scored: ScoredClasses | None

    @classmethod
    def of_summary(cls, summary: ClassSummary) -> AtHand:
        """All trials of a summary with units."""
        problems = summary.problems
        assert summary.units is not None  # noqa: S101  # who asks has them

        def detectors(at: int) -> Detectors:
            found = problems.detectors(at)
            assert isinstance(found, Detectors)  # noqa: S101  # a summary of counted problems has no units
            return found

        return cls(summary.units, detectors, problems.trials if isinstance(problems, InTurn) else None)

    @property
    def n_trials(self) -> int:
        """How many trials there are."""
        return len(self.costs.stratum)


STEP = 7

"""Every so many priors of the curve have a standard error of their own; those between lie on straight lines."""


CURVE = "curve"

"""First word of the names of figures that are places of the curve."""


CurveTaker: TypeAlias = Callable[[Iterator[ClassFigure]], None]


def axis_of(summary: ClassSummary) -> FloatArray:
    """Log odds of the places."""
    return summary.places[::STEP]


def curve_figures(
    llrs: ByClass, axis: FloatArray, values: FloatArray, trials: AtHand, p_out_of_set: float | None
) -> Iterator[ClassFigure]:
    """What each trial costs at each place; nothing where a class is out of set and scores are gone in merged parts.

    Parameters
    ----------
    llrs : ByClass
        Of detectors.
    axis : (n_places,) array
    values : array
        The curve, of which every seventh place is asked.
    trials : AtHand
    p_out_of_set : float or None
    """
    thresholds, groups = -axis, Groups.apart(len(llrs.lengths))
    if p_out_of_set is not None:
        if trials.scored is None:
            return
        # A target is accepted from its critical prior on: at each place as if its negative were an llr.
        llrs = replace(llrs, values=-critical_priors_of(trials.scored, p_out_of_set))
        thresholds = -expit(axis)
    places = zip(expit(axis).tolist(), thresholds.tolist(), values[::STEP].tolist(), strict=True)
    for k, (p_target, threshold, value) in enumerate(places):
        errors = TargetErrors.of(llrs, p_target, threshold, p_out_of_set)
        yield ClassFigure((CURVE, k), value, errors.costs, groups, most=errors.most, are_graded=True)


class CurveSquares:
    """Squares of the influences of all units at places of the curve, taken place by place of trials in memory.

    Parameters
    ----------
    means : ClassMeans
    keeps : bool
        Whether influences are kept.
    """

    def __init__(self, means: ClassMeans, *, keeps: bool) -> None:
        self.means, self.keeps = means, keeps
        self.places: list[Place] = []
        self.kept: list[FloatArray] = []

    def __call__(self, figures: Iterator[ClassFigure]) -> None:
        """Take all places."""
        for one in figures:
            sums = self.means.sums(one.costs[None])
            self.places.append(Place.of(one, sums.spread(slice(None), one.groups)[0]))
            if self.keeps and (influences := sums.influences()) is not None:
                self.kept.append(influences[0])


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """How sure the curve is at one place.

    Attributes
    ----------
    spread : Spread
    most : (n_classes,) array
        What each class adds if all of its trials are wrong.
    """

    spread: Spread
    most: FloatArray

    @classmethod
    def of(cls, figure: ClassFigure, spread: Spread) -> Place:
        """Return the place that a figure is."""
        assert figure.most is not None  # noqa: S101  # places are sums of error rates
        return cls(spread, figure.most)


@dataclass(frozen=True, slots=True, eq=False)
class SureCurve:
    """How sure the curve is.

    Attributes
    ----------
    axis : (n_places,) array
    values : (n_places,) array
    places : sequence of Place
        None where they are not known.
    kept : sequence of (n_units,) arrays
        Influences, if they were to be kept.
    design : ClusterDesign
    """

    axis: FloatArray
    values: FloatArray
    places: Sequence[Place]
    kept: Sequence[FloatArray]
    design: ClusterDesign

    def errors(self, places: FloatArray) -> dict[Figure, FloatArray]:
        """Standard errors of C_avg at the priors of its curve; none of an open set in merged parts."""
        if not len(self.places):
            return {}
        own = [self.design.standard_error(float(one.spread.total)) for one in self.places]
        return {"c_avg": np.interp(places, self.axis, own)}

    def rates(self) -> dict[Figure, tuple[FloatArray, RateSum]]:
        """Places of the curve with the error rates that C_avg adds up; nothing where a class has too few units."""
        n_classes = len(self.design.n_trials)
        groups = Groups.apart(n_classes)
        if not len(self.places) or not self.design.has_enough(groups):
            return {}
        names = ("total", "fourth", "by_group", "means", "alone")
        spread = Spread(*(np.stack([getattr(one.spread, name) for one in self.places], axis=-1) for name in names))
        most = np.stack([one.most for one in self.places], axis=-1)
        return {"c_avg": (self.axis, self.design.rates(spread, groups, most, are_graded=True))}

    def influences(self) -> dict[str, CurveInfluences]:
        """C_avg at places of its curve with the influences of units, if they were to be kept."""
        if not len(self.kept):
            return {}
        seen = self.design.effective
        unseen, few = np.zeros((2, len(self.axis), 2)), int(seen.min())
        for k, one in enumerate(self.places):  # the class with which the curve would move most
            heavy, rate = one.most * few / seen, one.spread.means / np.where(one.most > 0.0, one.most, 1.0)
            at_ends = rate <= ROUNDING, rate >= 1.0 - ROUNDING
            unseen[:, k, 0] = [np.max(np.where(end, heavy, 0.0)) for end in at_ends]
        return {"c_avg": CurveInfluences(self.axis, self.values, np.stack(self.kept), unseen, (few, few))}
