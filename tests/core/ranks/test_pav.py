"""PAV: blocks by their definition, whatever the chunks and however large the counts."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban.core.ranks import roc


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)).filter(any), min_size=1, max_size=60), st.data())
def test_pooling_does_not_depend_on_chunks(groups, data):
    n_tar, n_non = (np.array(column) for column in zip(*groups, strict=True))
    before, roc._GROUPS_PER_BATCH = roc._GROUPS_PER_BATCH, data.draw(st.integers(1, 60))
    try:
        chunked = roc.pool(n_tar, n_non)
    finally:
        roc._GROUPS_PER_BATCH = before
    np.testing.assert_array_equal(chunked, roc.pool(n_tar, n_non))


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)).filter(any), min_size=1, max_size=40))
def test_products_beyond_int64_pool_like_small_ones(groups):
    n_tar, n_non = (np.array(column) for column in zip(*groups, strict=True))
    if not (n_tar.any() and n_non.any()):
        return
    expected = roc.pool(n_tar, n_non)
    np.testing.assert_array_equal(roc.pool(n_tar * 2**55, n_non * 2**55), expected)
    # One trial more in 2**55 makes equal fractions unequal: floats cannot see it, integers must.
    tilted = roc.pool(np.array([2**55, 2**55 + 1]), np.array([2**55, 2**55]))
    np.testing.assert_array_equal(tilted, [0, 1])
    np.testing.assert_array_equal(roc.pool(np.array([2**55, 2**55]), np.array([2**55, 2**55])), [0])
    # Rounded, (x + 2)^2 is x^2, less than (x + 4) x: the fractions fall, though floats say that they rise.
    x = 2**54
    np.testing.assert_array_equal(roc.pool(np.array([x + 2, x + 4]), np.array([x, x + 2])), [0])


def by_definition(n_tar, n_non):
    """Pool adjacent violators one after the other, with exact fractions of targets."""
    blocks = []
    for at, (tar, non) in enumerate(zip(n_tar, n_non, strict=True)):
        blocks.append((at, Fraction(tar), Fraction(non)))
        while len(blocks) > 1 and blocks[-2][1] * blocks[-1][2] >= blocks[-1][1] * blocks[-2][2]:
            (start, *one), (_, *other) = blocks[-2:]
            blocks[-2:] = [(start, one[0] + other[0], one[1] + other[1])]
    return [start for start, _, _ in blocks]


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)).filter(any), min_size=1, max_size=60))
def test_blocks_are_those_of_the_definition(groups):
    n_tar, n_non = (np.array(column) for column in zip(*groups, strict=True))
    assert roc.pool(n_tar, n_non).tolist() == by_definition(*zip(*groups, strict=True))


@pytest.mark.parametrize("n_chunks", [2, 3])
@pytest.mark.parametrize("more", [1, -1, 0])
def test_one_violation_after_the_other_is_one_block(n_chunks, more):
    """Fractions fall from the first group to the last: whatever the chunk, all is one block."""
    n = (n_chunks - 1) * roc._GROUPS_PER_BATCH + more + (0 if more > 0 else roc._GROUPS_PER_BATCH)
    assert roc.pool(np.arange(n, 0, -1), np.arange(1, n + 1)).tolist() == [0]


def test_blocks_begin_where_fractions_rise_between_chunks():
    n = roc._GROUPS_PER_BATCH + 10
    n_tar, n_non = np.ones(n, np.int64), np.ones(n, np.int64)
    n_tar[-12:] = 2  # the last rise is before the border of the chunks
    assert roc.pool(n_tar, n_non).tolist() == [0, n - 12]


@given(st.lists(st.integers(1, 7), min_size=2, max_size=20), st.sampled_from([0.1, 0.3, 1 / 3, 0.7]))
def test_fractions_that_are_equal_up_to_rounding_are_equal(sizes, weight):
    """Every group holds as many targets as non-targets, with weights whose sums are rounded."""
    n_tar = np.array([sum([weight] * size) for size in sizes])
    n_non = np.array([size * weight for size in sizes])
    assert roc.pool(n_tar, n_non).tolist() == [0]


def test_rounding_alone_would_split_them():
    """0.1 + 0.2 is more than 0.3."""
    n_tar, n_non = np.array([0.3, 0.1 + 0.2]), np.array([0.3, 0.3])
    assert n_tar[1] > n_tar[0]
    assert roc.pool(n_tar, n_non).tolist() == [0]
    assert roc.pool(np.array([0.3, 0.3 * (1 + 1e-9)]), n_non).tolist() == [0, 1]
