"""Protocols and scores of spoofing-robust verification, and scores of countermeasures with a label beside them."""

import pytest

from support.text_formats import conditions_of, golden, names_of, read_bytes

FIRST = ("LA_0015", "LA_E_1103494")


def test_the_protocol_of_the_challenge_is_a_key():
    contents = golden("sasv.key")
    assert names_of(contents.key.trials)[0] == FIRST
    assert contents.key.is_target.tolist() == [True, False, False]
    assert contents.words == {"target": True, "nontarget": False, "spoof": False}
    assert conditions_of(contents.key.trials) == {"attack": ["bonafide", "bonafide", "A07"]}


@pytest.mark.parametrize(
    ("name", "scores"),
    [
        ("sasv.scores", [6.9601, -1.25, -2.307]),
        ("wespeaker.spoof", [6.960134565830231, 6.150891035795212, -2.306972861289978]),
    ],
)
def test_scores_stand_beside_their_labels(name, scores):
    contents = golden(f"{name}")
    assert contents.origin.reading.startswith(name.partition(".")[0])
    assert names_of(contents.scores.trials)[0] == FIRST
    assert contents.scores.score.tolist() == scores
    assert contents.key.is_target.tolist() == [True, False, False]


@pytest.mark.parametrize("track", ["la", "pa"])
def test_keys_of_verifiers_are_not_keys_of_countermeasures(track):
    """They have the columns of ASVspoof 2021, but another label, and their trials are pairs."""
    contents = golden(f"sasv.{track}", need="key")
    assert contents.origin.reading.startswith("sasv 'enroll test =")
    assert len(names_of(contents.key.trials)[0]) == 2
    assert contents.key.is_target.tolist() == [True, False, False]


def test_a_number_is_not_an_attack():
    line = b"LA_0015 LA_E_1103494 6.9 target\nLA_0015 LA_E_1103495 -6.9 spoof\n"
    assert read_bytes(line, need="key").origin.reading == "wespeaker 'enroll test score label'"


def test_countermeasures_of_the_packages():
    line = b"LA_0015 LA_E_1103494 6.96 bonafide\nLA_0007 LA_E_7417804 -2.3 spoof\n"
    five = b"LA_0015 LA_E_1103494 - bonafide 6.96\nLA_0007 LA_E_7417804 A07 spoof -2.3\n"
    nine = b"LA_9 LA_E_1 alaw tx bonafide bonafide notrim eval 6.96\nLA_9 LA_E_2 alaw tx A07 spoof notrim eval -2.3\n"
    for text, name in ((line, "asvspoof2019"), (five, "asvspoof2019"), (nine, "asvspoof2021")):
        contents = read_bytes(text)
        assert contents.origin.reading.startswith(name)
        assert contents.scores.score.tolist() == [6.96, -2.3]
        assert contents.key.is_target.tolist() == [True, False]
