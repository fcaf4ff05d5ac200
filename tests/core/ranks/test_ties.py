"""Trials that share their score with the other class."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from deciban.core.ranks.counts import n_tied

TRIALS = st.lists(st.tuples(st.integers(0, 6), st.booleans(), st.integers(0, 3)), min_size=1, max_size=30)


def arrays(trials):
    score, is_target, weight = (np.array(column) for column in zip(*trials, strict=True))
    return score.astype(float), is_target, weight


@given(TRIALS)
def test_by_definition(trials):
    expected = sum(any(s == x and c != y for x, y, _ in trials) for s, c, _ in trials)
    assert n_tied(*arrays(trials)[:2]) == expected


@given(TRIALS)
def test_whole_weights_are_copies(trials):
    """What has weight 0 is not there: it ties nothing, and with it nothing is tied."""
    score, is_target, weight = arrays(trials)
    assert n_tied(score, is_target, weight) == n_tied(np.repeat(score, weight), np.repeat(is_target, weight))


def test_fractional_weights_are_added_up():
    score, is_target = np.array([0.0, 0.0, 1.0, 2.0, 2.0]), np.array([True, False, True, True, False])
    assert n_tied(score, is_target, np.array([0.25, 0.5, 8.0, 4.0, 0.0])) == 0.75
