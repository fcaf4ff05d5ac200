"""The curve of reliability is isotonic regression of what happens on posteriors, of two classes and of many."""

import numpy as np
import pytest
from scipy.special import expit, logit, softmax
from sklearn.isotonic import IsotonicRegression

from deciban.evaluation import TwoClassFigures, class_evaluation_of, evaluate, evaluate_classes, summarize_classes
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
    curve = evaluate(TAR, NON, operating_points=TwoClassFigures(posteriors_at=[p, 0.7])).curves.reliability
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
