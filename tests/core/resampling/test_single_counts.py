"""Trials that are units, counted by bin_of: intervals and influences are those of a list of all units."""

from dataclasses import replace

import numpy as np
import pytest

from deciban.core.resampling.units import TrialUnits
from deciban.evaluation import TwoClassMetrics, evaluate
from deciban.evaluation.bands import Bands

METRICS = TwoClassMetrics([0.01, 0.5], fnmr_at=[0.1], at_thresholds={"x": 0.3}, posteriors_at=[0.2])
N_TAR, N_NON = 120, 480


def made(weights, *, are_listed):
    """An evaluation of trials that are units; where these are listed, nothing says that they are trials."""
    rng = np.random.default_rng(3)
    tar, non = rng.normal(1.0, 1.0, N_TAR).round(1), rng.normal(-1.0, 1.0, N_NON).round(1)
    units = TrialUnits.each(N_TAR + N_NON)
    units = replace(units, source="given") if are_listed else units
    given = {"tar_units": units.take(slice(0, N_TAR)), "non_units": units.take(slice(N_TAR, None))}
    if weights == "whole":
        given |= {"tar_weights": rng.integers(0, 3, N_TAR), "non_weights": rng.integers(0, 4, N_NON)}
    if weights == "fractional":
        given |= {"tar_weights": rng.random(N_TAR), "non_weights": np.where(rng.random(N_NON) < 0.5, 0.0, 1.5)}
    return evaluate(tar, non, operating_points=METRICS, **given).uncertainty


@pytest.mark.parametrize("weights", [None, "whole", "fractional"])
def test_intervals_and_influences_are_those_of_listed_units(weights):
    found, listed = made(weights, are_listed=False), made(weights, are_listed=True)
    assert found.n_units == listed.n_units
    assert found.estimates.keys() == listed.estimates.keys()
    for metric, one in listed.estimates.items():
        other = found.estimates[metric]
        assert other.standard_error == pytest.approx(one.standard_error, rel=1e-9, abs=1e-14)
        assert other.corrected == (None if one.corrected is None else pytest.approx(one.corrected, rel=1e-9))
    assert set(found.influences) == set(listed.influences)
    for metric, one in listed.influences.items():
        np.testing.assert_allclose(found.influences[metric], one, rtol=1e-8, atol=1e-13)
    for name, curve in listed.curves.items():
        np.testing.assert_allclose(found.curves[name], curve, rtol=1e-8, atol=1e-12)
    for name, kept in listed.curve_influences.items():
        np.testing.assert_allclose(found.curve_influences[name].influences, kept.influences, rtol=1e-8, atol=1e-12)


def test_bands_of_many_trials_are_exact(monkeypatch):
    """Of more units than bands have groups: by bins, the squares are those of all trials, not of groups."""
    every = made(None, are_listed=True)
    errors, curves = dict(every.error_rates), dict(every.curves)  # computed now
    monkeypatch.setattr(Bands, "MOST_UNITS", 100)
    found = made(None, are_listed=False)
    factor = np.sqrt(100 / 99 * (N_TAR + N_NON - 1) / (N_TAR + N_NON))
    for ours, other in zip(found.error_rates["act_error"][1].parts, errors["act_error"][1].parts, strict=True):
        np.testing.assert_allclose(ours[0].variance, factor**2 * other[0].variance, rtol=1e-8, atol=1e-20)
    for name in ("p_miss", "pav", "act_cross_entropy"):
        np.testing.assert_allclose(found.curves[name], factor * curves[name], rtol=1e-8, atol=1e-12)
