"""Plain lists of numbers or labels, of trials that are known by their rows."""

import gzip

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import deciban
from deciban import FormatError, KeyMismatchError, read_scores, write
from deciban.io.formats import Contents
from deciban.trials import Key, Scores, Trials
from support.text_formats import again, bits, golden, read_bytes, written


def test_scores_and_labels():
    scores = golden("rows.scores", need="scores")
    assert scores.origin.reading == "rows 'score'"
    assert scores.scores.score.tolist() == [1.5, -2.25, 0.125]
    assert scores.index.trials.sides == ("row",)
    assert golden("rows.key", need="key").key.is_target.tolist() == [True, False, True]


@given(st.lists(st.floats(allow_nan=False), min_size=1, max_size=20))
def test_numbers_are_written_as_they_are(score):
    scores = Scores(Trials.of_rows(len(score)), np.array(score), "system")
    assert bits(again(Contents.of(scores), "rows", "scores").scores.score) == bits(score)


def test_labels_are_written_as_words():
    key = Key(Trials.of_rows(2), np.array([True, False]))
    assert written(key, "rows") == b"target\nnontarget\n"


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
        with pytest.raises(FormatError, match=rf"(?s):1: unclear .*'{title}'.*columns=.score={title}."):
            read_bytes(data, need="scores")
        assert read_bytes(data, need="scores", columns=f"score={title}").scores.score.tolist() == [1.5, -2.0]


@pytest.mark.parametrize("labels", ["numpy", "words", "numbers", "column"])
def test_scores_meet_a_key_of_as_many_rows(tmp_path, labels):
    truth = np.array([True, False, True, False])
    (tmp_path / "scores.txt").write_text("2\n-1\n1\n1.5\n")
    key = tmp_path / ("key.npy" if labels == "numpy" else "key.csv")
    if labels == "numpy":
        np.save(key, truth)
    else:
        words = ["target", "nontarget"] if labels == "words" else ["1", "0"]
        header = "label\n" if labels == "column" else ""
        key.write_text(header + "".join(words[not one] + "\n" for one in truth))
    result = deciban.evaluate_files(tmp_path / "scores.txt", key).systems[0]
    assert (result.n_tar, result.n_non) == (2, 2)
    assert result.auc == 0.75  # of the four pairs, (1, 1.5) is in the wrong order


def test_lengths_must_agree(tmp_path):
    (tmp_path / "scores.txt").write_text("2\n-1\n1\n")
    np.save(tmp_path / "key.npy", np.array([True, False]))
    with pytest.raises(KeyMismatchError, match=r"scores.txt has 3 rows, .*key.npy 2"):
        deciban.evaluate_files(tmp_path / "scores.txt", tmp_path / "key.npy")


@pytest.mark.parametrize(
    ("lines", "need", "message"),
    [
        (b"1.5\n2\nhigh\n" + b"1\n" * 20, "scores", ":3: the score 'high' is not a number"),
        (b"1.5\nnan\n", "scores", ":2: the score is NaN"),
        (b"1.5\n1,5\n2\n", "scores", ":2: "),
        (b"1.5\n1e999\n", "scores", ":2: the score '1e999' exceeds the largest float"),
        (b"# nothing\n", "scores", "the file is empty"),
        (b"score\n", "scores", ":1: contains a header, 'score', and no row"),
        (b"1.5\n2 3\n" + b"1\n" * 20, "scores", ":2: expected 1 columns .*, got 2"),
        (b"a\nb\n", "scores", ":1: unclear which column is the score"),
        (b"0\n1\n", None, "could be rows 'score' or rows 'label'"),
        (b"a\nb\n", "index", "which columns name the trials"),
    ],
)
def test_hostile_lists(lines, need, message):
    with pytest.raises(FormatError, match=message):
        read_bytes(lines, need=need)


def test_numbers_that_are_no_labels_are_said_to_be_scores():
    with pytest.raises(
        FormatError, match=r"one number on each line, but a key is needed.*key_columns=.label.*tar=FILE, non=FILE"
    ):
        read_bytes(b"1.5\n2.5\n", need="key")
