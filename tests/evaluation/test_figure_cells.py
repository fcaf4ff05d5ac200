"""Cells of a metric with its interval."""

from dataclasses import replace

import numpy as np

from deciban import evaluate
from deciban.core.resampling.intervals import Estimate
from deciban.evaluation.one_system import WithInterval, with_interval
from deciban.tables.results import cell_of

ONE = evaluate(np.arange(40.0), np.arange(40.0) - 15, tar_units=np.arange(40), non_units=np.arange(40))


def test_cells_have_the_unit_of_their_figure():
    found = ONE.interval("eer")
    bin_of = with_interval("12.00 %", ONE, "eer")
    assert bin_of.startswith("12.00 % [")
    assert abs(float(bin_of.low) - 100 * found.low) < 0.5
    assert abs(float(with_interval("0.12", ONE, "eer").high) - found.high) < 0.005
    assert bin_of.without_percent == f"12.00 [{bin_of.low}, {bin_of.high}]"
    assert bin_of.bracket == f"[{bin_of.low}, {bin_of.high}]"
    assert cell_of("eer", ONE).bracket == bin_of.bracket


def test_bounds_near_zero_are_written_as_less_for_people_and_in_digits_for_programs():
    found = evaluate(np.arange(40.0) + 1000, np.arange(40.0), tar_units=np.arange(40), non_units=np.arange(40))
    known = replace(found.uncertainty, estimates={"cllr": Estimate(4e-10, 1e-10, 40, "log")})
    bin_of = with_interval("0.000", replace(found, uncertainty=known), "cllr")
    assert bin_of == "0.000 [<0.001, <0.001]"
    low, high = map(float, bin_of.digits)
    assert 0 < low < 4e-10 < high < 1e-9
    assert bin_of.without_percent.digits == bin_of.digits


def test_bounds_are_typeset():
    assert with_interval("0.12", ONE, "eer", lambda bound: f"<{bound}>").low.startswith("<")


def test_figures_without_interval_stay_as_they_are():
    plain = with_interval("0.12", evaluate([1.0], [0.0]), "eer")
    assert plain == "0.12"
    assert not isinstance(plain, WithInterval)
    assert with_interval("7", ONE, "n_tar") == "7"
