"""Score files of SpeechBrain."""

import pytest
from hypothesis import given

from deciban import FormatError
from deciban.io.formats import Contents
from deciban.trials import Key, Scores
from support.text_formats import again, assert_same, golden, names_of, read_bytes, tables, written


def test_scores_with_labels():
    contents = golden("speechbrain.both", format="speechbrain")
    assert contents.origin.reading == "speechbrain 'enroll test label score'"
    assert names_of(contents.scores.trials)[1] == ("id10270/x6uY/00001", "id10300/ize_/00003")
    assert contents.scores.score.tolist() == [0.731214, 0.105771]
    assert contents.key.is_target.tolist() == [True, False]


def test_the_columns_are_found_without_a_name():
    assert golden("speechbrain.both").key.is_target.tolist() == [True, False]


def test_words():
    ids = {"enroll": ["a", "a"], "test": ["x", "y"]}
    scores, key = Scores.of(ids, [1.0, -0.5]), Key.of(ids, [True, False])
    assert written(Contents.of(scores, key), "speechbrain") == b"a x 1 1\na y 0 -0.5\n"


@given(tables(kinds=("scores", "key")))
def test_scores_with_labels_come_back(contents):
    assert_same(again(contents, "speechbrain", "scores"), contents)


def test_hostile_lines():
    with pytest.raises(FormatError, match=":2: unknown label '-1'"):
        read_bytes(b"a x 1 0.5\nb y -1 0.25\nc z 0 1.5\n", need="scores", format="speechbrain")
