"""The beta family of proper scoring rules: golden values, closed forms, laws and limits."""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special

from deciban.core import proper
from deciban.core import proper as proper_table
from deciban.core.expected import softplus
from deciban.core.proper import beta_cost_non, beta_cost_tar, threshold_density
from support.rule_slopes import beta_cost_non_slope, beta_cost_tar_slope

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "beta_rule.json").read_text())
PARAMETERS = [0.05, 0.5, 1 - 2**-53, 1.0, 1 + 2**-52, 1.5, 20.0, 100.0]
PAIRS = [(a, b) for a in PARAMETERS for b in PARAMETERS]
CLOSED = [(1.0, 1.0), (2.0, 2.0), (0.5, 0.5), (2.0, 1.0), (1.0, 2.0)]
HOSTILE = np.array(
    [s * v for v in (0.0, 5e-324, 1e-300, 0.7, 40.0, 710.0, 1e4, 1e300, 1.7e308, np.inf) for s in (1.0, -1.0)]
)
parameters = st.floats(0.05, 100.0)


@contextmanager
def no_complaints() -> Iterator[None]:
    """Turn every warning and every floating-point event into an error, underflow too."""
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        yield


def rows_by_pair() -> list[tuple[float, float]]:
    return sorted({(row[0], row[1]) for row in GOLDEN["rows"]})


@pytest.mark.parametrize(("alpha", "beta"), rows_by_pair())
def test_costs_are_the_golden_values(alpha, beta):
    rows = [row for row in GOLDEN["rows"] if row[:2] == [alpha, beta]]
    x, tar, non = (np.array([float(row[k]) for row in rows]) for k in (2, 3, 4))
    np.testing.assert_allclose(beta_cost_tar(x, alpha, beta), tar, rtol=2e-13)
    np.testing.assert_allclose(beta_cost_non(x, alpha, beta), non, rtol=2e-13)


@pytest.mark.parametrize(("alpha", "beta"), CLOSED)
def test_closed_forms_are_the_golden_values_to_1e_14(alpha, beta):
    rows = [row for row in GOLDEN["rows"] if (row[0], row[1]) == (alpha, beta)]
    if not rows:  # (1, 2) is (2, 1) with the classes exchanged
        rows = [[a, b, -x, non, tar] for b, a, x, tar, non in GOLDEN["rows"] if (b, a) == (beta, alpha)]
    assert len(rows) >= 9
    x, tar, non = (np.array([float(row[k]) for row in rows]) for k in (2, 3, 4))
    np.testing.assert_allclose(beta_cost_tar(x, alpha, beta), tar, rtol=3e-15)
    np.testing.assert_allclose(beta_cost_non(x, alpha, beta), non, rtol=3e-15)


@pytest.mark.parametrize(("alpha", "beta"), CLOSED)
def test_closed_forms_equal_the_general_path(alpha, beta):
    x = np.concatenate([np.linspace(-300.0, 300.0, 4001), np.linspace(-3.0, 3.0, 4001)])
    np.testing.assert_allclose(beta_cost_tar(x, alpha, beta), proper.cost_table(beta, alpha).cost(-x), rtol=1e-13)


def test_the_formulas_people_know():
    x = np.linspace(-9.0, 9.0, 61)
    q = special.expit(x)
    for (alpha, beta), tar, non in [
        ((1.0, 1.0), -np.log(q), -np.log(1 - q)),
        ((2.0, 2.0), 3 * (1 - q) ** 2, 3 * q**2),
        ((0.5, 0.5), 2 / np.pi * np.sqrt((1 - q) / q), 2 / np.pi * np.sqrt(q / (1 - q))),
        ((2.0, 1.0), 2 * (1 - q), -2 * np.log(1 - q) - 2 * q),
    ]:
        np.testing.assert_allclose(beta_cost_tar(x, alpha, beta), tar, rtol=1e-11)
        np.testing.assert_allclose(beta_cost_non(x, alpha, beta), non, rtol=1e-11, atol=1e-15)


@pytest.mark.parametrize(("alpha", "beta"), PAIRS[::7])
def test_exchanging_classes_exchanges_signs_and_parameters(alpha, beta):
    x = np.linspace(-50.0, 50.0, 101)
    np.testing.assert_array_equal(beta_cost_non(x, alpha, beta), beta_cost_tar(-x, beta, alpha))
    np.testing.assert_array_equal(beta_cost_non_slope(x, alpha, beta), -beta_cost_tar_slope(-x, beta, alpha))


@pytest.mark.parametrize(("alpha", "beta"), PAIRS)
def test_slopes_are_central_differences(alpha, beta):
    h = 0.01 / max(alpha, beta, 1.0)
    x = np.linspace(-45.0, 45.0, 400)
    for cost, slope in [(beta_cost_tar, beta_cost_tar_slope), (beta_cost_non, beta_cost_non_slope)]:
        near, far = (cost(x + k * h, alpha, beta) - cost(x - k * h, alpha, beta) for k in (1, 2))
        difference = (8 * near - far) / (12 * h)
        rounding = 1e-13 * cost(x, alpha, beta) / h
        error = np.abs(difference - slope(x, alpha, beta))
        assert np.all(error <= 1e-8 * np.abs(difference) + rounding + 1e-300)


def test_slopes_far_out():
    x = np.array([-np.inf, -1e300, -700.0, 700.0, np.inf])
    np.testing.assert_allclose(beta_cost_tar_slope(x, 1.0, 1.0), [-1, -1, -1, -np.exp(-700), 0], rtol=1e-13)
    np.testing.assert_allclose(beta_cost_tar_slope(x, 1.0, 3.0), [-3, -3, -3, 0, 0], rtol=1e-13)
    boosting = np.array([-np.inf, -np.inf, -np.exp(350), -np.exp(-350), 0]) / np.pi
    np.testing.assert_allclose(beta_cost_tar_slope(x, 0.5, 0.5), boosting, rtol=1e-12)
    np.testing.assert_allclose(beta_cost_non_slope(x, 3.0, 2.0), [0, 0, 0, 12 * np.exp(-700), 0], rtol=1e-12)


@given(parameters, parameters, st.floats(-6.0, 6.0))
@settings(deadline=None, max_examples=30)
def test_reporting_the_true_posterior_costs_least(alpha, beta, true_log_odds):
    p = special.expit(true_log_odds)
    away = np.concatenate([np.linspace(-8.0, 8.0, 161), np.array([-1e-3, 1e-3, -np.inf, np.inf])])
    x = true_log_odds + away
    expected = p * beta_cost_tar(x, alpha, beta) + (1 - p) * beta_cost_non(x, alpha, beta)
    assert np.all(expected >= expected[80] * (1 - 1e-12))


@given(parameters, parameters, st.floats(-60.0, 60.0), st.floats(0.0, 1.0))
@settings(deadline=None, max_examples=60)
def test_costs_are_positive_and_monotone(alpha, beta, x, step):
    tar = beta_cost_tar(np.array([x, x + step]), alpha, beta)
    assert 0 <= tar[1] <= tar[0] * (1 + 1e-13)


@pytest.mark.parametrize("alpha", PARAMETERS)
@pytest.mark.parametrize("prior_log_odds", [20.0, -6.9])
def test_hostile_values_give_neither_nan_nor_warnings(alpha, prior_log_odds):
    for beta in PARAMETERS:
        with no_complaints():
            proper_table.cost_table.cache_clear()
            values = [
                f(HOSTILE, alpha, beta)
                for f in (beta_cost_tar, beta_cost_non, beta_cost_tar_slope, beta_cost_non_slope)
            ]
            values.append(threshold_density(HOSTILE, alpha, beta, prior_log_odds))
        assert not np.isnan(values).any()
        assert np.all(np.array(values)[[0, 1, 3, 4]] >= 0)
        assert np.all(values[2] <= 0)


@pytest.mark.parametrize(("alpha", "beta"), PAIRS)
def test_limits_at_infinity(alpha, beta):
    tar = beta_cost_tar(np.array([-np.inf, np.inf]), alpha, beta)
    assert tar[1] == 0
    if alpha <= 1:
        assert tar[0] == np.inf
    else:
        assert tar[0] == pytest.approx((alpha + beta - 1) / (alpha - 1), rel=2e-13)
        assert beta_cost_tar(np.array([-1e4 / (alpha - 1)]), alpha, beta)[0] == tar[0]


def test_any_shape_is_kept_and_arguments_are_untouched():
    x = np.linspace(-60.0, 60.0, 3 * proper_table._BATCH + 6).reshape(2, -1, 3)
    kept = x.copy()
    whole = beta_cost_tar(x, 0.7, 3.0)
    assert whole.shape == x.shape
    np.testing.assert_array_equal(whole[1, 5], beta_cost_tar(x[1, 5], 0.7, 3.0))
    np.testing.assert_array_equal(whole.transpose(), beta_cost_tar(x.transpose(), 0.7, 3.0))
    np.testing.assert_array_equal(x, kept)
    assert beta_cost_tar(np.zeros(0), 0.7, 3.0).shape == (0,)


def test_softplus_against_math():
    x = np.array([-745.0, -100.0, -36.5, -1.0, -1e-9, 0.0, 1e-9, 0.5, 1.0, 30.0, 36.5, 710.0, 1e4])
    exact = [max(v, 0.0) + math.log1p(math.exp(-abs(v))) for v in x]
    np.testing.assert_allclose(softplus(x), exact, rtol=4e-16)
    with no_complaints():
        far = softplus(np.array([-np.inf, np.inf, -1e300, 1e300]))
    np.testing.assert_array_equal(far, [0, np.inf, 0, 1e300])


@pytest.mark.parametrize(("alpha", "beta"), [(0.1, 0.2), (1.0, 1.0), (0.5, 3.0), (100.0, 100.0), (0.3, 60.0)])
@pytest.mark.parametrize("prior_log_odds", [-20.0, -4.6, 0.0, 0.31, 20.0])
def test_threshold_density_integrates_to_one(alpha, beta, prior_log_odds):
    # The trapezoidal rule is exact to rounding for an analytic function that vanishes at both ends.
    t = np.linspace(-420.0, 420.0, 16801)
    density = threshold_density(t, alpha, beta, prior_log_odds)
    assert density.sum() * 0.05 == pytest.approx(1.0, rel=1e-12)


@pytest.mark.parametrize("prior_log_odds", [-4.6, 0.0, 12.3])
def test_threshold_density_follows_its_formula(prior_log_odds):
    t = np.linspace(-15.0, 15.0, 31)
    tau = prior_log_odds
    for alpha, beta in [(1.0, 1.0), (0.3, 2.0), (3.0, 0.6)]:
        r = (1 + np.exp(t + tau)) / ((1 + np.exp(t)) * (1 + np.exp(tau)))
        formula = r * special.expit(t + tau) ** alpha * special.expit(-t - tau) ** beta
        ratio = threshold_density(t, alpha, beta, tau) / formula
        np.testing.assert_allclose(ratio, ratio[15], rtol=1e-12)


def test_threshold_density_of_the_logarithmic_rule_at_even_prior_is_logistic():
    t = np.linspace(-700.0, 700.0, 1401)
    density = threshold_density(t, 1.0, 1.0, 0.0)
    np.testing.assert_allclose(density, special.expit(t) * special.expit(-t), rtol=1e-12)


@pytest.mark.parametrize("prior_log_odds", [-20.0, -4.6, 0.0, 7.7, 20.0])
def test_threshold_density_of_boosting_does_not_move_with_the_prior(prior_log_odds):
    # Bruemmer & Doddington 2013 section 4.1: with alpha = beta = 1/2 it is invariant to tau.
    t = np.linspace(-50.0, 50.0, 101)
    density = threshold_density(t, 0.5, 0.5, prior_log_odds)
    np.testing.assert_allclose(density, 1 / (2 * np.pi * np.cosh(t / 2)), rtol=1e-12)
