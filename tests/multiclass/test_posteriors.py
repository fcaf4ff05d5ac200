"""Log-likelihoods from posteriors: the inverse of the posterior, certainty, and what is refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import softmax

from deciban import decisions, multiclass
from deciban.errors import DecibanWarning, InputError
from deciban.multiclass import loglik_from_posterior

PRIOR = np.array([0.5, 0.3, 0.2])


@given(st.integers(0, 10**6), st.integers(2, 6))
def test_posteriors_come_back_by_any_prior(seed, n_classes):
    rng = np.random.default_rng(seed)
    posterior = softmax(rng.normal(0, 3, (5, n_classes)), axis=1)
    prior, other = rng.dirichlet(np.ones(n_classes) * 5, 2)
    found = loglik_from_posterior(posterior, prior=prior)
    np.testing.assert_allclose(multiclass.posterior(found, prior=prior), posterior, rtol=1e-10, atol=1e-14)
    moved = posterior / prior * other
    np.testing.assert_allclose(
        multiclass.posterior(found, prior=other), moved / moved.sum(axis=1, keepdims=True), rtol=1e-9, atol=1e-14
    )


def test_two_classes_are_the_llr_of_two():
    p = np.array([0.0, 0.2, 0.9, 1.0])
    found = loglik_from_posterior(np.column_stack((p, 1 - p)), prior=[0.3, 0.7])
    with np.errstate(invalid="ignore"):
        np.testing.assert_allclose(found[:, 0] - found[:, 1], decisions.llr_from_probability(p, 0.3), atol=1e-14)


def test_none_is_flat_and_a_class_without_probability_is_excluded():
    found = loglik_from_posterior([[0.25, 0.75, 0.0]], prior=None)
    np.testing.assert_allclose(found[0, :2], np.log([0.75, 2.25]))
    assert found[0, 2] == -np.inf


@pytest.mark.parametrize("rounded", [np.float16, np.float32, lambda table: np.round(table, 4)])
def test_rounding_is_no_reason_to_refuse(rounded):
    posterior = softmax(np.random.default_rng(0).normal(size=(50, 10)), axis=1)
    found = loglik_from_posterior(rounded(posterior), prior=None)
    np.testing.assert_allclose(multiclass.posterior(found), posterior, atol=1e-3)


@pytest.mark.parametrize(
    ("posterior", "prior", "words"),
    [
        ([[0.5, 0.4]], None, "1 of 1 trials do not sum to 1, the first at index 0 to 0.9"),
        ([[0.5, 0.5], [-0.1, 1.1]], None, "outside .0, 1., the first at index 1: -0.1"),
        ([[0.0, 0.0]], None, "do not sum to 1"),
        ([[0.5, np.nan]], None, "NaN"),
        ([[0.5, 0.5]], [1.0, 0.0], "only one class"),
        ([[0.5, 0.25, 0.25]], [0.5, 0.5, 0.0], "prior: 0 for class 2"),
        ([[0.5, 0.5]], [0.5, 0.6], "sum to 1.1"),
    ],
)
def test_what_is_no_posterior_or_no_prior_is_refused(posterior, prior, words):
    with pytest.raises(InputError, match=words):
        loglik_from_posterior(posterior, prior=prior)


LABEL = np.arange(30) % 3
POSTERIOR = softmax(np.random.default_rng(2).normal(size=(30, 3)) + np.eye(3)[LABEL], axis=1)
TAKE_LOGLIK = {
    "cllr": multiclass.cllr,
    "cross_entropy": lambda table, label: multiclass.cross_entropy(table, label, prior=None),
    "brier": multiclass.brier,
    "information_delivered": multiclass.information_delivered,
    "c_avg": lambda table, label: multiclass.c_avg(table, label, p_target=0.5),
    "calibration_analysis": multiclass.calibration_analysis,
    "posterior": lambda table, _: multiclass.posterior(table),
    "detection_llr": lambda table, _: multiclass.detection_llr(table, target=0),
    "detection_llrs": lambda table, _: multiclass.detection_llrs(table),
    "pairwise_llr": lambda table, _: multiclass.pairwise_llr(table, 0, 1),
    "group_loglik": lambda table, _: multiclass.group_loglik(table, [[0], [1, 2]]),
    "partition": lambda table, label: multiclass.partition(table, label, [[0], [1, 2]]),
    "bayes_decisions": lambda table, _: decisions.bayes_decisions(table, costs=1 - np.eye(3)),
}


@pytest.mark.parametrize("name", TAKE_LOGLIK)
def test_functions_of_log_likelihoods_notice_probabilities_once(name):
    with pytest.warns(DecibanWarning, match="sum to 1.*loglik_from_posterior") as told:
        TAKE_LOGLIK[name](POSTERIOR, LABEL)
    assert len(told) == 1
    few = slice(0, 9)
    for table, label in ((np.log(POSTERIOR), LABEL), (POSTERIOR + 0.01, LABEL), (POSTERIOR[few], LABEL[few])):
        TAKE_LOGLIK[name](table, label)
    TAKE_LOGLIK[name](np.eye(3)[LABEL] * 0 + np.eye(3)[np.roll(LABEL, 1)], LABEL)  # decisions are no probabilities
