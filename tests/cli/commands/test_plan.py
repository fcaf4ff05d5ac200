"""``deciban plan``."""

import json

import pytest

from deciban import plan_files
from deciban.io import write_demo


@pytest.fixture
def demo(tmp_path, monkeypatch):
    write_demo(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_plan_is_printed_and_drawn(demo, run):
    code, out, err = run("plan sysA.txt --key key.txt --width 0.02 --segments 3,6 -o plan.svg")
    assert code == 0, err
    expected = plan_files("sysA.txt", "key.txt", width=0.02, segments=[3, 6])
    for line in expected.lines:
        assert line in out
    assert "100 speakers, found from target trials" in err
    assert "wrote plan.svg" in err
    assert (demo / "plan.svg").read_bytes().startswith(b"<?xml")


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


@pytest.mark.usefixtures("demo")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("", "--width 0.01"),
        ("--width 0", "--width: got 0.0"),
        ("--width 0.1 --segments 1,x", "write whole numbers"),
        ("--width 0.1 --trials-per-segment some", "write a whole number, or all"),
        ("--width 0.1 --figure loss", "'loss' is no figure of two classes that has an interval. There are eer,"),
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
