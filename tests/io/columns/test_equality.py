"""Targets by the equality of two columns, in text and in tables with typed columns alike."""

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import deciban
from deciban import FormatError, InputError, read_key, read_scores
from deciban.io import read_contents
from deciban.io.columns.headers import compared
from deciban.io.formats import RowError, same_names

NAMES = ["ann", "Ann", "bob", "1", "01", "é"]
PAIRS = st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES)), min_size=1, max_size=20)


@given(PAIRS)
def test_targets_have_the_same_text(tmp_path_factory, pairs):
    path = tmp_path_factory.mktemp("equal") / "a.csv"
    path.write_text("key,claimed,real,s\n" + "".join(f"t{i},{a},{b},{i}.5\n" for i, (a, b) in enumerate(pairs)))
    key = read_key(path, columns="trial=key,score=s,label=claimed==real")
    assert key.is_target.tolist() == [a == b for a, b in pairs]
    assert key.trials.conditions["claimed"].to_pylist() == [a for a, _ in pairs]
    by_number = read_key(path, columns={"trial": "key", "score": "s", "label": "3==2"})
    assert by_number.is_target.tolist() == key.is_target.tolist()


def test_a_side_of_the_trial_can_be_compared(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("ref,subject,probe,s\nann,ann,p1,2.5\nann,bob,p2,-1\n")
    contents = read_contents(path, columns="enroll=ref,test=probe,score=s,label=ref==subject")
    assert contents.kinds == ("scores", "key", "index")
    assert contents.key.is_target.tolist() == [True, False]
    assert "target if 'ref' is 'subject'" in contents.origin.reading
    assert list(contents.index.trials.conditions) == ["subject"]


def test_columns_without_names(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("ann ann p1 2.5\nann bob p2 -1\n")
    contents = read_contents(path, columns="enroll=1,test=3,score=4,label=1==2")
    assert contents.key.is_target.tolist() == [True, False]
    assert contents.scores.score.tolist() == [2.5, -1]
    assert "target if 'column 1' is 'column 2'" in contents.origin.reading


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_tables_with_types(tmp_path, kind):
    table = pa.table({"a": [1, 2, 3], "b": pa.array(["1", "x", "3"]).dictionary_encode(), "s": [0.5, 1.5, 2.5]})
    path = tmp_path / f"a.{kind}"
    write = pq.write_table if kind == "parquet" else pa.feather.write_feather
    write(table, path)
    contents = read_contents(path, columns="score=s,label=a==b")
    assert contents.key.is_target.tolist() == [True, False, True]
    assert deciban.evaluate_files(path, columns="score=s,label=a==b").systems[0].n_tar == 2


def test_what_cannot_be_compared_is_refused(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("claimed,real,s\nann,ann,1.5\nbob,,0.5\nbob,ann,1\n")
    with pytest.raises(
        FormatError, match=r"a.csv:3: real is empty, but it is needed to decide whether this is a target"
    ):
        read_scores(path, columns="score=s,label=claimed==real")
    with pytest.raises(FormatError, match="column s contains double, but the label compares names"):
        read_scores(path, columns="score=s,label=claimed==s")
    with pytest.raises(FormatError, match="no column 'reel' for the label; the columns are claimed, real, s"):
        read_scores(path, columns="score=s,label=claimed==reel")
    for label in ("claimed==claimed", "claimed==real==s"):
        with pytest.raises(FormatError, match="does not compare two different columns. Write label=ONE==OTHER"):
            read_scores(path, columns=f"score=s,label={label}")
    with pytest.raises(InputError, match="given twice"):
        read_scores(path, columns="score=s,label=claimed==real,label=s")


def test_a_title_with_the_sign_is_a_column():
    assert compared({"label": "a==b"}, ["a==b", "a", "b"], "f") is None
    assert compared({"label": "a==b"}, ["b", "a"], "f") == (1, 0)


def test_a_missing_name_is_not_the_same_as_another():
    with pytest.raises(RowError, match="two is empty") as error:
        same_names(pa.array(["a", "b"]), pa.array(["a", None]), ("one", "two"))
    assert error.value.row == 1
