"""The trial lists of VoxCeleb."""

import pytest
from hypothesis import given

from deciban import FormatError
from deciban.io.formats import Contents
from deciban.trials import Key
from support.text_formats import again, assert_same, golden, names_of, read_bytes, tables, written


def test_key():
    contents = golden("voxceleb.key")
    assert contents.origin.reading == "voxceleb 'label enroll test'"
    assert names_of(contents.key.trials)[1] == ("id10270/x6uYqmx31kE/00001.wav", "id10300/ize_eiCFEg0/00003.wav")
    assert contents.key.is_target.tolist() == [True, False]


def test_words():
    key = Key.of({"enroll": ["a", "a"], "test": ["x", "y"]}, [True, False])
    assert written(Contents.of(key), "voxceleb") == b"1 a x\n0 a y\n"


@given(tables(kinds=("key",)))
def test_keys_come_back(contents):
    assert_same(again(contents, "voxceleb", "key"), contents)


@pytest.mark.parametrize(
    ("text", "message"),
    [(b"1 a x\n2 a y\n", ":2: unknown label '2'"), (b"1 a x\n0 a\n", ":2: expected 3 columns .*, got 2")],
)
def test_hostile_lines(text, message):
    with pytest.raises(FormatError, match=message):
        read_bytes(text, need="key", format="voxceleb")
