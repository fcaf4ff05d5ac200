"""Bands of differences of curves: factors of known distributions, and metrics at the same priors."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from deciban.analysis.comparison import compare_results
from deciban.analysis.differences import PriorRange, root_of_correlations, simultaneous_factor, where_in_words
from deciban.core.ranks.roc import OperatingPoint
from deciban.errors import InputError
from deciban.evaluation import Results, evaluate
from deciban.workflows.arrays import compare


def systems(n_units=60, **options):
    rng = np.random.default_rng(4)
    unit = np.repeat(np.arange(n_units), 5)
    common = rng.normal(size=(2, len(unit)))
    scores = [common + rng.normal(size=(2, len(unit))) + np.array([[2.0 + more], [-2.0]]) for more in (0.0, 1.5)]
    options = {"tar_units": unit, "non_units": unit, **options}
    return [evaluate(*one, name=name, **options) for one, name in zip(scores, "AB", strict=True)]


def test_factor_of_one_place_is_the_t_quantile():
    influences = np.random.default_rng(0).normal(size=(1, 20))
    expected = stats.t(19).ppf(0.975)
    root = root_of_correlations(np.repeat(influences, 3, axis=0))
    assert simultaneous_factor(root, 0.95, 20) == pytest.approx(expected, rel=0.02)


def test_factor_of_independent_places_is_that_of_sidak():
    m, n = 8, 100_000
    influences = np.zeros((m, n))
    for k in range(m):
        influences[k, k] = 1.0 + k
    expected = stats.norm.ppf((1 + 0.9 ** (1 / m)) / 2)
    assert simultaneous_factor(root_of_correlations(influences), 0.9, n) == pytest.approx(expected, rel=0.01)
    assert simultaneous_factor(root_of_correlations(np.zeros((3, 5))), 0.9, 5) == 0.0


def test_curves_differ_like_costs_at_the_same_priors():
    """The cost at an operating point has a standard error by another way than the curve has."""
    axis = systems()[0].uncertainty.curve_influences["act_error"].log_odds
    places = [10, 40, 47, 70]
    points = [OperatingPoint(float(1 / (1 + np.exp(-axis[k])))) for k in places]
    found = compare(*systems(operating_points=points, optimism=False))
    for curve, metric in zip(found.pairs[0].curves, ("act_dcf", "min_dcf"), strict=True):
        assert curve.curve.startswith(metric[:3])
        for at, k in enumerate(places):
            one = found.difference((metric, at))
            assert curve.log_odds[k] == pytest.approx(axis[k])
            assert curve.difference[k] == pytest.approx(one.estimate, abs=1e-12)
            assert curve.standard_error[k] == pytest.approx(one.standard_error, rel=1e-9)


def test_better_is_who_errs_less_beyond_the_band():
    for curve in compare(*systems()).pairs[0].curves:
        assert {place.better for place in curve.better} == {"B"}
        for place in curve.better:
            inside = (curve.log_odds >= place.low) & (curve.log_odds <= place.high)
            assert np.all(curve.low[inside] > 0)
        outside = np.ones(len(curve.log_odds), bool)
        for place in curve.better:
            outside &= (curve.log_odds < place.low) | (curve.log_odds > place.high)
        assert not np.any((curve.low > 0)[outside])
    swapped = compare(*systems()[::-1])
    assert {p.better for c in swapped.pairs[0].curves for p in c.better} == {"B"}
    for one, other in zip(compare(*systems()).pairs[0].curves, swapped.pairs[0].curves, strict=True):
        assert np.allclose(one.low, -other.high, atol=1e-12)


def test_errors_that_nobody_saw_are_not_known_to_be_absent():
    """At high priors a miss is heavy: without one in 60 units, their share may be 1 - 0.05^(1/60)."""
    (curve, _) = compare(*systems()).pairs[0].curves
    share = 1.0 - 0.05 ** (1 / 60)
    checked = 0
    for k in np.flatnonzero(curve.log_odds >= 3.0)[::4]:
        log_odds = curve.log_odds[k]
        points = [OperatingPoint(float(1 / (1 + np.exp(-log_odds))))]
        rows = [found.operating_points[0] for found in systems(operating_points=points)]
        if rows[1].p_miss or not rows[1].p_fa < 1.0:
            continue
        reach = np.exp(log_odds) * share
        assert curve.low[k] <= curve.difference[k] - reach * (1 - 1e-9)
        checked += 1
    assert checked
    assert not any(place.high > 6.0 for place in curve.better)


def test_a_system_is_nowhere_better_than_itself():
    one = systems()[0]
    for curve in compare(one, one, names=["A", "again"]).pairs[0].curves:
        assert not curve.better
        assert not curve.low.any()
        assert not curve.high.any()


def test_the_band_holds_everywhere_at_once():
    """Two systems of the same quality: in about a tenth of all draws the band of 90 % leaves zero out somewhere."""
    rng, n_outside, n_draws = np.random.default_rng(9), 0, 20
    unit = np.repeat(np.arange(40), 3)
    for _ in range(n_draws):
        common = rng.normal(size=(2, 120))
        made = [common + rng.normal(size=(2, 120)) + np.array([[1.5], [-1.5]]) for _ in "AB"]
        pair = [evaluate(*one, tar_units=unit, non_units=unit, optimism=False) for one in made]
        (curve, _) = compare(*pair, level=0.9).pairs[0].curves
        inner = np.abs(curve.log_odds) < 2.0
        n_outside += bool(np.any((curve.low > 0) & inner) or np.any((curve.high < 0) & inner))
    assert n_outside <= 6  # 2 expected if the band were of these priors alone; beyond with probability 0.002


def test_priors_must_be_shared():
    one, other = systems()[0], systems(operating_points=[1e-9])[1]
    with pytest.raises(InputError, match="the same operating points"):
        compare_results(Results((one, other)))


def test_ranges_are_said_in_the_order_of_priors():
    ranges = ((0.0, 3.0), (4.0, 4.5), (-5.0, -3.0), (-9.0, -8.9), (-8.0, -7.9))
    better = tuple(PriorRange("B", *one) for one in ranges)
    (curve, _) = compare(*systems()).pairs[0].curves
    (words,) = where_in_words([replace(curve, better=better)])
    named = [better[2].priors, better[0].priors, better[1].priors]
    assert f"B is significantly better at effective priors {', '.join(named)} and in 2 other ranges" in words
    assert words.endswith(f"(95 % band for all of {len(curve.log_odds)} priors together)")
