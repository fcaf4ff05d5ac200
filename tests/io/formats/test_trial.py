"""Lists of trials with one name."""

import pytest
from hypothesis import given

from deciban import FormatError
from support.text_formats import again, assert_same, golden, names_of, read_bytes, tables


def test_every_line():
    scores = golden("trial.scores")
    assert scores.origin.reading == "trial 'trial score'"
    assert (names_of(scores.scores.trials), scores.scores.score.tolist()) == (
        [("LA_T_2834763",), ("LA_T_8877452",)],
        [1.5, -2.25],
    )
    assert golden("trial.key").key.is_target.tolist() == [True, False]
    for name in ("trial.label-score", "trial.score-label"):
        contents = golden(name)
        assert names_of(contents.key.trials) == [("utt-1",), ("utt-2",)]
        assert contents.key.is_target.tolist() == [True, False]
        assert contents.scores.score.tolist() == [1.5, -2.25]


def test_index():
    assert names_of(golden("trial.index", format="trial", need="index").index.trials) == [("utt-1",), ("utt-2",)]


@pytest.mark.parametrize("kinds", [("scores",), ("key",), ("scores", "key"), ("index",)])
def test_tables_come_back(kinds):
    @given(tables(kinds=kinds, sides=("trial",)))
    def check(contents):
        assert_same(again(contents, "trial", kinds[0]), contents)

    check()


def test_hostile_lines():
    with pytest.raises(FormatError, match=":2: expected 2 columns .*, got 1"):
        read_bytes(b"a 1\nb\n", need="scores", format="trial")
    with pytest.raises(FormatError, match=":2: unknown label 'dubious'"):
        read_bytes(b"a bonafide\nb dubious\n", need="key", format="trial")
