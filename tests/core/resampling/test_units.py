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
    assert (units.n_units, units.noun) == (3, "trial")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([0.5, 1.0], "units must be words or whole numbers"),
        ([[["a"]]], r"shape \(1, 1, 1\)"),
        ([["a", "b", "c"]], r"shape \(1, 3\)"),
    ],
)
def test_what_names_no_units(values, message):
    with pytest.raises(InputError, match=message):
        TrialUnits.of(values)


def test_words_and_numbers_do_not_mix():
    with pytest.raises(InputError, match="tar_units, non_units: some are words and some are numbers"):
        together([(["a"], "tar_units"), ([1], "non_units")])


@given(st.lists(st.integers(-(2**53), 2**53), max_size=20))
def test_numbers_and_the_words_that_spell_them_are_the_same_units(numbers):
    words = [str(number) for number in numbers]
    short = [k for k, word in enumerate(words) if len(word.removeprefix("-")) < 17]
    assert keys_of(np.array(numbers, np.int64))[short].tolist() == keys_of(np.array(words, np.str_))[short].tolist()


def test_words_that_look_like_numbers_but_are_spelt_otherwise_are_other_units():
    words = ["7", "07", "7.0", " 7", "-7", "+7", "\N{ARABIC-INDIC DIGIT SEVEN}", "7" * 30, "", "-"]
    assert len(set(keys_of(words).tolist())) == len(words)


def test_one_column_and_bytes_and_whole_floats_are_what_they_say():
    plain = TrialUnits.of([3, 5, 3])
    for same in ([[3], [5], [3]], [3.0, 5.0, 3.0], np.array([3, 5, 3], np.uint8)):
        assert TrialUnits.of(same).keys.tolist() == plain.keys.tolist()
        assert [side.tolist() for side in TrialUnits.of(same).codes] == [[0, 1, 0]]
    accents = np.array(["é".encode(), b"b"])
    assert TrialUnits.of(accents).keys.tolist() == TrialUnits.of(["é", "b"]).keys.tolist()


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([1.5, 2.0], "whole numbers"),
        ([np.nan, 1.0], "whole numbers"),
        ([np.inf, 1.0], "whole numbers"),
        (np.array([2**63 + 1, 1], np.uint64), "whole numbers"),
        (["ann", None], "no unit at index 1"),
        (np.array([["ann", "bob"], ["cid", np.nan]], object), "no unit at index 1"),
        (np.zeros((2, 3), int), "shape"),
        (np.zeros((1, 2, 2), int), "shape"),
        (np.array(["2020-01-01"], "datetime64[D]"), "datetime64"),
        (np.array([1j]), "complex"),
    ],
)
def test_what_names_no_unit_is_refused(values, words):
    with pytest.raises(InputError, match=words) as found:
        TrialUnits.of(values, "tar_units")
    assert str(found.value).startswith("tar_units: ")


def test_an_empty_class_goes_with_either():
    tar, non = together([([], "tar_units"), (["ann"], "non_units")])
    assert (tar.n_trials, non.n_units) == (0, 1)


@given(st.lists(st.integers(-20, 20), min_size=1, max_size=60), st.sampled_from([1, 10**6]))
def test_numbers_that_lie_close_together_are_told_apart_like_others(numbers, factor):
    array = factor * np.array(numbers)
    units = TrialUnits.of(array)
    names = np.array(sorted(set(array.tolist())))
    assert units.codes[0].tolist() == [names.tolist().index(one) for one in array]
    assert units.keys.tolist() == keys_of(names).tolist()
