"""Bands around curves: the interval of the curve at every place."""

import numpy as np
import pytest
from scipy.special import logit
from scipy.stats import t

from deciban.evaluation import evaluate
from deciban.evaluation.bands import _bounds, band_of, hull_bands, reach_of
from support.limits import wilson

RNG = np.random.default_rng(8)
SCORES = RNG.normal(2, 2, 300), RNG.normal(-2, 2, 900)
NON_UNITS = RNG.integers(0, 50, (900, 2))
ONE = evaluate(*SCORES, tar_units=np.arange(300) % 50, non_units=NON_UNITS, operating_points=[0.5], level=0.9)
PLAIN = evaluate([1.0, 2.0], [0.0, 1.5])


def test_the_reach_is_a_quantile_of_t():
    """Degrees of freedom are those of the sum of both class means: effective clusters minus 1."""
    own = [np.bincount(np.arange(300) % 50, minlength=50) / 300, np.zeros(50)]
    for row in NON_UNITS:
        own[1][np.unique(row)] += 1.0
    own[1] /= own[1].sum()
    both = own[0] + own[1]
    effective = both.sum() ** 2 / (both @ both)
    assert 45 < effective < 50
    assert reach_of(ONE.uncertainty) == pytest.approx(t.ppf(0.95, effective - 1))


@pytest.mark.parametrize("prior", [0.5, 0.01, 0.9])
def test_a_band_is_the_interval_of_the_cost_at_an_operating_point(prior):
    units = {"tar_units": np.arange(300) % 50, "non_units": NON_UNITS}
    one = evaluate(*SCORES, operating_points=[prior], level=0.9, optimism=False, **units)
    for curve, metric in (("act_error", "act_dcf"), ("min_error", "min_dcf")):
        bounds, found = band_of(one, curve, getattr(one.curves, curve)), one.interval(metric)
        at = [np.interp(logit(prior), one.curves.prior_log_odds, way) for way in bounds]
        assert at == pytest.approx([found.low, found.high], rel=1e-6 if prior == 0.5 else 0.06)
    at = int(np.argmin(np.abs(one.curves.entropy_log_odds)))
    low, high = band_of(one, "act_cross_entropy", one.curves.act_cross_entropy)
    found = one.interval("cllr")
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
    """Between the classes nobody errs: Wilson limits of 20 and of 30 units, as in tables."""
    units = {"tar_units": [*range(20)] * 2, "non_units": [*range(30)] * 2}
    apart = evaluate([2.0, 3.0] * 20, [-2.0, -3.0] * 30, operating_points=[0.5], **units)
    tar, non = apart.curves.tar_above, apart.curves.non_above
    (tar_low, tar_high), (non_low, non_high) = band_of(apart, "tar_above", tar), band_of(apart, "non_above", non)
    expected = [wilson(0.0, n, n)[1] for n in (20, 30)]
    assert [apart.interval(rate).high for rate in ("p_miss", "p_fa")] == pytest.approx(expected)
    np.testing.assert_allclose(1 - tar_low[tar == 1.0], apart.interval("p_miss").high)
    np.testing.assert_allclose(non_high[non == 0.0], apart.interval("p_fa").high)
    np.testing.assert_allclose(1 - non_low[non == 1.0], apart.interval("p_fa").high)
    assert (tar_high[tar == 1.0].min(), non_low[non == 0.0].max(), non_high[non == 1.0].min()) == (1.0, 0.0, 1.0)


def test_where_no_error_is_seen_that_would_cost_a_band_is_as_wide_as_such_errors_may_be():
    """At high priors misses cost much, and none is seen: limits of 40 speakers without an error, as weighted."""
    rng = np.random.default_rng(0)
    speakers = np.arange(120) % 40
    found = evaluate(rng.uniform(0, 4, 120), rng.uniform(-6, 2, 120), tar_units=speakers, non_units=speakers)
    axis, values = found.curves.prior_log_odds, found.curves.act_error
    _, high = band_of(found, "act_error", values)
    at = np.flatnonzero(axis == 7.0)[0]
    unseen = wilson(0.0, 40, 40)[1] * np.exp(7.0)
    assert values[at] <= 1.0  # false alarms alone, of which all may happen by chance
    assert high[at] == pytest.approx(values[at] + unseen, rel=0.01)
    _, high = band_of(found, "min_error", found.curves.min_error)
    assert high.max() == 1.0  # what no scores at all would cost


def test_with_too_few_units_of_a_class_there_is_no_band_of_both():
    few = evaluate(*SCORES, tar_units=np.arange(300) % 4, non_units=NON_UNITS)
    for name in ("act_error", "min_error", "tar_above", "act_cross_entropy", "pav"):
        assert band_of(few, name, getattr(few.curves, name, np.zeros(len(few.uncertainty.curves["pav"])))) is None
    assert hull_bands(few) is None


def test_a_cost_without_errors_has_no_width_and_a_pav_llr_of_0_has_one():
    values, reach = np.array([0.0, 2.0]), np.array([0.5, 0.5])
    np.testing.assert_allclose(_bounds(values, reach, "log"), [[0, 2 * np.exp(-0.25)], [0, 2 * np.exp(0.25)]])
    np.testing.assert_allclose(_bounds(values, reach, "identity"), [[-0.5, 1.5], [0.5, 2.5]])
