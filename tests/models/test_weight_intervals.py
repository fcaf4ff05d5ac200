"""Intervals of weights: by the covariance of the parameters, and by training again on other draws of units."""

import numpy as np
import pytest
from scipy import stats

from deciban import InputError
from deciban.calibration import AffineCalibrator, MulticlassCalibrator, MulticlassShiftCalibrator, PavCalibrator
from deciban.fusion import LinearFusion, MulticlassFusion
from deciban.models.multiclass import parameter_intervals, weight_intervals


def drawn(seed, n_units=60, each=6):
    rng = np.random.default_rng(seed)
    unit, is_target = np.repeat(np.arange(n_units), each), np.arange(n_units * each) % 2 == 0
    shift = rng.normal(size=(n_units, 2))[unit]
    scores = np.where(is_target, 1.0, -1.0)[:, None] * [1.0, 0.5] + 0.7 * shift + rng.normal(size=(len(unit), 2))
    return scores, is_target, unit


def test_intervals_are_those_of_the_covariance_in_other_units():
    scores, is_target, unit = drawn(1)
    fusion = LinearFusion().fit(scores, is_target, units=unit)
    deviation = fusion.standardized_weights_ / fusion.weights_
    known = fusion.uncertainty_
    reach = stats.t.ppf(0.95, known.degrees) * np.sqrt(np.diag(fusion.parameter_covariance_))[:2] * deviation
    middle = fusion.standardized_weights_ - known.bias[:2] * deviation
    found = weight_intervals(fusion, level=0.9)
    np.testing.assert_allclose([one.low for one in found], middle - reach)
    np.testing.assert_allclose([one.high for one in found], middle + reach)


def test_widths_are_those_of_weights_of_other_draws():
    fusions = [LinearFusion().fit(scores, is_target, units=unit) for scores, is_target, unit in map(drawn, range(60))]
    found = np.array([[(one.weight, one.low, one.high) for one in weight_intervals(fusion)] for fusion in fusions])
    spread = found[:, :, 0].std(axis=0, ddof=1)
    degrees = np.median([fusion.uncertainty_.degrees for fusion in fusions])
    typical = np.median(found[:, :, 2] - found[:, :, 1], axis=0) / 2 / stats.t.ppf(0.975, degrees)
    np.testing.assert_allclose(typical, spread, rtol=0.35)


def test_weights_of_many_classes_are_those_of_two():
    """Of two classes, a fusion of log-likelihoods has the weights of that of their differences, up to the width."""
    scores, is_target, unit = drawn(1)
    table = np.stack([np.stack([one / 2, -one / 2], axis=1) for one in scores.T], axis=1)
    many = MulticlassFusion().fit(table, np.where(is_target, 0, 1), units=unit)
    two = LinearFusion().fit(scores, is_target, units=unit)
    for one, other in zip(weight_intervals(many), weight_intervals(two), strict=True):
        assert one.name == other.name
        assert [one.low / one.weight, one.high / one.weight] == pytest.approx(
            [other.low / other.weight, other.high / other.weight], rel=1e-4
        )


def test_weights_without_units_have_no_interval_and_other_models_have_no_weights():
    scores, is_target, _ = drawn(1)
    found = weight_intervals(LinearFusion().fit(scores, is_target))
    assert [(one.low, one.high) for one in found] == [(None, None)] * 2
    with pytest.raises(InputError, match="no weights of systems"):
        weight_intervals(PavCalibrator().fit(scores[:, 0], is_target))


def test_offsets_of_two_classes_are_half_that_of_their_difference():
    """Of two classes, a calibration of log-likelihoods has the scale of that of llrs, and half its offset each."""
    scores, is_target, unit = drawn(1)
    llr = scores[:, 0] + 1.0
    many = MulticlassCalibrator().fit(np.stack([llr / 2, -llr / 2], axis=1), np.where(is_target, 0, 1), units=unit)
    two = AffineCalibrator().fit(llr, is_target, units=unit)
    known = two.uncertainty_
    reach = stats.t.ppf(0.95, known.degrees) * np.sqrt(np.diag(two.parameter_covariance_))
    scale, offset, other = parameter_intervals(many, level=0.9)
    assert (scale.what, offset.whom, other.whom) == ("scale", "0", "1")
    cases = (scale, two.scale_, known.bias[0], reach[0], 1), (offset, two.offset_, known.bias[1], reach[1], 2)
    for found, value, bias, half, share in cases:
        expected = np.array([value, value - bias - half, value - bias + half]) / share
        assert (found.value, found.low, found.high) == pytest.approx(expected, rel=1e-4)
    assert (other.value, other.low, other.high) == pytest.approx((-offset.value, -offset.high, -offset.low))


def test_what_was_not_trained_has_no_interval():
    scores, is_target, unit = drawn(1)
    table, label = np.stack([scores[:, 0], -scores[:, 0]], axis=1), np.where(is_target, 0, 1)
    scale, *offsets = parameter_intervals(MulticlassShiftCalibrator().fit(table, label, units=unit))
    assert (scale.value, scale.low) == (1.0, None)
    assert None not in [one.low for one in offsets]
    plain = parameter_intervals(MulticlassShiftCalibrator().fit(table, label), classes=("on", "off"))
    assert [(one.whom, one.low) for one in plain] == [("", None), ("on", None), ("off", None)]
