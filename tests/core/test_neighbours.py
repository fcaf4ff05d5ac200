"""Costs of scores that lie close together are those of each."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban.core.expected import log_cost_of_counts, softplus_of_groups


@given(st.integers(0, 2**32 - 1), st.sampled_from([1e-9, 1e-5, 2e-4, 1e-3, 1.0]))
def test_groups_are_summed_like_each_score(seed, width):
    rng = np.random.default_rng(seed)
    x = np.sort(rng.uniform(-width, width, (3, 64)), axis=1)[:, :: rng.choice([-1, 1])] + rng.uniform(-40, 40, (3, 1))
    weights = rng.integers(1, 100, x.shape).astype(float)
    expected = [math.fsum((np.logaddexp(0.0, row) * by).tolist()) for row, by in zip(x, weights, strict=True)]
    np.testing.assert_allclose(softplus_of_groups(x, weights), expected, rtol=2e-15)


@given(st.integers(0, 2**32 - 1), st.sampled_from([-1, 1]))
def test_counts_cost_what_their_trials_cost(seed, sign):
    rng = np.random.default_rng(seed)
    scores = np.unique(rng.normal(-3.0, rng.choice([1e-4, 0.1, 100.0]), rng.integers(1, 1000)).astype(np.float32))
    counts = rng.integers(1, 1000, len(scores))
    found = log_cost_of_counts(scores, counts, sign=sign)
    expected = math.fsum((np.logaddexp(0.0, sign * scores.astype(float)) * counts).tolist())
    assert found.high + found.low == pytest.approx(expected, rel=4e-15)
    assert found.weight == counts.sum()


def test_infinite_scores_cost_nothing_or_everything():
    scores = np.sort(np.concatenate((np.full(64, -np.inf), np.linspace(0.0, 1e-5, 64)))).astype(np.float32)
    counts = np.ones(len(scores), np.int64)
    finite = log_cost_of_counts(scores[64:], counts[64:], sign=1)
    assert log_cost_of_counts(scores, counts, sign=1).high == finite.high
    assert log_cost_of_counts(scores, counts, sign=-1).high == math.inf
