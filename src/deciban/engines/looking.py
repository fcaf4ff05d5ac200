"""Looks at trials, part by part: what is read of a piece is looked at, and what is found of all pieces added up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self

from deciban.engines.work import Engine, Locked, Work
from deciban.errors import naming_trials
from deciban.io.shards.pieces import Chunk, Piece, ShardSource, Wanted


class Looks(Locked, Work):
    """A pass that looks at every piece.

    Parameters
    ----------
    wanted : Wanted
        What is read.
    look : callable
        Finds something in what was read, that adds up; None where there is nothing. Can be pickled.
    words : str
        What goes on, for progress.
    """

    def __init__(self, wanted: Wanted, look: Callable[[Chunk], Any], words: str) -> None:
        super().__init__()
        self.wanted, self.look, self.words = wanted, look, words
        self.found: Any = None

    def empty(self) -> Self:
        """See `Work.empty`."""
        return type(self)(self.wanted, self.look, self.words)

    def take(self, pieces: Sequence[Piece]) -> None:
        """See `Work.take`."""
        for piece in pieces:
            chunk = piece.read(self.wanted)
            with naming_trials(f"{{}} of {piece.name}".format):
                own = self.look(chunk)
            with self.lock:
                self.found = both(self.found, own)

    def __add__(self, other: Self) -> Self:
        """See `Work.__add__`."""
        all_of_it = self.empty()
        all_of_it.found = both(self.found, other.found)
        return all_of_it


def both(one: Any, other: Any) -> Any:
    """What was found here and there; None is nothing."""
    if one is None or other is None:
        return other if one is None else one
    return one + other


def found_in(
    source: ShardSource, engine: Engine, wanted: Wanted, look: Callable[[Chunk], Any], words: str = "training"
) -> Any:
    """Have a look at all pieces of a source: one pass.

    Parameters
    ----------
    source : ShardSource
    engine : Engine
    wanted, look, words
        As of `Looks`.

    Returns
    -------
    object
        What was found, None if that was nothing.

    Raises
    ------
    FormatError, OSError
        As reading does.
    InputError
        What a look refuses, with the piece and the number of the trial.
    """
    return engine.run(Looks(wanted, look, words), source.pieces).found
