"""The page on coverage has the tables of its benchmarks, and no cell that is out of range without a note."""

import re
import runpy

from support.pages import DOCS, page

BENCHMARK = runpy.run_path(str(DOCS.parent / "benchmarks/interval_coverage.py"))


def part(name):
    """Lines between the marks of this name."""
    (text,) = re.findall(rf"<!-- {name} -->\n(.*?)\n<!-- end -->", page("coverage.md"), flags=re.DOTALL)
    return text.splitlines()


def rows(name):
    """Rows of the table between the marks."""
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in part(name) if line.startswith("|")][2:]


def test_designs_are_those_of_the_benchmark():
    names = [one.name for one in BENCHMARK["designs"]()]
    assert part("designs")[: len(names)] == [f"{k}. {name}" for k, name in enumerate(names, 1)]


def test_no_metric_is_out_of_range_without_a_note():
    two, many = rows("designs"), rows("classes")
    assert len(two) > 40
    assert len(many) > 20
    assert [row for row in (*two, *many) if row[-1]] == []


def test_outside_is_beyond_the_error_of_simulation_and_without_a_note():
    outside, held, below = BENCHMARK["outside"], [False] * 4, [True, False, False, False]
    noted = [False, False, True, False]
    array = BENCHMARK["np"].array
    assert outside(array([held] * 183)) == "above 98"
    assert outside(array([held] * 182)) == outside(array([held] * 100 + [noted] * 101)) == ""
    assert outside(array([held] * 180 + [below] * 20)) == "low"
    assert outside(array([held] * 170 + [below] * 30)) == "below 92, low"
