"""Counts by value are those of sorting."""

import pickle

import numpy as np
import pytest

from deciban.core.ranks.loops import ValueCounts, expected_bytes

pytest.importorskip("numba")


def count(*parts):
    counts = ValueCounts(10**9)
    for one in parts:
        counts.add(one)
    return counts


def counted(*parts):
    return listed(count(*parts))


def listed(counts):
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


@pytest.mark.parametrize("n_ties", [100, 200, 70_000])
def test_counts_that_are_sent_and_added_are_those_of_all_scores(n_ties):
    rng = np.random.default_rng(n_ties)
    parts = [
        np.concatenate((rng.normal(at, 1.0, 10 ** (4 + at)), np.repeat([0.5, -np.inf, -0.0], n_ties))).astype(
            np.float32
        )
        for at in range(3)
    ]
    one, other, third = (pickle.loads(pickle.dumps(count(part))) for part in parts)  # noqa: S301  # our own
    found = listed(one + other + third)
    np.testing.assert_array_equal(found, counted(*parts))
    np.testing.assert_array_equal(listed(other + one + third + ValueCounts(10**9)), found)


def test_more_than_there_is_room_for_is_told():
    counts = ValueCounts(10**6)
    assert counts.is_full, "what waits alone takes more"


def test_what_is_expected_grows_with_the_rows_up_to_a_table_for_each_block():
    sample = np.random.default_rng(0).normal(size=10_000).astype(np.float32)
    assert expected_bytes(sample, 10**4) < expected_bytes(sample, 10**7) <= expected_bytes(sample, 10**10)
