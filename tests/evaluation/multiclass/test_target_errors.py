"""Errors of detectors: bounds where one kind was not seen, and the curve of an open set."""

import math

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit

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
    seen = one.estimate + stats.t(38).ppf(0.975) * one.standard_error
    assert one.high == pytest.approx(one.estimate + math.hypot(seen - one.estimate, unseen), rel=0.15)
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
