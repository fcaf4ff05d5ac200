"""Trials to draw: the same ones for every order and every way to cut the trials into parts."""

import functools
import operator

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from deciban.core.class_counts import ClassSample


@given(st.integers(0, 2**32 - 1))
def test_parts_tell_what_is_shown_of_all(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 300))
    loglik, label = np.round(rng.normal(size=(n, 3)), rng.integers(0, 4)), rng.integers(0, 3, n)
    whole, order = ClassSample.of(loglik, label, 7), rng.permutation(n)
    parts = [ClassSample.of(loglik[rows], label[rows], 7) for rows in np.array_split(order, 4)]
    together = functools.reduce(operator.add, parts)
    np.testing.assert_array_equal(whole.loglik, together.loglik)
    np.testing.assert_array_equal(whole.label, together.label)
    np.testing.assert_array_equal(np.bincount(whole.label, minlength=3), np.minimum(np.bincount(label, minlength=3), 7))


def test_what_is_shown_looks_like_all():
    rng = np.random.default_rng(1)
    loglik = rng.normal(size=(50_000, 3))
    shown = ClassSample.of(loglik, np.zeros(50_000, np.int64), 1000)
    assert abs(shown.loglik.mean()) < 0.1
    assert abs(shown.loglik.std() - 1.0) < 0.1
