"""Centers and widths of columns, by their definitions."""

from functools import reduce
from operator import add

import numpy as np
import pytest

from deciban.core.training import moments as module
from deciban.core.training.linear_objective import TrainingTrials
from deciban.core.training.moments import clipped, equal_classes, moments, quartiles, reaches
from deciban.core.training.sums import Deviations, mixed_variance


def problem(n=200, seed=6, *, weighted):
    rng = np.random.default_rng(seed)
    is_target = np.arange(n) % 5 == 0
    columns = [rng.normal(size=n) + 3 * is_target, 100 * rng.random(n) - 7 * is_target, np.full(n, 2.5)]
    weights = np.where(columns[0] > 1, 4.0, 0.5) if weighted else None
    return columns, is_target, weights


def of_the_mixture(column, is_target, weights, prior):
    """Mean and standard deviation where targets have this share."""
    weights = np.ones(len(column)) if weights is None else weights
    share = np.where(is_target, prior / weights[is_target].sum(), (1 - prior) / weights[~is_target].sum()) * weights
    mean = share @ column
    return mean, np.sqrt(share @ (column - mean) ** 2)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("block", [7, 1 << 15])
def test_classes_count_alike_and_weights_count(weighted, block, monkeypatch):
    monkeypatch.setattr(module, "_BLOCK", block)
    columns, is_target, weights = problem(weighted=weighted)
    center, width = moments(equal_classes(TrainingTrials.of(columns, is_target, weights=weights)))
    expected = [of_the_mixture(column, is_target, weights, 0.5) for column in columns]
    np.testing.assert_allclose(np.transpose([center, width]), expected, rtol=1e-12, atol=1e-13)
    assert width[2] == 0.0


@pytest.mark.parametrize("n_parts", [1, 3, 40])
def test_deviations_of_parts_add_up_to_those_of_the_mixture(n_parts):
    columns, is_target, weights = problem(weighted=True)
    per_class = weights[~is_target].sum(), weights[is_target].sum()
    parts = [
        [sum_of([c[rows] for c in columns], is_target[rows] == kind, weights[rows]) for kind in (False, True)]
        for rows in np.array_split(np.arange(len(is_target)), n_parts)
    ]
    classes = [reduce(add, one) for one in zip(*parts, strict=True)]
    found = mixed_variance(classes, (0.9 / per_class[0], 0.1 / per_class[1]))
    expected = [of_the_mixture(column, is_target, weights, 0.1)[1] ** 2 for column in columns]
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13)


def sum_of(columns, rows, weights):
    return Deviations.of([column[rows] for column in columns], weights[rows])


@pytest.mark.parametrize("size", [1e-300, 1e300])
def test_neither_huge_nor_tiny_scores_leave_the_range_of_floats(size):
    columns, is_target, _ = problem(weighted=False)
    trials = equal_classes(TrainingTrials.of([column * 0.01 for column in columns], is_target))
    scaled = equal_classes(TrainingTrials.of([column * 0.01 * size for column in columns], is_target))
    for one, other in zip(moments(trials), moments(scaled), strict=True):
        np.testing.assert_allclose(other / size, one, rtol=1e-12)


def test_quartiles_tell_nothing_of_extremes():
    columns, is_target, _ = problem(weighted=False)
    before = quartiles(TrainingTrials.of(columns, is_target))
    columns[0][np.argmax(columns[0])] = 1e200
    after = quartiles(TrainingTrials.of(columns, is_target))
    np.testing.assert_array_equal(before, after)


def test_clipped_scores_stay_near_and_reaches_says_which_are_far():
    columns, is_target, _ = problem(weighted=False)
    columns[0][3] = 1e9
    trials = TrainingTrials.of(columns, is_target)
    center, width = quartiles(trials)
    assert reaches(trials, np.full(3, 1e6)).tolist() == [True, False, False]
    near = clipped(trials, center, width)
    assert near.columns[0][3] == center[0] + 50 * width[0]
    np.testing.assert_array_equal(np.delete(near.columns[0], 3), np.delete(columns[0], 3))
    np.testing.assert_array_equal(near.columns[2], columns[2])  # of a constant, nothing is clipped
