"""All trials but those of the rarer class, from counts of different scores that come in ascending order."""

from __future__ import annotations

import numpy as np

from deciban.core.ranks.gaps import GapClass
from deciban.core.ranks.loops import Loops
from deciban.types import CountArray, ScoreArray

_MOST_ENTRIES = 4
"""Of a cut and the gap before it."""


class GapList:
    """What `deciban.core.ranks.gaps.CutCounts` counts around the same cuts, listed at once.

    Parameters
    ----------
    kept : (n,) array
        Scores of trials that are left out; they ascend.
    more : (m,) array
        More cuts in any order; both infinities are cuts as well.
    loops : Loops
    """

    def __init__(self, kept: ScoreArray, more: ScoreArray, loops: Loops) -> None:
        self.loops = loops
        self._cuts = kept, np.unique(np.concatenate((more, [-np.inf, np.inf])).astype(np.float32))
        self._at = np.zeros(4, np.int64)
        self._gap = np.zeros(3)
        n = _MOST_ENTRIES * (len(kept) + len(self._cuts[1]))  # what is not written to takes no memory
        self._entries = np.empty(n, np.float32), np.empty(n, np.int64), np.empty(n, np.bool_)

    def add(self, scores: ScoreArray, counts: CountArray) -> tuple[ScoreArray, CountArray]:
        """Count different scores, which ascend and are above those before; what is left of them is given back.

        Parameters
        ----------
        scores : (n,) float32 array
            Is written to.
        counts : (n,) int64 array
            Of all trials; is written to.
        """
        n = self.loops.list_gaps(scores, counts, self._cuts, (self._at, self._gap), self._entries)
        return scores[:n], counts[:n]

    def as_class(self) -> GapClass:
        """All trials that are left, as few weighted entries in ascending order; at the end."""
        self.add(np.array([np.inf], np.float32), np.zeros(1, np.int64))
        n = int(self._at[2])
        scores, weights, unsure = self._entries[0][:n], self._entries[1][:n], self._entries[2][:n]
        cumulated = np.zeros(len(scores) + 1, np.int64)
        np.cumsum(weights, out=cumulated[1:])
        return GapClass(scores, weights, cumulated, unsure, [])
