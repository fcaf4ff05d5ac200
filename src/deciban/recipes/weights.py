"""The parameters of a fusion, row by row, with the names of what they belong to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from deciban.fusion import QualityFusion, SubsetFusion
from deciban.recipes.fusers import Fuser


@dataclass(frozen=True, slots=True)
class Weight:
    """One parameter of a fusion.

    Attributes
    ----------
    name : str
        System, or what else the parameter is a factor of.
    value : float
    standardized : float or None
        For scores divided by their standard deviation, if it is the weight of a system.
    """

    name: str
    value: float
    standardized: float | None = None


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


def _of_quality(fusion: QualityFusion, names: Sequence[str]) -> Iterator[Weight]:
    """What q' W r adds, entry by entry, a symmetric matrix once; then the fusion of trials without quality."""
    matrix = fusion.quality_weights_
    n_enroll, n_test = (size - 1 for size in matrix.shape)
    both = fusion.symmetric and len(fusion.quality_sides_) == 2
    for i, row in enumerate(matrix.tolist()):
        for j, value in enumerate(row):
            factors = {"enroll": i + 1} if i < n_enroll else {}
            factors |= {"test": j + 1} if j < n_test else {}
            if factors and set(factors) <= set(fusion.quality_sides_) and not (both and i > j):
                name = " * ".join(f"q{k} of {side}" for side, k in factors.items())
                if both and i != j:
                    name = f"q{i + 1} of either side" if j == n_test else f"{name}, and the reverse"
                yield Weight(name, value)
    for k, value in enumerate(fusion.trial_quality_weights_.tolist()):
        yield Weight(f"q{k + 1} of the trial", value)
    alone = fusion.backoff_
    for one in _linear(names, alone.weights_.tolist(), alone.standardized_weights_.tolist(), alone.offset_):
        yield Weight(f"without quality: {one.name}", one.value, one.standardized)
