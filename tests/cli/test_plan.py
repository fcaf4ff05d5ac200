"""``deciban plan``."""

import json

import numpy as np
import pytest

from deciban import plan_files
from deciban.io import write_demo


@pytest.fixture
def demo(tmp_path, monkeypatch):
    monkeypatch.setattr("deciban.io.demos._SPEAKERS", 40)
    write_demo(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_plan_is_printed_and_drawn(demo, run):
    code, out, err = run("plan sysA.txt --key key.txt --width 0.02 --segments 3,6 -o plan.svg")
    assert code == 0, err
    expected = plan_files("sysA.txt", "key.txt", width=0.02, segments=[3, 6])
    for line in expected.lines:
        assert line in out
    assert "40 speakers, found from target trials" in err
    assert "wrote plan.svg" in err
    assert (demo / "plan.svg").read_bytes().startswith(b"<?xml")


def test_a_pilot_without_any_interval_is_refused(tmp_path, monkeypatch, run):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "few.csv").write_text("enroll,test,score,label\na,x,1,1\nb,y,2,1\na,y,0,0\nb,x,-1,0\n")
    code, _, err = run("plan few.csv --width 0.02")
    assert (code, err.splitlines()[-1].partition(": --metric: ")[2]) == (
        2,
        "few has no metric with an interval. Use more units or trials.",
    )


@pytest.mark.usefixtures("demo")
def test_options_reach_the_plan(run):
    words = "--figure min_dcf@2 --dcf 0.01 --dcf 0.1 --difference 0.1 --relative --power 0.9 --level 0.9"
    code, out, err = run(f"plan sysA.txt sysB.txt --key key.txt {words} --trials-per-segment 30 --json")
    assert code == 0, err
    found = json.loads(out)
    assert (found["figure"], found["systems"], found["trials_per_segment"]) == ("min_dcf@2", ["sysA", "sysB"], 30)
    goal = found["goal"]
    assert (goal["kind"], goal["amount"], goal["relative"], goal["power"], goal["level"]) == (
        "difference", 0.1, True, 0.9, 0.9
    )  # fmt: skip
    assert all(
        one["n_non"] == pytest.approx(30 * one["n_units"] * one["n_segments"], abs=1) for one in found["designs"]
    )


def test_of_many_classes_a_plan_is_for_cllr(tmp_path, monkeypatch, run):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    label = rng.integers(0, 3, 200)
    rows = rng.normal(0.0, 1.0, (200, 3)) + 1.5 * np.eye(3)[label]
    cells = [",".join((f"s{at}", *map(str, row.tolist()))) for at, row in enumerate(rows)]
    (tmp_path / "s.csv").write_text("\n".join(("trial,a,b,c", *cells)))
    (tmp_path / "k.csv").write_text("\n".join(("trial,class", *(f"s{at},{'abc'[k]}" for at, k in enumerate(label)))))
    code, out, err = run("plan s.csv --key k.csv --width 0.1 --json")
    assert code == 0, err
    assert json.loads(out)["figure"] == "cllr"


@pytest.mark.usefixtures("demo")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("", "--width 0.01"),
        ("--width 0", "--width: got 0.0"),
        ("--width 0.1 --segments 1,x", "write whole numbers"),
        ("--width 0.1 --trials-per-segment some", "write a whole number, or all"),
        (
            "--width 0.1 --figure loss",
            "'loss' is not a metric of two-class scores that has an interval. Use one of eer,",
        ),
        ("--width 0.1 --bootstrap 100", "No such option '--bootstrap'"),
        ("--width 0.1 --optimism", "No such option '--optimism'"),
        ("--width 0.1 --no-intervals", "No such option '--no-intervals'"),
        ("--width 0.1 -o plan.txt", ".svg, .png or .pdf"),
    ],
)
def test_refusals(run, words, said):
    code, out, err = run(f"plan sysA.txt --key key.txt {words}")
    assert code == 2
    assert out == ""
    assert said in " ".join(err.split())
