"""Fast and exact implementations against the literal definitions."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban import metrics
from support import naive
from support.strategies import classes, coarse, finite_classes


@given(classes())
def test_pav_pools_the_same_blocks(sets):
    tar, non = sets
    blocks = metrics.pav(tar, non)
    expected = np.array(naive.pav_blocks(tar, non)).T
    np.testing.assert_array_equal([blocks.n_tar, blocks.n_non, blocks.low, blocks.high], expected)


@given(classes(), st.fractions(Fraction(1, 1000), Fraction(999, 1000)))
def test_minimum_error_is_that_of_the_best_threshold(sets, prior):
    tar, non = sets
    found = metrics.min_bayes_error(tar, non, p_target=float(prior))
    assert found == pytest.approx(float(naive.min_error(tar, non, prior)), rel=1e-12, abs=1e-15)


@given(classes(), st.sampled_from([Fraction(1, 10), Fraction(1), Fraction(7, 2)]))
def test_unequal_error_rate_is_on_the_lowest_segment(sets, ratio):
    tar, non = sets
    expected = float(naive.unequal_error_rate(tar, non, ratio))
    assert metrics.uer(tar, non, ratio=float(ratio)) == pytest.approx(expected, rel=1e-12, abs=1e-15)


@given(classes())
def test_break_even_point_is_an_unequal_error_rate(sets):
    tar, non = sets
    expected = naive.unequal_error_rate(tar, non, Fraction(len(tar), len(non))) * len(non)
    assert metrics.prbep(tar, non) == pytest.approx(float(expected), rel=1e-12, abs=1e-14)


@given(classes())
def test_auc_counts_pairs(sets):
    tar, non = sets
    assert metrics.auc(tar, non) == pytest.approx(float(naive.auc(tar, non)), rel=1e-14)
    assert metrics.roc_error_area(tar, non) == pytest.approx(float(1 - naive.auc(tar, non)), rel=1e-14)


@given(finite_classes)
def test_cllr_is_the_mean_of_its_definition(sets):
    assert metrics.cllr(*sets) == pytest.approx(naive.cllr(*sets), rel=1e-13)


@given(classes(), coarse)
def test_a_score_at_the_threshold_is_accepted(sets, log_odds):
    tar, non = sets
    prior, threshold = 1 / (1 + math.exp(-log_odds)), -log_odds
    p_miss, p_fa = np.mean(np.array(tar) < threshold), np.mean(np.array(non) >= threshold)
    found = metrics.bayes_error(tar, non, prior_log_odds=log_odds)
    assert found == pytest.approx(prior * p_miss + (1 - prior) * p_fa, rel=1e-12)


@given(classes())
def test_roc_corners_are_operating_points_of_their_thresholds(sets):
    tar, non = np.array(sets[0]), np.array(sets[1])
    curve = metrics.roc(tar, non)
    assert (curve.p_fa[0], curve.p_miss[0], curve.p_fa[-1], curve.p_miss[-1]) == (1, 0, 0, 1)
    for p_fa, p_miss, threshold in zip(curve.p_fa[:-1], curve.p_miss[:-1], curve.threshold[:-1], strict=True):
        assert p_fa == np.mean(non >= threshold)
        assert p_miss == np.mean(tar < threshold)
    inside = set(zip(curve.p_fa.tolist(), curve.p_miss.tolist(), strict=True))
    hull = metrics.rocch(tar, non)
    assert set(zip(hull.p_fa.tolist(), hull.p_miss.tolist(), strict=True)) <= inside
