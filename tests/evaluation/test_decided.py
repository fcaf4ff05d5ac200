"""Evaluated decisions: rates and costs are those of the functions on arrays, and intervals those of the same scores."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban import metrics, multiclass
from deciban.core.ranks.roc import OperatingPoint
from deciban.core.resampling.units import TrialUnits
from deciban.decisions import Application, decision_risk
from deciban.evaluation import evaluate
from deciban.evaluation.decided import DecisionProblem, evaluate_decisions
from deciban.evaluation.uncertainty import Resampling
from support.limits import wilson

TWO = {"problem": DecisionProblem(("accept", "reject"), ("target", "nontarget"), "two-class")}
POINT = OperatingPoint(0.1, 2.0, 3.0)


@given(st.lists(st.tuples(st.booleans(), st.booleans(), st.integers(0, 3)), max_size=20), st.booleans())
def test_rates_and_costs_are_those_of_arrays(trials, is_weighted):
    accepted, truth, weight = np.array([(True, True, 1), (False, False, 2), *trials]).T
    weight = weight.astype(np.int64) if is_weighted else None
    found = evaluate_decisions(
        1 - accepted, 1 - truth, applications={"point": Application.of_operating_point(POINT)}, weights=weight, **TWO
    )
    errors = metrics.decision_errors(accepted == 1, truth == 1, sample_weight=weight)
    assert found.rates == pytest.approx(errors._asdict(), rel=1e-12)
    how = {"p_target": POINT.p_target, "c_miss": POINT.c_miss, "c_fa": POINT.c_fa, "sample_weight": weight}
    assert found.costs[0].cost == pytest.approx(
        metrics.decision_dcf(accepted == 1, truth == 1, normalize=False, **how), rel=1e-12
    )
    assert found.costs[0].normalized == pytest.approx(metrics.decision_dcf(accepted == 1, truth == 1, **how), rel=1e-12)


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), max_size=20), st.sampled_from([0.2, 0.5]))
def test_decisions_of_many_classes_have_the_c_avg_of_submitted_ones(trials, p_target):
    said, label = np.array([(0, 0), (2, 1), (1, 2), *trials]).T
    costs = np.array([[0.0, 1.0, 2.0], [3.0, 0.0, 1.0], [1.0, 1.0, 0.0]])
    own = Application(costs, [0.5, 0.3, 0.2])
    names = {"problem": DecisionProblem(tuple("abc"), tuple("abc"), "classes", p_target)}
    found = evaluate_decisions(said, label, applications={"own": own}, **names)
    accepted = said[:, None] == np.arange(3)
    assert found.rates["c_avg"] == pytest.approx(multiclass.decision_c_avg(accepted, label, p_target=p_target))
    assert found.rates["error_rate"] == pytest.approx(np.mean([(said[label == k] != k).mean() for k in range(3)]))
    assert found.costs[0].cost == pytest.approx(decision_risk(said, label, costs=costs, prior=own.prior), rel=1e-12)


@pytest.mark.parametrize("n_sides", [1, 2])
@pytest.mark.parametrize("is_weighted", [False, True])
def test_intervals_are_those_of_scores_that_decide_the_same(n_sides, is_weighted):
    rng = np.random.default_rng(2)
    truth = np.arange(400) % 4 == 0
    weights = rng.integers(1, 4, 400) if is_weighted else None
    heavy = {"tar_weights": weights[truth], "non_weights": weights[~truth]} if is_weighted else {}
    scores = rng.normal(np.where(truth, 1.5, -1.5), 1.5)
    units = rng.integers(0, 40, (400, 2))[:, :n_sides]
    sides = {"tar_units": units[truth], "non_units": units[~truth]}
    expected = evaluate(scores[truth], scores[~truth], operating_points=[POINT], **sides, **heavy)
    asked = Resampling(TrialUnits.of(units))
    accepted = scores >= expected.operating_points[0].threshold
    how = {"applications": {"p": Application.of_operating_point(POINT)}, "resampling": asked, "weights": weights}
    found = evaluate_decisions(np.where(accepted, 0, 1), np.where(truth, 0, 1), **how, **TWO).uncertainty
    for name in ("p_miss", "p_fa"):
        one, other = found.interval(name), expected.interval(name)
        assert (one.estimate, one.low, one.high) == pytest.approx((other.estimate, other.low, other.high), rel=1e-9)
    scale = Application.of_operating_point(POINT).default_risk
    one, other = found.interval(("cost", 0)), expected.interval("act_dcf")
    assert (one.low / scale, one.high / scale) == pytest.approx((other.low, other.high), rel=1e-9)
    assert one.standard_error / scale == pytest.approx(other.standard_error, rel=1e-9)


def test_too_few_units_of_a_class_give_no_interval_and_a_note():
    label = np.arange(60) % 2
    units = Resampling(TrialUnits.of(np.where(label == 0, np.arange(60) % 8, 100 + np.arange(60))))
    found = evaluate_decisions(
        1 - label, label, applications={"p": Application.of_operating_point(POINT)}, resampling=units, **TWO
    ).uncertainty
    assert found.estimates.keys() == {"p_fa"}
    assert found.notes[0].startswith("The targets come from 4 effective units (at least 5 are needed)")


def test_without_errors_a_rate_has_wilson_limits_of_as_many_trials_as_units():
    units = Resampling(TrialUnits.of(np.arange(60)))
    label = np.arange(60) % 2
    found = evaluate_decisions(label, label, applications={}, resampling=units, **TWO)
    assert found.uncertainty.interval("p_miss").high == pytest.approx(wilson(0.0, 30, 30)[1])
