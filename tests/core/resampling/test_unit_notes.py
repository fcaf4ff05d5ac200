"""What is said of units: how many there are, and which of them no interval can see past."""

import copy
import pickle

from deciban.core.resampling.units import TrialUnits, units_in_words


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
