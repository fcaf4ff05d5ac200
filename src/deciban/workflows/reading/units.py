"""Columns of a key for every trial: weights, units (clusters) and groups for cross-validation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import pyarrow as pa

from deciban._arrow import as_text, constant, of_numpy, pc, to_numpy, with_gaps
from deciban._validate import arrays as _validate
from deciban.core.resampling.unit_counts import SingleFacts
from deciban.core.resampling.units import (
    FOUND,
    SpeakersByName,
    TrialUnits,
    UnitFacts,
    UnlistedUnits,
    common_in_words,
    independent,
    units_in_words,
)
from deciban.engines.units import SourceUnits, UnitsFound, look_at_units, survey_trials
from deciban.errors import WARNING, FormatError, InputError, KeyMismatchError, Message, Note, counted, not_none, option
from deciban.io.columns.values import refuse_gaps, weights_of, weights_or_zeros
from deciban.io.formats import RowError
from deciban.memory import require_room_for_units
from deciban.trials import Aligned, AlignedClasses, ClassKey, Key, Trials
from deciban.trials.lists import PAIR, ROW, Lookup
from deciban.trials.sources import Batch, Engine, LoadedPartition, TrialFields, TrialSource, found_in
from deciban.trials.speakers import BatchUnits
from deciban.trials.units import side_of, units_of_trials
from deciban.types import BoolArray, CountArray, FloatArray, IntArray
from deciban.workflows.kinds import AnyKind
from deciban.workflows.options import UncertaintyOptions, UnitNaming

if TYPE_CHECKING:
    from deciban.engines.class_problems import UnitsAndStrata
    from deciban.evaluation.preset_table import Preset


def complete_column(
    trials: Trials, name: str, role: str, others: tuple[str, ...] = (), *, besides: str = "the label"
) -> pa.Array:
    """Return a condition column with a value for every trial.

    Parameters
    ----------
    trials : Trials
    name : str
    role : str
        Content of the column for messages, such as "contains the weights of trials".
    others : tuple of str
        Other valid names.
    besides : str
        Columns that are not listed, for messages.

    Raises
    ------
    InputError
        If the column does not exist, or a trial has no value.
    """
    request: object = name
    if not isinstance(request, str) or name not in trials.conditions:
        there = ", ".join((*others, *trials.conditions)) or "none"
        raise InputError(
            f"{trials.origin.name}: no column {name!r} {role}; the columns are {there} (besides {besides})."
        )
    values = trials.condition(name)
    with placed_trials(trials):
        refuse_gaps(with_gaps(pc.equal(as_text(values), constant("")), 1.0), name, role)
    return values


@contextmanager
def placed_trials(trials: Trials) -> Iterator[None]:
    """Add the place of a trial to an error about its value."""
    try:
        yield
    except RowError as error:
        kind = InputError if error.kind is FormatError else error.kind
        raise kind(f"{trials.origin.where(error.row or 0)}: {error}.") from error


def weight_column(trials: Trials, name: str) -> FloatArray:
    """Return the weights of trials from a condition column of numbers, or of text that contains numbers.

    Raises
    ------
    InputError
        If the column does not exist, or a value is missing, not a number or not a weight; with the place of the first.

    Examples
    --------
    >>> weight_column(Trials.of({"trial": ["a", "b"]}, conditions={"w": ["0.5", "2"]}), "w")
    array([0.5, 2. ])
    """
    names = "the names of trials and the label"
    values = complete_column(trials, name, "contains the weights of trials", besides=names)
    with placed_trials(trials):
        return weights_of(values, name)


def weights_of_key(aligned: Aligned | AlignedClasses, key: Key | ClassKey, name: str) -> CountArray:
    """Return the weights of the joined trials of a key.

    Parameters
    ----------
    aligned : Aligned or AlignedClasses
        The joined trials.
    key : Key or ClassKey
        The key before the join.
    name : str
        Column of the key.

    Returns
    -------
    (n_trials,) array
        Whole numbers as int64, otherwise float64. A class without weight is refused later, by metrics.

    Raises
    ------
    InputError
        As in `weight_column`, or if all weights of targets or of non-targets are 0.
    KeyMismatchError
        If copies of a trial have different weights, and the join kept one of them.
    """
    if aligned.report.duplicate > 0:
        _refuse_other_copies(key.trials, name)
    column = f"{key.trials.origin.name}, column {name!r}"
    weight = not_none(_validate.weights(weight_column(aligned.trials, name), len(aligned.trials), column), column)
    if isinstance(aligned, Aligned) and aligned.is_target is not None:
        _validate.both_classes(aligned.is_target, weight, column)
    return weight


def partitions_of_key(key: Key | ClassKey, column: str | None) -> tuple[LoadedPartition, ...]:
    """Return all trials of a key, also those that were left out, with their weights if there is such a column."""
    weight = None if column is None else weights_or_zeros(key.trials.condition(column))
    return (LoadedPartition(Batch((), key.content, weight=weight, trials=replace(key.trials, conditions={})), ""),)


def in_words(weight: CountArray) -> str:
    """Return the range of weights, and the number of zeros, as text.

    >>> in_words(np.array([0.0, 0.5, 3.0]))
    'from 0.5 to 3 · 1 of 3 are 0'
    """
    counting = weight[weight > 0]
    words = f"from {counting.min():g} to {counting.max():g}"
    n_zero = len(weight) - len(counting)
    return f"{words} · {n_zero:,} of {len(weight):,} are 0" if n_zero else words


def _refuse_other_copies(trials: Trials, name: str) -> None:
    first, copy = Lookup(trials).surplus
    one, other = weight_column(trials.take(first), name), weight_column(trials.take(copy), name)
    differ = np.flatnonzero(one != other)
    if len(differ):
        row = int(differ[0])
        places = trials.origin.where(int(copy[row])), trials.origin.where(int(first[row]))
        raise KeyMismatchError(
            f"{places[0]}: trial {trials.name_of(int(copy[row]))} has the weight {other[row]:g} in column {name!r}, "
            f"but {one[row]:g} at {places[1]} ({counted(len(differ), 'trial')} with such copies). All copies of a "
            "trial must have the same weight."
        )


HeldOutGroups: TypeAlias = IntArray | tuple[IntArray, IntArray] | None

DEFAULT_FOLDS = 5


@dataclass(frozen=True, slots=True)
class HoldOut:
    """Groups of trials that are held out together.

    Attributes
    ----------
    by : int, str, or pair of str
        Columns of the key, or sides of trials, also by their names in the file; a number is the number of folds, with
        groups by all sides.
    n_folds : int
        Number of folds, if ``by`` contains names.
    """

    by: int | str | tuple[str, str]
    n_folds: int = DEFAULT_FOLDS

    def __post_init__(self) -> None:
        """Refuse invalid values.

        Raises
        ------
        InputError
        """
        object.__setattr__(self, "n_folds", _folds(self.n_folds, "n_folds", _WHOLE))
        by: object = self.by
        by = tuple(by) if isinstance(by, list) else by
        if not isinstance(by, str | tuple):
            by = _folds(by, "cross_validate", f"{_WHOLE}, a column of the key or side of trials, or a pair of these")
        elif isinstance(by, tuple) and not (len(by) in (1, 2) and all(isinstance(name, str) for name in by)):
            raise InputError(
                f"cross_validate: got {by!r}. Name a column of the key or a side of trials, or two, one for each side."
            )
        object.__setattr__(self, "by", by)

    @property
    def groups(self) -> tuple[str, ...]:
        """Names of columns; empty if a number is given."""
        return () if isinstance(self.by, int) else (self.by,) if isinstance(self.by, str) else self.by

    @property
    def parts(self) -> int:
        """Number of folds."""
        return self.by if isinstance(self.by, int) else self.n_folds

    def words(self, sides: tuple[str, ...]) -> str:
        """Describe the groups and the number of folds; ``sides`` are the sides of trials from `pairs_of`."""
        return f"{' and '.join(self.groups or sides) or 'single trials'}, {self.parts} folds"

    def message(self, sides: tuple[str, ...], done: str) -> Message:
        """Return the message about cross-validation; ``done`` is "calibrated" or "fused"."""
        shared = f"value of {' or '.join(self.groups)}" if self.groups else f"{' or '.join(sides)} name"
        others = f"the trials that share its {shared}{' (in either column)' * (len(self.groups) > 1)}"
        words = f"each trial was {done} by a model trained without {others if self.groups or sides else 'it'}"
        return Message("folds", "", f"cross-validated in {self.parts} folds: {words}")


_WHOLE = "a whole number of folds (2 or more)"


def _folds(value: object, name: str, expected: str) -> int:
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer) or value < 2:
        raise InputError(f"{name}: got {value!r}. It must be {expected}.")
    return int(value)


def groups_of(trials: Trials, by: int | str | tuple[str, str]) -> HeldOutGroups:
    """Return the groups of every trial as numbers; the same name has the same number on both sides.

    Parameters
    ----------
    trials : Trials
    by : int, str, or pair of str
        Condition columns or sides, also by their names in the file; a number stands for all sides of the
        trials.

    Returns
    -------
    (n_trials,) int array, a pair of them, or None
        None if every trial is a group.

    Raises
    ------
    InputError
        If a column does not exist, or lacks values.

    Examples
    --------
    >>> trials = Trials.of({"enroll": ["bob", "ann"], "test": ["x", "bob"]})
    >>> [side.tolist() for side in groups_of(trials, 2)]
    [[1, 0], [2, 1]]
    """
    if isinstance(by, int):
        sides = pairs_of(trials)
        return _numbered([trials.column(side) for side in sides]) if sides else None
    return _numbered([_column_of_groups(trials, name) for name in ((by,) if isinstance(by, str) else by)])


def pairs_of(trials: Trials) -> tuple[str, ...]:
    """Return the two sides of trials if names can repeat; empty if every trial has its own name."""
    return PAIR if trials.sides[:2] == PAIR else ()


def _column_of_groups(trials: Trials, name: str) -> pa.DictionaryArray:
    side = name if name in trials.conditions else trials.origin.side_called(name)
    if side in trials.sides:
        return trials.column(side)
    if trials.sides == ROW and not trials.conditions:
        raise InputError(
            f"{trials.origin.name}: there is no column {name!r} for the groups of cross-validation. Its "
            "trials have neither names nor columns, only rows: hold out single trials, by the number of folds "
            f"({option(cross_validate=5)})."
        )
    values = complete_column(trials, name, "contains the groups for cross-validation", trials.sides)
    return as_text(values).dictionary_encode()


def _numbered(columns: list[pa.DictionaryArray]) -> HeldOutGroups:
    """Return names as numbers in alphabetical order, independent of the order of trials."""
    names = pc.unique(pa.concat_arrays([pc.cast(column.dictionary, pa.string()) for column in columns]))
    names = names.take(pc.sort_indices(names))
    numbers = [
        to_numpy(pc.index_in(pc.cast(column.dictionary, pa.string()), names))[to_numpy(column.indices)]
        for column in columns
    ]
    return (numbers[0], numbers[1]) if len(numbers) == 2 else numbers[0]


def units_and_messages(
    facts: UnitFacts, text: Sequence[Message], kind: AnyKind, classes: Sequence[str]
) -> tuple[TrialUnits | None, tuple[Message, ...]]:
    """Return units for intervals, and messages about them.

    Parameters
    ----------
    facts : UnitFacts
    text : sequence of Message
        Assumptions that were made to find the units.
    kind : AnyKind
    classes : sequence of str

    Returns
    -------
    units : TrialUnits or None
        All units, without trials; None if they allow no intervals.
    messages : tuple of Message
    """
    units = not_none(facts.units, "units")
    words = units_in_words(units)
    if units.n_units < 2:
        words += ": intervals need at least two units, so there are no intervals"
        return None, (no_intervals(words), *text)
    if facts.all_alike:
        one_each = f"{counted(units.n_units, units.noun)}, one of each class: intervals need several of a class"
        words = one_each if units.are_independent else f"{words}: all trials of a class share a unit"
        words += ", so there are no intervals"
        return None, (no_intervals(words), *text)
    sharing = facts.sharing()
    common = common_in_words(units.noun, [name for name, c in kind.classes_by_truth(classes) if c in sharing])
    notes = (Message(WARNING, "", common),) if common else ()
    return units, (Message("units", "", words), *text, *notes)


def no_intervals(words: str) -> Message:
    """Return the warning that the units allow no intervals, with the reason."""
    return Message(WARNING, "", Note(f"units: {words}", "no-intervals"))


_NAMES_OF_UNITS = {"speaker", "spk", "subject", "client", "person", "user", "patient", "identity"}
"""Names of columns that can contain units, also with a suffix ``id``."""


def unused_names(conditions: Iterable[str]) -> list[Message]:
    """Return a note on the first column that can contain the units of trials, which are assumed to be independent.

    Examples
    --------
    >>> print(*unused_names(["gender", "Speaker_ID"]))
    note  units: column 'Speaker_ID' is not used; units="Speaker_ID" if trials with the same value are dependent
    """
    for name in conditions:
        if name.casefold().replace("-", "_").removesuffix("_id").removesuffix("id") in _NAMES_OF_UNITS:
            words = f"column {name!r} is not used; {option(units=name)} if trials with the same value are dependent"
            return [Message("note", "", f"units: {words}")]
    return []


def _units_named(trials: Trials, naming: UnitNaming, counting: BoolArray | None, noun: str) -> TrialUnits:
    """Return the units that the user named; ``noun`` is the name of a trial."""
    if naming.each_trial:
        return units_of_trials(trials, counting, noun=noun)
    called = {side: name for name, side in trials.origin.sides}
    sides = {side: called.get(side, side) for side in trials.sides if side != ROW[0]}
    from deciban.io.partitions.units import UnitsOf  # not needed if speakers are found from target trials

    units = UnitsOf.named(naming.parts, sides, [*trials.conditions], trials.origin.name, apart=naming.apart)
    of_side = {column: side for side, column in sides.items()}
    columns = {
        name: _names_of(trials, of_side[name]) if name in of_side else trials.condition(name) for name in units.columns
    }
    with placed_trials(trials):
        return units.of(pa.table(columns), counting=counting)


def _names_of(trials: Trials, side: str) -> pa.DictionaryArray:
    codes, names = side_of(trials, side)
    return pa.DictionaryArray.from_arrays(of_numpy(codes), names)


def _unknown() -> str:
    """Return the reason for missing intervals if the units are unknown."""
    words = "none, so there are no intervals: which trials share a speaker is unknown. Name the units"
    return f"{words} ({option(units='COLUMN')} or FILE); if all trials are independent, {option(units='trials')}"


@dataclass(frozen=True, slots=True, eq=False)
class UnitsOfSource:
    """Units of all trials of a source.

    Attributes
    ----------
    source : TrialSource
    engine : Engine
        Engine for counting trials by unit.
    units : TrialUnits or None
        All units, without trials; None for no intervals; without keys if every trial is a unit.
    by_name : SpeakersByName or None
    messages : tuple of Message
    singles : SingleFacts or None
        Facts about trials, if every trial is a unit.
    strata : (n_strata,) int array, optional
        Class of each stratum, if the source contains strata, each with its own mean.
    n_conditions : int
        Number of conditions with equal weight; 0 without equal weights.
    """

    source: TrialSource
    engine: Engine
    units: TrialUnits | None
    by_name: SpeakersByName | None
    messages: tuple[Message, ...]
    singles: SingleFacts | None = None
    strata: IntArray | None = None
    n_conditions: int = 0

    def said(self, n_units: int | None) -> tuple[Message, ...]:
        """Return the messages about units, given their number; None if the number is not needed."""
        if self.units is None or not self.are_trials:
            return self.messages
        if not n_units:
            return (no_intervals("one of each class, so there are no intervals"), *self.messages)
        units = UnlistedUnits((), self.units.keys, self.units.noun, self.units.source, n_units)
        return (Message("units", "", units_in_words(units)), *self.messages)

    def called_for(self, plan: Preset | None) -> UnitsOfSource:
        """Return the same units; in biometric protocols, speakers found from target trials are called subjects."""
        if plan is None or not plan.false_match_rates or self.units is None or self.units.source != FOUND:
            return self
        messages = tuple(replace(one, text=one.text.replace("speaker", "subject")) for one in self.messages)
        source, units = self.source, replace(self.units, noun="subject")
        if source.batch is not None:
            partition = LoadedPartition(replace(source.batch, units=units), source.partitions[0].name)
            source = replace(source, partitions=(partition,))
        return replace(self, source=source, units=units, messages=messages)

    @property
    def are_trials(self) -> bool:
        """True if every trial is a unit."""
        return self.units is not None and self.singles is None and not len(self.units.keys)

    def for_training(self) -> BatchUnits | None:
        """Return the units for training; None without units."""
        if self.units is None:
            return None
        if self.singles is not None:
            return BatchUnits(self.singles.units, dealt=self.singles.dealt())
        if self.are_trials:
            fields = TrialFields((), truth=True, weight=self.source.has_weights)
            n = found_in(self.source, self.engine, fields, _counted, "counting trials") or 0
            own = UnlistedUnits(self.units.codes, self.units.keys, self.units.noun, self.units.source, n)
            return BatchUnits(own)
        return BatchUnits(self.units, self.by_name)

    @property
    def of_classes(self) -> TrialUnits | UnitsAndStrata | None:
        """Units for multiclass evaluations."""
        if self.units is None or self.strata is None:
            return self.units
        from deciban.engines.class_problems import UnitsAndStrata  # slow import

        return UnitsAndStrata(self.units, self.strata)

    def require_room(self, memory: int) -> None:
        """Refuse more units than fit in memory, before any long work."""
        if self.units is not None and self.singles is None and self.source.batch is None and not self.source.classes:
            require_room_for_units(len(self.units.keys), memory)

    def of_system(self, system: int, memory: int) -> SourceUnits | None:
        """Return the trials of a system with their units, with a limit for memory in bytes."""
        if self.units is None:
            return None
        units, facts = (self.units, None) if self.singles is None else (self.singles.units, self.singles)
        known = self.source, self.engine, system, units, self.by_name, memory, self.n_conditions
        return SourceUnits(*known, facts=facts)


def _counted(batch: Batch) -> int:
    """Return the number of trials of positive weight."""
    own = batch.counting
    return 0 if own.truth is None else len(own.truth)


def units_of_source(source: TrialSource, engine: Engine, how_sure: UncertaintyOptions, kind: AnyKind) -> UnitsOfSource:
    """Find the units of the trials of a source.

    Parameters
    ----------
    source : TrialSource
    engine : Engine
        Engine for passes over trials that are not in memory.
    how_sure : UncertaintyOptions
    kind : AnyKind
        Finds units if the user named none.

    Raises
    ------
    KeyMismatchError, FormatError, OSError
        If a trial has no unit, or reading fails.
    """
    if not how_sure.intervals:
        return UnitsOfSource(source, engine, None, None, ())
    if source.batch is not None:
        own, messages = units_of_batch(source, how_sure, kind)
        return UnitsOfSource(own, engine, own.held_units, None, messages)
    result = None
    if source.has_units and not source.are_units:
        result = UnitsFound(look_at_units(source, engine)[0])
    elif how_sure.naming is None or not how_sure.naming.each_trial:
        result = kind.units_unasked_of_source(source, engine)
    if result is not None:
        units, messages = None, result.said
        if result.facts.units is not None:
            units, messages = units_and_messages(result.facts, result.said, kind, source.classes)
        return UnitsOfSource(source, engine, units, result.by_name, messages)
    free = [] if how_sure.naming is not None else [one for one in source.columns if one not in source.names]
    notes = tuple(unused_names(free))
    if source.classes:  # no keys are kept for so many units
        each = TrialUnits((), np.zeros(0, np.uint64), kind.noun, independent(kind.noun))
        return UnitsOfSource(source, engine, each, None, notes)
    if not source.are_units:
        return UnitsOfSource(source, engine, None, None, (no_intervals(_unknown()),))
    survey = survey_trials(source, engine)
    units, messages = units_and_messages(survey.of_units, notes, kind, ())
    return UnitsOfSource(source, engine, units, None, messages, survey)


def units_of_batch(
    source: TrialSource, how_sure: UncertaintyOptions, kind: AnyKind
) -> tuple[TrialSource, tuple[Message, ...]]:
    """Find the units of trials in memory, and return the source with units, and messages; trials of weight 0 have none.

    Raises
    ------
    InputError, KeyMismatchError, FormatError, OSError
        If a column or file does not exist, or lacks the unit of a trial.
    """
    batch, trials = source.held, not_none(source.trials, "names of trials")
    if not how_sure.intervals:
        return source, ()
    naming, counting = how_sure.naming, batch.is_counted
    units, messages = None, tuple[Message, ...]()
    try:
        if naming is None:
            units, messages = kind.units_unasked(batch, (source.of_key or source.partitions)[0].batch or batch)
        else:
            units = _units_named(trials, naming, counting, kind.noun)
    except (InputError, KeyMismatchError) as error:
        if naming is None or how_sure.units_required:
            raise
        messages = (no_intervals(f"none of these {kind.noun}s, so there are no intervals: {error}"),)
    if units is not None:
        if naming is None and units.are_independent:
            messages = (*messages, *unused_names(trials.conditions))
        facts = UnitFacts.of(units, batch.labels, counting)
        result, messages = units_and_messages(facts, messages, kind, source.classes)
        units = None if result is None else units
    (partition,) = source.partitions
    own = LoadedPartition(replace(batch, units=units), partition.name)
    return replace(source, partitions=(own,), has_units=units is not None), messages
