"""Inputs of every kind with other scores: which format is written, and what is kept."""

import gzip

import numpy as np
import pytest

from deciban import FormatError, InputError, Key, Scores
from deciban.io import read_contents, write
from deciban.io.formats import binary_formats
from deciban.io.reader import read_input
from deciban.io.rewrite import write_rescored

LLR = [-3.25, 0.1, 1e-300, np.inf]


def rescored(path, target, to=None, **options):
    found = read_input(path, need="scores", **options)
    llr = found.contents.scores.in_nats().transform(lambda score: LLR[: len(score)])
    return list(map(str, write_rescored(found, llr, target, to=to)))


def table():
    ids = {"enroll": ["ann", "ann", "bob", "bob"], "test": ["x", "y", "x", "y"]}
    conditions = {"gender": ["f", "f", "m", ""], "n": [1, 2, 3, 4]}
    return (
        Scores.of(ids, [1.0, 2.0, 3.0, 4.0], conditions=conditions),
        Key.of(ids, [True, False, False, True], conditions=conditions),
    )


BINARY = [name for name, one in binary_formats().items() if "scores" in one.writes]


@pytest.mark.parametrize("name", BINARY)
def test_binary_files_keep_all_that_they_hold(name, tmp_path):
    scores, key = table()
    one = binary_formats()[name]
    ending = (one.endings or (".mat",))[0]
    path, target = tmp_path / f"in{ending}", tmp_path / f"out{ending}"
    if name.startswith("bosaris"):
        write(scores, path, format=name)
    elif name == "npy":
        np.save(path, scores.score)
    else:
        write(scores, path, key, format=name)
    facts = rescored(path, target)
    assert facts[-1].startswith(f"wrote  {target}   as ")
    before, after = read_contents(path), read_contents(target)
    assert after.kinds == before.kinds
    np.testing.assert_array_equal(after.scores.score, LLR)
    trials, same = before.scores.trials, after.scores.trials
    assert [same.name_of(i) for i in range(4)] == [trials.name_of(i) for i in range(4)]
    assert {name: column.to_pylist() for name, column in same.conditions.items()} == {
        name: column.to_pylist() for name, column in trials.conditions.items()
    }
    if before.key is not None:
        assert after.key.is_target.tolist() == [True, False, False, True]
    assert after.scores.log10 is False


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        ("a.txt", "b.txt", "ann  x -3.25\n"),
        ("a.txt", "b", "ann  x -3.25\n"),
        ("a.txt", "b.calibrated", "ann  x -3.25\n"),
        ("a.txt", "b.csv", "enroll,test,score\nann,x,-3.25\n"),
        ("a.txt", "b.tsv", "enroll\ttest\tscore\nann\tx\t-3.25\n"),
        ("a.csv", "b.csv", "enroll,test,g,llr\nann,x,f,-3.25\n"),
        ("a.csv", "b.tsv", "enroll\ttest\tscore\tg\nann\tx\t-3.25\tf\n"),
        ("a.csv", "b.txt", "enroll,test,g,llr\nann,x,f,-3.25\n"),
        ("b.tsv", "c.csv", "enroll,test,score\nann,x,-3.25\n"),
        ("b.tsv", "c.tsv", "enroll\ttest\tscore\nann\tx\t-3.25\n"),
        ("blanks.txt", "c.csv", "enroll,test,score\nann,x,-3.25\n"),
        ("blanks.txt", "c.txt", "enroll test score\nann x -3.25\n"),
        ("a.h5", "b.txt", "ann x -3.25\n"),
        ("a.h5", "b.csv", "enroll,test,score\nann,x,-3.25\n"),
    ],
)
def test_the_format_is_that_of_the_input_unless_the_ending_is_that_of_another(source, target, expected, tmp_path):
    (tmp_path / "a.txt").write_text("ann  x 1\n")
    (tmp_path / "a.csv").write_text("enroll,test,g,llr\nann,x,f,1\n")
    (tmp_path / "b.tsv").write_text("enroll\ttest\tscore\nann\tx\t1\n")
    (tmp_path / "blanks.txt").write_text("enroll test score\nann x 1\n")
    write(Scores.of({"enroll": ["ann"], "test": ["x"]}, [1.0]), tmp_path / "a.h5")
    rescored(tmp_path / source, tmp_path / f"new-{target}")
    assert (tmp_path / f"new-{target}").read_text() == expected


def test_a_binary_file_without_a_new_ending_stays_what_it_is(tmp_path):
    write(table()[0], tmp_path / "a.h5")
    assert rescored(tmp_path / "a.h5", tmp_path / "b")[-1].endswith("as bosaris-hdf5")
    assert rescored(tmp_path / "a.h5", tmp_path / "c.npz")[-1].endswith("as npz")


def test_what_there_is_no_room_for_is_said(tmp_path):
    (tmp_path / "a.csv").write_text("enroll,test,gender,score\nann,x,f,1\n")
    facts = rescored(tmp_path / "a.csv", tmp_path / "a.h5")
    assert "left out  column gender: the format bosaris-hdf5 has no place for it" in facts


def test_compressed_as_the_ending_says(tmp_path):
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(b"ann x 1\n"))
    rescored(tmp_path / "a.txt.gz", tmp_path / "b.txt")
    assert (tmp_path / "b.txt").read_bytes() == b"ann x -3.25\n"
    rescored(tmp_path / "b.txt", tmp_path / "c.txt.gz")
    assert gzip.decompress((tmp_path / "c.txt.gz").read_bytes()) == b"ann x -3.25\n"


def test_several_files_as_one_input(tmp_path):
    (tmp_path / "part-1.txt").write_text("ann x 1\n")
    (tmp_path / "part-2.txt").write_text("# more\nann  y  2\n")
    assert rescored(tmp_path / "part-*.txt", tmp_path / "all.txt")[-1].endswith("as kaldi")
    assert (tmp_path / "all.txt").read_text() == "ann x -3.25\nann y 0.1\n"


def test_several_tables_with_tabs_stay_tables_with_tabs(tmp_path):
    for i in (1, 2):
        (tmp_path / f"part-{i}.tsv").write_text(f"trial\tscore\n{i}\t0\n")
    rescored(tmp_path / "part-*.tsv", tmp_path / "all.tsv")
    assert (tmp_path / "all.tsv").read_text() == "trial\tscore\n1\t-3.25\n2\t0.1\n"


def test_common_logarithms_are_written_where_the_format_has_them(tmp_path):
    (tmp_path / "a.csv").write_text("hypothesis,llr,note\n1,2.25,k\n0,-1.5,\n")
    facts = rescored(tmp_path / "a.csv", tmp_path / "b.csv")
    assert facts[0] == "note  log-likelihood ratios are written as common logarithms (log10), the unit of lir"
    lines = (tmp_path / "b.csv").read_text().splitlines()
    assert [line.split(",")[::2] for line in lines] == [["hypothesis", "note"], ["1", "k"], ["0", ""]]
    found = [float(line.split(",")[1]) for line in lines[1:]]
    np.testing.assert_allclose(found, [np.log10(np.exp(-3.25)), np.log10(np.exp(0.1))], rtol=1e-14)


def test_natural_logarithms_are_written_everywhere_else(tmp_path):
    (tmp_path / "a.txt").write_text("ann x 1\n")
    facts = rescored(tmp_path / "a.txt", tmp_path / "b.txt", unit="log10")
    assert (
        facts[0] == "note  log-likelihood ratios are written as natural logarithms, though the scores are common ones"
    )
    assert (tmp_path / "b.txt").read_text() == "ann x -3.25\n"
    write(Scores.of({"trial": ["a"]}, [1.0], log10=True), tmp_path / "a.parquet")
    rescored(tmp_path / "a.parquet", tmp_path / "b.parquet")
    again = read_contents(tmp_path / "b.parquet").scores
    assert (again.score.tolist(), again.log10) == ([-3.25], False)


def test_what_cannot_be_written_leaves_the_old_file(tmp_path):
    (tmp_path / "a.csv").write_text("enroll,test,score\nann b,x,1\n")
    (tmp_path / "out").write_text("old")
    with pytest.raises(FormatError, match="contains white space"):
        rescored(tmp_path / "a.csv", tmp_path / "out", to="kaldi")
    with pytest.raises(InputError, match="can be read, but not written"):
        rescored(tmp_path / "a.csv", tmp_path / "out", to="sidekit")
    assert (tmp_path / "out").read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.csv", "out"]


def test_tables_too_wide_for_a_pattern_are_written_anew(tmp_path):
    wide = [f"c{i}" for i in range(300)]
    (tmp_path / "a.csv").write_text(",".join(["trial", *wide, "score"]) + "\n" + ",".join(["a", *wide, "1"]) + "\n")
    rescored(tmp_path / "a.csv", tmp_path / "b.csv")
    after = read_contents(tmp_path / "b.csv").scores
    assert after.score.tolist() == [-3.25]
    assert [column[0].as_py() for column in after.trials.conditions.values()] == wide


@pytest.mark.parametrize(
    ("old", "new"),
    [("distance", "score"), ("similarity", "score"), ("y_prob", "score"), ("score", "score"), ("a_llr", "a_llr")],
)
def test_llrs_are_not_written_under_a_name_of_something_else(old, new, tmp_path):
    path, target = tmp_path / "in.csv", tmp_path / "out.csv"
    path.write_text(f"{old},label\n12.5,1\n-3.0,0\n")
    told = rescored(path, target)
    assert target.read_text().splitlines()[0] == f"{new},label"
    assert ("in the column score" in told[-1]) == (new != old)
