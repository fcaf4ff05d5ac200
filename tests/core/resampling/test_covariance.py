"""Sums by unit against a loop over trials, and the covariance that influences make against the jackknife of means."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban.core.resampling.covariance import add_by_unit, covariance_of, require_several, sums_by_unit
from deciban.core.resampling.units import TrialUnits
from deciban.errors import InputError


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(-9, 9)), min_size=1, max_size=40))
def test_sums_are_those_of_a_loop(trials):
    units = TrialUnits.of([[one, other] for one, other, _ in trials])
    names = sorted({name for one, other, _ in trials for name in (one, other)})
    expected = [sum(value for one, other, value in trials if name in (one, other)) for name in names]
    assert sums_by_unit(np.array([[value for *_, value in trials]], float), units).ravel().tolist() == expected


@pytest.mark.parametrize("n_units", [3, 1000])  # fewer and more units than trials
def test_blocks_add_up(n_units):
    rng = np.random.default_rng(0)
    sides, values = rng.integers(0, n_units, (200, 2)), rng.normal(size=(3, 200))
    units, total = TrialUnits.of(sides), 0.0
    total = np.zeros((units.n_units, 3))
    for rows in (slice(0, 50), slice(50, 200)):
        add_by_unit(total, values[:, rows], units.take(rows))
    np.testing.assert_allclose(total, sums_by_unit(values, units), atol=1e-12)


def test_the_covariance_of_means_is_that_of_the_sample():
    values = np.random.default_rng(0).normal(size=(50, 3))
    influences = (values - values.mean(axis=0)) / len(values)
    np.testing.assert_allclose(covariance_of(influences), np.cov(values.T) / len(values), rtol=1e-12)


def test_one_unit_is_refused():
    with pytest.raises(InputError, match="all trials are of one speaker, which does not tell"):
        require_several(TrialUnits.of(["ann", "ann"], noun="speaker"))
