"""Units of the trials of a source, and what has to be said of them: as of trials in memory, by passes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from deciban.core.resampling.units import TrialUnits, UnlistedUnits, common_in_words, units_in_words
from deciban.engines.trial_units import LookAtUnits, SinglesInPieces, TrialSurvey, UnitFacts, UnitsFound
from deciban.engines.units import StratifiedUnitsInPieces, UnitsInPieces
from deciban.messages import Message
from deciban.trials.passes import Engine, found_in
from deciban.trials.sources import Chunk, HeldPiece, ShardSource, Wanted
from deciban.trials.speakers import SpeakersByName, UnitsOfPieces, counting
from deciban.types import IntArray
from deciban.workflows.how_sure import HowSure
from deciban.workflows.kinds import AnyKind
from deciban.workflows.units import no_intervals, units_and_messages, units_of, unused_names

if TYPE_CHECKING:
    from deciban.engines.class_units import WhoIsIn

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
    singles : TrialSurvey or None
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
    singles: TrialSurvey | None = None
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
        from deciban.engines.class_units import WhoIsIn  # which knows influences on figures of many classes

        return WhoIsIn(self.units, self.strata)

    def of_system(self, system: int, memory: int) -> UnitsInPieces | None:
        """The trials of a system with their units, of which so many bytes may be taken."""
        if self.units is None:
            return None
        if self.singles is not None:
            return SinglesInPieces.of_survey(self.source, self.engine, system, self.singles, memory)
        known = self.source, self.engine, system, self.units, self.by_name, memory
        if self.n_conditions:
            return StratifiedUnitsInPieces(*known, self.n_conditions)
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
        found = UnitsFound(engine.run(LookAtUnits(), source.pieces).facts[0])
    elif how_sure.naming is not None and how_sure.naming.each_trial:
        found = UnitsFound.of_trials(kind.noun)
    else:
        found = kind.units_unasked_in_pieces(source, engine)
    if found.each is not None and not source.are_units and not source.classes:
        return UnitsOfSource(source, engine, None, None, (no_intervals(_UNKNOWN),))
    if found.each is not None and not source.classes:
        survey = engine.run(TrialSurvey(), source.pieces)
        said = () if how_sure.naming is not None else unused_names(source.conditions)
        units, messages = units_and_messages(survey.units, said, all_alike=max(survey.n) < 2, shared=lambda: "")
        return UnitsOfSource(source, engine, units, None, messages, survey)
    facts, units, messages = found.facts, found.each, found.said
    if units is not None and how_sure.naming is None:
        messages = (*messages, *unused_names(source.conditions))
    if facts is not None and facts.units is not None:
        names = {int(truth): name for name, truth in kind.classes_by_truth(source.classes)}
        shared = _shared(facts, names)
        units, messages = units_and_messages(facts.units, found.said, all_alike=facts.all_alike, shared=lambda: shared)
    return UnitsOfSource(source, engine, units, found.by_name, messages)


def _of_batch(source: ShardSource, engine: Engine, how_sure: HowSure, kind: AnyKind) -> UnitsOfSource:
    """The units of trials in memory, by their names."""
    batch = source.batch
    assert batch is not None and batch.trials is not None and batch.truth is not None  # noqa: S101, PT018  # all is read
    units, messages = units_of(batch.trials, batch.truth, how_sure, kind, weight=batch.weight, classes=source.classes)
    (piece,) = source.pieces
    own = replace(source, pieces=(HeldPiece(replace(batch, units=units), piece.name),), has_units=units is not None)
    return UnitsOfSource(own, engine, units, None, messages)


def _shared(facts: UnitFacts, names: dict[int, str]) -> str:
    """Of which classes all trials have a unit in common, in words."""
    units: TrialUnits | None = facts.units
    common = facts.sharing()
    return "" if units is None else common_in_words(units.noun, [name for c, name in names.items() if c in common])
