"""Probit axes."""

import numpy as np
import pytest
from scipy.special import ndtri

from deciban.plots.curves import bent, limits, probit


def test_probit_keeps_the_ends_finite():
    assert probit(np.array([0.5, 0.1])).tolist() == [0.0, ndtri(0.1)]
    ends = probit(np.array([0.0, 1.0]))
    assert np.all(np.isfinite(ends))
    assert ends[0] < ndtri(1e-6)
    assert ends[1] > ndtri(0.99)


def test_bent_adds_points_on_the_edges():
    p_fa, p_miss = np.array([1.0, 0.4, 0.0]), np.array([0.0, 0.1, 1.0])
    x, y = bent(p_fa, p_miss)
    assert len(x) > 100
    assert np.all(np.diff(x) <= 0)
    assert np.all(np.diff(y) >= 0)
    np.testing.assert_allclose(y, np.interp(-x, -p_fa, p_miss), atol=1e-12)
    inside = (x > 1e-6) & (x < 1 - 1e-6) & (y > 1e-6) & (y < 1 - 1e-6)
    assert np.diff(probit(x[inside])).min() > -0.05
    assert np.diff(probit(y[inside])).max() < 0.05


def test_steps_are_not_bent():
    p_fa, p_miss = np.array([1.0, 0.5, 0.5, 0.0, 0.0]), np.array([0.0, 0.0, 0.5, 0.5, 1.0])
    x, y = bent(p_fa, p_miss)
    assert x is p_fa
    assert y is p_miss


@pytest.mark.parametrize(
    ("rates", "other", "marked", "low", "high"),
    [
        ([1.0, 0.3, 0.002, 0.0], [0.0, 0.1, 0.5, 1.0], [], 0.002 / 1.5, 0.3),
        ([1.0, 0.3, 0.002, 0.0], [0.0, 0.1, 0.5, 1.0], [0.6, 1e-4], 1e-4 / 1.5, 0.6),
        ([1.0, 1e-9, 0.0], [0.0, 0.5, 1.0], [], 1e-6, 0.05),
        ([1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0], 0.01, 0.05),
        ([1.0, 0.999, 0.0], [0.0, 0.5, 1.0], [1.0], 0.1, 0.99),
    ],
)
def test_limits(rates, other, marked, low, high):
    got = limits(np.array(rates), np.array(other), marked)
    assert got[0] == pytest.approx(low)
    assert high <= got[1] <= min(float(probit_margin(high)), 0.99)


def probit_margin(high):
    """A tenth of a standard deviation is left free."""
    from scipy.special import ndtr

    return ndtr(ndtri(high) + 0.1 + 1e-9)
