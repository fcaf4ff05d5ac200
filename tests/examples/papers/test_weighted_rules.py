"""What Bruemmer and Doddington 2013 say of its metrics."""

import numpy as np
import pytest


@pytest.fixture(scope="module")
def rules(script):
    return script("weighted_rules")


@pytest.mark.parametrize("tau", [0.0, -2.0, -6.0])
def test_weightings_have_area_one(rules, tau):
    for rule in rules.RULES.values():
        far = np.linspace(-60.0, 60.0, 24_001)
        area = np.trapezoid(rules.threshold_weighting(far, alpha=rule[0], beta=rule[1], prior_log_odds=tau), far)
        assert area == pytest.approx(1.0, abs=1e-6)


def test_the_mode_moves_by_half_of_tau_by_all_of_it_or_not_at_all(rules):
    modes = {rule: rules.mode(rule, -6.0) for rule in rules.RULES.values()}
    assert modes[1.0, 1.0] == pytest.approx(3.0, abs=0.01)
    assert modes[2.0, 1.0] == pytest.approx(6.0, abs=0.1)
    assert modes[2.0, 2.0] == pytest.approx(6.0, abs=0.8)
    same = rules.weighting((0.5, 0.5), 0.0), rules.weighting((0.5, 0.5), -6.0)
    assert same[0] == pytest.approx(same[1], rel=1e-9)


def test_widening_is_less_dramatic_with_alpha_two(rules):
    wider = {
        rule: rules.weighting(rule, 0.0).max() / rules.weighting(rule, -6.0).max() for rule in rules.RULES.values()
    }
    assert wider[2.0, 1.0] < wider[2.0, 2.0] < wider[1.0, 1.0]


def test_alpha_two_has_lower_and_wider_minima_and_boosting_is_worst(rules):
    costs, _, least = rules.figure_2(300, 5)
    logarithmic = np.array(costs[1.0, 1.0])
    for rule in ((2.0, 1.0), (2.0, 2.0)):
        assert least <= min(costs[rule]) < logarithmic.min()
        assert np.ptp(costs[rule]) < np.ptp(logarithmic)
    assert min(costs[0.5, 0.5]) > logarithmic.max()


def test_each_objective_serves_the_thresholds_that_it_weighs(rules):
    logarithmic, brier = (rules.calibrated(rule, 1000, -3.0) for rule in ((1.0, 1.0), (2.0, 2.0)))
    assert rules.distance_from_reference(logarithmic, -3.0, 3.0) < rules.distance_from_reference(brier, -3.0, 3.0)
    assert rules.distance_from_reference(brier, 4.0, 8.0) < rules.distance_from_reference(logarithmic, 4.0, 8.0)
