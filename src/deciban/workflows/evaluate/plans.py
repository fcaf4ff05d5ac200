"""Evaluation protocols applied to trials: weights of conditions, and separate parts, for the primary metric."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from deciban.core.class_counts import sharing_factors
from deciban.engines.units import weighted_by_condition
from deciban.errors import WARNING, InputError, Message, option, shortened
from deciban.evaluation.preset_table import Preset, PresetMetric, Primary, presets, primary_of
from deciban.evaluation.results import Results
from deciban.metrics import act_dcf, min_dcf
from deciban.multiclass import pairwise_llr
from deciban.trials.sources import TrialSource
from deciban.types import CountArray, FloatArray, KindName
from deciban.workflows.kinds import AnyKind, kind_called
from deciban.workflows.options import MetricOptions, Options, Split
from deciban.workflows.reading.partitions import SplitColumn, require_apart, split_columns

if TYPE_CHECKING:
    from deciban.evaluation.one_system import OneSystem
    from deciban.workflows.evaluate.conditions import Conditions
    from deciban.workflows.reading.units import UnitsOfSource

OF_SCORES = ("cluster_c_avg", "pair_cost")
"""Primary metrics that need parts of the scores instead of one evaluation."""


@dataclass(frozen=True, slots=True, eq=False)
class ProtocolTrials:
    """Trials of a source with a protocol, for any number of systems.

    Attributes
    ----------
    plan : Preset
    kind : AnyKind
    units : UnitsOfSource
        The trials.
    conditions : Conditions or None
        Conditions with equal weights or shares; None if the protocol has none, or the key lacks their columns.
    lacking : tuple of str
        Columns that the key lacks.
    """

    plan: Preset
    kind: AnyKind
    units: UnitsOfSource
    conditions: Conditions | None
    lacking: tuple[str, ...]

    @classmethod
    def of(cls, plan: Preset, kind: AnyKind, units: UnitsOfSource) -> ProtocolTrials | None:
        """Apply a protocol, in one pass if it has conditions; None if it needs parts of the scores.

        Raises
        ------
        InputError
            If the protocol is for scores of the other kind, or a share has no non-targets.
        """
        require_kind(plan, kind.name)
        source = units.source
        if plan.primary in OF_SCORES and source.batch is None:
            return None
        columns = plan_columns(plan)
        lacking = tuple(one.name for one in columns if not one.path and one.name not in source.conditions)
        conditions = None
        if columns and not lacking:
            from deciban.workflows.evaluate.conditions import Conditions

            split = Split(equalize=plan.equalize) if plan.equalize else Split(by=plan.share_column)
            conditions = Conditions.of(split, kind, units, argument="preset")
        return cls(plan, kind, units, conditions, lacking)

    def primary(self, evaluation: OneSystem, options: Options, *, system: int) -> Primary:
        """Return the primary metric of a system.

        Parameters
        ----------
        evaluation : Evaluation or ClassEvaluation
            Evaluation of all trials, at all operating points of the protocol and possibly others.
        options : Options
        system : int
            Index of the system.
        """
        plan, own, trials = self.plan, replace(options, metrics=plan_metrics(self.plan)), self.units.source
        if plan.primary in OF_SCORES:
            of_parts = self._of_clusters if plan.primary == "cluster_c_avg" else self._of_pairs
            return of_parts(evaluation, system)
        if self.lacking:
            return primary_of(plan, evaluation, departs=lacking_columns(self.lacking))
        if self.conditions is not None and plan.equalize:
            (part,) = self.conditions.equalized
            result = self.conditions.equal(part, own, system=system)
            return primary_of(plan, replace(result.evaluation, name=evaluation.name), how=result.rule)
        if self.conditions is not None:
            (part,) = self.conditions.partitions
            names = [values[0] for values in part.values]
            factors = sharing_factors(part.totals, shares_of(plan, names, part.totals))
            source, _ = part.weighted(partial(weighted_by_condition, trials), factors, is_classes=False)
            how = f"non-targets weighted by {plan.share_column}, in the shares of the protocol"
            return primary_of(plan, self._evaluated(source, own, evaluation.name, system), how=how)
        first = primary_of(plan, evaluation)
        if first.metric.interval is not None or self.units.units is None:
            return first
        # Only its points, with intervals.
        return primary_of(plan, self._evaluated(trials, own, evaluation.name, system))

    def _evaluated(self, source: TrialSource, options: Options, name: str, system: int) -> Any:
        return self.kind.evaluate_source(replace(self.units, source=source), options, system=system, name=name)

    def _of_clusters(self, evaluation: OneSystem, system: int) -> Primary:
        """Return the mean C_avg over clusters, each with only its own segments and log-likelihoods.

        Raises
        ------
        InputError
            If a cluster has only one of the classes, or a class is in no cluster.
        """
        parts, least, there = dict[str, float](), list[float](), self.units.source.classes
        for cluster, members in self.plan.clusters.items():
            columns = [there.index(name) for name in members if name in there]
            if not columns:
                continue
            if len(columns) < 2:
                raise InputError(
                    f"preset: cluster {cluster} of {self.plan.name} has the classes {', '.join(members)}, but the "
                    f"scores have only {there[columns[0]]}. Leave this class out ({option(classes=...)}), or "
                    f"{_edit(self.plan)}."
                )
            point = self._restricted(columns, cluster, system).points[0]
            parts[cluster] = point.c_avg
            least.append(point.min_c_avg)
        every = [name for names in self.plan.clusters.values() for name in names]
        strange = sorted(set(there).difference(every))
        if strange or not parts:
            raise InputError(
                f"preset: {shortened(', '.join(strange or there))}: in no cluster of {self.plan.name}, which has "
                f"{', '.join(every)}. Use these names, leave other classes out ({option(classes=...)}), or "
                f"{_edit(self.plan)}."
            )
        value, minimum = (PresetMetric(math.fsum(some) / len(some)) for some in (list(parts.values()), least))
        absent = [name for name in self.plan.clusters if name not in parts]
        unscored = [name for name in every if name not in there]
        words = [f"no classes of {', '.join(absent)}"] if absent else []
        words += [f"no scores of {shortened(', '.join(unscored))}"] if unscored else []
        return Primary(self.plan, evaluation.name, value, minimum, "each cluster separately", "; ".join(words), parts)

    def _restricted(self, columns: list[int], name: str, system: int) -> Any:
        """Evaluate the segments of some classes, with only these classes."""
        batch, place = self.units.source.held, np.full(len(self.units.source.classes), -1, np.int64)
        place[columns] = np.arange(len(columns))
        some, classes = batch.take(place[batch.labels] >= 0), tuple(self.units.source.classes[k] for k in columns)
        own = place[some.labels]
        self.kind.require_trials(own, classes)
        trials = some.scores[system][:, columns], own, some.weight
        return self.kind.evaluate(trials, plan_metrics(self.plan), classes, name=name)

    def _of_pairs(self, evaluation: OneSystem, system: int) -> Primary:
        """Return the mean cost of pairs of classes at prior 0.5, over the pairs with the highest minimum cost."""
        costs, batch, classes = list[tuple[float, float, str]](), self.units.source.held, self.units.source.classes
        for i, j in itertools.combinations(range(len(classes)), 2):
            sides = [batch.labels == k for k in (i, j)]
            llr = [pairwise_llr(batch.scores[system][side], i, j) for side in sides]
            both = [None if batch.weight is None else batch.weight[side] for side in sides]
            name = f"{classes[i]} / {classes[j]}"
            of_pair = [
                float(cost(*llr, p_target=0.5, tar_weights=both[0], non_weights=both[1], normalize=False))
                for cost in (min_dcf, act_dcf)
            ]
            costs.append((of_pair[0], of_pair[1], name))
        worst = sorted(costs, key=lambda one: (-one[0], -one[1], one[2]))[: self.plan.worst_pairs]
        least, actual = (math.fsum(each) / len(worst) for each in list(zip(*worst, strict=True))[:2])
        request = self.plan.worst_pairs or len(worst)
        departs = f"{len(worst)} pairs, but the protocol needs {request}" if len(worst) < request else ""
        parts = {name: cost for _, cost, name in worst}
        return Primary(self.plan, evaluation.name, PresetMetric(actual), PresetMetric(least), "", departs, parts)


def shares_of(plan: Preset, names: Sequence[str | None], totals: CountArray) -> FloatArray:
    """Return the shares of non-targets in a protocol, by the values of a column.

    Parameters
    ----------
    plan : Preset
    names : sequence of str or None
        Values of the column.
    totals : (n_names, 2) array
        Numbers of non-targets and targets for each value.

    Returns
    -------
    (n_names, 2) array
        Shares for `deciban.core.class_counts.sharing_factors`.

    Raises
    ------
    InputError
        If some non-targets have no share, or a share has no non-targets.
    """
    there = [str(name) for name, total in zip(names, totals[:, 0], strict=True) if total]
    strange = [name for name in there if name not in plan.non_target_shares]
    if strange or [name for name, share in plan.non_target_shares.items() if share and name not in there]:
        raise InputError(
            f"preset: {plan.name} defines shares of non-targets with {plan.share_column!r} "
            f"{', '.join(plan.non_target_shares)}, but non-targets of the key have {shortened(', '.join(there))}. "
            f"Use these values in the key, leave others out ({option(where=...)}), or {_edit(plan)}."
        )
    shares = np.full((len(names), 2), np.nan)
    shares[:, 0] = [plan.non_target_shares.get(str(name), 0.0) for name in names]
    return shares


def plan_metrics(plan: Preset) -> MetricOptions:
    """Return the metrics of a protocol, without other slow metrics."""
    metrics = MetricOptions(**plan.metrics)
    return replace(metrics, subsets=False, pairs=False) if plan.kind == "classes" else metrics


def plan_columns(plan: Preset) -> tuple[SplitColumn, ...]:
    """Return the columns by which a protocol weights trials; empty for equal weights of all trials.

    Raises
    ------
    InputError
        If trials of a column count in every condition.

    Examples
    --------
    >>> from deciban.evaluation.preset_table import preset
    >>> plan_columns(preset("voxsrc"))
    ()
    """
    columns = split_columns(plan.equalize or plan.share_column, "preset") if plan.columns else ()
    require_apart(columns, "preset")
    return columns


def require_kind(plan: Preset, kind: KindName) -> None:
    """Refuse a protocol for scores of the other kind.

    Raises
    ------
    InputError
    """
    if plan.kind != kind:
        held = kind_called(kind).about
        fitting = ", ".join(name for name, one in presets().items() if one.kind == kind)
        raise InputError(
            f"preset: {plan.name} is for {kind_called(plan.kind).about} scores, but the scores are {held} (if not, use "
            f"{option(kind=plan.kind)}). Presets for {held} scores: {fitting}."
        )


def with_primary_numbers(results: Results[Any], plan: Preset) -> Results[Any]:
    """Return results with the primary metric of a protocol for every system, if it follows from evaluations.

    Parameters
    ----------
    results : Results
    plan : Preset

    Returns
    -------
    Results
        With a message if the primary metric needs the trials.
    """
    if results.primaries:
        return results
    kind: Any = results.kind
    require_kind(plan, kind)
    if plan.primary in OF_SCORES:
        words = f"no primary metric of {plan.name}: it needs parts of the scores, but the trials are read in batches"
        return replace(results, messages=(*results.messages, Message(WARNING, "", words)))
    departs = f"all trials pooled, not by {', '.join(plan.columns)}: trials are read in batches" if plan.columns else ""
    return replace(results, primaries=tuple(primary_of(plan, one, departs=departs) for one in results.systems))


def _edit(plan: Preset) -> str:
    """Return a hint how to edit a protocol: a copy, if it belongs to deciban."""
    is_ours = plan.name in presets()
    return f"edit a copy of the protocol (deciban presets {plan.name} --toml)" if is_ours else "edit the protocol"


def lacking_columns(lacking: Sequence[str]) -> str:
    """Return the deviation from a protocol due to columns that the key lacks."""
    words = "columns" if len(lacking) > 1 else "column"
    return f"all trials pooled, because the key has no {words} {', '.join(lacking)}"
