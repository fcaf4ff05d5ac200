"""Wilson limits at effective numbers of trials, and their sums: closed forms, other programs, and coverage."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from deciban.core.resampling.intervals import (
    ClassSize,
    RatePart,
    RateSum,
    combined,
    effective_numbers,
    small_sample_factors,
    wilson,
)
from deciban.evaluation import evaluate


@pytest.mark.parametrize(("errors", "n"), [(0, 10), (3, 40), (10, 10), (17, 500)])
def test_limits_are_those_of_scipy(errors, n):
    expected = stats.binomtest(errors, n).proportion_ci(0.95, method="wilson")
    low, high = wilson(errors / n, n, stats.norm.ppf(0.975))
    assert (float(low), float(high)) == pytest.approx((expected.low, expected.high))


@given(st.floats(0, 1), st.floats(2, 1e6), st.floats(0.1, 10))
def test_limits_hold_the_rate_and_stay_inside(rate, n, quantile):
    low, high = wilson(rate, n, quantile)
    assert 0.0 <= low <= rate <= high <= 1.0


def test_unequal_clusters_amount_to_fewer():
    size = ClassSize.of(np.array([10.0, 10.0, 10.0, 10.0, 10.0]), 50.0)
    assert (size.n_clusters, size.n_units, size.is_enough) == (5.0, 5, True)
    size = ClassSize.of(np.array([46.0, 1.0, 1.0, 1.0, 1.0]), 50.0)
    assert size.n_clusters == pytest.approx(2500 / 2120)
    assert not size.is_enough
    assert effective_numbers([3.0], [9.0]).tolist() == [1.0]


def test_effective_numbers_of_trials_lie_between_clusters_without_errors_and_all_trials():
    size = ClassSize(200.0, 50.0, 50)
    assert size.effective(0.0, 0.0) == 50.0  # each cluster is one observation
    assert size.effective(1.0, 0.0) == 50.0
    assert size.effective(0.1, 0.09 / 40) == pytest.approx(40.0)
    assert size.effective(0.1, 1e-9) == 200.0  # a design effect below 1 is chance


def test_degrees_of_freedom_are_those_of_effective_clusters():
    low, high = ClassSize(1000.0, 12.5, 40).limits(0.5, 0.25 / 1000, 0.95)
    assert (low, high) == pytest.approx(wilson(0.5, 1000.0, stats.t.ppf(0.975, 11.5)))


def test_independent_parts_add_in_squares_and_correlated_ones_as_they_are():
    size = ClassSize(100.0, 100.0, 100)
    one, other = RatePart(2.0, 0.1, 0.0009, size), RatePart(1.0, 0.3, 0.0021, size)
    ways = [part.distances(0.95) for part in (one, other)]
    apart = RateSum(((one,), (other,))).distances(0.95)
    assert np.array(apart) == pytest.approx(np.hypot(*ways))
    together = RateSum(((one,), (other,)), between=1.0).distances(0.95)
    assert np.array(together) == pytest.approx(ways[0] + ways[1])
    same = RateSum(((one, other), ()), within=(1.0, 1.0)).distances(0.95)
    assert np.array(same) == pytest.approx(ways[0] + ways[1])
    assert combined(ways, 0.0) == pytest.approx(np.hypot(*ways))


def test_a_negative_weight_exchanges_the_ways():
    size = ClassSize(50.0, 50.0, 50)
    below, above = RatePart(1.0, 0.02, 0.0196 / 50, size).distances(0.95)
    assert RatePart(-1.0, 0.02, 0.0196 / 50, size).distances(0.95).tolist() == [above, below]
    assert above > below


def test_of_two_systems_only_rates_count_of_which_neither_shows_an_error():
    size = ClassSize(100.0, 100.0, 100)
    some, none, no_alarm = (RatePart(w, p, v, size) for w, p, v in ((1.0, 0.1, 9e-4), (1.0, 0.0, 0.0), (2.0, 0.0, 0.0)))
    clean, mixed, busy = RateSum(((none,), (no_alarm,))), RateSum(((some,), (no_alarm,))), RateSum(((some,), (some,)))
    of_miss, of_alarm = none.distances(0.95), no_alarm.distances(0.95)
    assert clean.unseen(0.95) == pytest.approx(np.hypot(of_miss, of_alarm))
    assert clean.unseen(0.95, clean) == clean.unseen(0.95)
    for one, other in ((clean, mixed), (mixed, clean)):
        assert one.unseen(0.95, other) == pytest.approx(of_alarm)
    assert clean.unseen(0.95, busy) == busy.unseen(0.95, clean) == (0.0, 0.0)


def test_kinds_of_errors_that_are_absent_only_add_upwards_and_count_for_two_systems_that_both_lack_them():
    size = ClassSize(100.0, 100.0, 100)
    some, none = RatePart(1.0, 0.1, 9e-4, size), [RatePart(w, 0.0, 0.0, size) for w in (0.0, 0.5, 0.3)]
    one, other = (RateSum(((some,), (some,)), absent=(none[0], part)) for part in none[1:])
    (below, above), plain = one.distances(0.95), RateSum(((some,), (some,))).distances(0.95)
    square = stats.t(99).ppf(0.975) ** 2
    limit = square / (100 + square)
    assert below == plain[0]
    assert above == pytest.approx(math.hypot(plain[1], 0.5 * limit))
    assert one.unseen(0.95) == pytest.approx((0.0, 0.5 * limit))
    for pair in ((one, other), (other, one)):  # in all classes with errors of either system
        assert pair[0].unseen(0.95, pair[1]) == pytest.approx((0.0, 0.5 * limit))
    assert one.unseen(0.95, RateSum(((some,), (some,)))) == (0.0, 0.0)


@given(st.floats(-1, 1), st.lists(st.floats(0, 10), min_size=2, max_size=5))
def test_distances_of_a_sum_are_a_number_whatever_the_correlation_is(correlation, sizes):
    parts = [np.array([one, 2.0 * one]) for one in sizes]
    below, above = combined(parts, correlation)
    assert 0.0 <= below <= math.fsum(sizes) * (1 + 1e-12)
    assert above == pytest.approx(2.0 * below)
    assert combined(parts, 1.0)[0] == pytest.approx(math.fsum(sizes))


@pytest.mark.parametrize("n", [1, 3, 7, 46, 81])
def test_five_clusters_of_equal_size_are_enough_whatever_rounds(n):
    """In weights such as 1/3, which have no exact sum, too."""
    for weight in (1.0, 0.1, 1 / 3, 1e-7):
        assert ClassSize.of(np.full(5, n * weight), 5.0 * n).is_enough
        assert not ClassSize.of(np.full(4, n * weight), 4.0 * n).is_enough


def test_minimum_costs_without_a_false_alarm_hold_the_population():
    """At prior 0.01 the best threshold often lies beyond all non-targets: such intervals must not be the narrowest.

    Calibrated normal scores of 60 speakers with an equal error rate of 2 %.
    """
    rng, spread, held, narrow = np.random.default_rng(3), 4.107, [], []
    means, grid = (spread**2 / 2, -(spread**2) / 2), np.linspace(-20, 20, 40001)
    truth = np.min(stats.norm.cdf(grid, means[0], spread) + 99 * stats.norm.sf(grid, means[1], spread))
    units = np.repeat(np.arange(60), 4), np.repeat(np.arange(60), 10)
    for _ in range(60):
        speaker, trial = ([rng.normal(size=n) for n in sizes] for sizes in ((60, 60), (240, 600)))
        tar, non = (
            mean + spread * (math.sqrt(0.4) * own[unit] + math.sqrt(0.6) * other)
            for mean, own, other, unit in zip(means, speaker, trial, units, strict=True)
        )
        found = evaluate(tar, non, operating_points=[0.01], tar_units=units[0], non_units=units[1]).interval("min_dcf")
        held.append(found.low <= truth <= found.high)
        narrow.append(found.high - found.low < 0.1)
    assert np.mean(held) >= 0.92
    assert not any(narrow)


@given(st.integers(0, 10_000))
def test_factors_make_squares_of_influences_on_a_mean_those_of_a_jackknife(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 12))
    unit = np.concatenate((np.arange(n), rng.integers(0, n, 30)))
    costs = rng.exponential(size=len(unit)) + unit
    influences = np.bincount(unit, costs - costs.mean()) / len(unit)
    influences *= small_sample_factors(np.bincount(unit) / len(unit))
    without = [costs[unit != k].mean() for k in range(n)]
    expected = (n - 1) / n * np.sum((np.array(without) - costs.mean()) ** 2)
    assert n / (n - 1) * influences @ influences == pytest.approx(expected, rel=1e-9)


def test_a_cluster_with_all_trials_has_no_factor():
    assert small_sample_factors(np.array([1.0, 0.0])).tolist() == [0.0, 0.0]
    np.testing.assert_allclose(small_sample_factors(np.full(7, 1 / 7)), 1.0)
