"""Keys and scores of ASVspoof 2021."""

import pytest
from hypothesis import given

from deciban import FormatError
from support.text_formats import again, assert_same, conditions_of, golden, names_of, read_bytes, tables

COLUMNS = {
    "la": ("spk", "codec", "trans", "attack", "trim", "subset"),
    "pa": ("spk", "asv_room", "asv_mic", "dis_to_asv", "att_room", "att_mic", "att_d", "att_to_spk", "trim", "subset"),
    "df": (
        *("spk", "compr", "source", "attack", "trim", "subset", "vocoder", "task", "team", "gender-pair", "language"),
    ),
}


@pytest.mark.parametrize(
    ("track", "first", "targets", "subsets"),
    [
        ("la", "LA_E_9332881", [False, True], ["eval", "progress"]),
        ("pa", "PA_E_1000001", [False, True], ["eval", "hidden"]),
        ("df", "DF_E_2000011", [False, False, True], ["progress", "eval", "eval"]),
    ],
)
def test_keys(track, first, targets, subsets):
    contents = golden(f"asvspoof2021.{track}")
    key = contents.key
    assert contents.origin.reading.startswith("asvspoof2021")
    assert names_of(key.trials)[0] == (first,)
    assert key.is_target.tolist() == targets
    assert tuple(key.trials.conditions) == COLUMNS[track]
    assert conditions_of(key.trials)["subset"] == subsets
    assert len(key.keep(where={"subset": "eval"})) == subsets.count("eval")


def test_scores():
    contents = golden("asvspoof2021.scores")
    assert contents.origin.reading == "asvspoof2021 'trial score'"
    assert contents.scores.score.tolist() == [-5.8546, 2.5]
    assert read_bytes(b"LA_E_1 1\nutt 2.5\n").origin.reading == "trial 'trial score'"


@pytest.mark.parametrize("track", COLUMNS)
def test_keys_come_back(track):
    @given(tables(kinds=("key",), sides=("trial",), conditions=COLUMNS[track], max_size=3))
    def check(contents):
        assert_same(again(contents, "asvspoof2021", "key"), contents, conditions=COLUMNS[track])

    check()


@given(tables(kinds=("scores",), sides=("trial",)))
def test_scores_come_back(contents):
    assert_same(again(contents, "asvspoof2021", "scores"), contents)


def test_hostile_lines():
    line = b"LA_0009 LA_E_9332881 alaw ita_tx A07 %s notrim eval\n"
    with pytest.raises(FormatError, match=":2: unknown label 'dubious'"):
        read_bytes(line % b"spoof" + line % b"dubious", need="key", format="asvspoof2021")
    with pytest.raises(FormatError, match=":2: expected 8 columns .*, got 7"):
        read_bytes(line % b"spoof" + line % b"", need="key", format="asvspoof2021")
