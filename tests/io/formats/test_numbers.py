"""Plain lists of numbers: one score on each line, trials without names."""

import gzip
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban import FormatError, Scores, read_scores, write
from deciban.io.recognition import readable_as
from deciban.trials import Trials
from support.text_formats import bits, golden, names_of, read_bytes, written

FLOATS = st.lists(st.floats(allow_nan=False), min_size=1, max_size=30)


def test_a_list_by_hand():
    contents = golden("numbers.scores")
    assert contents.origin.reading == "numbers 'score'"
    assert contents.scores.score.tolist() == [2.125, -0.5, 0.001, math.inf]
    assert names_of(contents.scores.trials) == [("0",), ("1",), ("2",), ("3",)]
    assert contents.kinds == ("scores", "index")


@given(FLOATS)
def test_numbers_come_back_to_the_bit(values):
    scores = Scores(Trials.of_rows(len(values)), np.array(values))
    back = read_bytes(written(scores, "numbers"), format="numbers", need="scores")
    assert bits(back.scores.score) == bits(values)


def test_what_numpy_writes(tmp_path):
    values = np.random.default_rng(0).normal(size=50)
    np.savetxt(tmp_path / "s.txt", values)
    assert read_scores(tmp_path / "s.txt").score.tolist() == values.tolist()
    (tmp_path / "packed").write_bytes(gzip.compress((tmp_path / "s.txt").read_bytes()))
    assert read_scores(tmp_path / "packed").score.tolist() == values.tolist()
    write(Scores(Trials.of_rows(50), values), tmp_path / "again.txt")
    assert np.loadtxt(tmp_path / "again.txt").tolist() == values.tolist()


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("title", ["score", "llr", '"score"', " Score "])
def test_a_title_that_says_score(title, line_end):
    data = line_end.join([title, "1.5", "-2", ""]).encode()
    assert read_bytes(data, need="scores").scores.score.tolist() == [1.5, -2.0]


def test_another_title_has_to_be_named():
    """It could as well be a score that was misspelt."""
    for title in ("cosine", "1.5e", "O.5"):
        data = f"{title}\n1.5\n-2\n".encode()
        with pytest.raises(FormatError, match=rf":1: '{title}' is no number.*--columns score={title}\."):
            read_bytes(data, need="scores")
        assert read_bytes(data, need="scores", columns=f"score={title}").scores.score.tolist() == [1.5, -2.0]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"1.5\nnan\n", ":2: the score is NaN"),
        (b"1.5\n1,5\n2\n", ":2: "),
        (b"1.5\n2.5 3.5\n0\n", ":2: expected 1 columns"),
        (b"1.5\n1e999\n", ":2: the score '1e999' is beyond the largest float"),
        (b"# nothing\n", "the file is empty"),
        (b"score\n", "cannot tell|holds no trial"),
        (b"ann\nbob\n", "cannot tell which column is the score"),
    ],
)
def test_what_is_no_list_of_numbers_is_refused_with_its_line(data, message):
    with pytest.raises(FormatError, match=message):
        read_bytes(data, need="scores")


def test_numbers_are_never_taken_for_a_key(tmp_path):
    (tmp_path / "labels.txt").write_text("1\n0\n1\n")
    assert readable_as(tmp_path / "labels.txt", ["scores", "key"]) == ("scores",)
    with pytest.raises(FormatError, match=r"one number on each line, but key was asked for.*--tar FILE --non FILE"):
        read_bytes(b"1.5\n2.5\n", need="key")
    key = read_bytes(b"1\n0\n1\n", need="key", columns="label").key
    assert key.is_target.tolist() == [True, False, True]
