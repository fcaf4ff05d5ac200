"""The section of a page on differences: where there is one, and what it says."""

import re

import numpy as np
import pytest

import deciban
from deciban.analysis.comparison import against_first, compare_results
from deciban.evaluation import Results
from deciban.report.cards import comparison_of, differences_of

pytestmark = pytest.mark.usefixtures("sketches")


def system(name, gap, **options):
    rng = np.random.default_rng(5)
    unit = np.repeat(np.arange(40), 4)
    common = rng.normal(size=(2, 160))
    own = np.random.default_rng([9, *name.encode()]).normal(size=(2, 160))
    options = {"tar_units": unit, "non_units": unit, **options}
    return deciban.evaluation.evaluate(*(common + 0.5 * own + np.array([[gap], [-gap]])), name=name, **options)


def test_pages_of_several_systems_with_units_have_the_section():
    page = deciban.report.render([system("A", 1.0), system("B", 2.0)])
    section = page[page.index("Differences between systems") :]
    assert "A \N{MINUS SIGN} B" in section
    assert re.search(r"B is significantly better in EER \(ROCCH\), .*Cllr", section)
    assert "paired 95 % intervals by unit, 40 units" in section
    assert "<img" not in page


def test_pages_of_one_system_or_without_units_have_none():
    assert "Differences between" not in deciban.report.render(system("A", 1.0))
    plain = [system(name, 1.0, tar_units=None, non_units=None) for name in "AB"]
    assert "Differences between" not in deciban.report.render(plain)


def test_before_is_compared_with_after():
    before, after = Results((system("A", 1.0),)), Results((system("A", 2.0),))
    found = comparison_of(after, before)
    assert [pair.names for pair in found.pairs] == [("A (before calibration)", "A (calibrated)")]


def test_of_many_systems_each_is_compared_with_the_first():
    results = Results(tuple(system(name, 1.0) for name in "ABCDE"))
    found = against_first(comparison_of(results, None))
    assert found == compare_results(results, against="first")
    (table,) = differences_of(found)[0].tables
    assert table.n_left == 3
    assert len(table.rows[0]) == len(table.headings)


def test_other_points_or_levels_are_not_compared():
    one = system("A", 1.0)
    for options in ({"operating_points": [0.1]}, {"level": 0.9}):
        assert comparison_of(Results((one, system("B", 1.0, **options))), None) is None
