"""Trials in batches that some systems did not score: which are left, and how many have which scores."""

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from deciban.engines import Threads
from deciban.models.sources import occurring_subsets, scored_by
from deciban.trials.sources import TrialFields, having
from support.array_sources import source_of


def gathered(source, system):
    """The scores of a system in all partitions."""
    found = [one.read(TrialFields((system,), truth=True)).scores[0] for one in source.partitions]
    return np.sort(np.concatenate(found))


@given(st.integers(0, 2**32 - 1))
def test_trials_are_chosen_and_counted_by_their_scores(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 200))
    scores, truth, weight = rng.normal(size=(n, 3)), rng.random(n) < 0.5, rng.integers(0, 3, n)
    scores[rng.random((n, 3)) < rng.random()] = np.nan
    source = replace(source_of(scores.T, truth, rng, systems=("A", "B", "C"), weights=weight), incomplete=True)
    there = ~np.isnan(scores)
    both = having(source, (0, 2))
    assert both.incomplete
    np.testing.assert_array_equal(gathered(both, 1), np.sort(scores[there[:, 0] & there[:, 2], 1]))
    some = having(source, range(3), every=False, counting=True)
    np.testing.assert_array_equal(gathered(some, 0), np.sort(scores[there.any(axis=1) & (weight > 0), 0]))
    assert not having(source, range(3)).incomplete
    seen = scored_by(source, Threads(2))
    assert seen.n_without == tuple((~there).sum(axis=0))
    assert (seen.n_lacking, seen.n_none) == ((~there).any(axis=1).sum(), (~there).all(axis=1).sum())
    counting = weight > 0
    expected = {
        subset: (int((~truth[counting][rows]).sum()), int(truth[counting][rows].sum()))
        for subset, rows in occurring_subsets(scores[counting]).items()
    }
    assert {subset: own for subset, own in seen.counts.items() if sum(own)} == {
        subset: own for subset, own in expected.items() if sum(own)
    }


def test_of_no_partition_nothing_is_counted():
    source = replace(source_of(np.zeros((2, 1)), [True], np.random.default_rng(1), systems=("A", "B")), partitions=())
    seen = scored_by(source, Threads())
    assert (seen.n_without, seen.n_none, seen.counts) == ((0, 0), 0, {})
