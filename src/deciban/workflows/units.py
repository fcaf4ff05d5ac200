"""Units of trials: named by the user (columns, files, mappings) or found from the names of trials, at every size."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from deciban._arrow import compute as pc
from deciban._arrow import constant, of_numpy
from deciban._files import PathLike, display_name
from deciban.core.resampling.units import TrialUnits, UnlistedUnits, common_in_words, units_in_words
from deciban.engines.units import (
    SinglesInPieces,
    TrialFacts,
    UnitFacts,
    UnitsFound,
    UnitsInPieces,
    look_at_units,
    survey_trials,
)
from deciban.errors import FormatError, InputError, KeyMismatchError
from deciban.io.read import read_id_map
from deciban.messages import WARNING, Message, Note, counted
from deciban.trials import IdMap, Trials
from deciban.trials.frozen import as_text
from deciban.trials.lists import PAIR, ROW
from deciban.trials.names import encode, positions
from deciban.trials.passes import Engine, found_in
from deciban.trials.sources import Chunk, HeldPiece, ShardSource, Wanted
from deciban.trials.speakers import SpeakersByName, UnitsOfPieces, counting
from deciban.trials.units import UnitColumn, require_two_sides, side_of, units_of_columns, units_of_trials
from deciban.types import AnyArray, BoolArray, CountArray, IntArray
from deciban.workflows.key_columns import complete_column
from deciban.workflows.kinds import AnyKind
from deciban.workflows.options import COLUMN, HowSure, UnitNaming, UnitsLike, is_file

if TYPE_CHECKING:
    from deciban.engines.class_problems import WhoIsIn


def units_of(
    trials: Trials,
    truth: AnyArray,
    how_sure: HowSure,
    kind: AnyKind,
    *,
    weight: CountArray | None = None,
    classes: Sequence[str] = (),
) -> tuple[TrialUnits | None, tuple[Message, ...]]:
    """The units of every trial of a join, and what was assumed to find them.

    Parameters
    ----------
    trials : Trials
        Of a key, with its conditions.
    truth : (n_trials,) array
        Whether targets, or which class.
    how_sure : HowSure
    kind : AnyKind
        Which finds units where nothing is said of them.
    weight : (n_trials,) array, optional
        Trials of weight 0 make no units, and join none.
    classes : sequence of str
        Names of the classes, where there are many.

    Returns
    -------
    units : TrialUnits or None
        None where nothing is wanted, nothing says which trials share a unit, or no class has two.
    messages : tuple of Message

    Raises
    ------
    InputError, KeyMismatchError, FormatError, OSError
        If there is no such column or file, or it does not name the unit of every trial.
    """
    if not how_sure.intervals:
        return None, ()
    counting = None if weight is None or np.all(weight > 0) else np.asarray(weight > 0)
    naming = how_sure.naming
    if naming is None:
        units, said = kind.units_unasked(trials, truth, counting)
    else:
        try:
            units, said = _named(trials, naming, counting, kind.noun), ()
        except (InputError, KeyMismatchError) as error:
            if how_sure.units_required:
                raise
            words = f"none of these {kind.noun}s, which have no intervals: {error}"
            units, said = None, (no_intervals(words),)
    if units is None:
        return None, said
    if naming is None and units.are_independent:
        said = (*said, *unused_names(trials.conditions))

    found, messages = units_and_messages(UnitFacts.of(units, truth, counting), said, kind, classes)
    return (None if found is None else units), messages


def units_and_messages(
    facts: UnitFacts, said: Sequence[Message], kind: AnyKind, classes: Sequence[str]
) -> tuple[TrialUnits | None, tuple[Message, ...]]:
    """What is made of units that were found, and what has to be said of them.

    Parameters
    ----------
    facts : UnitFacts
    said : sequence of Message
        What was assumed to find them.
    kind : AnyKind
    classes : sequence of str

    Returns
    -------
    units : TrialUnits or None
        Of no trial; None where nothing can be said of how others would differ.
    messages : tuple of Message
    """
    units = facts.units
    assert units is not None  # noqa: S101  # they were found
    words = units_in_words(units)
    if units.n_units < 2:
        words += ": one alone says nothing of others, and there are no intervals"
        return None, (no_intervals(words), *said)
    if facts.all_alike:
        one_each = f"{counted(units.n_units, units.noun)}, one of each class: nothing tells how others would differ"
        words = one_each if units.are_independent else f"{words}: all trials of a class share theirs"
        words += ", and there are no intervals"
        return None, (no_intervals(words), *said)
    sharing = facts.sharing()
    common = common_in_words(units.noun, [name for name, c in kind.classes_by_truth(classes) if c in sharing])
    notes = (Message(WARNING, "", common),) if common else ()
    return units, (Message("units", "", words), *said, *notes)


def no_intervals(words: str) -> Message:
    """Return the warning that there are no intervals because of the units, and why."""
    return Message(WARNING, "", Note(f"units: {words}", "no-intervals"))


_NAMES_OF_UNITS = {"speaker", "spk", "subject", "client", "person", "user", "patient", "identity"}
"""Words for columns that say which trials share a unit, also with ``id`` behind them."""


def unused_names(conditions: Iterable[str]) -> list[Message]:
    """Return a note on the first column that may name the units of trials that are taken as independent.

    Examples
    --------
    >>> [str(one) for one in unused_names(["gender", "Speaker_ID"])]
    ["note  units: column 'Speaker_ID' is not used; --units Speaker_ID if trials with the same value are dependent"]
    """
    for name in conditions:
        if name.casefold().replace("-", "_").removesuffix("_id").removesuffix("id") in _NAMES_OF_UNITS:
            words = f"column {name!r} is not used; --units {name} if trials with the same value are dependent"
            return [Message("note", "", f"units: {words}")]
    return []


def _named(trials: Trials, naming: UnitNaming, counting: BoolArray | None, noun: str) -> TrialUnits:
    """Return the units that the user named, where ``noun`` is what a trial is called."""
    if naming.each_trial:
        return units_of_trials(trials, counting, noun=noun)
    finder = _Finder(trials, counting)
    if naming.apart or len(naming.parts) == 2:
        named = "columns" if naming.parts else "sides"
        require_two_sides(trials.sides, trials.origin.name, named=named)
    columns, words = finder.columns(naming.parts)
    if naming.apart and len(columns) < 2:
        raise InputError(
            f"units: 'product' is about units of two sides, and by {words} every trial has one. Name a column for each "
            "side: product:COLUMN,COLUMN."
        )
    words += ", those of one side apart from those of the other" if naming.apart else ""
    return units_of_columns(columns, counting, apart=naming.apart, noun="unit", source=f"by {words}")


@dataclass(frozen=True, slots=True, eq=False)
class _Map:
    """Units of names: what a file or a mapping says, and what messages call it."""

    units: IdMap
    called: str

    @classmethod
    def of(cls, given: PathLike | Mapping[Any, Any] | IdMap) -> _Map:
        """Read a file, or check a mapping.

        Raises
        ------
        FormatError, OSError
            If a file cannot be read.
        InputError
            If a name in a mapping is no text, or a unit neither a text nor a whole number.
        """
        if isinstance(given, str | os.PathLike):
            try:
                return cls(read_id_map(given), display_name(given))
            except FormatError as error:
                raise FormatError(f"{error} Units are read from lines of two columns: a name and its unit.") from error
        words = f"a mapping of {counted(len(given), 'name')}"
        if isinstance(given, IdMap):
            return cls(given, words)
        for name, unit in given.items():
            if not isinstance(name, str) or isinstance(unit, bool | float) or unit == "" or unit is None:
                raise InputError(f"units: got {name!r}: {unit!r}. Write the unit of each name: {{'a-1': 'ann'}}.")
        return cls(IdMap.from_columns(list(given), list(map(str, given.values())), source="units"), words)


@dataclass(frozen=True, slots=True, eq=False)
class _Finder:
    """Finds what the user named, for the trials of a join."""

    trials: Trials
    counting: BoolArray | None

    @property
    def sides(self) -> tuple[str, ...]:
        """Sides whose names a file names the units of; of two, a channel is none."""
        return self.trials.sides[:2] if self.trials.sides[:2] == PAIR else self.trials.sides

    def columns(self, parts: tuple[UnitsLike, ...]) -> tuple[list[UnitColumn], str]:
        """The units of every trial, or those of every trial on each side; and what they were found by.

        If nothing names others, these are the names of the sides.
        """
        if not parts:
            return [side_of(self.trials, side) for side in self.sides], f"the names of {' and '.join(self.sides)}"
        held = [self._held(part) for part in parts]
        words = " and ".join(one.called if isinstance(one, _Map) else self._column_in_words(one) for one in held)
        if len(held) == 1 and isinstance(held[0], _Map):
            held *= len(self.sides)
        return [
            self._mapped(one, side) if isinstance(one, _Map) else self._column(one)
            for one, side in zip(held, self.sides, strict=False)
        ], words

    def _held(self, part: UnitsLike) -> str | _Map:
        """What the user named: a column of the trials, or what a file or a mapping says of names.

        Raises
        ------
        InputError
            If there are both a column and a file of this name.
        """
        if not isinstance(part, str):
            return _Map.of(part)
        column = part.removeprefix(COLUMN)
        known = column in self.trials.conditions or self._side_called(column) is not None
        is_there = column == part and is_file(part)
        if known and is_there:
            raise InputError(
                f"units: {part!r} is a column of {self.trials.origin.name} and a file. Write ./{part} for the file, "
                f"{COLUMN}{part} for the column."
            )
        return _Map.of(part) if is_there else column

    def _side_called(self, name: str) -> str | None:
        """The side of this name, if it is one whose names stand for somebody."""
        side = name if name in self.trials.conditions else self.trials.origin.side_called(name)
        return side if side in self.trials.sides and side != ROW[0] else None

    def _column_in_words(self, name: str) -> str:
        side = self._side_called(name)
        return f"column {name!r}" if side is None else f"the names of {side}"

    def _column(self, name: str) -> UnitColumn:
        """The values of a condition column, or the names of a side.

        Raises
        ------
        InputError
            If there is none, or it lacks values.
        """
        trials, side = self.trials, self._side_called(name)
        if side is not None:
            return side_of(trials, side)
        if name not in trials.conditions:
            sides = () if trials.sides == ROW else trials.sides
            raise InputError(
                f"units: {name!r} is no column of {trials.origin.name} (there are "
                f"{', '.join((*sides, *trials.conditions)) or 'none'}), and no file. Name a column of the key, or a "
                "file of two columns, name and unit."
            )
        return encode(as_text(complete_column(trials, name, "says of which unit trials are", trials.sides)))

    def _mapped(self, held: _Map, side: str) -> UnitColumn:
        """The units of the names of a side.

        Raises
        ------
        InputError
            If trials have no names.
        KeyMismatchError
            If the units of some names are not known.
        """
        trials = self.trials
        if trials.sides == ROW:
            raise InputError(
                f"units: {held.called} says the units of names, and trials of {trials.origin.name} have none. Name a "
                "column of the key, or take every trial for a unit (units='trials', --units trials)."
            )
        names = trials.names[trials.sides.index(side)]
        place = positions(names, held.units.left)
        unknown = place < 0
        if unknown.any():
            self._require_known(side, unknown, held)
        units = held.units.right.take(of_numpy(place, lacking=unknown))
        return side_of(trials, side, pc.coalesce(units, constant("")))

    def _require_known(self, side: str, unknown: BoolArray, held: _Map) -> None:
        """Refuse trials that count, with a name of a side whose unit is not known."""
        codes, names = side_of(self.trials, side)
        lacking = unknown[codes] if self.counting is None else unknown[codes] & self.counting
        if not lacking.any():
            return
        row = int(np.argmax(lacking))
        name, n_lacking, n_names = names[int(codes[row])], len(np.unique(codes[lacking])), len(np.unique(codes))
        hint = ""
        if pc.index(held.units.right, name).as_py() >= 0:
            hint = " There, it is a unit: should it not be in the first column?"
            if len(self.sides) == 2:
                one = [side if side == at else "FILE" for at in self.sides]
                hint = f" There, it is a unit: if names of {side} are units already, say so (--units {','.join(one)})."
        raise KeyMismatchError(
            f"{self.trials.origin.where(row)}: {held.called} does not say the unit of {name.as_py()!r} "
            f"({n_lacking:,} of {counted(n_names, 'name')} of {side} are not in it).{hint} Complete it by a line for "
            "each of them, a name and its unit, or leave these trials out (--where)."
        )


_UNKNOWN = (
    "none, and no intervals: which trials share a speaker is unknown. Name the units (--units COLUMN or FILE); if all "
    "trials are independent, --units trials"
)


@dataclass(frozen=True, slots=True, eq=False)
class UnitsOfSource:
    """Units of all trials of a source.

    Attributes
    ----------
    source : ShardSource
    engine : Engine
        Where trials are counted by them.
    units : TrialUnits or None
        Of no trial; None where there are no intervals. Where every trial is one, they have no keys.
    by_name : SpeakersByName or None
    messages : tuple of Message
    singles : TrialFacts or None
        What is known where every trial is a unit.
    strata : (n_strata,) int array, optional
        The class of each stratum, where trials tell of which stratum they are, and each has a mean of its own.
    n_conditions : int
        How many conditions count alike; 0 where trials are not weighted so.
    """

    source: ShardSource
    engine: Engine
    units: TrialUnits | None
    by_name: SpeakersByName | None
    messages: tuple[Message, ...]
    singles: TrialFacts | None = None
    strata: IntArray | None = None
    n_conditions: int = 0

    def said(self, n_units: int | None) -> tuple[Message, ...]:
        """What has to be said of them, once it is known how many there are; None where that is of no use."""
        if self.units is None or not self.are_trials:
            return self.messages
        if not n_units:
            return (no_intervals("one of each class, and there are no intervals"), *self.messages)
        units = UnlistedUnits((), self.units.keys, self.units.noun, self.units.source, n_units)
        return (Message("units", "", units_in_words(units)), *self.messages)

    @property
    def are_trials(self) -> bool:
        """Whether every trial is a unit by itself."""
        return self.units is not None and self.singles is None and not len(self.units.keys)

    def for_training(self) -> UnitsOfPieces | None:
        """The same as training asks of them; None where there are none."""
        if self.units is None:
            return None
        if self.singles is not None:
            return UnitsOfPieces(self.singles.units, dealt=self.singles.dealt())
        if self.are_trials:
            wanted = Wanted((), truth=True, weight=self.source.has_weights)
            n = found_in(self.source, self.engine, wanted, _counted, "counting trials") or 0
            own = UnlistedUnits(self.units.codes, self.units.keys, self.units.noun, self.units.source, n)
            return UnitsOfPieces(own)
        return UnitsOfPieces(self.units, self.by_name)

    @property
    def of_classes(self) -> TrialUnits | WhoIsIn | None:
        """The same as evaluations of many classes ask of them."""
        if self.units is None or self.strata is None:
            return self.units
        from deciban.engines.class_problems import WhoIsIn  # which knows influences on figures of many classes

        return WhoIsIn(self.units, self.strata)

    def of_system(self, system: int, memory: int) -> UnitsInPieces | None:
        """The trials of a system with their units, of which so many bytes may be taken."""
        if self.units is None:
            return None
        if self.singles is not None:
            return SinglesInPieces.of_facts(self.source, self.engine, system, self.singles, memory)
        known = self.source, self.engine, system, self.units, self.by_name, memory, self.n_conditions
        return UnitsInPieces(*known)


def _counted(chunk: Chunk) -> int:
    """How many trials count."""
    own = counting(chunk)
    return 0 if own.truth is None else len(own.truth)


def units_of_source(source: ShardSource, engine: Engine, how_sure: HowSure, kind: AnyKind) -> UnitsOfSource:
    """Find the units of trials in pieces; see `deciban.workflows.units.units_of`.

    Parameters
    ----------
    source : ShardSource
    engine : Engine
    how_sure : HowSure
    kind : AnyKind
        Which finds units where nothing is said of them.

    Raises
    ------
    KeyMismatchError, FormatError, OSError
        If a trial has no unit, or something cannot be read.
    """
    if not how_sure.intervals:
        return UnitsOfSource(source, engine, None, None, ())
    if source.batch is not None:
        return _of_batch(source, engine, how_sure, kind)
    if source.has_units and not source.are_units:
        found = UnitsFound(look_at_units(source, engine)[0])
    elif how_sure.naming is not None and how_sure.naming.each_trial:
        found = UnitsFound.of_trials(kind.noun)
    else:
        found = kind.units_unasked_in_pieces(source, engine)
    if found.each is not None and not source.are_units and not source.classes:
        return UnitsOfSource(source, engine, None, None, (no_intervals(_UNKNOWN),))
    if found.each is not None and not source.classes:
        survey = survey_trials(source, engine)
        said = () if how_sure.naming is not None else unused_names(source.conditions)
        units, messages = units_and_messages(survey.unit_facts, said, kind, ())
        return UnitsOfSource(source, engine, units, None, messages, survey)
    facts, units, messages = found.facts, found.each, found.said
    if units is not None and how_sure.naming is None:
        messages = (*messages, *unused_names(source.conditions))
    if facts is not None and facts.units is not None:
        units, messages = units_and_messages(facts, found.said, kind, source.classes)
    return UnitsOfSource(source, engine, units, found.by_name, messages)


def _of_batch(source: ShardSource, engine: Engine, how_sure: HowSure, kind: AnyKind) -> UnitsOfSource:
    """The units of trials in memory, by their names."""
    batch = source.batch
    assert batch is not None and batch.trials is not None and batch.truth is not None  # noqa: S101, PT018  # all is read
    units, messages = units_of(batch.trials, batch.truth, how_sure, kind, weight=batch.weight, classes=source.classes)
    (piece,) = source.pieces
    own = replace(source, pieces=(HeldPiece(replace(batch, units=units), piece.name),), has_units=units is not None)
    return UnitsOfSource(own, engine, units, None, messages)
