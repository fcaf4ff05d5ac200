"""Presets: what the plans of evaluations ask for, by name."""

import re
from pathlib import Path

import pytest

from deciban.errors import InputError
from deciban.evaluation import preset, presets


def test_presets_are_complete():
    for name, found in presets().items():
        assert found.points
        assert found.source
        assert found.status in ("verified", "unverified")
        assert found.kind in ("two-class", "classes")
        assert preset(name) == found
    assert [p.p_target for p in preset("sre12").points] == [0.01, 0.001]


def test_no_name_stands_for_two_presets():
    names = [name for one in presets().values() for name in (one.name, *one.aliases)]
    assert len(names) == len(set(names))


def test_presets_of_classes_are_priors_with_costs_of_one():
    of_classes = [one for one in presets().values() if one.kind == "classes"]
    assert {(point.c_miss, point.c_fa) for one in of_classes for point in one.points} == {(1, 1)}
    assert all(one.p_out_of_set is None for one in presets().values() if one.kind == "two-class")


@pytest.mark.parametrize(
    ("name", "figures", "status"),
    [
        ("lre05", {"p_target": [0.5]}, "verified"),
        ("lre07", {"p_target": [0.5]}, "verified"),
        ("lre09", {"p_target": [0.5]}, "verified"),
        ("lre09-open", {"p_target": [0.5], "p_out_of_set": 0.2}, "unverified"),
        ("lre17", {"p_target": [0.5, 0.1]}, "unverified"),
        ("lre22", {"p_target": [0.5, 0.1]}, "unverified"),
    ],
)
def test_language_recognition_evaluations(name, figures, status):
    assert preset(name).class_figures == figures
    assert preset(name).status == status


def test_presets_say_what_they_ask_for():
    assert str(preset("lre09")).startswith("lre05-09 (C_avg at p_target 0.5), verified: NIST LRE 2005")
    assert "0.5; the last class out of set with prior 0.2), unverified: NIST LRE" in str(preset("lre05-09-open"))
    assert str(preset("sre96-08")).startswith("sre96-08 (p_target 0.01, costs 10:1), verified: NIST SRE 1996")


def test_an_unknown_preset_is_an_error_that_names_those_there_are():
    with pytest.raises(InputError, match=r"'lre99' is not known\. There are sre96-08, .*, lre05-09, "):
        preset("lre99")


def test_the_page_of_presets_lists_them_all_with_their_status():
    page = (Path(__file__).parents[2] / "docs" / "presets.md").read_text("utf-8")
    rows = [row for row in page.splitlines() if row.startswith("| `")]
    told = {}
    for row in rows:
        names, *cells = (cell.strip() for cell in row.strip("|").split("|"))
        first, *others = re.findall(r"`([^`]+)`", names)
        told[first] = (tuple(others), cells[-2], cells[-1])
        values = [float(number) for number in re.findall(r"[\d.]+", cells[0])]
        points = preset(first).points
        wide = [value for point in points for value in (point.p_target, point.c_miss, point.c_fa)]
        assert values == ([point.p_target for point in points] if preset(first).kind == "classes" else wide)
    assert told == {name: (one.aliases, one.status, one.source) for name, one in presets().items()}
