"""Scores, keys and protocols of ASVspoof 5."""

import pytest
from hypothesis import given

import deciban
from deciban import FormatError
from deciban.io.formats import Contents
from deciban.trials import Key, Scores
from support.text_formats import again, assert_same, conditions_of, golden, names_of, read_bytes, tables, written

SYSTEMS = ("cm-score", "asv-score", "sasv-score")
PROTOCOL = ("speaker", "gender", "codec", "codec_q", "codec_seed", "attack_tag", "attack", "tmp")


def test_countermeasures():
    contents = golden("asvspoof5.scores")
    assert contents.origin.reading.startswith("asvspoof5 trial='filename' score='cm-score'")
    assert names_of(contents.scores.trials) == [("E_0000000001",), ("E_0000000002",)]
    assert contents.scores.score.tolist() == [0.01, -4.5]
    assert golden("asvspoof5.key").key.is_target.tolist() == [True, False]


def test_three_systems():
    contents = golden("asvspoof5-sasv.scores")
    assert [system.name for system in contents.systems] == list(SYSTEMS)
    assert names_of(contents.systems[0].trials) == [("E_0101", "E_0000000001"), ("E_0102", "E_0000000001")]
    assert contents.systems[2].score.tolist() == [1.87014412550354, 2.5]
    one = golden("asvspoof5-sasv.scores", columns="enroll=spk,test=filename,score=asv-score").scores
    assert one.score.tolist() == [-1.0224495, 0.5]


def test_key_of_three_systems():
    contents = golden("asvspoof5-sasv.key")
    assert contents.key.is_target.tolist() == [True, False, False]
    assert conditions_of(contents.key.trials) == {"cm-label": ["bonafide", "bonafide", "spoof"]}
    assert written(contents, "asvspoof5-sasv").splitlines()[1:] == [
        b"E_0101\tE_0000000001\tbonafide\ttarget",
        b"E_0102\tE_0000000001\tbonafide\tnontarget",
        b"E_0101\tE_0000000002\tspoof\tspoof",
    ]


def test_the_label_of_a_countermeasure_is_named():
    """Its scores tell bona fide from spoofed speech, and the label is about speakers."""
    (note,) = golden("asvspoof5-sasv.key").notes
    columns = note.split("key columns ")[1]
    other = golden("asvspoof5-sasv.key", columns=columns, need="key")
    assert other.key.is_target.tolist() == [True, True, False]
    assert other.notes == golden("asvspoof5-sasv.scores").notes == golden("asvspoof5.key").notes == ()


def test_an_absent_score_is_named_as_such():
    lines = b"spk\tfilename\tcm-score\tasv-score\tsasv-score\nA\tx\t1\t2\t3\nA\ty\t1\t-\t3\n"
    with pytest.raises(FormatError, match=r":3: there is no score, only '-': .*name a column without gaps"):
        read_bytes(lines, need="scores")
    chosen = read_bytes(lines, need="scores", columns="enroll=spk,test=filename,score=sasv-score")
    assert chosen.scores.score.tolist() == [3, 3]


def test_the_table_of_a_fusion():
    contents = golden("asvspoof5-fusion.scores")
    assert [(one.name, one.score.tolist()) for one in contents.systems] == [
        ("asv_score", [-0.0612, 0.4131, -0.75]),
        ("cm_score", [3.4127, -2.1187, 2.5]),
    ]
    assert contents.key.is_target.tolist() == [True, False, False]
    (note,) = golden("asvspoof5-fusion.scores", need="key").notes
    labels = dict(pair.split("=") for pair in note.split("the labels ")[1].replace("'", "").split(","))
    assert golden("asvspoof5-fusion.scores", labels=labels).key.is_target.tolist() == [True, False, True]
    unlabelled = read_bytes(b"asv_score,cm_score\n1,2\n", need="scores")
    assert [one.score.tolist() for one in unlabelled.systems] == [[1], [2]]


def test_labels_of_a_fusion_that_are_numbers_are_named(tmp_path):
    path = tmp_path / "dev.csv"
    words = ["1.0", "2.0", "3.0", "1.0", "2.0", "3.0"]
    score = [2.5, -1.0, -2.0, 1.5, 0.5, -0.5]
    rows = [f"{s},{s / 2},{word}\n" for s, word in zip(score, words, strict=True)]
    path.write_text("asv_score,cm_score,sasv_label\n" + "".join(rows))
    with pytest.raises(FormatError, match=r":2: unknown label '1.0'.*labels=.*WORD") as error:
        deciban.evaluate_files(path)
    assert '\n  labels={"target": "1.0", "nontarget": "2.0|3.0"}\n' in str(error.value)
    labels = {"target": "1.0", "nontarget": "2.0|3.0"}
    results = deciban.evaluate_files(path, labels=labels)
    by_hand = deciban.evaluate([2.5, 1.5], [-1.0, -2.0, 0.5, -0.5])
    assert [one.n_tar for one in results.systems] == [2, 2]
    assert results.systems[0].cllr == pytest.approx(by_hand.cllr, rel=1e-14)


def test_protocol():
    contents = golden("asvspoof5-protocol.key")
    assert contents.origin.reading.startswith("asvspoof5-protocol")
    assert names_of(contents.key.trials) == [("T_0000000000",), ("T_0000000011",)]
    assert contents.key.is_target.tolist() == [False, True]
    assert conditions_of(contents.key.trials)["attack"] == ["A05", "bonafide"]


@given(tables(kinds=("scores",), sides=("trial",), delimiter="\t"))
def test_scores_come_back(contents):
    assert_same(again(contents, "asvspoof5", "scores"), contents)


@given(tables(kinds=("key",), sides=("trial",), delimiter="\t", conditions=("codec",)))
def test_keys_come_back(contents):
    assert_same(again(contents, "asvspoof5", "key"), contents, conditions=("codec",))


@given(tables(kinds=("scores",), systems=SYSTEMS, delimiter="\t"))
def test_three_systems_come_back(contents):
    assert_same(again(contents, "asvspoof5-sasv", "scores"), contents)


@given(tables(kinds=("key",), delimiter="\t", conditions=("cm-label", "codec")))
def test_keys_of_three_systems_come_back(contents):
    assert_same(again(contents, "asvspoof5-sasv", "key"), contents, conditions=("cm-label", "codec"))


@given(tables(kinds=("key",), sides=("trial",), conditions=PROTOCOL, max_size=3))
def test_protocols_come_back(contents):
    assert_same(again(contents, "asvspoof5-protocol", "key"), contents, conditions=PROTOCOL)


def test_other_systems_do_not_fit():
    ids = {"enroll": ["a"], "test": ["x"]}
    with pytest.raises(FormatError, match="asvspoof5 identifies trials by name, trials by enroll and test"):
        written(Contents.of(Scores.of(ids, [1.0])), "asvspoof5")
    with pytest.raises(FormatError, match="contains scores of the systems cm-score, asv-score, sasv-score"):
        written(Contents.of(Scores.of(ids, [1.0], name="mine")), "asvspoof5-sasv")
    with pytest.raises(FormatError, match="asvspoof5-sasv also needs cm-label"):
        written(Contents.of(Key.of(ids, [True])), "asvspoof5-sasv")


def test_hostile_lines():
    with pytest.raises(FormatError, match=":3: expected 2 columns .*, got 3"):
        read_bytes(b"filename\tcm-score\na\t1\nb\t2\t3\n", need="scores", format="asvspoof5")
    with pytest.raises(FormatError, match=":2: the score 'x' is not a number"):
        read_bytes(b"filename\tcm-score\na\tx\n", need="scores", format="asvspoof5")
