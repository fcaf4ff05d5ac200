"""Units of trials that are read in batches. Speakers without names are found from target trials.

Both sides of a target trial are the same speaker. One pass collects the names and the pairs of names of target trials,
as numbers. It keeps only a spanning forest of these pairs, with fewer edges than names. Then the names of a trial
determine its speakers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from deciban.core.resampling.unit_counts import groups_of_keys, groups_of_units
from deciban.core.resampling.units import Keys, SpeakersByName, TrialUnits, UnlistedUnits, distinct
from deciban.errors import not_none
from deciban.trials.sources import Batch, SourcePartition, SourcePass, TrialFields
from deciban.types import IntArray

_MOST_WAITING = 1 << 20
"""Number of names and pairs that are collected before duplicates and redundant pairs are removed."""


class TargetPairs(SourcePass):
    """Names of both sides, and the pairs of names in target trials."""

    words = "looking for speakers"

    def __init__(self) -> None:
        none = np.zeros(0, np.uint64)
        self.names: tuple[Keys, Keys] = (none, none)
        """Names of each side, ascending."""
        self.links: tuple[Keys, Keys] = (none, none)
        self._waiting: list[tuple[tuple[Keys, Keys], tuple[Keys, Keys]]] = []

    def take(self, partitions: Sequence[SourcePartition]) -> None:
        """See `SourcePass.take`."""
        for partition in partitions:
            batch = partition.read(TrialFields((), truth=True, weight=True, names=True)).counting
            enroll, test = not_none(batch.names, "names")
            links = distinct_links((enroll[batch.labels], test[batch.labels]))
            names = distinct(enroll), distinct(test)
            with self.lock:
                self._waiting.append((names, links))
                n_waiting = sum(len(one) for parts in self._waiting for pair in parts for one in pair)
                if n_waiting > _MOST_WAITING + len(self.names[0]) + len(self.names[1]):
                    self._gather()

    def _gather(self) -> None:
        """Merge the waiting names and pairs; this is too slow for each partition."""
        waiting, self._waiting = [(self.names, self.links), *self._waiting], []
        names, links = ([[pair[side] for pair in parts] for side in (0, 1)] for parts in zip(*waiting, strict=True))
        self.names = distinct(np.concatenate(names[0])), distinct(np.concatenate(names[1]))
        self.links = joining_links((np.concatenate(links[0]), np.concatenate(links[1])))

    def gathered(self) -> Self:
        """Merge all waiting names and pairs; return this object."""
        with self.lock:
            if self._waiting:
                self._gather()
        return self

    def speakers(self, *, apart: bool, has_channels: bool) -> SpeakersByName:
        """Return the speakers of all names."""
        result = self.gathered()
        links = [np.searchsorted(own, side) for own, side in zip(result.names, result.links, strict=True)]
        return SpeakersByName.of(result.names, links, apart=apart, has_channels=has_channels)

    def __getstate__(self) -> dict[str, object]:
        self.gathered()
        return super().__getstate__()

    def __add__(self, other: Self) -> Self:
        """See `SourcePass.__add__`."""
        values = self.empty()
        values._waiting = [(one.names, one.links) for one in (self.gathered(), other.gathered())]
        return values.gathered()


def distinct_links(links: tuple[Keys, Keys]) -> tuple[Keys, Keys]:
    """Return the distinct pairs of names."""
    (one, first), (other, second) = (np.unique(side, return_inverse=True) for side in links)
    pairs = distinct(first.astype(np.int64) * max(len(other), 1) + second)
    return one[pairs // max(len(other), 1)], other[pairs % max(len(other), 1)]


def joining_links(links: tuple[Keys, Keys]) -> tuple[Keys, Keys]:
    """Return a spanning forest of the pairs, which connects the same names with as few pairs as possible.

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
class BatchUnits:
    """The units, and a function that returns the units of a batch. Can be pickled.

    Attributes
    ----------
    units : TrialUnits
        All units, without trials.
    by_name : SpeakersByName, optional
        The units of names, if partitions do not contain units.
    dealt : (n_units,) uint64 array, optional
        If each trial is a unit: the keys of all units, ascending, if they are few.
    """

    units: TrialUnits
    by_name: SpeakersByName | None = None
    dealt: Keys | None = None

    @property
    def are_trials(self) -> bool:
        """True if each trial is a unit and the units are not listed."""
        return isinstance(self.units, UnlistedUnits)

    def fields_with(self, fields: TrialFields, *, with_keys: bool = False) -> TrialFields:
        """Add the fields that determine the units; ``with_keys`` also for trials that are units."""
        named = self.by_name is not None
        return replace(fields, units=not named and (with_keys or not self.are_trials), names=named)

    def groups(self, batch: Batch, n_groups: int) -> list[IntArray]:
        """Return the groups of the units of trials, for each side, as `groups_of_units` computes them in memory."""
        if not self.are_trials:
            group, own = groups_of_units(self.units.keys, n_groups), self.of(batch)
            return [group[side] for side in own.codes]
        units = not_none(batch.units, "units")
        keys = units.keys[units.codes[0]]
        if self.dealt is None:
            return [groups_of_keys(keys, n_groups)]
        return [np.searchsorted(self.dealt, keys) % max(min(n_groups, len(self.dealt)), 1)]

    def of(self, batch: Batch) -> TrialUnits:
        """Return the units of trials as indices among all units; one unit per trial if they are not listed."""
        if self.are_trials:
            return TrialUnits.each(len(batch.labels))
        own = batch.units_by(self.by_name)
        return own if own.keys is self.units.keys else own.among(self.units.keys)
