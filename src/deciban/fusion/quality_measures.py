"""Quality measures of trials as arrays, and weighted sums of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from deciban._validate import arrays as _validate
from deciban.core.training.linear_objective import Trials
from deciban.errors import InputError
from deciban.fusion.linear import with_one_nan
from deciban.models.score_model import measure_table
from deciban.types import BoolArray, FloatArray, IntArray, ScoreArray

if TYPE_CHECKING:
    from deciban.trials import Key, Quality


QualitySide: TypeAlias = Literal["enroll", "test", "trial"]


QUALITY_SIDES: tuple[QualitySide, ...] = get_args(QualitySide)
"""What quality measures may be of: a side of the trial, or the trial as a whole."""


@dataclass(frozen=True, slots=True, eq=False)
class Measures:
    """Checked quality measures.

    Attributes
    ----------
    tables : mapping of side to (n_trials, n_measures) array
        Measures of ``enroll``, ``test`` and ``trial`` (the trial as a whole), where there are some, in this order; NaN
        where one is missing, never infinite.
    present : (n_trials,) bool array
        Whether nothing is missing.
    """

    tables: Mapping[str, ScoreArray]
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
        given = zip(QUALITY_SIDES, (enroll, test, trial), strict=True)
        return cls.in_tables(
            {
                side: with_one_nan(measure_table(values, f"{side}_quality", n_trials))
                for side, values in given
                if values is not None
            },
            n_trials,
        )

    @classmethod
    def in_tables(cls, tables: Mapping[str, ScoreArray], n_trials: int) -> Measures:
        """Checked measures."""
        present = np.ones(n_trials, np.bool_)
        for table in tables.values():
            for column in table.T:
                present &= ~np.isnan(column)
        return cls(tables, present)

    @property
    def n_measures(self) -> dict[str, int]:
        """How many measures there are of each kind: ``enroll``, ``test`` and ``trial``."""
        return {side: self.tables[side].shape[1] if side in self.tables else 0 for side in QUALITY_SIDES}

    @property
    def columns(self) -> list[ScoreArray]:
        """All measures, one after the other; views, not copies."""
        return [column for table in self.tables.values() for column in table.T]

    def take(self, rows: BoolArray | IntArray | slice) -> Measures:
        """Those of some of the trials."""
        return Measures({side: table[rows] for side, table in self.tables.items()}, self.present[rows])

    def require_same(self) -> None:
        """Refuse more measures of one side than of the other.

        Raises
        ------
        InputError
            If both sides have measures, and not equally many.
        """
        enroll, test, _ = self.n_measures.values()
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


def no_trial_with_all(name: str) -> InputError:
    """The error of a class of which no trial has all measures."""
    return InputError(
        f"quality: no {name} trial that counts has all measures. Training needs both classes; leave out the measure "
        "that is missing."
    )


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


def plain_combination(given: Any) -> Any:
    """Check what a user passed for ``combine``, and return it as a model file holds it.

    Parameters
    ----------
    given : None, (n_new, n_measures) array_like, or mapping of str to such
        One matrix for all measures that there are, or one for each of ``enroll``, ``test`` and ``trial``.

    Returns
    -------
    None, list of lists, or dict of such

    Raises
    ------
    InputError
        If it is none of these.
    """
    if given is None:
        return None
    if not isinstance(given, Mapping):
        return _matrix(given, "combine").tolist()
    if not given or set(given) - set(QUALITY_SIDES):
        raise InputError(
            f"combine: expected a matrix, or matrices of {', '.join(QUALITY_SIDES)}; got those of {[*given]}."
        )
    return {kind: _matrix(given[kind], f"combine[{kind!r}]").tolist() for kind in QUALITY_SIDES if kind in given}


def matrices_of(combine: Any) -> dict[str, FloatArray]:
    """The matrix of each kind of measures that is to be combined; checked, for a setting may have been changed."""
    checked = plain_combination(combine)
    if checked is None:
        return {}
    each = checked if isinstance(checked, dict) else dict.fromkeys(QUALITY_SIDES, checked)
    return {kind: np.array(rows, np.float64) for kind, rows in each.items()}


def combined_measures(measures: Measures, combine: Any) -> Measures:
    """Combine the measures of trials; a measure that is missing does not matter where its weight is 0.

    Raises
    ------
    InputError
        If a matrix does not fit, there is one for measures that are not there, or a sum is no finite number.
    """
    tables = dict(measures.tables)
    for kind, matrix in matrices_of(combine).items():
        if kind in tables:
            tables[kind] = _combined(tables[kind], matrix, kind)
        elif isinstance(combine, Mapping):
            raise InputError(f"combine: a matrix for {kind} measures, but there are none. Leave it out, or pass them.")
    return Measures.in_tables(tables, len(measures.present))


def raw_sizes(combine: Any, n_measures: Mapping[str, int]) -> dict[str, int]:
    """How many measures of each kind a fusion takes, that uses so many after they were combined."""
    matrices = matrices_of(combine)
    return {kind: matrices[kind].shape[1] if n and kind in matrices else n for kind, n in n_measures.items()}


def require_fitting(combine: Any, n_measures: Mapping[str, int]) -> None:
    """Refuse matrices that make more or fewer measures than have weights.

    Raises
    ------
    InputError
    """
    for kind, matrix in matrices_of(combine).items():
        if (n := n_measures.get(kind, 0)) and len(matrix) != n:
            raise InputError(f"combine: makes {len(matrix)} {kind} measures, but {n} have weights.")


def _matrix(values: Any, name: str) -> FloatArray:
    rows = _validate.array(values, name)
    if rows.ndim != 2 or not rows.size or rows.dtype.kind not in "biuf" or not np.isfinite(rows).all():
        raise InputError(
            f"{name}: expected a matrix of finite numbers with one row for each new measure and one column for each "
            f"that there is, got shape {rows.shape} of {rows.dtype} values."
        )
    return rows.astype(np.float64)


def _combined(table: ScoreArray, matrix: FloatArray, kind: str) -> FloatArray:
    if matrix.shape[1] != table.shape[1]:
        raise InputError(
            f"combine: {matrix.shape[1]} weights in a row for {table.shape[1]} {kind} measures. Give one for each "
            "measure, 0 for those that are not wanted."
        )
    new = np.empty((len(table), len(matrix)))
    with np.errstate(over="ignore", invalid="ignore"):
        for k, weights in enumerate(matrix):
            used = np.flatnonzero(weights)
            new[:, k] = table[:, used] @ weights[used]
    missing = [np.isnan(table[:, np.flatnonzero(weights)]).any(axis=1) for weights in matrix]
    if not (np.isfinite(new) | np.column_stack(missing)).all():
        raise InputError(f"combine: weighted sums of {kind} measures do not fit a float. Take another unit.")
    return new
