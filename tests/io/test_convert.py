"""From one format to another: nothing lost in silence."""

import gzip
import os
from pathlib import Path

import numpy as np
import pytest

from deciban import FormatError, Index, InputError, Key, KeyMismatchError, Scores, read_key, read_scores
from deciban.io import write
from deciban.io.writing import convert as convert_and_tell


def convert(source, target, **options):
    """Convert, and give the lines that a terminal shows."""
    return list(map(str, convert_and_tell(source, target, **options)))


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
    assert facts[1:] == [
        "left out  column gender: the format kaldi has no place for it",
        f"wrote  {tmp_path / 'key.txt'}   as kaldi",
    ]
    assert convert(source, tmp_path / "key.csv")[1:] == [f"wrote  {tmp_path / 'key.csv'}   as table"]
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
    message = r"key.txt has no label for 3 of 4 trials of .*scores.txt, the first \(ann, y\) \(.*scores.txt:2\)"
    with pytest.raises(KeyMismatchError, match=message):
        convert(scores_file, tmp_path / "both.txt", to="wespeaker", key=key)
    key.write_text("carl z target\n")
    with pytest.raises(KeyMismatchError, match="key.txt has no label for 4 of 4 trials"):
        convert(scores_file, tmp_path / "both.txt", to="wespeaker", key=key)


def test_how_a_key_was_read_and_met_is_told(tmp_path, scores_file):
    key = tmp_path / "key.csv"
    key.write_text("a,b,truth,sex\nbob,y,no,m\nann,x,yes,f\nann,y,no,f\nbob,x,yes,m\ncarl,x,no,m\n")
    facts = convert(
        scores_file,
        tmp_path / "both.csv",
        key=key,
        key_format="table",
        key_columns="enroll,test,label,=sex",
        labels={"target": "yes", "nontarget": "no"},
    )
    assert facts[1].startswith(f"key   {key}   table ")
    assert facts[1].endswith("2 target (yes) · 3 non-target (no)")
    assert facts[2:] == ["join  4 matched · 1 extra trial of the key", f"wrote  {tmp_path / 'both.csv'}   as table"]
    assert (tmp_path / "both.csv").read_text().splitlines() == [
        "enroll,test,score,label,sex",
        "ann,x,0.1,target,f",
        "ann,y,-2.25e-7,nontarget,f",
        "bob,x,inf,target,m",
        "bob,y,3,nontarget,m",
    ]


def test_labels_that_contradict_the_key_are_refused(tmp_path):
    source, key = tmp_path / "both.txt", tmp_path / "key.txt"
    source.write_text("ann x 0.1 target\nbob y 2 nontarget\n")
    key.write_text("ann x nontarget\nbob y target\n")
    for what in (None, "scores"):
        with pytest.raises(KeyMismatchError, match="another label"):
            convert(source, tmp_path / "out.csv", key=key, what=what)
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize("name", ["out.txt", "out.h5", "out.mat"])
def test_labels_of_a_key_that_cannot_be_written_are_an_error(name, tmp_path, scores_file):
    key, target = tmp_path / "key.txt", tmp_path / name
    key.write_text("bob y nontarget\nann x target\nann y nontarget\nbob x target\n")
    target.write_text("old")
    with pytest.raises(FormatError, match="can contain scores, but not key in the same file"):
        convert(scores_file, target, key=key)
    assert target.read_text() == "old"


@pytest.mark.parametrize("to", ["kaldi", "bosaris-hdf5", "bosaris-mat"])
def test_labels_that_are_left_out_are_told(to, tmp_path):
    source = tmp_path / "both.txt"
    source.write_text("ann x 0.1 target\nbob y 2 nontarget\n")
    facts = convert(source, tmp_path / "out", to=to)
    assert facts[1] == f"left out  key: {to} cannot contain it together with scores"


def test_conditions_are_left_out_line_by_line(tmp_path):
    source = tmp_path / "scores.csv"
    source.write_text("enroll,test,score,gender\nann,x,0.5,f\nann,y,1,f\n")
    facts = convert(source, tmp_path / "out", to="nist-sre")
    assert facts[1:-1] == ["left out  column gender: the format nist-sre has no place for it"]


def test_bob_says_labels_by_names(tmp_path):
    source = tmp_path / "scores.csv"
    source.write_text("enroll,test,score,label,real_id\nann,x,0.5,target,ann\nann,y,1,nontarget,bob\n")
    assert [fact for fact in convert(source, tmp_path / "out", to="bob4") if fact.startswith("left")] == []


def test_another_order_is_told(tmp_path):
    source = tmp_path / "scores.txt"
    source.write_text("ann x 0.5\nbob x 1\nann y 2\nbob y 3\n")
    facts = convert(source, tmp_path / "out.h5")
    assert facts[1:-1] == ["note  bosaris-hdf5 contains a matrix, so the order of trials has changed"]
    assert len(convert(tmp_path / "out.h5", tmp_path / "again.h5")) == 2


@pytest.mark.parametrize("name", ["x.xlsx", "x.json", "x.JSON.gz"])
def test_endings_that_promise_another_format(name, tmp_path, scores_file):
    with pytest.raises(InputError, match=r"the ending \.(xlsx|json) belongs to no format\. Use .*\.csv.*\.h5"):
        convert(scores_file, tmp_path / name)
    assert not (tmp_path / name).exists()


@pytest.mark.parametrize("name", ["x", "x.txt", "x.lst", "x.scores.gz", "x.score", "x.key", "x.trl", "x.ndx", "x.v.2"])
def test_endings_that_promise_nothing(name, tmp_path, scores_file):
    assert convert(scores_file, tmp_path / name)[-1] == f"wrote  {tmp_path / name}   as kaldi"


@pytest.mark.parametrize("name", ["scores.txt", "./scores.txt", "../{0}/scores.txt", "hard.txt", "soft.txt"])
def test_an_input_is_never_written_to(name, tmp_path, scores_file, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = scores_file.read_bytes()
    os.link("scores.txt", "hard.txt")
    Path("soft.txt").symlink_to("scores.txt")
    target = name.format(tmp_path.name)
    for source in ("scores.txt", scores_file, "score*.txt"):
        with pytest.raises(InputError, match=r"\.txt: is an input"):
            convert(source, target, what="index")
    with pytest.raises(InputError, match=r"\.txt: is an input"):
        convert("-", target, key=scores_file)
    assert scores_file.read_bytes() == before


IDS = {"enroll": ["ann", "ann"], "test": ["x", "y"]}


@pytest.mark.parametrize("name", ["a.txt", "a.h5", "a.mat", "a.tsv"])
def test_what_is_passed_and_has_no_room_is_refused(name, tmp_path):
    scores, key = Scores.of(IDS, [1.0, 2.0]), Key.of(IDS, [True, False])
    (tmp_path / name).write_text("old")
    form = "nist-sre" if name == "a.tsv" else None
    for items in ((scores, key), (key, scores)):
        with pytest.raises(FormatError, match="can contain scores, but not key"):
            write(items[0], tmp_path / name, items[1], format=form)
    assert (tmp_path / name).read_text() == "old"
    write(scores, tmp_path / name, Index(scores.trials), format=form)
    assert [path.name for path in tmp_path.iterdir()] == [name]


OTHERS = {
    "two keys": ([Key.of(IDS, [True, False])] * 2, "two tables that are key"),
    "order": ([Scores.of(IDS, [1.0, 2.0]), Key.of({**IDS, "test": ["y", "x"]}, [True, False])], "Align them first"),
    "index": ([Scores.of(IDS, [1.0, 2.0]), Index.of({**IDS, "test": ["x", "z"]})], "Align them first"),
    "array": ([np.zeros(3)], "a ndarray cannot be written as a table.* Index, Key, Scores, ClassScores"),
    "conditions": (
        [
            Scores.of(IDS, [1.0, 2.0], conditions={"sex": ["f", "m"]}),
            Key.of(IDS, [True, False], conditions={"sex": ["f", "f"]}),
        ],
        "condition 'sex' has other values",
    ),
}


@pytest.mark.parametrize("name", ["a.h5", "a.csv", "a.parquet", "a.npz"])
@pytest.mark.parametrize("case", OTHERS)
def test_tables_that_do_not_go_together(case, name, tmp_path):
    (item, *more), message = OTHERS[case]
    with pytest.raises(InputError, match=message):
        write(item, tmp_path / name, *more)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["a.csv", "a.parquet", "a.npz", "a.arrow"])
def test_conditions_of_a_key_go_with_the_scores(name, tmp_path):
    key = Key.of(IDS, [True, False], conditions={"sex": ["f", "m"]})
    write(Scores.of(IDS, [1.0, 2.0]), tmp_path / name, key)
    assert read_scores(tmp_path / name).trials.conditions["sex"].to_pylist() == ["f", "m"]


def test_one_of_several_things(tmp_path):
    source = tmp_path / "both.txt"
    source.write_text("ann x 0.1 target\nbob y 2 nontarget\n")
    convert(source, tmp_path / "key.txt", to="kaldi", what="key")
    assert (tmp_path / "key.txt").read_text() == "ann x target\nbob y nontarget\n"
    convert(source, tmp_path / "index.txt", to="kaldi", what="index")
    assert (tmp_path / "index.txt").read_text() == "ann x\nbob y\n"
    with pytest.raises(FormatError, match="quality of both sides is needed"):
        convert(source, tmp_path / "q.h5", what="quality")


def test_bad_requests(tmp_path, scores_file):
    with pytest.raises(InputError, match="'nope' is unknown"):
        convert(scores_file, tmp_path / "x.txt", to="nope")
    with pytest.raises(InputError, match="sidekit can be read, but not written"):
        convert(scores_file, tmp_path / "x.h5", to="sidekit")
    with pytest.raises(FormatError, match=r"nist-lre contains class-scores or class-key, but .*scores.txt is scores"):
        convert(scores_file, tmp_path / "x.tsv", to="nist-lre")
    assert not list(tmp_path.glob("x*"))


def test_the_same_data_make_the_same_bytes(tmp_path, scores_file):
    for name in ("a.csv.gz", "b.csv.gz"):
        convert(scores_file, tmp_path / name)
    assert (tmp_path / "a.csv.gz").read_bytes() == (tmp_path / "b.csv.gz").read_bytes()
    assert gzip.decompress((tmp_path / "a.csv.gz").read_bytes()).startswith(b"enroll,test,score\nann,x,0.1\n")
