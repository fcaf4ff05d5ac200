"""Commands on two files, one of targets and one of non-targets."""

import json
from pathlib import Path

import numpy as np
import pytest

import deciban
from deciban.errors import InputError

DRAW = np.random.default_rng(7)
TAR, NON = DRAW.normal(2.0, 1.0, 50), DRAW.normal(0.0, 1.0, 80)


@pytest.fixture(autouse=True)
def lists(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.savetxt("same.txt", TAR)
    np.savetxt("different.txt", NON)
    np.save("b_tar.npy", TAR[::-1])
    np.save("b_non.npy", NON)


@pytest.mark.parametrize("words", ["--tar same.txt --non different.txt", "--same same.txt --different different.txt"])
def test_evaluate(run, words):
    code, out, err = run(f"eval {words} --json")
    assert code == 0, err
    (found,) = json.loads(out)["systems"]
    expected = deciban.evaluate(TAR, NON)
    assert (found["eer"], found["cllr"]) == pytest.approx((expected.eer, expected.cllr))
    assert "50 target (same.txt) · 80 non-target (different.txt)" in err


def test_the_first_of_the_one_belongs_to_the_first_of_the_other(run):
    code, out, err = run("eval --non different.txt --tar same.txt --tar b_tar.npy --non b_non.npy --json")
    assert code == 0, err
    assert [one["name"] for one in json.loads(out)["systems"]] == ["same + different", "b"]


def test_plots_reports_and_fusions(run):
    words = "--tar same.txt --non different.txt --tar b_tar.npy --non b_non.npy"
    assert run(f"plot det {words} -o det.svg")[0] == 0
    assert run(f"report {words} -o page.html")[0] == 0
    code, out, err = run(f"fuse {words} -o fusion.json --cross-validate 4 --llrs llrs.txt")
    assert code == 0, err
    assert "fusion (cross-validated)" in out
    assert len(np.loadtxt("llrs.txt")) == 130
    assert run("apply fusion.json same.txt b_tar.npy -o fused.txt")[0] == 0
    assert len(np.loadtxt("fused.txt")) == 50


def test_calibrate_and_apply_to_a_list(run):
    assert run("calibrate --tar same.txt --non different.txt -o model.json --cross-validate 5")[0] == 0
    assert run("apply model.json same.txt different.txt -o llrs/")[0] == 0
    model = deciban.load_model("model.json")
    for name, values in (("same", TAR), ("different", NON)):
        assert np.loadtxt(f"llrs/{name}.txt") == pytest.approx(model.transform(values), rel=1e-12)


def test_comments_and_line_ends_of_a_list_stay(run):
    run("calibrate --tar same.txt --non different.txt -o model.json")
    Path("some.txt").write_bytes(b"# cosine\r\n1.5\r\n\r\n  2\r\n")
    assert run("apply model.json some.txt -o out.txt")[0] == 0
    lines = Path("out.txt").read_bytes().split(b"\r\n")
    assert (lines[0], lines[2], lines[4]) == (b"# cosine", b"", b"")
    assert [float(lines[1]), float(lines[3])] == pytest.approx(
        deciban.load_model("model.json").transform([1.5, 2.0]).tolist()
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("eval", "no file given"),
        ("eval --tar same.txt", "only scores of targets. Add --non FILE."),
        ("eval same.txt --tar same.txt --non different.txt", "score files as well as files of targets"),
        ("eval --tar same.txt --non different.txt --key key.txt", "--key: defines the targets"),
        ("eval --tar same.txt --non different.txt --key-columns trial,label", "--key-columns: is for a key"),
        ("eval --tar same.txt --non different.txt --kind classes", "contain two-class scores"),
        ("eval --tar same.txt --tar b_tar.npy --non different.txt", "2 files of targets and 1 of non-targets"),
        ("plot det --tar same.txt --non ./same.txt -o d.svg", "given as the scores of targets and of non-targets"),
        ("fuse --tar same.txt --non different.txt --tar b_tar.npy --non same.txt -o f.json", "given twice"),
        ("calibrate -o m.json", "no file given"),
        ("calibrate --tar same.txt --non different.txt -o same.txt", "is an input"),
        ("report --tar page.html --non different.txt -o page.html", "is an input"),
    ],
)
def test_what_makes_no_sense_is_refused(run, words, message):
    Path("page.html").write_text("1\n2\n")
    code, out, err = run(words)
    assert (code, out) == (2, "")
    assert message in " ".join(err.split())


def test_systems_of_other_trials_are_evaluated_each_on_its_own(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    score = {"a_tar": [1.0, 2.0, 3.0], "a_non": [0.0, 1.5], "b_tar": [1.0, 2.0], "b_non": [-1.0, 0.0, 1.5, 0.5]}
    for name, values in score.items():
        (tmp_path / f"{name}.txt").write_text("".join(f"{one}\n" for one in values))
    words = ["--tar", "a_tar.txt", "--non", "a_non.txt", "--tar", "b_tar.txt", "--non", "b_non.txt"]
    code, out, err = run("eval", *words, "--json", "--name", "first", "--name", "second")
    assert code == 0
    systems = json.loads(out)["systems"]
    assert [(one["name"], one["n_tar"], one["n_non"]) for one in systems] == [("first", 3, 2), ("second", 2, 4)]
    for one, name in zip(systems, "ab", strict=True):
        single = ["--tar", f"{name}_tar.txt", "--non", f"{name}_non.txt"]
        alone = json.loads(run("eval", *single, "--json")[1])["systems"][0]
        assert (one["auc"], one["cllr"]) == (alone["auc"], alone["cllr"])
    assert "differences cannot be paired" in err
    code, _, err = run("compare", *words, "--units", "trials")
    assert code == 2
    assert "Name one system at a time" in err
    named = {"tar": ["a_tar.txt", "b_tar.txt"], "non": ["a_non.txt", "b_non.txt"]}
    with pytest.raises(InputError):
        deciban.compare(deciban.evaluate_files(**named, units="trials"))
