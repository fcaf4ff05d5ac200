"""Bands around curves: the interval of the curve at every place."""

import numpy as np
import pytest
from scipy.special import logit
from scipy.stats import t

from deciban import evaluate
from deciban.evaluation.curve_bands import _bounds, band_of, hull_bands, reach_of

RNG = np.random.default_rng(8)
ONE = evaluate(
    RNG.normal(2, 2, 300),
    RNG.normal(-2, 2, 900),
    tar_units=np.arange(300) % 50,
    non_units=RNG.integers(0, 50, (900, 2)),
    operating_points=[0.5],
    level=0.9,
)
PLAIN = evaluate([1.0, 2.0], [0.0, 1.5])


def test_the_reach_is_a_quantile_of_t():
    assert reach_of(ONE.uncertainty) == pytest.approx(t.ppf(0.95, 49))


def test_a_band_is_the_interval_of_the_cost_at_an_operating_point():
    at = np.flatnonzero(ONE.curves.prior_log_odds == 0.0)[0]
    low, high = band_of(ONE, "act_error", ONE.curves.act_error)
    found = ONE.interval("act_dcf")
    assert (low[at], high[at]) == (pytest.approx(found.low), pytest.approx(found.high))
    at = int(np.argmin(np.abs(ONE.curves.entropy_log_odds)))
    low, high = band_of(ONE, "act_cross_entropy", ONE.curves.act_cross_entropy)
    found = ONE.interval("cllr")
    assert (low[at], high[at]) == (pytest.approx(found.low, rel=1e-3), pytest.approx(found.high, rel=1e-3))


@pytest.mark.parametrize("name", ["act_error", "min_error", "tar_above", "non_above", "act_cross_entropy"])
def test_bands_hold_their_curves(name):
    values = getattr(ONE.curves, name)
    low, high = band_of(ONE, name, values)
    assert np.all(low <= values)
    assert np.all(values <= high)
    assert np.all(low >= 0.0)
    if name.endswith("above"):
        assert np.all(high <= 1.0)


def test_both_rates_of_the_hull_move_by_one_factor_on_their_odds():
    (low_fa, low_miss), (high_fa, high_miss) = hull_bands(ONE)
    inside = (ONE.curves.hull_p_fa > 0) & (ONE.curves.hull_p_fa < 1)
    inside &= (ONE.curves.hull_p_miss > 0) & (ONE.curves.hull_p_miss < 1)
    moved = logit(high_fa[inside]) - logit(low_fa[inside])
    np.testing.assert_allclose(moved, logit(high_miss[inside]) - logit(low_miss[inside]), rtol=1e-6, atol=1e-9)
    assert np.all(moved > 0)
    ends = [(0, 0), (-1, -1)]
    assert [(low_fa[k], high_fa[k]) for k, _ in ends] == [(ONE.curves.hull_p_fa[k],) * 2 for k, _ in ends]


def test_where_nothing_is_known_there_is_no_band():
    assert band_of(PLAIN, "act_error", PLAIN.curves.act_error) is None
    assert hull_bands(PLAIN) is None
    assert band_of(ONE, "no such curve", ONE.curves.act_error) is None
    assert band_of(ONE, "act_error", ONE.curves.act_error[:5]) is None


def test_shares_of_all_or_none_have_the_interval_of_the_error_rate_there():
    """Between the classes nobody errs: the rule of three, of 20 and of 30 units, as in tables."""
    units = {"tar_units": [*range(20)] * 2, "non_units": [*range(30)] * 2}
    apart = evaluate([2.0, 3.0] * 20, [-2.0, -3.0] * 30, operating_points=[0.5], **units)
    tar, non = apart.curves.tar_above, apart.curves.non_above
    (tar_low, tar_high), (non_low, non_high) = band_of(apart, "tar_above", tar), band_of(apart, "non_above", non)
    assert [apart.interval(rate).high for rate in ("p_miss", "p_fa")] == [
        pytest.approx(1 - 0.05 ** (1 / n)) for n in (20, 30)
    ]
    np.testing.assert_allclose(1 - tar_low[tar == 1.0], apart.interval("p_miss").high)
    np.testing.assert_allclose(non_high[non == 0.0], apart.interval("p_fa").high)
    np.testing.assert_allclose(1 - non_low[non == 1.0], apart.interval("p_fa").high)
    assert (tar_high[tar == 1.0].min(), non_low[non == 0.0].max(), non_high[non == 1.0].min()) == (1.0, 0.0, 1.0)


def test_where_no_error_is_seen_that_would_cost_a_band_rests_on_the_rule_of_three():
    """At high priors misses cost much, and none is seen: 40 speakers rule out a share of 3/40 of them, no less."""
    rng = np.random.default_rng(0)
    speakers = np.arange(120) % 40
    found = evaluate(rng.uniform(0, 4, 120), rng.uniform(-6, 2, 120), tar_units=speakers, non_units=speakers)
    axis, values = found.curves.prior_log_odds, found.curves.act_error
    _, high = band_of(found, "act_error", values)
    at = np.flatnonzero(axis == 7.0)[0]
    unseen = (1 - 0.05 ** (1 / 40)) * np.exp(7.0)
    assert values[at] <= 1.0  # false alarms alone, of which all may happen by chance
    assert high[at] == pytest.approx(values[at] + unseen, rel=0.01)
    _, high = band_of(found, "min_error", found.curves.min_error)
    assert high.max() == 1.0  # what no scores at all would cost


def test_a_cost_without_errors_has_no_width_and_a_pav_llr_of_0_has_one():
    values, reach = np.array([0.0, 2.0]), np.array([0.5, 0.5])
    np.testing.assert_allclose(_bounds(values, reach, "log"), [[0, 2 * np.exp(-0.25)], [0, 2 * np.exp(0.25)]])
    np.testing.assert_allclose(_bounds(values, reach, "identity"), [[-0.5, 1.5], [0.5, 2.5]])
