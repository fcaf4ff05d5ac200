"""What the thesis says of its metrics and of table 8.1."""

import numpy as np
import pytest
from scipy.integrate import trapezoid

from deciban.metrics import bayes_error, cross_entropy, eer
from deciban.multiclass import error_rate_weighting
from deciban.rules import DetectionOfEach, MeetingPoint


@pytest.fixture(scope="module")
def rules(script):
    return script("thesis_rules")


def test_costs_fall_when_the_class_is_true_and_rise_when_it_is_not(rules):
    for rule in (rules.LOGARITHM, rules.ZERO_ONE):
        true, false = rule.costs(rules.BOTH).T
        assert np.all(np.diff(true) <= 0)
        assert np.all(np.diff(false) >= 0)


def test_entropies_of_figure_2_2(rules):
    q = rules.Q
    assert rules.ZERO_ONE.entropy(rules.BOTH) == pytest.approx(np.minimum(q, 1.0 - q))
    assert rules.LOGARITHM.entropy([0.5, 0.5]) == pytest.approx(np.log(2.0))


def test_two_thresholds_leave_less_room_for_reports(rules):
    grid = np.linspace(0.0025, 0.9975, 200)
    between = np.searchsorted(grid, 0.53)
    assert grid[rules.best_reports((0.5,), grid)[between]].min() > 0.5
    left = grid[rules.best_reports((0.5, 0.55), grid)[between]]
    assert left.min() >= 0.5
    assert left.max() < 0.55


def test_rules_are_bounded_if_gamma_is_positive(rules):
    certain = [[1.0, 0.0]]
    assert [rules.symmetric(gamma).costs(certain)[0, 1] for gamma in (-0.5, 0.0)] == [np.inf, np.inf]
    assert rules.symmetric(1.0).costs(certain)[0, 1] == pytest.approx(3.0)  # 3 q^2
    assert rules.symmetric(90.0).costs([[0.75, 0.25], [0.25, 0.75]])[:, 1] == pytest.approx([2.0, 0.0], abs=0.05)


def test_regions_of_figure_8_1_cost_what_the_rules_say(rules):
    posteriors = np.random.default_rng(1).dirichlet(np.ones(3), 200)
    problems = {DetectionOfEach(0.5): rules.detection_costs(), MeetingPoint(rules.ETA): rules.meeting_costs(rules.ETA)}
    for rule, costs in problems.items():
        assert (posteriors @ np.transpose(costs)).min(axis=1) == pytest.approx(rule.entropy(posteriors))


def test_error_rates_over_priors_add_up_to_twice_the_cross_entropy(script):
    """D.1 as it is printed lacks the factor 2: at the flat prior the cross-entropy is a mean of both classes."""
    tar, non = script("generators").unequal_gaussians(200)
    log_odds = np.linspace(-40.0, 40.0, 40_001)
    area = trapezoid(bayes_error(tar, non, prior_log_odds=log_odds), log_odds)
    assert area == pytest.approx(2.0 * cross_entropy(tar, non, p_target=0.5), rel=1e-4)


def test_figure_d_1_is_symmetric_and_highest_in_the_middle():
    odds = np.random.default_rng(1).dirichlet(np.ones(3), 50)
    assert error_rate_weighting(odds) == pytest.approx(error_rate_weighting(odds[:, ::-1]))
    assert np.all(error_rate_weighting(odds) <= error_rate_weighting(np.full((1, 3), 1.0 / 3.0)))


def test_hulls_of_three_scores(script):
    scores = script("thesis_scores")
    hulls = {name: scores.rocch(*pair) for name, pair in scores.SMALL.items()}
    corners = {name: {*zip(hull.p_fa.tolist(), hull.p_miss.tolist(), strict=True)} for name, hull in hulls.items()}
    assert corners == {
        "non below tar": {(0, 1), (0, 0), (1, 0)},
        "tar below non": {(0, 1), (1, 0)},
        "non between two tar": {(0, 1), (0, 0.5), (1, 0)},
        "tar between two non": {(0, 1), (0.5, 0), (1, 0)},
    }


def test_fusion_beats_its_systems(script):
    found = {name: eer(*pair) for name, pair in script("thesis_scores").systems_and_fusion(1000).items()}
    fusion = found.pop("fusion")
    assert fusion < 0.6 * min(found.values())


def test_table_8_1(script):
    rows = {(row.test, row.train): row for row in script("thesis_scores").table_8_1(300)}
    for year in ("2006", "2008"):
        assert rows[year, year].loss == pytest.approx(0.0, abs=1e-9)
        assert rows[year, "-"].total > 1.5 * rows[year, year].total
    independent, raw = rows["2008", "2006"], rows["2008", "-"]
    assert independent.loss < 0.1 * raw.loss
    assert raw.error_rate / independent.error_rate < raw.total / independent.total
