"""Tables of the NIST language recognition evaluations from 2017 on."""

import math

import pytest
from hypothesis import given

from deciban import FormatError
from deciban.io.contents import Contents
from deciban.trials import ClassScores
from support.text_formats import again, assert_same, conditions_of, golden, names_of, read_bytes, tables, written

SEGMENTS = [("lre17_abcdef.sph",), ("lre17_ghijkl.flac",)]


def test_submission():
    contents = golden("nist-lre.submission", need="class-scores")
    assert contents.origin.reading.startswith("nist-lre")
    assert names_of(contents.class_scores.trials) == SEGMENTS
    assert contents.class_scores.classes == ("ara-acm", "ara-apc", "eng-gbr")
    assert contents.class_scores.score.tolist() == [[-1.25, 2.5, -7.75], [0.0, -math.inf, 1e-3]]


def test_a_submission_is_found_without_saying_what_it_is():
    assert golden("nist-lre.submission").class_scores.classes == ("ara-acm", "ara-apc", "eng-gbr")


def test_key():
    contents = golden("nist-lre.key", need="class-key")
    key = contents.class_key
    assert names_of(key.trials) == SEGMENTS
    assert [key.classes[i] for i in key.label] == ["ara-apc", "eng-gbr"]
    assert conditions_of(key.trials) == {"data_source": ["mls14", "vast"], "speech_duration": ["30", ""]}


def test_what_is_written():
    scores = ClassScores.of({"trial": ["s"]}, ["eng", "fra"], [[0.1, -0.0]])
    assert written(Contents.of(scores), "nist-lre") == b"segmentid\teng\tfra\ns\t0.1\t-0\n"


@given(tables(kinds=("class-scores",), sides=("trial",), delimiter="\t"))
def test_class_scores_come_back(contents):
    assert_same(again(contents, "nist-lre", "class-scores"), contents)


@given(
    tables(kinds=("class-key",), sides=("trial",), delimiter="\t", conditions=("source",)).filter(
        lambda contents: len(set(contents.class_key.label.tolist())) == 2
    )
)
def test_class_keys_come_back(contents):
    assert_same(again(contents, "nist-lre", "class-key"), contents, conditions=("source",))


def test_hostile_lines():
    with pytest.raises(FormatError, match=":3: expected 3 columns .*, got 2"):
        read_bytes(b"segmentid\teng\tfra\na\t1\t2\nb\t1\n", need="class-scores")
    with pytest.raises(FormatError, match=":1002: the score 'x' is not a number"):
        read_bytes(b"segmentid\teng\tfra\n" + b"s\t1\t2\n" * 1000 + b"t\t1\tx\n", need="class-scores")
    with pytest.raises(FormatError, match=":21: the score 'x' is not a number"):
        # One field that is no number does not make a condition of a language.
        read_bytes(b"segmentid\teng\tfra\tdeu\n" + b"s\t1\t2\t3\n" * 19 + b"t\t1\tx\t2\n", need="class-scores")
    with pytest.raises(FormatError, match="nist-lre has a column segmentid of its own"):
        written(Contents.of(ClassScores.of({"trial": ["s"]}, ["eng", "segmentid"], [[0.0, 1.0]])), "nist-lre")
