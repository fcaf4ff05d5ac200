"""Quality measures of both sides of trials."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from deciban.errors import InputError
from deciban.trials.lists import Trials
from deciban.trials.segment_quality import SegmentQuality
from deciban.types import BoolArray, FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class AlignedQuality:
    """Quality vectors of both sides of trials, as a fusion takes them.

    Attributes
    ----------
    trials : Trials
    enroll, test : (n_trials, n_measures) float array or None
        None for a side without any measures; zeros where a name has none.
    present : (n_trials,) bool array
        Whether all sides that have measures have them for this trial.
    """

    trials: Trials
    enroll: FloatArray | None
    test: FloatArray | None
    present: BoolArray


@dataclass(frozen=True, slots=True, eq=False)
class Quality:
    """Quality measures of both sides of trials.

    Attributes
    ----------
    enroll, test : SegmentQuality or None
        Measures of enrolments and of test segments; None for a side without any. A name that is not listed has none.
    trials : Trials or None
        The trials they were made for, where the file says so.
    """

    enroll: SegmentQuality | None
    test: SegmentQuality | None
    trials: Trials | None = None

    def align(self, trials: Trials) -> AlignedQuality:
        """Quality vectors of both sides of every trial: q and r of the fusion formula.

        Source: BOSARIS toolkit paper, eq. 30.

        Raises
        ------
        InputError
            If the trials have no such sides.

        Examples
        --------
        >>> quality = Quality(SegmentQuality.of(["m"], [2.0]), SegmentQuality.of(["x", "y"], [0.5, 0.25]))
        >>> aligned = quality.align(Trials.of({"enroll": ["m", "m"], "test": ["y", "z"]}))
        >>> aligned.enroll.tolist(), aligned.test.tolist(), aligned.present.tolist()
        ([[2.0], [2.0]], [[0.25], [0.0]], [True, False])
        """
        present = np.ones(len(trials), np.bool_)
        values: dict[str, FloatArray | None] = {"enroll": None, "test": None}
        for side, measured in (("enroll", self.enroll), ("test", self.test)):
            if measured is not None:
                values[side], known = measured.align(trials, side)
                present &= known
        return AlignedQuality(trials, values["enroll"], values["test"], present)

    def keep(self, *, enroll: str | Sequence[str] | None = None, test: str | Sequence[str] | None = None) -> Quality:
        """Keep the measures of these names; a side that is left out stays as it is.

        Raises
        ------
        InputError
            If a side that is named has no measures, or none is left.
        """
        return self._chosen(SegmentQuality.keep, {"enroll": enroll, "test": test})

    def drop(self, *, enroll: str | Sequence[str] | None = None, test: str | Sequence[str] | None = None) -> Quality:
        """Leave out the measures of these names; see `keep`.

        Raises
        ------
        InputError
            If a side that is named has no measures, or none is left.
        """
        return self._chosen(SegmentQuality.drop, {"enroll": enroll, "test": test})

    def _chosen(
        self, choose: Callable[..., SegmentQuality], names: Mapping[str, str | Sequence[str] | None]
    ) -> Quality:
        sides: dict[str, Any] = {}
        for side, wanted in names.items():
            if wanted is None:
                continue
            measured: SegmentQuality | None = getattr(self, side)
            if measured is None:
                raise InputError(f"{side}: there are no quality measures of this side.")
            sides[side] = choose(measured, wanted)
        return replace(self, **sides)

    def _each(self, change: Callable[[SegmentQuality], SegmentQuality]) -> Quality:
        enroll, test = (None if side is None else change(side) for side in (self.enroll, self.test))
        return replace(self, enroll=enroll, test=test)

    def select(self, measures: Sequence[str]) -> Quality:
        """Some of the measures, of both sides.

        Raises
        ------
        InputError
            If a side lacks one of them.
        """
        return self._each(lambda side: side.select(measures))

    def combine_measures(self, matrix: ArrayLike, *, measures: Sequence[str] | None = None) -> Quality:
        """Make new measures that are weighted sums of these, in the same way on both sides.

        Parameters
        ----------
        matrix : (n_new, n_measures) array_like
            As in `SegmentQuality.combine_measures`.
        measures : sequence of str, optional
            Names of the new measures.

        Raises
        ------
        InputError
            As in `SegmentQuality.combine_measures`.
        """
        return self._each(lambda side: side.combine_measures(matrix, measures=measures))
