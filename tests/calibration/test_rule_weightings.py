"""What rules care for, and rules for a range of thresholds."""

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate

from deciban import InputError, OperatingPoint, metrics
from deciban.calibration import AffineCalibrator, Rule, rule_weighting, suggest_rule
from deciban.core.proper import ThresholdMass


def test_the_logistic_distribution():
    """(1, 1) at prior 1/2 weighs thresholds like the logistic distribution, whose shares are sigmoids."""
    weighting = rule_weighting(alpha=1, beta=1, p_target=0.5, operating_points=[0.01, (0.5, 1, 1)])
    assert weighting.mode == pytest.approx(0.0, abs=1e-12)
    assert weighting.half == pytest.approx((-math.log(3), math.log(3)))
    assert weighting.most == pytest.approx((-math.log(19), math.log(19)))
    far, centre = weighting.points
    assert (far.point, far.threshold) == (OperatingPoint(0.01), pytest.approx(math.log(99)))
    assert far.below == pytest.approx(0.99)
    assert far.density == pytest.approx(0.01 * 0.99)
    assert far.relative_density == pytest.approx(4 * 0.01 * 0.99)
    assert centre.near == pytest.approx(math.tanh(0.5))
    assert (centre.relative_density, centre.below) == (pytest.approx(1.0), pytest.approx(0.5))


def test_where_the_paper_says_the_mode_is():
    """Section 4.1: (1, 1) moves half of the way, alpha = 2 nearly all of it, (1/2, 1/2) not at all."""
    tau = math.log(0.001 / 0.999)
    modes = {
        rule: rule_weighting(alpha=rule[0], beta=rule[1], p_target=0.001).mode for rule in [(1, 1), (2, 1), (0.5, 0.5)]
    }
    assert modes[1, 1] == pytest.approx(-tau / 2)
    assert modes[2, 1] == pytest.approx(-tau, abs=0.01)
    assert modes[0.5, 0.5] == pytest.approx(0.0, abs=1e-9)


def test_the_curve_is_that_of_the_metrics():
    weighting = rule_weighting(alpha=0.7, beta=2.5, p_target=0.03)
    expected = metrics.threshold_weighting(weighting.threshold, alpha=0.7, beta=2.5, p_target=0.03)
    np.testing.assert_allclose(weighting.density, expected, rtol=1e-9, atol=1e-300)
    low, high = weighting.most

    def density(t):
        return float(metrics.threshold_weighting(t, alpha=0.7, beta=2.5, p_target=0.03))

    assert integrate.quad(density, low, high)[0] == pytest.approx(0.9, abs=1e-8)


def test_as_data_and_as_text():
    weighting = rule_weighting(alpha=2, beta=1, p_target=0.999999, operating_points=[(0.01, 10, 1)])
    found = json.loads(json.dumps(weighting.to_dict()))
    assert set(found) == {"alpha", "beta", "p_target", "mode", "half", "most", "points"}
    assert found["points"][0]["point"] == {"p_target": 0.01, "c_miss": 10, "c_fa": 1}
    text = str(weighting)
    assert "prior of the objective 1 \N{MINUS SIGN} 1e-06" in text
    assert "p_target 0.01, costs 10:1       2.29" in text
    assert "operating point" not in str(rule_weighting(alpha=2, beta=1, p_target=0.5))


@pytest.mark.parametrize("p_target", [1e-300, 1 - 1e-16])
def test_extreme_priors(p_target):
    weighting = rule_weighting(alpha=2, beta=0.05, p_target=p_target, operating_points=[1e-300])
    assert np.isfinite([weighting.mode, *weighting.half, *weighting.most]).all()
    assert np.isfinite(weighting.density).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"alpha": 0.01}, "alpha: got 0.01"),
        ({"beta": math.nan}, "beta: got nan"),
        ({"p_target": 1.0}, "a prior must be inside"),
        ({"p_target": [0.1, 0.2]}, "p_target: expected one prior, got 2"),
        ({"p_target": 5e-324}, r"p_target: got 5e-324. Its log odds must be in \[-700, 700\]"),
        ({"operating_points": [(0.5, 1, 0)]}, "has a cost of 0"),
    ],
)
def test_what_is_no_rule_is_refused(options, message):
    with pytest.raises(InputError, match=message):
        rule_weighting(**{"alpha": 1.0, "beta": 1.0, "p_target": 0.5, **options})


def test_well_known_suggestions():
    assert (suggest_rule(thresholds=(-3, 3)).alpha, suggest_rule(thresholds=(-3, 3)).beta) == (1.0, 1.0)
    primary = suggest_rule([0.01, 0.001])
    assert (primary.alpha, primary.beta) == (2.0, 1.0)
    assert primary.asked == pytest.approx((math.log(99) - 2, math.log(999) + 2))
    mirrored = suggest_rule([0.99, 0.999])
    assert (mirrored.alpha, mirrored.beta, mirrored.p_target) == (1.0, 2.0, pytest.approx(1 - primary.p_target))
    points = [OperatingPoint(0.01, 10, 1)]
    assert suggest_rule(points) == suggest_rule([(0.01, 10, 1)])


def test_a_suggestion_can_be_trained_with():
    rule = suggest_rule([0.1])
    calibrator = AffineCalibrator(alpha=rule.alpha, beta=rule.beta, p_target=rule.p_target)
    rng = np.random.default_rng(0)
    scores, is_target = np.append(rng.normal(2, 1, 200), rng.normal(0, 1, 800)), np.arange(1000) < 200
    assert calibrator.fit(scores, is_target).scale_ > 0


@settings(max_examples=8)
@given(st.floats(-30, 29), st.floats(0.6, 60), st.sampled_from([0.5, 0.9]))
def test_ranges_are_met(low, width, share):
    high = min(low + width, 30.0)
    if high - low < 0.6:
        low = high - 0.6
    rule = suggest_rule(thresholds=(low, high), share=share)
    assert 0.05 <= rule.alpha <= 100
    assert 0.05 <= rule.beta <= 100
    mass = ThresholdMass(rule.alpha, rule.beta, math.log(rule.p_target) - math.log1p(-rule.p_target))
    inside = mass.below(rule.reached[1]) - mass.below(rule.reached[0])
    assert inside == pytest.approx(share, abs=1e-6)
    # What the docstring promises: 0.5 nats or a tenth of the range, unless nothing is closer.
    tolerance = max(0.5, 0.1 * (high - low)) + 0.06
    misses = np.abs(np.subtract(rule.reached, (low, high)))
    assert misses.max() <= tolerance or "is closer" in rule.remark


def test_a_round_rule_is_not_taken_where_none_fits():
    rule = suggest_rule(thresholds=(4.595, 6.907))
    assert rule.reached == pytest.approx((4.595, 6.907), abs=0.05)
    assert max(rule.alpha, rule.beta) > 4
    assert "narrow" in rule.remark
    weighting = rule.weighting([0.003])
    assert weighting.most == pytest.approx(rule.reached)
    assert ThresholdMass(rule.alpha, rule.beta, math.log(rule.p_target)).quantile(0.5) == pytest.approx(5.751, abs=0.05)


def test_what_cannot_be_reached_is_said():
    rule = suggest_rule(thresholds=(0.0, 0.2))
    assert "No rule with alpha and beta in [0.05, 100] is closer" in rule.remark
    assert max(rule.alpha, rule.beta) == 100.0


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((), {}, "pass one of them"),
        (([0.5],), {"thresholds": (0, 1)}, "pass one of them"),
        ((), {"thresholds": (1, 1)}, "the range from 1 to 1 nats is empty"),
        ((), {"thresholds": (0, 31)}, r"ends must be in \[-30, 30\]"),
        ((), {"thresholds": (0, 1, 2)}, r"expected the two ends of a range, got shape \(3,\)"),
        ((), {"thresholds": (0, math.inf)}, "values must be finite"),
        (([1e-300],), {}, "operating_points: the range goes from"),
        (([0.5],), {"share": 1.0}, "share: got 1.0"),
    ],
)
def test_what_is_no_range_is_refused(arguments, options, message):
    with pytest.raises(InputError, match=message):
        suggest_rule(*arguments, **options)


def test_a_rule_of_ones_own():
    assert Rule(2, 2, 0.01).weighting([0.01]) == rule_weighting(alpha=2, beta=2, p_target=0.01, operating_points=[0.01])
