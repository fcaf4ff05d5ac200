"""Rates of misleading evidence, counted one by one."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban import InputError, metrics
from support.strategies import any_score, classes


@given(classes(st.one_of(any_score, st.floats(-9, 9))), st.lists(st.floats(1, 1e6), min_size=1, max_size=4))
def test_counts_of_what_is_beyond_each_factor(sets, factors):
    tar, non = sets
    for factor, found in zip(factors, metrics.misleading_evidence(tar, non, factors=factors), strict=True):
        bound = max(math.log(factor), math.log10(factor) * math.log(10))
        assert found.n_tar == sum(s < -bound for s in tar)
        assert found.n_non == sum(s > bound for s in non)
        assert (found.p_tar, found.p_non) == (found.n_tar / len(tar), found.n_non / len(non))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_ratio_that_is_equal_to_the_factor_is_not_beyond_it(dtype):
    """Written as natural or as common logarithm; the two differ by an ulp for 1000."""
    assert 3 * math.log(10) > math.log(1000)
    at = np.array([0.0, math.log(10), 2 * math.log(10), math.log(1000), 3 * math.log(10)])
    at = np.minimum(at.astype(dtype), at) if dtype == np.float64 else np.nextafter(at.astype(dtype), dtype(0))
    found = metrics.misleading_evidence(-at.astype(dtype), at.astype(dtype))
    assert [one.factor for one in found] == [1, 10, 100, 1000]
    assert [one.n_non for one in found] == [one.n_tar for one in found] == [4, 3, 2, 0]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_what_is_beyond_a_factor_by_the_least_is_counted(dtype):
    bound = dtype(max(math.log(10), math.log10(10) * math.log(10)))
    over = np.nextafter(bound, dtype(np.inf))
    (found,) = metrics.misleading_evidence([-over], [over], factors=10)
    assert (found.n_tar, found.n_non) == (1, 1)


def test_true_likelihood_ratios_mislead_rarely():
    """Royall: a ratio beyond k for the wrong hypothesis has a probability of at most 1 / k."""
    rng = np.random.default_rng(0)
    d = 1.5
    tar, non = rng.normal(d * d / 2, d, 40_000), rng.normal(-d * d / 2, d, 40_000)
    for found in metrics.misleading_evidence(tar, non, factors=[1, 2, 5, 10, 100]):
        assert max(found.p_tar, found.p_non) <= 1 / found.factor
    beyond_ten = metrics.misleading_evidence(tar, non, factors=10)[0]
    expected = 0.5 * math.erfc((math.log(10) + d * d / 2) / d / math.sqrt(2))
    assert beyond_ten.p_non == pytest.approx(expected, abs=4 * math.sqrt(expected / 40_000))


@pytest.mark.parametrize("factors", [0.5, [], [[1.0]], math.nan, [10, -1]])
def test_factors_are_ratios_of_at_least_one(factors):
    with pytest.raises(InputError, match="factor"):
        metrics.misleading_evidence([1.0], [0.0], factors=factors)
