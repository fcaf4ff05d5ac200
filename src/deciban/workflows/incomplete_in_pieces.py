"""Trials in pieces of which some systems have no score: what is said of them, and which are compared."""

from __future__ import annotations

from dataclasses import dataclass, replace

from deciban.analysis import FigureRow
from deciban.errors import InputError
from deciban.io.shards.pieces import ShardSource
from deciban.messages import WARNING, Message, counted, names_apart
from deciban.models.having import ScoredBy, having, scored_by
from deciban.models.mapped import mapped
from deciban.models.score_model import ScoreModel
from deciban.types import Progress
from deciban.workflows.options import Options
from deciban.workflows.streaming import evaluate_in_pieces


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
    seen: ScoredBy | None
    messages: tuple[Message, ...]

    @classmethod
    def of(cls, source: ShardSource, options: Options) -> Scored:
        """Look which systems scored which trials: one pass, where they may lack some."""
        if not source.incomplete:
            return cls(source, None, ())
        with options.scale.engine() as engine:
            seen = scored_by(source, engine)
        if not any(seen.n_without):
            return cls(replace(source, incomplete=False), None, ())
        messages = [
            Message("note", "", f"{counted(n, 'trial')} without a score of {system}")
            for system, n in zip(source.systems, seen.n_without, strict=True)
            if n
        ]
        if seen.n_none:
            messages.append(Message(WARNING, "", f"{counted(seen.n_none, 'trial')} without any score left out"))
        every = range(len(source.systems))
        return cls(having(source, every, every=False), seen, tuple(messages))

    @property
    def complete(self) -> ShardSource | None:
        """The trials that all systems scored, on which they can be compared; None if a class has none."""
        every = tuple(range(len(self.source.systems)))
        if self.seen is not None and not all(self.seen.counts.get(every, (0, 0))):
            return None
        return self.source if self.seen is None else having(self.source, every)

    def require_all(self, what: str) -> None:
        """Refuse trials that lack scores where these cannot be.

        Raises
        ------
        InputError
            If there are some.
        """
        if self.seen is not None:
            raise InputError(
                f"{what}: needs all trials in memory where some lack scores, and {self.source.name} is read in pieces. "
                "Allow more memory (memory=, --memory), or leave it out."
            )

    def row(self, model: ScoreModel, options: Options, progress: Progress, taken: list[str]) -> FigureRow:
        """What a model makes of all trials that count, whatever scores they have."""
        (name,) = names_apart(["fusion of what there is"], taken)
        own = having(self.source, range(len(self.source.systems)), every=False, counting=True)
        found = evaluate_in_pieces(mapped(own, model, name), options, progress)
        return FigureRow(name=name, role="fusion", dev=found.systems[0])
