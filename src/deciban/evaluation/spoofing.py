"""Results of spoofing detection and of spoofing-robust verification, by the protocols of ASVspoof and SASV."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from deciban._lazy import registered
from deciban.core.ranks.roc import OperatingPoint
from deciban.core.resampling.intervals import Interval
from deciban.errors import InputError, option
from deciban.evaluation.breakdowns import Condition
from deciban.evaluation.metrics import SPOOFING, Metric, metric_of
from deciban.evaluation.one_system import Jsonable, as_object, has_llrs, plain, shown_interval, with_interval
from deciban.evaluation.preset_table import Preset
from deciban.evaluation.results import Evaluation, Results
from deciban.evaluation.uncertainty import MetricKey
from deciban.spoofing import AsvErrors, asv_errors
from deciban.spoofing.sasv import a_dcf_weights
from deciban.spoofing.tandem import TDcfCosts, TDcfWeights

COUNTERMEASURE, SINGLE_SCORE = "countermeasure", "single score"
"""Roles of systems: bona fide trials against spoofs, or targets against non-targets and spoofs."""

SPOOFING_METRICS = {one.name: one for one in (*SPOOFING, *(metric_of(name) for name in ("min_dcf", "act_dcf", "cllr")))}
"""Metrics of the protocols, by name."""

OF_VERIFIER, OF_ITS_SCORES = ("min_t_dcf", "act_t_dcf"), ("t_eer", "min_a_dcf")
"""Metrics of a countermeasure that need the error rates of a verifier, and those that need its scores."""


@dataclass(frozen=True, slots=True)
class Measured:
    """A metric of a protocol.

    Attributes
    ----------
    value : float
    evaluation : Evaluation or None
        The evaluation with the metric from which this one follows; None if there is none, and so no interval.
    key : MetricKey
        This metric.
    factor, offset : float
        This metric is the offset plus the factor times that metric.
    """

    value: float
    evaluation: Evaluation | None = None
    key: MetricKey = ""
    factor: float = 1.0
    offset: float = 0.0

    @classmethod
    def of(cls, evaluation: Evaluation, key: MetricKey, value: float | None = None) -> Measured:
        """Return a metric of an evaluation."""
        return cls(evaluation.value(key) if value is None else value, evaluation, key)

    @classmethod
    def eer(cls, evaluation: Evaluation) -> Measured:
        """Return the equal error rate by the convention of the protocol."""
        value, key = evaluation.quoted_eer
        return cls.of(evaluation, key, value)

    @property
    def interval(self) -> Interval | None:
        """Confidence interval; None if there is none."""
        one = None if self.evaluation is None else shown_interval(self.evaluation, self.key)
        return None if one is None else replace(self.scaled(one, self.offset), estimate=self.value)

    def scaled(self, one: Interval, plus: float = 0.0) -> Interval:
        """Return the interval of this metric, or without an offset of a difference, from that of the other metric."""
        ends = {name: plus + self.factor * getattr(one, name) for name in ("estimate", "low", "high")}
        corrected = None if one.corrected is None else plus + self.factor * one.corrected
        return replace(one, **ends, corrected=corrected, standard_error=self.factor * one.standard_error)


@dataclass(frozen=True, slots=True)
class Verifier:
    """A verifier in tandem with countermeasures.

    Attributes
    ----------
    name : str
    errors : AsvErrors
        Error rates at its threshold.
    scores : three arrays or None
        Its scores of targets, non-targets and spoofs, if known.
    values : mapping of str to three sequences of str or None
        Values of the columns for the same trials.
    """

    name: str
    errors: AsvErrors
    scores: tuple[Any, ...] | None = None
    values: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)

    def within(self, values: Mapping[str, str | None]) -> Verifier | None:
        """Return the verifier for trials with these values, with its own threshold; None if it accepts no such spoof.

        Columns that the verifier does not have do not count. Targets and non-targets count with any value if none of
        them has the value, such as an attack.
        """
        if self.scores is None:
            return self
        chosen = [np.ones(len(own), bool) for own in self.scores]
        for column in {*values} & {*self.values}:
            is_it = [own == values[column] for own in self.values[column]]
            is_shared = bool(is_it[0].any() or is_it[1].any())
            chosen = [
                rows & (one | (not is_shared and k < 2))
                for k, (rows, one) in enumerate(zip(chosen, is_it, strict=True))
            ]
        three = tuple(own[rows] for own, rows in zip(self.scores, chosen, strict=True))
        errors = asv_errors(*three) if all(map(len, three)) else None
        return None if errors is None or errors.p_fa_spoof == 0.0 else replace(self, errors=errors, scores=three)


@dataclass(frozen=True, slots=True)
class Edition:
    """Metrics, priors and costs of a protocol.

    Attributes
    ----------
    plan : Preset
    t_dcf : mapping of str to value
        Edition, priors and costs of the t-DCF.
    a_dcf : mapping of str to float
        Priors and costs of the a-DCF.
    countermeasure, tandem, single_score : tuple of str
        Names of metrics, in the order of the protocol.
    """

    plan: Preset
    t_dcf: Mapping[str, Any]
    a_dcf: Mapping[str, float]
    countermeasure: tuple[str, ...]
    tandem: tuple[str, ...]
    single_score: tuple[str, ...]

    def names_for(self, role: str) -> tuple[str, ...]:
        """Return the names of the metrics of a role, in the order of the protocol."""
        return self.single_score if role == SINGLE_SCORE else (*self.countermeasure, *self.tandem)

    def sorted(self, role: str, entries: Mapping[str, Measured]) -> dict[str, Measured]:
        """Return metrics with the metrics of the protocol first, in its order."""
        return {name: entries[name] for name in dict.fromkeys((*self.names_for(role), *entries)) if name in entries}

    @classmethod
    def of(cls, plan: Preset | None) -> Edition:
        """Return the edition of a protocol.

        Raises
        ------
        InputError
            If there is no protocol, or it is not about spoofing.
        """
        about = {} if plan is None else plan.spoofing
        if plan is None or not about:
            from deciban.evaluation.preset_table import presets

            known = [cls.of(one) for one in presets().values() if one.spoofing]
            first, others = (", ".join(one.plan.name for one in known if one.has_asv is has) for has in (True, False))
            got = "" if plan is None else f"{plan.name} has no metrics of spoofing; "
            raise InputError(
                f"preset: {got}a verifier ({option(asv=...)}) needs one of the protocols {first}. Protocols of "
                f"spoofing without a verifier: {others}."
            )
        entries = {name: tuple(about.get(name, ())) for name in ("countermeasure", "tandem", "single_score")}
        return cls(plan, about["t_dcf"], about["a_dcf"], **entries)

    @property
    def has_asv(self) -> bool:
        """True if the protocol has metrics of a countermeasure with a verifier."""
        return bool({*self.countermeasure, *self.tandem} & {*OF_VERIFIER, *OF_ITS_SCORES})

    def weights(self, errors: AsvErrors) -> TDcfWeights:
        """Return the weights of the errors of a countermeasure."""
        costs = {name: value for name, value in self.t_dcf.items() if name != "edition"}
        return TDcfCosts(**costs).weights(errors, self.t_dcf["edition"])

    def point(self, errors: AsvErrors) -> OperatingPoint | None:
        """Return the operating point whose normalized cost determines the t-DCF; None if an error costs nothing."""
        weights = self.weights(errors)
        return OperatingPoint(0.5, weights.miss, weights.fa) if weights.miss > 0.0 < weights.fa else None

    def a_point(self) -> tuple[OperatingPoint, dict[str, float]]:
        """Return the operating point of the a-DCF, and the shares of non-targets and spoofs in false alarms."""
        weights = a_dcf_weights(**self.a_dcf)
        total = weights.fa + weights.fa_spoof
        return OperatingPoint(0.5, weights.miss, total), {"non": weights.fa / total, "spoof": weights.fa_spoof / total}


@dataclass(frozen=True, slots=True, eq=False)
class SpoofingSystem:
    """The metrics of one system.

    Attributes
    ----------
    evaluation : Evaluation
        Bona fide trials against spoofs, or targets against non-targets and spoofs.
    role : str
        ``"countermeasure"`` or ``"single score"``.
    metrics : mapping of str to Measured
        By name; metrics of the protocol come first, in its order.
    conditions : tuple of (Condition, metrics)
        The same for each condition.
    """

    evaluation: Evaluation
    role: str
    metrics: Mapping[str, Measured]
    conditions: tuple[tuple[Condition, Mapping[str, Measured]], ...] = ()

    @property
    def name(self) -> str:
        """Name of the system."""
        return self.evaluation.name

    @property
    def are_llrs(self) -> bool:
        """False if the scores are not log-likelihood ratios, so that actual costs are meaningless."""
        return has_llrs(self.evaluation)

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of ``systems`` in JSON."""
        entries = _with(self.evaluation.to_dict(), self.metrics) | {"role": self.role}
        if self.conditions:
            entries["conditions"] = [_with(one.to_dict(), metrics) for one, metrics in self.conditions]
        return entries


def _with(entries: dict[str, Any], metrics: Mapping[str, Measured]) -> dict[str, Any]:
    """Return the metrics of an evaluation, with those that only protocols of spoofing have."""
    own = {name: one for name, one in metrics.items() if name not in ("min_dcf", "act_dcf", "cllr")}
    if (eer := own.get("cm_eer", own.get("sasv_eer"))) is not None:
        own["eer"] = eer  # that of the protocol, not that of the convex hull
    values: dict[str, Any] = plain({name: one.value for name, one in own.items()})
    return {**entries, **values, "intervals": {**entries.get("intervals", {}), **intervals_of(own)}}


def intervals_of(metrics: Mapping[str, Measured]) -> dict[str, Any]:
    """Return the intervals of metrics that have one, by name, as JSON types."""
    return {name: as_object(one.interval) for name, one in metrics.items() if one.interval is not None}


@dataclass(frozen=True, slots=True, eq=False)
class SpoofingResults(Jsonable):
    """Results of several systems by a protocol of spoofing.

    Attributes
    ----------
    edition : Edition
    systems : tuple of SpoofingSystem
    verifier : Verifier or None
    results : Results
        The evaluations of the systems, with the join and the messages.
    """

    edition: Edition
    systems: tuple[SpoofingSystem, ...]
    verifier: Verifier | None
    results: Results[Evaluation]

    @property
    def messages(self) -> tuple[Any, ...]:
        """Input files and assumptions."""
        return self.results.messages

    def of_role(self, role: str) -> list[SpoofingSystem]:
        """Return the systems of a role."""
        return [one for one in self.systems if one.role == role]

    def labelled(self) -> list[tuple[Mapping[str, str], Any]]:
        """Return the evaluations; see `Results`."""
        return self.results.labelled()

    @property
    def metrics(self) -> Any:
        """Table of all metrics, one per row; the metrics of the protocol come first, in its order."""
        return registered("views", "metrics")(self)

    @property
    def of_protocol(self) -> list[tuple[str, str, Metric, Measured]]:
        """System, condition and metric of each value of the protocol, in its order."""
        return [
            (one.name, condition, SPOOFING_METRICS[name], metrics[name])
            for one in self.systems
            for condition, metrics in (("", one.metrics), *((part.name, own) for part, own in one.conditions))
            for name in self.edition.names_for(one.role)
            if name in metrics
        ]

    @property
    def eers(self) -> dict[str, str]:
        """The equal error rate of each system by the convention of the protocol, with its interval, as text."""
        entries = dict[str, str]()
        for one in self.systems:
            measured = one.metrics["cm_eer" if one.role == COUNTERMEASURE else "sasv_eer"]
            text = SPOOFING_METRICS["cm_eer"].text(measured.value)
            entries[one.name] = (
                text if measured.evaluation is None else with_interval(text, measured.evaluation, measured.key)
            )
        return entries

    def shown(self, one: SpoofingSystem) -> list[str]:
        """Return the names of the metrics of a system that tables show."""
        return [name for name in self.edition.names_for(one.role) if name in one.metrics]

    @property
    def remarks(self) -> list[str]:
        """Return sentences on conventions, and on metrics that are lacking."""
        items = {name for one in self.systems for name in self.shown(one)}
        lines, plan, cms = list[str](), self.edition.plan.name, self.of_role(COUNTERMEASURE)
        if items & {"min_t_dcf", "min_a_dcf", "min_dcf"}:
            lines.append("Costs are normalized. EERs: mean of both error rates where they are closest.")
        if any(name in items and one.metrics[name].interval for one in cms for name in OF_VERIFIER):
            lines.append("Intervals of the t-DCF hold for this verifier: its error rates are fixed.")
        if self.verifier is not None and self.verifier.values and any(cm.conditions for cm in cms):
            lines.append("In each row by condition, the error rates of the verifier are those in that condition.")
        without = [one.name for cm in cms for one, own in cm.conditions if OF_VERIFIER[0] in {*cm.metrics} - {*own}]
        if without:
            names = ", ".join(dict.fromkeys(without))
            lines.append(f"No t-DCF where the verifier accepts no spoof of the attack, or has none: {names}.")
        if "bpcer10" in items:
            lines.append(
                "BPCER10, 20, 100: the APCER of every attack is at most 10, 5, 1 %. EER: all attacks together."
            )
        if not self.edition.plan.is_verified:
            lines.append(f"{plan} was not checked against its source: compare it before you quote the metrics.")
        if "t_eer" in items:
            lines.append(
                "t-EER and the min a-DCF of a tandem treat both systems as independent, and have no intervals."
            )
        lacking = [name for name in self.edition.names_for(COUNTERMEASURE) if name not in items]
        if cms and lacking:
            names = ", ".join(SPOOFING_METRICS[name].label for name in lacking)
            lines.append(f"{plan} also has {names}: add the scores of the verifier ({option(asv='FILE')}).")
        raw = [one.name for one in self.systems if not one.are_llrs]
        needing = sorted(SPOOFING_METRICS[name].label for name in items if SPOOFING_METRICS[name].needs_llrs)
        if raw and needing:
            words = "needs" if len(needing) == 1 else "need"
            lines.append(
                f"{', '.join(raw)}: the scores are not log-likelihood ratios, which {', '.join(needing)} {words}: "
                "calibrate them first."
            )
        return lines

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as plain JSON types."""
        return {**self.results.to_dict(), **self._with_verifier([one.to_dict() for one in self.systems])}

    def added_to(self, systems: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """Return ``systems``, JSON of other evaluations of the same systems, with these metrics, and the verifier."""
        own, result = {one.name: one for one in self.systems}, list[dict[str, Any]]()
        for entry in systems:
            one = own.get(entry["name"])
            if one is not None:
                parts = {tuple(part.values.items()): metrics for part, metrics in one.conditions}
                known = [(cell, parts.get(tuple(cell["condition"].items()))) for cell in entry.get("conditions", ())]
                cells = [cell if metrics is None else _with(cell, metrics) for cell, metrics in known]
                more = {"role": one.role} | ({"conditions": cells} if cells else {})
            result.append(entry if one is None else _with(entry, one.metrics) | more)
        return self._with_verifier(result)

    def _with_verifier(self, systems: list[dict[str, Any]]) -> dict[str, Any]:
        entries = dict[str, Any](systems=systems)
        if self.verifier is not None:
            errors = self.verifier.errors
            entries["verifier"] = {"name": self.verifier.name, **plain({k: getattr(errors, k) for k in _RATES})}
        return entries


_RATES = ("p_miss", "p_fa", "p_fa_spoof", "threshold")
