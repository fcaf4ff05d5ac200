"""Plain tables with a header: CSV and TSV."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban import FormatError
from deciban.io.formats import Contents, for_ending
from deciban.trials import ClassScores, Index, Key, Scores, Trials
from support.text_formats import again, assert_same, conditions_of, golden, names_of, read_bytes, tables, written

FORMATS = [("table", ","), ("tsv", "\t")]
SIDES = [("enroll", "test"), ("enroll", "test", "side"), ("trial",)]


def test_several_systems_in_any_order_of_columns():
    contents = golden("table.scores.csv")
    assert names_of(contents.key.trials) == [("ann", "x,1"), ("bob", 'y "2"')]
    assert [(one.name, one.score.tolist()) for one in contents.systems] == [
        ("sysA_score", [1.5, -2.25]),
        ("score-B", [-2.0, 1e-3]),
    ]
    assert contents.key.is_target.tolist() == [True, False]
    assert conditions_of(contents.key.trials) == {"gender": ["f", "m"]}


def test_classes():
    scores = golden("table.classes.csv", need="class-scores").class_scores
    assert (names_of(scores.trials), scores.classes) == ([("seg1",), ("seg2",)], ("eng", "fra", "deu"))
    assert scores.score.tolist() == [[2.25, -1.5, -3.0], [-0.5, 0.75, -4.0]]
    key = golden("table.class-key.csv", need="class-key").class_key
    assert [key.classes[i] for i in key.label] == ["eng", "deu"]
    assert conditions_of(key.trials) == {"duration": ["3", "10"]}


def test_tabs_take_quotes_and_blanks_as_they_are():
    contents = golden("tsv.key.tsv")
    assert names_of(contents.key.trials) == [("ann lee", "x", "a"), ("bob", "y", "b")]
    assert conditions_of(contents.key.trials) == {"speaker id": ['"7', ""]}


def test_endings():
    assert [for_ending(f"a{ending}").name for ending in (".csv", ".tsv", ".csv.gz")] == ["table", "tsv", "table"]


@pytest.mark.parametrize(("name", "delimiter"), FORMATS)
def test_tables_come_back(name, delimiter):
    conditions = ("gender", "my source")
    kinds = st.sampled_from([("scores",), ("key",), ("scores", "key"), ("index",)])

    @given(st.data(), st.sampled_from(SIDES), kinds)
    def check(data, sides, kinds):
        contents = data.draw(tables(kinds=kinds, sides=sides, delimiter=delimiter, conditions=conditions))
        assert_same(again(contents, name, kinds[0]), contents, conditions=conditions)

    check()


@pytest.mark.parametrize(("name", "delimiter"), FORMATS)
def test_several_systems_come_back(name, delimiter):
    @given(tables(kinds=("scores", "key"), systems=("score-1", "b_llr", "c"), delimiter=delimiter))
    def check(contents):
        back = again(contents, name, "scores")
        assert_same(back, contents)
        assert [system.name for system in back.systems] == ["score-1", "b_llr", "c-score"]

    check()


@pytest.mark.parametrize(("name", "delimiter"), FORMATS)
@pytest.mark.parametrize("kinds", [("class-scores",), ("class-key",), ("class-scores", "class-key")])
def test_classes_come_back(name, delimiter, kinds):
    @given(
        tables(kinds=kinds, sides=("trial",), delimiter=delimiter, conditions=("source",)).filter(
            lambda contents: contents.class_key is None or len(set(contents.class_key.label.tolist())) == 2
        )
    )
    def check(contents):
        if "class-scores" in kinds:
            try:
                written(contents, name)
            except FormatError as error:
                assert "contains numbers" in str(error)
                return
        assert_same(again(contents, name, kinds[0]), contents, conditions=("source",))

    check()


_CELL = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=5)


@given(st.lists(_CELL, min_size=1, max_size=4), st.sampled_from(FORMATS))
def test_any_condition_comes_back_or_is_refused(values, form):
    trials = Trials.of({"trial": [f"t{i}" for i in range(len(values))]}, conditions={"c": values})
    contents = Contents.of(Index(trials))
    try:
        back = again(contents, form[0], "index")
    except FormatError as error:
        assert "cannot contain the c of a trial" in str(error)
        return
    assert conditions_of(back.index.trials) == {"c": values}


def test_missing_conditions_are_empty_and_numbers_are_text():
    conditions = {"age": [30, None], "snr": [0.1, 1e300], "adult": [True, False]}
    key = Key.of({"trial": ["a", "b"]}, [True, False], conditions=conditions)
    assert written(Contents.of(key), "table").splitlines() == [
        b"trial,label,age,snr,adult",
        b"a,target,30,0.1,true",
        b"b,nontarget,,1e+300,false",
    ]


@pytest.mark.parametrize(
    ("conditions", "message"),
    [
        ({"score": ["1"]}, "a condition called 'score' would be read as the score"),
        ({"targettype": ["x"]}, "a condition called 'targettype' would be read as the label"),
        ({" c": ["x"]}, "table cannot contain the column ' c'"),
        ({"c": ["x\ny"]}, r"table cannot contain the c of a trial 'x\\ny'"),
    ],
)
def test_columns_that_would_be_misread_are_refused(conditions, message):
    with pytest.raises(FormatError, match=message):
        written(Contents.of(Index.of({"enroll": ["a"], "test": ["x"]}, conditions=conditions)), "table")


def test_classes_that_would_be_misread_are_refused():
    ids = {"trial": ["a"]}
    with pytest.raises(FormatError, match="a class called 'llr' would be read as the score"):
        written(Contents.of(ClassScores.of(ids, ["llr", "b"], [[0.0, 1.0]])), "table")
    with pytest.raises(FormatError, match="condition 'age' contains numbers, and would be read as a class"):
        written(Contents.of(ClassScores.of(ids, ["a", "b"], [[0.0, 1.0]], conditions={"age": [30]})), "table")


def test_systems_need_distinct_names():
    ids = {"trial": ["a"]}
    with pytest.raises(FormatError, match="two columns would be called 'x-score'"):
        written(Contents.of(Scores.of(ids, [1.0], name="x"), Scores.of(ids, [2.0], name="x")), "table")


def test_rows_without_names_do_not_fit():
    with pytest.raises(
        FormatError, match=r"trials of .* are identified by their rows. Choose another format \(rows, npy"
    ):
        written(Contents.of(Index(Trials.of_rows(2))), "table")


def test_hostile_lines():
    with pytest.raises(FormatError, match=":3: expected 2 columns .*, got 1"):
        read_bytes(b"trial,score\na,1\nb\n", need="scores", format="table")
    with pytest.raises(FormatError, match=":3: expected 2 columns"):
        read_bytes(b'trial,score\na,1\n"b,2\n', need="scores")
    with pytest.raises(FormatError, match="columns label and targettype could both be the label"):
        read_bytes(b"trial,label,targettype\na,1,1\n", need="key")
