"""Bounds on the scales of metrics, against the same written with logarithms."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, logit

from deciban.core.resampling.intervals import bounds_on_scale

SHARES = st.floats(0.001, 0.999)
ERRORS = st.floats(1e-6, 0.2)


@given(SHARES, SHARES, ERRORS)
def test_logit_and_log_are_symmetric_on_their_scales(value, middle, error):
    low, high = bounds_on_scale(value, middle, error, "logit")
    reach = error / (value * (1 - value))
    assert low == pytest.approx(expit(logit(middle) - reach))
    assert high == pytest.approx(expit(logit(middle) + reach))
    low, high = bounds_on_scale(value, middle, error, "log")
    assert low * high == pytest.approx(middle**2)
    assert math.log(high / low) == pytest.approx(2 * error / value)
    low, high = bounds_on_scale(value, middle, error, "identity")
    assert (low + high) / 2 == pytest.approx(middle)
    assert high - low == pytest.approx(2 * error)


@given(st.floats(0.01, 10.0), st.floats(0.01, 1.0))
def test_a_skewed_scale_has_the_upper_bound_of_the_square_root(middle, share):
    error = share * middle
    low, high = bounds_on_scale(middle, middle, error, "skewed")
    assert low == pytest.approx(middle - error)
    assert high == pytest.approx((math.sqrt(middle) + error / (2 * math.sqrt(middle))) ** 2)
    assert bounds_on_scale(middle, middle, 9 * middle, "skewed")[1] == pytest.approx(middle * (1 + 9 * 1.25))
    assert bounds_on_scale(0.0, 0.0, error, "skewed")[1] == pytest.approx(1.25 * error)
    assert bounds_on_scale(-error, -error, error, "skewed")[1] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("scale", ["log", "logit", "identity", "skewed"])
def test_without_error_bounds_are_the_middle(scale):
    low, high = bounds_on_scale([0.0, 0.25, 1.0], [0.0, 0.5, 1.0], 0.0, scale)
    assert low.tolist() == high.tolist() == [0.0, 0.5, 1.0]


def test_ends_of_a_scale_and_what_overflows():
    low, high = bounds_on_scale([0.0, 1.0, 0.5], [0.0, 1.0, 1.0], 0.1, "logit")
    np.testing.assert_allclose(low, [-0.1, 0.9, 0.9])
    np.testing.assert_allclose(high, [0.1, 1.1, 1.1])
    low, high = bounds_on_scale(1e-300, 1e300, 1.0, "log")
    assert (low, high) == (pytest.approx(1e300 * math.exp(-700)), math.inf)
    low, high = bounds_on_scale(math.inf, math.inf, 1.0, "log")
    assert (low, high) == (math.inf, math.inf)
