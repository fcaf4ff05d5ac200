"""Gaps listed at once are those that are counted around cuts."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from core.ranks.test_value_counts import drawn
from deciban.core.ranks.gaps import CutCounts
from deciban.core.ranks.value_counts import GapList
from support.loops import loops_of


@given(st.integers(0, 2**32 - 1))
def test_entries_are_those_of_counts_around_cuts(seed):
    rng, scores = drawn(seed)
    scores = np.sort(scores + np.float32(0.0))
    kept = scores[rng.random(len(scores)) < rng.choice([0.0, 0.1, 0.9, 1.0])]
    more = np.append(rng.choice(scores, 3), rng.normal(0.0, 2.0, rng.integers(0, 5))).astype(np.float32)
    counted = CutCounts(np.concatenate((kept, more)))
    counted.add(scores)
    expected = counted.without(kept).as_class()
    found = GapList(kept, more, loops_of("numba"))
    values, numbers = np.unique(scores, return_counts=True)
    left = [
        found.add(*map(np.copy, part))
        for part in zip(np.array_split(values, 5), np.array_split(numbers, 5), strict=True)
    ]
    gaps = found.as_class()
    inner = np.append(expected.unsure[1:], False) & expected.unsure  # means: only their place between the ends counts
    assert len(gaps.scores) == len(expected.scores)
    np.testing.assert_array_equal(gaps.scores[~inner], expected.scores[~inner])
    np.testing.assert_allclose(gaps.scores[inner], expected.scores[inner], rtol=1e-6)
    for name in ("weights", "cumulated", "unsure"):
        np.testing.assert_array_equal(getattr(gaps, name), getattr(expected, name))
    rest = np.repeat(*(np.concatenate([one[k] for one in left]) for k in (0, 1)))
    np.testing.assert_array_equal(rest, _without(scores, kept))


def _without(scores, some):
    values, numbers = np.unique(scores, return_counts=True)
    np.subtract.at(numbers, np.searchsorted(values, some), 1)
    return np.repeat(values, numbers)
