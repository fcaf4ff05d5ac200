"""Standard errors of curves are those of the metrics at their places, and of closed forms."""

import copy

import numpy as np
import pytest
from scipy.special import expit

from deciban import metrics
from deciban.evaluation import evaluate
from deciban.evaluation.bands import Bands
from support.limits import mover, wilson
from support.speakers import crossed, one_sided


@pytest.mark.parametrize("trials", [crossed(25), one_sided(25)], ids=["crossed", "one"])
@pytest.mark.parametrize("place", [140, 280, 350])
def test_bayes_errors_vary_as_normalized_costs_do(trials, place):
    assert place % Bands.STEP == 0  # between them errors are interpolated
    plain = evaluate(trials.tar, trials.non)
    prior = float(expit(plain.curves.prior_log_odds[place]))
    found = evaluate(trials.tar, trials.non, operating_points=[prior], optimism=False, **trials.arguments)
    for curve, metric in (("act_error", "act_dcf"), ("min_error", "min_dcf")):
        places, rates = found.uncertainty.error_rates[curve]
        at = np.flatnonzero(places == plain.curves.prior_log_odds[place])[0]
        ways = np.stack(rates.distances(0.95))[:, at]
        estimate = found.uncertainty.estimates[metric, 0]
        assert ways == pytest.approx(estimate.distances(0.95), rel=1e-6, abs=1e-12) or estimate.interval().high == 1.0
        (tar,), (non,) = rates.parts
        errors = [one.weight[at] * np.sqrt(one.variance[at]) for one in (tar, non)]
        variance = errors[0] ** 2 + errors[1] ** 2 + 2 * rates.between[at] * errors[0] * errors[1]
        assert np.sqrt(variance) == pytest.approx(estimate.standard_error, rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("place", [210, 280, 350])
def test_least_errors_are_about_thresholds_that_were_chosen_without_the_unit(place):
    """As minimum costs are: a threshold that is the best for a trial makes it look more like others than it is."""
    trials = one_sided(40)
    plain = evaluate(trials.tar, trials.non)
    prior = float(expit(plain.curves.prior_log_odds[place]))
    found = evaluate(trials.tar, trials.non, operating_points=[prior], optimism=True, **trials.arguments)
    kept = found.uncertainty.curve_influences["min_error"]
    at = np.argmin(np.abs(kept.log_odds - plain.curves.prior_log_odds[place]))
    expected = found.uncertainty.influences["min_dcf", 0]
    np.testing.assert_allclose(kept.influences[at], expected, atol=1e-12)
    alike = evaluate(trials.tar, trials.non, operating_points=[prior], optimism=False, **trials.arguments)
    assert found.interval("min_dcf").standard_error > 1.02 * alike.interval("min_dcf").standard_error


@pytest.mark.parametrize("place", [20, 50, 80])
def test_cross_entropy_varies_as_the_metric_does(place):
    trials = one_sided(25)
    found = evaluate(trials.tar, trials.non, **trials.arguments)
    prior = float(expit(found.curves.entropy_log_odds[place]))
    for curve, metric in (("act_cross_entropy", "cross_entropy"), ("min_cross_entropy", "min_cross_entropy")):
        how = {"tar_weights": np.ones(len(trials.tar)), "non_weights": np.ones(len(trials.non))}
        step, by_unit = 1e-5, np.zeros(25)
        for kind, name in enumerate(how):
            units = list(trials.arguments.values())[kind]
            for unit in range(25):
                sides = []
                for weight in (1 + step, 1 - step):
                    own = {**how, name: np.where(units == unit, weight, 1.0)}
                    sides.append(getattr(metrics, metric)(trials.tar, trials.non, p_target=prior, **own))
                by_unit[unit] += (24 / 25) / (1 - np.mean(units == unit)) * (sides[0] - sides[1]) / 2 / step
        expected = np.sqrt(25 / 24 * by_unit @ by_unit) / np.log(2)
        assert found.uncertainty.curves[curve][place] == pytest.approx(expected, rel=1e-6)


def test_shares_above_a_level_of_independent_trials_are_binomial():
    rng = np.random.default_rng(0)
    tar, non = rng.normal(1, 1, 300), rng.normal(-1, 1, 300)
    found = evaluate(tar, non, tar_units=np.arange(300), non_units=300 + np.arange(300))
    for curve, scores in (("tar_above", tar), ("non_above", non)):
        for place in (300, 500, 700):
            share = np.mean(scores >= found.curves.levels[place])
            expected = np.sqrt(share * (1 - share) / 299)
            assert found.uncertainty.curves[curve][place] == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_llrs_of_blocks_of_independent_trials_have_the_errors_of_log_shares():
    rng = np.random.default_rng(0)
    tar, non = rng.integers(0, 4, 400) * 1.0, rng.integers(-2, 2, 400) * 1.0
    found = evaluate(tar, non, tar_units=np.arange(400), non_units=400 + np.arange(400))
    pav = metrics.pav(tar, non)
    expected = []
    for n_tar, n_non in zip(pav.n_tar, pav.n_non, strict=True):
        shares = [n / 400 for n in (n_tar, n_non) if n]  # a share of 0 has no logarithm, and nothing moves it
        expected.append(np.sqrt(sum((1 - share) / share / 399 for share in shares)))
    mixed = (pav.n_tar > 0) & (pav.n_non > 0)
    assert mixed.any()
    np.testing.assert_allclose(found.uncertainty.curves["pav"][mixed], np.array(expected)[mixed], rtol=1e-9)


def test_blocks_of_little_weight_keep_their_digits():
    """All targets are above all non-targets, but for some of both at 0 that weigh next to nothing."""
    rng, units = np.random.default_rng(3), np.arange(60) % 20
    tar, non = rng.uniform(1, 2, 60), rng.uniform(-2, -1, 60)
    weights = [rng.random(60) + 0.5, rng.random(60) + 0.5]
    for scores, own in zip((tar, non), weights, strict=True):
        scores[40:], own[40:] = 0.0, own[40:] * 1e-13  # of units that have others
    named = {"tar_units": units, "non_units": 20 + units}
    found = evaluate(tar, non, tar_weights=weights[0], non_weights=weights[1], **named)
    pav = metrics.pav(tar, non, tar_weights=weights[0], non_weights=weights[1])
    squares = np.zeros(len(pav.low))
    for scores, own in zip((tar, non), weights, strict=True):
        block = np.searchsorted(pav.low, scores, side="right") - 1
        for k in range(len(squares)):
            inside = np.where(block == k, own, 0.0)
            shares = (inside / inside.sum() if inside.any() else inside) - own / own.sum()
            less = np.bincount(units, own) / own.sum()  # what a deleted unit takes away
            squares[k] += np.sum((np.bincount(units, shares) * (19 / 20) / (1 - less)) ** 2)
    np.testing.assert_allclose(found.uncertainty.curves["pav"], np.sqrt(squares * 20 / 19), rtol=1e-9)


def test_arrays_are_as_long_as_their_curves():
    trials = crossed(12)
    found = evaluate(trials.tar, trials.non, **trials.arguments)
    curves, errors, rates = found.curves, found.uncertainty.curves, found.uncertainty.error_rates
    assert len(errors["tar_above"]) == len(curves.levels)
    assert len(errors["p_miss"]) == len(errors["p_fa"]) == len(curves.prior_log_odds)
    assert len(errors["min_cross_entropy"]) == len(curves.entropy_log_odds)
    assert all(np.all(np.isfinite(one)) and np.all(one >= 0) for one in errors.values())
    assert rates["hull"][0].tolist() == list(range(len(curves.hull_p_fa)))
    for name in ("act_error", "min_error"):
        places, sums = rates[name]
        assert places.tolist() == curves.prior_log_odds[:: Bands.STEP].tolist()
        ways = np.stack(sums.distances(0.95))
        assert ways.shape == (2, len(places))
        assert np.all(np.isfinite(ways) & (ways >= 0))


def test_the_hull_varies_as_the_cost_that_touches_it():
    rng = np.random.default_rng(0)
    tar, non = rng.integers(0, 5, 400) * 1.0, rng.integers(-2, 3, 400) * 1.0
    found = evaluate(tar, non, tar_units=np.arange(400), non_units=400 + np.arange(400))
    hull = metrics.rocch(tar, non)
    _, rates = found.uncertainty.error_rates["hull"]
    (miss,), (alarm,) = rates.parts
    inner = [k for k in range(1, len(hull.llr)) if np.isfinite(hull.llr[k - 1 : k + 1]).all()]
    assert inner
    assert not rates.between.any()  # no unit is in both classes
    for k in inner:
        odds = np.exp((hull.llr[k - 1] + hull.llr[k]) / 2)
        for part, weight, rate in ((miss, 1 / (1 + odds), hull.p_miss[k]), (alarm, odds / (1 + odds), hull.p_fa[k])):
            assert (part.weight[k], part.rate[k]) == pytest.approx((weight, rate))
            assert part.variance[k] == pytest.approx(rate * (1 - rate) / 399)
        below, above = (way[k] for way in rates.distances(0.95))
        parts = [
            (1 / (1 + odds), hull.p_miss[k], wilson(hull.p_miss[k], 399, 400)),
            (odds / (1 + odds), hull.p_fa[k], wilson(hull.p_fa[k], 399, 400)),
        ]
        cost, (low, high) = sum(weight * rate for weight, rate, _ in parts), mover(parts)
        assert (below, above) == pytest.approx((cost - low, high - cost))


@pytest.mark.parametrize("sides", [1, 2])
def test_bands_of_very_many_units_rest_on_groups_of_them(sides):
    """Sums of 4096 groups have a standard error that is off by 1.1 %, as a sample variance is."""
    rng = np.random.default_rng(0)
    n = 30_000
    tar, non = rng.normal(1, 1, n), rng.normal(-1, 1, n)
    units = np.arange(2 * n * sides).reshape(2, n, sides)
    found = evaluate(tar, non, tar_units=units[0], non_units=units[1])
    assert found.uncertainty.n_units > Bands.MOST_UNITS
    for curve, scores in (("tar_above", tar), ("non_above", non)):
        for place in (400, 500, 600):
            share = np.mean(scores >= found.curves.levels[place])
            expected = np.sqrt(share * (1 - share) / n * sides)  # a trial counts for each of its units
            assert found.uncertainty.curves[curve][place] == pytest.approx(expected, rel=0.05)


def test_influences_on_curves_are_those_of_each_unit_also_where_bands_rest_on_groups(monkeypatch):
    trials = crossed(25)
    expected = evaluate(trials.tar, trials.non, **trials.arguments).uncertainty
    shares = expected.curves["tar_above"]  # computed now
    monkeypatch.setattr(Bands, "MOST_UNITS", 12)
    found = evaluate(trials.tar, trials.non, **trials.arguments).uncertainty
    assert found.curves["tar_above"] != pytest.approx(shares)
    for name, one in expected.curve_influences.items():
        assert one.influences.shape[1] == 25
        np.testing.assert_allclose(found.curve_influences[name].influences, one.influences, atol=1e-12)


@pytest.mark.parametrize("score", [np.inf, 1e300])
def test_costs_that_are_infinite_or_have_no_squares_have_no_bands(score):
    found = evaluate([1.0, 2.0, 0.5], [0.0, 1.5, score], tar_units=[1, 2, 3], non_units=[1, 2, 3]).uncertainty
    assert "act_cross_entropy" not in found.curves
    assert "cllr" not in found.estimates
    assert all(np.isfinite(one).all() for one in found.curves.values())


def test_bands_that_are_read_late_are_those_of_the_evaluation():
    """They are computed when they are read, even if axes of the result were changed before."""
    tar, non, (tar_units, non_units) = (
        np.array([2.0, 3.0, 1.0, 0.5] * 9),
        np.linspace(-2, 2, 36),
        np.arange(72).reshape(2, 36) // 4,
    )
    first, second = (evaluate(tar, non, tar_units=tar_units, non_units=non_units) for _ in range(2))
    for axis in ("levels", "entropy_log_odds", "prior_log_odds"):
        getattr(second.curves, axis)[...] *= 0.5
    known, late = first.uncertainty.curves, second.uncertainty.curves
    assert {*copy.copy(late)} | {"x"} == {*(late | {"x": 0})} == {*({"x": 0} | late)} == {*known, "x"}
    for name in known:
        np.testing.assert_array_equal(late[name], known[name])
