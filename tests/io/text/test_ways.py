"""The arguments that a message offers: each of them settles what the columns are, and reads what was meant."""

import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import deciban
from deciban import FormatError, InputError
from deciban.errors import command_spelling
from deciban.io.columns.headers import words_in_options
from deciban.io.text.finding import titled

SCORE = [2.5, -1.0, 0.25, 1.5, -0.5, 3.0]
TRUTH = [True, False, False, True, False, True]


def ways_of(error):
    """The offered arguments, which are Python."""
    return [eval(f"dict({line})") for line in re.findall(r"(?m)^  (.*)$", str(error.value))]  # noqa: S307


def table(header, columns, delimiter=","):
    rows = [header] if header else []
    rows += [[str(cell) for cell in row] for row in zip(*columns, strict=True)]
    return "".join(delimiter.join(row) + "\n" for row in rows)


INDEX = range(6)
NAMES = [f"s{i}" for i in INDEX]
WORDS = {
    "known words": ["target" if one else "nontarget" for one in TRUTH],
    "numbers of pandas": [f"{int(one)}.0" for one in TRUTH],
    "own words": ["yes" if one else "no" for one in TRUTH],
}
TABLES = {
    "pandas": (["", "lab", "s"], lambda words: [INDEX, words, SCORE]),
    "no index": (["lab", "s"], lambda words: [words, SCORE]),
    "a name": (["utt", "s", "lab"], lambda words: [NAMES, SCORE, words]),
    "two names": (["model", "seg", "AR", "lab"], lambda words: [["m"] * 6, NAMES, SCORE, words]),
    "a name that a list of options cannot hold": (["utt", "s,1", "y=x"], lambda words: [NAMES, SCORE, words]),
}


@pytest.mark.parametrize("words", WORDS.values(), ids=WORDS)
@pytest.mark.parametrize(("header", "columns"), TABLES.values(), ids=TABLES)
@pytest.mark.parametrize("delimiter", [",", "\t"])
def test_a_way_that_is_offered_reads_what_was_meant(tmp_path, header, columns, words, delimiter):
    path = tmp_path / "a.csv"
    shown = [f'"{title}"' if delimiter == "," and "," in title else title for title in header]
    path.write_text(table(shown, columns(words), delimiter))
    with pytest.raises(
        (FormatError, InputError), match=r"which column is the score\. The columns are|no.* label"
    ) as error:
        deciban.evaluate_files(path)
    ways = ways_of(error)
    assert 1 <= len(ways) <= 3
    expected = deciban.evaluate(np.array(SCORE)[TRUTH], np.array(SCORE)[~np.array(TRUTH)])
    found = [deciban.evaluate_files(path, **way).systems[0] for way in ways]
    assert any(one.cllr == pytest.approx(expected.cllr, rel=1e-14) for one in found)
    assert all(one.n_tar + one.n_non == len(SCORE) for one in found)


@pytest.mark.parametrize("words", [TRUTH, WORDS["known words"], WORDS["own words"]], ids=["booleans", "known", "own"])
def test_columns_with_types_are_offered_as_well(tmp_path, words):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"file": NAMES, "s": SCORE, "lab": words, "more": [[1]] * 6}), path)
    with pytest.raises((FormatError, InputError)) as error:
        deciban.evaluate_files(path)
    found = [deciban.evaluate_files(path, **way).systems[0].n_tar for way in ways_of(error)]
    assert 3 in found
    assert len(found) <= 3
    (tmp_path / "b.parquet").write_bytes(path.read_bytes()[:-40] + bytes(40))
    with pytest.raises(FormatError):
        deciban.evaluate_files(tmp_path / "b.parquet")


def test_columns_of_a_key_have_an_option_of_their_own(tmp_path):
    scores, key = tmp_path / "s.txt", tmp_path / "k.txt"
    scores.write_text("".join(f"m{i % 2} s{i} {s}\n" for i, s in enumerate(SCORE)))
    key.write_text("".join(f"m{i % 2} s{i} {'sure' if one else 'nope'}\n" for i, one in enumerate(TRUTH)))
    with pytest.raises(FormatError, match="which column is the label in 'm0 s0 sure'") as error:
        deciban.evaluate_files(scores, key)
    first, second, *_ = ways_of(error)
    assert {next(iter(way)) for way in ways_of(error)} == {"key_columns"}
    counts = [deciban.evaluate_files(scores, key, **way).systems[0].n_tar for way in (first, second)]
    assert sorted(counts) == [3, 3]
    assert {"target": "nope", "nontarget": "sure"} in (first["labels"], second["labels"])


def test_two_columns_that_agree_now_and_then_may_be_the_label(tmp_path):
    claimed, real = ["ann", "bob", "ann", "bob", "ann", "bob"], ["ann", "ann", "bob", "bob", "cy", "bob"]
    path = tmp_path / "a.csv"
    path.write_text(table(["claimed", "real", "file", "s"], [claimed, real, NAMES, SCORE]))
    with pytest.raises(FormatError, match="unclear which column is the score") as error:
        deciban.evaluate_files(path)
    way = ways_of(error)[0]
    assert way == {"columns": "enroll=claimed,test=file,score=s,label=claimed==real"}
    assert deciban.evaluate_files(path, **way).systems[0].n_tar == 3


def test_labels_in_a_column_of_no_known_name_are_offered(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(table(["model", "seg", "score", "lab"], [["m"] * 6, NAMES, SCORE, WORDS["known words"]]))
    with pytest.raises(InputError, match="key: none given, .*If a column of it contains labels, name it") as error:
        deciban.evaluate_files(path)
    (way,) = ways_of(error)
    assert deciban.evaluate_files(path, **way).systems[0].n_tar == 3


def test_scores_of_systems_or_of_classes(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(table(["a_score", "b_score", "lab"], [SCORE, SCORE, WORDS["known words"]]))
    with pytest.raises(InputError, match="can be two-class scores of several systems") as error:
        deciban.evaluate_files(path)
    ways = ways_of(error)
    assert ways[:2] == [{"kind": "two-class"}, {"kind": "classes"}]
    assert deciban.evaluate_files(path, **ways[2]).systems[0].n_tar == 3


def test_names_of_formats_are_offered_where_the_columns_are_the_same(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("trial,hypothesis,llr\na,1,2.5\nb,0,-1\n")
    with pytest.raises(FormatError, match='Choose one: format="lir"') as error:
        deciban.read_scores(path)
    assert ways_of(error) == [{"format": "lir"}, {"format": "table"}]


@given(st.lists(st.lists(st.sampled_from(["a", "1", "-2.5", "", "x y", "nan"]), max_size=3), min_size=1, max_size=4))
def test_a_title_is_never_a_number(rows):
    if titled(rows):
        assert not any(word in ("1", "-2.5", "nan") for word in rows[0])


def test_words_that_options_cannot_hold_are_not_offered():
    assert words_in_options(["a,b", "c"]) == words_in_options(["a"]) == words_in_options(["", "x"]) == []
    with command_spelling():
        assert words_in_options(["1.0", "2.0", "it's"])[0] == """--labels 'target=1.0,nontarget=2.0|it'"'"'s'"""


def test_words_that_are_known_keep_their_meanings():
    assert words_in_options(["nontarget", "target"]) == ['labels={"target": "target", "nontarget": "nontarget"}']
    assert words_in_options(["no", "yes"]) == ['labels={"target": "yes", "nontarget": "no"}']
    assert words_in_options(["odd", "target"]) == ['labels={"target": "target", "nontarget": "odd"}']
    assert len(words_in_options(["even", "odd"])) == 2


def test_other_words_of_the_user_do_not_turn_the_truth_round(tmp_path):
    scores, key = tmp_path / "s.txt", tmp_path / "k.txt"
    scores.write_text("".join(f"m{i % 2} s{i} {s}\n" for i, s in enumerate(SCORE)))
    key.write_text("".join(f"m{i % 2} s{i} {'target' if one else 'nontarget'}\n" for i, one in enumerate(TRUTH)))
    with pytest.raises(FormatError) as error:
        deciban.evaluate_files(scores, key, labels={"target": "foo", "nontarget": "bar"})
    labels = {"target": "target", "nontarget": "nontarget"}
    assert ways_of(error) == [{"key_columns": "enroll,test,label", "labels": labels}]


def test_a_matrix_with_numbers_for_names_is_offered_as_such(tmp_path):
    names = [str(at) for at in range(1, 8)]
    score = [[f"{one}.{other}" for other in names] for one in names]
    rows = [["", *names], *([name, *row] for name, row in zip(names, score, strict=True))]
    (tmp_path / "m.csv").write_text("".join(",".join(row) + "\n" for row in rows))
    (tmp_path / "k.txt").write_text("".join(f"{a} {b} {'tgt' if a == b else 'imp'}\n" for a in names for b in names))
    with pytest.raises(FormatError, match="7 with numbers for names: a matrix of trials") as error:
        deciban.evaluate_files(tmp_path / "m.csv", tmp_path / "k.txt")
    assert ways_of(error) == [{"format": "matrix-csv"}]
    found = deciban.evaluate_files(tmp_path / "m.csv", tmp_path / "k.txt", format="matrix-csv")
    assert found.systems[0].n_tar == 7


def test_many_columns_without_names_are_offered_by_number(tmp_path):
    (tmp_path / "m.csv").write_text("".join(",".join(f"{a}.{b}" for b in range(1, 13)) + "\n" for a in range(5)))
    with pytest.raises(FormatError, match="The columns are 12 without names, all of numbers") as error:
        deciban.read_scores(tmp_path / "m.csv")
    assert ways_of(error)[0] == {"columns": "score=1"}


def test_names_of_two_sides_stay_in_the_columns_that_are_offered(tmp_path):
    sides = [f"k{n % 3}" for n in range(6)], [f"f{n % 2}" for n in range(6)]
    words = ["same" if true else "different" for true in TRUTH]
    path = tmp_path / "german.csv"
    path.write_text(table(["Bekannt", "Fraglich", "Hypothese", "LLR"], [*sides, words, SCORE]))
    with pytest.raises(InputError) as error:
        deciban.evaluate_files(path)
    way = ways_of(error)[0]
    assert way["columns"] == "enroll=Bekannt,test=Fraglich,score=LLR,label=Hypothese"
    assert deciban.evaluate_files(path, **way, intervals=False).systems[0].n_tar == sum(TRUTH)


def test_a_column_that_is_a_score_is_offered_with_the_others(tmp_path):
    path = tmp_path / "bin.csv"
    columns = [range(6), [int(true) for true in TRUTH], SCORE, range(6), "abcabc"]
    path.write_text(table(["id", "y_true", "y_prob", "user", "device"], columns))
    with pytest.raises(InputError, match='columns="trial=id,label=y_true,score=y_prob'):
        deciban.evaluate_files(path, columns="y_true,y_prob,user,device")
    with pytest.raises(InputError, match=r"'prob' is neither .* \(id, y_true, y_prob, user, device\)"):
        deciban.evaluate_files(path, columns="id,y_true,prob")
    with pytest.raises(InputError, match="'score' is a role, not the name of a column"):
        deciban.evaluate_files(path, columns="id,score")


def test_the_word_that_another_one_negates_is_offered_first_as_target():
    assert words_in_options(["ungleich", "gleich"])[0] == 'labels={"target": "gleich", "nontarget": "ungleich"}'
    assert words_in_options(["unalike", "alike"])[0] == 'labels={"target": "alike", "nontarget": "unalike"}'
