"""Decisions and their costs at operating points, by their definitions."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban import metrics
from deciban.core.ranks.roc import OperatingPoint, as_operating_point
from deciban.errors import InputError
from support.strategies import classes

PRIORS, COSTS = st.floats(0.001, 0.999), st.floats(0.05, 20.0)


def expected_cost(tar, non, p, c_miss, c_fa, threshold):
    """What decisions cost on average that accept from a threshold on."""
    p_miss = sum(x < threshold for x in tar) / len(tar)
    p_fa = sum(x >= threshold for x in non) / len(non)
    return p * c_miss * p_miss + (1 - p) * c_fa * p_fa


@given(classes(max_size=12), PRIORS, COSTS, COSTS)
def test_costs_are_those_of_bayes_decisions(sets, p, c_miss, c_fa):
    """A trial is accepted where its expected cost of a miss is at least that of a false alarm."""
    tar, non = sets
    threshold = math.log((1 - p) * c_fa) - math.log(p * c_miss)
    if any(abs(x - threshold) < 1e-9 for x in (*tar, *non)):
        return
    default = min(p * c_miss, (1 - p) * c_fa)
    expected = expected_cost(tar, non, p, c_miss, c_fa, threshold)
    asked = {"p_target": p, "c_miss": c_miss, "c_fa": c_fa}
    assert metrics.act_dcf(tar, non, **asked, normalize=False) == pytest.approx(expected, rel=1e-12)
    assert metrics.act_dcf(tar, non, **asked) == pytest.approx(expected / default, rel=1e-11)
    least = min(expected_cost(tar, non, p, c_miss, c_fa, at) for at in (*tar, *non, math.inf))
    assert metrics.min_dcf(tar, non, **asked, normalize=False) <= least * (1 + 1e-12)


@given(PRIORS, COSTS, COSTS)
def test_points_say_from_where_to_accept(p, c_miss, c_fa):
    point = OperatingPoint(p, c_miss, c_fa)
    assert point.threshold == pytest.approx(math.log((1 - p) * c_fa) - math.log(p * c_miss), abs=1e-12)
    assert point.effective_prior == pytest.approx(p * c_miss / (p * c_miss + (1 - p) * c_fa), rel=1e-12)
    assert point.default_cost == pytest.approx(min(p * c_miss, (1 - p) * c_fa), rel=1e-15)
    assert as_operating_point((p, c_miss, c_fa)) == point


def test_a_miss_that_is_dear_is_rarer():
    tar, non = np.linspace(-3, 5, 40), np.linspace(-5, 3, 40)
    cheap, dear = (metrics.act_dcf(tar, non, p_target=0.5, c_miss=c, normalize=False) for c in (0.1, 10.0))
    assert OperatingPoint(0.5, c_miss=10.0).threshold == pytest.approx(-math.log(10))
    assert cheap < 0.1
    assert dear < 1.0  # accepting all costs half


@pytest.mark.parametrize("point", [(0.5, 0.0, 1.0), (0.5, 1.0, 0.0), (0.5, 1.0, 1.0, 1.0), (), "0.5"])
def test_what_is_no_point_is_refused(point):
    with pytest.raises(InputError, match="operating_points"):
        as_operating_point(point)


@pytest.mark.parametrize("point", [1e-320, (0.5, 1e300, 1e-300), (0.5, 1e-200, 1e200)])
def test_a_prior_that_no_number_tells_from_0_or_1_is_refused(point):
    with pytest.raises(InputError, match="beyond 700 nats.*less extreme prior"):
        as_operating_point(point)
    for near in (1e-300, (0.5, 1e150, 1e-150)):
        assert abs(as_operating_point(near).log_odds) <= 700
