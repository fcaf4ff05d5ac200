"""What costs amount to: where each action is best, which never are, and in words."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban.decisions import Application, ever_best, explained, minimizing_actions, regions

COSTS = [[0, 1, 4], [1, 0, 1], [2, 1, 0], [0.3, 0.4, 0.3]]
PRIOR = [0.2, 0.5, 0.3]


@given(st.lists(st.lists(st.integers(0, 9), min_size=2, max_size=2), min_size=1, max_size=6))
def test_regions_are_where_actions_are_best(costs):
    application = Application(np.array(costs, np.float64))
    found = regions(application)
    assert [one.low for one in found] == [0.0, *(one.high for one in found[:-1])]
    assert found[-1].high == 1.0
    for one in found:
        middle = (one.low + one.high) / 2
        assert minimizing_actions([[middle, 1 - middle]], costs=costs)[0, one.action]
    assert ever_best(application) == [k in {one.action for one in found} for k in range(len(costs))]


@pytest.mark.parametrize(("miss", "alarm"), [(7, 23), (1, 10), (29, 3), (5, 5)])
def test_an_action_that_only_meets_the_others_has_no_region(miss, alarm):
    ask = miss * alarm / (miss + alarm)
    costs = np.array([[0, alarm], [miss, 0], [ask, ask]])
    for scale in (1.0, 1e-290, 1e300):
        assert [one.action for one in regions(Application(costs / alarm / miss * scale))] == [1, 0]
        assert [one.action for one in regions(Application(costs[[2, 0, 1]] / alarm / miss * scale))] == [2, 1]
    assert ever_best(Application(costs)) == [True, True, False]


def test_costs_near_the_largest_number_have_regions():
    assert [one.low for one in regions(Application([[0, 1.5e308], [1.5e308, 0]]))] == [0.0, 0.5]


def test_actions_that_never_pay_are_found_among_many_classes():
    some = [*COSTS, [0.35, 0.45, 0.35], [3, 3, 3], COSTS[0]]
    assert ever_best(Application(some)) == [True, True, True, True, False, False, False]


def test_costs_are_explained():
    lines = explained(
        Application([[0, 10], [1, 0], [0.5, 0.5], [9, 9]], [0.5, 0.5]), ["yes", "no", "ask", "sue"], ["t", "n"]
    )
    assert lines[1].startswith(
        "no up to llr 0 (posterior of t 0.5), ask up to llr 2.94444 (posterior of t 0.95), yes from"
    )
    assert lines[-1] == "sue is never best, at any scores."
    many = explained(Application(COSTS, PRIOR), list("abcd"), list("xyz"))
    assert many[1].startswith("The same decisions follow from equal priors and the costs (x, y, z): a (0, ")
