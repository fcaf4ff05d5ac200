"""Sets of segments that count alike in replicates; that replicates are those of memory is tested with intervals."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban.core.resampling.replicates import poisson_weights
from deciban.core.resampling.units import TrialUnits
from deciban.evaluation.multiclass.metric_groups import EqualWeightSets


@given(seed=st.integers(0, 2**32 - 1), n_sides=st.integers(1, 2), n=st.integers(1, 60))
def test_sets_weigh_what_their_segments_weigh_one_by_one(seed, n_sides, n):
    rng = np.random.default_rng(seed)
    units = TrialUnits.of(rng.integers(0, 6, (n, n_sides)))
    stratum, costs, weights = np.sort(rng.integers(0, 3, n)), rng.normal(size=(4, n)), rng.uniform(0.5, 2.0, n)
    drawn = poisson_weights(units.keys, 5, np.arange(3, 20)).astype(float)
    times = np.prod([drawn[side] for side in units.codes], axis=0)
    if n_sides == 2:
        same = units.codes[0] == units.codes[1]
        times[same] = drawn[units.codes[0][same]]
    alike = EqualWeightSets.of(stratum, units)
    found = {k: alike.summed(costs, weights)[own].T @ alike.weights(5, range(3, 20))[own] for k, own in alike.runs()}
    assert list(found) == np.unique(stratum).tolist()
    for k, one in found.items():
        expected = (costs * weights)[:, stratum == k] @ times[stratum == k]
        np.testing.assert_allclose(one, expected, rtol=1e-12, atol=1e-12)


def test_segments_without_weights_count_once():
    alike = EqualWeightSets.of(np.array([0, 0, 1]), TrialUnits.of(["ann", "ann", "ann"]))
    assert len(alike.stratum) == 2
    assert alike.summed(np.ones((1, 3)), None).ravel() == pytest.approx([2.0, 1.0])
