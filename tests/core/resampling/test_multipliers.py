"""Weights of units: Poisson numbers that seed, replicate and name alone decide."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare, poisson

from deciban.core.resampling.replicates import _BOUNDS, MOST, _poisson, checked_replicates, poisson_weights
from deciban.core.resampling.units import keys_of
from deciban.errors import InputError

KEYS = keys_of([f"speaker {k}" for k in range(1000)])


def test_they_are_poisson_numbers_of_mean_and_variance_one():
    found = poisson_weights(KEYS, 5, np.arange(2000))
    assert found.mean() == pytest.approx(1.0, abs=4 / np.sqrt(found.size))
    assert found.var() == pytest.approx(1.0, abs=4 * np.sqrt(3 / found.size))  # the fourth moment is 4
    seen = np.bincount(found.ravel(), minlength=7)
    seen = np.append(seen[:6], seen[6:].sum())
    wanted = np.append(poisson.pmf(np.arange(6), 1.0), poisson.sf(5, 1.0))
    assert chisquare(seen, wanted * found.size).pvalue > 1e-3


def test_what_is_cut_off_is_less_than_one_in_a_million_millions():
    assert poisson.sf(MOST, 1.0) < 1e-12


def test_each_number_begins_where_the_distribution_function_says():
    """Of 2^53 evenly spread numbers, those below ``F(k) 2^53`` give k at most, and that one itself gives more."""
    first_above = [int(share * 2**53) for share in poisson.cdf(np.arange(8), 1.0)]
    bits = np.array([[at - 2, at + 2] for at in first_above], np.uint64) << np.uint64(11)
    np.testing.assert_array_equal(_poisson(bits), [[k, k + 1] for k in range(8)])
    own = np.array([[at - np.uint64(1), at] for at in _BOUNDS], np.uint64) << np.uint64(11)
    np.testing.assert_array_equal(_poisson(own), [[k, k + 1] for k in range(MOST)])


def test_units_and_replicates_are_not_correlated():
    found = poisson_weights(KEYS[:200], 5, np.arange(400)).astype(float)
    for table in (found, found.T):
        apart = np.corrcoef(table)[np.triu_indices(len(table), 1)] * np.sqrt(table.shape[1])
        assert abs(apart.mean()) < 5 / np.sqrt(len(apart))
        assert apart.std() == pytest.approx(1.0, abs=0.05)


def test_neighbouring_seeds_have_nothing_in_common():
    one, other = (poisson_weights(KEYS, seed, np.arange(100)).ravel().astype(float) for seed in (1, 2))
    assert abs(np.corrcoef(one, other)[0, 1]) < 4 / np.sqrt(len(one))
    shifted = poisson_weights(KEYS, 1, np.arange(1, 101)).ravel().astype(float)
    assert abs(np.corrcoef(other, shifted)[0, 1]) < 4 / np.sqrt(len(one))


@given(st.integers(0, 2**64 - 1), st.permutations(range(20)), st.integers(0, 50))
def test_order_and_parts_change_nothing(seed, order, cut):
    whole = poisson_weights(KEYS[:20], seed, np.arange(50))
    parts = [poisson_weights(KEYS[order], seed, part) for part in np.split(np.arange(50), [cut])]
    np.testing.assert_array_equal(np.concatenate(parts, axis=1), whole[order])


@pytest.mark.parametrize("given_", [(-1, 0), (1.5, 0), (True, 0), ("9", 0), (1, 0), (2**31, 0), (9, -1), (9, 2**64)])
def test_numbers_that_are_none_are_refused(given_):
    with pytest.raises(InputError, match="bootstrap|seed"):
        checked_replicates(*given_)


def test_numbers_of_numpy_are_numbers():
    assert checked_replicates(np.int64(100), np.uint64(2**63)) == (100, 2**63)
