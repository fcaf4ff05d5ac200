"""The bound of the size of numbers is never too small, and infinite where it is not known."""

import tracemalloc

import numpy as np
import pytest

from deciban.core.training.sums import length_bound


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("size", [1.0, 1e-30, 1e30, 1e-200, 1e150, 5e-324])
@pytest.mark.parametrize("step", [1, 2, -1])
@pytest.mark.parametrize("order", ["C", "F"])
def test_no_number_is_beyond_the_bound(order, step, size, dtype):
    with np.errstate(over="ignore"):
        numbers = (size * np.random.default_rng(1).normal(size=(20_000, 3))).astype(dtype, order=order)
    numbers = numbers[::step, ::step]
    bound = length_bound(numbers)
    assert bound >= np.abs(numbers).max()
    if size in {1.0, 1e-30 if dtype == np.float64 else 1.0}:
        assert bound <= 4 * np.sqrt(1 << 15) * size  # it bounds the length of so many numbers


@pytest.mark.parametrize("odd", [np.nan, np.inf, -np.inf])
def test_one_number_that_is_not_finite_leaves_nothing_known(odd):
    numbers = np.zeros(100_000)
    numbers[77_777] = odd
    assert length_bound(numbers) == np.inf


@pytest.mark.parametrize("other", [np.zeros(0), np.zeros(3, np.int64), [1.0, 2.0]])
def test_it_is_infinite_where_a_glance_tells_nothing(other):
    assert length_bound(other) == np.inf


@pytest.mark.parametrize("select", [np.s_[:, ::2], np.s_[::2], np.s_[:, 0], np.s_[::-1]])
def test_an_array_with_gaps_is_not_copied_as_a_whole(select):
    numbers = np.random.default_rng(1).normal(size=(200_000, 4))[select]
    tracemalloc.start()
    try:
        assert length_bound(numbers) >= np.abs(numbers[:100]).max()
        assert tracemalloc.get_traced_memory()[1] < 0.2 * numbers.nbytes
    finally:
        tracemalloc.stop()
