"""Results of multiclass evaluations: frozen numbers with their counts and conventions."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

import numpy as np

from deciban.core.ranks.roc import OperatingPoint
from deciban.evaluation.curves import Reliability
from deciban.evaluation.metrics import NOTHING, InformationAt, Requested
from deciban.evaluation.multiclass.problem_sums import DecidedAt
from deciban.evaluation.one_system import OneSystem, plain, with_intervals
from deciban.evaluation.results import Results
from deciban.evaluation.uncertainty import MetricKey, Uncertainty, defer
from deciban.multiclass import ClassCalibration, DetectionAnalysis, PairwiseAnalysis, SubsetCosts
from deciban.multiclass.analysis import f1_of
from deciban.types import ByValue, CountArray, FloatArray, IntArray, ScoreArray

CLASS_CONVENTIONS = {
    "scores": "natural-log likelihoods of the classes, up to a constant for each segment",
    "averages": "each class separately, weighted by the prior; class proportions have no effect",
    "cllr": "bits, flat prior; log2 of the number of classes for scores without information",
    "min_cllr": "after the best common scale and the best offset for each class, on the same segments",
    "decisions": "class of greatest posterior probability at the prior, the first one in a tie",
    "c_avg": "fractions, not normalized; mean over targets at the Bayes threshold of detection log-likelihood ratios",
    "normalized_c_avg": "divided by the better of accepting and rejecting everything",
    "minima of detectors and pairs": "after separate PAV for each: bounds that no single recognizer has to reach",
    "error_rates": "fractions in [0, 1]",
    "confusion": "rows are true classes, columns are decisions; counts or sums of weights (of groups: shares of these)",
}


@dataclass(frozen=True, slots=True)
class ClassPoint:
    """Average detection costs at one prior of a target; fractions.

    Attributes
    ----------
    p_target : float
    c_avg : float
        Mean over the targets of ``p_target P_miss + (1 - p_target) P_fa`` at the Bayes threshold.
    normalized : float
        The same divided by ``default_cost``.
    min_c_avg : float
        ``c_avg`` with a separate best threshold for each target.
    """

    p_target: float
    c_avg: float
    normalized: float
    min_c_avg: float

    def __str__(self) -> str:
        """Return the name of the operating point in tables and legends."""
        return str(OperatingPoint(self.p_target))

    @property
    def default_cost(self) -> float:
        """Cost of the better of accepting and rejecting everything."""
        return OperatingPoint(self.p_target).default_cost

    @property
    def normalized_min(self) -> float:
        """``min_c_avg`` divided like ``normalized``."""
        return self.min_c_avg / self.default_cost

    @property
    def costs(self) -> dict[str, float]:
        """All metrics by name."""
        names = ("c_avg", "normalized", "min_c_avg", "normalized_min")
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True, slots=True, eq=False)
class ClassCurves(ByValue):
    """Points of plots; for trials in memory, reliability and the sample are computed when they are read.

    Attributes
    ----------
    prior_log_odds : (m,) array
        Log odds of the prior of a target, in nats.
    c_avg : (m,) array
        C_avg at each of these priors, not normalized. If the last class is out of set, priors stop before the other
        non-targets have prior 0.
    c_avg_rates : (2, m) array
        Miss rate and false-alarm rate there, means over the targets.
    point_rates : (n_points, 4) array
        The same at each of the points of the evaluation, then both at the best thresholds.
    detector_log_odds : (d,) array
        Log odds of the prior of a target, in nats, for the next two.
    act_error, min_error : (n_targets, d) arrays
        Actual and minimum Bayes error rate of each target of the detection analysis against the rest; not normalized.
    detector_rates : (n_targets, 4, d) array
        Miss rate and false-alarm rate of each target at the Bayes threshold, then both at the best threshold.
    reliability : Reliability
        Posteriors of the recognized class and their recalibration by PAV, at the prior.
    sample : ((n, n_classes) array, (n,) array), optional
        Log-likelihoods in nats and true classes of some trials, evenly chosen; for 3 to 12 classes, with data larger
        than memory for 3.
    c_avg_at : (n_priors,) array, optional
        ``c_avg`` at the priors of `deciban.evaluation.multiclass.problem_sums`; None if decisions were counted at fewer
        places, or a class is out of set.
    """

    prior_log_odds: FloatArray
    c_avg: FloatArray
    c_avg_rates: FloatArray
    point_rates: FloatArray
    detector_log_odds: FloatArray
    act_error: FloatArray
    min_error: FloatArray
    detector_rates: FloatArray
    reliability: Reliability
    sample: tuple[ScoreArray, IntArray] | None = None
    c_avg_at: FloatArray | None = None


defer(ClassCurves, "reliability", "sample")


@dataclass(frozen=True, eq=False)
class ClassEvaluation(OneSystem):
    """All results for the multiclass scores of one system.

    Evaluations with the same scores, name and requests are equal and have equal hashes.

    Attributes
    ----------
    name : str
    classes : tuple of str
    counts : (n_classes,) array
        Segments of each class (sums of weights if segments are weighted).
    n_infinite : int
        Segments with an infinite score.
    prior : (n_classes,) array
        Prior of the metrics that depend on one: ``cross_entropy``, ``brier``, ``error_rate``, ``confusion``.
    cross_entropy, prior_entropy : float
        In bits: uncertainty about the class after and before the scores are known.
    brier, default_brier : float
        Quadratic cost, and its value for scores without information.
    error_rate, default_error_rate : float
        Fractions of wrong decisions at the prior, and of wrong decisions by the prior alone.
    class_error_rates : (n_classes,) array
    confusion : (n_classes, n_classes) array
        True class of the row, decision of the column; rows sum to ``counts``.
    calibration : ClassCalibration
        Cllr with its discrimination and calibration parts, in bits at the flat prior.
    points : tuple of ClassPoint
    p_out_of_set : float or None
        Prior of the last class if it is out of set; then it is no target.
    detection : DetectionAnalysis
        Each target against the rest, costs at the first of ``points``.
    pairwise : PairwiseAnalysis or None
    subsets : SubsetCosts or None
        C_avg of every subset of classes.
    notes : tuple of str
        Warnings to read before quoting the numbers.
    curves : ClassCurves
    no_subsets, no_pairs : str
        Reason why ``subsets`` or ``pairwise`` is None.
    capacity : Capacity or None
        Maximum information over priors after the best scale and offsets, if requested.
    requested : Requested
        Metrics of classifier papers, if requested.
    sample_confusion : (n_classes, n_classes) array or None
        The decisions that these metrics count, at the shares of the classes in the data.
    decided : DecidedAt or None
        Decisions as the prior of one class changes; None for many classes, groups, and merged summaries.
    """

    name: str
    classes: tuple[str, ...]
    counts: CountArray
    n_infinite: int
    prior: FloatArray
    cross_entropy: float
    prior_entropy: float
    brier: float
    default_brier: float
    error_rate: float
    default_error_rate: float
    class_error_rates: FloatArray
    confusion: CountArray
    calibration: ClassCalibration
    points: tuple[ClassPoint, ...]
    p_out_of_set: float | None
    detection: DetectionAnalysis
    pairwise: PairwiseAnalysis | None
    subsets: SubsetCosts | None
    notes: tuple[str, ...]
    curves: ClassCurves = dataclasses.field(repr=False)
    no_subsets: str = dataclasses.field(default="", repr=False)
    no_pairs: str = dataclasses.field(default="", repr=False)
    capacity: Any = None  # deciban.rules.Capacity, whose module loads on request
    requested: Requested = NOTHING
    sample_confusion: CountArray | None = dataclasses.field(default=None, repr=False)
    uncertainty: Uncertainty | None = dataclasses.field(default=None, repr=False, compare=False)
    decided: DecidedAt | None = dataclasses.field(default=None, repr=False, compare=False)

    kind: ClassVar[Literal["classes"]] = "classes"
    conventions: ClassVar[Mapping[str, str]] = CLASS_CONVENTIONS

    def __repr__(self) -> str:
        metrics = f"Cllr {self.cllr:.3f}, min Cllr {self.min_cllr:.3f}, error rate {100 * self.error_rate:.2f} %"
        size = f"{self.counts.sum():,.6g} segments of {self.n_classes:,} classes"
        return f"ClassEvaluation({self.name!r}: {metrics}; {size})"

    @property
    def cost_points(self) -> tuple[ClassPoint, ...]:
        """Costs at each prior of a target."""
        return self.points

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.classes)

    @property
    def reference(self) -> float:
        """Cllr of scores without information: log2 of the number of classes, in bits."""
        return math.log2(self.n_classes)

    @property
    def cllr(self) -> float:
        """Cost of the log-likelihoods in bits, at the flat prior."""
        return self.calibration.total

    @property
    def min_cllr(self) -> float:
        """Cllr after the best scale and offsets: discrimination loss."""
        return self.calibration.minimum

    @property
    def calibration_loss(self) -> float:
        """``cllr - min_cllr`` in bits."""
        return self.calibration.loss

    @property
    def information(self) -> float:
        """Information that the scores deliver at the flat prior, in bits: ``reference - cllr``."""
        return self.reference - self.cllr

    @property
    def information_at(self) -> tuple[InformationAt, ...]:
        """Information that the scores deliver, in bits: at the flat prior, and at the prior if it differs."""
        flat, least = 1.0 / self.n_classes, self.min_cllr
        available = None if math.isnan(least) else max(self.reference - least, 0.0)
        items = [InformationAt((flat,) * self.n_classes, self.reference, self.information, available)]
        if not self.has_flat_prior:
            information = self.prior_entropy - self.cross_entropy
            items.append(InformationAt(tuple(self.prior.tolist()), self.prior_entropy, information, None))
        return tuple(items)

    @property
    def c_avg(self) -> float:
        """Average detection cost at the first point."""
        return self.points[0].c_avg

    @property
    def mean_costs(self) -> dict[str, float]:
        """Means over the points, by metric; ``normalized`` is the ``C_primary`` of evaluation plans."""
        items = [point.costs for point in self.points]
        return {name: math.fsum(costs[name] for costs in items) / len(items) for name in items[0]}

    def frequent_confusions(self, most: int) -> list[tuple[str, str, float, float]]:
        """Return true class, wrong decision, number (or weight) and share of the segments; the largest shares first."""
        rates = self.confusion / self.confusion.sum(axis=1, keepdims=True)
        np.fill_diagonal(rates, 0.0)
        pairs = [divmod(at, self.n_classes) for at in np.argsort(-rates, axis=None, kind="stable")[:most].tolist()]
        return [
            (self.classes[i], self.classes[j], float(self.confusion[i, j]), float(rates[i, j]))
            for i, j in pairs
            if rates[i, j] > 0.0
        ]

    def value(self, key: MetricKey) -> float:
        """Return a metric of the system, of one of its points, or its mean over the points."""
        if isinstance(key, str) and key.startswith("mean_"):
            return self.mean_costs[key.removeprefix("mean_")]
        return super().value(key)

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers (not the curves) as plain JSON types; infinite ones are ``"inf"`` and ``"-inf"``."""
        metrics = ("name", "classes", "counts", "n_infinite", "cllr", "reference", "information", "min_cllr")
        at_prior = ("prior", "cross_entropy", "prior_entropy", "brier", "default_brier", "error_rate")
        errors = ("default_error_rate", "class_error_rates", "macro_f1", "confusion")
        pairs = self.pairwise
        fields: dict[str, Any] = {
            "kind": self.kind,
            **{name: getattr(self, name) for name in metrics},
            "calibration_loss": self.calibration_loss,
            "information_at": self.information_at,
            "min_cllr_offsets_only": self.calibration.after_offset_only,
            "min_cllr_scale_only": self.calibration.after_scale_only,
            **{name: getattr(self, name) for name in (*at_prior, *errors)},
            "operating_points": [{"p_target": point.p_target, **point.costs} for point in self.points],
            "mean_over_points": self.mean_costs,
            "p_out_of_set": self.p_out_of_set,
            "detectors": [{"target": target, **metrics} for target, metrics in self.detectors.items()],
            "pairwise": pairs and {"cllr": pairs.cllr, "min_cllr": pairs.min_cllr},
            "subsets": self.subset_summary(),
            **({} if self.capacity is None else {"capacity": self.capacity}),
            **self.requested.to_dict(),
            "notes": self.all_notes,
        }
        return with_intervals(plain(fields), self.uncertainty)

    @property
    def macro_f1(self) -> float:
        """Mean F1 score of the classes; it changes with their shares in the data."""
        return float(f1_of(self.confusion).mean())

    @property
    def has_flat_prior(self) -> bool:
        """True if all classes have the same prior."""
        return bool(np.ptp(self.prior) == 0.0)

    @property
    def detectors(self) -> dict[str, dict[str, float]]:
        """Metrics of each target against the rest, by its name, without a class that is out of set."""
        result = self.detection
        names = ("eer", "cost", "min_cost", "cllr", "min_cllr", "calibration_loss")
        rows = zip(*(getattr(result, name).tolist() for name in names), strict=True)
        targets = (self.classes[k] for k in result.target.tolist())
        return {target: dict(zip(names, metrics, strict=True)) for target, metrics in zip(targets, rows, strict=True)}

    def subset_summary(self) -> dict[str, Any] | None:
        """Return the extremes, and the mean for each size; None if there is only one subset."""
        result = self.subsets
        if result is None or len(result) == 1:
            return None
        return {
            "p_target": self.points[0].p_target,
            "n": len(result),
            "hardest": self._named(result, int(np.argmax(result.value))),
            "easiest": self._named(result, int(np.argmin(result.value))),
            "mean_by_size": {str(size): mean for size, mean in result.mean_by_size.items()},
        }

    def _named(self, costs: SubsetCosts, at: int) -> dict[str, Any]:
        return {"classes": [self.classes[k] for k in costs.members(at)], "c_avg": float(costs.value[at])}


if TYPE_CHECKING:
    ClassResults: TypeAlias = Results[ClassEvaluation]
else:
    ClassResults = Results
