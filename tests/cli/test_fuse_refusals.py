"""What fuse, and apply of fusions, refuse: in which words, and that nothing is written."""

from pathlib import Path

import numpy as np
import pytest

from support.fusion_files import SCORES, TRUTH, write, write_files

pytestmark = pytest.mark.usefixtures("files")


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_files()


def test_infinite_scores_are_refused_by_name(run):
    scores = SCORES[:, 1].copy()
    scores[np.flatnonzero(~TRUTH)[3]] = np.inf
    write("inf.txt", scores)
    i = int(np.flatnonzero(~TRUTH)[3])
    code, _, err = run("fuse a.txt inf.txt --key key.csv -o m.json")
    assert code == 2
    assert f"the first is trial (m{i % 7}, s{i}) (inf: inf): their cost is infinite" in " ".join(err.split())
    assert run("fuse a.txt b.txt --key key.csv -o m.json")[0] == 0
    low = SCORES[:, 0].copy()
    low[i] = -np.inf
    write("low.txt", low)
    code, _, err = run("apply m.json low.txt inf.txt -o o.txt")
    assert code == 2
    assert f"trial (m{i % 7}, s{i}) (low: -inf, inf: inf)" in " ".join(err.split())


BAD = {
    "one file twice": ("fuse a.txt ./a.txt --key key.csv", "a.txt: given twice"),
    "other trials": ("fuse a.txt foreign.txt --key key.csv", "share no trial"),
    "fewer trials": ("fuse a.txt part.txt --key key.csv", "50 of 300 key trials have no score in part.txt"),
    "fewer trials, and a way out": ("fuse a.txt part.txt --key key.csv", "for every set of systems: --missing subset."),
    "no target left": ("fuse a.txt notar.txt --key key.csv --missing drop", "were dropped because they lack a score"),
    "no target for a set": ("fuse a.txt notar.txt --key key.csv --missing subset", "Fusion of a + notar, trained on"),
    "a side of quality": ("fuse a.txt b.txt --key key.csv --quality foo=q.txt", "'foo' is none of enroll, test, trial"),
    "quality of another side": (
        "fuse a.txt b.txt --key key.csv --quality test=models.txt",
        "no quality measures of test for any trial",
    ),
    "quality of no side": (
        "fuse a.txt b.txt --key key.csv --quality trial=q.txt",
        "measures of trial, but the sides of key.csv are enroll and test",
    ),
    "quality from stdin": ("fuse a.txt b.txt --key key.csv --quality -", "cannot be read from standard input"),
    "measures of nothing": ("fuse a.txt b.txt --key key.csv --measures q1", "name their file with --quality"),
    "an unknown measure": ("fuse a.txt b.txt --key key.csv --quality q.txt --measures snr", "no quality measure 'snr'"),
    "a measure twice": ("fuse a.txt b.txt --key key.csv --quality q.txt --measures q1,1", "name each of them once"),
    "measures of no side": ("fuse a.txt b.txt --key key.csv --quality q.txt --measures x=1", "SIDE=NAME,NAME"),
    "no matrix": ("fuse a.txt b.txt --key key.csv --quality q.txt --combine a.txt", "expected a row of numbers"),
    "model and scores from stdin": ("apply - - b.txt", "standard input (-) can be read only once"),
    "no such policy": ("fuse a.txt b.txt --key key.csv --missing magic", "write error, drop, subset or fill=VALUE"),
    "no number of subsets": ("fuse a.txt b.txt --key key.csv --missing subset=x", "N in subset=N must be a number"),
    "one class": ("fuse a.txt b.txt --key tar.csv", "no non-target trial among 75"),
    "no key": ("fuse a.txt b.txt", "a.txt contains no labels"),
    "no file": ("fuse a.txt none.txt --key key.csv", "none.txt: No such file"),
    "quality and subsets": ("fuse a.txt b.txt --key key.csv --quality q.txt --missing subset", "without quality"),
    "quality of nothing": ("fuse a.txt b.txt --key key.csv --quality key.csv", "number of quality measures"),
    "quality of two": ("fuse a.txt b.txt --key key.csv --quality q.txt --quality q.txt", "enroll=FILE and test=FILE"),
    "other measures": (
        "fuse a.txt b.txt --key key.csv --quality enroll=models.txt --quality test=q.txt",
        "2 and 1 measures. A symmetric matrix",
    ),
    "asymmetric what": ("fuse a.txt b.txt --key key.csv --asymmetric", "name their file with --quality"),
    "output is input": ("fuse a.txt b.txt --key key.csv --llrs b.txt", "b.txt: is an input"),
    "output is quality": ("fuse a.txt b.txt --key key.csv --quality q.txt --llrs q.txt", "q.txt: is an input"),
    "key of nothing": ("fuse a.txt b.txt --key key.csv --apply-key key.csv", "are for the scores of --apply-to"),
    "for no llrs": ("fuse a.txt b.txt --key key.csv --apply-to a.txt", "what to write to --llrs"),
    "stdin twice": ("fuse a.txt - --key key.csv --llrs o.txt", "standard input (-) can be read only once"),
    "too few others": (
        "fuse a.txt b.txt --key key.csv --apply-to c.txt --llrs o.txt",
        "1 system (c), but the fusion was trained on 2 (a, b)",
    ),
    "others out of order": (
        "fuse a.txt b.txt --key key.csv --apply-to b.txt --apply-to c.txt --llrs o.txt",
        "b is system 2 of the fusion, but was given as number 1",
    ),
    "no column": ("fuse a.txt b.txt --key key.csv --cross-validate age", "no column 'age'"),
    "bad prior": ("fuse a.txt b.txt --key key.csv --p-target 1", "--p-target: "),
    "bad ridge": ("fuse a.txt b.txt --key key.csv --ridge -1", "ridge"),
    "a calibration of two files": ("apply affine.json a.txt b.txt", "2 score files for a model of one system"),
    "a calibration with a policy": ("apply affine.json a.txt --missing drop", "missing: is for fusions"),
    "a calibration with quality": ("apply affine.json a.txt --quality q.txt", "quality: is for fusions"),
}


def test_a_folder_is_no_file(run):
    for command in ("fuse a.txt b.txt --key key.csv", "calibrate a.txt --key key.csv"):
        code, _, err = run(f"{command} -o folder/")
        assert code == 2
        assert "folder/: is the name of a folder" in err
    assert not Path("folder").exists()


@pytest.mark.parametrize(("line", "words"), BAD.values(), ids=BAD)
def test_bad_input_is_refused_and_nothing_is_written(line, words, run):
    before = {path: path.read_bytes() for path in Path().iterdir()}
    code, out, err = run(f"{line} -o out.json")
    assert code == 2, err
    assert words in err.replace("\n", " ")
    assert out == ""
    assert {path: path.read_bytes() for path in Path().iterdir()} == before
