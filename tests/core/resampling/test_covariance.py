"""Sums by unit against a loop over trials, and the covariance that influences make against the jackknife of means."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban.core.resampling.intervals import effective_numbers
from deciban.core.resampling.linearised import (
    UnitChanges,
    add_by_unit,
    covariance_of,
    require_effective,
    require_several,
    sums_by_unit,
)
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
    with pytest.raises(InputError, match="all trials are of one speaker. At least two"):
        require_several(TrialUnits.of(["ann", "ann"], noun="speaker"))


def test_leaving_out_gives_the_covariance_of_a_mean_and_no_bias():
    values = np.random.default_rng(2).normal(size=(12, 2))
    changes = np.array([np.delete(values, k, axis=0).mean(axis=0) for k in range(12)]) - values.mean(axis=0)
    found = UnitChanges(values=changes, n_units=12, n_effective=12.0, left_out=True)
    np.testing.assert_allclose(found.covariance, np.cov(values.T) / 12, rtol=1e-12)
    np.testing.assert_allclose(found.bias, 0.0, atol=1e-12)


def test_the_bias_of_a_variance_is_that_of_maximum_likelihood():
    values = np.random.default_rng(3).normal(size=15)
    changes = np.array([np.delete(values, k).var() for k in range(15)]) - values.var()
    found = UnitChanges(values=changes[:, None], n_units=15, n_effective=15.0, left_out=True)
    assert values.var() - found.bias[0] == pytest.approx(values.var(ddof=1))
    shrunk = UnitChanges(values=changes[:, None], n_units=15, n_effective=15.0, left_out=True, penalized=True)
    assert shrunk.bias.tolist() == [0.0]


def changes_of(values, n_effective=None, *, left_out=True):
    n = len(values)
    return UnitChanges(values=values, n_units=n, n_effective=n_effective or float(n), left_out=left_out)


def test_degrees_of_normal_changes_are_nearly_those_of_units_and_of_one_dominating_unit_few():
    rng = np.random.default_rng(4)
    normal = rng.normal(size=(40, 3))
    assert 20.0 < changes_of(normal).degrees <= 39.0
    assert changes_of(normal @ rng.normal(size=(3, 3))).degrees == pytest.approx(changes_of(normal).degrees, rel=0.4)
    one = np.append(30.0, rng.normal(size=39))[:, None]
    assert 1.0 <= changes_of(one).degrees < 2.5
    assert changes_of(one, left_out=False).degrees == 39.0


def test_degrees_do_not_depend_on_the_units_of_parameters_nor_on_what_does_not_move():
    normal = np.random.default_rng(5).standard_t(3.0, size=(30, 2))
    expected = changes_of(normal).degrees
    scaled = np.column_stack((1e9 * normal[:, 0], np.zeros(30), 1e-9 * normal[:, 1]))
    assert changes_of(scaled).degrees == pytest.approx(expected)
    assert changes_of(np.zeros((30, 2))).degrees == 29.0
    assert changes_of(normal, 12.0).degrees <= 11.0


def test_effective_units_and_too_few_of_a_class():
    shares = np.array([[0.2, 0.9], [0.2, 0.05], [0.2, 0.05], [0.2, 0.0], [0.2, 0.0]])
    found = effective_numbers(shares.sum(axis=0), (shares**2).sum(axis=0))
    assert found == pytest.approx([5.0, 1.0 / 0.815])
    units = TrialUnits.of(["a", "b"], noun="speaker")
    assert require_effective(found[:1], ("non-target",), units) == pytest.approx(5.0)
    with pytest.raises(InputError, match="target trials come from effectively 1.2 speakers, but intervals need at lea"):
        require_effective(found, ("non-target", "target"), units)
