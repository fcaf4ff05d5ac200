"""Errors of detectors: bounds where one kind was not seen, and the curve of an open set."""

import math
from functools import partial

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit

from deciban.analysis.compared import PairedUnits
from deciban.analysis.differences import curve_differences, where_in_words
from deciban.evaluation import (
    ClassMetrics,
    class_evaluation_of,
    evaluate,
    evaluate_classes,
    merged_classes,
    summarize_classes,
)
from deciban.evaluation.bands import band_of


def one_sided(shift):
    """Three classes of 20 segments, of which some are missed and none accepted elsewhere, or the reverse."""
    rng = np.random.default_rng(5)
    label = np.repeat(np.arange(3), 20)
    loglik = 9.0 * np.eye(3)[label]
    loglik[::7] = 0.0
    return loglik + 0.01 * rng.normal(size=loglik.shape) + shift, label


def wilson_limit(n):
    """The upper limit of a rate of n units without errors."""
    square = stats.t(n - 1).ppf(0.975) ** 2
    return square / (n + square)


def seen_reach(errors, n, most, weight):
    """The reach of error rates of classes of n units each, whose costs are shares of the most that a class can cost."""
    quantile, ways = stats.t(n - 1).ppf(0.975), []
    for rate in np.array(errors) / n:
        share, variance = weight / most * rate, (weight / most) ** 2 * rate * (1 - rate) / (n - 1)
        extra = quantile**2 * variance / (share * (1 - share))
        centre, reach = (share + extra / 2) / (1 + extra), math.sqrt(extra * (share * (1 - share) + extra / 4))
        ways.append(most * (centre + reach / (1 + extra) - share))
    return math.hypot(*ways)


@pytest.mark.parametrize(("units", "n"), [(np.arange(60), 60), (np.arange(60) % 20, 20)])
@pytest.mark.parametrize("p_target", [0.1, 0.9])
def test_a_kind_of_errors_that_no_class_has_widens_average_costs(p_target, units, n):
    """By the Wilson limit of the units of all classes together: units with trials of several classes count once."""
    loglik, label = one_sided(0.0)
    found = evaluate_classes(loglik, label, p_target=p_target, units=units, optimism=False)
    for misses, alarms, *_ in found.detection.rates:
        assert (misses == 0.0, alarms == 0.0) == (p_target > 0.5, p_target < 0.5)
    reach = math.hypot(seen_reach([3, 3, 3], 20, 1 / 3, 0.1 / 3), 0.9 * wilson_limit(n))
    for name, factor, is_least in (
        ("c_avg", 1, 0),
        ("normalized", 10, 0),
        ("min_c_avg", 1, 1),
        ("normalized_min", 10, 1),
    ):
        for one in (found.interval((name, 0)), found.interval(f"mean_{name}")):
            expected = min(factor * reach, factor * 0.1 - one.estimate) if is_least else factor * reach
            assert one.high - one.estimate == pytest.approx(expected, rel=0.03 if is_least else 5e-3), name
            assert one.estimate - one.low > 0.3 * one.estimate
    _, high = band_of(found, "c_avg", found.curves.c_avg)
    p_at = expit(found.curves.prior_log_odds)
    reach = np.maximum(p_at, 1.0 - p_at) * wilson_limit(n)
    far = np.abs(found.curves.prior_log_odds) > 1.0
    assert (high - found.curves.c_avg >= 0.99 * reach)[far].all()


def test_kinds_without_errors_at_several_points_are_averaged():
    loglik, label = one_sided(0.0)
    for points, cost, reach in (([0.1, 0.2], 0.15, (0.9 + 0.8) / 2), ([0.1, 0.9], 0.1, math.hypot(0.9 / 2, 0.9 / 2))):
        found = evaluate_classes(loglik, label, p_target=points, units=np.arange(60), optimism=False)
        one = found.interval("mean_c_avg")
        expected = math.hypot(seen_reach([3, 3, 3], 20, 1 / 3, cost / 3), reach * wilson_limit(60))
        assert one.high - one.estimate == pytest.approx(expected, rel=1e-6)


def test_kinds_of_errors_of_an_open_set_have_units_by_the_weights_of_classes():
    """The out-of-set class can only have false alarms, so its own rate contains all of its errors."""
    label = np.repeat(np.arange(4), (20, 20, 20, 30))
    loglik = 9.0 * np.eye(4)[label]
    loglik[:60:7] = 0.0
    found = evaluate_classes(loglik, label, p_target=[0.2, 0.1], p_out_of_set=0.3, units=np.arange(90), optimism=False)
    axis, rates = found.uncertainty.error_rates["c_avg"]
    for k, p_target in enumerate((0.2, 0.1)):
        one, in_set = found.interval(("c_avg", k)), 1.0 - p_target - 0.3
        assert one.estimate == pytest.approx(p_target * 9 / 60)
        alarms = math.hypot(0.3 * wilson_limit(30), in_set * wilson_limit(60))
        expected = math.hypot(seen_reach([3, 3, 3], 20, (p_target + in_set) / 3, p_target / 3), alarms)
        assert one.high - one.estimate == pytest.approx(expected, rel=1e-6)
        at = int(np.argmin(np.abs(axis - math.log(p_target / (1 - p_target)))))
        assert rates.distances(0.95)[1][at] == pytest.approx(expected, rel=0.15)


def test_errors_that_neither_of_two_systems_has_widen_their_difference_and_its_band():
    loglik, label = one_sided(0.0)
    other = loglik.copy()
    other[3::9] = 0.0  # more misses
    of = partial(evaluate_classes, label=label, p_target=0.1, units=np.arange(60), optimism=False)
    one, two, open_door = of(loglik), of(other), of(np.where(np.arange(60)[:, None] < 4, loglik[::-1], other))
    paired = PairedUnits.of(one.uncertainty, two.uncertainty)
    found, quantile = paired.difference(("c_avg", 0), 0.95), stats.t(38).ppf(0.975)
    expected = math.hypot(quantile * found.standard_error, 0.9 * wilson_limit(60))
    assert found.high - found.estimate == pytest.approx(expected, rel=0.01)
    assert found.estimate - found.low == pytest.approx(expected, rel=0.01)
    assert found.p_value > 0.5
    (band,) = curve_differences([paired], [("one", "two")], 0.95)[0]
    assert where_in_words([band])[0].endswith("(95 % band for all of 21 priors together)")
    far = np.abs(band.log_odds) > 1.0
    assert not any(abs(end) > 1.0 for one in band.better for end in (one.low, one.high))
    reach = np.maximum(expit(band.log_odds), expit(-band.log_odds)) * (1.0 - 0.05 ** (1 / 60))  # the rule of three
    for way in (band.high - band.difference, band.difference - band.low):
        assert (way >= 0.95 * reach)[far].all()
    # If one system has false alarms, they show how far it can differ.
    mixed = PairedUnits.of(one.uncertainty, open_door.uncertainty).difference(("c_avg", 0), 0.95)
    assert mixed.high - mixed.estimate == pytest.approx(quantile * mixed.standard_error, rel=0.05)


@pytest.mark.parametrize("p_target", [0.1, 0.9])
def test_a_class_without_errors_widens_the_average_cost(p_target):
    """By the Wilson limit of its units, as a share of what all of its trials may cost."""
    loglik, label = one_sided(0.0)
    loglik[label == 2] = 9.0 * np.eye(3)[2]
    found = evaluate_classes(loglik, label, p_target=p_target, units=np.arange(60), optimism=False)
    one = found.interval("c_avg")
    square = stats.t(19).ppf(0.975) ** 2
    dearest = (p_target + (1 - p_target)) / 3  # a segment that its own detector misses, and both others accept
    unseen = dearest * square / (20 + square)
    kind = 0.9 * wilson_limit(60)  # no false alarm of any class at 0.1, and no miss at 0.9
    seen = one.estimate + stats.t(38).ppf(0.975) * one.standard_error
    assert one.high == pytest.approx(one.estimate + math.hypot(seen - one.estimate, unseen, kind), rel=0.15)
    normalized = found.interval("normalized")
    assert normalized.high / normalized.estimate == pytest.approx(one.high / one.estimate)
    assert found.interval("mean_c_avg").high == pytest.approx(one.high)


@pytest.mark.parametrize("p_target", [0.2, 0.8])
def test_detectors_of_two_classes_have_the_bounds_of_two_classes(p_target):
    loglik, label = one_sided(0.0)
    loglik, label = loglik[label < 2, :2], label[label < 2]
    llr = loglik[:, 0] - loglik[:, 1]
    units = np.arange(len(label)) % 20  # each has trials of both
    sides = {"tar_units": units[label == 0], "non_units": units[label == 1]}
    two = evaluate(llr[label == 0], llr[label == 1], operating_points=[p_target], **sides, optimism=False)
    point = two.operating_points[0]
    assert (point.p_miss == 0.0) != (point.p_fa == 0.0)
    many = evaluate_classes(loglik, label, p_target=p_target, units=units, optimism=False)
    one, same = two.interval("act_dcf"), many.interval(("detectors", "0", "cost"))
    assert same.standard_error / min(p_target, 1 - p_target) == pytest.approx(one.standard_error)
    # The kind that was not seen has the Wilson limit of its units, which reaches far beyond the other.
    for interval, factor in ((one, 1.0), (same, 1.0 / min(p_target, 1 - p_target))):
        assert factor * interval.high > factor * interval.estimate + 4.0 * one.standard_error


def open_set(n=300, seed=2, n_units=40):
    rng = np.random.default_rng(seed)
    label, units = np.arange(n) % 4, rng.integers(0, n_units, n)
    effects = rng.normal(size=(n_units, 4))[units]
    return 2.0 * np.eye(4)[label] + effects + rng.normal(size=(n, 4)), label, units


@pytest.mark.parametrize("weighted", [False, True])
def test_the_band_of_an_open_set_is_that_of_the_cost_at_each_prior(weighted):
    loglik, label, units = open_set()
    weights = np.random.default_rng(0).uniform(0.5, 2.0, len(label)) if weighted else None
    how = {"p_out_of_set": 0.3, "units": units, "sample_weight": weights, "optimism": False}
    found = evaluate_classes(loglik, label, **how)
    errors, axis = found.uncertainty.curves["c_avg"], found.curves.prior_log_odds
    assert len(errors) == len(axis) == len(found.curves.c_avg)
    kept = found.uncertainty.curve_influences["c_avg"]
    for at in range(0, len(axis), 14):
        alone = evaluate_classes(loglik, label, p_target=float(expit(axis[at])), **how)
        assert errors[at] == pytest.approx(alone.interval("c_avg").standard_error, rel=1e-9)
        np.testing.assert_allclose(kept.influences[at // 7], alone.uncertainty.influences["c_avg", 0], atol=1e-15)
    low, high = band_of(found, "c_avg", found.curves.c_avg)
    assert (low <= found.curves.c_avg).all()
    assert (found.curves.c_avg <= high).all()


def test_parts_of_an_open_set_have_the_band_of_all_their_trials():
    loglik, label, units = open_set()
    metrics = ClassMetrics(p_out_of_set=0.3)
    parts = [
        summarize_classes(loglik[some], label[some], units=units[some], metrics=metrics)
        for some in (slice(0, 150), slice(150, None))
    ]
    whole = evaluate_classes(loglik, label, p_out_of_set=0.3, units=units).uncertainty.curves["c_avg"]
    merged = class_evaluation_of(merged_classes(parts)).uncertainty.curves["c_avg"]
    np.testing.assert_allclose(merged, whole, rtol=1e-12, atol=1e-15)
