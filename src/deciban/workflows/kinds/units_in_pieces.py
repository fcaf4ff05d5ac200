"""Units of trials in pieces, of which nobody said any: the same as those of the same trials in memory."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deciban.engines.speakers import SpeakersByName, TargetPairs
from deciban.engines.unit_facts import LookAtUnits, UnitFacts
from deciban.engines.work import Engine
from deciban.io.shards.pieces import ShardSource
from deciban.messages import Message


@dataclass(frozen=True, slots=True, eq=False)
class UnitsFound:
    """Units of a source.

    Attributes
    ----------
    facts : UnitFacts or None
        What is known of them; None if there are none.
    by_name : SpeakersByName or None
        The units of names, where pieces do not say those of trials.
    said : tuple of Message
        What was assumed to find them.
    """

    facts: UnitFacts | None
    by_name: SpeakersByName | None = None
    said: tuple[Message, ...] = ()


def speakers_in_pieces(source: ShardSource, engine: Engine) -> tuple[UnitFacts, SpeakersByName]:
    """Find speakers from target trials, as `deciban.trials.units.speakers_of` does in memory.

    Parameters
    ----------
    source : ShardSource
        With names of both sides.
    engine : Engine
    """
    pairs = engine.run(TargetPairs(), source.pieces)
    has_channels = len(source.sides) > 2
    ways = [SpeakersByName.of(pairs, apart=False, has_channels=has_channels)]
    if not has_channels and len(np.intersect1d(*pairs.names)):
        ways.append(SpeakersByName.of(pairs, apart=True, has_channels=False))
    facts = engine.run(LookAtUnits(ways), source.pieces).facts
    at = 1 if len(ways) > 1 and facts[0].n_contradictions and not facts[1].n_contradictions else 0
    return facts[at], ways[at]
