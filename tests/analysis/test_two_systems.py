"""Scores of two systems: counted trial by trial, and lines on which the fusion is at its threshold."""

import numpy as np
import pytest

from deciban import InputError
from deciban.analysis import score_pairs
from deciban.calibration import AffineCalibrator
from deciban.core.ranks.roc import OperatingPoint
from deciban.fusion import LinearFusion


def drawn(n=300):
    rng = np.random.default_rng(5)
    is_target = np.arange(n) % 3 == 0
    return np.where(is_target, 1.0, -1.0)[:, None] * [0.8, 0.5] + rng.normal(size=(n, 2)), is_target


def test_few_trials_are_told_apart_and_many_are_counted():
    scores, is_target = drawn()
    few, many = score_pairs(scores, is_target), score_pairs(scores, is_target, most_points=299)
    np.testing.assert_array_equal(few.tar, scores[::3])
    assert few.tar_counts is None
    assert many.tar is None
    assert (many.tar_counts.sum(), many.non_counts.sum()) == (100, 200)
    x, y = many.edges
    i, j = (int(np.searchsorted(edge, 0.5)) for edge in (x, y))
    inside = (scores[:, 0] >= x[i]) & (scores[:, 0] < x[i + 8]) & (scores[:, 1] >= y[j]) & (scores[:, 1] < y[j + 8])
    assert many.tar_counts[i : i + 8, j : j + 8].sum() == np.sum(inside & is_target) > 0


def test_the_fusion_is_at_the_threshold_on_the_line():
    scores, is_target = drawn()
    fusion = LinearFusion().fit(scores, is_target)
    points = [OperatingPoint(0.5), OperatingPoint(0.01, 10.0, 1.0)]
    for line in score_pairs(scores, is_target, model=fusion, operating_points=points).lines:
        np.testing.assert_allclose(fusion.transform(line.ends), line.point.threshold, atol=1e-12)


def test_infinite_scores_are_left_out_and_counted():
    scores, is_target = drawn()
    scores[:4, 0] = np.inf
    found = score_pairs(scores, is_target)
    assert (found.n_tar + found.n_non, found.n_infinite) == (296, 4)


@pytest.mark.parametrize("most", [10, 5000])
def test_equal_scores_are_counted_in_a_cell(most):
    found = score_pairs(np.ones((20, 2)), np.arange(20) < 5, most_points=most)
    assert (found.n_tar, found.n_non) == (5, 15)
    assert found.tar_counts is None or found.tar_counts.max() == 5


def test_what_is_no_pair_or_has_no_line_is_refused():
    scores, is_target = drawn()
    with pytest.raises(InputError, match="got 3"):
        score_pairs(scores[:, [0, 1, 1]], is_target)
    with pytest.raises(InputError, match="no trial has finite scores"):
        score_pairs(np.full((4, 2), np.inf), [1, 1, 0, 0])
    model = AffineCalibrator().fit(scores[:, 0], is_target)
    with pytest.raises(InputError, match="no decision line"):
        score_pairs(scores, is_target, model=model)


def test_trials_that_weigh_are_counted_like_copies():
    scores, is_target = drawn()
    weight = np.random.default_rng(4).integers(0, 3, len(scores))
    weight[[scores[:, k].argmin() for k in (0, 1)] + [scores[:, k].argmax() for k in (0, 1)]] = 1
    copies = np.repeat(np.arange(len(scores)), weight)
    found = score_pairs(scores, is_target, sample_weight=weight)
    other = score_pairs(scores[copies], is_target[copies], most_points=1)
    assert found.tar is None
    np.testing.assert_array_equal(found.tar_counts, other.tar_counts)
    np.testing.assert_array_equal(found.non_counts, other.non_counts)
    assert found.n_tar == np.count_nonzero(is_target & (weight > 0))
