"""Sums of weights are exact and the same in any order: fractions of integers say what they have to be."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban.core.ranks.counts import aligned, digits_of, summed_by_code, whole_or_float
from deciban.errors import InputError

_WEIGHTS = st.lists(st.floats(1e-20, 1e20) | st.integers(1, 2**40).map(float), min_size=1, max_size=40)


def added(weights):
    return summed_by_code(weights, [np.zeros(len(weights), np.int64)], 1)[0], digits_of(weights)


@given(_WEIGHTS)
def test_sums_are_exact(weights):
    sums, places = added(np.array(weights))
    found = sum(Fraction(int(one)) * Fraction(2) ** (26 * place) for one, place in zip(sums[:, 0], places, strict=True))
    assert found == sum(map(Fraction, weights))
    assert whole_or_float(sums, places.start)[0] == pytest.approx(float(found), rel=1e-15)


@given(_WEIGHTS, _WEIGHTS)
def test_parts_add_up_to_the_whole(one, other):
    parts = [added(np.array(some)) for some in (one, other)]
    (a, b), place = aligned([(sums, places.start) for sums, places in parts])
    together, places = added(np.array([*other, *one]))
    (whole,), lowest = aligned([(together, places.start)])
    assert lowest == place
    assert np.array_equal(a + b, whole)


@given(st.lists(st.integers(1, 2**40), min_size=1, max_size=20))
def test_whole_weights_stay_whole(weights):
    sums, places = added(np.array(weights, np.float64))
    found = whole_or_float(sums, places.start)
    assert found.dtype == np.int64
    assert found.tolist() == [sum(weights)]


def test_weights_that_differ_too_much_are_refused():
    with pytest.raises(InputError, match=r"weights: between 1e-200 and 1e\+200"):
        digits_of(np.array([1e-200, 1e200]))
