"""Tables of the NIST speaker recognition evaluations from 2016 on."""

import pytest
from hypothesis import given

from deciban import FormatError
from deciban.io.formats import Contents
from deciban.trials import Key, Scores
from support.text_formats import again, assert_same, conditions_of, golden, names_of, read_bytes, tables, written

TRIALS = [("1001_sre18", "dabcdefg_sre18", "a"), ("1001_sre18", "dabcdefg_sre18", "b")]
SIDES = ("enroll", "test", "side")


def test_submission():
    contents = golden("nist-sre.submission")
    assert contents.origin.reading.startswith(
        "nist-sre enroll='modelid' test='segmentid' side='side' score='LLR', tabs"
    )
    assert names_of(contents.scores.trials) == TRIALS
    assert contents.scores.score.tolist() == [-3.86, 4.125]


def test_key_keeps_its_partitions():
    contents = golden("nist-sre.key")
    assert names_of(contents.key.trials) == TRIALS
    assert contents.key.is_target.tolist() == [False, True]
    assert conditions_of(contents.key.trials) == {
        "gender": ["female", "male"],
        "num_enroll_segs": ["3", "1"],
        "phone_num_match": ["N", "Y"],
    }
    assert contents.key.keep(where={"gender": "male"}).n_tar == 1


def test_trials_and_tables_without_side():
    assert names_of(golden("nist-sre.trials", need="index").index.trials) == TRIALS
    scores = golden("nist-sre.no-side").scores
    assert (names_of(scores.trials), scores.score.tolist()) == ([("1001_sre21", "dabcdefg_sre21")], [-3.86])


def test_what_is_written():
    ids = {"enroll": ["m"], "test": ["s"], "side": ["a"]}
    conditions = {"gender": ["f"]}
    scores, key = Scores.of(ids, [0.5], conditions=conditions), Key.of(ids, [True], conditions=conditions)
    assert written(Contents.of(scores), "nist-sre") == b"modelid\tsegmentid\tside\tLLR\nm\ts\ta\t0.5\n"
    assert (
        written(Contents.of(key), "nist-sre") == b"modelid\tsegmentid\tside\ttargettype\tgender\nm\ts\ta\ttarget\tf\n"
    )


@pytest.mark.parametrize("sides", [SIDES, SIDES[:2]])
def test_tables_come_back(sides):
    @given(tables(kinds=("scores",), sides=sides, delimiter="\t"))
    def check_scores(contents):
        assert_same(again(contents, "nist-sre", "scores"), contents)

    @given(tables(kinds=("key",), sides=sides, delimiter="\t", conditions=("gender", "my source")))
    def check_keys(contents):
        assert_same(again(contents, "nist-sre", "key"), contents, conditions=("gender", "my source"))

    @given(tables(kinds=("index",), sides=sides, delimiter="\t", conditions=("gender",)))
    def check_indexes(contents):
        assert_same(again(contents, "nist-sre", "index"), contents, conditions=("gender",))

    check_scores()
    check_keys()
    check_indexes()


def test_hostile_lines():
    head = b"modelid\tsegmentid\tside\ttargettype\n"
    with pytest.raises(FormatError, match=":3: expected 4 columns .*, got 3"):
        read_bytes(head + b"m\ts\ta\ttarget\nm\ts\ta\n", need="key")
    with pytest.raises(FormatError, match=":2: unknown label 'unknown'"):
        read_bytes(head + b"m\ts\ta\tunknown\n", need="key")
    with pytest.raises(FormatError, match=":2: the name of the side is empty"):
        read_bytes(head + b"m\ts\t\ttarget\n", need="key")


def test_a_condition_cannot_be_called_like_a_column():
    key = Key.of({"enroll": ["m"], "test": ["s"]}, [True], conditions={"Side": ["a"]})
    with pytest.raises(FormatError, match="nist-sre uses Side as the name of a column"):
        written(Contents.of(key), "nist-sre")
