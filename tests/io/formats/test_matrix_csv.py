"""Wide tables of trials, made by hand and by NumPy."""

import csv

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban import FormatError
from deciban.io import read_contents
from support.text_formats import names_of, read_bytes

SCORES = b"id,x,y,z\nann,1.5,-2,0.25\nbob,-1,,inf\n"


def read(data, **options):
    return read_bytes(data, format="matrix-csv", **options)


def test_scores_stand_in_the_row_of_their_enrolment():
    contents = read(SCORES)
    assert contents.kinds == ("scores", "index")
    assert names_of(contents.index.trials) == [("ann", "x"), ("ann", "y"), ("ann", "z"), ("bob", "x"), ("bob", "z")]
    assert contents.scores.score.tolist() == [1.5, -2.0, 0.25, -1.0, np.inf]
    full = read(b"\tx\ty\nann\t1\t2\nbob\t3\t4\n")
    assert full.scores.score.tolist() == [1, 2, 3, 4]
    assert full.index.trials.mask is None
    assert "tabs" in full.origin.reading


@pytest.mark.parametrize(
    ("cells", "target"),
    [
        (b"ann,target,nontarget,\nbob,nontarget,target,\n", [True, False, False, True]),
        (b"ann,1,-1,0\nbob,-1,1,0\n", [True, False, False, True]),
        (b"ann,1,0,\nbob,0,1,\n", [True, False, False, True]),
        (b"ann,TRUE,FALSE,\nbob,FALSE,TRUE,\n", [True, False, False, True]),
    ],
)
def test_keys(cells, target):
    key = read(b"id,x,y,z\n" + cells, need="key").key
    assert names_of(key.trials) == [("ann", "x"), ("ann", "y"), ("bob", "x"), ("bob", "y")]
    assert key.is_target.tolist() == target


def test_words_of_the_user():
    labels = {"target": "yes", "nontarget": "no"}
    assert read(b"id,x,y\nann,yes,no\n", need="key", labels=labels).key.is_target.tolist() == [True, False]
    with pytest.raises(FormatError, match=r":2: unknown label 'no' in column 'y'.*labels="):
        read(b"id,x,y\nann,target,no\n", need="key")
    with pytest.raises(FormatError, match="unknown label '-1'"):
        read(b"id,x,y\nann,1,-1\n", need="key", labels=labels | {"target": "1"})


def test_a_file_says_itself_whether_it_holds_words():
    assert read(b"id,x,y\nann,target,nontarget\n").kinds == ("key", "index")
    assert read(SCORES).kinds == ("scores", "index")


@given(st.data())
def test_any_matrix_comes_back(tmp_path_factory, data):
    n_rows, n_columns = data.draw(st.integers(1, 6)), data.draw(st.integers(1, 6))
    cells = st.none() | st.floats(allow_nan=False)
    matrix = data.draw(
        st.lists(st.lists(cells, min_size=n_columns, max_size=n_columns), min_size=n_rows, max_size=n_rows)
    )
    path = tmp_path_factory.mktemp("wide") / "wide.csv"
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["", *(f'c "{at}", {at}' for at in range(n_columns))])
        for at, row in enumerate(matrix):
            writer.writerow([f"r,{at}", *("" if cell is None else repr(cell) for cell in row)])
    expected = [(f"r,{i}", f'c "{j}", {j}', cell) for i, row in enumerate(matrix) for j, cell in enumerate(row)]
    expected = [one for one in expected if one[2] is not None]
    if not expected:
        with pytest.raises(FormatError, match="contains no trials"):
            read_contents(path, format="matrix-csv", need="scores")
        return
    scores = read_contents(path, format="matrix-csv", need="scores").scores
    assert [(*names, s) for names, s in zip(names_of(scores.trials), scores.score.tolist(), strict=True)] == expected


def test_a_matrix_of_a_spreadsheet(tmp_path):
    """With a byte order mark and line ends of Windows."""
    score = np.random.default_rng(0).normal(size=(300, 40))
    lines = [f"r{i}," + ",".join(map(repr, row)) for i, row in enumerate(score.tolist())]
    path = tmp_path / "large.csv"
    path.write_bytes(b"\xef\xbb\xbf" + "\r\n".join(["id," + ",".join(f"c{j}" for j in range(40)), *lines]).encode())
    scores = read_contents(path, format="matrix-csv", need="scores").scores
    assert scores.score.tolist() == score.ravel().tolist()
    assert names_of(scores.trials)[41] == ("r1", "c1")
    with path.open("ab") as stream:
        stream.write(b"\nlast," + b"1," * 39 + b"high\n")
    with pytest.raises(FormatError, match=r":302: the score 'high' is not a number.*column 'c39' of 'last'"):
        read_contents(path, format="matrix-csv", need="scores")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "expected a first line"),
        (b"id\nann\n", "expected a first line"),
        (b"id,x,y\n", "contains no trial"),
        (b"id,x,y\nann,,\n", "contains no trials"),
        (b"id,x,x\nann,1,2\n", "a second column 'x', in column 3"),
        (b"id,x,\nann,1,2\n", "no name of a test segment, in column 3"),
        (b"id,x\nann,1\nann,2\n", "repeat another one, the first 'ann'"),
        (b"id,x\nann,1\n,2\n", ":3: the name of the enrolment is empty"),
        (b"id,x\nann,1\nbob,1,2\n", ":3: expected 2 columns, got 3"),
        (b"id,x\nann,1\nbob,nan\n", r":3: the score is NaN \(leave the cell empty"),
        (b"id,x\nann,1\nbob,1e999\n", ":3: the score '1e999' exceeds the largest float"),
        (b"id,x\nann,1\nbob,0x10\n", ":3: the score '0x10' is not a number"),
        (b"id,\xf6\nann,1\n", ":1: not UTF-8"),
        (b"id,x\nann,1\n\xf6,1\n", "UTF"),
        (
            b"id," + b",".join(b"c%d" % i for i in range(99)) + b"\nann," + b",".join(b"w%d" % i for i in range(99)),
            "not labels",
        ),
    ],
)
def test_hostile_tables(data, message):
    with pytest.raises(FormatError, match=message):
        read(data, need="key" if b"w98" in data else "scores")


def test_columns_are_not_named():
    with pytest.raises(FormatError, match="Leave the columns out"):
        read(SCORES, columns="trial=id,score=x")
