"""The quality measures of a fusion and their weights, in words and row by row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from deciban.fusion.quality_combination import matrices_of
from deciban.models.score_model import ParameterRow

if TYPE_CHECKING:
    from deciban.fusion.quality import QualityFusion


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
