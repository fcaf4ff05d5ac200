"""The objective of many classes: its value by the definition, derivatives by differences, blocks, infinite scores."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban.core.training import multiclass_objective as class_objective
from deciban.core.training.multiclass_objective import ClassObjective, ClassTrials
from support.many_classes import cross_entropy, problem

PRIOR = np.array([0.1, 0.2, 0.3, 0.4])


def objective(systems, label, *, prior=PRIOR, weights=None, penalty=0.0):
    """By raw weights and offsets."""
    counts = np.bincount(label, weights, minlength=len(prior))
    size = systems.shape[1] + systems.shape[2]
    trials = ClassTrials(systems, label, prior / counts, weights)
    return ClassObjective(trials, np.log(prior), np.zeros(size), np.eye(size), np.full(size, penalty))


def differences(function, x, step):
    """Central differences of a function of a vector."""
    return np.array([(function(x + h) - function(x - h)) / (2 * step) for h in step * np.eye(len(x))])


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("penalty", [0.0, 0.3])
def test_value_gradient_and_hessian(weighted, penalty):
    systems, label = problem(60, 2)
    rng = np.random.default_rng(3)
    weights = rng.uniform(0.5, 2.0, 60) if weighted else None
    f = objective(systems, label, weights=weights, penalty=penalty)
    x = rng.normal(size=6) / 3

    def value(x):
        return cross_entropy(np.tensordot(systems, x[:2], (1, 0)) + x[2:], label, PRIOR, weights) + penalty / 2 * x @ x

    at = f(x)
    assert at.value == pytest.approx(value(x), rel=1e-14)
    np.testing.assert_allclose(at.gradient, differences(value, x, 1e-5), atol=1e-9)
    np.testing.assert_allclose(at.hessian, differences(lambda x: f(x).gradient, x, 1e-5), atol=1e-8)
    np.testing.assert_array_equal(f(x, np.eye(6)).hessian, np.eye(6))


@pytest.mark.parametrize("n_systems", [1, 3])
def test_parameters_act_through_the_basis(n_systems):
    systems, label = problem(80, n_systems)
    rng = np.random.default_rng(4)
    raw = objective(systems, label)
    basis, fixed = rng.normal(size=(n_systems + 4, 2)), rng.normal(size=n_systems + 4)
    x = np.array([0.3, -0.2])
    at, by_raw = replace(raw, basis=basis, fixed=fixed, penalty=np.zeros(2))(x), raw(fixed + basis @ x)
    assert at.value == pytest.approx(by_raw.value, rel=1e-14)
    np.testing.assert_allclose(at.gradient, basis.T @ by_raw.gradient, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(at.hessian, basis.T @ by_raw.hessian @ basis, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("moving", ["scales", "offsets"])
def test_second_derivatives_by_scales_or_offsets_alone(moving, dtype):
    """What stays what it is costs nothing; what moves has its part of all second derivatives, here by definition."""
    n_classes = 70
    systems, label = problem(200, 2, n_classes, apart=2.0)
    label[:n_classes] = np.arange(n_classes)
    prior = np.random.default_rng(1).dirichlet(np.full(n_classes, 20.0))
    some = slice(0, 2) if moving == "scales" else slice(2, None)
    raw = np.concatenate(([0.4, 0.3], np.linspace(-1, 1, n_classes)))
    f = objective(systems, label, prior=prior)
    basis = np.eye(len(raw))[:, some]
    alone = replace(f, basis=basis, fixed=raw - basis @ raw[some], penalty=np.zeros(basis.shape[1]), dtype=dtype)
    z = np.tensordot(systems, raw[:2], (1, 0)) + raw[2:] + np.log(prior)
    posterior = np.exp(z - np.logaddexp.reduce(z, axis=1)[:, None])
    features = np.concatenate((systems, np.tile(np.eye(n_classes), (200, 1, 1))), axis=1)
    mean = np.einsum("tc,tfc->tf", posterior, features)
    weight = (prior / np.bincount(label, minlength=n_classes))[label]
    weighted = features * np.sqrt(weight[:, None] * posterior)[:, None]
    expected = np.einsum("tfc,tgc->fg", weighted, weighted, optimize=True)
    expected -= (weight[:, None] * mean).T @ mean
    tolerance = 1e-12 if dtype is np.float64 else 2e-6
    found = alone(raw[some]).hessian
    np.testing.assert_allclose(found, expected[some, some], rtol=0, atol=tolerance * np.abs(expected).max())
    np.testing.assert_allclose(found, found.T, rtol=tolerance)


def test_second_derivatives_of_many_classes_take_the_memory_of_a_few_of_them():
    """They are added up where they are: blocks of trials are smaller than the matrix, and there are 16 of them."""
    n_classes = 400
    systems, label = problem(4096, 1, n_classes)
    f = objective(systems, label, prior=np.full(n_classes, 1 / n_classes))
    f(x := np.full(n_classes + 1, 0.1))
    tracemalloc.start()
    f(x)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10 * 8 * n_classes**2


def test_small_blocks_give_the_same_sums(monkeypatch):
    systems, label = problem(3000, 2)
    x = np.array([0.5, 0.2, 0.0, 0.1, -0.1, 0.3])
    whole = objective(systems, label)(x)
    monkeypatch.setattr(class_objective, "_BLOCK_BYTES", 1)
    assert len(objective(systems, label).blocks()) == 12  # of at least 256 trials
    parts = objective(systems, label)(x)
    assert parts.value == pytest.approx(whole.value, rel=1e-13)
    assert parts.worst == whole.worst
    np.testing.assert_allclose(parts.gradient, whole.gradient, rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(parts.hessian, whole.hessian, rtol=1e-11, atol=1e-13)


def test_float32_is_right_to_six_digits():
    systems, label = problem(500, 2)
    x = np.array([0.5, 0.2, 0.0, 0.1, -0.1, 0.3])
    fine, rough = objective(systems, label), replace(objective(systems, label), dtype=np.float32)
    assert rough(x).value == pytest.approx(fine(x).value, rel=1e-6)
    np.testing.assert_allclose(rough(x).gradient, fine(x).gradient, atol=1e-6)


def test_worst_is_the_largest_lead_of_a_wrong_class():
    systems, label = problem(200)
    x = np.array([0.7, 0.2, 0.0, -0.4, 0.2])
    z = 0.7 * systems[:, 0] + x[1:] + np.log(PRIOR)
    own = z[np.arange(200), label].copy()
    z[np.arange(200), label] = -np.inf
    assert objective(systems, label)(x).worst == pytest.approx(np.max(z.max(axis=1) - own), rel=1e-12)


def test_excluded_classes_are_as_if_they_were_not_there():
    """Trials without their last class cost what three classes do."""
    systems, label = problem(200, 2)
    some = label < 3
    systems, label, prior = systems[some], label[some], np.array([0.2, 0.3, 0.5])
    excluded = systems.copy()
    excluded[::2, 0, 3] = -np.inf
    excluded[1::2, :, 3] = -np.inf
    counts = np.bincount(label, minlength=4)
    f = ClassObjective(
        ClassTrials(excluded, label, np.append(prior, 0.0) / np.maximum(counts, 1)),
        np.log(np.append(prior, 1.0)),
        np.zeros(6),
        np.eye(6),
        np.zeros(6),
    )
    x = np.array([0.4, 0.3, 0.1, -0.2, 0.1, 5.0])
    at, alone = f(x), objective(systems[:, :, :3], label, prior=prior)(x[:5])
    assert at.value == pytest.approx(alone.value, rel=1e-13)
    np.testing.assert_allclose(at.gradient[:5], alone.gradient, atol=1e-14)
    np.testing.assert_allclose(at.hessian[:5, :5], alone.hessian, atol=1e-14)
    assert at.gradient[5] == 0.0


def test_the_probability_of_small_errors_keeps_its_digits():
    """Of two classes 60 nats apart, the wrong one has posterior e^-60: its pull is that, not 1 - 1."""
    f = objective(np.array([[[60.0, 0.0]], [[0.0, 60.0]]]), np.array([0, 1]), prior=np.array([0.5, 0.5]))
    at = f(np.array([1.0, 0.0, 0.0]))
    assert at.value == pytest.approx(np.exp(-60.0), rel=1e-12)
    assert at.gradient[0] == pytest.approx(-60.0 * np.exp(-60.0), rel=1e-12)


def test_parameters_too_large_are_out_of_bounds():
    systems, label = problem(20)
    assert not objective(systems, label)(np.full(5, 1e200)).is_finite


def test_the_largest_move_is_that_of_a_rival_against_the_true_class():
    f = objective(np.array([[[2.0, 0.0]], [[0.0, 1.0]]]), np.array([0, 1]), prior=np.array([0.5, 0.5]))
    step = np.array([0.5, 0.0, 0.25])
    moved = [0.5 * -2.0 + 0.25, 0.5 * -1.0 - 0.25]  # of the rival, in both trials
    assert f.largest_move(np.zeros(3), step) == pytest.approx(max(map(abs, moved)))


@given(st.integers(0, 99), st.integers(1, 3), st.floats(1e-3, 1e3))
def test_no_move_is_larger_than_its_bound(seed, n_systems, scale):
    rng = np.random.default_rng(seed)
    systems = scale * rng.normal(size=(20, n_systems, 3))
    width = rng.uniform(0.1, 10.0, n_systems)
    basis = np.zeros((n_systems + 3, n_systems + 2))
    basis[:n_systems, :n_systems] = np.diag(1.0 / width)
    basis[n_systems:, n_systems:] = rng.normal(size=(3, 2))
    label = rng.integers(0, 3, 20)
    trials = ClassTrials(systems, label, np.ones(3), reach=float(np.abs(systems).max() / width.min()))
    f = ClassObjective(trials, np.zeros(3), np.zeros(n_systems + 3), basis, np.zeros(n_systems + 2))
    step = rng.normal(size=n_systems + 2)
    moved = np.tensordot(systems, (basis @ step)[:n_systems], (1, 0)) + (basis @ step)[n_systems:]
    largest = np.abs(moved - moved[np.arange(20), label][:, None]).max()
    assert largest <= f.move_bound(step) * (1 + 1e-12)
