"""Rules as curves: their weightings give their costs back."""

import numpy as np
import pytest
from scipy.integrate import trapezoid

from deciban import InputError, rules
from deciban.rules.families import rule_curves

RULES = {
    "log": rules.Logarithmic(),
    "bits": rules.Logarithmic(base=2),
    "beta": rules.Beta(2.0, 1.5),
    "table": rules.ThresholdDensity(np.linspace(0.0, 1.0, 9), [0, 1, 2, 0, 1, 1, 3, 2, 0]),
}


@pytest.mark.parametrize("name", RULES)
def test_costs_are_integrals_of_weights(name):
    """Of a target, of the thresholds above the report: differences of costs are integrals (thesis 7.35)."""
    (one,) = rule_curves({name: RULES[name]})
    x, eta = one.log_odds, 1 / (1 + np.exp(-one.log_odds))
    for low, high in ((-3.0, 1.0), (0.0, 4.0)):
        some = (x >= low - 1e-9) & (x <= high + 1e-9)
        first, last = np.flatnonzero(some)[[0, -1]]
        missed = trapezoid(one.weight[some] / eta[some], x[some])
        assert one.target[first] - one.target[last] == pytest.approx(missed, rel=1e-3)
        alarms = trapezoid(one.weight[some] / (1 - eta[some]), x[some])
        assert one.non_target[last] - one.non_target[first] == pytest.approx(alarms, rel=1e-3)


def test_points_are_steps_of_costs():
    (one,) = rule_curves({"points": rules.ThresholdWeights([0.2, 0.6], [0.5, 2.0])})
    assert one.weight is None
    np.testing.assert_allclose(one.point_log_odds, np.log([0.25, 1.5]))
    steps = -np.diff(one.target)
    np.testing.assert_allclose(steps[steps > 0], [0.5 / 0.2, 2.0 / 0.6])


def test_rules_without_a_weighting_have_none():
    (one,) = rule_curves({"Brier": rules.Quadratic()})
    assert not one.has_weights


@pytest.mark.parametrize("given", [{}, {"x": rules.MeetingPoint([0.2, 0.3, 0.5])}, {"x": "log"}])
def test_what_is_no_rule_of_two_classes_is_refused(given):
    with pytest.raises(InputError, match="rules: "):
        rule_curves(given)
