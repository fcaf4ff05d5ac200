"""Counts by value are those of sorting."""

import numpy as np
import pytest

from deciban.core.ranks.loops import ValueCounts, count_loops, expected_bytes

pytest.importorskip("numba")


def counted(*parts):
    counts = ValueCounts(10**9, count_loops())
    for one in parts:
        counts.add(one)
    scores, numbers = zip(*(block.taken() for block in counts.blocks()), strict=True)
    return np.concatenate(scores), np.concatenate(numbers)


@pytest.mark.parametrize("n_ties", [1, 127, 128, 129, 255, 256, 70_000])
def test_every_score_is_counted_in_order(n_ties):
    rng = np.random.default_rng(n_ties)
    one = rng.normal(size=200_000).astype(np.float32)
    other = np.repeat(np.array([-np.inf, -0.0, 0.0, 0.5, np.inf], np.float32), n_ties)
    scores, numbers = counted(one, other)
    expected = np.unique(np.concatenate((one, other)) + np.float32(0), return_counts=True)
    np.testing.assert_array_equal(scores, expected[0])
    np.testing.assert_array_equal(numbers, expected[1])


def test_more_than_there_is_room_for_is_told():
    counts = ValueCounts(10**6, count_loops())
    assert counts.is_full, "what waits alone takes more"


def test_what_is_expected_grows_with_the_rows_up_to_a_table_for_each_block():
    sample = np.random.default_rng(0).normal(size=10_000).astype(np.float32)
    assert expected_bytes(sample, 10**4) < expected_bytes(sample, 10**7) <= expected_bytes(sample, 10**10)
