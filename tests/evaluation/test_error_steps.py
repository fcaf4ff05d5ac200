"""Errors at any threshold are those of counting at this threshold."""

import numpy as np
import pytest

from deciban.evaluation import evaluate
from deciban.evaluation.curves import grid_of_thresholds
from deciban.metrics import SortedScores


def counted(steps, thresholds):
    place = np.searchsorted(steps.thresholds, thresholds)
    return steps.n_miss[place], steps.n_fa[place]


@pytest.mark.parametrize("digits", [1, 15])
@pytest.mark.parametrize("is_weighted", [False, True])
def test_scores_are_steps(digits, is_weighted):
    rng = np.random.default_rng(1)
    tar = np.append(rng.normal(2, 3, 200).round(digits), [-np.inf, 50.0])
    non = np.append(rng.normal(-2, 3, 900).round(digits), [np.inf, -50.0])
    weights = {"tar_weights": rng.random(202), "non_weights": rng.random(902)} if is_weighted else {}
    steps = evaluate(tar, non, **weights).error_steps
    at = np.concatenate((rng.uniform(-29, 29, 500), tar[:100], non[:100]))
    exact = SortedScores(tar, non, **weights).error_counts(at)
    assert steps.is_exact
    for found, wanted in zip(counted(steps, at), (exact.n_miss, exact.n_fa), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_many_scores_are_a_grid_between_whose_places_errors_lie():
    rng = np.random.default_rng(2)
    tar, non = rng.normal(2, 2, 10_000), rng.normal(-2, 2, 60_000)
    steps = evaluate(tar, non).error_steps
    at = rng.uniform(-15, 15, 300)
    exact, place = SortedScores(tar, non).error_counts(at), np.searchsorted(steps.thresholds, at)
    assert (steps.is_exact, steps.reach) == (False, 16.0)
    assert (steps.n_miss[place - 1] <= exact.n_miss).all()
    assert (exact.n_miss <= steps.n_miss[place]).all()
    assert (steps.n_fa[place] <= exact.n_fa).all()
    assert np.append(steps.thresholds, 16.0).tolist() == grid_of_thresholds().tolist()
    assert steps.n_miss[-1] == np.count_nonzero(tar < 16.0)
