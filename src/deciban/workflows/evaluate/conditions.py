"""Results by condition: the trials of a source are split by columns, and each part is evaluated."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from operator import add
from typing import TYPE_CHECKING, Any

import numpy as np

from deciban._arrow import as_text, of_numpy, positions
from deciban.analysis.differences import differences_between
from deciban.core.class_counts import equalizing_factors
from deciban.engines import units as passes
from deciban.errors import WARNING, InputError, Message, counted, not_none, option
from deciban.evaluation.breakdowns import ByConditions, Condition, Equalized, SystemConditions
from deciban.trials.sources import Batch, LoadedPartition, TrialFields, TrialSource
from deciban.trials.tables import IdMap
from deciban.types import CountArray, FloatArray, IntArray
from deciban.workflows.kinds import AnyKind
from deciban.workflows.options import Options, Split
from deciban.workflows.reading import partitions as splitting
from deciban.workflows.reading.units import UnitsOfSource

if TYPE_CHECKING:
    from deciban.evaluation.one_system import OneSystem


@dataclass(frozen=True, slots=True, eq=False)
class SplitByColumns:
    """Division of the trials of a source into conditions, by the values of columns.

    Attributes
    ----------
    columns : tuple of SplitColumn
    places : tuple of int
        Position of each column among the columns that are read.
    files : tuple of IdMap or None
        Maps from the names in a column to its values, if given.
    argument : str
        Name of the argument, for messages.
    """

    columns: tuple[splitting.SplitColumn, ...]
    places: tuple[int, ...]
    files: tuple[IdMap | None, ...]
    argument: str

    @classmethod
    def in_source(cls, source: TrialSource, columns: Sequence[splitting.SplitColumn], argument: str) -> SplitByColumns:
        """Return the division of a source by some columns.

        Raises
        ------
        FormatError, InputError, OSError
            If a column or file does not exist.
        """
        from deciban.io.reader import read_id_map

        for one in columns:
            if one.side and one.side not in source.names:
                raise InputError(
                    f"{argument}: {one.side!r} is not a side of the trials of {source.name}, whose sides are "
                    f"{', '.join(source.names)}. Write SIDE=FILE with one of these sides."
                )
            if (one.side or one.name) not in source.conditions:
                raise InputError(
                    f"{argument}: {one.name!r} is not a column of {source.name}. Its columns: "
                    f"{', '.join(source.columns) or 'none'} (besides the label). For a file with a value for each name "
                    "of a side, write SIDE=FILE."
                )
        places = tuple(source.conditions.index(one.side or one.name) for one in columns)
        files = tuple(read_id_map(one.path) if one.path else None for one in columns)
        return cls(tuple(columns), places, files, argument)

    def of(self, batch: Batch, name: str) -> tuple[list[passes.Values], IntArray]:
        """See `SplitRows.of`."""
        condition: IntArray = np.zeros(len(not_none(batch.conditions, "conditions")[0][0]), np.int64)
        result: list[passes.Values] = [()]
        for at in range(len(self.columns)):
            values, codes = self._of_column(batch, name, at)
            used, condition = _used(condition * len(values) + codes, len(result) * len(values))
            result = [(*result[one // len(values)], values[one % len(values)]) for one in used.tolist()]
        return result, condition

    def _of_column(self, batch: Batch, name: str, at: int) -> tuple[list[str | None], IntArray]:
        """Return the values of a column, and the index of the value of every trial."""
        codes, known = not_none(batch.conditions, "conditions")[self.places[at]]
        used, place = _used(codes, len(known) + 1)  # the last code is for missing values
        values, held = known.take(of_numpy(used, lacking=used == len(known))), self.files[at]
        if held is not None:
            lines = positions(as_text(values), held.left)
            values = held.right.take(of_numpy(lines, lacking=lines < 0))
        often = np.bincount(place, minlength=len(used))

        def where(value: int) -> str:
            return name if batch.trials is None else batch.trials.origin.where(int(np.argmax(place == value)))

        result, own = splitting.coded_values(values, self.columns[at], self.argument, where, often)
        return result, own[place]

    def require_few(self, values: Sequence[passes.Values]) -> None:
        """See `SplitRows.require_few`."""
        if len(values) > splitting.MOST:
            _crossed(self, values)


def _used(codes: IntArray, n: int) -> tuple[IntArray, IntArray]:
    """Return the used codes among n codes, and the position of each code among them."""
    used = np.flatnonzero(np.bincount(codes, minlength=n))
    place = np.zeros(n, np.int64)
    place[used] = np.arange(len(used))
    return used, place[codes]


def _crossed(split: SplitByColumns, result: Sequence[passes.Values]) -> tuple[passes.Values, ...]:
    """Return all conditions: every combination of the values that were found."""
    each = [splitting.values_in_order(one, (values[at] for values in result)) for at, one in enumerate(split.columns)]
    return splitting.crossed(split.columns, each, split.argument)


@dataclass(frozen=True, slots=True, eq=False)
class ConditionSplit:
    """A source of trials with its conditions.

    Attributes
    ----------
    split : SplitByColumns
    columns : tuple of SplitColumn
        Columns of the division; the trials of one value can count in every condition.
    combinations : tuple of Values
        All combinations of values that occur, and all bins, including empty ones.
    facts : mapping of Values to ConditionFacts
        Counts of the combinations that occur.
    values : tuple of Values
        The values of each condition, one for each column; None for missing values.
    cells : tuple of tuple of int
        Indices of the combinations that belong to each condition. If the trials of a value count in all conditions, the
        conditions share its combinations. Otherwise each condition is one combination, at the same index.
    totals : (n_conditions, n_classes) array
    """

    split: SplitByColumns
    columns: tuple[splitting.SplitColumn, ...]
    combinations: tuple[passes.Values, ...]
    facts: Mapping[passes.Values, passes.ConditionFacts]
    values: tuple[passes.Values, ...]
    cells: tuple[tuple[int, ...], ...]
    totals: CountArray

    @classmethod
    def of(
        cls, split: SplitByColumns, facts: Mapping[passes.Values, passes.ConditionFacts], n_classes: int
    ) -> ConditionSplit:
        """Return the conditions that were found in a pass.

        Raises
        ------
        InputError
            If there are more than 1,000 conditions, or no trial has the value that must count in all of them.
        """
        combinations, none = _crossed(split, [*facts]), np.zeros(n_classes, np.int64)
        totals = [facts[one].totals if one in facts else none for one in combinations]
        return cls._of(split, split.columns, combinations, facts, np.array(totals).reshape(-1, n_classes))

    @classmethod
    def _of(
        cls,
        split: SplitByColumns,
        columns: tuple[splitting.SplitColumn, ...],
        combinations: tuple[passes.Values, ...],
        facts: Mapping[passes.Values, passes.ConditionFacts],
        of_cells: CountArray,
    ) -> ConditionSplit:
        """Return the conditions from combinations; ``of_cells`` are the counts of each combination by class."""
        result = splitting.with_what_counts_everywhere(columns, combinations, split.argument)
        values, cells = tuple(one for one, _ in result), tuple(own for _, own in result)
        totals = np.array([of_cells[list(own)].sum(axis=0) for own in cells], of_cells.dtype)
        return cls(split, columns, combinations, facts, values, cells, totals.reshape(-1, of_cells.shape[1]))

    def sharing_own_values(self, classes: Sequence[tuple[str, int]]) -> ConditionSplit:
        """Return the partition in which a value that only one of two classes has counts in every condition.

        This is for columns that divide one class, such as attacks: all trials of the other class have a single other
        value, so that no condition would contain both classes. If the user chose a value, the partition does not
        change.

        Parameters
        ----------
        classes : sequence of (str, int)
            Names of the classes, and their columns in ``totals``.
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
        """Description of the columns, different for different partitions."""
        return " \N{MULTIPLICATION SIGN} ".join(one.title for one in self.columns)

    @property
    def called(self) -> tuple[str, ...]:
        """Name of every condition."""
        return tuple(
            " \N{MIDDLE DOT} ".join(_called(one, value) for one, value in zip(self.columns, values, strict=True))
            for values in self.values
        )

    def occurring(self, values: passes.Values) -> tuple[passes.Values, ...]:
        """Return the combinations of values that belong to a condition and occur."""
        places = self.cells[self.values.index(values)]
        return tuple(self.combinations[at] for at in places if self.combinations[at] in self.facts)

    def require_values(self, source: TrialSource) -> None:
        """Refuse trials without a value in columns whose conditions get equal weights.

        Raises
        ------
        InputError
        """
        for at, column in enumerate(self.columns):
            lacking = [values for values in self.facts if values[at] is None]
            if lacking:
                n = sum(self.facts[one].n_trials for one in lacking)
                raise no_value(column.name, self._where(source, lacking), n)

    def _where(self, source: TrialSource, lacking: Sequence[passes.Values]) -> str:
        """Return the place of the first trial with some values; without trial names, the name of the source."""
        if source.trials is None:
            return source.name
        values, codes = self.split.of(source.held, source.name)
        lacks = np.array([one in lacking for one in values], np.bool_)
        return source.trials.origin.where(int(np.argmax(lacks[codes])))

    def rows(self, batch: Batch, name: str) -> dict[passes.Values, IntArray]:
        """Return the rows of the trials of each combination of values."""
        values, codes = self.split.of(batch, name)
        small = codes.astype(np.min_scalar_type(len(values)))  # small integers are sorted by counting
        ends = np.cumsum(np.bincount(codes, minlength=len(values)))[:-1]
        return dict(zip(values, np.split(np.argsort(small, kind="stable"), ends), strict=True))

    def is_spread(self, n_partitions: int) -> bool:
        """Return True if a partition of the source contains trials of several conditions."""
        return sum(one.partitions.bit_count() for one in self.facts.values()) > n_partitions

    def weighted(
        self, weigh: Callable[[passes.ConditionWeights], TrialSource], factors: FloatArray, *, is_classes: bool
    ) -> tuple[TrialSource, IntArray]:
        """Return the source with weighted trials, made by a function, and the class of each stratum."""
        n_conditions, n_classes = self.totals.shape
        if is_classes:
            strata, home = _strata(self.totals)
        else:
            strata = np.repeat(np.arange(n_conditions)[:, None], n_classes, axis=1)
            home = np.zeros(0, np.int64)
        place = {values: at for at, values in enumerate(self.values)}
        return weigh(passes.ConditionWeights(self.split, place, factors, strata)), home


def _with_own_value(
    column: splitting.SplitColumn,
    values: Sequence[splitting.Value],
    totals: CountArray,
    classes: Sequence[tuple[str, int]],
) -> splitting.SplitColumn:
    """Return the column in which the single value of one class counts everywhere, if the other class has several."""
    held = {name: {value for value, n in zip(values, totals[:, at].tolist(), strict=True) if n} for name, at in classes}
    for name, other in (held, [*held][::-1]):
        if len(held[name]) == 1 and len(held[other]) > 1 and not held[name] & held[other] and not column.borders:
            (value,) = held[name]
            return replace(column, everywhere=value or "", owner=name)
    return column


def _called(column: splitting.SplitColumn, value: splitting.Value) -> str:
    if value is None:
        return f"no {column.name}"
    return value if column.borders else f"{column.name} {value}"


def _strata(totals: CountArray) -> tuple[IntArray, IntArray]:
    """Return the index of the stratum of each condition and class with trials, and the class of each stratum."""
    there = (totals > 0).T
    home: IntArray = np.repeat(np.arange(len(there)), there.sum(axis=1))
    place = np.cumsum(there.ravel()).reshape(there.shape) - 1
    first = np.searchsorted(home, np.arange(len(there)))[:, None]
    strata: IntArray = np.maximum(place, first).T  # trials of weight 0 can be in any stratum of their class
    return strata, home


def no_value(column: str, where: str, n_trials: int) -> InputError:
    """Return the error for trials without a value in columns whose conditions get equal weights."""
    return InputError(
        f"equalize: {where}: no value in {column!r}, but equalizing needs the condition of every trial "
        f"({counted(n_trials, 'trial')} without). Add the values, or leave these trials out ({option(where=...)})."
    )


@dataclass(frozen=True, slots=True, eq=False)
class Conditions:
    """Requested conditions of a source, for any number of systems.

    Attributes
    ----------
    kind : AnyKind
    units : UnitsOfSource
        All trials.
    partitions, equalized : tuple of ConditionSplit
        Partitions for metrics by condition, and partitions whose conditions get equal weights.
    of_cells : dict
        Cache of the units of conditions, shared by all systems.
    in_order : dict
        Cache of trials of a system sorted by condition, with the index of the system; only the last system.
    rows : dict
        Cache of the rows of each combination of values, for trials in memory.
    """

    kind: AnyKind
    units: UnitsOfSource
    partitions: tuple[ConditionSplit, ...]
    equalized: tuple[ConditionSplit, ...]
    of_cells: dict[tuple[ConditionSplit, passes.Values], UnitsOfSource]
    in_order: dict[ConditionSplit, tuple[int, passes.SortedSource]]
    rows: dict[ConditionSplit, dict[passes.Values, IntArray]]

    @classmethod
    def of(cls, split: Split, kind: AnyKind, units: UnitsOfSource, argument: str = "") -> Conditions:
        """Return the requested conditions of a source, from one pass.

        Parameters
        ----------
        split : Split
        kind : AnyKind
        units : UnitsOfSource
            All trials.
        argument : str
            Argument for messages; if empty, ``by`` and ``equalize``.

        Raises
        ------
        FormatError, InputError, OSError
            If a column or file does not exist, there are more than 1,000 conditions, or a trial has no value in a
            column whose conditions must get equal weights.
        """
        splits, source = dict[Any, SplitByColumns](), units.source
        for request, each in (("by", split.partitions), ("equalize", split.equalized)):
            for columns in each:
                splits[columns] = splits.get(columns) or SplitByColumns.in_source(source, columns, argument or request)
        classes = kind.classes_by_truth(source.classes)
        n_classes = len(classes)
        result = passes.look_at_conditions(source, units.engine, [*splits.values()], n_classes)
        known = {
            columns: ConditionSplit.of(one, facts, n_classes)
            for (columns, one), facts in zip(splits.items(), result, strict=True)
        }
        for columns in split.equalized:
            known[columns].require_values(source)
        by = tuple(known[one] for one in split.partitions)
        if not argument:  # protocols define weights for the original values
            by = tuple(one.sharing_own_values(classes) for one in by)
        return cls(kind, units, by, tuple(known[one] for one in split.equalized), {}, {}, {})

    @property
    def messages(self) -> tuple[Message, ...]:
        """Messages about the number of conditions."""
        items = [message_of(one) for one in dict.fromkeys((*self.partitions, *self.equalized))]
        if self.equalized and self._are_trials and not self.units.source.classes:
            words = "no intervals if every trial is a unit and the data are larger than memory"
            items.append(Message(WARNING, "", f"equalize: {words}"))
        return tuple(items)

    @property
    def _are_trials(self) -> bool:
        """True if every trial is a unit that is counted in passes; units in memory are listed."""
        return self.units.units is not None and (self.units.singles is not None or self.units.are_trials)

    def evaluated(self, pooled: OneSystem, options: Options, *, system: int) -> SystemConditions:
        """Evaluate a system in all conditions.

        Parameters
        ----------
        pooled : Evaluation or ClassEvaluation
            Evaluation of all trials of the system.
        options : Options
        system : int
            Index of the system.
        """
        parts = tuple(self._by(one, options, system) for one in self.partitions)
        return SystemConditions(pooled, parts, tuple(self.equal(one, options, system=system) for one in self.equalized))

    def equal(self, part: ConditionSplit, options: Options, *, system: int) -> Equalized:
        """Evaluate a system with equal weights of all conditions of a partition."""
        request = replace(options, metrics=replace(options.metrics, subsets=None))  # subsets allow no weights
        name = f"equalized over {part.title}"
        result = self.weighted(part, equalizing_factors(part.totals), request, system=system, name=name)
        equalized = Equalized(part.title, part.names, tuple(self._conditions(part)), result)
        return replace(equalized, evaluation=replace(result, notes=(*result.notes, f"Equalized: {equalized.rule}.")))

    def weighted(self, part: ConditionSplit, factors: FloatArray, options: Options, *, system: int, name: str) -> Any:
        """Evaluate a system with trials weighted by condition; the bootstrap keeps these weights."""
        result = self._in_order(part, system)
        by_class = self.units.source.batch is None and bool(self.units.source.classes)
        weigh = partial(passes.weighted_by_condition, self.units.source) if result is None else result.weighted
        source, home = part.weighted(weigh, factors, is_classes=by_class)
        units = replace(self.units, source=source)
        if by_class:
            units = replace(units, strata=home)
        elif self._are_trials:
            units = replace(units, units=None, singles=None)  # nothing is counted by unit
        else:
            units = replace(units, n_conditions=len(factors))  # trials in memory contain their strata
        return self.kind.evaluate_source(units, options, system=system if result is None else 0, name=name)

    def _in_order(self, part: ConditionSplit, system: int) -> passes.SortedSource | None:
        """Return the trials of a system sorted by condition; None if this does not help, or is impossible."""
        is_of_use = self.units.source.batch is None and self.units.engine.shares_memory
        if not is_of_use or not part.is_spread(len(self.units.source.partitions)):
            return None
        if part not in self.in_order or self.in_order[part][0] != system:
            self.in_order.pop(part, None)  # first remove the old folder
            named, has = self.units.by_name is not None, self.units.source.has_units or self.units.source.are_units
            fields = TrialFields(units=self.units.units is not None and has and not named, names=named)
            result = passes.sorted_by_condition(self.units.source, self.units.engine, part.split, system, fields)
            self.in_order[part] = system, result
        return self.in_order[part][1]

    def _conditions(self, part: ConditionSplit) -> list[Condition]:
        names, classes = part.names, self.kind.classes_by_truth(self.units.source.classes)
        return [
            Condition(called, dict(zip(names, values, strict=True)), {name: row[at] for name, at in classes})
            for called, values, row in zip(part.called, part.values, part.totals.tolist(), strict=True)
        ]

    def _by(self, part: ConditionSplit, options: Options, system: int) -> ByConditions:
        items = [
            one if one.lacking else replace(one, evaluation=self._of_condition(part, values, options, system, one.name))
            for one, values in zip(self._conditions(part), part.values, strict=True)
        ]
        totals = np.array([one.totals for one in part.facts.values()]).sum(axis=0).tolist()
        trials = {name: totals[at] for name, at in self.kind.classes_by_truth(self.units.source.classes)}
        conditions = ByConditions(part.title, part.names, tuple(items), trials=trials)
        if self.units.units is None:
            why = "units are unknown" if options.how_sure.intervals else "intervals were switched off"
            return replace(conditions, no_differences=why)
        differences, why = differences_between(conditions.evaluated, options.how_sure.level)
        return replace(conditions, differences=differences, no_differences=why)

    def _of_condition(
        self, part: ConditionSplit, values: passes.Values, options: Options, system: int, name: str
    ) -> Any:
        """Evaluate the trials of one condition."""
        result, at = self._in_order(part, system), (part, values)
        if self.units.source.batch is not None:
            source = self._taken(self.units.source.batch, part, values)
        elif result is None:
            cells = part.occurring(values)
            source = passes.of_condition(
                self.units.source, part.split, cells, reduce(add, [part.facts[one] for one in cells])
            )
        else:
            source, system = result.of_condition(part.occurring(values)), 0
        if at not in self.of_cells:
            self.of_cells[at] = replace(self._units_of(source), source=self.units.source)
        units = replace(self.of_cells[at], source=source)
        return self.kind.evaluate_source(units, options, system=system, name=name)

    def _taken(self, batch: Batch, part: ConditionSplit, values: passes.Values) -> TrialSource:
        """Return the trials of one condition, without trials of weight 0."""
        if part not in self.rows:
            self.rows[part] = part.rows(batch, self.units.source.name)
        cells = [self.rows[part][one] for one in part.occurring(values)]
        rows = np.sort(np.concatenate(cells)) if len(cells) > 1 else cells[0]
        if batch.weight is not None:
            rows = rows[batch.weight[rows] > 0]
        own = replace(batch, conditions=None, trials=None).take(rows)
        units = None if own.units is None else own.units.only_used()
        partition = LoadedPartition(replace(own, units=units), self.units.source.name)
        return replace(self.units.source, partitions=(partition,))

    def _units_of(self, source: TrialSource) -> UnitsOfSource:
        """Return the units of a part of the trials; without units if there are fewer than two."""
        own, units = replace(self.units, source=source), self.units.units
        if units is not None and source.batch is not None:
            there = source.batch.units
            return replace(own, units=there if there is not None and there.n_units > 1 else None)
        if units is None or own.are_trials:
            return own
        if own.singles is not None:
            survey = passes.survey_trials(source, self.units.engine)
            return replace(own, units=survey.units if survey.units.n_units > 1 else None, singles=survey)
        facts = passes.look_at_units(source, self.units.engine, (own.by_name,))[0]
        return replace(own, units=replace(units, keys=facts.keys) if len(facts.keys) > 1 else None)


def message_of(partition: ConditionSplit) -> Message:
    """Return the message about the number of conditions."""
    names = " \N{MULTIPLICATION SIGN} ".join(replace(one, everywhere=None).title for one in partition.columns)
    n_partial = int(np.count_nonzero((partition.totals == 0).any(axis=1)))
    lacking = f", {n_partial} of them without trials of some class" if n_partial else ""
    in_all = "".join(
        f"; only {one.owner} have {_words_of(one)}, and they count in every condition"
        if one.owner
        else f"; trials with {_words_of(one)} count in every condition"
        for one in partition.columns
        if one.everywhere is not None
    )
    return Message("by", "", f"{names}: {counted(len(partition.values), 'condition')}{lacking}{in_all}")


def _words_of(column: splitting.SplitColumn) -> str:
    return f"{column.name} {column.everywhere}" if column.everywhere else f"no {column.name}"
