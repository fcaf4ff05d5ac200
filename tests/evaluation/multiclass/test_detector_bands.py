"""Bands of the Bayes error curves of classes: intervals of costs at priors, and weights that are moved a little."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit, logit

from deciban.evaluation import (
    ClassMetrics,
    class_evaluation_of,
    evaluate_classes,
    evaluate_groups,
    merged_classes,
    summarize_classes,
)
from deciban.evaluation.bands import Bands, detector_bands

CLASSES = ("eng", "fra", "deu", "spa")
GROUPS = {"west": ["eng", "fra"], "deu": ["deu"], "spa": ["spa"]}
CURVES = {"act_error": "cost", "min_error": "min_cost"}


def drawn(n_sides=1, n_units=12, n=120):
    """Log-likelihoods of four classes, effects of units, and weights."""
    rng = np.random.default_rng(5)
    every = np.repeat(np.arange(n_units), 4)
    label = np.append(np.tile(np.arange(4), n_units), rng.choice(4, n - len(every), p=[0.4, 0.3, 0.2, 0.1]))
    units = np.append(every, rng.integers(0, n_units, n - len(every)))
    effects = 0.8 * rng.normal(size=(n_units, 4))[units]
    sides = np.stack((units, rng.integers(0, n_units, n)), axis=1) if n_sides == 2 else units
    return 1.2 * np.eye(4)[label] + effects + rng.normal(size=(n, 4)), label, sides, rng.uniform(0.3, 2.0, n)


ASKED = [
    {"n_sides": 1},
    {"n_sides": 2},
    {"n_sides": 1, "single": True},
    {"n_sides": 2, "groups": GROUPS},
    {"n_sides": 1, "p_out_of_set": 0.05},
]


@pytest.mark.parametrize("optimism", [False, True])
@pytest.mark.parametrize("asked", ASKED, ids=["one", "two", "single", "groups", "open"])
def test_a_band_is_the_interval_of_the_cost_at_the_prior(asked, optimism):
    loglik, label, units, weights = drawn(asked["n_sides"])
    units = np.arange(len(label)) if "single" in asked else units
    more = {name: asked[name] for name in ("groups", "p_out_of_set") if name in asked}
    for place in (140, 301):  # neither is interpolated
        prior = float(expit(np.linspace(-7.0, 7.0, 561)[place]))
        given = {"label": label, "units": units, "sample_weight": weights, "p_target": [prior], "classes": CLASSES}
        given["pairs"] = False
        evaluated = evaluate_groups if "groups" in more else evaluate_classes
        found = evaluated(loglik, optimism=optimism, **given, **more)
        for k, name in enumerate(found.detectors):
            for (curve, metric), band in zip(CURVES.items(), detector_bands(found, k), strict=True):
                if ("detectors", name, metric) not in found.uncertainty.estimates:
                    assert band[0][place] == band[1][place]  # no unit moves it
                    continue
                expected = found.interval(("detectors", name, metric))
                if not optimism or curve == "act_error":  # a corrected minimum is not where its curve is
                    assert band[0][place] == pytest.approx(expected.low, rel=1e-9)
                    assert band[1][place] == pytest.approx(expected.high, rel=1e-9)


def error_rate(llr, is_target, own, mass, log_odds):
    """The Bayes error rate of a class against the rest by definition: classes weigh as they do, whatever trials weigh.

    ``own`` are weights of trials, ``mass`` the share of each other class.
    """
    accepted, prior = llr >= -log_odds, expit(log_odds)
    p_miss = own[is_target & ~accepted].sum() / own[is_target].sum()
    p_fa = sum(share * own[some & accepted].sum() / own[some].sum() for some, share in mass)
    return prior * p_miss + (1.0 - prior) * p_fa


def test_bands_hold_error_rates_by_definition():
    loglik, label, units, weights = drawn(2)
    found = evaluate_classes(loglik, label, sample_weight=weights, units=units, classes=CLASSES)
    for place in (245, 280, 315):
        log_odds = float(logit(expit(found.curves.detector_log_odds[place])))
        for target, name in enumerate(CLASSES):
            others = np.delete(np.arange(4), target)
            llr = loglik[:, target] - np.log(np.exp(loglik[:, others]).mean(axis=1))
            about = (llr, label == target), ([(label == k, 1 / 3) for k in others], log_odds)
            value = error_rate(*about[0], weights, *about[1])
            assert found.curves.act_error[target, place] == pytest.approx(value)
            low, high = detector_bands(found, target)[0]
            own = found.interval(("detectors", name, "cost")) if place == 280 else None
            assert low[place] < value < high[place]
            assert own is None or (own.low, own.high) == pytest.approx((low[place], high[place]))


@pytest.mark.parametrize("metrics", [ClassMetrics(pairs=False), ClassMetrics(pairs=False, p_out_of_set=0.2)])
def test_parts_in_any_order_have_the_bands_of_the_whole(metrics):
    loglik, label, units, weights = drawn(2)
    order = np.random.default_rng(0).permutation(len(label))
    parts = [
        summarize_classes(loglik[own], label[own], units=units[own], sample_weight=weights[own], metrics=metrics)
        for own in (order[:30], order[30:80], order[80:])
    ]
    merged = class_evaluation_of(merged_classes(parts))
    open_set = {"p_out_of_set": metrics.p_out_of_set, "pairs": False}
    whole = evaluate_classes(loglik, label, units=units, sample_weight=weights, **open_set)
    for k in range(len(whole.detectors)):
        for ours, other in zip(detector_bands(merged, k), detector_bands(whole, k), strict=True):
            np.testing.assert_allclose(ours, other, rtol=1e-9, atol=1e-12)
            assert (other[1] > other[0]).any()


def test_bands_hold_their_curves_and_least_errors_are_no_worse_than_no_scores():
    loglik, label, units, _ = drawn()
    found = evaluate_classes(loglik, label, units=units, optimism=True, level=0.99)
    log_odds = found.curves.detector_log_odds
    for k in range(4):
        for curve, (low, high) in zip(CURVES, detector_bands(found, k), strict=True):
            values = getattr(found.curves, curve)[k]
            assert np.all((low >= 0.0) & (low <= values) & (values <= high))
        assert np.all(high <= np.maximum(expit(-np.abs(log_odds)), values))


def test_without_errors_wilson_limits_say_how_far_curves_reach():
    label = np.repeat(np.arange(3), [20, 30, 40])
    found = evaluate_classes(50.0 * np.eye(3)[label], label, units=np.arange(90), pairs=False)
    prior, n_non = expit(found.curves.detector_log_odds[::7]), 4 / (1 / 30 + 1 / 40)  # rivals weigh alike
    squared = [stats.t(n - 1).ppf(0.975) ** 2 for n in (20, n_non)]
    misses, alarms = (one / (n + one) for one, n in zip(squared, (20, n_non), strict=True))
    act, least = detector_bands(found, 0)
    np.testing.assert_allclose(act[0], 0.0)
    np.testing.assert_allclose(act[1][::7], np.hypot(prior * misses, (1 - prior) * alarms))
    np.testing.assert_allclose(least[1][::7], np.minimum(act[1][::7], np.minimum(prior, 1 - prior)))


def test_bands_of_very_many_units_rest_on_groups_of_them(monkeypatch):
    """Sums of groups are as uncertain as their units, but for chance."""
    loglik, label, units, _ = drawn(n_units=300, n=1200)
    given = {"units": units, "pairs": False}
    expected = (
        evaluate_classes(loglik, label, **given)
        .uncertainty.error_rates["detectors", "0", "act_error"][1]
        .distances(0.95)[1]
    )
    monkeypatch.setattr(Bands, "MOST_UNITS", 150)
    found = (
        evaluate_classes(loglik, label, **given)
        .uncertainty.error_rates["detectors", "0", "act_error"][1]
        .distances(0.95)[1]
    )
    assert not np.array_equal(found, expected)
    np.testing.assert_allclose(found, expected, rtol=0.3)
    assert np.nanmean(found / expected) == pytest.approx(1.0, abs=0.1)


def test_where_units_are_not_known_there_are_no_bands():
    loglik, label, _, _ = drawn()
    assert detector_bands(evaluate_classes(loglik, label), 0) is None
