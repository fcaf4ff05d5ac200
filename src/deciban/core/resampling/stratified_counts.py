"""Counts by unit of trials that have means by stratum, such as conditions that count alike whatever units are drawn."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from deciban.core.resampling.unit_counts import UnitCounts, as_array, groups_of_units
from deciban.types import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class StrataAsCells:
    """Strata in place of cells of score: trials are counted by unit and stratum in the same way.

    Attributes
    ----------
    n_cells : int
    """

    n_cells: int

    def of(self, stratum: IntArray) -> IntArray:
        """The strata themselves."""
        return stratum


@dataclass(frozen=True, slots=True, eq=False)
class StratifiedCounts(UnitCounts):
    """Trials of one class by unit and cell, of which a mean is that over strata of their means.

    Drawing a unit more often leaves the weight of a stratum what it is: a unit acts on the mean of its strata alone, by
    how far its trials there are from it.

    Attributes
    ----------
    by_stratum : (n_units, n_strata) array
        Weight of the trials of each unit.
    shares : (n_strata, n_cells) array
        How the weight of a stratum is spread over cells; sums to 1, or 0 where there is none.
    """

    by_stratum: FloatArray
    shares: FloatArray

    @property
    def is_sparse(self) -> bool:
        """Never: a unit takes something from all cells of its strata."""
        return False

    def block(self, part: slice) -> FloatArray:
        """Trials of units, less what their strata have in their place."""
        found: FloatArray = as_array(self.counts[part]).astype(np.float64)
        found -= self.by_stratum[part] @ self.shares
        return found

    def in_groups(self, n_groups: int) -> StratifiedCounts:
        """See `UnitCounts.in_groups`."""
        dealt, whole = groups_of_units(self.keys, n_groups), UnitCounts.in_groups(self, n_groups)
        summed = np.zeros((n_groups, self.by_stratum.shape[1]))
        np.add.at(summed, dealt, self.by_stratum)
        return replace(self, counts=whole.counts, keys=whole.keys, by_stratum=summed)
