"""Counts of scores are those of sorting, however trials come."""

import pickle
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deciban.core.ranks import value_counts
from deciban.core.ranks.value_counts import ValueCounts, expected_bytes
from support.loops import loops_of, with_and_without

SMALL = {"_LEAST": 4, "_MOST_REST": 50, "_WAITING": 40, "_AT_ONCE": 16, "_FEWEST": 2}
"""What makes few trials take the ways of many."""


def drawn(seed):
    """Scores with ties, zeros of both signs and infinities."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 1500))
    scores = rng.normal(0.0, rng.choice([1e-3, 1.0, 1e30]), n).round(int(rng.integers(0, 6))).astype(np.float32)
    special = rng.random(n) < 0.05
    scores[special] = rng.choice([-np.inf, np.inf, -0.0, 0.0, 1e-45, 3.4e38], special.sum())
    scores[rng.random(n) < rng.choice([0.0, 0.6])] = np.float32(1.5)
    return rng, scores


def added(rng, scores, how):
    counts = ValueCounts(10**9, loops_of(how))
    for part in np.array_split(rng.permutation(scores), rng.integers(1, 30)):
        counts.add(*np.array_split(part, 2))
    return counts


def require(counts, scores):
    entries = [block.entries() for block in counts.blocks()]
    found, numbers = (np.concatenate([one[k] for one in entries]) for k in (0, 1))
    expected, n_expected = np.unique(scores + np.float32(0.0), return_counts=True)
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(numbers, n_expected)


@with_and_without
@given(st.integers(0, 2**32 - 1))
def test_every_score_is_counted_in_order(how, seed):
    rng, scores = drawn(seed)
    with patch.multiple(value_counts, **SMALL):
        counts = added(rng, scores, how)
        require(counts, scores)


@with_and_without
@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1))
def test_the_range_is_that_of_finite_scores(how, seed):
    rng, scores = drawn(seed)
    finite = scores[np.isfinite(scores)]
    with patch.multiple(value_counts, **SMALL):
        found = added(rng, scores, how)
        assert found.finite_range() == ((finite.min(), finite.max()) if len(finite) else (np.inf, -np.inf))
        require(found, scores)


@with_and_without
@given(st.integers(0, 2**32 - 1))
def test_what_is_taken_away_was_never_there(how, seed):
    rng, scores = drawn(seed)
    gone = rng.random(len(scores)) < 0.4
    with patch.multiple(value_counts, **SMALL):
        counts = added(rng, scores, how)
        counts.blocks()
        counts.take_away(np.sort(scores[gone]))
        require(counts, scores[~gone])


@with_and_without
@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1))
def test_counts_add_up(how, seed):
    rng, scores = drawn(seed)
    some = rng.random(len(scores)) < 0.5
    with patch.multiple(value_counts, **SMALL):
        require(added(rng, scores[some], how) + added(rng, scores[~some], how), scores)


@with_and_without
@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1))
def test_counts_that_were_sent_add_up_and_count_on(how, seed):
    rng, scores = drawn(seed)
    parts = np.array_split(rng.permutation(scores), 4)
    with patch.multiple(value_counts, **SMALL):
        one, other = (pickle.loads(pickle.dumps(added(rng, part, how))) for part in parts[:2])  # noqa: S301  # own
        one.add(parts[2])
        found = pickle.loads(pickle.dumps(one + other))  # noqa: S301  # own
        found.add(parts[3])
        require(found, scores)


@with_and_without
@pytest.mark.parametrize("n", [(127, 127), (128, 1), (300, 1000)])
def test_counters_never_run_over_when_they_are_added(how, n):
    scores = np.linspace(1.0, 1.01, 100, dtype=np.float32)
    with patch.multiple(value_counts, **SMALL):
        one, other = (added(np.random.default_rng(5), np.repeat(scores, k), how) for k in n)
        require(one + other, np.repeat(scores, sum(n)))


@with_and_without
@pytest.mark.parametrize("n", [7, 8, 127, 128, 129, 255, 256, 70_000])
def test_counters_never_run_over(how, n):
    tied, others = np.full(n, -0.75, np.float32), np.linspace(1.0, 1.001, 11, dtype=np.float32)
    with patch.multiple(value_counts, **SMALL):
        counts = ValueCounts(10**9, loops_of(how))
        for part in np.array_split(tied, 3):
            counts.add(part)
        for _ in range(300):
            counts.add(others)
        require(counts, np.concatenate((tied, np.repeat(others, 300))))


def test_more_than_there_is_room_for_is_told():
    rng = np.random.default_rng(1)
    with patch.multiple(value_counts, **SMALL):
        counts = ValueCounts(10**6)
        counts.add(rng.normal(size=30).astype(np.float32))
        assert not counts.is_full
        counts.add(rng.normal(size=10_000).astype(np.float32))
        assert counts.is_full


def test_what_is_expected_is_not_less_than_what_is_taken():
    scores = np.random.default_rng(2).normal(size=100_000).astype(np.float32)
    counts = ValueCounts(10**9)
    counts.add(scores)
    taken = sum(block.n_bytes for block in counts.blocks())
    assert 0.5 * taken < expected_bytes(scores[:20_000], len(scores)) < 4 * taken
