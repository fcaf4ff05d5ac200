"""What trials cost at places of the curve of average detection costs, and how sure the curve is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from scipy.special import expit

from deciban.core.resampling.class_sums import ClassMeans
from deciban.core.resampling.intervals import NothingSeen
from deciban.evaluation.multiclass.class_figures import ClassFigure
from deciban.evaluation.multiclass.decided_at import Tallies, TargetErrors, critical_priors_of
from deciban.evaluation.multiclass.summands import InTurn
from deciban.evaluation.multiclass.unit_trials import ClassUnitTrials
from deciban.evaluation.uncertainty import CurveInfluences, Figure
from deciban.multiclass.tables import ByClass, Detectors, ScoredClasses
from deciban.types import FloatArray, IntArray

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
    tallies : Tallies
        Errors of all trials, where these are some of them; else they are filled by what is at hand.
    """

    costs: ClassUnitTrials
    detectors: Callable[[int], Detectors]
    scored: ScoredClasses | None
    tallies: Tallies = field(default_factory=Tallies)

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
    llrs: ByClass, axis: FloatArray, values: FloatArray, trials: AtHand, seen: IntArray, p_out_of_set: float | None
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
    seen : (n_classes,) int array
    p_out_of_set : float or None
    """
    thresholds = -axis
    if p_out_of_set is not None:
        if trials.scored is None:
            return
        # A target is accepted from its critical prior on: at each place as if its negative were an llr.
        llrs = replace(llrs, values=-critical_priors_of(trials.scored, p_out_of_set))
        thresholds = -expit(axis)
    places = zip(expit(axis).tolist(), thresholds.tolist(), values[::STEP].tolist(), strict=True)
    for k, (p_target, threshold, value) in enumerate(places):
        errors = TargetErrors.of(llrs, p_target, threshold, p_out_of_set)
        nothing = trials.tallies.nothing_seen((CURVE, k), errors, seen)
        yield ClassFigure((CURVE, k), value, errors.costs, nothing_seen=nothing)


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
        self.squares: list[float] = []
        self.kept: list[FloatArray] = []
        self.unseen: list[NothingSeen | None] = []

    def __call__(self, figures: Iterator[ClassFigure]) -> None:
        """Take all places."""
        for one in figures:
            centred = self.means.centred(one.costs[None])
            self.unseen.append(one.nothing_seen)
            if self.keeps:
                (own,) = self.means.by_unit(centred)
                self.kept.append(own)
                self.squares.append(float(own @ own))
            else:
                self.squares.append(float(self.means.squares(centred)[0]))


@dataclass(frozen=True, slots=True, eq=False)
class SureCurve:
    """How sure the curve is.

    Attributes
    ----------
    axis : (n_places,) array
    values : (n_places,) array
    squares : sequence of float
        Of influences; none where the places are not known.
    unseen : sequence of NothingSeen
    kept : sequence of (n_units,) arrays
        Influences, if they were to be kept.
    """

    axis: FloatArray
    values: FloatArray
    squares: Sequence[float]
    unseen: Sequence[NothingSeen | None]
    kept: Sequence[FloatArray]

    def errors(self, places: FloatArray, n_units: int) -> dict[Figure, FloatArray]:
        """Standard errors of C_avg at the priors of its curve; none of an open set in merged parts."""
        if not len(self.squares):
            return {}
        return {"c_avg": np.interp(places, self.axis, np.sqrt(np.array(self.squares) * n_units / (n_units - 1)))}

    def influences(self, few: int) -> dict[str, CurveInfluences]:
        """C_avg at places of its curve with the influences of units, if they were to be kept."""
        if not len(self.kept):
            return {}
        unseen = np.zeros((2, len(self.axis), 2))
        for k, one in enumerate(self.unseen):
            if one is not None:
                unseen[:, k, 0] = one.above, one.below
        return {"c_avg": CurveInfluences(self.axis, self.values, np.stack(self.kept), unseen, (few, few))}
