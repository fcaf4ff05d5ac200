"""Groups of units that are left out in turn, where classes of trials have means of their own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from deciban.core.resampling.class_means import ClassMeans
from deciban.core.resampling.unit_counts import groups_of_units
from deciban.types import FloatArray


class LeftOut:
    """What trials contribute to the means of classes without each group of units: classes count as much as ever.

    Parameters
    ----------
    means : ClassMeans
    n_groups : int

    Attributes
    ----------
    is_possible : bool
        Whether no group has all trials of a class.
    share : (n_trials,) array
        What trials contribute when all are there.
    """

    def __init__(self, means: ClassMeans, n_groups: int) -> None:
        group = groups_of_units(means.units.keys, n_groups)
        sides = [group[codes] for codes in means.units.codes]
        numbers = range(int(group.max(initial=0)) + 1)
        self._left = [np.logical_and.reduce([side != number for side in sides]) for number in numbers]
        self.share, self._stratum = means.share, means.stratum
        whole = np.add.reduceat(means.share, means.begins)
        kept = [np.add.reduceat(np.where(left, means.share, 0.0), means.begins) for left in self._left]
        self.is_possible = len(kept) > 1 and all(bool((mass > 0.0).all()) for mass in kept)
        self._factors = [whole / np.where(mass > 0.0, mass, 1.0) for mass in kept]

    def weights(self) -> Iterator[FloatArray]:
        """What trials contribute without each group, 0 for its own."""
        for left, factor in zip(self._left, self._factors, strict=True):
            own = self.share * factor[self._stratum]
            own *= left
            yield own

    @staticmethod
    def shift(whole: Any, parts: Sequence[Any]) -> Any:
        """What to add to figures for new units, from those of all trials and those without each group.

        Their bias falls with the number of units (delete-a-group jackknife, Quenouille 1956, Kott 2001).

        Examples
        --------
        >>> LeftOut.shift(0.25, [0.24, 0.25, 0.23])
        0.020000000000000018
        """
        return (len(parts) - 1) * (whole - np.mean(parts, axis=0))
