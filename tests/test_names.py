"""Names are encoded once, exactly; long columns of different names by fingerprints, with the same answers."""

from contextlib import contextmanager
from unittest import mock

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban import InputError
from deciban import _arrow as coding
from deciban._arrow import as_names, encode, plain_names, positions
from deciban.trials import IdMap, Key, Trials
from support.joins import text

dictionary = pa.DictionaryArray.from_arrays


@pytest.mark.parametrize(
    ("ids", "said"),
    [
        ([1, 2], "names of trials must be text, but got int64"),
        (["a", None], "1 of 2 names are missing"),
        ([b"\xff", b"a"], "names of trials must be text, but got binary"),
        (dictionary(pa.array([0, 1]), pa.array(["a", None])), "1 of 2 names are missing"),
        ("ab", "expected a list of names, got one name: 'ab'"),
        (7, "names of trials must be text, but"),
        (["\ud800", "a"], "names of trials must be text, but"),
    ],
)
def test_names_are_text(ids, said):
    with pytest.raises(InputError, match=f"trial: {said}"):
        Key.of({"trial": ids}, [True, False])


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())]
)
def test_every_kind_of_text_column_is_the_same(kind):
    column = pa.array(["b", "ä", "b", " "]).cast(kind)
    for values in (column, pa.chunked_array([column[:1], column[1:]]), np.array(["b", "ä", "b", " "]), column[:]):
        codes, names = encode(values)
        assert [names[int(code)].as_py() for code in codes] == ["b", "ä", "b", " "]
        assert (codes.dtype, names.type, len(names)) == (np.int32, pa.string(), 3)
    assert plain_names(column).to_pylist() == ["b", "ä", "b", " "]


def test_a_dictionary_may_repeat_and_hold_more():
    column = dictionary(pa.array([3, 0, 1]), pa.array(["a", "b", "a", "c"]))
    codes, names = encode(column)
    assert [names[int(code)].as_py() for code in codes] == ["c", "a", "b"]
    assert sorted(names.to_pylist()) == ["a", "b", "c"]
    assert as_names(dictionary(pa.array([1]), pa.array([None, "a"]))).to_pylist() == ["a"]


def test_the_names_of_a_matrix_are_in_the_order_given_whatever_dictionary_they_have():
    column = dictionary(pa.array([1, 0]), pa.array(["a", "b", "unused"]))
    trials = Trials.of_grid(column, ["x"])
    assert [trials.name_of(row) for row in range(2)] == ["(b, x)", "(a, x)"]


class TestIdMap:
    def test_pairs(self):
        id_map = IdMap.from_columns(["a", "b", "a"], ["x", "x", "x"])
        assert (id_map.left.to_pylist(), id_map.right.to_pylist()) == (["a", "b"], ["x", "x"])
        column = dictionary(pa.array([2, 1]), pa.array(["unused", "a", "b"]))
        id_map = IdMap.from_columns(column, column)
        assert (id_map.left.to_pylist(), id_map.right.to_pylist()) == (["b", "a"], ["b", "a"])

    def test_what_is_refused(self):
        with pytest.raises(InputError, match="m.txt: 'a' is mapped to 'x' and to 'y'"):
            IdMap.from_columns(["b", "a", "a"], ["z", "x", "y"], source="m.txt")
        with pytest.raises(InputError, match="id map: 1 names on the left, 2 on the right"):
            IdMap.from_columns(["b"], ["z", "x"])


@contextmanager
def fingerprinted(bits):
    """Fingerprints for the shortest columns; with few bits most names share theirs with others."""
    mixed, kept = coding._prints, np.uint64(64 - bits)
    with (
        mock.patch.object(coding, "WORTHWHILE", 1),
        mock.patch.object(coding, "_FEW", 0),
        mock.patch.object(coding, "_mostly_distinct", return_value=True),
        mock.patch.object(coding, "_prints", lambda *args: mixed(*args) >> kept << kept),
    ):
        yield


both = pytest.mark.parametrize("bits", [4, 63])


def as_dictionary(names):
    first = {}
    return [first.setdefault(name, len(first)) for name in names], list(first)


@both
@given(st.lists(text), st.lists(text, unique=True), st.integers(0, 2))
def test_fingerprints_encode_as_dictionaries_do(bits, some, distinct, n_more):
    for names in (some, distinct, [*distinct * 4, *some]):
        # Not from the start of the array: a slice must not see its neighbours.
        column = pa.array(["aaaa"] * n_more + names, pa.string()).slice(n_more)
        with fingerprinted(bits):
            codes, first = encode(column)
        assert (codes.tolist(), first.to_pylist()) == as_dictionary(names)


def test_repeated_names_and_equal_fingerprints_are_left_to_hash_tables():
    names = [f"n{i}" for i in range(1000)]
    with fingerprinted(63):
        assert coding.encode_distinct(pa.array(names)) is not None
        assert coding.encode_distinct(pa.array([*names, "n3"])) is None
        assert coding.find_names(pa.array(names[::-1]), pa.array(names)).tolist() == list(range(1000))[::-1]
    with fingerprinted(4):
        assert coding.encode_distinct(pa.array(names)) is None
        assert coding.find_names(pa.array(names), pa.array(names)) is None


@both
@given(st.lists(text), st.lists(text, unique=True, min_size=1), st.integers(0, 2))
def test_fingerprints_find_as_dictionaries_do(bits, names, among, n_more):
    column = pa.array(["aaaa"] * n_more + among, pa.string()).slice(n_more)
    expected = [among.index(name) if name in among else -1 for name in names]
    with fingerprinted(bits):
        assert positions(pa.array(names, pa.string()), column).tolist() == expected
        assert positions(pa.array(among[::-1], pa.string()), column).tolist() == list(range(len(among)))[::-1]


@both
@pytest.mark.parametrize("length", [7, 8, 9, 16, 17, 300, 512])
def test_names_that_differ_in_one_letter_only(bits, length):
    """At the first, the last and the middle byte, and by a byte of zero at the end."""
    plain, half = "x" * length, length // 2
    among = [
        plain,
        "y" + plain[1:],
        plain[:-1] + "y",
        plain[:-1],
        plain[:-1] + "\0",
        plain[:half] + "y" + plain[half + 1 :],
    ]
    with fingerprinted(bits):
        found = positions(pa.array(among[::-1]), pa.array(among))
        assert found.tolist() == list(range(len(among)))[::-1]
        assert encode(pa.array(among))[0].tolist() == list(range(len(among)))


def test_very_long_names_are_left_to_hash_tables():
    names = pa.array(["a", "b" * 513])
    with fingerprinted(63):
        assert coding.encode_distinct(names) is None
        assert coding.find_names(names, names) is None
        assert encode(names)[0].tolist() == [0, 1]
        assert positions(names.take(pa.array([1, 0])), names).tolist() == [1, 0]


def test_long_columns_of_different_names():
    """As they come: past the size from which fingerprints are used."""
    n = coding.WORTHWHILE + 10
    names = pa.array([f"utt_{i:07d}" for i in range(n)])
    order = np.random.default_rng(1).permutation(n)
    shuffled = names.take(pa.array(order))
    codes, distinct = encode(shuffled)
    assert distinct is shuffled
    assert np.array_equal(codes, np.arange(n))
    assert np.array_equal(positions(shuffled, names), order)
    twice = pa.concat_arrays([shuffled, names[:3]])
    codes, distinct = encode(twice)
    assert (len(distinct), len(codes)) == (n, n + 3)
    assert distinct.take(pa.array(codes)).equals(twice)
    assert positions(pa.array(["utt_0000005", "nobody"]), names).tolist() == [5, -1]
    few = pa.array(["a", "b"] * n)
    assert coding.encode_distinct(few) is None
