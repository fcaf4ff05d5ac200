"""Who is who in pieces: both sides of a target trial are one speaker, and so is what several target trials join.

The same as `deciban.trials.units.speakers_of` finds of trials in memory: one pass for the links, and one that counts
which non-target trials contradict them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from deciban.core.resampling.units import Keys, TrialUnits, mixed_bits
from deciban.engines.work import Engine, Locked, Work
from deciban.io.shards.pieces import Chunk, Piece, ShardSource, Wanted
from deciban.messages import Message
from deciban.trials.units import FOUND, connected, notes_on_speakers
from deciban.types import AnyArray


class Links(Locked, Work):
    """Which names there are on both sides of trials, and which of them target trials join.

    Names of the second side have keys of their own, so that a name on both sides can be told apart from itself.
    """

    words = "looking who is who"

    def __init__(self) -> None:
        super().__init__()
        self._known = _Known((_NONE, _NONE), _NONE, _NONE)
        self._waiting: list[_Known] = []

    def empty(self) -> Self:
        """See `Work.empty`."""
        return type(self)()

    @property
    def known(self) -> _Known:
        """What all trials say together."""
        self._known, self._waiting = _Known.together([self._known, *self._waiting]), []
        return self._known

    def take(self, pieces: Sequence[Piece]) -> None:
        """See `Work.take`."""
        for piece in pieces:
            chunk = piece.read(Wanted((), truth=True, units=True))
            assert chunk.units is not None and chunk.truth is not None  # noqa: S101, PT018  # they were asked for
            keys, (enroll, test) = chunk.units.keys, chunk.units.codes
            if not len(enroll):
                continue
            names = keys[np.unique(enroll)], keys[np.unique(test)]
            pairs = np.unique(enroll[chunk.truth].astype(np.int64) * len(keys) + test[chunk.truth])
            with self.lock:
                self._add(_Known(names, keys[pairs // len(keys)], mixed_bits(keys[pairs % len(keys)])))

    def __add__(self, other: Self) -> Self:
        """See `Work.__add__`."""
        found = self.empty()
        for part in (self, other):
            found._add(part.known)  # of the same class
        return found

    def _add(self, more: _Known) -> None:
        """Put it to what waits, until this is as much as what is known: then the whole is looked at once."""
        self._waiting.append(more)
        if sum(map(len, self._waiting)) > max(len(self._known), _FEW):
            _ = self.known


_NONE: Keys = np.zeros(0, np.uint64)

_FEW = 1 << 16
"""Names and links that may wait in any case."""


@dataclass(frozen=True, slots=True, eq=False)
class _Known:
    """Names of both sides, and links of what target trials join."""

    names: tuple[Keys, Keys]
    one: Keys
    other: Keys

    def __len__(self) -> int:
        return len(self.one) + sum(map(len, self.names))

    @classmethod
    def together(cls, parts: Sequence[_Known]) -> _Known:
        """All of them; links become a tree for each speaker, with at most one link for each name."""
        first, second = (np.unique(np.concatenate([one.names[side] for one in parts])) for side in (0, 1))
        ends = [np.concatenate([getattr(one, end) for one in parts]) for end in ("one", "other")]
        return cls((first, second), *parted(*ends))


def parted(one: Keys, other: Keys) -> tuple[Keys, Keys]:
    """What links join: all nodes, and for each the least of those that it is joined with.

    Examples
    --------
    >>> nodes, least = parted(np.array([3, 7], np.uint64), np.array([5, 5], np.uint64))
    >>> nodes.tolist(), least.tolist()
    ([3, 5, 7], [3, 3, 3])
    """
    nodes, place = np.unique(np.concatenate((one, other)), return_inverse=True)
    part = connected(place[: len(one)], place[len(one) :], len(nodes))
    least = np.full(int(part.max(initial=-1)) + 1, np.iinfo(np.uint64).max, np.uint64)
    np.minimum.at(least, part, nodes)
    return nodes, least[part]


@dataclass(frozen=True, slots=True, eq=False)
class Who:
    """The speaker of every name, on both sides.

    Attributes
    ----------
    names : pair of uint64 arrays
        Keys of the names of each side, ascending.
    speakers : pair of uint64 arrays
        Keys of their speakers.
    """

    names: tuple[Keys, Keys]
    speakers: tuple[Keys, Keys]

    @classmethod
    def of(cls, links: Links, *, apart: bool) -> Who:
        """Make it of links, with a name on both sides as one or (``apart``) as two."""
        known = links.known
        first, second = known.names
        own = (first, mixed_bits(second)) if apart else (first, second)
        one, other = known.one, known.other
        if not apart:
            one, other = (_plain(side, second) for side in (one, other))
        nodes, least = parted(one, other)
        return cls((first, second), (_speakers(own[0], nodes, least), _speakers(own[1], nodes, least)))

    def of_trials(self, units: TrialUnits) -> tuple[AnyArray, AnyArray]:
        """The key of the speaker on each side of every trial."""
        enroll, test = (
            speakers[np.searchsorted(names, units.keys).clip(0, max(len(names) - 1, 0))][codes]
            for names, speakers, codes in zip(self.names, self.speakers, units.codes, strict=True)
        )
        return enroll, test


def _plain(keys: Keys, names: Keys) -> Keys:
    """Keys without what tells the second side apart."""
    apart = mixed_bits(names)
    order = np.argsort(apart)
    place = np.searchsorted(apart[order], keys).clip(0, max(len(apart) - 1, 0))
    found = keys.copy()
    if len(apart):
        same = apart[order][place] == keys
        found[same] = names[order][place[same]]
    return found


def _speakers(names: Keys, nodes: Keys, least: Keys) -> Keys:
    """The speaker of every name; one that is in no target trial is a speaker by itself."""
    found = names.copy()
    if len(nodes):
        place = np.searchsorted(nodes, names).clip(0, len(nodes) - 1)
        same = nodes[place] == names
        found[same] = least[place[same]]
    return found


class Contradictions(Locked, Work):
    """How many non-target trials have one speaker on both sides.

    Parameters
    ----------
    ways : sequence of Who
        Each is counted.
    """

    words = "looking who is not who"

    def __init__(self, ways: Sequence[Who]) -> None:
        super().__init__()
        self.ways = tuple(ways)
        self.n = [0] * len(self.ways)

    def empty(self) -> Self:
        """See `Work.empty`."""
        return type(self)(self.ways)

    def take(self, pieces: Sequence[Piece]) -> None:
        """See `Work.take`."""
        for piece in pieces:
            chunk = piece.read(Wanted((), truth=True, units=True))
            assert chunk.units is not None and chunk.truth is not None  # noqa: S101, PT018  # they were asked for
            for at, who in enumerate(self.ways):
                enroll, test = who.of_trials(chunk.units)
                n_same = int(np.count_nonzero((enroll == test) & ~chunk.truth))
                with self.lock:
                    self.n[at] += n_same

    def __add__(self, other: Self) -> Self:
        """See `Work.__add__`."""
        found = self.empty()
        found.n = [a + b for a, b in zip(self.n, other.n, strict=True)]
        return found


@dataclass(frozen=True, slots=True)
class WithSpeakers(Piece):
    """A piece whose units are speakers.

    Attributes
    ----------
    piece : Piece
        Whose units are the names of both sides.
    who : Who
    """

    piece: Piece
    who: Who

    @property
    def name(self) -> str:  # type: ignore[override]
        """See `Piece`."""
        return self.piece.name

    @property
    def n_rows(self) -> int:  # type: ignore[override]
        """See `Piece`."""
        return self.piece.n_rows

    def read(self, wanted: Wanted) -> Chunk:
        """See `Piece.read`."""
        chunk = self.piece.read(wanted)
        if chunk.units is None:
            return chunk
        keys, codes = np.unique(np.concatenate(self.who.of_trials(chunk.units)), return_inverse=True)
        enroll, test = np.split(codes, 2)
        return replace(chunk, units=TrialUnits((enroll, test), keys, "speaker", FOUND))


def with_speakers(source: ShardSource, engine: Engine) -> ShardSource:
    """Find the speakers of a source whose pieces know the names of both sides of trials.

    Parameters
    ----------
    source : ShardSource
    engine : Engine

    Returns
    -------
    ShardSource
        The same, with speakers as units and what is to be said about them; as it is, if nothing says who is who.
    """
    if not source.finds_speakers:
        return source
    links = engine.run(Links(), source.pieces)
    ways = [Who.of(links, apart=False)]
    if len(np.intersect1d(links.known.names[0], links.known.names[1])):
        ways.append(Who.of(links, apart=True))
    n = engine.run(Contradictions(ways), source.pieces).n
    at = 1 if len(ways) > 1 and n[0] and not n[1] else 0
    pieces = tuple(WithSpeakers(one, ways[at]) for one in source.pieces)
    notes = tuple(Message("note", "", words) for words in notes_on_speakers(apart=at == 1, n_contradictions=n[at]))
    messages = (*source.messages, *notes)
    return replace(source, pieces=pieces, has_units=True, finds_speakers=False, messages=messages)
