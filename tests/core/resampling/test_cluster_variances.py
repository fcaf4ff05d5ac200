"""Variances by class: degrees of freedom, sums of rates, and correlations."""

import math

import numpy as np
import pytest
from scipy import stats

from deciban.core.resampling.clusters import ClassRate, ClassVariances, ClusterDesign, degrees_by_kurtosis, degrees_of
from deciban.core.resampling.intervals import ClassSize


def sizes(n=20):
    totals = np.full(n, 4.0), np.full(n, 10.0)
    return ClusterDesign.of_units(totals, (4.0 * n, 10.0 * n))


def test_the_same_clusters_in_both_classes_count_once():
    overlap = sizes().overlap
    assert overlap[0, 1] == pytest.approx(1 / 20)
    assert degrees_of(np.array([1.0, 3.0]), overlap) == pytest.approx(19.0)
    assert degrees_of(np.array([0.0, 3.0]), overlap) == pytest.approx(19.0)


def test_other_clusters_have_the_degrees_of_welch():
    size = ClassSize(100.0, 10.0, 10), ClassSize(100.0, 30.0, 30)
    expected = (1.0 + 2.0) ** 2 / (1.0 / 10 + 4.0 / 30) - 1.0
    assert degrees_of(np.array([1.0, 2.0]), ClusterDesign.of_trials(size).overlap) == pytest.approx(expected)
    nothing = degrees_of(np.zeros(2), ClusterDesign.of_trials(size).overlap)
    assert nothing == pytest.approx(9.0), "of the class with fewest, if nothing varies"


def test_classes_with_too_few_are_named():
    few = ClusterDesign.of_units((np.array([3.0, 1.0, 0.0]), np.ones(3)), (4.0, 3.0))
    assert few.too_few() == pytest.approx({"targets": 1.6, "non-targets": 3.0})
    assert few.n_units == 3
    assert few.seen.tolist() == [2, 3]


def variances(rng, names=("sum", "one", "other")):
    found = ClassVariances(list(names), sizes())
    tar, non = rng.normal(size=(2, 20, len(names)))
    for part in (slice(0, 7), slice(7, 20)):
        found.add(tar[part], non[part], tar[part] + non[part])
    return found, tar, non


def test_squares_add_up_over_blocks():
    found, tar, non = variances(np.random.default_rng(1))
    total = tar[:, 0] + non[:, 0]
    assert found.standard_error("sum") == pytest.approx(math.sqrt(total @ total * 20 / 19))


def test_rates_have_the_variance_of_their_metric_and_their_correlation():
    found, tar, non = variances(np.random.default_rng(2))
    rates = found.sum_of_rates("one", [ClassRate(0, 2.0, 0.1), ClassRate(1, 5.0, 0.2), ClassRate(1, 0.0, 0.3)])
    (miss,), (alarm,) = rates.parts
    assert miss.variance == pytest.approx(tar[:, 1] @ tar[:, 1] * 20 / 19 / 4)
    assert alarm.variance == pytest.approx(non[:, 1] @ non[:, 1] * 20 / 19 / 25)
    expected = tar[:, 1] @ non[:, 1] / math.sqrt((tar[:, 1] @ tar[:, 1]) * (non[:, 1] @ non[:, 1]))
    assert rates.between == pytest.approx(expected)


def test_rates_of_several_metrics_are_as_correlated_as_their_sum_says():
    rng = np.random.default_rng(3)
    own = rng.normal(size=(20, 2)) + rng.normal(size=(20, 1))
    tar = np.column_stack((own.sum(axis=1), own))
    found = ClassVariances(["sum", "one", "other"], sizes())
    found.add(tar, np.zeros_like(tar), tar)
    parts = [ClassRate(0, 1.0, 0.1, of=name, own_weight=1.0) for name in ("one", "other")]
    expected = float(own[:, 0] @ own[:, 1] / np.linalg.norm(own[:, 0]) / np.linalg.norm(own[:, 1]))
    assert found.sum_of_rates("sum", parts).within[0] == pytest.approx(expected)


def test_a_rate_has_the_variance_of_its_own_metric_whatever_it_weighs_in_the_sum():
    rng = np.random.default_rng(6)
    own = rng.normal(size=(20, 2))
    tar = np.column_stack((3.0 * own[:, 0] + 0.5 * own[:, 1], own[:, 0], 4.0 * own[:, 1]))
    found = ClassVariances(["sum", "one", "other"], sizes())
    found.add(tar, np.zeros_like(tar), tar)
    rates = [ClassRate(0, 3.0, 0.1, of="one", own_weight=1.0), ClassRate(0, 0.5, 0.2, of="other", own_weight=4.0)]
    sums = found.sum_of_rates("sum", rates)
    assert [part.variance for part in sums.parts[0]] == pytest.approx([row @ row * 20 / 19 for row in own.T])
    assert [part.weight for part in sums.parts[0]] == [3.0, 0.5]


def test_where_one_rate_of_a_class_does_not_vary_its_limits_add_to_those_of_the_others():
    """How two rates vary together cannot be seen without an error of one: their distances are not taken as apart."""
    rng = np.random.default_rng(4)
    own = np.column_stack((rng.normal(size=20), np.zeros(20)))
    found = ClassVariances(["sum", "one", "none"], sizes())
    tar = np.column_stack((own.sum(axis=1), own))
    found.add(tar, np.zeros_like(tar), tar)
    rates = [ClassRate(0, 1.0, p, of=name, own_weight=1.0) for p, name in ((0.1, "one"), (0.0, "none"))]
    sums = found.sum_of_rates("sum", rates)
    one, none = (part.distances(0.95) for part in sums.parts[0])
    assert none[1] > 0.0
    assert sums.distances(0.95) == pytest.approx(one + none)


def test_only_classes_whose_rates_count_need_clusters():
    few = ClusterDesign.of_units((np.repeat([4.0, 0.0], [3, 20]), np.repeat([0.0, 9.0], [3, 20])), (12.0, 180.0))
    found = ClassVariances(["x"], few)
    alarms, misses = ClassRate(1, 1.0, 0.1), ClassRate(0, 1.0, 0.1)
    assert found.has_clusters([alarms])
    assert found.has_clusters([alarms, ClassRate(0, 0.0, 0.1)])
    assert not found.has_clusters([alarms, misses])
    assert not found.has_clusters()


def test_a_sum_of_error_rates_has_the_degrees_of_its_clusters_and_a_mean_of_costs_fewer():
    """Limits of rates allow for few errors themselves."""
    values = np.zeros((20, 1))
    values[0] = 1.0
    found = ClassVariances(["x"], sizes())
    found.add(values, 0.0 * values, values)
    assert found.estimate("x", 0.2, [ClassRate(0, 1.0, 0.2)], is_mean=True).degrees == found.degrees("x")
    assert found.estimate("x", 0.2, is_mean=True).degrees == found.degrees_of_mean("x") < found.degrees("x")
    assert found.estimate("x", 0.2).degrees == found.degrees("x")


def test_degrees_of_a_mean_fall_where_few_units_make_its_variance():
    values = np.ones((20, 2))
    values[:, 1] = 0.0
    values[0, 1] = 1.0
    found = ClassVariances(["even", "one"], sizes())
    found.add(values, 0.0 * values, values)
    assert found.degrees_of_mean("even") == found.degrees("even")
    assert found.degrees_of_mean("one") == pytest.approx(found.degrees("one") * 26 / 99)  # 2.1 by its kurtosis alone


def test_degrees_do_not_depend_on_the_unit_of_costs():
    """Variances whose squares are 0 in double precision, as of pairs of classes that nothing confuses."""
    overlap = np.array([[0.1, 0.0], [0.0, 0.05]])
    few, many = (degrees_of(scale * np.array([1.0, 2.0]), overlap) for scale in (1.0, 1e-200))
    assert few == pytest.approx(many, rel=1e-12)


def test_many_units_lose_few_degrees():
    """Quantiles of t grow by 5 % at most, whatever the influences are."""
    for most in (99.0, 1000.0, 1e9):
        least = degrees_by_kurtosis(most, 1.0, 1.0, 10**6)
        assert stats.t(least).ppf(0.975) <= 1.05 * stats.t(most).ppf(0.975)
        assert stats.t(least - 1.0).ppf(0.975) > 1.05 * stats.norm.ppf(0.975), "no more than that is given away"


def test_few_units_lose_the_same_share_of_degrees():
    one, all_of_it = degrees_by_kurtosis(50.0, 1.0, 1.0, 10**6), degrees_by_kurtosis(99.0, 1.0, 1.0, 10**6)
    assert one / 50.0 == pytest.approx(all_of_it / 99.0)


def test_degrees_by_kurtosis_are_those_of_the_variance_itself():
    """A variance with d degrees of freedom varies by 2 / d of its square, here as it does over many draws."""
    rng, n = np.random.default_rng(5), 40
    for draw, at_most in ((rng.laplace, 17.0), (rng.normal, 39.0)):
        squares = np.square(draw(size=(20_000, n)))
        sums = squares.sum(axis=1)
        expected = 2.0 * np.mean(sums) ** 2 / np.var(sums)
        found = degrees_by_kurtosis(n - 1.0, float(np.mean(sums)), float(np.mean((squares**2).sum(axis=1))), n)
        assert found == pytest.approx(min(expected, n - 1.0), rel=0.03)
        assert found <= at_most


def test_rows_that_stand_for_several_units_have_the_degrees_of_these():
    units = np.repeat([[1.0], [5.0]], [12, 4], axis=0)
    rows = np.sqrt([12.0, 4.0])[:, None] * np.array([[1.0], [5.0]])
    whole, packed = (ClassVariances(["x"], sizes(16)) for _ in range(2))
    whole.add(units, 0.0 * units, units)
    packed.add(rows, 0.0 * rows, rows, np.array([12.0, 4.0]))
    assert packed.degrees_of_mean("x") == pytest.approx(whole.degrees_of_mean("x"))
    assert whole.degrees_of_mean("x") < whole.degrees("x")
