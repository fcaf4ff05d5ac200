"""Units of trials: named by the user (columns, files, mappings) or found from the names of trials, at every size."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from deciban._arrow import of_numpy
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
from deciban.errors import InputError, KeyMismatchError
from deciban.io.shards.units import UnitsOf
from deciban.memory import require_room_for_units
from deciban.messages import WARNING, Message, Note, counted
from deciban.trials import Trials
from deciban.trials.lists import ROW
from deciban.trials.passes import Engine, found_in
from deciban.trials.sources import Chunk, HeldPiece, ShardSource, Wanted
from deciban.trials.speakers import SpeakersByName, UnitsOfPieces, counting
from deciban.trials.units import side_of, units_of_trials
from deciban.types import AnyArray, BoolArray, CountArray, IntArray
from deciban.workflows.key_columns import placed_trials
from deciban.workflows.kinds import AnyKind
from deciban.workflows.options import HowSure, UnitNaming

if TYPE_CHECKING:
    from deciban.engines.class_problems import UnitsAndStrata


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
    called = {side: name for name, side in trials.origin.sides}
    sides = {side: called.get(side, side) for side in trials.sides if side != ROW[0]}
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
    def of_classes(self) -> TrialUnits | UnitsAndStrata | None:
        """The same as evaluations of many classes ask of them."""
        if self.units is None or self.strata is None:
            return self.units
        from deciban.engines.class_problems import UnitsAndStrata  # which knows influences on figures of many classes

        return UnitsAndStrata(self.units, self.strata)

    def require_room(self, memory: int) -> None:
        """Refuse more units than so many bytes hold, before any work that would be in vain."""
        if self.units is not None and self.singles is None and self.source.batch is None and not self.source.classes:
            require_room_for_units(len(self.units.keys), memory)

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
        said = () if how_sure.naming is not None else _unused_names_of(source)
        units, messages = units_and_messages(survey.unit_facts, said, kind, ())
        return UnitsOfSource(source, engine, units, None, messages, survey)
    facts, units, messages = found.facts, found.each, found.said
    if units is not None and how_sure.naming is None:
        messages = (*messages, *_unused_names_of(source))
    if facts is not None and facts.units is not None:
        units, messages = units_and_messages(facts, found.said, kind, source.classes)
    return UnitsOfSource(source, engine, units, found.by_name, messages)


def _unused_names_of(source: ShardSource) -> list[Message]:
    return unused_names(one for one in source.columns if one not in source.names)


def _of_batch(source: ShardSource, engine: Engine, how_sure: HowSure, kind: AnyKind) -> UnitsOfSource:
    """The units of trials in memory, by their names."""
    batch = source.batch
    assert batch is not None and batch.trials is not None and batch.truth is not None  # noqa: S101, PT018  # all is read
    units, messages = units_of(batch.trials, batch.truth, how_sure, kind, weight=batch.weight, classes=source.classes)
    (piece,) = source.pieces
    own = replace(source, pieces=(HeldPiece(replace(batch, units=units), piece.name),), has_units=units is not None)
    return UnitsOfSource(own, engine, units, None, messages)
