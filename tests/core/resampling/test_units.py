"""Which units trials belong to, and the numbers that follow from their names."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban import InputError
from deciban.core.resampling.units import TrialUnits, keys_of, mixed_bits, together

NAMES = st.lists(st.text(max_size=3), min_size=1, max_size=8)


@given(NAMES)
def test_equal_names_are_one_unit(names):
    units = TrialUnits.of(names)
    assert units.n_units == len(set(names))
    (codes,) = units.codes
    assert [[a == b for b in codes.tolist()] for a in codes.tolist()] == [[a == b for b in names] for a in names]
    assert units.keys[codes].tolist() == keys_of(names).tolist()


@given(NAMES, NAMES)
def test_names_are_the_same_in_all_sets(one, other):
    first, second = together([(one, "tar_units"), (other, "non_units")])
    assert first.n_units == second.n_units == len({*one, *other})
    assert first.keys[first.codes[0]].tolist() == keys_of(one).tolist()
    assert second.keys[second.codes[0]].tolist() == keys_of(other).tolist()


@given(st.lists(st.integers(-(2**40), 2**40), unique=True, min_size=2, max_size=50))
def test_numbers_have_keys_of_their_own(numbers):
    keys = keys_of(numbers)
    assert len(set(keys.tolist())) == len(numbers)
    assert keys.tolist() == keys_of(np.array(numbers)).tolist()


def test_bits_are_spread_evenly():
    keys = mixed_bits(np.arange(100_000))
    bits = (keys[:, None] >> np.arange(64, dtype=np.uint64)) & np.uint64(1)
    assert np.all(np.abs(bits.mean(axis=0) - 0.5) < 5 * 0.5 / np.sqrt(len(keys)))


def test_splitmix_is_the_published_one():
    """The first outputs of splitmix64 from seed 0, as published with the reference code."""
    expected = [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]
    assert mixed_bits(np.arange(3)).tolist() == expected


def test_some_trials_keep_the_units_of_all():
    units = TrialUnits.of([["a", "b"], ["c", "a"], ["c", "c"]])
    part = units.take(np.array([False, False, True]))
    assert (part.n_trials, part.n_units) == (1, 3)
    used = part.only_used()
    assert (used.n_units, used.keys.tolist()) == (1, keys_of(["c"]).tolist())
    assert [side.tolist() for side in used.codes] == [[0], [0]]
    assert units.only_used() is units


def test_every_trial_by_itself():
    units = TrialUnits.each(3)
    assert (units.n_units, units.are_trials, units.noun) == (3, True, "trial")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([0.5, 1.0], "units are no whole numbers"),
        ([[["a"]]], r"shape \(1, 1, 1\)"),
        ([["a", "b", "c"]], r"shape \(1, 3\)"),
    ],
)
def test_what_names_no_units(values, message):
    with pytest.raises(InputError, match=message):
        TrialUnits.of(values)


def test_words_and_numbers_do_not_mix():
    with pytest.raises(InputError, match="tar_units, non_units: some are words, some numbers"):
        together([(["a"], "tar_units"), ([1], "non_units")])
