"""Quality measures of trials as arrays: checked, with trials that lack them known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from deciban.errors import InputError
from deciban.fusion.linear import LabelledSystems, with_one_nan
from deciban.models.score_model import measure_table, tell_missing
from deciban.types import BoolArray, FloatArray, IntArray, ScoreArray

if TYPE_CHECKING:
    from deciban.trials import Key, Quality, Trials

QualitySide: TypeAlias = Literal["enroll", "test", "trial"]

QUALITY_SIDES: tuple[QualitySide, ...] = get_args(QualitySide)
"""What quality measures may be of: a side of the trial, or the trial as a whole."""


@dataclass(frozen=True, slots=True, eq=False)
class Measures:
    """Checked quality measures.

    Attributes
    ----------
    enroll, test, trial : (n_trials, n_measures) array, optional
        Measures of each side, and of the trial as a whole; NaN where one is missing, never infinite.
    present : (n_trials,) bool array
        Whether nothing is missing.
    """

    enroll: ScoreArray | None
    test: ScoreArray | None
    trial: ScoreArray | None
    present: BoolArray

    @classmethod
    def of(
        cls, n_trials: int, *, enroll: ArrayLike | None, test: ArrayLike | None, trial: ArrayLike | None
    ) -> Measures:
        """Check what a user passed.

        Raises
        ------
        InputError
            If one is no matrix of real numbers with a row for each trial, or is infinite somewhere.
        """
        present = np.ones(n_trials, np.bool_)
        checked: dict[QualitySide, ScoreArray | None] = dict.fromkeys(QUALITY_SIDES)
        for name, values in zip(QUALITY_SIDES, (enroll, test, trial), strict=True):
            if values is not None:
                table = checked[name] = with_one_nan(measure_table(values, f"{name}_quality", n_trials))
                for column in table.T:
                    present &= ~np.isnan(column)
        return cls(**checked, present=present)

    @property
    def n_measures(self) -> dict[str, int]:
        """How many measures there are of each kind: ``enroll``, ``test`` and ``trial``."""
        return {name: 0 if (table := getattr(self, name)) is None else table.shape[1] for name in QUALITY_SIDES}

    @property
    def columns(self) -> list[ScoreArray]:
        """All measures, one after the other; views, not copies."""
        return [column for table in (self.enroll, self.test, self.trial) if table is not None for column in table.T]

    def take(self, rows: BoolArray | IntArray | slice) -> Measures:
        """Those of some of the trials."""
        tables = {name: None if (table := getattr(self, name)) is None else table[rows] for name in QUALITY_SIDES}
        return replace(self, **tables, present=self.present[rows])

    def require_same(self) -> None:
        """Refuse more measures of one side than of the other.

        Raises
        ------
        InputError
            If both sides have measures, and not equally many.
        """
        n_measures = self.n_measures
        enroll, test = n_measures["enroll"], n_measures["test"]
        if enroll and test and enroll != test:
            raise InputError(
                f"enroll_quality, test_quality: {enroll} and {test} measures. A symmetric matrix needs the same ones "
                "in the same order on both sides; pass symmetric=False (--asymmetric) for others."
            )

    def require(self, wanted: Mapping[str, int]) -> None:
        """Refuse other numbers of measures than those of training.

        Raises
        ------
        InputError
        """
        for name, n_given in self.n_measures.items():
            if n_given != (n := wanted.get(name, 0)):
                raise InputError(
                    f"{name}_quality: {n_given or 'no'} measures, but the fusion was trained on {n or 'none'}. "
                    "Pass the same ones in the same order; NaN stands for a measure that a trial does not have."
                )

    def tell_missing(self, consequence: str) -> None:
        """Warn if trials lack a measure, with the number of them."""
        tell_missing("QualityFusion", self.present, consequence)


def with_all_measures(data: LabelledSystems, measures: Measures) -> tuple[LabelledSystems, Measures]:
    """The trials that have all measures, and a weight.

    Raises
    ------
    InputError
        If none of a class has.
    """
    counting = measures.present if data.weight is None else measures.present & (data.weight > 0)
    if counting.all():
        return data, measures
    for rows, name in ((data.is_target, "target"), (~data.is_target, "non-target")):
        if not (counting & rows).any():
            raise InputError(
                f"quality: no {name} trial that counts has all measures. Training needs both classes; leave out the "
                "measure that is missing."
            )
    return data.take(counting), measures.take(counting)


def quality_vectors(quality: Quality, trials: Trials | Key) -> tuple[FloatArray | None, FloatArray | None]:
    """Quality vectors of both sides of every trial, as `QualityFusion` takes them.

    Parameters
    ----------
    quality : deciban.trials.Quality
        Measures by name, from a file of `deciban.io` for example. ``quality.select`` chooses among them, and
        ``quality.combine_measures`` makes new ones by a matrix, before they are laid out over trials.
    trials : deciban.trials.Trials, or deciban.trials.Key
        Which trials, in which order: those of the scores.

    Returns
    -------
    enroll, test : (n_trials, n_measures) array or None
        None for a side without measures; a row of NaN for a name that has none, which is then fused without quality.

    Raises
    ------
    InputError
        If the trials have no such sides.

    Examples
    --------
    >>> from deciban.trials import Key, Quality, SegmentQuality
    >>> key = Key.of({"enroll": ["m", "m"], "test": ["y", "z"]}, [True, False])
    >>> quality = Quality(SegmentQuality.of(["m"], [2.0]), SegmentQuality.of(["x", "y"], [0.5, 0.25]))
    >>> enroll, test = quality_vectors(quality, key)
    >>> enroll.tolist(), test.tolist()
    ([[2.0], [2.0]], [[0.25], [nan]])
    """
    listed: Any = getattr(trials, "trials", trials)
    sides: list[FloatArray | None] = []
    for side, measured in (("enroll", quality.enroll), ("test", quality.test)):
        if measured is None:
            sides.append(None)
            continue
        values, known = measured.align(listed, side)
        values[~known] = np.nan
        sides.append(values)
    return sides[0], sides[1]
