"""Sums that do not depend on how the trials are split."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban.core.expected import ErrorCounts, MeanCost, log_cost, softplus
from deciban.core.ranks.counts import SortedClass


def exact(costs):
    return math.fsum(costs.tolist()) / len(costs)


@pytest.mark.parametrize("n", [1, 2, 3, 15, 16, 17, 8191, 8192, 8193, 100_003])
def test_mean_is_the_exact_mean(n):
    x = np.random.default_rng(n).normal(0, 30, n)
    assert MeanCost.of(x, softplus).value == pytest.approx(exact(softplus(x)), rel=1e-15)
    assert log_cost((x, None), 0.0, sign=1).value == pytest.approx(exact(softplus(x)), rel=2e-15)
    assert log_cost((x, None), 0.5, sign=-1).value == pytest.approx(exact(softplus(0.5 - x)), rel=2e-15)


@pytest.mark.parametrize("x", [-745.0, -700.0, -40.0, -1e-300, 0.0, 1e-300, 40.0, 700.0, 1e300])
def test_log_cost_keeps_all_digits_of_tiny_costs(x):
    scores = np.full(1001, x)
    assert log_cost((scores, None), 0.0, sign=1).value == pytest.approx(
        float(softplus(scores)[0]), rel=2e-15, abs=5e-324
    )


@given(st.lists(st.integers(1, 30_000), max_size=6), st.randoms(use_true_random=False))
def test_partitions_merge_to_the_whole(cuts, random):
    x = np.random.default_rng(1).normal(0, 5, 30_000)
    parts = np.split(x, sorted(cuts))
    random.shuffle(parts)
    sums = [MeanCost.of(part, softplus) for part in parts if len(part)]
    merged = sums[0]
    for other in sums[1:]:
        merged = merged + other
    assert merged.value == MeanCost.of(x, softplus).value


def test_large_and_small_costs_do_not_eat_each_other():
    costs = np.random.default_rng(1).permutation([1e16, 1.0, 1e-16] * 20_000)  # all kinds meet in each lane
    found = MeanCost.of(costs, lambda x: x)
    assert found.high + found.low == pytest.approx(math.fsum(costs), rel=1e-16)
    assert found.low != 0


def test_what_rounding_took_from_each_part_comes_back_when_they_merge():
    """2^53 + 1 is no double, 2^53 + 2 is one."""
    parts = [MeanCost.of(np.array(costs), lambda x: x) for costs in ([2.0**53, 1.0], [1.0], [2.0**53, 2.0, 1.0, 1.0])]
    first = parts[0] + parts[1]
    other = parts[1] + parts[0]
    assert first.high + first.low == other.high + other.low == 2.0**53 + 2
    whole = first + parts[2]
    assert int(whole.high) + int(whole.low) == 2**54 + 6


def test_infinite_costs_make_infinite_sums_not_nan():
    found = MeanCost.of(np.array([1.0, np.inf, 2.0, np.inf]), lambda x: x)
    assert found.value == math.inf
    assert (found + MeanCost.of(np.array([1.0]), lambda x: x)).value == math.inf
    assert log_cost((np.array([np.inf, -np.inf]), None), 0.0, sign=1).value == math.inf
    assert log_cost((np.array([-np.inf]), None), 0.0, sign=1).value == 0.0


@pytest.mark.parametrize("centre", [-700.0, -40.0, -3.0, -1e-9, 0.0, 0.7, 5.0, 40.0, 700.0])
@pytest.mark.parametrize("width", [0.0, 1e-12, 1e-3, 1 / 32, 1 / 30])
def test_neighbours_share_a_series_without_losing_digits(centre, width):
    x = np.sort(centre + np.random.default_rng(3).uniform(-width / 2, width / 2, 5000))
    assert log_cost((x, None), 0.0, sign=1).value == pytest.approx(exact(softplus(x)), rel=1e-15)


def test_sums_beyond_the_largest_float_are_infinite():
    assert MeanCost.of(np.full(3, 1.7e308), lambda x: x).value == math.inf
    assert MeanCost.of(np.full(100_000, 1e300), lambda x: x).value == pytest.approx(1e300)


def test_weighted_mean():
    scores, weights = np.array([1.0, 2.0, 5.0]), np.array([0.5, 0.25, 0.25])
    assert MeanCost.of(scores, lambda x: x, weights).value == pytest.approx(2.25, rel=1e-15)


@given(st.lists(st.integers(0, 50), max_size=4))
def test_error_counts_merge(cuts):
    rng = np.random.default_rng(2)
    tar, non, thresholds = rng.normal(1, 1, 50).round(1), rng.normal(0, 1, 50).round(1), np.array([-np.inf, 0.0, 0.5])
    whole = ErrorCounts.of(SortedClass.of(tar), SortedClass.of(non), thresholds)
    edges = [0, *sorted(cuts), 50]
    parts = [
        ErrorCounts.of(SortedClass.of(tar[a:b]), SortedClass.of(non[a:b]), thresholds)
        for a, b in itertools.pairwise(edges)
        if a < b
    ]
    merged = parts[0]
    for part in parts[1:]:
        merged = merged + part
    np.testing.assert_array_equal(merged.n_miss, whole.n_miss)
    np.testing.assert_array_equal(merged.n_fa, whole.n_fa)
    np.testing.assert_array_equal([merged.p_miss, merged.p_fa], [whole.p_miss, whole.p_fa])
    np.testing.assert_array_equal(whole.p_miss, [np.mean(tar < t) for t in thresholds])
    np.testing.assert_array_equal(whole.p_fa, [np.mean(non >= t) for t in thresholds])


def test_error_counts_at_other_thresholds_do_not_merge():
    one = SortedClass.of(np.zeros(1))
    with pytest.raises(ValueError, match="same thresholds"):
        ErrorCounts.of(one, one, np.zeros(1)) + ErrorCounts.of(one, one, np.ones(1))


def test_error_counts_of_light_tails_keep_their_digits():
    """What is left of 1e17 + 1.5 minus 1e17 would be 16 or nothing."""
    tar = SortedClass.of(np.array([0.0, 1.0]), np.array([1.5, 1e17]))
    non = SortedClass.of(np.array([0.0, 1.0]), np.array([1e17, 1.5]))
    found = ErrorCounts.of(tar, non, np.array([-1.0, 0.5, 2.0]))
    assert found.n_miss.tolist() == [0.0, 1.5, 1e17 + 1.5]
    assert found.n_fa.tolist() == [1e17 + 1.5, 1.5, 0.0]
