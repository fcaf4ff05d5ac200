"""Costs of non-targets with two derivatives: golden values, differences, the costs of metrics, extremes."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deciban.core.proper import _BATCH, Terms, beta_cost_non, beta_cost_tar, cost_table, kernel, slope_kernel
from support.rule_slopes import beta_cost_non_slope

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "rule_derivatives.json").read_text())
RULES = sorted({(row[0], row[1]) for row in GOLDEN["rows"]})
CLOSED = [(1.0, 1.0), (2.0, 2.0), (0.5, 0.5), (2.0, 1.0), (1.0, 2.0)]
FAR = np.array([s * v for v in (40.0, 41.0, 709.0, 745.0, 1e4, 1e300, 1.7e308, np.inf) for s in (1.0, -1.0)])
parameters = st.floats(0.05, 100.0)


def cost_of(terms: Terms) -> np.ndarray:
    return terms.linear if terms.factor is None else terms.linear - np.log(terms.factor)


@pytest.mark.parametrize(("alpha", "beta"), RULES)
def test_all_terms_are_the_golden_values(alpha, beta):
    rows = [row for row in GOLDEN["rows"] if row[:2] == [alpha, beta]]
    z, cost, slope, curvature = (np.array([float(row[k]) for row in rows]) for k in (2, 3, 4, 5))
    terms = kernel(alpha, beta)(z, 2)
    # Sums of logarithms are good to 1e-16 of one cost of order 1; all other costs to their last digits.
    absolute = 3e-16 if (alpha, beta) in [(1.0, 1.0), (2.0, 1.0)] else 0.0
    np.testing.assert_allclose(cost_of(terms), cost, rtol=1.2e-13, atol=absolute)
    np.testing.assert_allclose(terms.slope, slope, rtol=1.2e-13)
    bound = max(alpha, beta, 1.0) * slope
    assert np.all(np.abs(terms.curvature - curvature) <= 1e-12 * bound)


@pytest.mark.parametrize(("alpha", "beta"), RULES)
def test_values_from_the_table_are_good_to_2e_14(alpha, beta):
    rows = [row for row in GOLDEN["rows"] if row[:2] == [alpha, beta] and abs(row[2]) <= 40]
    z, cost, slope = (np.array([float(row[k]) for row in rows]) for k in (2, 3, 4))
    computed = cost_table(alpha, beta).derivatives(z, 1)
    np.testing.assert_allclose(computed[0], cost, rtol=1.5e-14)
    np.testing.assert_allclose(computed[1], slope, rtol=3e-14)


@pytest.mark.parametrize(("alpha", "beta"), CLOSED)
def test_closed_forms_are_the_golden_values_to_the_last_digits(alpha, beta):
    rows = [row for row in GOLDEN["rows"] if row[:2] == [alpha, beta]]
    assert len(rows) >= 15
    z, slope, curvature = (np.array([float(row[k]) for row in rows]) for k in (2, 4, 5))
    terms = kernel(alpha, beta)(z, 2)
    np.testing.assert_allclose(terms.slope, slope, rtol=3e-15)
    assert np.all(np.abs(terms.curvature - curvature) <= 3e-15 * 2.0 * slope)


@given(parameters, parameters, st.floats(-39.0, 39.0))
@settings(deadline=None, max_examples=40)
def test_cost_and_slope_are_those_of_metrics(alpha, beta, middle):
    z = middle + np.linspace(-1.0, 1.0, 201)
    terms = kernel(alpha, beta)(z, 2)
    np.testing.assert_allclose(cost_of(terms), beta_cost_non(z, alpha, beta), rtol=1e-14, atol=1e-307)
    np.testing.assert_allclose(terms.slope, beta_cost_non_slope(z, alpha, beta), rtol=4e-13, atol=1e-307)


@given(parameters, parameters)
@settings(deadline=None, max_examples=20)
def test_curvature_is_the_derivative_of_the_slope_and_of_targets_too(alpha, beta):
    h = 0.01 / max(alpha, beta, 1.0)
    z = np.linspace(-45.0, 45.0, 400)
    near, far = (
        beta_cost_non_slope(z + k * h, alpha, beta) - beta_cost_non_slope(z - k * h, alpha, beta) for k in (1, 2)
    )
    difference = (8 * near - far) / (12 * h)
    terms = kernel(alpha, beta)(z, 2)
    allowed = 1e-8 * max(alpha, beta, 1.0) * terms.slope + 1e-300
    assert np.all(np.abs(terms.curvature - difference) <= allowed)
    swapped = kernel(beta, alpha)(-z, 2)
    np.testing.assert_allclose(cost_of(swapped), beta_cost_tar(z, alpha, beta), rtol=1e-13)


@pytest.mark.parametrize(("alpha", "beta"), CLOSED)
def test_closed_forms_equal_the_table(alpha, beta):
    z = np.concatenate([np.linspace(-300.0, 300.0, 4001), np.linspace(-3.0, 3.0, 4001)])
    terms = kernel(alpha, beta)(z, 2)
    cost, slope, curvature = cost_table(alpha, beta).derivatives(z, 2)
    np.testing.assert_allclose(cost_of(terms), cost, rtol=1e-13, atol=3e-16)
    np.testing.assert_allclose(terms.slope, slope, rtol=1e-13)
    assert np.all(np.abs(terms.curvature - curvature) <= 2e-12 * slope)


@pytest.mark.parametrize(("alpha", "beta"), RULES)
def test_nothing_is_nan_and_nobody_complains(alpha, beta):
    cost_table.cache_clear()
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        terms = kernel(alpha, beta)(FAR, 2)
    assert terms.factor is None or np.all((terms.factor >= 0.5) & (terms.factor <= 1))
    assert not np.isnan([terms.linear, terms.slope, terms.curvature]).any()
    assert np.all(terms.linear >= 0)
    assert np.all(terms.slope >= 0)


@pytest.mark.parametrize(("alpha", "beta"), RULES)
def test_limits(alpha, beta):
    terms = kernel(alpha, beta)(np.array([-np.inf, np.inf]), 2)
    assert cost_of(terms)[0] == terms.slope[0] == terms.curvature[0] == 0
    if beta > 1:
        assert terms.linear[1] == pytest.approx((alpha + beta - 1) / (beta - 1), rel=2e-13)
        assert terms.slope[1] == terms.curvature[1] == 0
    elif beta == 1:
        assert terms.linear[1] == np.inf
        assert terms.slope[1] == pytest.approx(alpha, rel=1e-13)  # 1 / B(alpha, 1)
        assert terms.curvature[1] == 0
    else:
        assert terms.linear[1] == terms.slope[1] == terms.curvature[1] == np.inf


@pytest.mark.parametrize(("alpha", "beta"), [*CLOSED, (0.7, 3.0)])
def test_without_curvature_the_rest_is_the_same(alpha, beta):
    z = np.concatenate([FAR, np.linspace(-60.0, 60.0, 1001)])
    one, two = (kernel(alpha, beta)(z, order) for order in (1, 2))
    assert one.curvature is None
    np.testing.assert_array_equal(cost_of(one), cost_of(two))
    np.testing.assert_allclose(one.slope, two.slope, rtol=2e-14)
    np.testing.assert_allclose(slope_kernel(alpha, beta)(z), two.slope, rtol=2e-14)


@pytest.mark.parametrize(("alpha", "beta"), [*CLOSED, (0.7, 3.0)])
def test_arrays_are_new_and_arguments_untouched(alpha, beta):
    function = kernel(alpha, beta)
    z = np.linspace(-60.0, 60.0, 37)
    kept = z.copy()
    first = [a for a in function(z, 2) if a is not None]
    copies = [a.copy() for a in first]
    second = [a for a in function(-z, 2) if a is not None]
    np.testing.assert_array_equal(z, kept)
    for a, copy in zip(first, copies, strict=True):
        np.testing.assert_array_equal(a, copy)
    arrays = [z, *first, *second]
    assert not any(np.shares_memory(a, b) for i, a in enumerate(arrays) for b in arrays[:i])
    assert all(a.shape == (0,) for a in function(np.zeros(0), 2) if a is not None)


@pytest.mark.parametrize(("alpha", "beta"), [*CLOSED, (0.7, 3.0), (100.0, 100.0)])
def test_float32_gives_what_float64_gives_and_nobody_complains(alpha, beta):
    """In pieces, the last of which is short, as many trials come."""
    z = np.concatenate([np.linspace(-30.0, 30.0, 2 * _BATCH + 5), FAR[np.abs(FAR) < 1e38]]).astype(np.float32)
    exact = kernel(alpha, beta)(z.astype(np.float64), 2)
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        terms, slopes = kernel(alpha, beta)(z, 2), slope_kernel(alpha, beta)(z)
    assert {term.dtype for term in (*terms, slopes) if term is not None} == {np.dtype(np.float32)}
    absolute, largest = 2e-7 if (alpha, beta) in [(1.0, 1.0), (2.0, 1.0)] else 1e-37, 3e38
    for short, long in ((cost_of(terms), cost_of(exact)), (terms.slope, exact.slope), (slopes, exact.slope)):
        fits = long < largest
        np.testing.assert_allclose(short[fits], long[fits], rtol=1e-5, atol=absolute)
        assert np.all(short[~fits] == np.inf)
