"""Corrections of minima against leaving units out of the trials, and errors by thresholds that others chose."""

import math

import numpy as np
import pytest

from deciban import metrics
from deciban.core.resampling.unit_counts import groups_of_units
from deciban.core.resampling.units import keys_of
from deciban.evaluation import evaluate
from support.speakers import crossed, one_sided

TRIALS = pytest.mark.parametrize("trials", [crossed(23), one_sided(40)], ids=["crossed", "one"])


def left_out(trials):
    """Trials without each of ten groups of units, and with it, as masks of targets and non-targets."""
    n_units = int(max(trials.tar_units.max(), trials.non_units.max())) + 1
    group = groups_of_units(keys_of(np.arange(n_units)), 10)
    for number in range(10):
        touched = [
            np.atleast_2d(number == group[units].T).any(axis=0) for units in (trials.tar_units, trials.non_units)
        ]
        yield group == number, [~one for one in touched]


@TRIALS
@pytest.mark.parametrize(
    ("figure", "metric", "rate"),
    [
        ("eer", metrics.eer, 1),
        ("min_dcf", lambda tar, non: metrics.min_dcf(tar, non, p_target=0.1), 1),
        ("min_cllr", metrics.min_cllr, 2 / 3),
    ],
)
def test_what_is_left_of_the_optimism_is_added(trials, figure, metric, rate):
    found = evaluate(trials.tar, trials.non, operating_points=[0.1], **trials.arguments).interval(figure)
    whole = metric(trials.tar, trials.non)
    parts = [metric(trials.tar[some[0]], trials.non[some[1]]) for _, some in left_out(trials)]
    shift = (whole - np.mean(parts)) / ((10 / 9) ** rate - 1)
    assert found.corrected == pytest.approx(whole + max(shift, 0.0))
    assert found.estimate == pytest.approx(whole)


def test_what_a_loss_gains_its_minimum_loses():
    trials = one_sided(40)
    found = evaluate(trials.tar, trials.non, **trials.arguments)
    loss, least = found.interval("calibration_loss"), found.interval("min_cllr")
    assert loss.estimate - loss.corrected == pytest.approx(least.corrected - least.estimate)


@TRIALS
def test_a_unit_costs_what_the_threshold_of_others_costs(trials):
    found = evaluate(trials.tar, trials.non, operating_points=[0.1], **trials.arguments)
    n_units = found.uncertainty.n_units
    costs = np.zeros((2, n_units))
    counts = np.zeros((2, n_units))
    for own, (tar_left, non_left) in left_out(trials):
        threshold = metrics.min_dcf_threshold(trials.tar[tar_left], trials.non[non_left], p_target=0.1)
        wrong = ((trials.tar < threshold) * 1.0, 9.0 * (trials.non >= threshold))
        for k, (one, units) in enumerate(zip(wrong, (trials.tar_units, trials.non_units), strict=True)):
            for side in np.atleast_2d(units.T):
                costs[k] += np.where(own, np.bincount(side, one, n_units), 0.0)
                counts[k] += np.where(own, np.bincount(side, minlength=n_units), 0.0)
    expected = np.zeros(n_units)
    for k, total in enumerate((len(trials.tar), len(trials.non))):
        touched = [one.reshape(len(one), -1) for one in (trials.tar_units, trials.non_units)][k]
        share = np.array([(touched == unit).any(axis=1).mean() for unit in range(n_units)])
        factor = (1 - 1 / n_units) / (1 - share)  # as if the unit were left out, see a jackknife
        expected += factor * (costs[k] - counts[k] * costs[k].sum() / counts[k].sum()) / total
    np.testing.assert_allclose(found.uncertainty.influences[("min_dcf", 0)], expected, atol=1e-12)
    error = found.interval("min_dcf").standard_error
    assert error == pytest.approx(math.sqrt(n_units / (n_units - 1) * expected @ expected))


def test_without_correction_the_derivative_is_that_of_the_minimum():
    trials = crossed(23)
    plain = evaluate(trials.tar, trials.non, optimism=False, **trials.arguments)
    assert plain.interval("eer").corrected is None
    threshold = metrics.min_dcf_threshold(trials.tar, trials.non, p_target=0.01)
    miss, alarm = (trials.tar < threshold) * 1.0, 99.0 * (trials.non >= threshold)
    expected = np.bincount(trials.tar_units, miss - miss.mean(), 23) / len(miss)
    for side in trials.non_units.T:  # a unit is in two of 23 parts of the non-targets
        expected += np.bincount(side, alarm - alarm.mean(), 23) / len(alarm) * (22 / 23) / (21 / 23)
    np.testing.assert_allclose(plain.uncertainty.influences["min_dcf", 0], expected, atol=1e-12)


def test_the_mean_over_one_point_is_as_unsure_as_the_point():
    """Without any group of units the best decision at a small prior rejects all: no unit moves it."""
    rng = np.random.default_rng(24)
    tar, non = rng.normal(3.0, 1.0, 15), rng.normal(0.0, 1.0, 66)
    units = np.arange(15), np.arange(66)
    one = evaluate(tar, non, operating_points=[0.01], tar_units=units[0], non_units=units[1])
    mean, point = one.interval("mean_min_dcf"), one.interval("min_dcf")
    assert point.estimate > 0.0
    assert point.standard_error == 0.0
    assert (mean.low, mean.high) == (point.low, point.high)
    assert mean.high > mean.corrected
