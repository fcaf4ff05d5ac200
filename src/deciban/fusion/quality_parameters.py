"""Parameters of fusions with quality measures, and new measures that are weighted sums of those that there are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from deciban._validate import arrays as _validate
from deciban.errors import InputError
from deciban.fusion.quality_measures import QUALITY_SIDES, Measures
from deciban.models.score_model import ParameterRow
from deciban.types import FloatArray, ScoreArray

if TYPE_CHECKING:
    from deciban.fusion.quality import QualityFusion


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
    tables: dict[str, ScoreArray | None] = {kind: getattr(measures, kind) for kind in QUALITY_SIDES}
    for kind, matrix in matrices_of(combine).items():
        table = tables[kind]
        if table is not None:
            tables[kind] = _combined(table, matrix, kind)
        elif isinstance(combine, Mapping):
            raise InputError(f"combine: a matrix for {kind} measures, but there are none. Leave it out, or pass them.")
    present = np.ones(len(measures.present), np.bool_)
    for table in tables.values():
        if table is not None:
            present &= ~np.isnan(table).any(axis=1)
    return replace(measures, **tables, present=present)


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
    n_enroll, n_test = (size - 1 for size in matrix.shape)
    both = fusion.symmetric and len(fusion.quality_sides_) == 2
    for i, row in enumerate(matrix.tolist()):
        for j, value in enumerate(row):
            factors = {"enroll": i} if i < n_enroll else {}
            factors |= {"test": j} if j < n_test else {}
            if factors and set(factors) <= set(fusion.quality_sides_) and not (both and i > j):
                name = " * ".join(f"{measures[side][k]} of {side}" for side, k in factors.items())
                if both and i != j:
                    name = _of_either(measures, i) if j == n_test else f"{name}, and the reverse"
                yield ParameterRow(name, value, float(standardized[i, j]))
    of_trial = fusion.trial_quality_weights_.tolist(), fusion.standardized_trial_quality_weights_.tolist()
    for name, *values in zip(measures.get("trial", []), *of_trial, strict=True):
        yield ParameterRow(f"{name} of the trial", *values)
    for one in fusion.backoff_._rows(fusion.trained_systems):  # noqa: SLF001
        yield ParameterRow(f"without quality: {one.name}", one.value, one.standardized)


def _of_either(measures: Mapping[str, Sequence[str]], k: int) -> str:
    """A measure of both sides, which may be another one on each."""
    enroll, test = measures["enroll"][k], measures["test"][k]
    return f"{enroll} of either side" if enroll == test else f"{enroll} of enroll, or {test} of test"
