"""Tables of what one asks for, from the command line."""

import json
import math
import re
import shlex
from collections import Counter
from pathlib import Path

import pytest

from support.score_files import write_score_files


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return write_score_files(tmp_path)


def table(out, heading, *, intervals=False):
    """Rows of the table whose first line begins so, up to the next empty line, cells by two blanks."""
    lines = out.splitlines()
    first = next(k for k, line in enumerate(lines) if re.match(heading, line))
    rows = []
    for line in lines[first + 1 :]:
        if not line.strip():
            break
        cells = re.split(r" {2,}", line.strip())
        rows.append(cells if intervals else [re.sub(r" \[[^]]*\]$", "", cell) for cell in cells])
    return rows


def asked(run, words):
    """The tables and the JSON of one command."""
    code, out, err = run(f"eval scores.txt second.txt --key key.txt {words}")
    assert code == 0, err
    return out, json.loads(run(f"eval scores.txt second.txt --key key.txt -q --json {words}")[1])["systems"]


@pytest.mark.usefixtures("folder")
def test_thresholds(run):
    out, systems = asked(run, "--thresholds --dcf 0.2")
    rows = table(out, "system +metric")[:6]
    places = [value for one in systems for value in (one["eer_threshold"], one["operating_points"][0]["min_threshold"])]
    assert [row[3] for row in rows if "actDCF" not in row[1]] == [f"{float(place):.4f}" for place in places]
    assert rows[0][4] == f"{100 * systems[0]['eer_p_miss']:.2f} %"
    assert [row[3] for row in rows if "actDCF" in row[1]] == [f"{math.log(4):.4f}"] * 2


@pytest.mark.usefixtures("folder")
def test_figures_have_their_intervals(run):
    out, (one, _) = asked(run, "--thresholds --fnmr-at 0.8 --posteriors-at 0.1 --misleading --eer-conventions")
    at = one["operating_points"][0]["intervals"]
    value = table(out, "system +metric", intervals=True)[1][2]
    cells = [
        (value, at["min_dcf"], 1),
        (table(out, "system +rocch", intervals=True)[0][1], one["intervals"]["eer_conventions"]["rocch"], 100),
        (table(out, "system +FMR at most", intervals=True)[0][2], one["fnmr_at_fmr"][0]["intervals"]["fnmr"], 100),
        (table(out, "system +prior", intervals=True)[1][3], one["posterior_scores"][0]["intervals"]["brier"], 1),
        (table(out, "system +factor", intervals=True)[0][3], one["misleading_evidence"][0]["intervals"]["p_tar"], 100),
    ]
    for cell, interval, scale in cells:
        low, high = map(float, re.search(r" \[(\S+), (\S+)\]$", cell).groups())
        width = scale * (interval["high"] - interval["low"])
        margin = max(0.05 * width, 0.5 if width > 10 else 0.0) * 1.001
        assert low == pytest.approx(scale * interval["low"], abs=margin), cell
        assert high == pytest.approx(scale * interval["high"], abs=margin), cell


@pytest.mark.usefixtures("folder")
def test_conventions_with_the_tools_that_have_them(run):
    out, systems = asked(run, "--eer-conventions")
    for row, one in zip(table(out, "system +rocch +interpolated"), systems, strict=False):
        assert row == [one["name"], *(f"{100 * value:.2f} %" for value in one["eer_conventions"].values())]
    assert table(out, "EER +definition")[-1][::2] == ["crossed_p_miss", "Kaldi compute-eer"]


@pytest.mark.usefixtures("folder")
def test_rates_of_many_systems_by_convention_are_whole_in_a_narrow_window(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    names = [f"a system of a long name, number {k}" for k in range(12)]
    scores = Path("scores.txt").read_text()
    for name in names:
        Path(f"{name}.txt").write_text(scores)
    words = " ".join(shlex.quote(f"{name}.txt") for name in names)
    code, out, err = run(f"eval {words} --key key.txt --eer-conventions -q")
    assert code == 0, err
    found = json.loads(run("eval scores.txt --key key.txt --eer-conventions -q --json")[1])["systems"][0]
    counts = Counter(f"{100 * value:.2f} %" for value in found["eer_conventions"].values())
    for value, count in counts.items():
        assert len(re.findall(rf"(?<!\S){value}(?!\S)", out)) >= 12 * count


@pytest.mark.usefixtures("folder")
def test_rates_at_limits(run):
    out, systems = asked(run, "--fnmr-at 0.1,0.0001 --fnmr-at 0.5 --fmr-at 0.25")
    rows = table(out, "system +FMR at most")
    assert [row[1] for row in rows[:3]] == ["10 %", "0.01 %", "50 %"]
    found = systems[0]["fnmr_at_fmr"][0]
    assert rows[0][2:] == [
        f"{100 * found['fnmr']:.2f} %",
        f"{found['threshold']:.4f}",
        f"{found['n_miss']} of 20",
        f"{found['n_fa']} of 40",
    ]
    assert table(out, "system +FNMR at most")[0][1] == "25 %"


@pytest.mark.usefixtures("folder")
def test_thresholds_from_elsewhere(run):
    Path("dev1.txt").write_text(Path("second.txt").read_text())
    Path("dev2.txt").write_text(Path("scores.txt").read_text())
    out, systems = asked(run, "--threshold-from dev1.txt --threshold-from dev2.txt --threshold-key key.txt")
    rows = table(out, "system +threshold chosen for")
    at = [one for system in systems for one in system["at_thresholds"]]
    assert [row[-1] for row in rows[:4]] == [f"{100 * one['hter']:.2f} %" for one in at]
    assert systems[0]["at_thresholds"][0]["threshold"] == systems[1]["eer_threshold"]


@pytest.mark.usefixtures("folder")
def test_scores_of_posteriors(run):
    out, systems = asked(run, "--posteriors-at 0.1")
    rows = table(out, "system +prior +score")
    for row, name in zip(rows[:2], ("log_loss", "brier"), strict=True):
        parts = systems[0]["posterior_scores"][0][name]
        names = ("total", "calibration_loss", "discrimination_loss", "uncertainty")
        assert row[3:] == [f"{parts[part]:.4f}" for part in names]


@pytest.mark.usefixtures("folder")
def test_misleading_evidence(run):
    out, systems = asked(run, "--misleading")
    rows = table(out, "system +factor")
    first = systems[0]["misleading_evidence"][0]
    assert rows[0][1:] == [
        "any",
        f"{first['n_tar']} of 20",
        f"{100 * first['p_tar']:.2f} %",
        f"{first['n_non']} of 40",
        f"{100 * first['p_non']:.2f} %",
    ]
    assert rows[3][1] == "more than 1000"
    lines = run("eval scores.txt --key key.txt --misleading --table csv -q")[1].splitlines()
    line = next(line for line in lines if line.startswith("system,factor"))
    rates = [
        [f"{name} in %" for name in (p, f"{p} low", f"{p} high")] for p in ("share of targets", "share of non-targets")
    ]
    assert line.split(",")[2:] == ["targets", *rates[0], "non-targets", *rates[1]]


@pytest.mark.usefixtures("folder")
def test_nothing_is_shown_unasked(run):
    _, out, _ = run("eval scores.txt --key key.txt")
    assert not any("threshold" in line for line in out.splitlines() if "uncertain" not in line)
    assert "misleading" not in out


@pytest.mark.usefixtures("folder")
def test_thresholds_of_common_logarithms_are_written_so(run):
    words = "eval scores.txt --key key.txt -q --thresholds"
    nats, log10 = run(words)[1], run(f"{words} --log10")[1]
    assert table(nats, "system +metric")[0][3] == table(log10, "system +metric")[0][3]  # the number in the file
    assert "thresholds in log10" in log10
    assert "log10" not in run(f"{words} --log10 --axis nats")[1]
    asked_for = table(run(f"{words} --axis log10")[1], "system +metric")[0][3]
    assert float(asked_for) == pytest.approx(float(table(nats, "system +metric")[0][3]) / math.log(10), abs=1e-4)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--fnmr-at 0.1%", "write fractions, for example 0.001,0.0001"),
        ("--fnmr-at 5", "fnmr-at: got 5. A rate is a fraction"),
        ("--posteriors-at 1", "posteriors-at: got 1"),
        ("--threshold-key key.txt", "--threshold-key: is for the scores of threshold_from"),
        ("--threshold-from scores.txt --threshold-from second.txt --threshold-key key.txt", "got 2 systems"),
        ("--axis ln", "'ln' is not one of"),
    ],
)
def test_refusals(run, words, message):
    code, out, err = run(f"eval scores.txt --key key.txt {words}")
    assert (code, out) == (2, "")
    assert message in err


@pytest.mark.usefixtures("folder")
def test_many_classes_have_none_of_it(run):
    for words in (
        "--misleading",
        "--fnmr-at 0.1",
        "--posteriors-at 0.5",
        "--axis log10",
        "--threshold-from classes.tsv",
    ):
        code, out, err = run(f"eval classes.tsv {words}")
        assert (code, out) == (2, "")
        assert "for two-class scores" in err
    assert "--misleading, --axis are for two-class scores" in run("eval classes.tsv --axis log10 --misleading")[2]
