"""Decisions for one of many classes, error rates and confusion."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logit

from deciban import InputError, metrics, multiclass
from deciban import decisions as decisions_at_a_price
from support.class_trials import class_mean, class_trials, finite, priors, random_trials


def decisions(loglik, prior):
    """The first class whose posterior is greatest, by comparison of products of prior and likelihood."""
    return [int(np.argmax(np.exp(row - row.max()) * prior)) for row in loglik]


@given(class_trials(st.floats(-20, 20)), st.data())
def test_error_rate_counts_wrong_decisions(trials, data):
    loglik, label = trials
    prior = data.draw(priors(loglik.shape[1]))
    q = np.sort(multiclass.posterior(loglik, prior=prior), axis=1)
    if np.min(q[:, -1] - q[:, -2]) < 1e-12:  # the naive way breaks near-ties at random
        return
    wrong = np.array(decisions(loglik, prior)) != label
    assert multiclass.error_rate(loglik, label, prior=prior) == pytest.approx(
        class_mean(wrong, label, prior), abs=1e-15
    )
    rates = multiclass.class_error_rates(loglik, label, prior=prior)
    assert rates == pytest.approx([np.mean(wrong[label == k]) for k in range(len(prior))], abs=1e-15)


@given(class_trials(), st.data())
def test_confusion_holds_every_trial_once(trials, data):
    loglik, label = trials
    prior = data.draw(st.none() | priors(loglik.shape[1]))
    counts = multiclass.confusion(loglik, label, prior=prior)
    assert counts.dtype == np.int64
    assert counts.sum(axis=1).tolist() == np.bincount(label).tolist()
    rates = multiclass.class_error_rates(loglik, label, prior=prior)
    assert rates == pytest.approx(1 - np.diag(counts) / counts.sum(axis=1), abs=1e-15)


def test_rows_are_the_truth():
    loglik = [[0, 1, 0], [0, 1, 0], [0, 1, 0], [0, 0, 1]]
    assert multiclass.confusion(loglik, [0, 0, 1, 2]).tolist() == [[0, 2, 0], [0, 1, 0], [0, 0, 1]]
    weighted = multiclass.confusion(loglik, [0, 0, 1, 2], sample_weight=[0.5, 0.25, 1, 1])
    assert weighted.tolist() == [[0, 0.75, 0], [0, 1, 0], [0, 0, 1]]


def test_ties_go_to_the_lowest_class():
    rows = [[1, 1, 0], [0, 1, 1], [2, 2, 2], [np.inf, np.inf, 0], [0, -np.inf, 0], [-np.inf, 3, np.inf]]
    assert multiclass.confusion(rows, [0, 1, 2, 0, 1, 2]).tolist() == [[2, 0, 0], [1, 1, 0], [1, 0, 1]]


def test_a_prior_shifts_decisions_and_zero_excludes():
    loglik = [[0.0, 0.0, 5.0], [0.1, 0.0, 9.0], [0.0, 0.5, 9.0]]
    assert multiclass.confusion(loglik, [0, 1, 2], prior=[0.5, 0.5, 0]).tolist() == [[1, 0, 0], [1, 0, 0], [0, 1, 0]]
    assert multiclass.error_rate(loglik, [0, 1, 2], prior=[0.5, 0.5, 0]) == 0.5
    assert multiclass.error_rate(loglik, [0, 1, 2], prior=[0.1, 0.9, 0]) == pytest.approx(0.1)


def test_an_explicit_flat_prior_changes_no_decision():
    loglik, label = random_trials(7, 500)
    loglik[::2] = np.round(loglik[::2])
    loglik[5] = [1e-17, 2e-17, 0, 0, 0, 0, 3e-17]
    loglik[6] = [1e15, 1e15 + 0.125, 0, 0, 0, 0, 0]
    given_flat = multiclass.confusion(loglik, label, prior=np.full(7, 1 / 7))
    np.testing.assert_array_equal(given_flat, multiclass.confusion(loglik, label))


@given(class_trials(finite, n_classes=st.just(2)), st.sampled_from([0.5, 0.1, 0.3, 0.77]))
def test_two_classes_decide_as_the_binary_metrics_do(trials, p):
    """Scores exactly at the threshold, too: it becomes the log-likelihood ratio of some trials."""
    loglik, label = trials
    loglik[::2] = [-float(logit(p)), 0.0]
    llr = loglik[:, 0] - loglik[:, 1]
    expected = metrics.bayes_error(llr[label == 0], llr[label == 1], p_target=p)
    assert multiclass.error_rate(loglik, label, prior=[p, 1 - p]) == pytest.approx(expected, rel=1e-15)


def test_ties_are_exact_as_in_the_binary_metrics_and_those_of_decisions_allow_for_rounding():
    """A llr one digit below the Bayes threshold is a miss here and in `metrics`, and a tie for `decisions`."""
    p = 0.3
    llr = np.array([np.nextafter(-logit(p), -1), -logit(p), -1.0])
    loglik, prior = np.column_stack([llr, np.zeros(3)]), [p, 1 - p]
    assert multiclass.confusion(loglik, [0, 0, 1], prior=prior).tolist() == [[1, 1], [0, 1]]
    assert multiclass.error_rate(loglik, [0, 0, 1], prior=prior) == metrics.bayes_error(llr[:2], llr[2:], p_target=p)
    costs = 1.0 - np.eye(2)
    assert decisions_at_a_price.bayes_decisions(loglik, costs=costs, prior=prior).tolist() == [0, 0, 1]
    # At a flat prior both compare the scores as they are.
    near = np.array([[np.nextafter(0.5, 0), 0.5, 0.5], [0.5, np.nextafter(0.5, 0), 0.5], [0.1, 0.1, 0.1]])
    assert decisions_at_a_price.bayes_decisions(near, costs=1.0 - np.eye(3)).tolist() == [1, 0, 0]
    assert multiclass.confusion(near, [0, 1, 2]).tolist() == [[0, 1, 0], [1, 0, 0], [1, 0, 0]]


@given(class_trials(), st.data())
def test_whole_weights_are_copies(trials, data):
    loglik, label = trials
    weights = np.array(data.draw(st.lists(st.integers(1, 3), min_size=len(label), max_size=len(label))))
    copies = np.repeat(loglik, weights, axis=0), np.repeat(label, weights)
    found = multiclass.confusion(loglik, label, sample_weight=weights)
    assert found.dtype == np.int64
    np.testing.assert_array_equal(found, multiclass.confusion(*copies))
    rates = multiclass.class_error_rates(loglik, label, sample_weight=weights)
    np.testing.assert_array_equal(rates, multiclass.class_error_rates(*copies))


def test_a_class_of_prior_0_needs_no_trials():
    loglik, label, prior = [[2.0, 0.0, 5.0], [0.0, 1.0, 5.0], [0.5, 0.0, 5.0]], [0, 1, 1], [0.5, 0.5, 0.0]
    np.testing.assert_array_equal(multiclass.class_error_rates(loglik, label, prior=prior), [0.0, 0.5, 0.0])
    np.testing.assert_array_equal(multiclass.confusion(loglik, label, prior=prior), [[1, 0, 0], [1, 1, 0], [0, 0, 0]])
    with pytest.raises(InputError, match="class 2"):
        multiclass.class_error_rates(loglik, label)
