"""Kaldi's trials and scores, which are BOSARIS text, too."""

import pytest
from hypothesis import given

from deciban import FormatError
from support.text_formats import again, assert_same, golden, names_of, read_bytes, tables, written


def test_scores():
    contents = golden("kaldi.scores")
    assert contents.origin.reading == "kaldi 'enroll test score'"
    assert names_of(contents.scores.trials)[1:] == [
        ("id10270-5r0d-00001", "id10300-ize_-00003"),
        ("id10270-5r0d-00001", "id10300-ize_-00004"),
    ]
    assert contents.scores.score.tolist() == [12.84756, -3.5, -float("inf")]


def test_key_and_index():
    assert golden("kaldi.key").key.is_target.tolist() == [True, False]
    trials = [("id10270-5r0d-00001", "id10270-8jEA-00038"), ("id10270-5r0d-00001", "id10300-ize_-00003")]
    assert names_of(golden("kaldi.index").index.trials) == trials
    for file in ("kaldi.key", "kaldi.scores"):
        assert names_of(golden(file, need="index").index.trials)[:2] == trials


def test_sides_may_be_swapped():
    contents = golden("kaldi.key", columns="test,enroll,label")
    assert names_of(contents.key.trials)[0] == ("id10270-8jEA-00038", "id10270-5r0d-00001")


@given(tables(kinds=("scores",)))
def test_scores_come_back(contents):
    assert_same(again(contents, "kaldi", "scores"), contents)


@given(tables(kinds=("key",)))
def test_keys_come_back(contents):
    assert_same(again(contents, "kaldi", "key"), contents)


@given(tables(kinds=("index",)))
def test_indexes_come_back(contents):
    assert_same(again(contents, "kaldi", "index"), contents)


@given(tables(kinds=("scores", "key")))
def test_labels_make_way_for_scores(contents):
    assert b"target" not in b" ".join(line.split()[-1] for line in written(contents, "kaldi").splitlines())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"a x 1\nb y\n", ":2: expected 3 columns .*, got 2"),
        (b"a x 1\nb y 2 3\n", ":2: expected 3 columns .*, got 4"),
        (b"a x target\nb y nontarget\nc z other\n", ":3: unknown label 'other'"),
        (b"a x 1\nb y 1e\n", ":2: the score '1e' is not a number"),
        (b"a x nan\n", ":1: the score is NaN"),
    ],
)
def test_hostile_lines(text, message):
    with pytest.raises(FormatError, match=message):
        read_bytes(text, need="key" if b"target" in text else "scores", format="kaldi")
