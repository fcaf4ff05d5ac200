"""Systems to draw."""

import dataclasses
import functools

import numpy as np
import pytest

from deciban import plots
from deciban.evaluation import evaluate, evaluate_classes

POINTS = [0.2, (0.01, 10, 1)]


def gaussian(name, d=2.0, **kwargs):
    """Calibrated scores with ``d`` standard deviations between the classes, times ``scale``."""
    return dataclasses.replace(_gaussian(d, **kwargs), name=name)


@functools.cache
def _gaussian(d, *, n_tar=400, n_non=2000, scale=1.0, seed=0):
    rng = np.random.default_rng(seed)
    tar, non = rng.normal(d * d / 2, d, n_tar), rng.normal(-d * d / 2, d, n_non)
    return evaluate(scale * tar, scale * non, operating_points=POINTS)


@pytest.fixture(scope="session")
def system():
    return gaussian("sysA")


@pytest.fixture(scope="session")
def drawn(system):
    """Every plot of `system`, to be looked at and not to be changed."""
    return {kind: getattr(plots, kind)(system) for kind in plots.KINDS}


@pytest.fixture(scope="session")
def systems():
    return [gaussian("sysA"), gaussian("sysB", 2.5, scale=1.7, seed=1), gaussian("sysC", 1.5, n_non=900, seed=2)]


@pytest.fixture(scope="session")
def degenerate():
    """Sets whose rates, llrs or scores are 0, 1, equal or infinite."""
    inf, largest = np.inf, 1.7e308
    return [
        evaluate([1.0] * 5, [1.0] * 7, name="all equal"),
        evaluate([1.0], [0.0], name="one trial each"),
        evaluate([0.0], [1.0], name="one trial each, reversed"),
        evaluate(np.arange(5.0, 55.0), np.arange(-90.0, 1.0), name="separated"),
        evaluate([inf, inf], [-inf], name="all infinite"),
        evaluate([inf, 2.0, -inf, 0.5], [-inf, inf, 0.0, 1.0], name="some infinite, wrong side too"),
        evaluate([largest, 2.0], [-largest, 3.0], name="huge"),
        evaluate([1e-300, 2e-300], [0.0, 5e-324], name="tiny"),
        evaluate([1.0, 700.0, -3.0], [0.0, -650.0, 3.0], name="extreme priors", operating_points=[1e-300, 0.999999]),
    ]


def recognizer(n_classes, name="sysA", *, scale=1.0, seed=0, n_trials=20, names=None):
    """Log-likelihoods of Gaussian classes, calibrated but for ``scale``, evaluated."""
    return dataclasses.replace(_recognizer(n_classes, scale, seed, n_trials, names), name=name)


@functools.cache
def _recognizer(n_classes, scale, seed, n_trials, names):
    loglik, label = class_trials(n_classes, seed=seed, n_trials=n_trials)
    return evaluate_classes(scale * loglik, label, classes=names, subsets=n_classes <= 10)


def open_set(n_classes, p_out_of_set=0.2, *, names=None):
    """Such log-likelihoods, evaluated with the last class out of set."""
    return evaluate_classes(*class_trials(n_classes), classes=names, name="sysA", p_out_of_set=p_out_of_set)


def class_trials(n_classes, *, seed=0, n_trials=20):
    """Log-likelihoods and labels, as many trials of each class."""
    rng = np.random.default_rng(seed)
    means = 1.3 * rng.normal(size=(n_classes, 3))
    label = np.repeat(np.arange(n_classes), n_trials)
    features = means[label] + rng.normal(size=(len(label), 3))
    return -0.5 * ((features[:, None] - means) ** 2).sum(axis=2), label
