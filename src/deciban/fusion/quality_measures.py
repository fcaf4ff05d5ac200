"""Quality measures of trials as arrays, weighted sums of them, and what the parameters of a fusion are factors of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from deciban._validate import arrays as _validate
from deciban.errors import InputError
from deciban.fusion.linear import LabelledSystems, with_one_nan
from deciban.models.score_model import ParameterRow, measure_table
from deciban.types import BoolArray, FloatArray, IntArray, ScoreArray

if TYPE_CHECKING:
    from deciban.fusion.quality import QualityFusion
    from deciban.trials import Key, Quality, Trials

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
            raise no_trial_with_all(name)
    return data.take(counting), measures.take(counting)


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


def sums_of_measures(fusion: QualityFusion) -> dict[str, list[tuple[str, str]]]:
    """What a fusion takes of the quality measures of each side.

    Returns
    -------
    dict of side to list of (name, sum)
        ``q3`` for a measure that is taken as it is, by its number from 1; ``combined 1``, with the sum that it is, for
        one that is made of others.

    Examples
    --------
    >>> from deciban.fusion import QualityFusion
    >>> fusion = QualityFusion(combine=[[0, 1], [0.5, -2]], ridge=0.1)
    >>> scores, is_target = [[1.0], [0.0], [3.0], [2.0], [0.5], [2.5]], [True, False, True, False, True, False]
    >>> quality = [[1, 2], [2, 1], [0, 3], [3, 3], [1, 0], [4, 1]]
    >>> sums_of_measures(fusion.fit(scores, is_target, trial_quality=quality))
    {'trial': [('q2', 'q2'), ('combined 1', '0.5 q1 - 2 q2')]}
    """
    n_rows, n_columns = fusion.quality_weights_.shape
    sizes = {"enroll": n_rows - 1, "test": n_columns - 1, "trial": len(fusion.trial_quality_weights_)}
    matrices = matrices_of(fusion.combine)
    listed = {}
    for side, size in sizes.items():
        if size and (side == "trial" or side in fusion.quality_sides_):
            rows = matrices.get(side, np.eye(size))
            sums = [weighted_sum(row, [f"q{k + 1}" for k in range(len(row))]) for row in rows.tolist()]
            is_one = [np.count_nonzero(row) == 1 and row.max() == 1.0 for row in rows]
            numbers = np.cumsum(~np.array(is_one)).tolist()
            listed[side] = [
                (text if one else f"combined {k}", text) for one, k, text in zip(is_one, numbers, sums, strict=True)
            ]
    return listed


def weighted_sum(weights: Sequence[float], names: Sequence[str]) -> str:
    """A sum as people write it.

    >>> weighted_sum([1.0, 0.0, -2.0], ["snr", "age", "speech"]), weighted_sum([0.0], ["snr"])
    ('snr - 2 speech', '0')
    """
    text = ""
    for weight, name in zip(weights, names, strict=True):
        if weight:
            sign = (" - " if weight < 0 else " + ") if text else "-" * (weight < 0)
            text += sign + (name if abs(weight) == 1 else f"{abs(weight):g} {name}")
    return text or "0"


def rows_of_quality(fusion: QualityFusion) -> Iterator[ParameterRow]:
    """What q' W r adds, entry by entry, a symmetric matrix once; then the fusion of trials without quality."""
    measures = {side: [name for name, _ in listed] for side, listed in sums_of_measures(fusion).items()}
    matrix, standardized = fusion.quality_weights_, fusion.standardized_quality_weights_
    errors = iter(fusion.errors_in_order[fusion.n_systems_ + 1 :])
    n_test = matrix.shape[1] - 1
    both = fusion.symmetric and len(fusion.quality_sides_) == 2
    for i, j in quality_entries(fusion):
        name = " * ".join(f"{measures[side][k]} of {side}" for side, k in _factors(fusion, i, j).items())
        if both and i != j:
            name = _of_either(measures, i) if j == n_test else f"{name}, and the reverse"
        yield ParameterRow(name, float(matrix[i, j]), float(standardized[i, j]), next(errors, None))
    of_trial = fusion.trial_quality_weights_.tolist(), fusion.standardized_trial_quality_weights_.tolist()
    for name, value, standard in zip(measures.get("trial", []), *of_trial, strict=True):
        yield ParameterRow(f"{name} of the trial", value, standard, next(errors, None))
    for one in fusion.backoff_._rows(fusion.trained_systems):  # noqa: SLF001
        yield replace(one, name=f"without quality: {one.name}")


def quality_entries(fusion: QualityFusion) -> list[tuple[int, int]]:
    """Where in ``W`` its independent weights stand, those of a symmetric one once."""
    both = fusion.symmetric and len(fusion.quality_sides_) == 2
    places = np.ndindex(fusion.quality_weights_.shape)
    found = [(i, j, set(_factors(fusion, i, j))) for i, j in places if not (both and i > j)]
    return [(i, j) for i, j, sides in found if sides and sides <= set(fusion.quality_sides_)]


def _factors(fusion: QualityFusion, i: int, j: int) -> dict[str, int]:
    """Of which measures an entry of ``W`` is the weight, by side."""
    n_enroll, n_test = (size - 1 for size in fusion.quality_weights_.shape)
    return ({"enroll": i} if i < n_enroll else {}) | ({"test": j} if j < n_test else {})


def _of_either(measures: Mapping[str, Sequence[str]], k: int) -> str:
    """A measure of both sides, which may be another one on each."""
    enroll, test = measures["enroll"][k], measures["test"][k]
    return f"{enroll} of either side" if enroll == test else f"{enroll} of enroll, or {test} of test"
