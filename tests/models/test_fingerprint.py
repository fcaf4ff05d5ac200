"""The number that tells training data apart: equal for the same trials in any form and order, else different."""

import numpy as np
import pytest

from deciban.models.model import digits_of
from support.training_reference import gaussian

N = 70_000


@pytest.fixture(scope="module")
def data():
    scores, is_target = gaussian(N, 3)
    return scores, is_target, np.random.default_rng(5).random(N)


@pytest.mark.parametrize("weighted", [False, True])
def test_layout_and_order_do_not_matter(data, weighted):
    scores, is_target, weights = data
    weights = weights if weighted else None
    expected = digits_of(scores, is_target, weights)
    order = np.random.default_rng(6).permutation(N)
    assert digits_of(list(scores.T), is_target, weights) == expected
    assert digits_of(np.asfortranarray(scores), is_target, weights) == expected
    again = digits_of(scores[order], is_target[order], None if weights is None else weights[order])
    assert again == expected
    assert expected.bit_length() > 32
    short = scores.astype(np.float32)
    assert digits_of(short, is_target, weights) == digits_of(short.astype(np.float64), is_target, weights)


@pytest.mark.parametrize("weighted", [False, True])
def test_every_change_of_a_trial_does(data, weighted):
    scores, is_target, weights = data
    weights = weights if weighted else None
    found = {digits_of(scores, is_target, weights)}
    for column in range(3):
        exchanged = scores.copy()  # the same numbers in every column, but two trials exchanged one of them
        exchanged[[7, 60_000], column] = exchanged[[60_000, 7], column]
        changed = scores.copy()
        changed[65_999, column] = np.nextafter(changed[65_999, column], np.inf)
        found |= {digits_of(each, is_target, weights) for each in (exchanged, changed)}
    labels = is_target.copy()
    labels[[np.argmax(is_target), np.argmin(is_target)]] = labels[[np.argmin(is_target), np.argmax(is_target)]]
    found |= {digits_of(scores, labels, weights), digits_of(scores, ~is_target, weights)}
    found |= {digits_of(scores[:, [1, 0, 2]], is_target, weights), digits_of(scores[:, :2], is_target, weights)}
    found |= {digits_of(scores[:-1], is_target[:-1], None if weights is None else weights[:-1])}
    assert len(found) == 12


def test_weights_count_and_so_does_whose_they_are(data):
    scores, is_target, weights = data
    exchanged = weights.copy()
    exchanged[[3, 50_000]] = exchanged[[50_000, 3]]
    variants = (None, weights, exchanged, np.ones(N))
    assert len({digits_of(scores, is_target, each) for each in variants}) == 4


def test_few_distinct_scores_may_not_be_exchanged_either():
    """Small whole numbers have few bits that differ, all of them at the top."""
    rng = np.random.default_rng(1)
    scores, is_target = rng.integers(-3, 4, (50, 2)).astype(np.float64), np.arange(50) < 25
    expected, n_changed = digits_of(scores, is_target, None), 0
    for i in range(1, 50):
        exchanged = scores.copy()
        exchanged[[0, i], 1] = exchanged[[i, 0], 1]
        if scores[0, 1] != scores[i, 1] and (scores[0, 0] != scores[i, 0] or is_target[0] != is_target[i]):
            n_changed += 1
            assert digits_of(exchanged, is_target, None) != expected
    assert n_changed > 20
