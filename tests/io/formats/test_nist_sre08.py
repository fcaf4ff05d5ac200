"""Keys of the NIST speaker recognition evaluations of 2008 and 2010."""

import pytest
from hypothesis import given

from deciban import FormatError
from deciban.io.formats import Contents
from deciban.trials import Key
from support.text_formats import again, assert_same, golden, names_of, read_bytes, tables, written

SIDES = ("enroll", "test", "side")


def test_key():
    key = golden("nist-sre08.key", format="nist-sre08").key
    assert names_of(key.trials) == [("10001", "tabcd", "a"), ("10002", "tabce", "b")]
    assert key.is_target.tolist() == [False, True]


def test_more_columns_are_named():
    text = b"model,segment,channel,trial,note\n10001,tabcd,a,nontarget,x\n10002,tabce,b,target,y\n"
    with pytest.raises(FormatError, match="not nist-sre08"):
        read_bytes(text, need="key", format="nist-sre08")
    named = {"enroll": "model", "test": "segment", "side": "channel", "label": "trial"}
    assert read_bytes(text, need="key", columns=named).key.n_tar == 1


def test_what_is_written():
    key = Key.of({"enroll": ["m"], "test": ["s"], "side": ["a"]}, [True])
    assert written(Contents.of(key), "nist-sre08") == b"modelid,segmentid,channel,targettype\nm,s,a,target\n"


@given(tables(kinds=("key",), sides=SIDES, delimiter=","))
def test_keys_come_back(contents):
    assert_same(again(contents, "nist-sre08", "key"), contents)


def test_hostile_lines():
    with pytest.raises(FormatError, match=":3: expected 4 columns .*, got 2"):
        read_bytes(b"a,b,c,d\nm,s,a,target\nm,s\n", need="key", format="nist-sre08")
    with pytest.raises(FormatError, match=":2: unknown label 'x'"):
        read_bytes(b"a,b,c,d\nm,s,a,x\n", need="key", format="nist-sre08")
