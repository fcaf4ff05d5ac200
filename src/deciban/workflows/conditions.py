"""Results by condition: trials of a source are split by columns, and each part is evaluated."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from operator import add
from typing import Any

import numpy as np

from deciban._arrow import of_numpy
from deciban.analysis.differences import differences_between
from deciban.core.equalizing import equalizing_factors
from deciban.engines.conditions import (
    ConditionFacts,
    ConditionWeights,
    SortedSource,
    Values,
    look_at_conditions,
    of_condition,
    sorted_by_condition,
    weighted_by_condition,
)
from deciban.engines.units import look_at_units, survey_trials
from deciban.errors import InputError
from deciban.evaluation.conditions import ByConditions, Condition, Equalized, SystemConditions
from deciban.messages import WARNING, Message, counted
from deciban.trials.lists import as_text
from deciban.trials.names import IdMap
from deciban.trials.sources import Chunk, HeldPiece, ShardSource, Wanted
from deciban.types import CountArray, FloatArray, IntArray
from deciban.workflows.kinds import AnyKind
from deciban.workflows.options import Options
from deciban.workflows.partitions import (
    MOST,
    Split,
    SplitColumn,
    Value,
    coded_values,
    crossed,
    no_column,
    no_side,
    said_of_names,
    values_in_order,
    with_what_counts_everywhere,
)
from deciban.workflows.units import UnitsOfSource


@dataclass(frozen=True, slots=True, eq=False)
class SplitByColumns:
    """Tells the conditions of the trials of a piece by what columns say.

    Attributes
    ----------
    columns : tuple of SplitColumn
    places : tuple of int
        Where each stands among the columns that pieces give.
    files : tuple of IdMap or None
        What is said of the names that stand there, if that is asked.
    argument : str
        For messages.
    """

    columns: tuple[SplitColumn, ...]
    places: tuple[int, ...]
    files: tuple[IdMap | None, ...]
    argument: str

    @classmethod
    def in_source(cls, source: ShardSource, columns: Sequence[SplitColumn], argument: str) -> SplitByColumns:
        """Find the columns in a source.

        Raises
        ------
        FormatError, InputError, OSError
            If there is no such column or file.
        """
        from deciban.io.reader import read_id_map

        for one in columns:
            if one.side and one.side not in source.names:
                raise no_side(one.side, source.names, source.name, argument)
            if (one.side or one.name) not in source.conditions:
                raise no_column(one.name, source.columns, source.name, argument)
        places = tuple(source.conditions.index(one.side or one.name) for one in columns)
        files = tuple(read_id_map(one.path) if one.path else None for one in columns)
        return cls(tuple(columns), places, files, argument)

    def of(self, chunk: Chunk, name: str) -> tuple[list[Values], IntArray]:
        """See `SplitRows.of`."""
        assert chunk.conditions is not None  # noqa: S101  # they were asked for
        condition: IntArray = np.zeros(len(chunk.conditions[0][0]), np.int64)
        found: list[Values] = [()]
        for at in range(len(self.columns)):
            values, codes = self._of_column(chunk, name, at)
            used, condition = _used(condition * len(values) + codes, len(found) * len(values))
            found = [(*found[one // len(values)], values[one % len(values)]) for one in used.tolist()]
        return found, condition

    def _of_column(self, chunk: Chunk, name: str, at: int) -> tuple[list[str | None], IntArray]:
        """Values of one of the columns, and which of them every trial has."""
        assert chunk.conditions is not None  # noqa: S101  # they were asked for
        codes, known = chunk.conditions[self.places[at]]
        used, place = _used(codes, len(known) + 1)  # the last code is for nothing
        values, held = known.take(of_numpy(used, lacking=used == len(known))), self.files[at]
        if held is not None:
            values = said_of_names(held, as_text(values))
        often = np.bincount(place, minlength=len(used))

        def where(value: int) -> str:
            return name if chunk.trials is None else chunk.trials.origin.where(int(np.argmax(place == value)))

        found, own = coded_values(values, self.columns[at], self.argument, where, often)
        return found, own[place]

    def require_few(self, found: Sequence[Values]) -> None:
        """See `SplitRows.require_few`."""
        if len(found) > MOST:
            _crossed(self, found)


def _used(codes: IntArray, n: int) -> tuple[IntArray, IntArray]:
    """Which of so many codes are used, and the places of all among these."""
    used = np.flatnonzero(np.bincount(codes, minlength=n))
    place = np.zeros(n, np.int64)
    place[used] = np.arange(len(used))
    return used, place[codes]


def _crossed(split: SplitByColumns, found: Sequence[Values]) -> tuple[Values, ...]:
    """All conditions: every combination of the values that were found."""
    each = [values_in_order(one, (values[at] for values in found)) for at, one in enumerate(split.columns)]
    return crossed(split.columns, each, split.argument)


@dataclass(frozen=True, slots=True, eq=False)
class Partition:
    """Trials of a source split into conditions.

    Attributes
    ----------
    split : SplitByColumns
    columns : tuple of SplitColumn
        Those of the split; the trials of a value may count in every condition.
    combinations : tuple of Values
        All combinations of values that occur, and all bins, also those that no trial is of.
    facts : mapping of Values to ConditionFacts
        Of combinations of values that trials have.
    values : tuple of Values
        Of each condition a value for each column; None where the key has no value.
    cells : tuple of tuple of int
        Of which combinations the trials of each condition are. Several conditions have some in common where the trials
        of a value count in all of them; elsewhere each condition is a combination of its own, at its own place.
    totals : (n_conditions, n_classes) array
    """

    split: SplitByColumns
    columns: tuple[SplitColumn, ...]
    combinations: tuple[Values, ...]
    facts: Mapping[Values, ConditionFacts]
    values: tuple[Values, ...]
    cells: tuple[tuple[int, ...], ...]
    totals: CountArray

    @classmethod
    def of(cls, split: SplitByColumns, facts: Mapping[Values, ConditionFacts], n_classes: int) -> Partition:
        """Return the conditions that were found in a pass.

        Raises
        ------
        InputError
            If there are more than 1,000 conditions, or no trial has the value that should count in all of them.
        """
        combinations, none = _crossed(split, [*facts]), np.zeros(n_classes, np.int64)
        totals = [facts[one].totals if one in facts else none for one in combinations]
        return cls._of(split, split.columns, combinations, facts, np.array(totals).reshape(-1, n_classes))

    @classmethod
    def _of(
        cls,
        split: SplitByColumns,
        columns: tuple[SplitColumn, ...],
        combinations: tuple[Values, ...],
        facts: Mapping[Values, ConditionFacts],
        of_cells: CountArray,
    ) -> Partition:
        """Return the conditions of combinations; ``of_cells`` counts the trials of each of these by class."""
        found = with_what_counts_everywhere(columns, combinations, split.argument)
        values, cells = tuple(one for one, _ in found), tuple(own for _, own in found)
        totals = np.array([of_cells[list(own)].sum(axis=0) for own in cells], of_cells.dtype)
        return cls(split, columns, combinations, facts, values, cells, totals.reshape(-1, of_cells.shape[1]))

    def sharing_own_values(self, classes: Sequence[tuple[str, int]]) -> Partition:
        """Return the partition in which a value that one of two classes has alone counts in every condition.

        That is so of columns that divide one class, such as attacks: all trials of the other class have one value of
        their own, and no condition would have both classes. A partition with a value that a user chose stays as it is.

        Parameters
        ----------
        classes : sequence of (str, int)
            Names of the classes, and their columns in the totals.
        """
        if len(classes) != 2 or any(one.everywhere is not None for one in self.columns):
            return self
        columns = tuple(
            _with_own_value(column, [values[at] for values in self.values], self.totals, classes)
            for at, column in enumerate(self.columns)
        )
        if columns == self.columns:
            return self
        return self._of(self.split, columns, self.combinations, self.facts, self.totals)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(one.name for one in self.columns)

    @property
    def title(self) -> str:
        """What trials are split by, in words: two partitions have two titles."""
        return " \N{MULTIPLICATION SIGN} ".join(one.title for one in self.columns)

    @property
    def called(self) -> tuple[str, ...]:
        """Every condition in words."""
        return tuple(
            " \N{MIDDLE DOT} ".join(_called(one, value) for one, value in zip(self.columns, values, strict=True))
            for values in self.values
        )

    def occurring(self, values: Values) -> tuple[Values, ...]:
        """Return the combinations of values of the trials of a condition, of those that some trials have."""
        places = self.cells[self.values.index(values)]
        return tuple(self.combinations[at] for at in places if self.combinations[at] in self.facts)

    def require_values(self, source: ShardSource) -> None:
        """Refuse trials without a value where conditions count alike.

        Raises
        ------
        InputError
        """
        for at, column in enumerate(self.columns):
            lacking = [values for values in self.facts if values[at] is None]
            if lacking:
                n = sum(self.facts[one].n_trials for one in lacking)
                raise no_value(column.name, self._where(source, lacking), n)

    def _where(self, source: ShardSource, lacking: Sequence[Values]) -> str:
        """Return the place of the first trial with some values, where trials have names; else the source."""
        batch = source.batch
        if batch is None or batch.trials is None:
            return source.name
        values, codes = self.split.of(batch, source.name)
        lacks = np.array([one in lacking for one in values], np.bool_)
        return batch.trials.origin.where(int(np.argmax(lacks[codes])))

    def rows(self, batch: Chunk, name: str) -> dict[Values, IntArray]:
        """Return the trials of each combination of values."""
        values, codes = self.split.of(batch, name)
        small = codes.astype(np.min_scalar_type(len(values)))  # which are sorted by counting
        ends = np.cumsum(np.bincount(codes, minlength=len(values)))[:-1]
        return dict(zip(values, np.split(np.argsort(small, kind="stable"), ends), strict=True))

    def is_spread(self, n_pieces: int) -> bool:
        """Whether pieces have trials of several conditions."""
        return sum(one.pieces.bit_count() for one in self.facts.values()) > n_pieces

    def weighted(
        self, weigh: Callable[[ConditionWeights], ShardSource], factors: FloatArray, *, is_classes: bool
    ) -> tuple[ShardSource, IntArray]:
        """Return trials with weights, by what gives them to a source, and the class of each of their strata."""
        n_conditions, n_classes = self.totals.shape
        if is_classes:
            strata, home = _strata(self.totals)
        else:
            strata = np.repeat(np.arange(n_conditions)[:, None], n_classes, axis=1)
            home = np.zeros(0, np.int64)
        place = {values: at for at, values in enumerate(self.values)}
        weights = ConditionWeights(self.split, place, factors, strata)
        return weigh(weights), home


def _with_own_value(
    column: SplitColumn, values: Sequence[Value], totals: CountArray, classes: Sequence[tuple[str, int]]
) -> SplitColumn:
    """Let the value count everywhere that all trials of one class have, and none of the other, which has several."""
    held = {name: {value for value, n in zip(values, totals[:, at].tolist(), strict=True) if n} for name, at in classes}
    for name, other in (held, [*held][::-1]):
        if len(held[name]) == 1 and len(held[other]) > 1 and not held[name] & held[other] and not column.borders:
            (value,) = held[name]
            return replace(column, everywhere=value or "", owner=name)
    return column


def _called(column: SplitColumn, value: Value) -> str:
    if value is None:
        return f"no {column.name}"
    return value if column.borders else f"{column.name} {value}"


def _strata(totals: CountArray) -> tuple[IntArray, IntArray]:
    """Strata of conditions and classes that have trials, and the class of each: class by class."""
    there = (totals > 0).T
    home: IntArray = np.repeat(np.arange(len(there)), there.sum(axis=1))
    place = np.cumsum(there.ravel()).reshape(there.shape) - 1
    first = np.searchsorted(home, np.arange(len(there)))[:, None]
    strata: IntArray = np.maximum(place, first).T  # trials that weigh nothing may be anywhere in their class
    return strata, home


def no_value(column: str, where: str, n_trials: int) -> InputError:
    """The error of trials without a value where conditions count alike: nobody said of which they are."""
    return InputError(
        f"equalize: {where}: no value in {column!r}, and its condition must be known "
        f"({counted(n_trials, 'such trial')}). Complete it, or leave these trials out (--where)."
    )


@dataclass(frozen=True, slots=True, eq=False)
class Conditions:
    """Trials of a source split as a user asked for, for any number of systems.

    Attributes
    ----------
    kind : AnyKind
    units : UnitsOfSource
        All trials.
    partitions, equalized : tuple of Partition
        Those whose conditions have figures, and those whose conditions count alike.
    of_cells : dict
        Units of conditions, which all systems share.
    in_order : dict
        Trials of a system, by its position, sorted by the conditions of a partition: those of the last one.
    rows : dict
        Rows of the trials of each combination of values, where trials are in memory.
    """

    kind: AnyKind
    units: UnitsOfSource
    partitions: tuple[Partition, ...]
    equalized: tuple[Partition, ...]
    of_cells: dict[tuple[Partition, Values], UnitsOfSource]
    in_order: dict[Partition, tuple[int, SortedSource]]
    rows: dict[Partition, dict[Values, IntArray]]

    @classmethod
    def of(cls, split: Split, kind: AnyKind, units: UnitsOfSource, argument: str = "") -> Conditions:
        """Split trials: one pass.

        Parameters
        ----------
        split : Split
        kind : AnyKind
        units : UnitsOfSource
            All trials.
        argument : str
            What asks for it, for messages; if it is empty, ``by`` and ``equalize``.

        Raises
        ------
        FormatError, InputError, OSError
            If there is no such column or file, there are more than 1,000 conditions, or a trial has no value in a
            column whose conditions are to count alike.
        """
        splits, source = dict[Any, SplitByColumns](), units.source
        for asked, each in (("by", split.partitions), ("equalize", split.equalized)):
            for columns in each:
                splits[columns] = splits.get(columns) or SplitByColumns.in_source(source, columns, argument or asked)
        classes = kind.classes_by_truth(source.classes)
        n_classes = len(classes)
        found = look_at_conditions(source, units.engine, [*splits.values()], n_classes)
        known = {
            columns: Partition.of(one, facts, n_classes)
            for (columns, one), facts in zip(splits.items(), found, strict=True)
        }
        for columns in split.equalized:
            known[columns].require_values(source)
        by = tuple(known[one] for one in split.partitions)
        if not argument:  # a plan gives shares to the values as they are
            by = tuple(one.sharing_own_values(classes) for one in by)
        return cls(kind, units, by, tuple(known[one] for one in split.equalized), {}, {}, {})

    @property
    def messages(self) -> tuple[Message, ...]:
        """Into how many conditions trials were split."""
        known = dict.fromkeys((*self.partitions, *self.equalized))
        found = [message_of(one) for one in known]
        if self.equalized and self._are_trials and self.units.source.batch is None and not self.units.source.classes:
            words = "no intervals where every trial is a unit by itself and trials are read in pieces"
            found.append(Message(WARNING, "", f"equalize: {words}"))
        return tuple(found)

    @property
    def _are_trials(self) -> bool:
        """Whether every trial is a unit by itself."""
        return self.units.units is not None and (self.units.singles is not None or self.units.are_trials)

    def evaluated(self, pooled: Any, options: Options, *, system: int) -> SystemConditions:
        """Evaluate a system in all conditions.

        Parameters
        ----------
        pooled : Evaluation or ClassEvaluation
            Of all its trials.
        options : Options
        system : int
            Its position.
        """
        parts = tuple(self._by(one, options, system) for one in self.partitions)
        return SystemConditions(pooled, parts, tuple(self.equal(one, options, system=system) for one in self.equalized))

    def equal(self, part: Partition, options: Options, *, system: int) -> Equalized:
        """Evaluate a system with every condition of a partition counting alike."""
        asked = replace(options, figures=replace(options.figures, subsets=None))  # which have no weights
        name = f"equalized over {part.title}"
        found = self.weighted(part, equalizing_factors(part.totals), asked, system=system, name=name)
        made = Equalized(part.title, part.names, tuple(self._conditions(part)), found)
        return replace(made, found=replace(found, notes=(*found.notes, f"Equalized: {made.rule}.")))

    def weighted(self, part: Partition, factors: FloatArray, options: Options, *, system: int, name: str) -> Any:
        """Evaluate a system with trials that weigh what their conditions say, and keep that whatever is drawn."""
        found = self._in_order(part, system)
        in_passes = self.units.source.batch is None
        by_class = in_passes and bool(self.units.source.classes)
        weigh = partial(weighted_by_condition, self.units.source) if found is None else found.weighted
        source, home = part.weighted(weigh, factors, is_classes=by_class)
        units = replace(self.units, source=source)
        if not in_passes:
            pass  # trials tell their strata
        elif by_class:
            units = replace(units, strata=home)
        elif self._are_trials:
            units = replace(units, units=None, singles=None)  # each is by itself: nothing is counted by unit
        else:
            units = replace(units, n_conditions=len(factors))
        at = system if found is None else 0
        return self.kind.evaluate_source(units, options, system=at, name=name)

    def _in_order(self, part: Partition, system: int) -> SortedSource | None:
        """The trials of a system sorted by condition; None where that is of no use, or workers cannot read them."""
        is_of_use = self.units.source.batch is None and self.units.engine.shares_memory
        if not is_of_use or not part.is_spread(len(self.units.source.pieces)):
            return None
        if part not in self.in_order or self.in_order[part][0] != system:
            self.in_order.pop(part, None)  # the folder goes first
            named, has = self.units.by_name is not None, self.units.source.has_units or self.units.source.are_units
            wanted = Wanted(units=self.units.units is not None and has and not named, names=named)
            self.in_order[part] = (
                system,
                sorted_by_condition(self.units.source, self.units.engine, part.split, system, wanted),
            )
        return self.in_order[part][1]

    def _conditions(self, part: Partition) -> list[Condition]:
        names, classes = part.names, self.kind.classes_by_truth(self.units.source.classes)
        return [
            Condition(called, dict(zip(names, values, strict=True)), {name: row[at] for name, at in classes})
            for called, values, row in zip(part.called, part.values, part.totals.tolist(), strict=True)
        ]

    def _by(self, part: Partition, options: Options, system: int) -> ByConditions:
        found = [
            one if one.lacking else replace(one, found=self._of_condition(part, values, options, system, one.name))
            for one, values in zip(self._conditions(part), part.values, strict=True)
        ]
        totals = np.array([one.totals for one in part.facts.values()]).sum(axis=0).tolist()
        trials = {name: totals[at] for name, at in self.kind.classes_by_truth(self.units.source.classes)}
        made = ByConditions(part.title, part.names, tuple(found), trials=trials)
        if self.units.units is None:
            return replace(made, no_differences="units are not known, or no intervals were asked for")
        differences, why = differences_between(made.evaluated, options.how_sure.level)
        return replace(made, differences=differences, no_differences=why)

    def _of_condition(self, part: Partition, values: Values, options: Options, system: int, name: str) -> Any:
        """Evaluate the trials of one condition."""
        found, at = self._in_order(part, system), (part, values)
        if self.units.source.batch is not None:
            source = self._taken(self.units.source.batch, part, values)
        elif found is None:
            cells = part.occurring(values)
            source = of_condition(self.units.source, part.split, cells, reduce(add, [part.facts[one] for one in cells]))
        else:
            source, system = found.of_condition(part.occurring(values)), 0
        if at not in self.of_cells:
            self.of_cells[at] = replace(self._units_of(source), source=self.units.source)
        units = replace(self.of_cells[at], source=source)
        return self.kind.evaluate_source(units, options, system=system, name=name)

    def _taken(self, batch: Chunk, part: Partition, values: Values) -> ShardSource:
        """Return the trials of one condition; those that weigh nothing are none."""
        if part not in self.rows:
            self.rows[part] = part.rows(batch, self.units.source.name)
        cells = [self.rows[part][one] for one in part.occurring(values)]
        rows = np.sort(np.concatenate(cells)) if len(cells) > 1 else cells[0]
        if batch.weight is not None:
            rows = rows[batch.weight[rows] > 0]
        own = replace(batch, conditions=None, trials=None).take(rows)
        units = None if own.units is None else own.units.only_used()
        return replace(self.units.source, pieces=(HeldPiece(replace(own, units=units), self.units.source.name),))

    def _units_of(self, source: ShardSource) -> UnitsOfSource:
        """The units of some of the trials; none of fewer than two."""
        own, units = replace(self.units, source=source), self.units.units
        if units is not None and source.batch is not None:
            there = source.batch.units
            return replace(own, units=there if there is not None and there.n_units > 1 else None)
        if units is None or own.are_trials:
            return own
        if own.singles is not None:
            survey = survey_trials(source, self.units.engine)
            return replace(own, units=survey.units if survey.units.n_units > 1 else None, singles=survey)
        facts = look_at_units(source, self.units.engine, (own.by_name,))[0]
        return replace(own, units=replace(units, keys=facts.keys) if len(facts.keys) > 1 else None)


def message_of(partition: Partition) -> Message:
    """Into how many conditions trials were split."""
    n_partial = int(np.count_nonzero((partition.totals == 0).any(axis=1)))
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
