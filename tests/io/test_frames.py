"""Data frames, and tables in memory, are read as files of the same columns are."""

import numpy as np
import pyarrow as pa
import pytest

import deciban
from deciban.io.columns.columnar import contents_of_frame, of_one_system
from deciban.io.formats import Contents
from deciban.io.reader import read_input
from deciban.io.recognition import held_in_memory, readable_as
from deciban.trials import Key, Scores

FRAME = {"utt": ["a", "b", "c"], "llr": [1.5, -2.0, 0.25], "same": ["tgt", "imp", "imp"], "gender": ["f", "m", "m"]}
ROLES = {"trial": "utt", "score": "llr", "label": "same"}


def test_a_frame_holds_what_the_same_file_holds(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("utt,llr,same,gender\na,1.5,tgt,f\nb,-2.0,imp,m\nc,0.25,imp,m\n")
    labels = {"target": "tgt", "nontarget": "imp"}
    found = contents_of_frame(FRAME, ROLES, need="scores", labels=labels, system="scores")
    scores = deciban.read_scores(path, columns="trial=utt,score=llr,label=same", labels=labels)
    assert found.systems[0].score.tolist() == scores.score.tolist()
    assert found.systems[0].name == scores.name
    assert found.key.is_target.tolist() == [True, False, False]
    assert found.index.trials.name_of(1) == scores.trials.name_of(1)
    assert found.index.trials.condition("gender").to_pylist() == ["f", "m", "m"]


def test_numbers_name_columns_that_are_numbered():
    pd = pytest.importorskip("pandas")
    found = contents_of_frame(pd.DataFrame([[0.5, 1], [-0.5, 0]]), {"score": 0, "label": 1}, need="scores")
    assert found.key.is_target.tolist() == [True, False]


def test_single_precision_stays():
    found = contents_of_frame({"score": np.float32([0.1, 0.2])}, {"score": "score"}, need="scores")
    assert found.systems[0].score.dtype == np.float32


def test_metadata_of_a_table_do_not_overrule_the_user():
    table = deciban.trials.to_arrow(Scores.of({"trial": ["a", "b"]}, [1.0, 2.0]))
    table = table.append_column("better", pa.array([3.0, 4.0]))
    found = contents_of_frame(table, {"trial": "trial", "score": "better"}, need="scores")
    assert found.systems[0].score.tolist() == [3.0, 4.0]


def test_held_tables_are_read_as_they_are():
    scores, key = Scores.of({"trial": ["a", "b"]}, [1.0, 2.0]), Key.of({"trial": ["a", "b"]}, [True, False])
    contents = Contents.of(scores, key)
    found = held_in_memory(contents, "memory")
    assert readable_as(found, ["scores", "class-scores", "key"]) == ("scores", "key")
    assert read_input(found, need="scores").contents is contents
    with pytest.raises(deciban.FormatError, match="class-scores is needed"):
        read_input(found, need="class-scores")


def test_a_file_of_the_same_name_is_not_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data frame").write_text("a b 1.0\n")
    found = deciban.evaluate({"score": [1.0, 2.0, 0.0], "label": [1, 0, 0]})
    assert found.n_non == 2


def test_columns_of_one_system_take_the_names_of_classes():
    frame = {"A cat": [1.0], "A dog": [2.0], "B cat": [3.0], "B dog": [4.0], "age": [5]}
    systems = {"A": ["A cat", "A dog"], "B": ["B dog", "B cat"]}
    table = of_one_system(frame, systems, "B", ["dog", "cat"])
    assert table.to_pydict() == {"dog": [4.0], "cat": [3.0], "age": [5]}
    with pytest.raises(deciban.InputError, match="'dog' is another column, not a score"):
        of_one_system({**frame, "dog": [0.0]}, systems, "A", ["cat", "dog"])


@pytest.mark.parametrize("given", [None, [1.0, 2.0], 3, "scores.txt", pa.array([1.0])])
def test_what_is_no_frame_is_refused(given):
    with pytest.raises(deciban.InputError, match="frame: expected"):
        contents_of_frame(given, {"score": "score"}, need="scores")
