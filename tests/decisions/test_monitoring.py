"""Drift, estimated priors and expected costs of unlabelled scores."""

import numpy as np
import pytest
from scipy.special import expit, logit

from deciban import metrics
from deciban.decisions import drift, estimate_prior, expected_cost
from deciban.errors import DecibanWarning, InputError

RNG = np.random.default_rng(7)


def drawn(share, n=20_000):
    """Calibrated llrs with this share of targets, and labels."""
    label = RNG.random(n) < share
    return RNG.normal(np.where(label, 2.0, -2.0), 2.0), label


@pytest.mark.parametrize("share", [0.02, 0.3, 0.9])
def test_priors_are_estimated_without_labels(share):
    llr, _ = drawn(share)
    found = estimate_prior(llr)
    assert found == pytest.approx(share, abs=0.012)
    assert expit(llr + logit(found)).mean() == pytest.approx(found, abs=1e-9)
    prior = 0.5
    for _ in range(3000):  # the EM algorithm as published
        prior = expit(llr[:500] + logit(prior)).mean()
    assert estimate_prior(llr[:500]) == pytest.approx(prior, abs=1e-6)


def test_priors_at_the_ends():
    assert estimate_prior([-3.0, -0.1]) == 0.0
    assert estimate_prior([3.0, 0.1, np.inf]) == 1.0
    assert 0.0 < estimate_prior([np.inf, -np.inf, -1.0]) < 1.0


@pytest.mark.parametrize("llr", [[1e-9, -1e-9], [-0.3, -0.2], [0.5, 0.4], [2.0, -2.0]])
def test_llrs_that_exclude_no_proportion_are_named(llr):
    with pytest.warns(DecibanWarning, match="every proportion of targets from 0 to 1 is plausible"):
        assert 0.0 <= estimate_prior(llr) <= 1.0


def test_stability_of_one_distribution_is_the_documented_bias():
    found = [drift(RNG.random(60), RNG.random(300)).stability for _ in range(200)]
    assert np.mean(found) == pytest.approx(9 * (1 / 60 + 1 / 300), rel=0.15)


def test_expected_costs_of_calibrated_llrs_are_actual_costs():
    llr, label = drawn(0.1, 200_000)
    point = (0.1, 5.0, 1.0)
    actual = metrics.act_dcf(llr[label], llr[~label], p_target=0.1, c_miss=5.0)
    assert expected_cost(llr, point) == pytest.approx(actual, rel=0.05)
    assert expected_cost(3 * llr, point) < 0.6 * metrics.act_dcf(
        3 * llr[label], 3 * llr[~label], p_target=0.1, c_miss=5
    )
    shifted, _ = drawn(0.4, 200_000)
    assert expected_cost(shifted, 0.1, prior=estimate_prior(shifted)) > 0.0


def test_drift_is_small_for_the_same_distribution_and_large_for_another():
    old, _ = drawn(0.1)
    same = drift(old, drawn(0.1)[0])
    assert same.stability < 0.01
    assert same.p_value > 0.001
    other = drift(old, drawn(0.1)[0] + 2.0)
    assert other.stability > 0.25
    assert other.p_value < 1e-6
    assert drift([1.0, 1.0, 1.0], [1.0, 1.0]).stability == pytest.approx(0.0, abs=0.1)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: drift([], [1.0]), "reference: empty. Pass at least one trial"),
        (lambda: estimate_prior([0.0, 0.0]), "llr: all are 0"),
        (lambda: drift([1.0], [1.0], bins=1), "bins: got 1"),
        (lambda: estimate_prior([np.nan]), "llr"),
        (lambda: expected_cost([1.0], 0.5, prior=0.0), "prior"),
    ],
)
def test_what_is_not_valid_is_refused(call, words):
    with pytest.raises(InputError, match=words):
        call()
