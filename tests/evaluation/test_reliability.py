"""The curve of reliability is isotonic regression of what happens on posteriors, of two classes and of many."""

import numpy as np
import pytest
from scipy.special import expit, logit, softmax
from sklearn.isotonic import IsotonicRegression

from deciban.evaluation import TwoClassMetrics, class_evaluation_of, evaluate, evaluate_classes, summarize_classes
from support.evaluated import class_trials

RNG = np.random.default_rng(0)
TAR, NON = RNG.normal(2, 2, 80).round(1), RNG.normal(-2, 2, 190).round(1)


def fitted(event, posterior, weight):
    return IsotonicRegression().fit(posterior, event, sample_weight=weight).predict(posterior)


def at(curve, posterior):
    """What the block says that holds a posterior."""
    return curve.observed[np.searchsorted(curve.high, posterior - 1e-12)]


@pytest.mark.parametrize("p", [0.5, 0.03])
def test_two_classes(p):
    curve = evaluate(TAR, NON, operating_points=TwoClassMetrics(posteriors_at=[p, 0.7])).curves.reliability
    event = np.repeat([1.0, 0.0], [len(TAR), len(NON)])
    posterior = expit(np.concatenate((TAR, NON)) + logit(p))
    weight = np.where(event == 1, p / len(TAR), (1 - p) / len(NON))
    assert curve.prior == (p,)
    np.testing.assert_allclose(at(curve, posterior), fitted(event, posterior, weight), atol=1e-9)
    for shares, happens in ((curve.happened, 1), (curve.failed, 0)):
        own = event == happens
        np.testing.assert_allclose(shares, np.histogram(posterior[own], curve.bins, weights=weight[own])[0], atol=1e-12)
    assert curve.happened.sum() + curve.failed.sum() == pytest.approx(1)


@pytest.mark.parametrize("prior", [None, [0.7, 0.2, 0.1]])
@pytest.mark.parametrize("weighted", [False, True])
def test_many_classes_by_the_recognized_one(prior, weighted):
    loglik, label = class_trials(3, seed=3, n_trials=40)
    loglik, label = np.round(4.0 * loglik[:110]) / 8, label[:110]  # many ties, and classes of different sizes
    sample = 1 + np.arange(len(label)) % 3 if weighted else np.ones(len(label), int)
    curve = evaluate_classes(loglik, label, prior=prior, sample_weight=sample if weighted else None).curves.reliability
    share = np.full(3, 1 / 3) if prior is None else np.array(prior)
    posterior = softmax(loglik + np.log(share), axis=1)
    event = (posterior.argmax(axis=1) == label).astype(float)
    weight = sample * (share / np.bincount(label, sample))[label]
    top = posterior.max(axis=1)
    np.testing.assert_allclose(at(curve, top), fitted(event, top.round(12), weight), atol=1e-6)
    np.testing.assert_allclose(
        curve.happened + curve.failed, np.histogram(top, curve.bins, weights=weight)[0], atol=1e-12
    )
    assert curve.happened.sum() == pytest.approx(event @ weight)


def test_all_right_or_all_wrong():
    label = np.repeat([0, 1, 2], 4)
    right = evaluate_classes(5.0 * np.eye(3)[label], label).curves.reliability
    wrong = evaluate_classes(5.0 * np.eye(3)[(label + 1) % 3], label).curves.reliability
    assert right.observed.tolist() == [1.0]
    assert wrong.observed.tolist() == [0.0]
    assert right.low[0] == pytest.approx(np.exp(5) / (np.exp(5) + 2))


def test_excluded_classes_leave_no_doubt():
    loglik = np.array([[0.0, -np.inf], [np.inf, 1.0], [-1.0, 1.0], [-np.inf, 0.0]])
    curve = evaluate_classes(loglik, [0, 0, 1, 0]).curves.reliability
    assert curve.high[-1] == 1.0
    assert curve.failed[-1] == pytest.approx(0.5 / 3)


def test_parts_of_many_classes_merge():
    loglik, label = class_trials(3, seed=1)
    parts = [summarize_classes(loglik[k::2], label[k::2]) for k in range(2)]
    assert class_evaluation_of(parts[0] + parts[1]).curves.reliability == (
        evaluate_classes(loglik, label).curves.reliability
    )


def test_the_order_of_the_classes_does_not_show():
    """Sums of many small posteriors depend on their order, and equal ones must stay equal."""
    rng = np.random.default_rng(4)
    label = np.arange(300) % 6
    loglik = rng.normal(size=(300, 6))
    order = np.array([4, 2, 0, 5, 1, 3])
    turned = evaluate_classes(loglik[:, order], np.argsort(order)[label]).curves.reliability
    curve = evaluate_classes(loglik, label).curves.reliability
    np.testing.assert_array_equal(turned.low, curve.low)
    np.testing.assert_array_equal(turned.high, curve.high)


def test_the_band_holds_calibrated_curves_as_often_as_it_says():
    held = list[np.ndarray]()
    for seed in range(60):
        rng = np.random.default_rng(seed)
        curve = evaluate(rng.normal(2, 2, 150), rng.normal(-2, 2, 350)).curves.reliability
        band = curve.consistency(0.9)
        middle = (band.posterior > 0.1) & (band.posterior < 0.9)
        observed = at(curve, np.minimum(band.posterior[middle], curve.high[-1]))
        held.append((observed >= band.low[middle]) & (observed <= band.high[middle]))
    assert np.mean(np.concatenate(held)) == pytest.approx(0.9, abs=0.05)


def test_the_band_is_that_of_single_trials_drawn_one_by_one():
    curve = evaluate(TAR, NON, operating_points=TwoClassMetrics(posteriors_at=0.2)).curves.reliability
    band = curve.consistency(0.8)
    llr, rng = np.sort(np.concatenate((TAR, NON))), np.random.default_rng(77)
    own = expit(llr + np.log(len(TAR) / len(NON)))
    found = list[np.ndarray]()
    for _ in range(200):
        event = rng.random(len(llr)) < own
        weight = np.where(event, 0.2 / len(TAR), 0.8 / len(NON))
        posterior = expit(llr + logit(0.2))
        found.append(np.interp(band.posterior, posterior, fitted(event.astype(float), posterior, weight)))
    low, high = np.quantile(found, (0.1, 0.9), axis=0)
    inside = (band.posterior > 0.05) & (band.posterior < 0.95)
    assert np.abs(band.low - low)[inside].mean() < 0.03
    assert np.abs(band.high - high)[inside].mean() < 0.03


def test_scores_that_are_too_sure_leave_the_band():
    curve = evaluate(3.0 * TAR, 3.0 * NON).curves.reliability
    band = curve.consistency()
    observed = at(curve, np.minimum(band.posterior, curve.high[-1]))
    assert np.mean((observed < band.low) | (observed > band.high)) > 0.2


def test_weighted_trials_and_many_classes_have_no_band():
    weighted = evaluate(TAR, NON, tar_weights=np.full(len(TAR), 0.5)).curves.reliability
    label = np.repeat([0, 1, 2], 4)
    many = evaluate_classes(5.0 * np.eye(3)[label], label).curves.reliability
    assert weighted.consistency() is many.consistency() is None


def test_infinite_and_equal_scores_have_a_band():
    for scores in (([np.inf, 2.0], [-np.inf, 1.0]), ([1.0] * 5, [1.0] * 7)):
        band = evaluate(*scores).curves.reliability.consistency()
        assert np.all((band.low <= band.high) & (band.low >= 0.0) & (band.high <= 1.0))
