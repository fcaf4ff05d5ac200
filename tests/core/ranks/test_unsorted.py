"""Errors counted without a sort: the same integers as comparing every score with every threshold."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban import metrics
from deciban.core.ranks import counts as unsorted
from deciban.core.ranks.counts import SortedClass, UnsortedClass, counted
from support.strategies import any_score

TINY, NEAR = float(np.finfo(np.float64).eps), 1.0 + 2.0**-24
close = st.sampled_from([1.0 - TINY, 1.0, 1.0 + TINY, NEAR - TINY, NEAR, NEAR + TINY, 3.5e38, 1e-50, 0.0, -1e-50])
"""Numbers that are equal or exchange their distances in float32."""

scores = st.lists(st.one_of(any_score, close), min_size=1, max_size=40)


@pytest.fixture(params=[(7, 2, 1000, 16), (3, 0, 1000, 0), (16, 0, 1000, 1000), (4, 1, 2, 1)])
def sizes(request, monkeypatch):
    """Small blocks, and every way to count on every number of thresholds."""
    for name, value in zip(("_LANES", "_COMPARED", "_SEARCHED", "_CLASHES"), request.param, strict=True):
        monkeypatch.setattr(unsorted, name, value)


@pytest.mark.usefixtures("sizes")
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_counts_are_those_of_all_comparisons(dtype):
    @given(scores, scores, st.data())
    def law(values, thresholds, data):
        with np.errstate(over="ignore"):
            values = np.array(values).astype(dtype)
        places = np.array(thresholds + values.astype(np.float64).tolist() + [np.inf, -np.inf])
        weights = np.array(
            data.draw(st.lists(st.integers(0, 3), min_size=len(values), max_size=len(values)).filter(any))
        )
        is_below = values.astype(np.float64) < places[:, None]
        for some, n in [(slice(None), len(places)), (slice(1), 1), (slice(0), 0)]:
            for weight in (None, weights):
                one, copies = UnsortedClass(values, weight), np.ones(len(values), int) if weight is None else weight
                np.testing.assert_array_equal(one.below(places[some]), is_below[some] @ copies)
                np.testing.assert_array_equal(one.at_or_above(places[some]), ~is_below[some] @ copies)
                assert one.below(places[some]).shape == (n,)
        assert UnsortedClass(values, weights).total == weights.sum()

    law()


@given(st.lists(any_score, min_size=1, max_size=30), st.lists(any_score, min_size=1, max_size=30), st.data())
def test_fractional_weights_are_added_up_as_after_a_sort(values, thresholds, data):
    weights = np.array(data.draw(st.lists(st.floats(0.1, 3.0), min_size=len(values), max_size=len(values)))) + 0.01
    found, wanted = counted(np.array(values), weights), SortedClass.of(np.array(values), weights)
    np.testing.assert_array_equal(found.below(np.array(thresholds)), wanted.below(np.array(thresholds)))
    assert found.total == wanted.total


@pytest.mark.parametrize("n_points", [1, 30, 9000])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_costs_are_those_of_sorted_scores_to_the_last_digit(n_points, dtype):
    rng = np.random.default_rng(n_points)
    tar, non = rng.normal(3, 2, 70_000).astype(dtype), rng.normal(-3, 2, 90_000).round(1).astype(dtype)
    log_odds = rng.uniform(-8, 8, n_points)
    log_odds[::2] = log_odds[::2].round(1)
    weights = {"tar_weights": rng.integers(0, 4, len(tar)), "non_weights": rng.integers(0, 4, len(non))}
    for weighted in ({}, weights, {"non_weights": weights["non_weights"] * 0.3}):
        wanted = metrics.SortedScores(tar, non, **weighted).act_dcf(prior_log_odds=log_odds, c_fa=2.5)
        found = metrics.act_dcf(tar, non, prior_log_odds=log_odds, c_fa=2.5, **weighted)
        np.testing.assert_array_equal(found, wanted)


def test_shapes_of_priors_and_costs_of_zero():
    tar, non = [1.0, np.inf], [0.0, -np.inf, np.inf]
    grid = metrics.act_dcf(tar, non, prior_log_odds=[[0.0, -1.0, 1.0]], normalize=False)
    assert grid.shape == (1, 3)
    assert isinstance(metrics.act_dcf(tar, non, p_target=0.5), float)
    # Misses cost nothing: the threshold is inf, and only infinite scores are accepted.
    assert metrics.act_dcf(tar, non, p_target=0.5, c_miss=0.0, normalize=False) == pytest.approx(0.5 / 3)
    assert metrics.act_dcf(tar, non, p_target=0.5, c_fa=0.0, normalize=False) == 0.0
