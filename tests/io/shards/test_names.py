"""Names of trials in pieces as numbers: those that units in memory have."""

import numpy as np
import pyarrow as pa
import pytest

from deciban.core.resampling.units import keys_of
from deciban.io.contents import RowError
from deciban.io.shards.names import channel_keys, keys_of_sides


def test_names_have_the_numbers_of_units():
    names = pa.table(
        {"a": ["x", "7", "x"], "b": pa.array([7, 8, 7]), "c": pa.array(["l", "r", "l"]).dictionary_encode()}
    )
    one, other = keys_of_sides(names, ["a", "b"])
    np.testing.assert_array_equal(one, keys_of(["x", "7", "x"]))
    np.testing.assert_array_equal(other, keys_of([7, 8, 7]))
    assert one[1] == other[0]
    _, channels = keys_of_sides(names, ["a", "b", "c"])
    np.testing.assert_array_equal(channels, channel_keys(other, keys_of(["l", "r", "l"])))
    assert channels[0] != other[0]


@pytest.mark.parametrize("lacking", [None, ""])
def test_a_row_without_a_name_is_told(lacking):
    with pytest.raises(RowError, match="column b is empty") as error:
        keys_of_sides(pa.table({"a": ["x", "y"], "b": ["x", lacking]}), ["a", "b"])
    assert error.value.row == 1
