"""Decisions at all target priors in one pass, against Bayes decisions prior by prior."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logit

from deciban.core import class_counts as open_set_counts
from deciban.core.class_counts import accepted_open_set
from deciban.core.logliks import detection_llrs, prior_ratio, relative
from support.class_trials import anything, class_trials, random_trials


def one_by_one(loglik, label, weights, p_target, p_out):
    """Detection llrs at each prior, compared with its Bayes threshold."""
    n_classes = loglik.shape[1]
    weights = np.ones(len(label), np.int64) if weights is None else weights
    found = np.zeros((len(p_target), n_classes - 1, n_classes), weights.dtype)
    for at, p in enumerate(p_target):
        share = p_out / (1 - p)
        prior = np.append(np.full(n_classes - 1, (1 - share) / (n_classes - 2)), share)
        accepts = detection_llrs(relative(loglik, slice(None)), prior_ratio(prior)) >= -logit(p)
        for target in range(n_classes - 1):
            for k in range(n_classes):
                found[at, target, k] = weights[accepts[target] & (label == k)].sum()
    return found


@st.composite
def open_priors(draw):
    """Priors of targets, near the ends too and some twice, and of the class that is out of set."""
    p_out = draw(st.sampled_from([0.2, 0.25, 0.5, 0.05, 1e-12, 1 - 1e-10]) | st.floats(1e-6, 0.999))
    most = 1 - p_out
    near_the_end = st.floats(0, 17).map(lambda x: most * (1 - 10**-x))
    somewhere = st.floats(0, 1).map(lambda x: most * x)
    p = near_the_end | somewhere | st.sampled_from([0.5, 0.25, 0.1, most / 2, most / 3, 1e-8, 1e-300, 1e-310, 5e-324])
    p_target = draw(st.lists(p.filter(lambda x: x > 0 and p_out < 1 - x), min_size=1, max_size=6))
    return np.array(p_target + p_target[:1]), p_out


ties = st.sampled_from([0.0, math.log(2), math.log(3), -math.log(3), math.log(4), -math.inf])


@given(class_trials(anything | ties, n_classes=st.integers(3, 5)), open_priors())
def test_hostile_scores(trials, priors):
    expected = one_by_one(*trials, None, *priors)
    np.testing.assert_array_equal(accepted_open_set(*trials, None, *priors), expected)


@given(class_trials(ties, n_classes=st.integers(3, 4)), st.sampled_from([0.2, 0.25, 0.5, 0.1]))
def test_ties_are_decided_as_by_detection_llrs(trials, p_out):
    """Many critical priors are exactly on the grid."""
    trials[0][np.isneginf(trials[0]).all(axis=1)] = 0.0
    p_target = np.array([k / 40 for k in range(1, 40) if p_out < 1 - k / 40])
    expected = one_by_one(*trials, None, p_target, p_out)
    np.testing.assert_array_equal(accepted_open_set(*trials, None, p_target, p_out), expected)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("spread", [1e-9, 1.0, 30.0, 1e4])
@pytest.mark.parametrize("p_out", [1e-9, 0.05, 0.4])
def test_continuous_scores(dtype, spread, p_out):
    loglik, label = random_trials(6, 500, spread=spread)
    loglik = loglik.astype(dtype)
    p_target = np.random.default_rng(0).permutation(np.linspace(0, 1 - p_out, 52)[1:-1])
    expected = one_by_one(loglik, label, None, p_target, p_out)
    np.testing.assert_array_equal(accepted_open_set(loglik, label, None, p_target, p_out), expected)


def test_weights():
    loglik, label = random_trials(4, 300)
    loglik[::3] = np.round(loglik[::3])
    rng, p_target = np.random.default_rng(0), np.linspace(0.05, 0.75, 15)
    whole, parts = rng.integers(0, 4, 300), rng.uniform(0, 2, 300)
    found = accepted_open_set(loglik, label, whole, p_target, 0.2)
    assert found.dtype == np.int64
    np.testing.assert_array_equal(found, one_by_one(loglik, label, whole, p_target, 0.2))
    expected = one_by_one(loglik, label, parts, p_target, 0.2)
    np.testing.assert_allclose(accepted_open_set(loglik, label, parts, p_target, 0.2), expected, rtol=1e-12, atol=1e-12)


def test_whatever_is_near_no_matter_how_near_that_is(monkeypatch):
    """All compared directly, or as much as can be decided without: the same decisions, in turns or at once."""
    loglik, label = random_trials(4, 200)
    p_target = np.linspace(0.01, 0.7, 40)
    expected = one_by_one(loglik, label, None, p_target, 0.2)
    for near in (0.3, 1e-3, 1e-8, 0.0):
        monkeypatch.setattr(open_set_counts, "_NEAR", near)
        np.testing.assert_array_equal(accepted_open_set(loglik, label, None, p_target, 0.2), expected)
    monkeypatch.setattr("deciban.core.class_counts._CELLS", 50)
    monkeypatch.setattr(open_set_counts, "_NEAR", 1e-8)
    np.testing.assert_array_equal(accepted_open_set(loglik, label, None, p_target, 0.2), expected)
