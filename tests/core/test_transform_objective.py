"""The objective of scales per class and of matrices: derivatives, blocks, parts of trials."""

import numpy as np
import pytest

from deciban.core.training import multiclass_training as transform_objective
from deciban.core.training.multiclass_objective import ClassTrials, CountedTrials
from deciban.core.training.multiclass_training import TransformObjective, normalized, train_transform
from support.many_classes import cross_entropy, problem

PRIOR = np.array([0.1, 0.2, 0.3, 0.4])


def against_mean(loglik):
    return loglik - np.log(np.mean(np.exp(loglik), axis=1, keepdims=True))


def trials(n=400, n_classes=4, **how):
    systems, label = problem(n, 1, n_classes, **how)
    return systems[:, 0], label


@pytest.mark.parametrize("is_diagonal", [True, False])
@pytest.mark.parametrize("weighted", [False, True])
def test_derivatives_are_those_of_the_value(is_diagonal, weighted):
    loglik, label = trials(50)
    rng = np.random.default_rng(5)
    weights = rng.uniform(0.5, 2.0, 50) if weighted else None
    n_raw = 8 if is_diagonal else 20
    basis = rng.normal(size=(n_raw, 6)) / 3
    penalty = rng.uniform(size=6)
    class_weights = PRIOR / np.bincount(label, weights)
    f = TransformObjective(
        ClassTrials(loglik[:, None], label, class_weights, weights),
        np.log(PRIOR), np.array([0.1, -0.2, 0.3, 0.0]), 1.7, is_diagonal, basis, penalty,
    )  # fmt: skip
    x = rng.normal(size=6)

    def value(x):
        raw = (basis @ x).reshape(4, -1)
        u = (against_mean(loglik) - f.center) / f.width
        z = (u * raw[:, 0] if is_diagonal else u @ raw[:, :-1].T) + raw[:, -1]
        return cross_entropy(z, label, PRIOR, weights) + 0.5 * penalty @ x**2

    def differences(function, step=1e-5):
        return np.array([(function(x + h) - function(x - h)) / (2 * step) for h in step * np.eye(6)])

    at = f(x)
    assert at.value == pytest.approx(value(x), rel=1e-13)
    np.testing.assert_allclose(at.gradient, differences(value), atol=1e-9)
    np.testing.assert_allclose(at.hessian, differences(lambda x: f(x).gradient), atol=1e-8)
    np.testing.assert_array_equal(f(x, np.eye(6)).hessian, np.eye(6))
    assert not f(np.full(6, 1e200)).is_finite


def test_small_blocks_give_the_same_sums(monkeypatch):
    loglik, label = trials(1000)
    counted = CountedTrials.of(loglik[:, None, :], label, PRIOR, None)
    whole = train_transform(counted, is_diagonal=False)
    monkeypatch.setattr(transform_objective, "_BLOCK_BYTES", 1)
    parts = train_transform(counted, is_diagonal=False)
    np.testing.assert_allclose(parts.matrix, whole.matrix, atol=1e-9)


def test_normalized_rows_have_mean_likelihood_1():
    loglik = np.array([[1.0, 2.0, 3.0], [1e300, 0.0, -1e300], [-np.inf, 0.0, 0.0], [np.inf, 0.0, np.inf]])
    rows = normalized(loglik, slice(None)).T
    np.testing.assert_allclose(np.exp(rows).mean(axis=1), 1.0, rtol=1e-14)
    np.testing.assert_array_equal(
        np.isneginf(rows), [[False] * 3, [False] * 3, [True, False, False], [False, True, False]]
    )
    tiny = normalized(np.array([[1e-200, -1e-200, 0.0]]), slice(None))[:, 0]
    np.testing.assert_allclose(tiny, [1e-200, -1e-200, 0.0], atol=1e-214)
