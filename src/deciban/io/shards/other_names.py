"""Names of pieces that are compared by other names: how many these are, and which may become one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from deciban.core.resampling.units import Keys, distinct
from deciban.trials.names.fingerprints import fingerprints
from deciban.types import AnyArray

_Pairs = tuple[Keys, Keys]


@dataclass(frozen=True, slots=True)
class NamesSeen:
    """Names of each side of the trials of some pieces, and those by which they are compared, as fingerprints.

    Attributes
    ----------
    sides : tuple of pair of (n,) uint64 arrays
        Of every side each pair once: what the name becomes, and what it is.

    Examples
    --------
    >>> names = pa.array(["a.wav", "b"])
    >>> seen = NamesSeen().with_side(names, fingerprints(pa.array(["a", "b"])), np.array([0, 1, 1]))
    >>> (seen + seen).n_changed, len((seen + seen).suspects[0])
    (1, 0)
    """

    sides: tuple[_Pairs, ...] = ()

    def with_side(self, names: pa.Array, prints: Keys, codes: AnyArray) -> NamesSeen:
        """The same with one more side.

        Parameters
        ----------
        names : (n_names,) pyarrow array
        prints : (n_names,) uint64 array
            Of the names that they become.
        codes : (n,) int array
            The name of each trial; names of none do not count.
        """
        used = distinct(codes)
        old = fingerprints(names)[used] if len(used) else np.zeros(0, np.uint64)
        return NamesSeen((*self.sides, _once(prints[used], old)))

    def __add__(self, other: NamesSeen) -> NamesSeen:
        """Both together."""
        if not self.sides or not other.sides:
            return self if self.sides else other
        joined = zip(self.sides, other.sides, strict=True)
        return NamesSeen(tuple(_once(np.concatenate((a, c)), np.concatenate((b, d))) for (a, b), (c, d) in joined))

    @property
    def n_changed(self) -> int:
        """How many names, of all sides, become other ones."""
        return sum(int(np.count_nonzero(new != old)) for new, old in self.sides)

    @property
    def suspects(self) -> list[Keys]:
        """Of every side, what several names become."""
        return [np.unique(new[1:][new[1:] == new[:-1]]) for new, _ in self.sides]


def _once(new: Keys, old: Keys) -> _Pairs:
    order = np.lexsort((old, new))
    new, old = new[order], old[order]
    again: AnyArray = np.zeros(len(new), np.bool_)
    again[1:] = (new[1:] == new[:-1]) & (old[1:] == old[:-1])
    return new[~again], old[~again]
