"""Score files of 3D-Speaker."""

import pytest
from hypothesis import given

from deciban import FormatError
from deciban.io.formats import Contents
from deciban.trials import Scores
from support.text_formats import again, assert_same, golden, names_of, read_bytes, tables, written


def test_scores_with_labels():
    contents = golden("3d-speaker.both")
    assert contents.origin.reading == "3d-speaker 'enroll test label score'"
    assert names_of(contents.scores.trials)[1] == ("id10270-x6uY-00001", "id10300-ize_-00003")
    assert contents.scores.score.tolist() == [0.73121, 0.10577]
    assert contents.key.is_target.tolist() == [True, False]


@given(tables(kinds=("scores", "key")))
def test_scores_with_labels_come_back(contents):
    assert_same(again(contents, "3d-speaker", "scores"), contents)


def test_scores_without_labels_do_not_fit():
    scores = Scores.of({"enroll": ["a"], "test": ["x"]}, [1.0])
    with pytest.raises(FormatError, match="3d-speaker also needs label, which trials lacks"):
        written(Contents.of(scores), "3d-speaker")


def test_hostile_lines():
    with pytest.raises(FormatError, match=":2: the score 'nontarget' is not a number"):
        read_bytes(b"a x target 1\nb y 1 nontarget\n", need="scores", format="3d-speaker")
