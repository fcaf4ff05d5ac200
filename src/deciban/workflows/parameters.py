"""The parameters of a fusion, row by row, with the names of what they belong to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from deciban.fusion import QualityFusion, SubsetFusion
from deciban.fusion.quality_combination import matrices_of
from deciban.workflows.fusers import Fuser


@dataclass(frozen=True, slots=True)
class Weight:
    """One parameter of a fusion.

    Attributes
    ----------
    name : str
        System, or what else the parameter is a factor of.
    value : float
    standardized : float or None
        For what it is multiplied by, divided by its standard deviation; None for offsets, which have none.

    Examples
    --------
    >>> Weight("A", 2.34567891e-08, 3.14159).texts, Weight("offset", -0.0).texts
    (('2.34568e-08', '3.142'), ('0', ''))
    """

    name: str
    value: float
    standardized: float | None = None

    @property
    def texts(self) -> tuple[str, str]:
        """Both as tables show them: with digits that count, for a weight is as small as scores are large."""
        standardized = "" if self.standardized is None else f"{self.standardized:z.4g}"
        return f"{self.value:z.6g}", standardized


def weights_of(fusion: Fuser) -> tuple[Weight, ...]:
    """List the parameters of a trained fusion.

    Examples
    --------
    >>> from deciban.fusion import LinearFusion
    >>> fusion = LinearFusion(ridge=0.1).fit([[1, 2], [2, 1], [2.5, 1], [0.5, 0.1]], [1, 0, 1, 0])
    >>> [(row.name, round(row.value, 2)) for row in weights_of(fusion)]
    [('system 0', 0.53), ('system 1', 1.7), ('offset', -2.65)]
    """
    told = fusion.training_
    names = told.systems if told is not None and told.systems else [f"system {k}" for k in range(fusion.n_systems_)]
    if isinstance(fusion, SubsetFusion):
        rows = []
        for subset, one in fusion.fusions_.items():
            own = [names[k] for k in subset]
            found = _linear(own, one.weights_.tolist(), one.standardized_weights_.tolist(), one.offset_)
            rows += [Weight(f"{' + '.join(own)}: {row.name}", row.value, row.standardized) for row in found]
        return tuple(rows)
    rows = list(_linear(names, fusion.weights_.tolist(), fusion.standardized_weights_.tolist(), fusion.offset_))
    return (*rows, *(_of_quality(fusion, names) if isinstance(fusion, QualityFusion) else ()))


def _linear(
    names: Sequence[str], weights: Sequence[float], standardized: Sequence[float], offset: float
) -> Iterator[Weight]:
    yield from map(Weight, names, weights, standardized)
    yield Weight("offset", offset)


def sums_of_measures(fusion: QualityFusion) -> dict[str, list[tuple[str, str]]]:
    """What a fusion takes of the quality measures of each side.

    Returns
    -------
    dict of side to list of (name, sum)
        ``q3`` for a measure that is taken as it is, by its number from 1; ``combined 1``, with the sum that it is, for
        one that is made of others.

    Examples
    --------
    >>> fusion = QualityFusion(combine=[[0, 1], [0.5, -2]], ridge=0.1)
    >>> scores, is_target = [[1.0], [0.0], [3.0], [2.0], [0.5], [2.5]], [True, False, True, False, True, False]
    >>> quality = [[1, 2], [2, 1], [0, 3], [3, 3], [1, 0], [4, 1]]
    >>> sums_of_measures(fusion.fit(scores, is_target, trial_quality=quality))
    {'trial': [('q2', 'q2'), ('combined 1', '0.5 q1 - 2 q2')]}
    """
    n_rows, n_columns = fusion.quality_weights_.shape
    sizes = {"enroll": n_rows - 1, "test": n_columns - 1, "trial": len(fusion.trial_quality_weights_)}
    matrices = matrices_of(fusion.combine)
    told = {}
    for side, size in sizes.items():
        if size and (side == "trial" or side in fusion.quality_sides_):
            rows = matrices.get(side, np.eye(size))
            sums = [weighted_sum(row, [f"q{k + 1}" for k in range(len(row))]) for row in rows.tolist()]
            is_one = [np.count_nonzero(row) == 1 and row.max() == 1.0 for row in rows]
            numbers = np.cumsum(~np.array(is_one)).tolist()
            told[side] = [
                (text if one else f"combined {k}", text) for one, k, text in zip(is_one, numbers, sums, strict=True)
            ]
    return told


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


def _of_quality(fusion: QualityFusion, names: Sequence[str]) -> Iterator[Weight]:
    """What q' W r adds, entry by entry, a symmetric matrix once; then the fusion of trials without quality."""
    measures = {side: [name for name, _ in told] for side, told in sums_of_measures(fusion).items()}
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
                yield Weight(name, value, float(standardized[i, j]))
    of_trial = fusion.trial_quality_weights_.tolist(), fusion.standardized_trial_quality_weights_.tolist()
    for name, *values in zip(measures.get("trial", []), *of_trial, strict=True):
        yield Weight(f"{name} of the trial", *values)
    alone = fusion.backoff_
    for one in _linear(names, alone.weights_.tolist(), alone.standardized_weights_.tolist(), alone.offset_):
        yield Weight(f"without quality: {one.name}", one.value, one.standardized)


def _of_either(measures: Mapping[str, Sequence[str]], k: int) -> str:
    """A measure of both sides, which may be another one on each."""
    enroll, test = measures["enroll"][k], measures["test"][k]
    return f"{enroll} of either side" if enroll == test else f"{enroll} of enroll, or {test} of test"
