"""Log likelihood ratios of lir, in common logarithms."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban import FormatError
from deciban.io.formats import Contents
from deciban.trials import Key, Scores
from support.text_formats import (
    any_double,
    assert_same,
    bits,
    conditions_of,
    golden,
    names_of,
    read_bytes,
    trials,
    written,
)


def test_hypotheses():
    contents = golden("lir.hypothesis")
    assert contents.origin.reading == "lir label='hypothesis' score='llr', commas, log10"
    assert contents.scores.log10
    assert contents.scores.score.tolist() == [2.25, -1.5, 0.125]
    np.testing.assert_allclose(contents.scores.nats, np.array([2.25, -1.5, 0.125]) * math.log(10), rtol=1e-15)
    assert contents.key.is_target.tolist() == [True, False, True]
    assert names_of(contents.key.trials) == [("0",), ("1",), ("2",)]


def test_pairs_of_sources():
    contents = golden("lir.sources")
    assert contents.key.is_target.tolist() == [True, False]
    assert conditions_of(contents.key.trials)["llr_interval_low"] == ["1.5", "-2"]
    older = read_bytes(b"source_id0,source_id1,llr\nA,A,1\nA,B,-1\n")
    assert (older.key.is_target.tolist(), older.scores.log10) == ([True, False], True)


def test_the_logarithm_is_not_guessed():
    with pytest.raises(FormatError, match="could be lir .*log10.* or table .*Choose one: format=.lir. or another"):
        golden("lir.words")
    as_lir, as_table = golden("lir.words", format="lir"), golden("lir.words", format="table")
    assert (as_lir.scores.log10, as_table.scores.log10) == (True, False)
    assert (names_of(as_lir.key.trials), as_lir.key.is_target.tolist()) == ([("t1",), ("t2",)], [True, False])


def test_a_plain_table_stays_one():
    assert not read_bytes(b"trial,llr\na,1\nb,2\n").scores.log10
    assert read_bytes(b"trial,llr\na,1\nb,2\n", format="lir").scores.log10


@given(trials(delimiter=",", conditions=("source",)), st.data())
def test_tables_come_back(listed, data):
    n = len(listed)
    scores = Scores(listed, np.array(data.draw(st.lists(any_double, min_size=n, max_size=n))), log10=True)
    key = Key(listed, np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n))))
    for contents in (Contents.of(scores, key), Contents.of(scores)):
        back = read_bytes(written(contents, "lir"), format="lir", need="scores")
        assert_same(back, contents, conditions=("source",))
        assert back.scores.log10


def test_rows_come_back():
    contents = golden("lir.hypothesis")
    assert written(contents, "lir") == b"hypothesis,llr\n1,2.25\n0,-1.5\n1,0.125\n"
    sources = golden("lir.sources")
    back = read_bytes(written(sources, "lir"))
    assert (bits(back.scores.score), back.key.is_target.tolist()) == (bits(sources.scores.score), [True, False])
    assert conditions_of(back.index.trials) == conditions_of(sources.index.trials)


def test_logarithms_do_not_mix():
    ids = {"enroll": ["a"], "test": ["x"]}
    with pytest.raises(FormatError, match=r"lir contains common logarithms \(log10\), but mine is not declared"):
        written(Contents.of(Scores.of(ids, [1.0], name="mine")), "lir")
    for name in ("kaldi", "table"):
        with pytest.raises(
            FormatError,
            match=rf"mine: these are common logarithms \(log10\), which {name} cannot declare.*Scores\.in_nats",
        ):
            written(Contents.of(Scores.of(ids, [1.0], name="mine", log10=True)), name)


def test_hostile_lines():
    with pytest.raises(FormatError, match=":3: unknown label 'H3'"):
        read_bytes(b"hypothesis,llr\nH1,2\nH3,1\n", need="key", format="lir")
    with pytest.raises(FormatError, match=":2: the score is NaN"):
        read_bytes(b"hypothesis,llr\n1,nan\n", need="scores", format="lir")


@pytest.mark.parametrize("row", [",,1", "A,,1", ",A,1"])
def test_sources_without_a_name_are_not_the_same(row):
    with pytest.raises(FormatError, match=r":3: source_id\.[01] is empty, but it is needed to decide whether"):
        read_bytes(f"source_id.0,source_id.1,llr\nA,B,2\n{row}\n".encode())
