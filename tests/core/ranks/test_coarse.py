"""Coarse tables have the hull, pairs and ties of all groups, and the corners next to lines."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban.core.ranks.counts import CountTable, SortedClass, corners
from deciban.core.ranks.roc import CoarseTable, CornerCounts, OrderedPairs, Pav, ScoreGroups, groups_of, steps


@given(st.integers(0, 2**32 - 1), st.integers(1, 300))
def test_tables_of_parts_are_as_good_as_the_whole(seed, step):
    rng = np.random.default_rng(seed)
    digits = rng.integers(1, 5)
    tar, non = (np.sort(rng.normal(shift, 1.0, rng.integers(1, 600)).round(digits)) for shift in (1.0, 0.0))
    whole = CountTable.of(SortedClass(tar, None, None), SortedClass(non, None, None))
    totals, line = (len(tar), len(non)), rng.random(3)
    lines = CornerCounts(np.sort(line) * totals[0], np.sort(line) * totals[1])
    parts, pairs, below = [], OrderedPairs(0, 0, 0, 0, 0), (0, 0)
    for one, other in steps(tar, non, step):
        groups = groups_of(SortedClass(tar[one], None, None), SortedClass(non[other], None, None))
        pairs = pairs + OrderedPairs.of(groups)
        parts.append(groups.thinned(below, totals, lines))
        below = one.stop, other.stop
    found = CoarseTable(*ScoreGroups.joined(parts), whole.tar, whole.non, pairs)
    assert (found.auc(), found.error_area(), found.n_tied) == (whole.auc(), whole.error_area(), whole.n_tied)
    assert Pav.of(found) == Pav.of(whole)
    (fa, miss), kept = corners(whole.n_tar, whole.n_non), set(zip(*corners(found.n_tar, found.n_non), strict=True))
    last = len(fa) - 1
    at = [*np.searchsorted(miss, lines.miss), *(last + 1 - np.searchsorted(fa[::-1], lines.fa))]
    for beside in np.add.outer(at, [-1, 0, 1]).clip(0, last).ravel():
        assert (fa[beside], miss[beside]) in kept


def test_a_run_that_goes_on_is_one_group():
    one = ScoreGroups(np.array([0]), np.array([2]), np.array([0]), np.array([2]))
    assert ScoreGroups.joined([one, one]).n_non.tolist() == [4]
    assert ScoreGroups.joined([one, ScoreGroups(*(np.array([1]),) * 4)]).n_non.tolist() == pytest.approx([2, 1])
