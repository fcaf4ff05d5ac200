"""Consistency bands by units: how many calibrated curves they hold, and that single trials are units like any."""

import numpy as np
import pytest

from deciban import InputError, evaluate, evaluate_classes
from deciban.evaluation.bands import consistency_of


def calibrated(seed, shared, n_speakers=60):
    """Llrs that are right, of speakers who share a part of the variance of each class."""
    rng = np.random.default_rng(seed)
    target, impostor = rng.normal(size=n_speakers), rng.normal(size=(n_speakers, 2))
    one = np.repeat(np.arange(n_speakers), 12)
    first = rng.integers(0, n_speakers, 2400)
    second = (first + rng.integers(1, n_speakers, 2400)) % n_speakers
    own, rest = np.sqrt(shared), np.sqrt(1 - shared)
    tar = 2 + 2 * (own * target[one] + rest * rng.normal(size=len(one)))
    of_pair = (impostor[first, 0] + impostor[second, 1]) / np.sqrt(2)
    non = -2 + 2 * (own * of_pair + rest * rng.normal(size=len(first)))
    units = {"tar_units": np.stack((one, one), axis=1), "non_units": np.stack((first, second), axis=1)}
    return evaluate(tar, non, **units)


def held(one, band):
    """Share of places in the middle at which the curve is in the band."""
    curve = one.curves.reliability
    middle = (band.posterior > 0.1) & (band.posterior < 0.9)
    corners = np.stack((curve.low, curve.high), axis=1).ravel()
    at = np.interp(band.posterior[middle], corners, np.repeat(curve.observed, 2))
    return np.mean((at >= band.low[middle]) & (at <= band.high[middle]))


def test_bands_hold_as_many_curves_as_they_say():
    """At 90 %, of speakers whose trials are alike; where trials count as independent, far fewer."""
    by_unit, by_trial = [], []
    for seed in range(20):
        one = calibrated(seed, 0.8)
        by_unit.append(held(one, consistency_of(one, 0.9)))
        by_trial.append(held(one, one.curves.reliability.consistency(0.9)))
    assert np.mean(by_unit) == pytest.approx(0.9, abs=0.06)
    assert np.mean(by_trial) < 0.8


def test_trials_by_themselves_have_the_band_of_independent_ones():
    rng = np.random.default_rng(1)
    tar, non = rng.normal(2, 2, 60), rng.normal(-2, 2, 90)
    one = evaluate(tar, non)
    found, plain = consistency_of(one), one.curves.reliability.consistency()
    np.testing.assert_array_equal(found.low, plain.low)
    assert (found.noun, found.level) == ("trial", 0.95)
    as_units = evaluate(tar, non, tar_units=np.arange(60), non_units=np.arange(60, 150))
    wide, narrow = consistency_of(as_units), plain
    assert wide.noun == "unit"
    assert np.mean(wide.high - wide.low) == pytest.approx(np.mean(narrow.high - narrow.low), rel=0.15)


def test_copies_of_trials_tell_no_more_than_the_trials():
    """Speakers with four equal trials: the band is that of one trial of each."""
    rng = np.random.default_rng(2)
    tar, non = rng.normal(2, 2, 150), rng.normal(-2, 2, 300)
    once = evaluate(tar, non).curves.reliability.consistency(0.9)
    speakers = {"tar_units": np.repeat(np.arange(150), 4), "non_units": np.repeat(np.arange(150, 450), 4)}
    four = evaluate(np.repeat(tar, 4), np.repeat(non, 4), **speakers)
    found, narrow = consistency_of(four, 0.9), four.curves.reliability.consistency(0.9)
    width = {name: np.mean(band.high - band.low) for name, band in (("1", once), ("4", found), ("no", narrow))}
    assert width["4"] == pytest.approx(width["1"], rel=0.12)
    assert width["no"] < 0.75 * width["1"]


def test_what_has_no_band_and_wrong_levels():
    label = np.repeat([0, 1, 2], 4)
    assert consistency_of(evaluate_classes(5.0 * np.eye(3)[label], label)) is None
    with pytest.raises(InputError, match="level"):
        consistency_of(calibrated(0, 0.0, 6), 1.5)


@pytest.mark.parametrize("shift", [-2.0, 0.0, 2.0])
def test_bands_lie_around_the_diagonal(shift):
    """Also where llrs are all too large, so that posteriors expect more targets than there are."""
    rng = np.random.default_rng(3)
    curve = evaluate(shift + rng.normal(2, 2, 400), shift + rng.normal(-2, 2, 4000)).curves.reliability
    band = curve.consistency(0.9)
    middle = (band.posterior > 0.1) & (band.posterior < 0.9)
    at = band.posterior[middle]
    assert np.mean((band.low[middle] <= at) & (at <= band.high[middle])) > 0.95
