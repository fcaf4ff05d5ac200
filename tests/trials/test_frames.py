"""Tables of trials as Arrow tables and data frames of pandas and polars, and back."""

import json
import sys

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban.errors import InputError
from deciban.trials import (
    ClassKey,
    ClassScores,
    Index,
    Key,
    Scores,
    Trials,
    class_key_from,
    class_scores_from,
    index_from,
    key_from,
    scores_from,
    to_arrow,
    to_pandas,
    to_polars,
)
from support.tables import assert_same, binary_contents, class_contents

COLUMNS = {
    "model": ["ann", "bob d", "ann"],
    "segment": ["x", "y", "日本"],
    "sex": ["f", None, "m"],
    "age": [30, 40, 50],
    "llr": [1.5, float("-inf"), -0.0],
    "truth": [True, False, False],
}
PAIR = {"enroll": "model", "test": "segment"}


def of_pandas(columns):
    return pytest.importorskip("pandas").DataFrame(columns)


def of_polars(columns):
    return pytest.importorskip("polars").DataFrame(columns)


class Stream:
    """Anything that hands out its columns the Arrow way."""

    def __init__(self, columns):
        self._table = pa.table(columns)

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)


FRAMES = {"arrow": pa.table, "mapping": dict, "stream": Stream, "pandas": of_pandas, "polars": of_polars}


@pytest.fixture(params=FRAMES)
def frame(request):
    return FRAMES[request.param]


def test_scores_and_keys_from_any_frame(frame):
    scores = scores_from(frame(COLUMNS), **PAIR, score="llr", name="sysA", log10=True)
    assert [scores.trials.name_of(row) for row in range(3)] == ["(ann, x)", "(bob d, y)", "(ann, 日本)"]
    assert scores.score.tolist() == [1.5, -np.inf, 0.0]
    assert np.signbit(scores.score[2])
    assert (scores.name, scores.log10) == ("sysA", True)
    conditions = {name: values.to_pylist() for name, values in scores.trials.conditions.items()}
    assert conditions == {"sex": ["f", None, "m"], "age": [30, 40, 50], "truth": [True, False, False]}
    key = key_from(frame(COLUMNS), **PAIR, is_target="truth")
    assert key.is_target.tolist() == [True, False, False]
    assert list(key.trials.conditions) == ["sex", "age", "llr"]
    assert len(index_from(frame(COLUMNS), trial="segment")) == 3


def test_classes_from_any_frame(frame):
    table = frame({"trial": ["a", "b"], "cat": [0.5, 1], "dog": [2.0, 3], "class": ["dog", "cat"]})
    scores = class_scores_from(table, ["dog", "cat"])
    assert scores.score.tolist() == [[2, 0.5], [3, 1]]
    assert list(scores.trials.conditions) == ["class"]
    assert class_key_from(table).label.tolist() == [1, 0]
    assert class_key_from(table, classes=["dog", "fox", "cat"]).label.tolist() == [0, 2]


@pytest.mark.parametrize("truth", [[True, False], [1, 0], [1.0, 0.0], ["target", "nontarget"]])
def test_truth_in_every_form(frame, truth):
    assert key_from(frame({"trial": ["a", "b"], "label": truth})).is_target.tolist() == [True, False]


def test_float32_stays():
    for one in (pa.table, of_pandas, of_polars):
        score = np.float32([0.1, -2])
        assert scores_from(one({"trial": ["a", "b"], "score": score})).score.tobytes() == score.tobytes()


def as_arrow(table):
    return table.to_arrow() if hasattr(table, "to_arrow") else pa.table(table)


def test_categories_are_names():
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    columns = {"trial": ["b", "a", "b"], "score": [1.0, 2.0, 3.0]}
    for table in (
        pd.DataFrame(columns).astype({"trial": "category"}),
        pl.DataFrame(columns).with_columns(pl.col("trial").cast(pl.Categorical)),
        pl.DataFrame(columns).with_columns(pl.col("trial").cast(pl.Enum(["a", "b"]))),
        pa.table({**columns, "trial": pa.array(columns["trial"]).dictionary_encode()}),
    ):
        assert index_from(table).trials.column("trial").to_pylist() == ["b", "a", "b"]
        kept = index_from(Stream(as_arrow(table).append_column("utt", pa.array(["u", "v", "w"]))), trial="utt")
        assert kept.trials.condition("trial").to_pylist() == ["b", "a", "b"]


def test_whole_numbers_are_names(frame):
    assert index_from(frame({"enroll": [1001, 7], "test": [1, 2]})).trials.name_of(0) == "(1001, 1)"


def test_an_index_of_pandas_is_no_condition():
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame({"trial": ["a", "b"], "score": [1.0, 2.0]}, index=["r", "s"])
    assert scores_from(table).trials.conditions == {}
    assert scores_from(Stream(pa.Table.from_pandas(table))).trials.conditions == {}


def test_sides_are_found():
    columns = {"enroll": ["a"], "test": ["x"], "side": ["b"], "trial": ["t"]}
    assert index_from(columns).trials.sides == ("enroll", "test", "side")
    assert index_from(columns, trial="trial").trials.sides == ("trial",)
    assert index_from(columns, enroll="enroll", test="test").trials.sides == ("enroll", "test")
    assert list(index_from(columns, enroll="enroll", test="test").trials.conditions) == ["side", "trial"]


MISSING = {
    "name": (
        {"trial": ["a", None], "score": [1.0, 2]},
        scores_from,
        "trial: 1 of 2 names are missing, the first in row 1",
    ),
    "score": ({"trial": ["a", "b"], "score": [1.0, None]}, scores_from, "score: 1 of 2 scores are missing, .* row 1"),
    "label": ({"trial": ["a", "b"], "label": [None, "target"]}, key_from, "label: 1 of 2 labels are missing, .* row 0"),
    "boolean": ({"trial": ["a", "b"], "label": [True, None]}, key_from, "label: 1 of 2 labels are missing, .* row 1"),
    "class": ({"trial": ["a", "b"], "class": ["x", None]}, class_key_from, "class: 1 of 2 names are missing"),
}


@pytest.mark.parametrize("case", MISSING)
def test_missing_values_name_their_row(frame, case):
    columns, function, message = MISSING[case]
    with pytest.raises(InputError, match=message):
        function(frame(columns))


def test_nan_is_missing_everywhere():
    for one in FRAMES.values():
        with pytest.raises(InputError, match="score: 1 of 2 scores are (NaN|missing), the first (at index|in row) 1"):
            scores_from(one({"trial": ["a", "b"], "score": [1.0, float("nan")]}))


REFUSED = {
    "no such column": (
        lambda: scores_from(COLUMNS, **PAIR, score="points"),
        "no column 'points'; the columns are model, segm",
    ),
    "no side": (
        lambda: scores_from(COLUMNS, enroll="model", score="llr"),
        "identified by enroll and test .* got enroll",
    ),
    "no names": (
        lambda: scores_from(COLUMNS, score="llr"),
        "no columns enroll and test, and no column trial; the columns are model",
    ),
    "text": (
        lambda: scores_from({"trial": ["a"], "score": ["1"]}),
        "score: contains string values, but scores must be numbers",
    ),
    "booleans": (lambda: scores_from({"trial": ["a"], "score": [True]}), "score: contains bool values"),
    "word": (
        lambda: key_from({"trial": ["a"], "label": ["yes"]}),
        "row 0 contains 'yes'; expected booleans, 1 and 0, or",
    ),
    "number": (lambda: key_from({"trial": ["a", "b"], "label": [1, 2]}), "label: row 1 contains 2; expected"),
    "fractions": (lambda: index_from({"trial": [1.5]}), "trial: names of trials must be text, but got double"),
    "lists": (
        lambda: index_from({"trial": ["a"], "x": [[1]]}),
        "x: contains list<item: int64> values. A condition must",
    ),
    "ragged": (lambda: index_from({"trial": ["a"], "x": [1, 2]}), "frame: cannot be read as a table"),
    "mixed": (lambda: index_from({"trial": ["a", 1]}), "frame: cannot be read as a table"),
    "no frame": (lambda: index_from([1, 2]), "expected a pandas, polars or Arrow table, .* got list"),
    "one class": (lambda: class_scores_from({"trial": ["a"], "x": [1.0]}, ["x"]), "expected at least 2 distinct names"),
    "no class": (lambda: class_scores_from({"trial": ["a"]}, []), "expected at least 2 distinct names"),
    "none": (lambda: scores_from({"trial": [], "score": []}), "score"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_no_table_of_trials(case):
    function, message = REFUSED[case]
    with pytest.raises(InputError, match=message):
        function()


def test_columns_of_one_name():
    pd = pytest.importorskip("pandas")
    for table in (
        pa.Table.from_arrays([pa.array(["a"]), pa.array(["b"])], ["trial", "trial"]),
        pd.DataFrame([["a", "b"]], columns=["trial", "trial"]),
    ):
        with pytest.raises(InputError, match=r"two columns are called 'trial'|Duplicate column names"):
            index_from(table)


SCORES = Scores.of({"enroll": ["ann", "bob"], "test": ["x", "y"]}, [1.5, -np.inf], conditions={"sex": ["f", "m"]})
KEY = Key(SCORES.trials, np.array([True, False]))


def test_the_columns_of_a_table():
    table = to_arrow(SCORES, KEY)
    assert table.to_pydict() == {
        "enroll": ["ann", "bob"],
        "test": ["x", "y"],
        "sex": ["f", "m"],
        "score": [1.5, -np.inf],
        "label": ["target", "nontarget"],
    }
    assert pa.types.is_dictionary(table.schema.field("enroll").type)
    assert json.loads(table.schema.metadata[b"deciban"]) == {
        "roles": {"enroll": "enroll", "test": "test", "sex": "=sex", "score": "score", "label": "label"},
        "log10": False,
    }
    two = to_arrow(SCORES, Scores(SCORES.trials, SCORES.score, "other"))
    assert two.column_names == ["enroll", "test", "sex", "system", "other"]


def test_frames_of_pandas_and_polars():
    expected = to_arrow(SCORES, KEY).to_pydict()
    pytest.importorskip("pandas")
    assert to_pandas(SCORES, KEY).to_dict("list") == expected
    pytest.importorskip("polars")
    assert to_polars(SCORES, KEY).to_dict(as_series=False) == expected


@pytest.mark.parametrize(("function", "library"), [(to_pandas, "pandas"), (to_polars, "polars")])
def test_a_library_that_is_not_there(monkeypatch, function, library):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(InputError, match=f"to_{library}: {library} is not installed. Install it .* or use to_arrow"):
        function(SCORES)


BAD = {
    "other trials": ((SCORES, Key.of({"trial": ["a", "b"]}, [True, False])), "do not contain the same trials"),
    "other order": (
        (SCORES, KEY.take(np.array([1, 0]))),
        "do not contain the same trials in the same order. Align them",
    ),
    "same names": ((SCORES, Scores(SCORES.trials, SCORES.score)), "two columns would be called 'system'"),
    "condition": ((Scores.of({"trial": ["a"]}, [1.0], conditions={"score": [1]}),), "would be called 'score'"),
    "bases": ((SCORES, Scores(SCORES.trials, SCORES.score, "b", log10=True)), "common and natural .*Scores.in_nats"),
    "two kinds": ((SCORES, ClassScores(SCORES.trials, ("a", "b"), np.zeros((2, 2)))), "cannot be in one table"),
    "rows": ((Scores(Trials.of_rows(2).take(np.array([1])), np.zeros(1)),), "row numbers are not 0, 1, 2"),
    "nothing": ((Index(Trials.of_rows(2)),), "without names and values cannot become a table"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_makes_no_table(case):
    tables, message = BAD[case]
    with pytest.raises(InputError, match=message):
        to_arrow(*tables)


def through(table, library):
    return {"arrow": to_arrow, "pandas": to_pandas, "polars": to_polars}[library](table)


@given(binary_contents(max_systems=1), st.sampled_from(["arrow", "pandas", "polars"]))
def test_scores_and_keys_come_back_bit_for_bit(contents, library):
    if library != "arrow":
        pytest.importorskip(library)
    for table in (*contents.systems, contents.key):
        if table is None or (library != "arrow" and table.trials.sides == ("row",)):
            continue
        back = through(table, library)
        if isinstance(table, Key):
            assert_same(key_from(back), table)
        else:
            assert_same(scores_from(back, log10=None if library == "arrow" else table.log10), table)


@given(class_contents(shape="single"))
def test_classes_come_back_bit_for_bit(contents):
    if contents.class_scores is not None:
        one = contents.class_scores
        back = to_arrow(one)
        if "trial" not in one.classes:
            assert_same(class_scores_from(back, one.classes), one)
    if contents.class_key is not None:
        assert_same(
            class_key_from(to_arrow(contents.class_key), classes=contents.class_key.classes), contents.class_key
        )


def test_a_class_key_knows_its_classes():
    key = ClassKey.of({"trial": ["a"]}, ["dog"], classes=["cat", "dog"])
    assert json.loads(to_arrow(key).schema.metadata[b"deciban"])["classes"] == ["cat", "dog"]
