"""Members of the beta family for rules of one's own: they care for the same thresholds."""

import numpy as np
import pytest
from scipy.special import logit

from deciban import InputError
from deciban.calibration import rule_weighting, suggest_for_rule, suggest_rule
from deciban.rules import Beta, Logarithmic, ThresholdDensity, ThresholdWeights


@pytest.mark.parametrize(("alpha", "beta", "p_target"), [(1, 1, 0.5), (2, 1, 0.01), (2, 2, 0.9), (1, 3, 0.01)])
def test_the_range_of_a_density_of_the_family_is_that_of_its_weighting(alpha, beta, p_target):
    density = ThresholdDensity.of_function(Beta(alpha, beta).density)
    most = rule_weighting(alpha=alpha, beta=beta, p_target=p_target).most
    assert suggest_for_rule(density, p_target).asked == pytest.approx(most, abs=1e-4)


def test_single_thresholds_are_operating_points_of_their_costs():
    found = suggest_for_rule(ThresholdWeights([0.9, 0.5]), 0.01)
    assert found == suggest_rule([(0.01, 1 / 0.9, 1 / 0.1), (0.01, 2, 2)])
    # A threshold that hardly weighs is not cared for.
    rare = suggest_for_rule(ThresholdWeights([0.5, 0.9, 0.0001], [1.0, 1.0, 1e-9]), 0.01)
    assert rare == found


def test_several_priors_are_cared_for_together():
    rule = ThresholdWeights([0.5])
    found = suggest_for_rule(rule, [0.01, 0.5, 0.1])
    assert found.asked == pytest.approx((-2.0, logit(0.99) + 2.0))


def test_weights_of_the_tails_count_as_problems_of_even_odds():
    at, p = np.array([0.2, 0.5, 0.7, 0.95]), 0.3
    weights = np.array([0.1, 0.4, 0.4, 0.1])
    found = suggest_for_rule(ThresholdWeights(at, weights), p, share=0.5)
    llr = logit(at) - logit(p)
    # A miss at even odds costs 1 / sigma(t), half of it by the prior: what it weighs is p / eta over that.
    total = np.cumsum(weights * (p / at) / (0.5 / (1 / (1 + np.exp(-llr)))))
    low, high = (llr[np.argmax(total >= q * total[-1])] for q in (0.25, 0.75))
    assert found.asked == pytest.approx((low - 2.0, high + 2.0))


@pytest.mark.parametrize(
    ("rule", "p_target", "options", "message"),
    [
        (Logarithmic(), 0.5, {}, "rule: got Logarithmic"),
        (ThresholdWeights([0.5], [0.0]), 0.5, {}, "rule: no weight"),
        (ThresholdDensity([0.0, 1.0], [0.0, 0.0]), 0.5, {}, "rule: no weight"),
        (ThresholdDensity([0.5, 0.6], [1.0, 1.0]), 1e-15, {}, "rule: no weight on llrs within 30 nats"),
        (ThresholdWeights([0.5]), 1e-15, {}, "rule: its thresholds are llrs from"),
        (ThresholdWeights([0.5]), [], {}, "p_target: missing"),
        (ThresholdWeights([0.5]), 1.0, {}, "p_target"),
        (ThresholdWeights([0.5]), 0.5, {"share": 2.0}, "share: got 2"),
    ],
)
def test_what_has_no_range_is_refused(rule, p_target, options, message):
    with pytest.raises(InputError, match=message):
        suggest_for_rule(rule, p_target, **options)
