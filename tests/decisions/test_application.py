"""Equivalence, canonical form and combination of applications (thesis 3.4, 6.2, 6.3)."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban import InputError, OperatingPoint
from deciban.decisions import (
    Application,
    bayes_decisions,
    bayes_threshold,
    combine_applications,
    decision_risk,
    effective_prior,
    empirical_risk,
    error_costs,
)
from support.class_trials import class_trials, priors
from support.strategies import coarse


def risk_in(application, loglik, label):
    return empirical_risk(loglik, label, costs=application.costs, prior=application.prior)


@st.composite
def applications(draw, n_classes, max_actions=4):
    cost = st.floats(0.01, 10) | st.just(0.0)
    rows = st.lists(cost, min_size=n_classes, max_size=n_classes)
    return Application(draw(st.lists(rows, min_size=1, max_size=max_actions)), draw(priors(n_classes)))


@given(class_trials(values=st.floats(-20, 20)), st.data())
def test_canonical_form_and_other_priors_change_risks_by_a_constant(trials, data):
    loglik, label = trials
    application = data.draw(applications(loglik.shape[1]))
    risk, canonical = risk_in(application, loglik, label), application.canonical()
    np.testing.assert_array_equal(canonical.costs.min(axis=0), 0)
    np.testing.assert_allclose(canonical.prior, 1 / loglik.shape[1])
    assert canonical.least_risk == 0
    assert risk_in(canonical, loglik, label) + application.least_risk == pytest.approx(risk, rel=1e-9, abs=1e-12)
    moved = application.at_prior(data.draw(priors(loglik.shape[1])))
    assert risk_in(moved, loglik, label) == pytest.approx(risk, rel=1e-9, abs=1e-12)
    assert moved.default_risk == pytest.approx(application.default_risk, rel=1e-9)
    for other in (canonical, moved, Application(3 * application.costs + 5, application.prior)):
        assert application.is_equivalent_to(other)
        assert other.default_action == application.default_action


def test_applications_that_differ_are_not_equivalent():
    one = Application(error_costs(3), [0.2, 0.3, 0.5])
    assert not one.is_equivalent_to(Application(error_costs(3)))
    assert not one.is_equivalent_to(Application(error_costs(3, reject=0.2), [0.2, 0.3, 0.5]))
    assert not one.is_equivalent_to(Application(error_costs(3)[::-1], [0.2, 0.3, 0.5]))


@given(st.floats(0.001, 0.999), st.floats(0.1, 10), st.floats(0.1, 10))
def test_costs_and_prior_of_detection_are_one_number(p_target, c_miss, c_fa):
    """BOSARIS paper eqs. 10 and 11, thesis 6.8."""
    application = Application.of_operating_point(OperatingPoint(p_target, c_miss, c_fa))
    p_eff = effective_prior(p_target, c_miss, c_fa)
    assert p_eff == pytest.approx(p_target * c_miss / (p_target * c_miss + (1 - p_target) * c_fa), rel=1e-14)
    assert application.is_equivalent_to(Application([[0, 1], [1, 0]], [p_eff, 1 - p_eff]))
    assert application.operating_point().effective_prior == pytest.approx(p_eff, rel=1e-14)
    threshold = np.log((1 - p_target) * c_fa / (p_target * c_miss))
    assert bayes_threshold(p_target, c_miss, c_fa) == pytest.approx(threshold, rel=1e-12, abs=1e-13)
    smaller = min(p_target * c_miss, (1 - p_target) * c_fa)
    assert application.default_risk == pytest.approx(smaller, rel=1e-14)


def test_operating_point_of_costs_in_any_form():
    point = Application([[5, 3], [7, 2]], [0.1, 0.9]).operating_point()
    assert (point.p_target, point.c_miss, point.c_fa) == pytest.approx((0.1, 2, 1))
    assert bayes_threshold(0.5) == 0
    assert str(bayes_threshold(0.5)) == "0.0"


@given(class_trials(values=coarse, n_classes=st.integers(2, 3)), st.data())
def test_the_risk_of_a_combination_is_the_sum_of_risks(trials, data):
    """Thesis 6.7; compound decisions are those of the parts."""
    loglik, label = trials
    parts = data.draw(st.lists(applications(loglik.shape[1], max_actions=3), min_size=1, max_size=3))
    weights = data.draw(st.lists(st.floats(0.1, 4), min_size=len(parts), max_size=len(parts)))
    common = data.draw(st.none() | priors(loglik.shape[1]))
    combined = combine_applications(parts, weights=weights, prior=common)
    expected = sum(w * risk_in(part, loglik, label) for w, part in zip(weights, parts, strict=True))
    assert risk_in(combined, loglik, label) == pytest.approx(expected, rel=1e-9, abs=1e-12)
    own = [bayes_decisions(loglik, costs=part.costs, prior=part.prior) for part in parts]
    compound = np.ravel_multi_index(own, [part.n_actions for part in parts])
    assert decision_risk(compound, label, costs=combined.costs, prior=combined.prior) == pytest.approx(
        expected, rel=1e-9, abs=1e-12
    )


def test_as_many_compound_actions_as_are_allowed_are_written_out(monkeypatch):
    monkeypatch.setattr("deciban.decisions.application._MOST_ACTIONS", 4)
    assert combine_applications([Application(error_costs(2))] * 2).n_actions == 4
    with pytest.raises(InputError, match="8 compound actions, more than 4"):
        combine_applications([Application(error_costs(2))] * 3)


def test_costs_of_compound_actions():
    one, two = Application([[0, 1], [2, 0]], [0.5, 0.5]), Application([[0, 3], [5, 0], [1, 1]], [0.25, 0.75])
    combined = combine_applications([one, two], weights=[1, 2])
    for k, (a, b) in enumerate(itertools.product(range(2), range(3))):
        expected = one.costs[a] * [0.5, 0.5] / 0.5 + 2 * two.costs[b] * [0.25, 0.75] / 0.5
        np.testing.assert_allclose(combined.costs[k], expected)


def test_an_application_cannot_be_changed():
    costs = np.array([[0.0, 1.0], [1.0, 0.0]])
    application = Application(costs)
    costs[0, 0] = 7
    assert application.costs[0, 0] == 0
    with pytest.raises(ValueError, match="read-only"):
        application.costs[0, 0] = 1
    with pytest.raises(AttributeError):
        application.prior = np.array([0.1, 0.9])


def test_reject_pays_below_the_probability_of_an_error():
    """Chow's rule: reject if the greatest posterior is below 1 minus the cost of rejection."""
    posterior = np.array([[0.69, 0.31], [0.71, 0.29], [0.29, 0.71], [0.31, 0.69]])
    assert bayes_decisions(np.log(posterior), costs=error_costs(2, reject=0.3)).tolist() == [2, 0, 1, 2]
    assert Application(error_costs(4, reject=0.75)).default_action == 0
    assert Application(error_costs(4, reject=0.74)).default_action == 4


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: Application([[0, 1, 1]]).operating_point(), "costs: an operating point has 2 actions and 2 classes"),
        (lambda: Application([[1, 0], [0, 1]]).operating_point(), "is not a detection problem"),
        (lambda: Application([[1, 1], [1, 1]]).operating_point(), "is not a detection problem"),
        (lambda: Application(error_costs(3)).at_prior([0.5, 0.5, 0]), "prior: 0 for class 2, whose prior is 0.333333"),
        (lambda: combine_applications([]), "applications: empty"),
        (
            lambda: combine_applications([Application(error_costs(2)), Application(error_costs(3))]),
            "applications: number 1 has 3 classes, the first has 2",
        ),
        (lambda: combine_applications([Application(error_costs(2))] * 21), "2097152 compound actions, more than"),
        (
            lambda: combine_applications([Application(error_costs(2))], weights=[0]),
            r"weights: expected 1 numbers above 0, got \[0.0\]",
        ),
        (lambda: combine_applications([Application(error_costs(2))], weights=[1, 2]), "weights: expected 1 numbers"),
        (lambda: error_costs(1), "n_classes: got 1"),
        (lambda: error_costs(2, reject=-0.1), "costs: 2 of 6 are negative"),
        (lambda: effective_prior(1.5), "p_target: a prior must be inside"),
        (lambda: effective_prior(0.5, -1), "c_miss: got -1"),
        (lambda: bayes_threshold(0.5, 0, 0), "c_miss, c_fa: both are 0"),
    ],
)
def test_refusals(wrong, message):
    with pytest.raises(InputError, match=message):
        wrong()
