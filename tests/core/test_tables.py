"""The table of the general beta rule: smooth at seams, right at centres and edges, small enough."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from deciban.core.proper import EDGE, cost_table, log_beta

RULES = [(0.05, 0.05), (0.05, 100.0), (100.0, 0.05), (100.0, 100.0), (0.7, 3.0), (1.0, 1.5), (3.0, 1.0), (20.0, 1.0)]


@pytest.mark.parametrize(("alpha", "beta"), [(1, 1), (1, 100), (100, 1), (100, 100), (2, 93), (47, 68), (3, 3)])
def test_log_beta_of_integers_is_exact(alpha, beta):
    exact = Fraction(math.factorial(alpha - 1) * math.factorial(beta - 1), math.factorial(alpha + beta - 1))
    log = math.log(exact.numerator) - math.log(exact.denominator)
    assert log_beta(alpha, beta) == pytest.approx(log, abs=2e-13)  # the difference of logarithms cancels
    assert math.exp(log_beta(alpha, beta)) == pytest.approx(float(exact), rel=3e-14)


@pytest.mark.parametrize("shift", [0.05, 0.3, 0.999])
def test_log_beta_of_halves_and_its_reflection(shift):
    # B(x, 1 - x) = pi / sin(pi x), and B(x + 1, y) (x + y) = B(x, y) x.
    assert math.exp(log_beta(1 - shift, shift)) == pytest.approx(math.pi / math.sin(math.pi * shift), rel=1e-13)
    for x, y in [(57.25 + shift, 33.4), (91.5 + shift, 0.07), (0.6 + shift, 99.0)]:
        assert log_beta(x + 1, y) - log_beta(x, y) == pytest.approx(math.log(x / (x + y)), abs=3e-14)


@pytest.mark.parametrize(("alpha", "beta"), RULES)
@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_series_of_neighbours_meet(alpha, beta, side):
    table = cost_table(alpha, beta)
    middle = (np.arange(-8 * table.per_unit, 8 * table.per_unit, 7) + 0.5) / table.per_unit
    beside = np.nextafter(middle, side * np.inf)
    step = max(alpha, beta, 1.0) * np.spacing(np.abs(middle))  # what they may truly change by, at most
    # Costs are summed up to be continuous. Slopes come from exponents of up to 138, an ulp of which is 2.8e-14.
    for k, rounding in enumerate([1e-15, 6e-14]):
        here, there = (table.derivatives(x, 1)[k] for x in (middle, beside))
        assert np.all(np.abs(there - here) <= (rounding + step) * here + 1e-290)


@pytest.mark.parametrize(("alpha", "beta"), RULES)
def test_tails_meet_the_table(alpha, beta):
    for edge in (-EDGE, EDGE):
        inside, outside = np.array([edge, np.nextafter(edge, 2.0 * edge)], dtype=np.float64)
        values = np.array(cost_table(alpha, beta).derivatives(np.array([inside, outside]), 2))
        bound = np.array([1.0, 1.0, max(alpha, beta, 1.0)]) * np.array([values[0, 0], values[1, 0], values[1, 0]])
        assert np.all(np.abs(values[:, 1] - values[:, 0]) <= 3e-13 * bound + 1e-300)


@pytest.mark.parametrize(("alpha", "beta"), RULES)
def test_fewer_derivatives_are_the_same_numbers(alpha, beta):
    z = np.linspace(-50.0, 50.0, 1001)
    table = cost_table(alpha, beta)
    for order in (0, 1, 2):
        values = table.derivatives(z, order)
        assert len(values) == order + 1
        np.testing.assert_array_equal(values, table.derivatives(z, 2)[: order + 1])
    np.testing.assert_array_equal(table.cost(z), values[0])


@pytest.mark.parametrize(("alpha", "beta"), RULES)
def test_tables_are_small_and_read_only(alpha, beta):
    table = cost_table(alpha, beta)
    assert table.series.nbytes <= 6e6
    with pytest.raises(ValueError, match="read-only"):
        table.series[0, 0] = 1.0
