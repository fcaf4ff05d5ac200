"""The commands as users type them: output, exit codes, and what is left behind after an error."""

import json
import math
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from deciban import plots
from deciban.cli.main import main


class Outcome:
    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err


@pytest.fixture
def run(monkeypatch, capsys):
    def runner(*words):
        monkeypatch.setattr(sys, "argv", ["deciban", *map(str, words)])
        with pytest.raises(SystemExit) as exit_info:
            main()
            sys.exit(0)
        captured = capsys.readouterr()
        code = exit_info.value.code
        return Outcome(0 if code is None else code, captured.out, captured.err)

    return runner


@pytest.fixture
def files(tmp_path):
    rng = np.random.default_rng(7)
    truth = rng.random(400) < 0.25
    score = rng.normal(2 * truth - 1, 1).round(3)
    key = "".join(f"m{i % 20} s{i} {'target' if t else 'nontarget'}\n" for i, t in enumerate(truth))
    lines = [f"m{i % 20} s{i} {value}\n" for i, value in enumerate(score)]
    (tmp_path / "key.txt").write_text(key)
    (tmp_path / "sysA.txt").write_text("".join(lines))
    (tmp_path / "sysB.txt").write_text(
        "".join(f"m{i % 20} s{i} {2 * v + 1}\n" for i, v in reversed(list(enumerate(score))))
    )
    return tmp_path


def test_eval_prints_a_table_and_says_what_it_read(run, files):
    result = run("eval", files / "sysA.txt", files / "sysB.txt", "--key", files / "key.txt")
    assert result.code == 0
    header, row_a, row_b = result.out.splitlines()[:3]
    assert header.split() == [
        "system",
        "EER",
        "(ROCCH)",
        "minDCF(0.01)",
        "actDCF(0.01)",
        "Cllr",
        "min",
        "Cllr",
        "calibration",
        "loss",
        "AUC",
    ]
    assert row_a.split()[0] == "sysA"
    assert row_b.split()[0] == "sysB"
    # An increasing map moves no rank metric.
    assert row_a.split()[1:4] == row_b.split()[1:4]
    assert "read  " in result.err
    assert "kaldi 'enroll test score'   400 trials" in result.err
    assert "join  400 matched · 0 missing · 0 extra · 0 duplicate" in result.err
    assert run("eval", files / "sysA.txt", "--key", files / "key.txt", "-q").err == ""


def test_json_is_one_object_with_the_promised_names(run, files):
    result = run("eval", files / "sysA.txt", "--key", files / "key.txt", "--json", "--dcf", "0.01:10:1", "--dcf", "0.5")
    found = json.loads(result.out)
    assert set(found) >= {"schema", "systems", "join", "conventions"}
    assert found["schema"] == 2
    assert found["join"] == {"matched": 400, "missing": 0, "extra": 0, "duplicate": 0}
    (system,) = found["systems"]
    assert set(system) >= {"name", "n_tar", "n_non", "eer", "auc", "cllr", "min_cllr", "prbep", "operating_points"}
    assert (system["name"], system["n_tar"] + system["n_non"]) == ("sysA", 400)
    assert 0 < system["eer"] < 0.5
    points = system["operating_points"]
    assert [(p["p_target"], p["c_miss"], p["c_fa"]) for p in points] == [(0.01, 10, 1), (0.5, 1, 1)]
    assert all(0 < p["min_dcf"] <= p["act_dcf"] for p in points)


def test_infinite_numbers_are_words_in_json(run, tmp_path):
    (tmp_path / "s.txt").write_text("a -inf target\nb 0 nontarget\nc 1 target\n")
    result = run("eval", tmp_path / "s.txt", "--json", "-q")
    assert json.loads(result.out)["systems"][0]["cllr"] == "inf"
    assert "Infinity" not in result.out
    table = run("eval", tmp_path / "s.txt", "-q").out
    assert " inf " in table
    assert "Cllr is infinite" in table


def test_labels_in_the_score_files_do_without_a_key(run, tmp_path):
    (tmp_path / "a.txt").write_text("x - bonafide 2.5\ny A01 spoof -1.5\nz A02 spoof 0.5\n")
    (tmp_path / "b.txt").write_text("z A02 spoof 0.25\nx - bonafide 3.5\ny A01 spoof -2\n")
    result = run("eval", tmp_path / "a.txt", tmp_path / "b.txt", "--json")
    assert "1 target (bonafide) · 2 non-target (spoof)" in result.err
    assert [system["n_tar"] for system in json.loads(result.out)["systems"]] == [1, 1]
    (tmp_path / "b.txt").write_text("z A02 bonafide 0.25\nx - bonafide 3.5\ny A01 spoof -2\n")
    result = run("eval", tmp_path / "a.txt", tmp_path / "b.txt")
    assert result.code == 2
    assert "b.txt:1: trial (z) has another label than in" in result.err


def test_presets_set_the_operating_points(run, files):
    result = run("eval", files / "sysA.txt", "--key", files / "key.txt", "--preset", "sre12", "--json")
    points = json.loads(result.out)["systems"][0]["operating_points"]
    assert [p["p_target"] for p in points] == [0.01, 0.001]
    assert "preset  sre12 (p_target 0.01; p_target 0.001): NIST SRE 2012" in result.err
    assert "mean over points" in run("eval", files / "sysA.txt", "--key", files / "key.txt", "--preset", "sre12").out
    unknown = run("eval", files / "sysA.txt", "--key", files / "key.txt", "--preset", "sre99")
    assert unknown.code == 2
    assert "preset: 'sre99' is not known. Use one of sre96-08" in unknown.err


def test_flipped_scores_are_warned_of(run, files):
    text = (files / "sysA.txt").read_text().splitlines()
    (files / "flipped.txt").write_text("".join(f"{m} {s} {-float(v)}\n" for m, s, v in map(str.split, text)))
    result = run("eval", files / "flipped.txt", "--key", files / "key.txt")
    assert result.code == 0
    assert "Scores look reversed" in result.out


def test_report_is_one_offline_page(run, files):
    output = files / "out.html"
    result = run("report", files / "sysA.txt", "--key", files / "key.txt", "-o", output, "--title", "My <title>")
    assert result.code == 0
    page = output.read_text()
    assert "My &lt;title&gt;" in page
    page = page.replace(
        "/*! https://github.com/leeoniya/uPlot", ""
    )  # a comment that names the charts and their version
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert "https://" not in page
    assert "400 matched" in page
    assert f"wrote {output}" in result.out.replace("\n", "")


@pytest.mark.parametrize("kind", [*plots.KINDS, *plots.TEACHING_KINDS])
def test_every_plot(run, files, kind):
    assert_plotted(run, files, kind, "svg", b"<?xml")


@pytest.mark.usefixtures("pictures")
@pytest.mark.parametrize(("ending", "magic"), [("svg", b"<?xml"), ("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_every_format(run, files, ending, magic):
    assert_plotted(run, files, "det", ending, magic)


def assert_plotted(run, files, kind, ending, magic):
    output = files / f"plot.{ending}"
    result = run(
        "plot", kind.replace("_", "-"), files / "sysA.txt", files / "sysB.txt", "--key", files / "key.txt", "-o", output
    )
    assert result.code == 0
    assert output.read_bytes().startswith(magic)


def test_demo_evaluates_what_it_wrote(run, tmp_path):
    result = run("demo", tmp_path / "new" / "demo")
    assert result.code == 0
    written = sorted(path.name for path in (tmp_path / "new" / "demo").iterdir())
    assert written == ["key.txt", "report.html", "scores.csv", "sysA.txt", "sysB.txt"]
    assert "using the scores clearly costs more than ignoring them" in result.out
    again = run("eval", tmp_path / "new/demo/sysB.txt", "--key", tmp_path / "new/demo/key.txt", "--json")
    system = json.loads(again.out)["systems"][0]
    assert (system["n_tar"], system["n_non"]) == (600, 59_400)
    assert system["cllr"] - system["min_cllr"] < 0.02
    # Gaussian llrs with variance 3.8**2: the error rate is that of a half deviation; 600 targets allow for noise.
    assert system["eer"] == pytest.approx(0.5 * math.erfc(1.9 / math.sqrt(2)), abs=0.01)


def test_inspect_describes_scores_and_keys(run, files):
    result = run("inspect", files / "sysA.txt", files / "key.txt")
    assert result.code == 0
    for words in ("kaldi 'enroll test score'", "20 distinct names", "kaldi 'enroll test label'", "target · "):
        assert words in result.out


def test_inspect_sees_what_looks_wrong(run, tmp_path):
    (tmp_path / "p.txt").write_text("".join(f"t{i} {i % 10 / 10} {i % 10 < 5:d}\n" for i in range(2000)))
    out = " ".join(run("inspect", tmp_path / "p.txt").out.split())
    assert "--probabilities PRIOR" in out
    assert "Is the sign inverted?" in out
    assert "probably from rounding" in out


def test_inspect_is_told_of_common_logarithms(run, files):
    assert ", log10" in run("inspect", files / "sysA.txt", "--log10").out
    assert ", log10" not in run("inspect", files / "sysA.txt").out


BAD = {
    "missing file": (["eval", "none.txt", "--key", "key.txt"], "none.txt: No such file or directory"),
    "no key": (["eval", "sysA.txt"], "key: none given, and"),
    "folder": (["eval", ".", "--key", "key.txt"], "not a Parquet file"),
    "no common trial": (["eval", "other.txt", "--key", "key.txt"], "share no trial"),
    "missing trials": (["eval", "short.txt", "--key", "key.txt"], "400 key trials have no score in"),
    "nan": (["report", "nan.txt", "--key", "key.txt", "-o", "out.html"], "nan.txt:3: the score is NaN"),
    "one class": (["report", "sysA.txt", "--key", "onlytar.txt", "-o", "out.html"], "no non-target trial among 400"),
    "bad label": (
        ["report", "sysA.txt", "--key", "badkey.txt", "-o", "out.html"],
        "badkey.txt:401: unknown label 'yes'",
    ),
    "bad dcf": (["eval", "sysA.txt", "--key", "key.txt", "--dcf", "1:2"], "write P or P:CMISS:CFA"),
    "bad prior": (["eval", "sysA.txt", "--key", "key.txt", "--dcf", "1.5"], "p_target: a prior must be inside (0, 1)"),
    "bad missing": (["eval", "sysA.txt", "--key", "key.txt", "--missing", "guess"], "write error, drop or fill=VALUE"),
    "bad labels": (["eval", "sysA.txt", "--key", "key.txt", "--labels", "yes"], "write target=WORD,nontarget=WORD"),
    "bad ending": (["plot", "det", "sysA.txt", "--key", "key.txt", "-o", "out.jpg"], "must end in .svg, .png or .pdf"),
    "bad kind": (["plot", "pie", "sysA.txt", "--key", "key.txt", "-o", "out.png"], "'pie' is not one of"),
    "no folder": (["report", "sysA.txt", "--key", "key.txt", "-o", "no/where.html"], "the folder 'no' does not exist"),
    "no output": (["report", "sysA.txt", "--key", "key.txt"], "Missing option"),
    "unknown command": (["evil"], "No such command"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_exits_with_2_and_writes_nothing(run, files, monkeypatch, case):
    monkeypatch.chdir(files)
    Path("other.txt").write_text("x y 1\n")
    Path("short.txt").write_text("".join(Path("sysA.txt").read_text().splitlines(keepends=True)[:100]))
    Path("nan.txt").write_text("m0 s0 1\nm1 s1 1\nm2 s2 nan\n")
    Path("onlytar.txt").write_text(Path("key.txt").read_text().replace("nontarget", "target"))
    Path("badkey.txt").write_text(Path("key.txt").read_text() + "m s yes\n")
    before = sorted(Path().iterdir())
    words, message = BAD[case]
    result = run(*words)
    assert result.code == 2
    assert message in " ".join(result.err.split())
    assert sorted(Path().iterdir()) == before
    assert result.out == ""


def test_an_old_output_survives_an_error(run, files):
    output = files / "out.html"
    output.write_text("old")
    result = run("report", files / "sysA.txt", "--key", files / "sysA.txt", "-o", output)
    assert result.code == 2
    assert output.read_text() == "old"


def test_fill_and_drop(run, files):
    lines = (files / "sysA.txt").read_text().splitlines(keepends=True)
    (files / "short.txt").write_text("".join(lines[:300]))
    dropped = run("eval", files / "short.txt", "--key", files / "key.txt", "--missing", "drop", "--json")
    assert json.loads(dropped.out)["join"] == {"matched": 300, "missing": 100, "extra": 0, "duplicate": 0}
    filled = run("eval", files / "short.txt", "--key", files / "key.txt", "--missing", "fill=-10", "--json")
    system = json.loads(filled.out)["systems"][0]
    assert system["n_tar"] + system["n_non"] == 400
    assert "fill  trials without a score got -10" in filled.err


def test_the_installed_command_answers():
    command = Path(sys.executable).with_name("deciban")
    for words in ([command, "--version"], [sys.executable, "-m", "deciban", "--version"]):
        found = subprocess.run(words, capture_output=True, text=True, check=True)
        assert found.stdout.startswith("deciban 0.")
    listed = subprocess.run([command, "--help"], capture_output=True, text=True, check=True).stdout
    for name in ("demo", "eval", "report", "plot", "inspect"):
        assert name in listed
        helped = subprocess.run([command, name, "--help"], capture_output=True, text=True, check=True).stdout
        assert "Usage: deciban" in helped


def test_a_reader_that_goes_away_is_no_error(files):
    command = Path(sys.executable).with_name("deciban")
    words = f"'{command}' eval '{files}/sysA.txt' --key '{files}/key.txt' -q --json | head -c 1"
    found = subprocess.run(["bash", "-o", "pipefail", "-c", words], capture_output=True, text=True, check=False)
    assert (found.stdout, found.stderr, found.returncode) == ("{", "", 0)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
def test_a_full_disk_is_not_the_fault_of_the_input(files):
    command = Path(sys.executable).with_name("deciban")
    words = f"'{command}' eval '{files}/sysA.txt' --key '{files}/key.txt' -q > /dev/full"
    found = subprocess.run(["bash", "-c", words], capture_output=True, text=True, check=False)
    assert found.returncode == 1
    assert "No space left on device" in found.stderr


def test_terminals_that_know_ascii_only(files):
    (files / "Größe.txt").write_text((files / "sysA.txt").read_text())
    words = [Path(sys.executable).with_name("deciban"), "eval", files / "Größe.txt", "--key", files / "key.txt", "-q"]
    ascii_only = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    found = subprocess.run(words, capture_output=True, text=True, check=False, env=ascii_only)
    assert (found.returncode, found.stderr) == (0, "")
    assert "Gr??e" in found.stdout


def test_keys_from_pipes(files):
    command = Path(sys.executable).with_name("deciban")
    words = f"'{command}' eval <(head -n 10 '{files}/sysA.txt') --key <(cat '{files}/key.txt')"
    found = subprocess.run(["bash", "-c", words], capture_output=True, text=True, check=False)
    assert found.returncode == 2
    assert "390 of 400 key trials have no score" in found.stderr


def test_narrow_terminals_cut_nothing_off(run, files, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    wide = "a_system_with_a_rather_long_name"
    (files / f"{wide}.txt").write_text(re.sub(r" -\S+", " -1e300", (files / "sysA.txt").read_text()))
    lines = run("eval", files / f"{wide}.txt", "--key", files / "key.txt", "-q", "--all").out.splitlines()
    first = [line[:20].rstrip() for line in lines[: lines.index("")]]
    assert wide in "".join(first)
    assert "…" not in "".join(lines)
    assert max(map(len, lines)) <= 40
    monkeypatch.delenv("COLUMNS")
    out = run("eval", files / f"{wide}.txt", "--key", files / "key.txt", "-q", "--all").out
    assert max(map(len, out.splitlines()[:2])) > 80


def test_systems_of_one_name_are_told_apart(run, files):
    (files / "sysA.csv").write_text((files / "sysA.txt").read_text())
    result = run(
        "eval",
        files / "sysA.txt",
        files / "sysA.csv",
        files / "sysB.txt",
        files / "sysB.txt",
        "--key",
        files / "key.txt",
        "--json",
    )
    names = [system["name"] for system in json.loads(result.out)["systems"]]
    b = str(files / "sysB.txt")
    assert names == [str(files / "sysA.txt"), str(files / "sysA.csv"), b, f"{b} #2"]


def test_threads_of_openblas_do_not_wait_in_a_busy_loop(run, monkeypatch):
    monkeypatch.delenv("OPENBLAS_THREAD_TIMEOUT", raising=False)
    run("presets")
    assert os.environ["OPENBLAS_THREAD_TIMEOUT"] == "14"
    monkeypatch.setenv("OPENBLAS_THREAD_TIMEOUT", "20")
    run("presets")
    assert os.environ["OPENBLAS_THREAD_TIMEOUT"] == "20"
