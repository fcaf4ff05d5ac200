"""What a summary of many classes adds up beside sums: what the scores look like, and problems of two classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from scipy.special import expit, logit, logsumexp

from deciban._validate.arrays import all_finite
from deciban._validate.probabilities import like_posteriors
from deciban.core.classes.certainty import ruled_out
from deciban.core.classes.loglik import are_alike, relative
from deciban.core.ranks.operating import OperatingPoint
from deciban.core.training.multiclass_objective import ClassTrials
from deciban.evaluation.curves import prior_axis
from deciban.evaluation.multiclass.decided_at import PRIORS
from deciban.evaluation.multiclass.problem_sums import CountedProblems
from deciban.evaluation.multiclass.result import ClassCurves, ClassPoint
from deciban.evaluation.reliability import reliability_of_classes
from deciban.multiclass import DetectionAnalysis
from deciban.multiclass.analysis import detection_analysis_of
from deciban.multiclass.decision_errors import c_avg_of, open_set_cost
from deciban.multiclass.tables import AnyDetectors, Detectors, Pairs, ScoredClasses
from deciban.types import AnyArray, FloatArray, ScoreArray

if TYPE_CHECKING:
    from deciban.evaluation.multiclass.summary import ClassSummary


_LOOKED_AT = 1000
"""Trials that tell what scores look like."""


@dataclass(frozen=True, slots=True, eq=False)
class ScoreChecks:
    """What scores look like; ``a + b`` is what holds for the trials of both.

    Attributes
    ----------
    are_probabilities, are_log_posteriors : bool
        Whether rows sum to 1, as they are or as exponentials; judged by some trials of each part.
    alike : (n_classes,) array or None
        The log-likelihoods of all trials, but for what is added to all classes of one; None if they differ.
    n_wrong : int
        Trials whose true class infinite scores rule out.
    first_wrong : (int, int) or None
        Position and class of the first of them; not known of merged trials.
    """

    are_probabilities: bool
    are_log_posteriors: bool
    alike: FloatArray | None
    n_wrong: int
    first_wrong: tuple[int, int] | None

    @classmethod
    def of(cls, trials: ScoredClasses) -> ScoreChecks:
        """Look at checked trials."""
        alike = relative(trials.loglik, slice(0, 1))[:, 0] if are_alike(trials.loglik) else None
        return cls(*_units(trials.loglik), alike, *_wrong(trials))

    def __add__(self, other: ScoreChecks) -> ScoreChecks:
        """What holds for the trials of both."""
        same = self.alike is not None and other.alike is not None and np.array_equal(self.alike, other.alike)
        return ScoreChecks(
            self.are_probabilities and other.are_probabilities,
            self.are_log_posteriors and other.are_log_posteriors,
            self.alike if same else None,
            self.n_wrong + other.n_wrong,
            None,
        )


def _units(loglik: ScoreArray) -> tuple[bool, bool]:
    some: AnyArray = loglik[:: max(len(loglik) // _LOOKED_AT, 1)].astype(np.float64)
    if like_posteriors(some):
        return True, False
    return False, bool(np.all(some <= 1e-6) and np.allclose(logsumexp(some, axis=1), 0.0, atol=1e-3))


def _wrong(trials: ScoredClasses) -> tuple[int, tuple[int, int] | None]:
    if all_finite(trials.loglik):
        return 0, None
    infinite = np.isinf(trials.loglik).any(axis=1)
    rows = np.flatnonzero(infinite if trials.weights is None else infinite & (trials.weights > 0))
    no_weights = np.zeros(trials.n_classes)
    wrong = rows[ruled_out(ClassTrials(trials.loglik[rows][:, None, :], trials.label[rows], no_weights, None))]
    return len(wrong), (int(wrong[0]), int(trials.label[wrong[0]])) if len(wrong) else None


@dataclass(frozen=True, slots=True, eq=False)
class InTurn:
    """Problems of all trials: each is made when it is asked for and goes when it has been used.

    Attributes
    ----------
    trials : ScoredClasses
    rivals : tuple of (n_classes,) arrays
        Priors of the detectors: one for all points, or one for each where a class is out of set.
    has_pairs : bool
    """

    trials: ScoredClasses
    rivals: tuple[FloatArray, ...]
    has_pairs: bool

    def detectors(self, at: int) -> Detectors:
        """Each class against the rest, by one of the priors."""
        return Detectors.of(self.trials, self.rivals[at])

    def pairs(self) -> Pairs | None:
        """Each class against each other one, if that is asked for."""
        return Pairs.of(self.trials) if self.has_pairs else None

    def kept(self) -> Kept:
        """All problems at once."""
        return Kept(tuple(map(self.detectors, range(len(self.rivals)))), self.pairs())


@dataclass(frozen=True, slots=True, eq=False)
class Kept:
    """Problems of a part of the trials, all held until the other parts come."""

    every: tuple[Detectors, ...]
    all_pairs: Pairs | None

    def detectors(self, at: int) -> Detectors:
        """Each class against the rest, by one of the priors."""
        return self.every[at]

    def pairs(self) -> Pairs | None:
        """Each class against each other one, if that is asked for."""
        return self.all_pairs

    def kept(self) -> Kept:
        """All problems at once."""
        return self

    @classmethod
    def merged(cls, parts: Sequence[InTurn | Kept]) -> Kept:
        """The problems of the trials of all parts."""
        kept = [part.kept() for part in parts]
        pairs = [part.all_pairs for part in kept if part.all_pairs is not None]
        every = zip(*(part.every for part in kept), strict=True)
        return cls(tuple(map(Detectors.merged, every)), Pairs.merged(pairs) if pairs else None)


Problems: TypeAlias = InTurn | Kept | CountedProblems
"""How a summary has them."""


def detection_costs(summary: ClassSummary) -> tuple[tuple[ClassPoint, ...], DetectionAnalysis, ClassCurves]:
    """Average costs at each point, the detectors at the first one, and the curves of both.

    Detectors are sorted once for all points and curves. Where a class is out of set, the shares of the rivals depend on
    the prior of the target: curves of detectors have those of the first point, and each further point needs detectors
    of its own for its least costs.
    """
    points = summary.figures.p_target
    axis = prior_axis(summary.figures.thresholds)
    found, costs = _first(summary, axis)
    each = [found.at(k) for k in range(len(points))]
    if summary.accepted is not None:
        more = enumerate(points[1:], start=1)
        each[1:] = [_analysis(summary, summary.problems.detectors(k), np.array([p])).at(0) for k, p in more]
    curves = ClassCurves(
        prior_log_odds=summary.places,
        c_avg=costs[len(points) :],
        detector_log_odds=axis,
        act_error=found.cost[:, len(points) :],
        min_error=found.min_cost[:, len(points) :],
        reliability=reliability_of_classes(summary.pooled_odds, summary.prior),
        sample=None if summary.whole is None else summary.whole.sample,
        c_avg_at=_costs_at_priors(summary),
    )
    at_points = tuple(
        ClassPoint(p, cost, cost / OperatingPoint(p).default_cost, float(one.mean_min_cost))
        for p, cost, one in zip(points, costs.tolist(), each, strict=False)
    )
    return at_points, each[0], curves


def _first(summary: ClassSummary, axis: FloatArray) -> tuple[DetectionAnalysis, FloatArray]:
    """What the detectors at the first point say, which are gone when the next ones are made.

    An analysis at the points and at the places of the curves of detectors, and average detection costs at the points
    and at the places of their own curve.
    """
    points, detectors = summary.figures.p_target, summary.problems.detectors(0)
    priors = np.append(points, expit(summary.places))
    if summary.accepted is None:
        costs = c_avg_of(detectors, np.asarray(logit(priors)))
    else:
        assert summary.figures.p_out_of_set is not None  # noqa: S101  # then decisions were counted
        costs = open_set_cost(summary.accepted, summary.counts, priors, summary.figures.p_out_of_set)
    return _analysis(summary, detectors, np.append(points, expit(axis))), costs


def _costs_at_priors(summary: ClassSummary) -> FloatArray | None:
    """Average detection costs at the priors that decisions are counted at; None where detectors cannot tell."""
    if summary.accepted is not None or isinstance(summary.problems, CountedProblems):
        return None
    return c_avg_of(summary.problems.detectors(0), np.asarray(logit(PRIORS)))


def _analysis(summary: ClassSummary, detectors: AnyDetectors, p_target: FloatArray) -> DetectionAnalysis:
    """One set of detectors, without that of a class that is out of set."""
    n_classes = len(summary.classes)
    log_odds = np.asarray(logit(p_target))
    found = detection_analysis_of(detectors, p_target, log_odds, np.ones(n_classes), summary.classes)
    if summary.figures.p_out_of_set is None:
        return found
    names = ("target", "cost", "min_cost", "eer", "cllr", "min_cllr")
    arrays = {name: getattr(found, name)[:-1] for name in names}
    return replace(found, classes=summary.classes[:-1], **arrays)
