"""Results of evaluations: frozen numbers with their counts and conventions, for tables, plots and JSON."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal

import numpy as np

from deciban.core.ranks.roc import OperatingPoint
from deciban.errors import Message, as_objects, counted, shortened
from deciban.evaluation.curves import AffineCalibration, AtPriors, Curves, ErrorSteps, affine_of
from deciban.evaluation.metrics import NOTHING, InformationAt, Requested, RuleCosts
from deciban.evaluation.one_system import SCHEMA, OneSystem, PlottedResult, plain, shared_notes, with_intervals
from deciban.evaluation.uncertainty import MetricKey, Uncertainty
from deciban.metrics.scores import MisleadingEvidence, ScoredTrials
from deciban.types import Axis

if TYPE_CHECKING:
    from deciban.evaluation.breakdowns import SystemConditions, WorstTrials
    from deciban.evaluation.preset_table import Primary
    from deciban.rules import Capacity
    from deciban.trials import JoinReport

CONVENTIONS = {
    "accept": "score >= threshold",
    "thresholds": "Bayes threshold -logit(effective prior) on natural-log likelihood ratios",
    "error_rates": "fractions in [0, 1]",
    "dcf": "normalized by the better of accept-all and reject-all",
    "eer": "on the convex hull of the ROC (ROCCH)",
    "auc": "P(target > non-target) + P(tie) / 2",
    "eer_threshold": "lowest score accepted, at the hull vertex beside the EER whose error rates differ less",
    "min_threshold": "lowest score accepted; inf rejects all",
    "misleading_evidence": "targets with LR < 1 / factor, non-targets with LR > factor",
    "prbep": "count of misses = count of false alarms, on the ROCCH",
    "cllr": "in bits, from natural-log likelihood ratios",
    "ties": "never split",
}


@dataclass(frozen=True, slots=True)
class PointResult:
    """Costs and error counts at one operating point; both costs are normalized.

    ``threshold`` is the Bayes threshold in nats; ``p_miss``, ``p_fa``, ``n_miss``, ``n_fa`` are the actual errors at
    this threshold (sums of weights if trials are weighted). ``min_threshold`` is the lowest accepted score at which the
    cost is ``min_dcf``, ``inf`` if rejecting all is best; see `deciban.metrics.min_dcf_threshold`. ``min_p_miss`` and
    ``min_p_fa`` are the errors at that threshold.
    """

    p_target: float
    c_miss: float
    c_fa: float
    effective_prior: float
    threshold: float
    act_dcf: float
    min_dcf: float
    p_miss: float
    p_fa: float
    n_miss: float
    n_fa: float
    min_threshold: float
    min_p_miss: float
    min_p_fa: float

    def __str__(self) -> str:
        """Return the name of the operating point in tables and legends."""
        return str(OperatingPoint(self.p_target, self.c_miss, self.c_fa))


@dataclass(frozen=True, eq=False)
class Evaluation(OneSystem):
    """All results for the scores of one system.

    Evaluations with the same scores, name and requests are equal and have equal hashes.

    Attributes
    ----------
    name : str
    n_tar, n_non : int or float
        Trials of each class (sums of weights if trials are weighted).
    n_tied : int or float
        Trials whose score is equal to the score of a trial of the other class.
    n_infinite : int or float
        Trials with an infinite score.
    eer, auc : float
        Fractions: equal error rate on the convex hull, P(tar > non) + ties/2.
    cllr, min_cllr : float
        In bits.
    prbep : float
        A count of errors.
    dr30 : (float, float)
        Prior log odds left of which fewer than 30 false alarms, right of which fewer than 30 misses remain.
    operating_points : tuple of PointResult
    notes : tuple of str
        Warnings to read before quoting the numbers.
    curves : Curves
    eer_threshold : float
        Threshold with error rates close to the EER; see `deciban.metrics.eer_threshold`.
    eer_p_miss, eer_p_fa : float
        Fractions: error rates at this threshold, mostly close to the EER on both sides.
    misleading : tuple of MisleadingEvidence
        Frequency and strength of llrs that favour the wrong class.
    is_weighted : bool
        True if trials were weighted; then all numbers of trials are sums of weights.
    requested : Requested
        Additional requested metrics.
    information_at : tuple of InformationAt
        Information that the scores deliver, in bits: at even odds, and at the effective prior of the first operating
        point.
    axis : {"nats", "log10"}
        Unit of llrs in plots and tables; all numbers here are in nats.
    uncertainty : Uncertainty or None
        Uncertainty of the metrics, if the units of the trials are known.
    bins : ScoredTrials or None
        The trials; if many, in narrow bins of scores.
    at_priors : AtPriors or None
        Errors and costs of Bayes decisions at priors of a fine grid.
    error_steps : ErrorSteps or None
        Errors at any threshold; None if scores were not kept.
    own : tuple of (str, float)
        Names and values of metrics of `register_metric`, which are also attributes.
    """

    name: str
    n_tar: int | float
    n_non: int | float
    n_tied: int | float
    n_infinite: int | float
    eer: float
    auc: float
    cllr: float
    min_cllr: float
    prbep: float
    dr30: tuple[float, float]
    operating_points: tuple[PointResult, ...]
    notes: tuple[str, ...]
    curves: Curves = dataclasses.field(repr=False)
    eer_threshold: float
    eer_p_miss: float
    eer_p_fa: float
    misleading: tuple[MisleadingEvidence, ...] = dataclasses.field(repr=False)
    is_weighted: bool = dataclasses.field(default=False, repr=False, compare=False)
    requested: Requested = dataclasses.field(default=NOTHING, repr=False)
    information_at: tuple[InformationAt, ...] = dataclasses.field(default=(), repr=False)
    axis: Axis = dataclasses.field(default="nats", repr=False, compare=False)
    uncertainty: Uncertainty | None = dataclasses.field(default=None, repr=False, compare=False)
    bins: ScoredTrials | None = dataclasses.field(default=None, repr=False, compare=False)
    at_priors: AtPriors | None = dataclasses.field(default=None, repr=False)
    error_steps: ErrorSteps | None = dataclasses.field(default=None, repr=False, compare=False)
    own: tuple[tuple[str, float], ...] = dataclasses.field(default=(), repr=False)

    kind: ClassVar[Literal["two-class"]] = "two-class"
    conventions: ClassVar[Mapping[str, str]] = CONVENTIONS

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> float:
            """Return a metric of `register_metric`."""
            found = dict(self.__dict__.get("own", ()))
            if name not in found:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)
            return found[name]

    def __repr__(self) -> str:
        metrics = f"EER {100 * self.eer:.2f} %, Cllr {self.cllr:.3f}, min Cllr {self.min_cllr:.3f}"
        return f"Evaluation({self.name!r}: {metrics}; {self.n_tar:,.6g} target, {self.n_non:,.6g} non-target)"

    @property
    def cost_points(self) -> tuple[PointResult, ...]:
        """Costs at each operating point."""
        return self.operating_points

    @property
    def rule_costs(self) -> tuple[RuleCosts, ...]:
        """Costs by a custom rule, for each prior."""
        return self.requested.rule_costs

    @property
    def quoted_eer(self) -> tuple[float, MetricKey]:
        """The EER by the only requested convention, or else on the convex hull, with its key."""
        if len(self.requested.eer_conventions) != 1:
            return self.eer, "eer"
        ((name, value),) = self.requested.eer_conventions.items()
        return value, ("eer_conventions", name)

    @property
    def calibration_loss(self) -> float:
        """``cllr - min_cllr`` in bits."""
        if math.isinf(self.cllr):
            return self.cllr  # for any minimum
        return max(self.cllr - self.min_cllr, 0.0)  # rounding can put the minimum an ulp above

    @property
    def capacity(self) -> Capacity:
        """Maximum information over priors, after the best recalibration; see `deciban.rules.capacity`."""
        from deciban.rules.delivered import capacity_of  # searches, so only on request

        tar, n_tar, non, n_non = self.curves.pav.as_trials()
        return capacity_of((tar, n_tar), (non, n_non))

    @property
    def affine(self) -> AffineCalibration | None:
        """Best scale and offset on the same trials; None if no finite ones are best. See `AffineCalibration`."""
        return None if self.bins is None else affine_of(self.bins)

    @property
    def act_dcf(self) -> float:
        """Normalized actual cost at the first operating point."""
        return self.operating_points[0].act_dcf

    @property
    def min_dcf(self) -> float:
        """Normalized minimum cost at the first operating point."""
        return self.operating_points[0].min_dcf

    @property
    def mean_act_dcf(self) -> float:
        """Mean normalized actual cost over the operating points (``C_primary`` of protocols with several)."""
        return float(np.mean([point.act_dcf for point in self.operating_points]))

    @property
    def mean_min_dcf(self) -> float:
        """Mean normalized minimum cost over the operating points, each with its own best threshold."""
        return float(np.mean([point.min_dcf for point in self.operating_points]))

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers (not the curves) as plain JSON types; infinite ones are ``"inf"`` and ``"-inf"``."""
        fields = {f.name: getattr(self, f.name) for f in dataclasses.fields(self) if f.name not in _NOT_IN_JSON}
        fields["calibration_loss"] = self.calibration_loss
        fields["mean_act_dcf"], fields["mean_min_dcf"] = self.mean_act_dcf, self.mean_min_dcf
        fields["dr30"] = dict(zip(("false_alarms", "misses"), self.dr30, strict=True))
        fields["misleading_evidence"], fields["capacity"] = self.misleading, self.capacity
        fields["notes"] = self.all_notes
        return with_intervals(
            plain({"kind": self.kind, **fields, **dict(self.own), **self.requested.to_dict()}), self.uncertainty
        )


_NOT_IN_JSON = (
    "curves", "is_weighted", "requested", "misleading", "axis", "uncertainty", "bins", "at_priors", "error_steps",
    "own",
)  # fmt: skip


if TYPE_CHECKING:
    from typing_extensions import TypeVar

    E = TypeVar("E", bound=OneSystem, default=Evaluation)
else:
    from typing import TypeVar

    E = TypeVar("E")


@dataclass(frozen=True)
class Results(PlottedResult, Generic[E]):
    """The evaluations of several systems on the same trials, with information about the input.

    Attributes
    ----------
    systems : tuple of Evaluation, or of ClassEvaluation
        All of one kind, and with the same classes.
    join : JoinReport, optional
        Counts of the join of key and scores.
    messages : tuple of Message
        Input files and assumptions; plain lines of text are allowed, too.
    before : Results, optional
        Results of the original scores, if ``systems`` are results after a trained model.
    conditions : tuple of SystemConditions
        Results by condition of each system, if requested.
    primaries : tuple of Primary
        The primary metric of each system, if a protocol was named.
    worst : tuple of WorstTrials
        The most misleading trials of each system, if requested.
    """

    systems: tuple[E, ...]
    join: JoinReport | None = None
    messages: tuple[Message | str, ...] = ()
    before: Results[E] | None = None
    conditions: tuple[SystemConditions, ...] = ()
    primaries: tuple[Primary, ...] = ()
    worst: tuple[WorstTrials, ...] = ()

    def __repr__(self) -> str:
        names = shortened(", ".join(system.name for system in self.systems))
        joined = "" if self.join is None else f" on {counted(self.join.matched, 'trial')}"
        return f"Results({counted(len(self.systems), 'system')}{joined}: {names})"

    def labelled(self) -> list[tuple[Mapping[str, str], Any]]:
        """Return every evaluation; with a model, also the evaluations before it."""
        if self.before is None:
            every = [row for one in self.conditions for row in one.labelled()]
            return every or [({}, one) for one in self.systems]
        parts = ("before", self.before.systems), ("after", self.systems)
        return [({"part": part}, one) for part, systems in parts for one in systems]

    @property
    def message_lines(self) -> tuple[str, ...]:
        """Input files and assumptions, one line each."""
        return tuple(map(str, self.messages))

    @property
    def note_lines(self) -> tuple[str, ...]:
        """Notes on the systems, one line each, with the names of all systems that it applies to."""
        notes = shared_notes(self.systems)
        return tuple(f"{' · '.join(one.name for one in some)}: {note}" for some, note in notes)

    @property
    def kind(self) -> str:
        """``"two-class"`` or ``"classes"``."""
        return self.systems[0].kind if self.systems else Evaluation.kind

    @property
    def classes(self) -> tuple[str, ...]:
        """Names of the classes of multiclass scores; empty for targets and non-targets."""
        return getattr(self.systems[0], "classes", ()) if self.systems else ()

    @property
    def conventions(self) -> Mapping[str, str]:
        """Conventions of the numbers."""
        return self.systems[0].conventions if self.systems else Evaluation.conventions

    def systems_to_dicts(self) -> list[dict[str, Any]]:
        """Return the JSON object of every system, with its conditions if there are any."""
        entries = [one.to_dict() for one in self.systems]
        planned = [{"primary": one.to_dict()} for one in self.primaries]
        for more in ([one.to_dict() for one in self.conditions], planned, [one.to_dict() for one in self.worst]):
            for system, own in zip(entries, more, strict=False):  # there are as many, or none
                system.update(own)
        return entries

    def to_dict(self) -> dict[str, Any]:
        """Return the object that ``deciban eval --json`` prints."""
        return {
            "schema": SCHEMA,
            "kind": self.kind,
            "systems": self.systems_to_dicts(),
            **({} if self.before is None else {"before": self.before.systems_to_dicts()}),
            "join": None if self.join is None else self.join.to_dict(),
            "messages": as_objects(self.messages),
            "inputs": list(self.message_lines),
            "conventions": dict(self.conventions),
        }
