"""Tables of metrics with intervals: aligned, turned where they are wide, apart for programs."""

import csv
import io
import re
from dataclasses import replace

import numpy as np
import pytest

import deciban
from deciban.evaluation.one_system import WithInterval
from deciban.report import render
from deciban.tables.writers import aligned, apart, with_corrected
from support.commands import printed_table

RNG = np.random.default_rng(4)
UNITS = {"tar_units": np.arange(300) % 60, "non_units": RNG.integers(0, 60, (900, 2))}
SYSTEMS = tuple(
    deciban.evaluate(RNG.normal(m, 2, 300), RNG.normal(-m, 2, 900), name=name, operating_points=[0.01], **UNITS)
    for name, m in (("sysA", 2), ("sysB", 3), ("sysC", 1))
)
METRICS = ["EER (ROCCH)", "minDCF(0.01)", "actDCF(0.01)", "Cllr", "min Cllr", "calibration loss", "AUC"]


def plain(systems):
    """The same systems without intervals."""
    return deciban.Results(
        tuple(
            deciban.evaluation.evaluate(*_scores(k), name=one.name, operating_points=[0.01])
            for k, one in enumerate(systems)
        )
    )


def _scores(k):
    rng = np.random.default_rng(4)
    rng.integers(0, 60, (900, 2))
    drawn = [(rng.normal(m, 2, 300), rng.normal(-m, 2, 900)) for m in (2, 3, 1)]
    return drawn[k]


def test_two_systems_with_all_columns_fit_80_letters():
    text = deciban.Results(SYSTEMS[:2]).table(width=80)
    lines = text.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0].split() == ["sysA", "sysB"]
    assert [line[:18].strip() for line in lines[1:8]] == METRICS
    assert all(line.count("[") == 2 for line in lines[1:8])  # one block: every metric of both systems on its line
    assert "[95 % intervals by unit, 60 units]" in " ".join(text.split())


def test_more_systems_stand_below_each_other_and_lose_nothing():
    text = deciban.Results(SYSTEMS).table(width=80)
    assert max(map(len, text.splitlines())) <= 80
    for one in SYSTEMS:
        assert sum(line.startswith(one.name) and "[" in line for line in text.splitlines()) == 3  # blocks
    rows = printed_table(deciban.Results(SYSTEMS).table())
    assert [list(row) for row in rows.values()][:3] == [METRICS] * 3
    for one, cells in zip(SYSTEMS, list(rows.values())[:3], strict=True):
        for cell in cells.values():
            assert cell.partition(" [")[0] in text
        assert cells["EER (ROCCH)"].startswith(f"{100 * one.eer:.2f} % [")


def test_a_wide_window_has_a_row_for_each_system():
    lines = deciban.Results(SYSTEMS[:2]).table(width=200).splitlines()
    assert lines[0].split()[0] == "system"
    assert [line.split()[0] for line in lines[1:3]] == ["sysA", "sysB"]


def test_without_intervals_tables_are_what_they_were():
    results = plain(SYSTEMS)
    lines = results.table(width=100).splitlines()
    assert lines[0] == "system  EER (ROCCH)  minDCF(0.01)  actDCF(0.01)   Cllr  min Cllr  calibration loss     AUC"
    assert "[" not in "".join(lines[:4])


@pytest.mark.parametrize("metric", ["EER (ROCCH)", "Cllr", "AUC"])
def test_csv_has_numeric_columns_of_bounds(metric):
    text = deciban.Results(SYSTEMS[:2]).table("csv")
    rows = list(csv.DictReader(line for line in io.StringIO(text) if not line.startswith("#")))
    unit, scale = (" in %", 100.0) if metric.startswith("EER") else ("", 1.0)
    name = {"EER (ROCCH)": "eer", "Cllr": "cllr", "AUC": "auc"}[metric]
    for one, row in zip(SYSTEMS, rows, strict=False):
        found = one.interval(name)
        low, high = (float(row[f"{metric} {side}{unit}"]) for side in ("low", "high"))
        margin = 0.05 * scale * (found.high - found.low)
        assert low == pytest.approx(scale * found.low, abs=margin)
        assert high == pytest.approx(scale * found.high, abs=margin)
        assert float(row[f"{metric}{unit}"]) == pytest.approx(scale * getattr(one, name), abs=0.005)


def test_other_styles_have_both_in_one_cell():
    for style in ("markdown", "latex", "html"):
        text = deciban.Results(SYSTEMS[:1]).table(style).replace("\\", "")
        cell = next(iter(printed_table(deciban.Results(SYSTEMS[:1]).table()).values()))["Cllr"]
        assert cell in text


def test_negative_bounds_have_a_minus_in_latex():
    from deciban.tables.writers import Table, as_latex

    text = as_latex(Table(("system", "x"), (("a", WithInterval("0.1", "-0.2", "0.4")),)))
    assert "0.1 [$-$0.2, 0.4]" in text
    assert r"a $-$ b & x \\" in as_latex(Table(("a \N{MINUS SIGN} b", "x"), ()))  # no letter of LaTeX fonts


def test_columns_without_intervals_are_left_alone():
    assert aligned(["1", "22"]) == ["1", "22"]
    assert apart("x", ["1", "22"]) == [("x", ["1", "22"])]


def _without_intervals_of(one, metrics):
    known = one.uncertainty
    estimates = {name: each for name, each in known.estimates.items() if name not in metrics}
    return replace(one, uncertainty=replace(known, estimates=estimates))


def test_figures_without_intervals_stand_in_tables_with_intervals():
    """Where too few speakers refuse one: no bracket, empty bounds, and nothing in JSON."""
    some = _without_intervals_of(SYSTEMS[0], ("eer", ("min_dcf", 0), "min_cllr", "calibration_loss"))
    both = deciban.Results((some, SYSTEMS[1]))
    row = both.table().splitlines()[1]
    assert re.match(rf"sysA +{100 * some.eer:.2f} %  +{some.min_dcf:.3f}  +\S+ \[\S+, \S+\]  +\S+ \[", row)
    assert f"{100 * some.eer:.2f} & {some.min_dcf:.3f} & " in both.table("latex")
    assert f"| {100 * some.eer:.2f} % | {some.min_dcf:.3f} | " in both.table("markdown")
    lines = [line for line in both.table("csv").splitlines() if not line.startswith("#")]
    first, second = csv.DictReader(lines[:3])
    assert (first["EER (ROCCH) low in %"], first["Cllr low"] != "") == ("", True)
    assert second["EER (ROCCH) low in %"] != ""
    assert "eer" not in some.to_dict()["intervals"]
    assert "cllr" in some.to_dict()["intervals"]
    compared = deciban.compare(some, SYSTEMS[1])
    assert "EER (ROCCH), minDCF at p_target 0.01, min Cllr, calibration loss: no difference" in compared.table()
    assert render(both)


def test_minima_have_columns_of_corrected_values_on_request():
    one = SYSTEMS[0]
    columns = {"EER (ROCCH)": lambda one: f"{one.eer}", "Cllr": lambda one: f"{one.cllr}"}
    found = with_corrected(columns, [one])
    assert list(found) == ["EER (ROCCH)", "EER, corrected", "Cllr"]
    expected = one.uncertainty.estimates["eer"].corrected
    assert found["EER, corrected"](one) == f"{100 * expected:.2f} %"
    assert found["EER, corrected"](_without_intervals_of(one, ("eer",))) == "-"
    assert list(with_corrected(columns, plain([one]).systems)) == list(columns)
