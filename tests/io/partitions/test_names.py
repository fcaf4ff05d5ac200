"""Names of trials in batches as numbers: those that units in memory have."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban.core.resampling.units import keys_of
from deciban.io.formats import RowError
from deciban.io.partitions import units as names_of_partitions
from deciban.io.partitions.units import keys_of_sides
from deciban.trials.units import keys_of_trials

NOTHING_KNOWN = names_of_partitions._known


def test_names_have_the_numbers_of_units():
    names = pa.table(
        {"a": ["x", "7", "x"], "b": pa.array([7, 8, 7]), "c": pa.array(["l", "r", "l"]).dictionary_encode()}
    )
    one, other = keys_of_sides(names, ["a", "b"])
    np.testing.assert_array_equal(one, keys_of(["x", "7", "x"]))
    np.testing.assert_array_equal(other, keys_of([7, 8, 7]))
    assert one[1] == other[0]
    _, channels = keys_of_sides(names, ["a", "b", "c"])
    np.testing.assert_array_equal(channels, keys_of_trials([other, keys_of(["l", "r", "l"])]))
    assert channels[0] != other[0]


@pytest.mark.parametrize("lacking", [None, ""])
def test_a_row_without_a_name_is_told(lacking):
    with pytest.raises(
        RowError,
        match=r"the name of the test is missing \(column b\)|no value in column 'b', which contains names of trials",
    ) as error:
        keys_of_sides(pa.table({"a": ["x", "y"], "b": ["x", lacking]}), ["a", "b"])
    assert error.value.row == 1


@given(st.lists(st.lists(st.sampled_from([f"n{k}" for k in range(40)] + ["7", "-3", "007", ""]), unique=True)))
def test_numbers_that_are_remembered_are_those_that_were_made(partitions):
    """Also where other names have the fingerprint of one that is known."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(names_of_partitions, "_known", NOTHING_KNOWN)
        patch.setattr(names_of_partitions, "_FEW", 0)
        patch.setattr(names_of_partitions, "_ROOM", 200)
        patch.setattr(names_of_partitions, "fingerprints", lambda names: np.arange(len(names), dtype=np.uint64) % 3)
        for one in partitions:
            found = names_of_partitions.keys_of_names(pa.array(one, pa.string()))
            np.testing.assert_array_equal(found, keys_of(one) if one else [])
        assert names_of_partitions._known.names.nbytes <= 200
