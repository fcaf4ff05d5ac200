"""What a trained model makes of the trials of a source, and which systems scored these."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from deciban.errors import InputError
from deciban.memory import memory_error
from deciban.messages import WARNING, Message, counted
from deciban.models.mapped import ScoredBy, counting, having, mapped, ordered, scored_by
from deciban.models.score_model import ScoreModel
from deciban.trials import ClassScores, Origin, Scores
from deciban.trials.sources import ShardSource
from deciban.workflows.kinds import kind_called
from deciban.workflows.model_files import order_of_training, require_one_system, ways_message
from deciban.workflows.options import Options
from deciban.workflows.system_names import known_by


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """Trials that at least one system scored.

    Attributes
    ----------
    source : ShardSource
    seen : ScoredBy or None
        Which scores they have; None if they have all.
    messages : tuple of Message
        How many lack which.
    """

    source: ShardSource
    seen: ScoredBy | None = None
    messages: tuple[Message, ...] = ()

    @classmethod
    def of(cls, source: ShardSource, options: Options) -> Scored:
        """Look which systems scored which trials: one pass, where they may lack some."""
        found = cls._without_empty(source, options, "any score")
        if found.seen is None:
            return found
        notes = [
            Message("note", "", f"{counted(n, 'trial')} without a score of {system}")
            for system, n in zip(source.systems, found.seen.n_without, strict=True)
            if n
        ]
        return replace(found, messages=(*notes, *found.messages))

    @classmethod
    def _without_empty(cls, source: ShardSource, options: Options, what: str) -> Scored:
        """Leave out the trials that no system scored, and say how many these are."""
        if not source.incomplete:
            return cls(source)
        with options.scale.engine() as engine:
            seen = scored_by(source, engine)
        if not any(seen.n_without):
            return cls(replace(source, incomplete=False))
        words = f"{counted(seen.n_none, 'trial')} without {what} left out"
        messages = (Message(WARNING, "", words),) if seen.n_none else ()
        return cls(having(source, range(len(source.systems)), every=False), seen, messages)

    def choose(self, systems: Sequence[int], options: Options) -> Scored:
        """The trials that one of some systems scored at least, with these in this order."""
        own = ordered(self.source, systems=systems)
        if self.seen is None or own is self.source:
            return replace(self, source=own)
        found = self._without_empty(own, options, f"a score of {' or '.join(own.systems)}")
        return replace(found, messages=(*self.messages, *found.messages))

    @property
    def complete(self) -> ShardSource | None:
        """The trials that all systems scored, on which they can be compared; None if a class has none."""
        every = tuple(range(len(self.source.systems)))
        if self.seen is None:
            return self.source
        return having(self.source, every) if all(self.seen.counts.get(every, (0, 0))) else None

    def require_all(self, what: str) -> None:
        """Refuse trials in pieces that lack scores where these cannot be.

        Raises
        ------
        InputError
            If there are some.
        """
        if self.seen is not None and self.source.batch is None:
            why = f"{what}: needs all trials in memory where some lack scores, and {self.source.name} is read in pieces"
            raise memory_error(why, way="leave it out")


@dataclass(frozen=True, slots=True, eq=False)
class MadeOf:
    """What a trained model makes of a source.

    Attributes
    ----------
    scored : Scored
        Its systems in the order of training.
    trained : ShardSource
        The same with the classes in that order, too.
    result : ShardSource
        What the model makes of the trials that count.
    messages : tuple of Message
    """

    scored: Scored
    trained: ShardSource
    result: ShardSource
    messages: tuple[Message, ...]


def made_of(model: ScoreModel, scored: Scored, options: Options) -> MadeOf:
    """Find the systems of a trained model in a source, and have it map them.

    Raises
    ------
    FormatError, InputError
        If systems or classes are not those of training, or the model refuses a trial in memory.
    """
    source = scored.source
    kind = kind_called("classes" if source.classes else "two-class")
    if model.scores_kind != kind.name:
        wanted = kind_called(model.scores_kind)
        raise InputError(
            f"{source.name}: scores of {kind.about}, but a model of kind {model.kind!r} ({type(model).__name__}) is "
            f"for {wanted.about}.{wanted.way_out}"
        )
    messages = list[Message]()
    require_one_system(model, source)
    if model.is_fusion:
        trained = () if model.training_ is None else model.training_.systems
        given = known_by(source.systems, source.renamed, trained)
        order, told = order_of_training(given, trained, model.n_systems_)
        before = scored.messages
        scored = scored.choose(order, options)
        messages += [*scored.messages[len(before) :], *told]
        scored, source = replace(scored, messages=before), scored.source
    kind.require_model(model, options.reading, source.classes, source.units)
    messages += _ways(model, source, options)
    own, told = in_class_order(model, source)
    result = mapped(counting(own), model, kind.name_after(model, source.systems))
    result = ordered(result, classes=source.classes or None)
    return MadeOf(scored, own, result, (*messages, *told))


def in_class_order(model: ScoreModel, source: ShardSource) -> tuple[ShardSource, list[Message]]:
    """A source with its classes in the order of training, and what is to be said about it.

    Raises
    ------
    InputError
        If they are other classes.
    """
    kind = kind_called(model.scores_kind)
    template, told = kind.matched(model, _template(source))
    return ordered(source, classes=kind.classes_of(template) or None), told


def _template(source: ShardSource) -> Any:
    """Scores of one trial, of these classes: for those who ask which they are."""
    if not source.classes:
        return Scores.of({"trial": ["any"]}, [0.0])
    scores = ClassScores.of({"trial": ["any"]}, source.classes, np.zeros((1, len(source.classes))))
    return replace(scores, trials=replace(scores.trials, origin=Origin(source.name)))


def _ways(model: Any, source: ShardSource, options: Options) -> list[Message]:
    """Say by which of its fusions a fusion for subsets of systems fuses trials that lack a score."""
    if not model.of_subsets or not source.incomplete:
        return []
    with options.scale.engine() as engine:
        counts = scored_by(source, engine).counts
    ways = [(subset, sum(each)) for subset, each in counts.items() if len(subset) < len(source.systems)]
    return [
        ways_message(n, subset, source.systems) for subset, n in sorted(ways, key=lambda one: (-len(one[0]), one[0]))
    ]
