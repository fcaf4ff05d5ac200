"""Pictures of scoring rules."""

import numpy as np
import pytest

from deciban import plots, rules
from deciban.errors import InputError


def test_costs_are_those_of_the_rules():
    ax = plots.scoring_rules({"log": rules.Logarithmic(base=2), "Brier": rules.Quadratic()})
    curves = [line for line in ax.lines if len(line.get_xdata()) > 2]
    x = curves[0].get_xdata()
    np.testing.assert_allclose(curves[0].get_ydata(), np.log1p(np.exp(-x)) / np.log(2), rtol=1e-9)
    np.testing.assert_allclose(curves[1].get_ydata(), np.log1p(np.exp(x)) / np.log(2), rtol=1e-9)
    np.testing.assert_allclose(curves[2].get_ydata(), 2 / (1 + np.exp(x)) ** 2, rtol=1e-9)
    assert [line.get_linestyle() for line in curves] == ["-", "--", "-", "--"]
    assert ax.get_ylim()[1] < 7


def test_rules_of_detection_are_steps():
    ax = plots.scoring_rules({"at 0.2": rules.MeetingPoint([0.2, 0.8])})
    cost = next(line.get_ydata() for line in ax.lines if len(line.get_xdata()) > 2)
    assert set(np.round(np.unique(cost), 9)) == {0.0, 5.0}


@pytest.mark.parametrize("given", [{}, {"x": rules.MeetingPoint([0.2, 0.3, 0.5])}, {"x": "log"}])
def test_what_is_no_rule_of_two_classes_is_refused(given):
    with pytest.raises(InputError, match="rules: "):
        plots.scoring_rules(given)


def test_weights_are_curves_and_points():
    own = rules.ThresholdWeights([0.01, 0.5], [0.2, 0.3])
    ax = plots.rule_weights({"log": rules.Logarithmic(), "own": own})
    curve = next(line for line in ax.lines if line.get_label() == "log")
    x, y = curve.get_data()
    np.testing.assert_allclose(y, np.exp(x) / (1 + np.exp(x)) ** 2, rtol=1e-9)
    dots = next(line for line in ax.lines if line.get_marker() == "o")
    np.testing.assert_allclose(dots.get_xydata(), [[np.log(0.01 / 0.99), 0.2], [0.0, 0.3]], atol=1e-12)


def test_weights_that_are_not_known_are_refused():
    with pytest.raises(InputError, match="the weights of thresholds of 'x' are unknown"):
        plots.rule_weights({"x": rules.Quadratic()})
