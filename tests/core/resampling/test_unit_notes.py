"""What is said of units: how many there are, and which of them no interval can see past."""

import copy
import pickle

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from deciban.core.resampling.units import ClassFacts, TrialUnits, UnitFacts, common_in_words, units_in_words

PAIRS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=6)


@given(PAIRS, st.lists(st.booleans(), min_size=6, max_size=6).filter(any))
def test_a_common_unit_is_one_of_all_sets(pairs, chosen):
    mask = np.array(chosen[: len(pairs)])
    if not mask.any():
        mask[0] = True
    units = TrialUnits.of(pairs)
    sets = [set(pair) for pair, is_in in zip(pairs, mask, strict=True) if is_in]
    found = ClassFacts.of(units, mask)
    assert bool(found.common) == bool(set.intersection(*sets))
    assert found.are_alike == (len({pair for pair, is_in in zip(pairs, mask, strict=True) if is_in}) == 1)


def test_classes_with_a_unit_in_all_trials_are_named():
    units = TrialUnits.of([["ann", "ann"], ["ann", "bob"], ["ann", "cid"], ["ann", "dan"]], noun="speaker")
    target = np.array([True, False, False, False])
    assert sorted(UnitFacts.of(units, target).sharing()) == [0, 1]
    assert UnitFacts.of(units, target, np.array([False, True, True, False])).sharing() == [0]
    said = common_in_words(units.noun, ["targets", "non-targets"])
    assert said.startswith("one speaker is in all targets and in all non-targets")


def test_trials_that_are_units_are_in_no_need_of_words():
    assert UnitFacts.of(TrialUnits.of(["a", "b"]), np.array([True, False])).sharing() == []
    assert UnitFacts.of(TrialUnits.of(["a", "b", "b"]), np.array([True, False, False])).sharing()


def test_counts_are_words():
    assert units_in_words(TrialUnits.of(["x"], source="by y.txt")) == "1 unit, by y.txt"
    assert units_in_words(TrialUnits.each(1200)).startswith("1,200 trials taken as independent: ")


def test_independence_is_a_type_and_no_wording():
    """A source that a user worded alike is none; copies, workers and model files keep the type."""
    worded = TrialUnits.of(["a", "b"], source="lines taken as independent")
    assert not worded.are_independent
    assert "are too narrow" not in units_in_words(worded)
    own = TrialUnits.each(3)
    copied = pickle.loads(pickle.dumps(own))  # noqa: S301  # its own, as workers get it
    for same in (own, own.take([0, 1]), own.only_used(), copied, copy.deepcopy(own)):
        assert same.are_independent
