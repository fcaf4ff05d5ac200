"""Mean costs of bins are the metrics, from metrics on the scores."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.optimize import brentq

from deciban import metrics
from deciban.core.resampling.linearised import (
    LinearCosts,
    beta_costs_at,
    bins_of,
    brier_costs_at,
    crossing_slopes,
    crossing_weights,
    log_costs_at,
)
from deciban.metrics import SortedScores
from support.strategies import classes, coarse


def linear(sets, thresholds=(), **weights):
    ranks = SortedScores(*sets, **weights)
    bins = bins_of(ranks.table, ranks.pav, np.array(thresholds, np.float64), 5)
    return LinearCosts(ranks.tar, ranks.non, ranks.pav, ranks.rocch, bins)


def mean(costs, of):
    return sum(float(own @ one) / own.sum() for one, own in zip(costs, (of.n_tar, of.n_non), strict=True))


@given(classes(st.one_of(coarse, st.floats(-20, 20))), st.sampled_from([0.1, 0.5, 0.9]))
def test_mean_costs_are_the_metrics(sets, prior):
    log_odds = math.log(prior / (1 - prior))
    found = linear(sets, [-log_odds, 0.5])
    at, close = {"p_target": prior}, {"rel": 1e-12, "abs": 1e-12}
    assert mean(found.dcf(log_odds, -log_odds), found) == pytest.approx(metrics.act_dcf(*sets, **at), **close)
    assert mean(found.best.crossing(2.0)[:, 0], found) == pytest.approx(metrics.uer(*sets, ratio=2.0), **close)
    assert mean(found.of_means(log_costs_at(log_odds)), found) == pytest.approx(
        metrics.cross_entropy(*sets, **at), **close
    )
    least = metrics.min_cross_entropy(*sets, **at)
    assert mean(found.of_means(log_costs_at(log_odds), best=True), found) == pytest.approx(least, **close)
    for best, of_scores in ((False, metrics.scoring_rule_cost), (True, metrics.min_scoring_rule_cost)):
        expected = of_scores(*sets, alpha=2, beta=1, **at)
        assert mean(found.of_means(beta_costs_at(2, 1, log_odds), best=best), found) == pytest.approx(expected, **close)
    assert mean(found.of_means(brier_costs_at(log_odds)), found) == pytest.approx(
        metrics.brier(*sets, p_target=prior), **close
    )
    rejected = np.mean(np.array(sets[0]) < 0.5)
    assert mean(found.rates(0.5, 1.0, 0.0), found) == pytest.approx(rejected, **close)


@given(classes(coarse))
def test_each_class_alone_gives_the_whole_area(sets):
    found = linear(sets)
    below, above = (
        float(own @ one) / own.sum() for one, own in zip(found.auc(), (found.n_tar, found.n_non), strict=True)
    )
    assert below == pytest.approx(metrics.auc(*sets), abs=1e-12)
    assert above == pytest.approx(metrics.auc(*sets), abs=1e-12)


def test_where_a_rate_is_limited_the_other_moves_along_a_chord():
    rng = np.random.default_rng(2)
    tar, non = rng.normal(2, 1, 100_000), rng.normal(0, 1, 100_000)
    threshold = float(np.sort(non)[-5000])  # false-alarm rate 5 %
    found = linear((tar, non), [threshold])
    # Of normal classes of equal spread the slope is the likelihood ratio: exp(d t - d^2 / 2).
    slope = math.exp(2 * threshold - 2)
    n_units = 2000, 2000
    miss, false_alarm = found.limited(1, threshold, n_units)
    assert miss == 1.0
    assert false_alarm == pytest.approx(slope, rel=0.1)
    miss, false_alarm = found.limited(0, threshold, n_units)
    assert false_alarm == 1.0
    assert miss == pytest.approx(1 / slope, rel=0.1)


@pytest.mark.parametrize("ratio", [0.5, 1.0, 4.0])
def test_where_rates_cross_their_weights_are_those_of_normal_classes(ratio):
    """Both rates move with the threshold as densities: the crossing moves with the rate whose density is lower."""
    rng = np.random.default_rng(2)
    tar, non = rng.normal(2, 1, 100_000), rng.normal(0, 1, 100_000)
    threshold = brentq(lambda t: stats.norm.sf(t) - ratio * stats.norm.cdf(t - 2), -2, 4)
    found, n_units = linear((tar, non)), (2000, 2000)
    down, up = stats.norm.pdf(threshold), stats.norm.pdf(threshold - 2)
    p_fa, slopes = crossing_slopes(found.rocch, ratio, n_units)
    assert p_fa == pytest.approx(stats.norm.sf(threshold), rel=0.02)
    assert slopes[0] / slopes[1] == pytest.approx(down / up, rel=0.1)
    expected = ratio * down / (down + ratio * up), ratio * up / (down + ratio * up)
    weights = crossing_weights(ratio, slopes)
    assert weights == pytest.approx(expected, rel=0.1)
    assert weights[0] * p_fa / ratio + weights[1] * p_fa == pytest.approx(p_fa)


@given(classes(st.one_of(coarse, st.floats(-20, 20))), st.sampled_from([0.25, 1.0, 5.0]))
def test_weights_of_a_crossing_are_shares_of_it(sets, ratio):
    of_tar, of_non = crossing_weights(ratio, crossing_slopes(linear(sets).rocch, ratio, (5, 7))[1])
    assert min(of_tar, of_non) >= 0.0
    assert of_tar / ratio + of_non == pytest.approx(1.0)


@pytest.mark.parametrize("kind", [0, 1])
@pytest.mark.parametrize("threshold", [-np.inf, 0.5, np.inf])
def test_limits_of_separate_classes_are_finite(kind, threshold):
    assert np.all(np.isfinite(linear(([1.0, 2.0], [0.0]), [0.5]).limited(kind, threshold, (2, 1))))


def test_infinite_scores_cost_what_they_are():
    found = linear(([-np.inf, 1.0], [0.0, -np.inf]))
    assert mean(found.of_means(log_costs_at(0.0)), found) == math.inf
    assert mean(linear(([np.inf], [-np.inf])).of_means(log_costs_at(0.0)), linear(([np.inf], [-np.inf]))) == 0.0
    assert math.isfinite(mean(found.of_means(log_costs_at(0.0), best=True), found))


def test_a_trial_counts_its_weight():
    sets = ([1.0, 2.0, 0.0], [0.0, 1.5])
    assert linear(sets, tar_weights=[2, 1, 3]).one_trial == (1.0, 1.0)
    assert linear(sets, tar_weights=[0.5, 0.25, 0.75], non_weights=[0.1, 0.1]).one_trial == pytest.approx((0.5, 0.1))
