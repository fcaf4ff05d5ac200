"""Trials of many classes as they occur, and the definitions as literally as possible. For tests only."""

import math

import numpy as np
from hypothesis import strategies as st
from scipy.special import log_softmax

from support.strategies import coarse

hostile = st.sampled_from([-math.inf, math.inf, 0.0, -0.0, 1e300, -1e300, 800.0, -800.0])
finite = coarse | st.floats(-50, 50)
anything = coarse | hostile | st.floats(-50, 50)

few_classes = st.integers(2, 5)


@st.composite
def class_trials(draw, values=anything, n_classes=few_classes, max_more=6):
    """Log-likelihoods and labels; every class occurs, no trial excludes all classes."""
    n = draw(n_classes)
    label = [*range(n), *draw(st.lists(st.integers(0, n - 1), max_size=max_more))]
    row = st.lists(values, min_size=n, max_size=n).filter(lambda one: max(one) > -math.inf)
    return np.array([draw(row) for _ in label]), np.array(label)


@st.composite
def priors(draw, n_classes):
    """A prior, no entry 0."""
    parts = draw(st.lists(st.integers(1, 9), min_size=n_classes, max_size=n_classes))
    return np.array(parts) / sum(parts)


def random_trials(n_classes, n_trials, *, seed=0, spread=2.0):
    """Continuous log-likelihoods, every class with trials, in unequal numbers."""
    rng = np.random.default_rng(seed)
    weight = np.arange(1, n_classes + 1)
    label = np.concatenate([np.arange(n_classes), rng.choice(n_classes, n_trials - n_classes, p=weight / weight.sum())])
    loglik = rng.normal(size=(n_trials, n_classes)) * spread
    loglik[np.arange(n_trials), label] += 2.0
    return loglik, label


def limited(loglik):
    """Infinite numbers replaced by finite ones of which they are the limit."""
    return np.clip(loglik, -1e4, 1e4) if np.abs(loglik[np.isfinite(loglik)]).max(initial=0) < 1e3 else None


def surprise(loglik, label, prior):
    """-ln posterior of the true class, trial by trial."""
    return [-log_softmax(row + np.log(prior))[k] for row, k in zip(loglik, label, strict=True)]


def class_mean(costs, label, prior):
    """sum_i prior_i * mean over trials of class i."""
    costs = np.asarray(costs)
    return math.fsum(p * math.fsum(costs[label == k]) / np.sum(label == k) for k, p in enumerate(prior) if p > 0)


def detection_cost_8_10(loglik, label, members):
    """Average detection cost of a subset of classes as thesis eq. 8.10 says it, by posteriors and steps."""
    n = len(members)
    costs, truths = [], []
    for row, k in zip(loglik, label, strict=True):
        if k in members:
            q = np.exp(log_softmax(row[list(members)]))
            true = list(members).index(k)
            accepted = q >= 1 / n
            costs.append((not accepted[true]) / 2 + (accepted.sum() - accepted[true]) / (2 * (n - 1)))
            truths.append(true)
    return class_mean(costs, np.array(truths), [1 / n] * n)
