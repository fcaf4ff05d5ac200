"""Score files of wespeaker."""

import pytest
from hypothesis import given

from deciban import FormatError
from support.text_formats import again, assert_same, golden, names_of, read_bytes, tables


def test_scores_with_labels():
    contents = golden("wespeaker.both")
    assert contents.origin.reading == "wespeaker 'enroll test score label'"
    assert names_of(contents.scores.trials)[0] == ("id10270/x6uY/00001.wav", "id10270/8jEA/00008.wav")
    assert contents.scores.score.tolist() == [0.73121, 0.10577, 0.10577]
    assert contents.key.is_target.tolist() == [True, False, False]


def test_scores_alone():
    assert golden("wespeaker.scores", format="wespeaker").scores.score.tolist() == [0.73121]


@given(tables(kinds=("scores", "key")))
def test_scores_with_labels_come_back(contents):
    assert_same(again(contents, "wespeaker", "scores"), contents)


@given(tables(kinds=("scores",)))
def test_scores_come_back(contents):
    assert_same(again(contents, "wespeaker", "scores"), contents)


def test_hostile_lines():
    with pytest.raises(FormatError, match=":2: unknown label 'maybe'"):
        read_bytes(b"a x 1 target\nb y 2 maybe\n", need="scores", format="wespeaker")
    with pytest.raises(FormatError, match=":2: expected 4 columns .*, got 3"):
        read_bytes(b"a x 1 target\nb y 2\n", need="scores", format="wespeaker")
