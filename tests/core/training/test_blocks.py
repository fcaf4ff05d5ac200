"""Blocks of scores: as they are where that is exact and saves work, standardized first where digits would get lost."""

import numpy as np
import pytest

from deciban.core.training.linear_objective import FeatureBlock, LinearObjective, TrainingTrials
from deciban.core.training.sums import dot
from support.training_reference import gaussian, masses, pulls

N = 40_000
POINT = np.array([0.9, -0.4, 0.6, 0.2])


def objective_of(scores, is_target, center, width, *, dtype=np.float64, matrix=True):
    """The logarithmic rule at even prior."""
    n = scores.shape[1]
    unit = masses(is_target)
    trials = TrainingTrials.of(scores if matrix else list(scores.T), is_target)
    trials = TrainingTrials(trials.columns, is_target, (unit[~is_target][0], unit[is_target][0]), matrix=trials.matrix)
    return LinearObjective(trials, center, width, True, 1.0, 1.0, 0.0, np.zeros(n + 1), dtype=dtype)


def derivatives(inside, is_target, point):
    """Gradient and Hessian of the standardized scores in extended precision."""
    design = np.column_stack((inside, np.ones(len(inside), np.longdouble)))
    slope, curvature = pulls((design @ point.astype(np.longdouble)).astype(np.float64), is_target, (1, 1))
    mass = masses(is_target).astype(np.longdouble)
    return (mass * slope) @ design, (design * (mass * curvature)[:, None]).T @ design


@pytest.mark.parametrize("n_systems", [1, 3])
@pytest.mark.parametrize("matrix", [True, False])
def test_many_scores_of_one_system_or_matrix_are_used_as_they_are(n_systems, matrix):
    scores, is_target = gaussian(N, n_systems)
    objective = objective_of(scores, is_target, scores.mean(axis=0), scores.std(axis=0), matrix=matrix)
    block = objective.scores(slice(100, 200))
    if not matrix and n_systems > 1:
        assert isinstance(block, FeatureBlock)
    else:
        assert np.shares_memory(block.column if n_systems == 1 else block.rows, scores)


def test_a_matrix_whose_rows_are_scattered_in_memory_is_read_column_by_column():
    scores, is_target = gaussian(N, 3)
    scattered = objective_of(np.asfortranarray(scores), is_target, np.zeros(3), np.ones(3))
    assert isinstance(scattered.scores(slice(100, 200)), FeatureBlock)


@pytest.mark.parametrize(
    ("n_systems", "matrix", "unit"),
    [
        *((3, False, unit) for unit in (1.0, 2.0**40, 2.0**-40, 2.0**-900, 2.0**900)),
        *((3, True, 1.0), (1, False, 2.0**-40), (1, True, 2.0**900)),
    ],
)
@pytest.mark.parametrize("distance", [0.0, 9.0, 11.0, 9e4, 1e9])
def test_no_digits_get_lost_at_any_distance_from_zero(distance, n_systems, matrix, unit):
    """Scores are multiples of 2^-20, and exact where they are; what is lost would be lost by the program."""
    scores, is_target = gaussian(N, n_systems)
    inside = np.round(scores * 2.0**20) / 2.0**20
    moved = (inside + distance) * unit
    center, width = np.full(n_systems, distance * unit), np.full(n_systems, unit)
    point = POINT[-n_systems - 1 :]
    gradient, hessian = derivatives(inside, is_target, point)
    for dtype, digits in ((np.float64, 2e-12), (np.float32, 3e-5)):
        at = objective_of(moved, is_target, center, width, dtype=dtype, matrix=matrix)(point)
        np.testing.assert_allclose(at.gradient, gradient.astype(np.float64), rtol=0, atol=digits)
        np.testing.assert_allclose(at.hessian, hessian.astype(np.float64), rtol=0, atol=digits)


@pytest.mark.parametrize("n", [0, 1, 8191, 8192, 8193, 3 * 8192, 40_001])
@pytest.mark.parametrize("step", [1, 3])
def test_products_of_long_vectors_are_summed_whole(n, step):
    """Small whole numbers, whose sums floats hold exactly."""
    left, right = np.random.default_rng(n).integers(-9, 10, (2, step * n))[:, ::step]
    expected = sum(a * b for a, b in zip(left.tolist(), right.tolist(), strict=True))
    assert dot(left.astype(np.float64), right.astype(np.float64)) == expected
    assert dot(left.astype(np.float32), right.astype(np.float32)) == expected
