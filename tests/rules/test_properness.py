"""Properness is told from its opposite, with a counter-example; sets of minimizers are those of the thesis."""

import numpy as np
import pytest

from deciban import InputError
from deciban.rules import (
    ActionCosts,
    Beta,
    DetectionOfEach,
    Logarithmic,
    Quadratic,
    ThresholdWeights,
    check_properness,
    least_cost_reports,
)


@pytest.mark.parametrize(
    ("rule", "n", "is_strict"),
    [
        (Logarithmic(), 3, True),
        (Quadratic(), 2, True),
        (Beta(0.3, 2.0), 2, True),
        (ActionCosts([[0, 1], [1, 0], [0.2, 0.2]]), 2, False),
        (DetectionOfEach(), 4, False),
    ],
)
def test_proper_rules_are_found_proper(rule, n, is_strict):
    found = check_properness(rule, n, n_points=300)
    assert (found.is_proper, found.is_strict, found.truth) == (True, is_strict, None)


@pytest.mark.parametrize(
    ("rule", "n"),
    [
        (lambda q: np.abs(1.0 - q), 2),
        (lambda q: (1.0 - q) ** 2, 3),  # of two classes it is proper
        (lambda q: -np.log(np.maximum(q, 0.05)), 2),
        (lambda q: 2.0 - q - q.max(axis=1, keepdims=True), 3),
    ],
)
def test_a_counter_example_is_one(rule, n):
    found = check_properness(rule, n, n_points=400)
    assert not found.is_proper
    honest, other = (float(found.truth @ rule(one[None])[0]) for one in (found.truth, found.report))
    assert other < honest - 1e-6
    assert (found.honest_cost, found.other_cost) == pytest.approx((honest, other))
    assert "not proper: with truth" in str(found)


def test_sets_of_minimizers_of_one_and_two_thresholds():
    """Thesis 3.26 and 3.27 (figure 3.1): all reports between the same thresholds as the truth serve."""
    grid = (np.arange(20) + 0.5) / 20
    table = np.stack((grid, 1 - grid), axis=1)
    for thresholds in ([0.4], [0.4, 0.7]):
        found = least_cost_reports(ThresholdWeights(thresholds), table, table)
        region = np.searchsorted(thresholds, grid)
        np.testing.assert_array_equal(found, region[:, None] == region)
    at_threshold = least_cost_reports(ThresholdWeights([0.4, 0.7]), [[0.4, 0.6]], table)[0]
    np.testing.assert_array_equal(at_threshold, grid < 0.7)


def test_functions_that_are_no_rules_are_refused():
    with pytest.raises(InputError, match=r"rule: returned float64 of shape \(\d+,\)"):
        check_properness(lambda q: q[:, 0], 2)
    with pytest.raises(InputError, match="n_classes: None"):
        check_properness(Quadratic())
    with pytest.raises(InputError, match="n_classes: 3, but the rule is for 2"):
        check_properness(Beta(1, 1), 3)
