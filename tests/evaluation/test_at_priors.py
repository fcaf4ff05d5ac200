"""Errors and costs at priors of a grid are those of an evaluation at each of these priors."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban.evaluation import evaluate, evaluation_of, merged, presets, summarize
from deciban.evaluation.bands import rate_intervals
from deciban.evaluation.curves import priors_of
from support.limits import wilson

LEVELS = st.sampled_from([-np.inf, -5.0, -2.0, 0.0, 0.5, 2.0, 4.0, np.inf])
SOME = st.lists(LEVELS, min_size=1, max_size=30)


@given(SOME, SOME, st.integers(0, 400))
def test_every_place_is_an_operating_point(tar, non, place):
    at = evaluate(tar, non).at_priors
    place %= len(at.log_odds)
    p_target = 1.0 / (1.0 + np.exp(-at.log_odds[place]))
    (point,) = evaluate(tar, non, operating_points=[p_target]).operating_points
    assert point.threshold == pytest.approx(-at.log_odds[place], abs=1e-9)
    assert (point.n_miss, point.n_fa) == (at.n_miss[place], at.n_fa[place])
    assert (at.p_miss[place], at.p_fa[place]) == (point.p_miss, point.p_fa)
    assert at.act_dcf[place] == pytest.approx(point.act_dcf, rel=1e-12)
    assert at.min_dcf[place] == pytest.approx(point.min_dcf, rel=1e-12, abs=1e-15)


def test_points_that_were_asked_for_are_in_the_grid():
    rng = np.random.default_rng(3)
    points = [0.0123, (0.3, 7, 2), 1e-7]
    one = evaluate(rng.normal(2, 2, 50), rng.normal(-2, 2, 500), operating_points=points)
    for point in one.operating_points:
        place = one.at_priors.nearest(-point.threshold)
        assert one.at_priors.log_odds[place] == -point.threshold
        assert (one.at_priors.act_dcf[place], one.at_priors.min_dcf[place]) == (point.act_dcf, point.min_dcf)


def test_points_of_all_plans_and_round_priors_are_in_the_grid():
    wanted = {point.log_odds for plan in presets().values() if plan.kind == "two-class" for point in plan.points}
    grid = priors_of([])
    assert max(np.abs(grid - one).min() for one in wanted) == 0.0
    assert 0.0 in grid
    assert np.array_equal(grid, -grid[::-1])
    assert np.diff(grid).max() < 0.051


def test_parts_and_whole_agree():
    rng = np.random.default_rng(5)
    tar, non = rng.normal(2, 2, 60), rng.normal(-2, 2, 400)
    parts = [summarize(tar[:20], non[:300]), summarize(tar[20:], non[300:])]
    assert evaluation_of(merged(parts)).at_priors == evaluate(tar, non).at_priors


def test_intervals_are_those_of_an_evaluation_at_the_prior():
    rng = np.random.default_rng(7)
    tar, non = rng.normal(2, 2, 200), rng.normal(-2, 2, 2000)
    units = {"tar_units": rng.integers(0, 40, 200), "non_units": rng.integers(0, 40, (2000, 2))}
    one = evaluate(tar, non, **units)
    found = rate_intervals(one)
    for p_target in (0.01, 0.02, 0.2, 0.5, 0.95, 0.9999):
        exact = evaluate(tar, non, operating_points=[p_target], **units)
        place = one.at_priors.nearest(-exact.operating_points[0].threshold)
        for name in ("p_miss", "p_fa"):
            interval = exact.interval(name)
            bounds = [bounds[place] for bounds in found[name]]
            close = 1e-12 if p_target == 0.01 else 0.15  # where it was asked for, the very same
            assert bounds == pytest.approx([interval.low, interval.high], rel=close), (p_target, name)
    assert rate_intervals(dataclasses.replace(one, uncertainty=None)) == {}


def test_rates_without_an_error_have_wilson_limits_of_as_many_trials_as_units():
    units = {"tar_units": np.arange(30), "non_units": np.arange(30)}
    one = evaluate(np.full(30, 20.0), np.full(30, -20.0), **units)
    low, high = rate_intervals(one)["p_miss"]
    assert set(low.tolist()) == {0.0}
    assert high == pytest.approx(wilson(0.0, 30, 30)[1])
