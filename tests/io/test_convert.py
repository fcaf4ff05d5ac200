"""From one format to another: nothing lost in silence."""

import gzip

import numpy as np
import pytest

from deciban import FormatError, InputError, KeyMismatchError, read_key, read_scores
from deciban.io.convert import convert


@pytest.fixture
def scores_file(tmp_path):
    path = tmp_path / "scores.txt"
    path.write_text("ann x 0.1\nann y -2.25e-7\nbob x inf\nbob y 3\n")
    return path


def bits(scores):
    return scores.score.view(np.uint64).tolist()


@pytest.mark.parametrize(
    "chain",
    [
        ["a.csv", "b.h5", "c.mat", "d.parquet", "e.arrow", "f.npz", "g.tsv.gz", "h.txt"],
        ["a.txt.zst", "b.csv.bz2", "c.h5", "d.txt"],
    ],
)
def test_every_bit_survives_a_chain_of_formats(chain, tmp_path, scores_file):
    before, source = read_scores(scores_file), scores_file
    for name in chain:
        convert(source, tmp_path / name)
        source = tmp_path / name
    after = read_scores(source)
    assert bits(after) == bits(before)
    assert [after.trials.name_of(i) for i in range(4)] == [before.trials.name_of(i) for i in range(4)]
    assert source.read_text() == "ann x 0.1\nann y -2.25e-7\nbob x inf\nbob y 3\n"


def test_what_has_no_room_is_named(tmp_path):
    source = tmp_path / "key.tsv"
    source.write_text("modelid\tsegmentid\ttargettype\tgender\nann\tx\ttarget\tf\nbob\ty\tnontarget\tm\n")
    facts = convert(source, tmp_path / "key.txt", to="kaldi")
    assert (tmp_path / "key.txt").read_text() == "ann x target\nbob y nontarget\n"
    assert facts[1:] == ["left out  condition gender: kaldi has no room for it"]
    assert convert(source, tmp_path / "key.csv")[1:] == []
    assert read_key(tmp_path / "key.csv").trials.conditions["gender"].to_pylist() == ["f", "m"]


def test_labels_of_a_key_go_with_the_scores(tmp_path, scores_file):
    key = tmp_path / "key.txt"
    key.write_text("bob y nontarget\nann x target\nann y nontarget\nbob x target\n")
    convert(scores_file, tmp_path / "both.txt", to="wespeaker", key=key)
    assert (tmp_path / "both.txt").read_text().splitlines() == [
        "ann x 0.1 target",
        "ann y -2.25e-7 nontarget",
        "bob x inf target",
        "bob y 3 nontarget",
    ]
    key.write_text("ann x target\n")
    with pytest.raises(KeyMismatchError, match="have no score in|3 of 4"):
        convert(scores_file, tmp_path / "both.txt", to="wespeaker", key=key)


def test_one_of_several_things(tmp_path):
    source = tmp_path / "both.txt"
    source.write_text("ann x 0.1 target\nbob y 2 nontarget\n")
    convert(source, tmp_path / "key.txt", to="kaldi", what="key")
    assert (tmp_path / "key.txt").read_text() == "ann x target\nbob y nontarget\n"
    convert(source, tmp_path / "index.txt", to="kaldi", what="index")
    assert (tmp_path / "index.txt").read_text() == "ann x\nbob y\n"
    with pytest.raises(FormatError, match="quality of both sides was asked for"):
        convert(source, tmp_path / "q.h5", what="quality")


def test_bad_requests(tmp_path, scores_file):
    with pytest.raises(InputError, match="'nope' is not known"):
        convert(scores_file, tmp_path / "x.txt", to="nope")
    with pytest.raises(InputError, match="sidekit is read, not written"):
        convert(scores_file, tmp_path / "x.h5", to="sidekit")
    with pytest.raises(FormatError, match=r"nist-lre holds class-scores or class-key, but .*scores.txt is scores"):
        convert(scores_file, tmp_path / "x.tsv", to="nist-lre")
    assert not list(tmp_path.glob("x*"))


def test_the_same_data_make_the_same_bytes(tmp_path, scores_file):
    for name in ("a.csv.gz", "b.csv.gz"):
        convert(scores_file, tmp_path / name)
    assert (tmp_path / "a.csv.gz").read_bytes() == (tmp_path / "b.csv.gz").read_bytes()
    assert gzip.decompress((tmp_path / "a.csv.gz").read_bytes()).startswith(b"enroll,test,score\nann,x,0.1\n")
