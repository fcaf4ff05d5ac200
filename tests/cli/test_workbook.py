"""``deciban eval --table xlsx``: a workbook with all metrics, and one sheet for each table."""

import sys

import numpy as np
import pytest

import deciban
from deciban.io import write_demo

openpyxl = pytest.importorskip("openpyxl")


@pytest.fixture
def here(tmp_path, monkeypatch):
    """The files of a demo of a few speakers."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("deciban.io.demos._SPEAKERS", 12)
    write_demo(tmp_path)
    return tmp_path


def sheets(path):
    return {
        one.title: [[cell.value for cell in row] for row in one.iter_rows()] for one in openpyxl.load_workbook(path)
    }


@pytest.mark.usefixtures("here")
def test_metrics_have_all_digits_and_bounds(run):
    code, out, err = run("eval sysA.txt sysB.txt --key key.txt --dcf 0.01 --dcf 0.5 -q --table xlsx -o out.xlsx")
    assert (code, out.strip()) == (0, "wrote out.xlsx"), err
    found = sheets("out.xlsx")
    assert list(found) == ["metrics", "1 system", "2 system", "notes"]
    headings, *rows = found["metrics"]
    results = deciban.evaluate_files(["sysA.txt", "sysB.txt"], "key.txt", operating_points=[0.01, 0.5])
    assert headings == ["system", "condition", "metric", "place", "value", "low", "high", "corrected"]
    assert len(rows) == len(results.metrics)
    for row, one in zip(rows, results.metrics, strict=True):
        expected = [one.system, one.condition or None, one.metric, one.place or None]
        assert row[:4] == expected
        for value, number in zip(row[4:], (one.value, one.low, one.high, one.corrected), strict=True):
            assert value == (None if number is None or np.isnan(number) else pytest.approx(number))
    table = dict(zip(found["1 system"][0], found["1 system"][1], strict=True))
    assert table["EER (ROCCH) in %"] == pytest.approx(100 * results.systems[0].eer, abs=0.006)
    assert table["EER (ROCCH) low in %"] < table["EER (ROCCH) in %"] < table["EER (ROCCH) high in %"]
    assert any("badly" in str(row) or "calibrate" in str(row) for row in found["notes"])


@pytest.mark.usefixtures("here")
def test_every_table_has_a_sheet(run):
    call = "eval sysA.txt --key key.txt --by enroll --worst 2 --eer-conventions --table xlsx -o out.xlsx -q"
    assert run(call)[0] == 0
    names = list(sheets("out.xlsx"))
    assert len(names) >= 5
    assert all(len(name) <= 31 for name in names)


def test_text_is_never_a_formula(here, run):
    (here / "=1+1.txt").write_text((here / "sysA.txt").read_text())
    assert run("eval =1+1.txt --key key.txt --table xlsx -o out.xlsx -q")[0] == 0
    book = openpyxl.load_workbook("out.xlsx")
    cells = [cell for sheet in book for row in sheet.iter_rows() for cell in row if str(cell.value).startswith("=")]
    assert cells
    assert {cell.data_type for cell in cells} == {"s"}


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--table xlsx", "belong together"),
        ("-o out.xlsx", "belong together"),
        ("--table csv -o out.csv", "belong together"),
        ("--table xlsx -o sysA.txt", "is an input"),
        ("--table xlsx -o out.xlsx --json", "--json prints no tables"),
        ("--table xlsx -o nowhere/out.xlsx", "nowhere"),
    ],
)
def test_what_fits_no_workbook_is_refused(words, said, run):
    code, out, err = run(f"eval sysA.txt --key key.txt {words}")
    assert (code, out) == (2, "")
    assert said in err


def test_without_openpyxl_the_extra_is_named(here, run, monkeypatch):
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    code, _, err = run("eval sysA.txt --key key.txt --table xlsx -o out.xlsx -q")
    assert (code, "pip install 'deciban[excel]'" in err) == (2, True)
    assert not (here / "out.xlsx").exists()
