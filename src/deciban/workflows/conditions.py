"""A system by condition: every part of the trials by itself, and all of them with every part counting alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from deciban.analysis.condition_differences import differences_between
from deciban.core.equalizing import equalizing_weights, totals_by_condition
from deciban.errors import InputError
from deciban.evaluation.conditions import ByConditions, Condition, Equalized, SystemConditions
from deciban.evaluation.unit_trials import Resampling
from deciban.messages import Message, counted
from deciban.trials import Trials
from deciban.types import AnyArray, CountArray, IntArray
from deciban.workflows.kinds import AnyKind
from deciban.workflows.kinds.base import Scored
from deciban.workflows.options import Figures
from deciban.workflows.partitions import Partition, partition_of
from deciban.workflows.split import Split, SplitColumn


@dataclass(frozen=True, slots=True, eq=False)
class Conditions:
    """Trials split as a user asked for, for any number of systems.

    Attributes
    ----------
    kind : AnyKind
    classes : tuple of str
        Names of the classes, where there are many.
    truth : (n_trials,) array
    weight : (n_trials,) array or None
    partitions, equalized : tuple of Partition
        Those whose conditions have figures, and those whose conditions count alike.
    """

    kind: AnyKind
    classes: tuple[str, ...]
    truth: AnyArray
    weight: CountArray | None
    partitions: tuple[Partition, ...]
    equalized: tuple[Partition, ...]

    @classmethod
    def of(
        cls,
        split: Split,
        trials: Trials,
        kind: AnyKind,
        truth: AnyArray,
        weight: CountArray | None = None,
        classes: Sequence[str] = (),
    ) -> Conditions:
        """Split trials.

        Parameters
        ----------
        split : Split
        trials : Trials
        kind : AnyKind
        truth : (n_trials,) array
            Whether targets, or of which class.
        weight : (n_trials,) array, optional
        classes : sequence of str
            Where there are many.

        Raises
        ------
        InputError, FormatError, OSError
            As in `partition_of`; or if a trial has no value in a column whose conditions are to count alike.
        """
        known = dict[Any, Partition]()
        for argument, each in (("by", split.partitions), ("equalize", split.equalized)):
            for columns in each:
                known[columns] = known.get(columns) or partition_of(trials, columns, argument=argument)
        for columns in split.equalized:
            _require_values(known[columns], trials)
        parts = ([known[columns] for columns in each] for each in (split.partitions, split.equalized))
        found = cls(kind, tuple(classes), truth, weight, *map(tuple, parts))
        named = kind.classes_by_truth(found.classes)
        by = [one.sharing_own_values(found._totals(one), named, "by") for one in found.partitions]
        return replace(found, partitions=tuple(by))

    def take(self, rows: IntArray) -> Conditions:
        """The same of some of the trials."""
        weight = None if self.weight is None else self.weight[rows]
        parts = ([one.take(rows) for one in each] for each in (self.partitions, self.equalized))
        return Conditions(self.kind, self.classes, self.truth[rows], weight, *map(tuple, parts))

    @property
    def messages(self) -> tuple[Message, ...]:
        """Into how many conditions trials were split."""
        known = dict.fromkeys((*self.partitions, *self.equalized))
        return tuple(message_of(one, self._totals(one)) for one in known)

    def evaluated(
        self, score: AnyArray, pooled: Any, *, figures: Figures, resampling: Resampling | None = None
    ) -> SystemConditions:
        """Evaluate a system in all conditions.

        Parameters
        ----------
        score : (n_trials, ...) array
        pooled : Evaluation or ClassEvaluation
            Of all its trials.
        figures : Figures
        resampling : Resampling, optional
            Of all its trials.
        """
        how: Any = {"figures": figures, "resampling": resampling}
        parts = tuple(self._by(one, score, **how) for one in self.partitions)
        return SystemConditions(pooled, parts, tuple(self.equal(one, score, **how) for one in self.equalized))

    def equal(
        self, partition: Partition, score: AnyArray, *, figures: Figures, resampling: Resampling | None = None
    ) -> Equalized:
        """Evaluate a system with every condition of a partition counting alike.

        Raises
        ------
        InputError
            As evaluations of weighted trials do.
        """
        sizes = {"n_conditions": len(partition.values), "n_classes": self._n_classes}
        weight = equalizing_weights(partition.cell, self.truth, self.weight, **sizes)
        name, asked = f"equalized over {partition.title}", replace(figures, subsets=None)  # which have no weights
        drawn = None if resampling is None else replace(resampling, strata=partition.cell)
        how: Any = {"figures": asked, "classes": self.classes, "resampling": drawn}
        found = self.kind.evaluate((score, self.truth, weight), name=name, **how)
        return equalized_of(partition, self._conditions(partition), found)

    @property
    def _n_classes(self) -> int:
        return len(self.kind.classes_by_truth(self.classes))

    def _totals(self, partition: Partition) -> CountArray:
        return partition.in_conditions(self._of_cells(partition))

    def _of_cells(self, partition: Partition) -> CountArray:
        sizes = {"n_conditions": partition.n_cells, "n_classes": self._n_classes}
        return totals_by_condition(partition.cell, self.truth, self.weight, **sizes)

    def _conditions(self, partition: Partition) -> list[Condition]:
        """Conditions with their counts, without figures."""
        return conditions_of(partition, self._totals(partition), self.kind.classes_by_truth(self.classes))

    def _by(
        self, partition: Partition, score: AnyArray, *, figures: Figures, resampling: Resampling | None
    ) -> ByConditions:
        found = [
            one if one.lacking else replace(one, found=self._of_rows(rows, score, one.name, figures, resampling))
            for one, rows in zip(self._conditions(partition), partition.rows(), strict=True)
        ]
        trials = named_totals(self._of_cells(partition), self.kind.classes_by_truth(self.classes))
        return with_differences(partition, found, trials, None if resampling is None else resampling.level)

    def _of_rows(
        self, rows: IntArray, score: AnyArray, name: str, figures: Figures, resampling: Resampling | None
    ) -> Any:
        """Evaluate some of the trials, of which those that weigh nothing are none."""
        if self.weight is not None:
            rows = rows[self.weight[rows] > 0]
        own = None if resampling is None or resampling.units is None else resampling.units.take(rows).only_used()
        drawn = None if own is None or own.n_units < 2 or resampling is None else replace(resampling, units=own)
        trials: Scored = score[rows], self.truth[rows], None if self.weight is None else self.weight[rows]
        return self.kind.evaluate(trials, name=name, figures=figures, classes=self.classes, resampling=drawn)


def conditions_of(partition: Partition, totals: CountArray, classes: Sequence[tuple[str, int]]) -> list[Condition]:
    """Conditions with their counts, without figures.

    Parameters
    ----------
    partition : Partition
    totals : (n_conditions, n_classes) array
    classes : sequence of (str, int)
        Names of the classes, and their columns.
    """
    return [
        Condition(called, dict(zip(partition.names, values, strict=True)), {name: row[at] for name, at in classes})
        for called, values, row in zip(partition.called, partition.values, totals.tolist(), strict=True)
    ]


def named_totals(of_cells: CountArray, classes: Sequence[tuple[str, int]]) -> dict[str, int | float]:
    """Trials of each class in all, or their weight, from those of each combination of values, (n_cells, n_classes)."""
    totals = of_cells.sum(axis=0).tolist()
    return {name: totals[at] for name, at in classes}


def message_of(partition: Partition, totals: CountArray) -> Message:
    """Into how many conditions trials were split."""
    n_partial = int(np.count_nonzero((totals == 0).any(axis=1)))
    lacking = f", {n_partial} of them without trials of some class" if n_partial else ""
    in_all = "".join(
        f"; only {one.owner} have {_words_of(one)}, and all of them count in every condition"
        if one.owner
        else f"; trials with {_words_of(one)} count in every condition"
        for one in partition.columns
        if one.everywhere is not None
    )
    return Message("by", "", f"{partition.title}: {counted(len(partition.values), 'condition')}{lacking}{in_all}")


def _words_of(column: SplitColumn) -> str:
    return f"{column.name} {column.everywhere}" if column.everywhere else f"no {column.name}"


def with_differences(
    partition: Partition, found: Sequence[Condition], trials: Mapping[str, int | float], level: float | None
) -> ByConditions:
    """The conditions of a partition with what differs between them.

    Parameters
    ----------
    partition : Partition
    found : sequence of Condition
    trials : mapping of str to number
        Of each class in all.
    level : float or None
        Of intervals; None where nothing has some.
    """
    made = ByConditions(partition.title, partition.names, tuple(found), trials=trials)
    if level is None:
        return replace(made, no_differences="units are not known, or no intervals were asked for")
    differences, why = differences_between(made.evaluated, level)
    return replace(made, differences=differences, no_differences=why)


def equalized_of(partition: Partition, conditions: Sequence[Condition], found: Any) -> Equalized:
    """An evaluation of weighted trials as that of conditions that count alike."""
    made = Equalized(partition.title, partition.names, tuple(conditions), found)
    return replace(made, found=replace(found, notes=(*found.notes, f"Equalized: {made.rule}.")))


def no_value(column: str, where: str, n_trials: int) -> InputError:
    """The error of trials without a value where conditions count alike: nobody said of which they are."""
    return InputError(
        f"equalize: {where}: no value in {column!r}, and its condition must be known "
        f"({counted(n_trials, 'such trial')}). Complete it, or leave these trials out (--where)."
    )


def _require_values(partition: Partition, trials: Trials) -> None:
    """Refuse trials without a value where conditions count alike: nobody said of which they are."""
    for at, column in enumerate(partition.columns):
        lacks = np.array([values[at] is None for values in partition.values])[partition.cell]
        if lacks.any():
            row, n = int(np.argmax(lacks)), int(np.count_nonzero(lacks))
            raise no_value(column.name, trials.origin.where(row), n)
