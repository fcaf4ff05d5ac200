"""Posteriors, detection and pairwise log-likelihood ratios, projection."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import log_softmax, logit, logsumexp, softmax

from deciban import InputError, multiclass
from support.class_trials import class_trials, finite, limited, priors, random_trials

INF = math.inf


@given(class_trials(finite), st.data())
def test_posterior_is_softmax(trials, data):
    loglik, _ = trials
    prior = data.draw(priors(loglik.shape[1]))
    expected = softmax(loglik + np.log(prior), axis=1)
    np.testing.assert_allclose(multiclass.posterior(loglik, prior=prior), expected, rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize(
    ("row", "prior", "expected"),
    [
        ([0, 0, -INF], None, [0.5, 0.5, 0]),
        ([INF, 3, INF], [0.2, 0.2, 0.6], [0.25, 0, 0.75]),
        ([INF, -INF, 1e300], None, [1, 0, 0]),
        ([1e300, 1e300, -1e300], None, [0.5, 0.5, 0]),
        ([1000, 0, 0], [0.0, 0.5, 0.5], [0, 0.5, 0.5]),
        ([0, -INF, -INF], [0.0, 0.25, 0.75], [0, 0.25, 0.75]),
        ([-1e308, 1e308, -INF], None, [0, 1, 0]),
    ],
)
def test_posterior_of_hostile_scores(row, prior, expected):
    assert multiclass.posterior([row], prior=prior)[0].tolist() == pytest.approx(expected, rel=1e-15)


@given(class_trials(finite), st.data())
def test_detection_llr_is_equation_9(trials, data):
    loglik, _ = trials
    n = loglik.shape[1]
    prior = data.draw(priors(n))
    for target in range(n):
        rest = np.delete(np.arange(n), target)
        weights = prior[rest] / (1 - prior[target])
        expected = -logsumexp(loglik[:, rest] - loglik[:, [target]], b=weights, axis=1)
        found = multiclass.detection_llr(loglik, target=target, prior=prior)
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13)


@given(class_trials(), st.data())
def test_all_detectors_at_once(trials, data):
    """One by one or all at once: very different roads, the same numbers, infinities and far rivals among them."""
    loglik, _ = trials
    prior = data.draw(st.none() | priors(loglik.shape[1]))
    columns = [multiclass.detection_llr(loglik, target=k, prior=prior) for k in range(loglik.shape[1])]
    found = multiclass.detection_llrs(loglik, prior=prior)
    np.testing.assert_allclose(found, np.transpose(columns), rtol=1e-13, atol=1e-13)


def test_posterior_odds_are_prior_odds_times_likelihood_ratio():
    loglik, _ = random_trials(4, 50)
    prior = np.array([0.1, 0.2, 0.3, 0.4])
    llrs = multiclass.detection_llrs(loglik, prior=prior)
    np.testing.assert_allclose(logit(multiclass.posterior(loglik, prior=prior)), llrs + logit(prior), atol=1e-9)


@pytest.mark.parametrize("lead", [0.0, 3.0, 50.0, 1e4, 1e300])
def test_rivals_however_far_behind(lead):
    """Likelihoods of rivals underflow long before these ratios do."""
    assert multiclass.detection_llrs([[lead, 0, 0]])[0, 0] == pytest.approx(lead, rel=1e-15)
    assert multiclass.detection_llrs([[lead, 0, -1]])[0, 0] == pytest.approx(
        lead + math.log(2) - math.log1p(math.exp(-1)), rel=1e-15
    )


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ([0, -INF, -INF], [INF, -INF, -INF]),
        ([INF, 0, 1], [INF, -INF, -INF]),
        ([INF, INF, 1], [math.log(2), math.log(2), -INF]),
        ([INF, INF, INF], [0, 0, 0]),
        ([0, 0, -INF], [math.log(2), math.log(2), -INF]),
    ],
)
def test_detection_of_infinite_scores(row, expected):
    assert multiclass.detection_llrs([row])[0].tolist() == pytest.approx(expected, rel=1e-15)
    assert [multiclass.detection_llr([row], target=k)[0] for k in range(3)] == pytest.approx(expected, rel=1e-15)


def test_only_relative_priors_of_the_rest_matter():
    loglik, _ = random_trials(3, 20)
    one = multiclass.detection_llr(loglik, target=0, prior=[0.2, 0.2, 0.6])
    other = multiclass.detection_llr(loglik, target=0, prior=[0.8, 0.05, 0.15])
    np.testing.assert_allclose(one, other, rtol=1e-13)
    pair = multiclass.detection_llr(loglik, target=0, prior=[0.9, 0.1, 0])
    np.testing.assert_array_equal(pair, multiclass.pairwise_llr(loglik, 0, 1))


def test_names_of_classes():
    loglik, names = [[1.0, 0.0, 0.5]], ["de", "en", "fr"]
    assert multiclass.pairwise_llr(loglik, "de", "fr", classes=names).tolist() == [0.5]
    by_name = multiclass.detection_llr(loglik, target="fr", classes=names)
    assert by_name.tolist() == multiclass.detection_llr(loglik, target=2).tolist()
    with pytest.raises(InputError, match="target: 'xx' is not among the classes 'de', 'en', 'fr'"):
        multiclass.detection_llr(loglik, target="xx", classes=names)
    with pytest.raises(InputError, match="i: got the name 'de'. Pass classes="):
        multiclass.pairwise_llr(loglik, "de", 1)
    for wrong in (3, -1, 1.0, True):
        with pytest.raises(InputError, match="j: expected a class from 0 to 2 or its name"):
            multiclass.pairwise_llr(loglik, 0, wrong)


def test_pairs_of_equal_infinities_are_equal():
    rows = [[INF, INF, 0], [-INF, -INF, 0], [INF, -INF, 0], [1.0, -INF, 0], [2.0, 1.0, 9.0]]
    assert multiclass.pairwise_llr(rows, 0, 1).tolist() == [0, 0, INF, INF, 1]


@given(class_trials(finite))
def test_projection_recovers_the_posteriors_of_one_recognizer(trials):
    loglik, _ = trials
    llrs = multiclass.detection_llrs(loglik)
    projected = multiclass.project_detection_llr(llrs)
    np.testing.assert_allclose(projected, log_softmax(loglik, axis=1), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(multiclass.detection_llrs(projected), llrs, rtol=1e-9, atol=1e-9)


def test_projection_of_independent_detectors():
    """ln sigma(s - ln(N - 1)), by hand."""
    found = multiclass.project_detection_llr([[math.log(2), -INF, INF], [math.log(6), 1000.0, -1000.0]])
    expected = [[math.log(0.5), -INF, 0], [math.log(0.75), 0, -1000.0 - math.log(2)]]
    np.testing.assert_allclose(found, expected, rtol=1e-15)
    with pytest.raises(InputError, match="detection_llr: 1 of 1 trials exclude every class"):
        multiclass.project_detection_llr([[-INF, -INF]])


@given(class_trials(st.sampled_from([-INF, INF, 0.0, 2.5, -3.0])))
def test_infinities_are_limits(trials):
    loglik, _ = trials
    near = limited(loglik)
    np.testing.assert_allclose(multiclass.posterior(loglik), multiclass.posterior(near), rtol=1e-14, atol=1e-300)
    far = multiclass.detection_llrs(near)
    expected = np.where(np.abs(far) > 1e3, np.copysign(INF, far), far)
    np.testing.assert_allclose(multiclass.detection_llrs(loglik), expected, rtol=1e-12, atol=1e-12)


def test_detectors_need_their_prior():
    with pytest.raises(InputError, match=r"target: class 1 \('b'\) has prior 0"):
        multiclass.detection_llr(np.eye(3), target=1, prior=[0.5, 0, 0.5], classes=["a", "b", "c"])
    with pytest.raises(InputError, match="class 1 has prior 0 and cannot be detected"):
        multiclass.detection_llrs(np.eye(3), prior=[0.5, 0, 0.5])
