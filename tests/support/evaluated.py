"""Evaluated systems to draw, of two classes and of many."""

import dataclasses
import functools

import numpy as np

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
