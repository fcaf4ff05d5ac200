"""``--units`` and what else commands are told about uncertainty."""

import json
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    trials = [(model, segment) for model in range(4) for segment in range(12)]
    rows = [(f"m{m}", f"s{s}", m == s // 3, "ab"[s % 2], m - s) for m, s in trials]
    Path("scores.txt").write_text("".join(f"{m} {s} {score / 4}\n" for m, s, _, _, score in rows))
    lines = (f"{m},{s},{'target' if same else 'nontarget'},{day}\n" for m, s, same, day, _ in rows)
    Path("key.csv").write_text("enroll,test,label,day\n" + "".join(lines))
    speakers = [f"s{s} p{s // 6}\n" for s in range(12)] + [f"m{m} p{m // 2}\n" for m in range(4)]
    Path("utt2spk").write_text("".join(speakers))


EVAL = "eval scores.txt --key key.csv"

SAID = {
    "": "4 speakers, found from target trials",
    "--units utt2spk": "2 units, by utt2spk",
    "--units ./utt2spk": "2 units, by ./utt2spk",
    "--units enroll,utt2spk": "6 units, by the names of enroll and utt2spk",
    "--units day": "2 units, by column 'day'",
    "--units product": "16 units, by the names of enroll and test, with separate units for the two sides",
    "--units product:utt2spk": "4 units, by utt2spk, with separate units for the two sides",
    "--units trials": "48 trials taken as independent: if they share speakers or sources, the intervals are too narrow",
    "--where day=a": "4 speakers, found from target trials",
}


@pytest.mark.parametrize("options", SAID)
def test_what_units_are_is_said(run, options):
    code, _, err = run(f"{EVAL} {options}")
    assert code == 0, err
    (line,) = [line for line in err.splitlines() if line.startswith("units ")]
    assert line.startswith(f"units  {SAID[options]}")


def test_json_has_what_was_said_and_read(run):
    code, out, _ = run(f"{EVAL} --units utt2spk,utt2spk --level 0.9 --bootstrap 20 --seed 3 --no-optimism --json")
    found = json.loads(out)
    assert code == 0
    assert {"source": "", "kind": "units", "text": "2 units, by utt2spk and utt2spk"} in found["messages"]
    assert found["options"] | {"level": 0.9, "bootstrap": 20, "seed": 3, "optimism": False} == found["options"]
    assert [file["path"] for file in found["files"] if file["role"] == "units"] == ["utt2spk"]


def test_no_intervals_need_no_units(run):
    code, _, err = run(f"{EVAL} --no-intervals --units nothing")
    assert code == 0
    assert "units" not in err


def test_quiet_says_nothing(run):
    assert run(f"{EVAL} --quiet")[2] == ""


def test_a_report_is_told_as_well(run):
    code, _, err = run("report scores.txt --key key.csv --units utt2spk -o page.html")
    assert code == 0, err
    assert "units  2 units, by utt2spk" in err
    assert "2 units, by utt2spk" in Path("page.html").read_text()
    code, _, err = run("report scores.txt --key key.csv --units utt2spk -o utt2spk")
    assert code != 0
    assert "utt2spk" in err
    assert Path("utt2spk").read_text().startswith("s0 p0")


def test_a_plot_is_told_as_well(run):
    code, out, err = run("plot det scores.txt --key key.csv --units utt2spk -o det.svg --json")
    assert code == 0, err
    assert "units  2 units, by utt2spk" in err
    assert [file["path"] for file in json.loads(out)["files"] if file["role"] == "units"] == ["utt2spk"]
    code, _, err = run("plot det scores.txt --key key.csv --units speakers.svg -o speakers.svg")
    assert code == 2
    assert "'speakers.svg' is not a column of key.csv" in err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            "--units nothing",
            "--units: 'nothing' is not a column of key.csv (the columns are enroll, test, day), nor a file",
        ),
        ("--units key.csv", "expected 2 columns"),
        ("--units a,b,c", "--units: got 'a,b,c'"),
        ("--units product:day", "--units: 'product' needs units of two sides"),
        ("--level 2", "--level: got 2.0. A level must be inside (0, 1)"),
        ("--level much", "'much' is not a valid float"),
        ("--bootstrap -1", "--bootstrap: got -1"),
        ("--bootstrap 1.5", "'1.5' is not a valid integer"),
        ("--seed -1", "--seed: got -1"),
    ],
)
def test_what_is_refused(run, options, message):
    code, out, err = run(f"{EVAL} {options}")
    assert (code, out) == (2, "")
    assert message in err


def test_a_file_that_lacks_names_is_refused_with_the_option(run):
    Path("part").write_text("s1 a\n")
    code, _, err = run(f"{EVAL} --units enroll,part")
    assert code == 2
    assert "key.csv:2: part does not contain the unit of 's0' (11 of 12 names of test are missing)" in err
