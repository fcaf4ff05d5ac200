"""Scores and protocols of ASVspoof 2019."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given

from deciban import FormatError
from deciban.io.formats import Contents
from deciban.trials import Key, Scores, Trials
from support.text_formats import again, assert_same, conditions_of, golden, names_of, read_bytes, tables, written


def test_scores():
    contents = golden("asvspoof2019.scores")
    assert contents.origin.reading == "asvspoof2019 'trial =attack label score'"
    assert names_of(contents.scores.trials) == [("LA_E_2834763",), ("LA_E_5464494",)]
    assert contents.scores.score.tolist() == [-3.14, 5.21]
    assert contents.key.is_target.tolist() == [False, True]
    assert conditions_of(contents.key.trials) == {"attack": ["A11", "-"]}


@pytest.mark.parametrize(("track", "targets"), [("la", [False, True]), ("pa", [True, False])])
def test_protocols(track, targets):
    contents = golden(f"asvspoof2019.{track}")
    assert contents.key.is_target.tolist() == targets
    assert list(contents.key.trials.conditions) == ["speaker", "environment", "attack"]


def test_scores_of_speaker_verification():
    contents = golden("asvspoof2019-asv.scores", format="asvspoof2019-asv")
    assert names_of(contents.scores.trials) == [("0",), ("1",), ("2",), ("3",)]
    assert contents.scores.score.tolist() == [4.61, -8.02, 1.33, 4.61]
    assert contents.key.is_target.tolist() == [True, False, False, True]
    bona_fide = contents.key.keep(where={"source": "bonafide"})
    assert (bona_fide.n_tar, bona_fide.n_non) == (2, 1)
    assert written(contents, "asvspoof2019-asv").startswith(
        b"bonafide target 4.61\nbonafide nontarget -8.02\nA07 spoof"
    )


@given(tables(kinds=("scores", "key"), sides=("trial",), conditions=("attack",)))
def test_scores_come_back(contents):
    assert_same(again(contents, "asvspoof2019", "scores"), contents, conditions=("attack",))


@given(tables(kinds=("key",), sides=("trial",), conditions=("speaker", "environment", "attack")))
def test_protocols_come_back(contents):
    assert_same(again(contents, "asvspoof2019", "key"), contents, conditions=("speaker", "environment", "attack"))


def test_scores_of_speaker_verification_come_back():
    rows = Trials.of_rows(3)
    trials = Trials(
        rows.sides, rows.names, rows.listed, conditions={"source": pa.array(["bonafide", "bonafide", "A07"])}
    )
    contents = Contents.of(Scores(trials, np.array([0.1, -0.0, 5e-324])), Key(trials, np.array([True, False, False])))
    assert written(contents, "asvspoof2019-asv") == b"bonafide target 0.1\nbonafide nontarget -0\nA07 spoof 5e-324\n"
    assert_same(again(contents, "asvspoof2019-asv", "scores"), contents, conditions=("source",))


def test_the_attack_is_never_made_up():
    contents = Contents.of(Scores.of({"trial": ["a"]}, [1.0]), Key.of({"trial": ["a"]}, [True]))
    with pytest.raises(FormatError, match="asvspoof2019 also needs attack, which trials lacks"):
        written(contents, "asvspoof2019")


def test_named_trials_do_not_lose_their_names():
    contents = Contents.of(
        Scores.of({"trial": ["a"]}, [1.0], conditions={"source": ["bonafide"]}), Key.of({"trial": ["a"]}, [True])
    )
    with pytest.raises(FormatError, match="asvspoof2019-asv identifies trials by row, trials by name"):
        written(contents, "asvspoof2019-asv")


def test_hostile_lines():
    with pytest.raises(FormatError, match=":2: unknown label 'dubious'"):
        read_bytes(b"a - bonafide 1\nb A01 dubious 2\n", need="scores", format="asvspoof2019")
    with pytest.raises(FormatError, match=":1: expected 3 columns"):
        read_bytes(b"bonafide 4.61\n", need="scores", format="asvspoof2019-asv", columns="-,label,score")
