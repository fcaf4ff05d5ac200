"""Intervals by default, from the command line, of two classes and of many."""

import csv
import json
import re
from pathlib import Path

import numpy as np
import pytest

from deciban import evaluate, evaluate_classes, evaluate_files
from support.commands import printed_table
from support.score_files import write_score_files


@pytest.fixture
def class_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng, names = np.random.default_rng(1), ["eng", "fra", "deu"]
    for system in "AB":
        rows = [f"s{i}," + ",".join(f"{x:.4f}" for x in rng.normal(size=3) + 2 * np.eye(3)[i % 3]) for i in range(90)]
        (tmp_path / f"{system}.csv").write_text("\n".join([f"trial,{','.join(names)}", *rows, ""]))
    rows = [f"s{i},{names[i % 3]},p{i // 2}" for i in range(90)]
    (tmp_path / "key.csv").write_text("\n".join(["trial,class,speaker", *rows, ""]))


def test_eval_prints_intervals_unless_told_not_to(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_score_files(tmp_path)
    shown = run("eval scores.txt --key key.txt")[1]
    (one,) = evaluate_files("scores.txt", "key.txt").systems
    found = one.interval("cllr")
    cell = printed_table(shown)["scores"]["Cllr"]
    low, high = map(float, re.fullmatch(r"\d\.\d{3} \[(\S+), (\S+)\]", cell).groups())
    assert low == pytest.approx(found.low, abs=0.05 * (found.high - found.low))
    assert high == pytest.approx(found.high, abs=0.05 * (found.high - found.low))
    assert f"[95 % intervals by speaker, {found.n_units} speakers]" in shown
    narrower = run("eval scores.txt --key key.txt --level 0.5")[1]
    assert "[50 % intervals by speaker" in narrower
    plain = run("eval scores.txt --key key.txt --no-intervals")[1]
    assert "intervals" not in plain
    assert printed_table(plain)["scores"]["Cllr"] == cell.partition(" [")[0]


@pytest.mark.usefixtures("class_files")
def test_tables_of_classes_have_them_too(run):
    code, out, err = run("eval A.csv B.csv --key key.csv --units speaker")
    assert code == 0, err
    assert "45 units" in out
    for cells in (printed_table(out)[name] for name in "AB"):
        assert all(cell.endswith("]") for cell in cells.values())
    of_classes = run("eval A.csv --key key.csv --units speaker")[1].partition("\n\n")[2]
    for cells in (printed_table(of_classes)[name] for name in ("eng", "fra", "deu")):
        assert all(cell.endswith("]") for heading, cell in cells.items() if heading != "segments")
    found = json.loads(run("eval A.csv --key key.csv --units speaker --json")[1])["systems"][0]
    assert found["units"]["n"] == 45
    assert set(found["intervals"]["class_error_rates"]) == {"eng", "fra", "deu"}
    rate = printed_table(out)["A"]["error rate"]
    low = float(re.search(r"\[(\S+),", rate)[1])
    assert low == pytest.approx(100 * found["intervals"]["error_rate"]["low"], abs=0.5)


def _rows_of_classes(text):
    """Cells of the table of classes of several systems, by class and metric; each spans the columns of its heading."""
    lines = text.partition("\n\n")[2].splitlines()
    starts = [lines[0].index(word) for word in (" A", " B")]
    found, name = {}, ""
    for line in lines[1:]:
        about, cells = line[: starts[0]].split(), (line[starts[0] : starts[1]].strip(), line[starts[1] :].strip())
        if not cells[1].endswith("]"):
            return found
        if line[0] != " ":
            name, _, *about = about
        found[name, " ".join(about)] = cells
    return found


@pytest.mark.usefixtures("class_files")
def test_tables_of_classes_of_several_systems_have_them_in_a_window(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    code, out, err = run("eval A.csv B.csv --key key.csv --units speaker")
    assert code == 0, err
    assert max(map(len, out.splitlines())) <= 80
    found = _rows_of_classes(out)
    assert set(found) == {(x, y) for x in ("eng", "fra", "deu") for y in ("error rate", "Cllr", "min Cllr")}
    systems = evaluate_files(["A.csv", "B.csv"], "key.csv", units="speaker").systems
    for (name, words), cells in found.items():
        which = {"Cllr": "cllr", "min Cllr": "min_cllr"}.get(words)
        for one, cell in zip(systems, cells, strict=True):
            expected = one.interval(("detectors", name, which) if which else ("class_error_rates", name))
            unit = 1.0 if which else 100.0
            low, high = map(float, cell.partition("[")[2].rstrip("]").split(", "))
            width = unit * (expected.high - expected.low)
            assert low == pytest.approx(unit * expected.low, abs=0.06 * width)
            assert high == pytest.approx(unit * expected.high, abs=0.06 * width)
    plain = run("eval A.csv B.csv --key key.csv --no-intervals")[1]
    assert re.search(r"^eng +30 +\d+\.\d\d %  \d\.\d{3} \(\d\.\d{3}\)  ", plain, re.MULTILINE)
    assert "[" not in plain


@pytest.mark.usefixtures("class_files")
@pytest.mark.parametrize("words", ["", " --no-intervals"])
def test_plots_have_bands_unless_told_not_to(run, words, tmp_path):
    code, _, err = run(f"plot c-avg-curve A.csv --key key.csv -o c.svg{words}")
    assert code == 0, err
    shown = (tmp_path / "c.svg").read_text()
    assert ("95 % band, segments taken as independent" in shown) == (not words)


def test_units_that_are_the_classes_say_nothing_of_others(run, tmp_path, monkeypatch):
    """What all trials of a class share cannot vary within it: rounding alone would make intervals."""
    monkeypatch.chdir(tmp_path)
    write_score_files(tmp_path)
    lines = (tmp_path / "key.txt").read_text().splitlines()
    rows = [f"{line.split()[-1]} {' '.join(line.split())}" for line in lines]
    (tmp_path / "labelled.txt").write_text("\n".join(["group enroll test label", *rows, ""]))
    code, out, err = run("eval scores.txt --key labelled.txt --units group")
    assert code == 0, err
    assert "2 units, by column 'group': all trials of a class share a unit, so there are no intervals" in err
    assert "[" not in out
    code, _, err = run("compare scores.txt scores.txt --key labelled.txt --units group")
    assert code == 2
    assert "all trials of a class share a unit" in err


@pytest.mark.usefixtures("class_files")
def test_units_that_are_many_classes_say_nothing_of_others(run, tmp_path):
    rows = (tmp_path / "key.csv").read_text().splitlines()[1:]
    (tmp_path / "unit.txt").write_text("".join(f"{row.split(',')[0]} {row.split(',')[1]}\n" for row in rows))
    code, out, err = run("eval A.csv --key key.csv --units unit.txt")
    assert code == 0, err
    assert "3 units, by unit.txt: all trials of a class share a unit" in err
    assert "[" not in out


def test_one_segment_of_each_class_is_not_said_to_be_independent_and_shared_at_once(run, tmp_path):
    (tmp_path / "one.csv").write_text("class,a,b,c\na,2,0.5,0.1\nb,0.25,2,0.5\nc,0.1,0.5,1.5\n")
    code, out, err = run(f"eval {tmp_path / 'one.csv'}")
    assert code == 0, err
    expected = "3 segments, one of each class: intervals need several of a class, so there are no intervals"
    assert expected in err
    assert "independent" not in err
    assert "[" not in out


def test_arrays_of_one_unit_for_each_class_have_no_intervals():
    rng = np.random.default_rng(1)
    found = evaluate(rng.normal(1, 1, 30), rng.normal(-1, 1, 40), tar_units=["a"] * 30, non_units=["b"] * 40)
    assert found.uncertainty is None
    classes = evaluate_classes(rng.normal(size=(30, 3)), np.arange(30) % 3, units=np.arange(30) % 3)
    assert not classes.uncertainty.estimates
    assert classes.uncertainty.notes[0].startswith("Class 0 comes from 1 effective unit (at least 5 are needed): no")


def test_rates_at_thresholds_and_of_confusions_have_them(run, tmp_path, monkeypatch, class_files):  # noqa: ARG001
    monkeypatch.chdir(tmp_path)
    write_score_files(tmp_path)
    out = run("eval scores.txt --key key.txt --thresholds -q --table csv")[1]
    (one,) = evaluate_files("scores.txt", "key.txt").systems
    lines = out[out.index("system,metric") :].splitlines()
    found = {row["metric"].partition(",")[0]: row for row in csv.DictReader(lines)}
    for heading, metric in (("misses", "p_miss"), ("false alarms", "p_fa")):
        expected = one.interval((metric, 0))
        low, high = (float(found["actDCF"][f"{heading} {side} in %"]) for side in ("low", "high"))
        assert low == pytest.approx(100 * expected.low, abs=6 * (expected.high - expected.low))
        assert high == pytest.approx(100 * expected.high, abs=6 * (expected.high - expected.low))
        for chosen in ("EER (ROCCH)", "minDCF"):  # on these trials: an interval would be too narrow
            assert found[chosen][f"{heading} low in %"] == found[chosen][f"{heading} high in %"] == ""
    out = run("eval A.csv --key key.csv --units speaker -q")[1]
    (one,) = evaluate_files("A.csv", "key.csv", units="speaker").systems
    remark = next(line for line in out.splitlines() if line.startswith("most frequent confusions"))
    true, taken, share, low, high = re.match(r".*?: (\w+) → (\w+) ([\d.]+) % \[([\d.]+), ([\d.]+)\]", remark).groups()
    expected = one.interval(("confusion", true, taken))
    assert float(share) == pytest.approx(100 * expected.estimate, abs=0.005)
    assert float(low) == pytest.approx(100 * expected.low, abs=6 * (expected.high - expected.low))
    assert float(high) == pytest.approx(100 * expected.high, abs=6 * (expected.high - expected.low))
    words = "are optimistic: see eval --corrected"
    assert words not in out
    corrected = "eval A.csv --key key.csv --units speaker --optimism -q"
    assert words in run(corrected)[1]
    found = run(f"{corrected} --corrected")[1]
    assert "min Cllr, corrected" in found.splitlines()[0]
    assert "corrected: expected on new units" in found


@pytest.mark.usefixtures("class_files")
def test_quiet_commands_warn_of_what_numbers_mean(run, tmp_path):
    """Nothing of what was read, but trials that are left out, and why there are no intervals."""
    write_score_files(tmp_path)
    lines = Path("scores.txt").read_text().splitlines(keepends=True)
    Path("fewer.txt").write_text("".join(lines[:-40]))
    code, _, err = run("compare scores.txt fewer.txt --key key.txt -q")
    assert code == 0, err
    (line,) = err.splitlines()
    assert line == f"warn  40 of {len(lines):,} trials left out: they lack a score of some system"
    err = run("compare scores.txt fewer.txt --key key.txt")[2]
    assert line in err
    assert "read  " in err
    assert run("eval scores.txt --key key.txt -q")[2] == ""
