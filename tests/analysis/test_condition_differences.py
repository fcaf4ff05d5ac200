"""Differences between conditions whose units are not the same."""

import numpy as np
import pytest

from deciban import evaluate
from deciban.analysis.differences import differences_between

SIZES = {"quiet": 12, "street": 20, "car": 35}


def conditions():
    """Evaluations of three conditions with speakers of their own, of which there are more or fewer."""
    rng, found, first = np.random.default_rng(6), [], 0
    for at, (name, n_units) in enumerate(SIZES.items()):
        units = first + np.repeat(np.arange(n_units), 6)
        shift = 0.5 * rng.normal(size=n_units).repeat(6) - 0.3 * at
        tar, non = (mean + shift + rng.normal(size=len(units)) for mean in (1.0, -1.0))
        found.append(evaluate(tar, non, tar_units=units, non_units=units, name=name))
        first += n_units
    return found


def test_a_condition_against_the_mean_of_the_others_has_the_variance_of_independent_means():
    evaluated = conditions()
    rows, _ = differences_between(evaluated, 0.95)
    rows = [row for row in rows if row.second is None and row.figure == "cllr"]
    assert [row.first for row in rows] == list(SIZES)
    values = np.array([one.cllr for one in evaluated])
    errors = np.array([one.uncertainty.estimates["cllr"].standard_error for one in evaluated])
    sizes = np.array(list(SIZES.values()))
    squares, n = errors**2 * (sizes - 1) / sizes, sizes.min()  # sums of squared influences; the fewest units count
    for k, row in enumerate(rows):
        others = [j for j in range(3) if j != k]
        assert row.interval.estimate == pytest.approx(values[k] - values[others].mean(), rel=1e-12)
        error = np.sqrt((squares[k] + squares[others].sum() / 4) * n / (n - 1))
        assert row.interval.standard_error == pytest.approx(error, rel=1e-9)
