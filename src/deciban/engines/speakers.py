"""Who is who in trials in pieces, where nobody says it: both sides of a target trial are the same speaker.

One pass collects the names and the pairs of names of target trials, as numbers; of these pairs only so many are kept as
join the same names, fewer than there are names. Then the speaker of every trial follows from its names alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from deciban.core.resampling.units import Keys, TrialUnits, distinct, mixed_bits
from deciban.engines.work import Locked, Work
from deciban.io.shards.pieces import Chunk, Piece, Wanted
from deciban.trials.units import FOUND, connected
from deciban.types import AnyArray, IntArray

_MOST_WAITING = 1 << 20
"""Names and pairs of names that wait until those are left out that are known, or join nothing new."""


class TargetPairs(Locked, Work):
    """Names of both sides, and the pairs of target trials that join them."""

    words = "looking for speakers"

    def __init__(self) -> None:
        super().__init__()
        none = np.zeros(0, np.uint64)
        self.names: tuple[Keys, Keys] = (none, none)
        """Those of each side, ascending."""
        self.links: tuple[Keys, Keys] = (none, none)
        self._waiting: list[tuple[tuple[Keys, Keys], tuple[Keys, Keys]]] = []

    def empty(self) -> Self:
        """See `Work.empty`."""
        return type(self)()

    def take(self, pieces: Sequence[Piece]) -> None:
        """See `Work.take`."""
        for piece in pieces:
            chunk = counting(piece.read(Wanted((), truth=True, weight=True, names=True)))
            assert chunk.names is not None and chunk.truth is not None  # noqa: S101, PT018  # they were asked for
            enroll, test = chunk.names
            links = distinct_links((enroll[chunk.truth], test[chunk.truth]))
            names = distinct(enroll), distinct(test)
            with self.lock:
                self._waiting.append((names, links))
                n_waiting = sum(len(one) for parts in self._waiting for pair in parts for one in pair)
                if n_waiting > _MOST_WAITING + len(self.names[0]) + len(self.names[1]):
                    self._gather()

    def _gather(self) -> None:
        """Take what waits: so large a sum is not made for every piece."""
        waiting, self._waiting = [(self.names, self.links), *self._waiting], []
        names, links = ([[pair[side] for pair in parts] for side in (0, 1)] for parts in zip(*waiting, strict=True))
        self.names = distinct(np.concatenate(names[0])), distinct(np.concatenate(names[1]))
        self.links = joining_links((np.concatenate(links[0]), np.concatenate(links[1])))

    def gathered(self) -> Self:
        """The same, with everything taken."""
        with self.lock:
            if self._waiting:
                self._gather()
        return self

    def __getstate__(self) -> dict[str, Any]:
        self.gathered()
        return super().__getstate__()

    def __add__(self, other: Self) -> Self:
        """See `Work.__add__`."""
        found = self.empty()
        found._waiting = [(one.names, one.links) for one in (self.gathered(), other.gathered())]
        return found.gathered()


def distinct_links(links: tuple[Keys, Keys]) -> tuple[Keys, Keys]:
    """Each pair of names once."""
    (one, first), (other, second) = (np.unique(side, return_inverse=True) for side in links)
    pairs = distinct(first.astype(np.int64) * max(len(other), 1) + second)
    return one[pairs // max(len(other), 1)], other[pairs % max(len(other), 1)]


def joining_links(links: tuple[Keys, Keys]) -> tuple[Keys, Keys]:
    """As few of the pairs as join the same names: a spanning forest.

    Examples
    --------
    >>> links = np.array([1, 1, 2, 2], np.uint64), np.array([7, 8, 7, 8], np.uint64)
    >>> len(joining_links(links)[0])
    3
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import minimum_spanning_tree

    (one, first), (other, second) = (np.unique(side, return_inverse=True) for side in distinct_links(links))
    n = len(one) + len(other)
    graph = coo_array((np.ones(len(first)), (first, second + len(one))), shape=(n, n)).tocsr()
    kept = minimum_spanning_tree(graph).tocoo()
    rows, columns = np.minimum(kept.row, kept.col), np.maximum(kept.row, kept.col)
    return one[rows], other[columns - len(one)]


@dataclass(frozen=True, eq=False)
class SpeakersByName:
    """The speakers of names.

    Attributes
    ----------
    names : pair of uint64 arrays
        Numbers of the names of each side, ascending.
    codes : pair of int arrays
        The speaker of each.
    keys : (n_speakers,) uint64 array
        See `TrialUnits`; ascending.
    apart : bool
        Whether a name on one side has nothing to do with the same one on the other.
    """

    names: tuple[Keys, Keys]
    codes: tuple[IntArray, IntArray]
    keys: Keys
    apart: bool

    @classmethod
    def of(cls, found: TargetPairs, *, apart: bool, has_channels: bool) -> Self:
        """From the pairs of target trials; see `deciban.trials.units.TargetGraph`."""
        enroll, test = found.gathered().names
        if apart or has_channels:
            keys = np.concatenate((enroll, test if has_channels else mixed_bits(test)))
            place = np.arange(len(enroll)), np.arange(len(enroll), len(keys))
        else:
            keys = distinct(np.concatenate((enroll, test)))
            place = np.searchsorted(keys, enroll), np.searchsorted(keys, test)
        one, other = (
            where[np.searchsorted(own, side)] for where, own, side in zip(place, found.names, found.links, strict=True)
        )
        part = connected(one, other, len(keys))
        least = np.full(int(part.max(initial=-1)) + 1, np.iinfo(np.uint64).max, np.uint64)
        np.minimum.at(least, part, keys)
        order = np.argsort(least, kind="stable")
        rank: AnyArray = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order))
        return cls(found.names, (rank[part[place[0]]], rank[part[place[1]]]), least[order], apart)

    @property
    def about(self) -> TrialUnits:
        """All speakers, of no trial."""
        none = np.zeros(0, np.int64)
        return TrialUnits((none, none), self.keys, "speaker", FOUND)

    def units_of(self, chunk: Chunk) -> TrialUnits:
        """The speakers of trials that count."""
        assert chunk.names is not None  # noqa: S101  # they were asked for
        codes = [
            codes[np.searchsorted(own, side)]
            for codes, own, side in zip(self.codes, self.names, chunk.names, strict=True)
        ]
        return TrialUnits((codes[0], codes[1]), self.keys, "speaker", FOUND)


def counting(chunk: Chunk) -> Chunk:
    """The trials that count: those of weight 0 make no units, and join none."""
    if chunk.weight is None or np.all(chunk.weight > 0):
        return chunk
    return chunk.take(chunk.weight > 0)
