"""Plans of evaluations applied to trials in pieces, as far as they ask for no parts of the scores."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from deciban.core.equalizing import sharing_factors
from deciban.engines.work import Engine
from deciban.evaluation.preset_table import Preset
from deciban.evaluation.primary import Primary, primary_of
from deciban.io.shards.pieces import ShardSource
from deciban.workflows.conditions_in_pieces import ConditionsInPieces
from deciban.workflows.kinds import AnyKind
from deciban.workflows.options import Options
from deciban.workflows.plans import (
    OF_SCORES,
    PlannedTrials,
    lacking_columns,
    plan_columns,
    plan_figures,
    require_kind,
    shares_of,
)
from deciban.workflows.split import Split
from deciban.workflows.units_in_pieces import UnitsOfSource


@dataclass(frozen=True, slots=True, eq=False)
class PlannedInPieces:
    """Trials of a source to which a plan is applied, for any number of systems.

    Attributes
    ----------
    plan : Preset
    source : ShardSource
    engine : Engine
    kind : AnyKind
    units : UnitsOfSource
    conditions : ConditionsInPieces or None
        Those that count alike, or have shares; None where the plan has none, or the key no such columns.
    lacking : tuple of str
        Columns that the key should have, and has not.
    """

    plan: Preset
    source: ShardSource
    engine: Engine
    kind: AnyKind
    units: UnitsOfSource
    conditions: ConditionsInPieces | None
    lacking: tuple[str, ...]

    @classmethod
    def of(
        cls, plan: Preset, source: ShardSource, engine: Engine, kind: AnyKind, units: UnitsOfSource
    ) -> PlannedInPieces | None:
        """Apply a plan: one pass where it has conditions; None if it needs parts of the scores.

        Raises
        ------
        InputError
            If the plan is for scores of the other kind, or shares are asked of what no non-target has.
        """
        require_kind(plan, kind.name)
        if plan.primary in OF_SCORES and source.batch is None:
            return None
        columns = plan_columns(plan)
        lacking = tuple(one.name for one in columns if not one.path and one.name not in source.conditions)
        conditions = None
        if columns and not lacking:
            split = Split(equalize=plan.equalize) if plan.equalize else Split(by=plan.share_column)
            conditions = ConditionsInPieces.of(split, source, engine, kind, units, argument="preset")
        return cls(plan, source, engine, kind, units, conditions, lacking)

    def primary(self, found: Any, options: Options, *, system: int) -> Primary:
        """The primary number of a system.

        Parameters
        ----------
        found : Evaluation or ClassEvaluation
            Of all trials, at all points of the plan and maybe at others.
        options : Options
        system : int
            Its position.
        """
        plan, own = self.plan, replace(options, figures=plan_figures(self.plan))
        if plan.primary in OF_SCORES:
            return self._of_scores(found, system)
        if self.lacking:
            return primary_of(plan, found, departs=lacking_columns(self.lacking))
        if self.conditions is not None and plan.equalize:
            (part,) = self.conditions.equalized
            made = self.conditions.equal(part, own, system=system)
            return primary_of(plan, replace(made.found, name=found.name), how=made.rule)
        if self.conditions is not None:
            (part,) = self.conditions.partitions
            names = [values[0] for values in part.partition.values]
            factors = sharing_factors(part.totals, shares_of(plan, names, part.totals))
            source, _ = part.weighted(self.source, factors, is_classes=False)
            how = f"non-targets by {plan.share_column} in the shares of the plan"
            return primary_of(plan, self._evaluated(source, own, found.name, system), how=how)
        first = primary_of(plan, found)
        if first.figure.interval is not None or self.units.units is None:
            return first
        return primary_of(plan, self._evaluated(self.source, own, found.name, system))  # its points alone: intervals

    def _of_scores(self, found: Any, system: int) -> Primary:
        """Return the primary number that is made of parts of the scores."""
        batch = self.source.batch
        assert batch is not None and batch.trials is not None and batch.truth is not None  # noqa: S101, PT018  # as it is read
        known: Any = batch.trials, batch.truth, batch.weight, self.source.classes
        planned = PlannedTrials(self.plan, self.kind, *known)
        return planned.primary(batch.scores[system], found)

    def _evaluated(self, source: ShardSource, options: Options, name: str, system: int) -> Any:
        units = replace(self.units, source=source)
        return self.kind.evaluate_source(source, self.engine, options, system=system, name=name, units=units)
