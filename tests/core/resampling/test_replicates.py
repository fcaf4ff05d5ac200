"""Replicates in blocks: numbers do not depend on how many there are, and somebody hears of them."""

import numpy as np
import pytest

from deciban.core.resampling.replicates import BLOCK, replicates_of
from deciban.core.resampling.units import mixed_bits
from deciban.errors import heard_by

KEYS = mixed_bits(np.arange(7))


def sums(weights):
    return weights.sum(axis=0).astype(float)[:, None], weights[0] > 0


def test_more_replicates_begin_with_the_same():
    few, many = (replicates_of(sums, KEYS, seed=3, n_replicates=n) for n in (5, 3 * BLOCK + 1))
    assert [len(one) for one in (*few, *many)] == [5, 5, 3 * BLOCK + 1, 3 * BLOCK + 1]
    for one, other in zip(few, many, strict=True):
        np.testing.assert_array_equal(one, other[:5])


def test_very_many_units_are_drawn_in_smaller_blocks_and_are_the_same(monkeypatch):
    wanted, sizes = replicates_of(sums, KEYS, seed=3, n_replicates=100), set()

    def noted(weights):
        sizes.add(weights.shape[1])
        return sums(weights)

    monkeypatch.setattr("deciban.core.resampling.replicates._WEIGHTS", 20 * len(KEYS))
    for one, other in zip(wanted, replicates_of(noted, KEYS, seed=3, n_replicates=100), strict=True):
        np.testing.assert_array_equal(one, other)
    assert sizes == {20}


def test_listeners_hear_how_far_it_is():
    heard = []
    with heard_by(lambda *said: heard.append(said)):
        replicates_of(sums, KEYS, seed=3, n_replicates=BLOCK + 2)
    assert heard == [(done, BLOCK + 2, "replicates") for done in (0, BLOCK, BLOCK + 2)]


def test_exceptions_pass():
    def fails(_weights):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        replicates_of(fails, KEYS, seed=3, n_replicates=1000)
