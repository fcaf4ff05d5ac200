"""Decisions trial by trial: those of Bayes, their posteriors, costs and margins; tallies add up in any order."""

from functools import reduce
from operator import add

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban import multiclass
from deciban.decisions import Application, bayes_decisions, decide, default_risk
from support.class_trials import random_trials

COSTS = [[0, 1, 4], [1, 0, 1], [2, 1, 0], [0.3, 0.4, 0.3]]
PRIOR = [0.2, 0.5, 0.3]


def test_what_is_decided_is_what_bayes_decides_and_what_it_costs():
    loglik, _ = random_trials(3, 200)
    found = decide(loglik, costs=COSTS, prior=PRIOR)
    assert found.action.tolist() == bayes_decisions(loglik, costs=COSTS, prior=PRIOR).tolist()
    np.testing.assert_allclose(found.posterior, multiclass.posterior(loglik, prior=PRIOR), rtol=1e-12)
    ranked = np.sort(found.posterior @ np.array(COSTS).T, axis=1)
    np.testing.assert_allclose(found.expected_cost, ranked[:, 0], rtol=1e-12)
    np.testing.assert_allclose(found.margin, ranked[:, 1] - ranked[:, 0], atol=1e-15)


def test_infinite_scores_and_classes_of_prior_0():
    found = decide([[np.inf, 0.0, 0.0], [0.0, -np.inf, 0.0]], costs=COSTS, prior=[0.5, 0.0, 0.5])
    np.testing.assert_array_equal(found.posterior, [[1.0, 0.0, 0.0], [0.5, 0.0, 0.5]])
    alone = decide([1.0, -1.0], costs=[[1, 2]])
    assert (alone.action.tolist(), alone.margin.tolist()) == ([0, 0], [np.inf, np.inf])
    assert decide([800.0], costs=[[0, 1], [1, 0]]).expected_cost[0] == pytest.approx(0.0, abs=1e-300)


@given(st.integers(0, 40), st.integers(0, 40))
def test_tallies_add_up_in_any_order(one, two):
    loglik, _ = random_trials(3, 60)
    cuts = sorted((min(one, 60), min(two, 60)))
    parts = [decide(part, costs=COSTS, prior=PRIOR).tally() for part in np.split(loglik, cuts) if len(part)]
    whole = decide(loglik, costs=COSTS, prior=PRIOR).tally()
    for tally in (reduce(add, parts), reduce(add, parts[::-1])):
        assert tally.counts.tolist() == whole.counts.tolist()
        assert tally.expected_cost == pytest.approx(whole.expected_cost, rel=1e-14)
        np.testing.assert_allclose(tally.worth, whole.worth, rtol=1e-12, atol=1e-16)


def test_an_action_is_worth_what_deciding_without_it_costs_more():
    loglik, _ = random_trials(3, 100)
    tally = decide(loglik, costs=COSTS, prior=PRIOR).tally()
    for k in range(4):
        without = decide(loglik, costs=np.delete(COSTS, k, axis=0), prior=PRIOR).tally()
        assert tally.worth[k] == pytest.approx(without.expected_cost - tally.expected_cost, abs=1e-12)
    lines = tally.lines(["a", "b", "c", "ask"], Application(COSTS, PRIOR))
    assert lines[0].startswith("100 decided: a ")
    by_prior = f"mean cost, classes weighted by the prior: {default_risk(costs=COSTS, prior=PRIOR):.6g} without scores"
    assert lines[3] == f"{by_prior} (always ask)"


def test_expected_costs_do_not_depend_on_the_trials_beside():
    rng = np.random.default_rng(4)
    loglik, costs = 2.0 * rng.normal(size=(203, 14)), rng.random((15, 14))
    whole = decide(loglik, costs=costs).expected
    for step in (1, 2, 7, 50):
        parts = [decide(loglik[at : at + step], costs=costs).expected for at in range(0, len(loglik), step)]
        assert np.array_equal(np.concatenate(parts), whole)


def test_decisions_that_are_to_cost_more_than_none_say_why():
    # Llrs of 1 at a prior of 0.01 say that targets are commoner than that; a few trials can be of any class.
    costs, prior = [[0.0, 1.0], [1.0, 0.0]], [0.01, 0.99]
    application = Application(costs, prior)
    said = [
        " ".join(decide(np.full(n, llr), costs=costs, prior=prior).tally().lines(["accept", "reject"], application))
        for llr, n in ((1.0, 100), (-1.0, 100), (1.0, 9))
    ]
    assert ["cost is higher than without scores" in one for one in said] == [True, False, False]
