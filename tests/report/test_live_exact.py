"""What a page holds to count errors at any prior, within the room that it has."""

import json

import numpy as np
import pytest

from deciban.core.ranks.roc import Rocch
from deciban.evaluation import evaluate
from deciban.report import live as live_exact


@pytest.fixture(scope="module")
def one():
    rng = np.random.default_rng(3)
    return evaluate(rng.normal(2, 2, 3_000), rng.normal(-2, 2, 20_000))


def test_scores_or_errors_at_a_grid_fill_the_room(one):
    steps = live_exact.exact_data(one)["steps"]
    assert len(live_exact.as_script_data(steps)) < live_exact.OF_SCORE * 23_000
    assert (sum(steps["misses"]), sum(steps["false_alarms"]), len(steps["places"])) == (3_000, -20_000, 23_000)
    for room in (100_000, 20_000, 3_000):
        thin = live_exact.exact_data(one, room)
        assert "places" not in thin["steps"]
        assert len(json.dumps(thin["steps"])) < room + 200
        assert thin["reach"] == 16.0


def test_the_vertices_give_the_least_cost_at_any_prior(one):
    hull = live_exact.exact_data(one)["hull"]
    p_miss, p_fa = (np.cumsum(hull[name]) / n for name, n in (("misses", one.n_tar), ("false_alarms", one.n_non)))
    log_odds = np.random.default_rng(1).uniform(-9, 9, 2000)
    odds = np.exp(np.abs(log_odds))
    rare, common = (np.where(log_odds[:, None] <= 0, *pair) for pair in ((p_miss, p_fa), (p_fa, p_miss)))
    exact = np.asarray(Rocch.of(one.curves.pav).min_dcf(prior_log_odds=log_odds))
    assert (rare + odds[:, None] * common).min(axis=1) == pytest.approx(exact, rel=1e-12)


def test_minima_that_are_not_known_and_scores_that_were_not_kept_are_left_out(one):
    import dataclasses

    gone = dataclasses.replace(one.at_priors, min_dcf=np.full(len(one.at_priors.min_dcf), np.nan))
    assert live_exact.exact_data(dataclasses.replace(one, at_priors=gone))["hull"] is None
    assert live_exact.exact_data(dataclasses.replace(one, error_steps=None)) is None
