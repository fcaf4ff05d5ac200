"""Thresholds and errors at thresholds, against every threshold one by one in exact fractions, and other programs."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.interpolate import interp1d
from scipy.optimize import brentq
from sklearn.metrics import roc_curve

from deciban import InputError, metrics
from deciban.core.ranks.counts import CountTable, SortedClass
from deciban.core.ranks.roc import ErrorsAt, limited
from support import naive
from support.strategies import classes, coarse

RATES = st.sampled_from([0.0, 0.001, 0.1, 0.25, 1 / 3, 0.5, 0.75, 1.0])


def errors_at(tar, non, threshold):
    """(p_miss, p_fa) by definition; infinite rejects all."""
    if threshold == math.inf:
        return Fraction(1), Fraction(0)
    return Fraction(sum(s < threshold for s in tar), len(tar)), Fraction(sum(s >= threshold for s in non), len(non))


@given(classes())
def test_the_least_error_is_found_again_at_its_threshold(sets):
    p_miss, p_fa = errors_at(*sets, metrics.min_dcf_threshold(*sets, p_target=0.5))
    assert (p_miss + p_fa) / 2 == naive.min_error(*sets, Fraction(1, 2))


@given(classes(), st.floats(1e-6, 1 - 1e-6), st.sampled_from([(1, 1), (10, 1), (1, 7)]))
def test_the_least_cost_is_found_again_at_its_threshold(sets, p, costs):
    at_point = {"p_target": p, "c_miss": costs[0], "c_fa": costs[1]}
    p_miss, p_fa = errors_at(*sets, metrics.min_dcf_threshold(*sets, **at_point))
    cost = p * costs[0] * float(p_miss) + (1 - p) * costs[1] * float(p_fa)
    assert cost == pytest.approx(metrics.min_dcf(*sets, normalize=False, **at_point), rel=1e-12)


@given(classes())
def test_at_the_threshold_of_the_eer_the_worst_least_error_is_the_eer(sets):
    """Which is what EER on the hull means: at one prior, no threshold is better, and this one is as good."""
    eer = naive.unequal_error_rate(*sets, 1)
    p_miss, p_fa = errors_at(*sets, metrics.eer_threshold(*sets))
    if p_miss == p_fa:
        assert p_miss == eer
        return
    prior = (eer - p_fa) / (p_miss - p_fa)
    assert 0 <= prior <= 1
    assert naive.min_error(*sets, prior) == eer


def test_thresholds_where_the_optimum_is_an_interval():
    """Between the scores -1 and 3 all thresholds decide alike: the one that is a score is taken."""
    tar, non = [3.0, 4.0], [-2.0, -1.0]
    assert metrics.eer_threshold(tar, non) == 3.0
    assert metrics.min_dcf_threshold(tar, non, p_target=[1e-9, 0.5, 1 - 1e-9]).tolist() == [3.0] * 3


def test_the_threshold_of_the_eer_is_that_of_nearer_rates_not_counts():
    """At 3: no miss, two of five false alarms. Rejecting all: one miss, which is all of them."""
    assert metrics.eer_threshold([3.0], [2.0, 2.0, 2.0, 3.0, 3.0]) == 3.0


def test_of_thresholds_of_one_cost_the_lower_one_is_taken():
    assert metrics.min_dcf_threshold([1.0], [1.0], p_target=0.5) == 1.0  # accepting and rejecting cost the same


def test_thresholds_where_one_decision_is_always_best():
    tar, non = [0.0, 1.0], [0.0, 1.0]
    assert metrics.min_dcf_threshold(tar, non, p_target=0.1) == math.inf
    assert metrics.min_dcf_threshold(tar, non, p_target=0.9) == 0.0
    assert metrics.min_dcf_threshold([math.inf], [math.inf, -math.inf], p_target=0.01) == math.inf
    assert metrics.eer_threshold(tar, non) == 0.0  # accepting all and rejecting all are as far from equal errors


def test_infinite_scores_are_told_from_none():
    """Accepting only what is infinite is not rejecting all."""
    largest = np.finfo(np.float64).max
    for dtype in (np.float64, np.float32):
        tar, non = np.array([math.inf, 1.0], dtype), np.array([2.0, 0.0], dtype)
        assert metrics.min_dcf_threshold(tar, non, p_target=0.01) == largest
        assert metrics.hter(tar, non, threshold=largest) == 0.25


def test_thresholds_of_float32_scores_split_them():
    tar, non = np.array([0.1, 0.3, 0.7], np.float32), np.array([0.2, 0.1, -1.0], np.float32)
    place = metrics.eer_threshold(tar, non)
    assert place == np.float64(np.float32(0.3))
    assert metrics.hter(tar, non, threshold=place) == pytest.approx((1 / 3) / 2)


@given(classes(), RATES)
def test_rates_at_limits_are_the_least_of_all_thresholds(sets, limit):
    points = [(float(fa), float(miss)) for fa, miss in naive.operating_points(*sets)]
    assert metrics.fnmr_at_fmr(*sets, fmr=limit) == min(miss for fa, miss in points if fa <= limit)
    assert metrics.fmr_at_fnmr(*sets, fnmr=limit) == min(fa for fa, miss in points if miss <= limit)


def test_rates_at_limits_keep_their_shape_and_are_not_interpolated():
    tar, non = np.arange(10.0), np.arange(-990.0, 10.0)  # one false alarm is a rate of 0.001
    found = metrics.fnmr_at_fmr(tar, non, fmr=[[0.001], [0.0019]])
    np.testing.assert_array_equal(found, [[0.9], [0.9]])
    assert metrics.fnmr_at_fmr(tar, non, fmr=0.002) == 0.8


@pytest.mark.parametrize(
    ("which", "limit", "threshold", "n_miss", "n_fa"),
    [
        ("fa", 1.0, 1.0, 0, 1),
        ("fa", 1 / 3, 1.0, 0, 1),
        ("fa", 0.3, 3.0, 1, 0),
        ("miss", 0.0, 1.0, 0, 1),
        ("miss", 1 / 3, 3.0, 1, 0),
        ("miss", 1.0, 3.0, 1, 0),
    ],
)
def test_of_thresholds_with_the_least_errors_that_with_the_fewest_limited_ones(which, limit, threshold, n_miss, n_fa):
    """Accepting from 0, 1, 2, 3 and never: 0, 0, 1, 1 and 3 misses, 3, 1, 1, 0 and 0 false alarms."""
    table = CountTable.of(SortedClass.of(np.array([1.0, 3.0, 3.0])), SortedClass.of(np.array([0.0, 0.0, 2.0])))
    assert limited(table, [limit], which) == (ErrorsAt(threshold, n_miss, n_fa, 3, 3),)


@pytest.mark.parametrize("rate", [-0.1, 1.5, math.nan])
def test_limits_are_fractions(rate):
    with pytest.raises(InputError, match=r"fmr"):
        metrics.fnmr_at_fmr([1.0], [0.0], fmr=rate)
    with pytest.raises(InputError, match=r"fnmr"):
        metrics.fmr_at_fnmr([1.0], [0.0], fnmr=rate)


@given(classes())
def test_conventions_are_what_they_say(sets):
    points = sorted(set(naive.operating_points(*sets)), key=lambda point: point[1] - point[0])
    after = next(k for k, (fa, miss) in enumerate(points) if miss >= fa)
    (fa_a, miss_a), (fa_b, miss_b) = points[after - 1], points[after]
    fa, miss = points[after - 1] if fa_a - miss_a <= miss_b - fa_b else points[after]
    share = (fa_a - miss_a) / ((fa_a - miss_a) + (miss_b - fa_b))
    expected = {
        "rocch": naive.unequal_error_rate(*sets, 1),
        "interpolated": fa_a + share * (fa_b - fa_a),
        "closest_mean": (fa + miss) / 2,
        "closest_max": max(fa, miss),
        "closest_p_fa": fa,
        "crossed_p_miss": miss_b,
    }
    found = metrics.eer_conventions(*sets)
    assert list(found) == list(expected) == list(metrics.EER_CONVENTIONS)
    np.testing.assert_allclose(list(found.values()), [float(x) for x in expected.values()], rtol=1e-12)
    assert found["rocch"] <= found["interpolated"] * (1 + 1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_conventions_agree_with_the_recipes_of_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    tar, non = rng.normal(1.5, 1.0, 61), rng.normal(0.0, 1.0, 83)
    label, score = np.repeat([1, 0], [61, 83]), np.concatenate((tar, non))
    fpr, tpr, _ = roc_curve(label, score, drop_intermediate=False)
    found = metrics.eer_conventions(tar, non)
    assert found["interpolated"] == pytest.approx(brentq(lambda x: 1.0 - x - interp1d(fpr, tpr)(x), 0.0, 1.0), abs=1e-9)
    nearest = np.argmin(np.abs(1 - tpr - fpr))
    assert found["closest_mean"] == pytest.approx((fpr[nearest] + 1 - tpr[nearest]) / 2)
    assert found["closest_max"] == pytest.approx(max(fpr[nearest], 1 - tpr[nearest]))
    assert found["closest_p_fa"] == pytest.approx(fpr[nearest])


def test_conventions_where_errors_cross_at_infinite_scores():
    """Thresholds: 0, then what is infinite alone (misses 0, false alarms 1/2), then none (misses 1)."""
    found = metrics.eer_conventions([math.inf, math.inf], [math.inf, 0.0])
    assert found == {
        "rocch": pytest.approx(1 / 3),
        "interpolated": pytest.approx(1 / 3),
        "closest_mean": 0.25,
        "closest_max": 0.5,
        "closest_p_fa": 0.5,
        "crossed_p_miss": 1.0,
    }
    reflected = metrics.eer_conventions([-math.inf, 0.0], [-math.inf, -math.inf])
    assert (reflected["closest_mean"], reflected["crossed_p_miss"]) == (0.25, 0.5)


def test_conventions_of_few_trials_differ():
    """11 trials: by hand. Two of five targets lie below most of six non-targets."""
    tar, non = [0.1, 0.4, 0.6, 0.8, 0.9], [0.0, 0.2, 0.3, 0.5, 0.55, 0.85]
    found = metrics.eer_conventions(tar, non)
    # Thresholds 0.5 and 0.55: misses 2/5, false alarms 3/6 and 2/6.
    assert found["crossed_p_miss"] == 2 / 5
    assert found["closest_mean"] == pytest.approx((2 / 5 + 2 / 6) / 2)
    assert found["closest_p_fa"] == pytest.approx(2 / 6)
    assert found["closest_max"] == 2 / 5
    assert found["interpolated"] == pytest.approx(2 / 5)
    assert found["rocch"] == pytest.approx(float(naive.unequal_error_rate(tar, non, 1)))
    assert found["rocch"] < 0.34


@given(classes(), st.one_of(coarse, st.sampled_from([-math.inf, math.inf])))
def test_hter_is_the_mean_of_both_rates(sets, threshold):
    expected = sum(errors_at(*sets, threshold)) / 2
    assert metrics.hter(*sets, threshold=threshold) == pytest.approx(float(expected), abs=1e-15)


def test_an_infinite_threshold_rejects_infinite_scores_too():
    """It is what rejecting all is called where a threshold is chosen."""
    chosen = metrics.min_dcf_threshold([0.0, 1.0], [0.0, 1.0], p_target=0.1)
    assert metrics.hter([math.inf, 1.0], [math.inf, math.inf, 0.0], threshold=chosen) == 0.5


@pytest.mark.parametrize("threshold", [math.nan, "high", [1.0, 2.0], None])
def test_a_threshold_is_one_number(threshold):
    with pytest.raises(InputError, match=r"threshold"):
        metrics.hter([1.0], [0.0], threshold=threshold)
