"""Bootstrap of the metrics of many classes, against weighted evaluations."""

import numpy as np
import pytest

from deciban.core.resampling.replicates import poisson_weights
from deciban.core.resampling.units import keys_of
from deciban.evaluation import evaluate_classes, evaluate_groups

CLASSES = ["cat", "dog", "eel", "fox"]
MEANS = ["cllr", "cross_entropy", "brier", "error_rate", ("c_avg", 0), ("detectors", "eel", "cllr")]
"""Metrics in which nothing is found as best."""


def drawn(n_trials=400, n_speakers=50, n_sides=1):
    rng = np.random.default_rng(3)
    label, unit = rng.integers(0, 4, n_trials), rng.integers(0, n_speakers, (n_trials, n_sides))
    loglik = rng.normal(size=(n_trials, 4)) + rng.normal(0, 0.5, (n_speakers, 4))[unit[:, 0]]
    loglik[np.arange(n_trials), label] += 1.5
    return loglik, label, np.array([f"s{k}" for k in range(n_speakers)])[unit]


def weights_of(units, seed, replicate):
    names, codes = np.unique(units, return_inverse=True)
    weights = poisson_weights(keys_of(names), seed, np.array([replicate]))[:, 0].astype(int)[codes.reshape(units.shape)]
    one, other = units[:, 0], units[:, -1]
    return np.where(one == other, weights[:, 0], weights[:, 0] * weights[:, -1])


def value(found, metric):
    return found.uncertainty.estimates[metric].value


@pytest.mark.parametrize("n_sides", [1, 2])
def test_replicates_are_evaluations_with_these_weights(n_sides):
    loglik, label, units = drawn(n_sides=n_sides)
    asked = {"classes": CLASSES, "prior": [0.1, 0.2, 0.3, 0.4], "p_target": 0.2, "units": units}
    found = evaluate_classes(loglik, label, **asked, bootstrap=10, seed=4).uncertainty.bootstrap
    for replicate in range(10):
        single = evaluate_classes(loglik, label, **asked, sample_weight=weights_of(units, 4, replicate))
        for metric in MEANS:
            assert found.values[metric][replicate] == pytest.approx(value(single, metric), rel=1e-10), metric


def test_groups_keep_the_weight_of_their_classes():
    loglik, label, units = drawn()
    groups = {"land": ["cat", "dog", "fox"], "sea": ["eel"]}
    asked = {"classes": CLASSES, "prior": [0.1, 0.2, 0.3, 0.4], "units": units}
    found = evaluate_groups(loglik, label, groups, **asked, bootstrap=5, seed=4).uncertainty.bootstrap
    for replicate in range(5):
        weights = weights_of(units, 4, replicate)
        single = evaluate_groups(loglik, label, groups, **asked, sample_weight=weights)
        for metric in ("cllr", "error_rate"):
            assert found.values[metric][replicate] == pytest.approx(value(single, metric), rel=1e-10), metric


def test_spread_is_that_of_the_linearised_form():
    loglik, label, units = drawn(4000, 120)
    known = evaluate_classes(loglik, label, units=units, bootstrap=1000, seed=1).uncertainty
    names = ("cllr", "min_cllr", "error_rate", "brier", ("c_avg", 0), ("min_c_avg", 0), ("detectors", "1", "eer"))
    for metric in names:
        ratio = known.bootstrap.interval(metric).standard_error / known.linearised(metric).standard_error
        assert 0.9 < ratio < 1.12, (metric, ratio)


def test_what_has_no_replicates_has_a_linearised_interval():
    loglik, label, units = drawn()
    found = evaluate_classes(loglik, label, classes=CLASSES, units=units, bootstrap=500, seed=1)
    assert found.interval("cllr").method == "bootstrap, percentile"
    assert found.interval(("class_error_rates", "dog")).method == "Wilson limits by unit"


def test_replicates_without_a_class_are_left_out():
    loglik, label, units = drawn()
    units[label == 2] = "one"
    found = evaluate_classes(loglik, label, units=units, bootstrap=1000, seed=1).uncertainty.bootstrap
    assert found.left_out == pytest.approx(1000 * np.exp(-1), abs=4 * np.sqrt(1000 * np.exp(-1)))


def test_order_changes_nothing():
    loglik, label, units = drawn()
    turned = np.random.default_rng(1).permutation(len(label))
    one, other = (
        evaluate_classes(loglik[at], label[at], units=units[at], bootstrap=200, seed=6).uncertainty.bootstrap.values
        for at in (np.arange(len(label)), turned)
    )
    for metric in MEANS[:4]:
        np.testing.assert_allclose(one[metric], other[metric], rtol=1e-12)
