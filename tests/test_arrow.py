"""Conversions agree with pyarrow's own, pieces and slices and gaps included."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban._arrow import constant, joined, lengths, of_bytes, of_numpy, of_words, pc, to_numpy, with_gaps

NUMBERS = ["int8", "int32", "int64", "uint8", "uint64", "float32", "float64", "bool"]
PARTS = st.lists(st.lists(st.integers(0, 1), max_size=20), max_size=4)


@given(parts=PARTS, kind=st.sampled_from(NUMBERS), start=st.integers(0, 9))
def test_numbers_come_back(parts, kind, start):
    arrays = [np.array(part, kind) for part in parts]
    columns = [of_numpy(array) for array in arrays]
    for array, column in zip(arrays, columns, strict=True):
        assert column.equals(pa.array(array))
        column.validate(full=True)
        found = to_numpy(column.slice(start))
        assert found.dtype == array.dtype
        np.testing.assert_array_equal(found, array[start:])
        assert not found.flags.writeable
    whole = to_numpy(pa.chunked_array(columns, pa.from_numpy_dtype(kind)))
    np.testing.assert_array_equal(whole, np.concatenate(arrays) if arrays else [])
    assert whole.dtype == np.dtype(kind)


@given(st.lists(st.one_of(st.none(), st.integers(0, 1)), max_size=20), st.sampled_from(NUMBERS), st.integers(0, 9))
def test_gaps(values, kind, start):
    lacking = np.array([value is None for value in values], np.bool_)
    column = of_numpy(np.array([value or 0 for value in values], kind), lacking)
    assert column.to_pylist() == values
    column = column.slice(start)
    filled = with_gaps(column, 1)
    assert filled.dtype == np.dtype(kind)
    assert filled.tolist() == [1 if value is None else value for value in values[start:]]
    if kind.startswith("float"):
        np.testing.assert_array_equal(to_numpy(column), column.to_numpy(zero_copy_only=False))


def test_what_is_no_plain_number_is_left_to_pyarrow():
    assert to_numpy(pa.array(["a", "b"])).tolist() == ["a", "b"]
    assert of_numpy(np.array(["a", "b"])).to_pylist() == ["a", "b"]
    assert of_numpy(np.array([1, 2], ">i4")).to_pylist() == [1, 2]
    assert of_numpy(np.arange(10)[::3]).to_pylist() == [0, 3, 6, 9]


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]))), st.integers(0, 5))
def test_words(words, start):
    column = of_words(words)
    column.validate(full=True)
    assert column.equals(pa.array(words, pa.string()))
    encoded = [word.encode() for word in words]
    assert of_bytes(encoded).equals(pa.array(encoded, pa.binary()))
    assert lengths(column.slice(start)).tolist() == [len(word) for word in encoded[start:]]
    assert lengths(column.cast(pa.large_string()).slice(start)).tolist() == [len(word) for word in encoded[start:]]
    assert joined(column, "; ").to_pybytes() == b"; ".join(encoded)


@pytest.mark.parametrize("value", ["", "word", b"bytes", 2.5, 3, True])
def test_constants(value):
    found = constant(value)
    assert isinstance(found, pa.Scalar)
    assert found.as_py() == value
    assert pc.equal(pa.array([value]), found).to_pylist() == [True]
