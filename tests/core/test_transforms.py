"""Training of a scale per class and of a matrix: derivatives, the optimum, limits, and when there is none."""

import numpy as np
import pytest
from scipy.optimize import brentq

from deciban.core.training import multiclass_training as class_transforms
from deciban.core.training.multiclass_objective import CountedTrials
from deciban.errors import InputError
from support.many_classes import best_parameters, cross_entropy, masses, problem, train_classes

PRIOR = np.array([0.1, 0.2, 0.3, 0.4])


def train_transform(loglik, label, *, prior, weights=None, **how):
    """Train on arrays."""
    counted = CountedTrials.of(loglik[:, None, :], label, prior, weights)
    return class_transforms.train_transform(counted, **how)


def trials(n=400, n_classes=4, **how):
    systems, label = problem(n, 1, n_classes, **how)
    return systems[:, 0], label


def against_mean(loglik):
    return loglik - np.log(np.mean(np.exp(loglik), axis=1, keepdims=True))


def design(loglik, *, is_diagonal):
    """What scores change by with the parameters: scales (or a matrix without its last row), offsets but the last."""
    u = against_mean(loglik)
    n, k = u.shape
    offsets = np.broadcast_to(np.eye(k)[:, : k - 1], (n, k, k - 1))
    if is_diagonal:
        return np.concatenate((u[:, :, None] * np.eye(k), offsets), axis=2)
    matrix = np.einsum("ij,nl->nijl", np.eye(k)[:, : k - 1], u).reshape(n, k, -1)
    return np.concatenate((matrix, offsets), axis=2)


@pytest.mark.parametrize("is_diagonal", [True, False])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_optimum_is_that_of_the_textbook(is_diagonal, weighted):
    loglik, label = trials()
    weights = np.random.default_rng(2).integers(0, 4, 400) if weighted else None
    given = None if weights is None else weights.astype(np.float64)
    fit = train_transform(loglik, label, prior=PRIOR, weights=given, is_diagonal=is_diagonal)
    best = best_parameters(design(loglik, is_diagonal=is_diagonal), label, PRIOR, masses(label, PRIOR, weights))
    if is_diagonal:
        np.testing.assert_allclose(np.diag(fit.matrix), best[:4], rtol=1e-8)
        np.testing.assert_array_equal(fit.matrix - np.diag(np.diag(fit.matrix)), 0.0)
        offsets = best[4:]
    else:
        np.testing.assert_allclose((fit.matrix - fit.matrix[3])[:3].ravel(), best[:12], atol=1e-8)
        offsets = best[12:]
    np.testing.assert_allclose((fit.offsets - fit.offsets[3])[:3], offsets, atol=1e-8)
    assert fit.offsets.mean() == pytest.approx(0.0, abs=1e-12)
    z = against_mean(loglik) @ fit.matrix.T + fit.offsets
    assert fit.objective == pytest.approx(cross_entropy(z, label, PRIOR, weights), rel=1e-12)
    assert fit.converged


@pytest.mark.parametrize("is_diagonal", [True, False])
@pytest.mark.parametrize("ridge", [0.0, 0.1])
def test_pulled_toward_a_calibration_it_becomes_one(is_diagonal, ridge):
    loglik, label = trials()
    fit = train_transform(loglik, label, prior=PRIOR, ridge=ridge, toward_calibration=1e5, is_diagonal=is_diagonal)
    calibration = train_classes(loglik, label, prior=PRIOR, ridge=ridge)
    np.testing.assert_allclose(fit.matrix, calibration.weights[0] * np.eye(4), atol=1e-5)
    np.testing.assert_allclose(fit.offsets, calibration.offsets, atol=1e-5)
    assert fit.objective == pytest.approx(calibration.objective, abs=1e-5)


@pytest.mark.parametrize("is_diagonal", [True, False])
def test_a_penalty_moves_the_optimum_of_the_sum(is_diagonal):
    """No step away from it makes objective and penalty smaller together; the penalty is written out here."""
    loglik, label = trials(200)
    fit = train_transform(loglik, label, prior=PRIOR, ridge=0.2, toward_calibration=0.5, is_diagonal=is_diagonal)
    gaps = (loglik[:, :, None] - loglik[:, None, :])[:, *np.triu_indices(4, 1)]
    mass = masses(label, PRIOR)
    width = np.sqrt(np.mean(mass @ (gaps - mass @ gaps) ** 2))
    center = np.eye(4) - 0.25

    def penalized(matrix, offsets):
        value = cross_entropy(against_mean(loglik) @ matrix.T + offsets, label, PRIOR)
        if is_diagonal:
            scales = width * np.diag(matrix)
            return value + 0.1 * np.mean(scales**2) + 0.25 * np.mean((scales - scales.mean()) ** 2)
        part = width * center @ matrix
        best = np.trace(part) / 3 * center
        return value + (0.1 * np.sum(part**2) + 0.25 * np.sum((part - best) ** 2)) / 3

    least = penalized(fit.matrix, fit.offsets)
    rng = np.random.default_rng(1)
    for _ in range(40):
        step = rng.normal(size=(4, 4)) if not is_diagonal else np.diag(rng.normal(size=4))
        assert penalized(fit.matrix + 1e-4 * step, fit.offsets) > least
        assert penalized(fit.matrix, fit.offsets + 1e-4 * (step @ np.ones(4))) > least


@pytest.mark.parametrize("is_diagonal", [True, False])
def test_neither_constants_of_trials_nor_the_order_of_classes_matter(is_diagonal):
    loglik, label = trials()
    loglik = np.round(loglik * 2**10) / 2**10
    plain = train_transform(loglik, label, prior=PRIOR, is_diagonal=is_diagonal)
    shift = np.round(np.random.default_rng(1).normal(scale=1e9, size=(400, 1)))
    moved = train_transform(loglik + shift, label, prior=PRIOR, is_diagonal=is_diagonal)
    np.testing.assert_allclose(moved.matrix, plain.matrix, atol=1e-8)
    order = [2, 0, 3, 1]
    other = train_transform(loglik[:, order], np.argsort(order)[label], prior=PRIOR[order], is_diagonal=is_diagonal)
    np.testing.assert_allclose(other.matrix, plain.matrix[np.ix_(order, order)], atol=1e-8)
    np.testing.assert_allclose(other.offsets, plain.offsets[order], atol=1e-8)


@pytest.mark.parametrize("is_diagonal", [True, False])
def test_many_trials_go_through_a_sample_to_the_same_optimum(monkeypatch, is_diagonal):
    loglik, label = trials(40_000)
    quick = train_transform(loglik, label, prior=PRIOR, is_diagonal=is_diagonal)
    monkeypatch.setattr(class_transforms, "sample_of_classes", lambda trials: trials)
    direct = train_transform(loglik, label, prior=PRIOR, is_diagonal=is_diagonal)
    np.testing.assert_allclose(quick.matrix, direct.matrix, atol=1e-7)
    assert quick.objective == pytest.approx(direct.objective, rel=1e-12)


@pytest.mark.parametrize("is_diagonal", [True, False])
@pytest.mark.parametrize("size", [1e-12, 1e-3])
def test_scores_that_hardly_differ_are_told_apart(is_diagonal, size):
    """Normalization is linear for small differences: the optimum then is that of scores one hundred times as large."""
    loglik, label = trials()
    small, large = (train_transform(size * k * loglik, label, prior=PRIOR, is_diagonal=is_diagonal) for k in (1.0, 0.1))
    assert small.converged
    assert small.objective == pytest.approx(large.objective, rel=10 * size)


@pytest.mark.parametrize("is_diagonal", [True, False])
def test_separated_classes_are_refused_unless_there_is_a_penalty(is_diagonal):
    label = np.repeat(np.arange(4), 15)
    loglik = 6.0 * np.eye(4)[label] + np.random.default_rng(1).normal(size=(60, 4))
    for toward in (0.0, 1.0):
        with pytest.raises(InputError, match="separated"):
            train_transform(loglik, label, prior=PRIOR, toward_calibration=toward, is_diagonal=is_diagonal)
    assert train_transform(loglik, label, prior=PRIOR, ridge=1e-3, is_diagonal=is_diagonal).converged


def corner(places, times=3):
    """Trials of as many classes in turn, each of a score of 2 at one place and 0 elsewhere."""
    label = np.tile(np.arange(len(places)), times)
    return 2.0 * np.eye(len(places))[np.array(places)[label]], label


@pytest.mark.parametrize("toward", [1e-6, 1.0, 100.0])
def test_classes_that_no_calibration_separates_have_an_optimum_near_the_calibrations(toward):
    """Where the columns of two classes are exchanged every other matrix of this form costs more, by symmetry.

    It is ``a (P - 1/3)`` with the exchange P: the true class leads by 2 a, the penalty is half of ``(width a)^2``, and
    the mean variance of differences, which are 2, -2 and 0, is 8/3.
    """
    loglik, label = corner([0, 2, 1])
    fit = train_transform(loglik, label, prior=np.full(3, 1 / 3), toward_calibration=toward, is_diagonal=False)
    a = brentq(lambda a: toward * 8 / 3 * a - 4 / (np.exp(2 * a) + 2), 0.0, 50.0, xtol=1e-14)
    np.testing.assert_allclose(fit.matrix, a * (np.eye(3)[[0, 2, 1]] - 1 / 3), rtol=1e-6, atol=1e-6 * a)
    np.testing.assert_allclose(fit.offsets, 0.0, atol=1e-6)
    assert fit.objective == pytest.approx(np.log1p(2 * np.exp(-2 * a)), rel=1e-6)
    each = train_transform(loglik, label, prior=np.full(3, 1 / 3), toward_calibration=toward, is_diagonal=True)
    assert each.converged
    assert np.diag(each.matrix)[0] > 0.0 > np.diag(each.matrix)[1]


@pytest.mark.parametrize("is_diagonal", [True, False])
def test_a_tie_is_not_taken_for_separation(is_diagonal):
    """A scale that goes to minus infinity excludes one of two wrong classes in each trial; the other stays level."""
    loglik, label = corner([1, 2, 0])
    with pytest.raises(InputError, match="falls forever as the scales or offsets grow"):
        train_transform(loglik, label, prior=np.full(3, 1 / 3), toward_calibration=1.0, is_diagonal=is_diagonal)


@pytest.mark.parametrize("settings", [{"ridge": 0.01}, {"ridge": 0.01, "toward_calibration": 1.0}])
def test_no_penalty_keeps_offsets_finite(settings):
    """Class 2 is excluded nowhere but where it would be wrong, or decided: its offset never costs anything."""
    loglik = np.array([[1, 0, 0], [0, 1, 0], [1, 0, 0], [0, 1, 0], [0.5, 0, 0], [0, 0.5, 0], [-np.inf, -np.inf, 0]])
    label = np.array([0, 0, 0, 1, 1, 1, 2])
    with pytest.raises(InputError, match="as the offsets grow") as caught:
        train_transform(loglik, label, prior=np.full(3, 1 / 3), is_diagonal=True, **settings)
    assert "ridge" not in str(caught.value)


@pytest.mark.parametrize("least", [1e-20, 1e-50])
@pytest.mark.parametrize("is_diagonal", [True, False])
def test_very_improbable_classes_are_no_reason_to_fail(is_diagonal, least):
    """Next to a class of prior 1 nearly, derivatives by moments: those of each class are those of class 0, tilted."""
    loglik, label = trials()
    prior = np.array([1 - 3 * least, least, least, least])
    fit = train_transform(loglik, label, prior=prior, is_diagonal=is_diagonal)
    assert fit.converged
    assert fit.n_passes < 30
    u = against_mean(loglik)
    z = u @ fit.matrix.T + fit.offsets
    ratio = np.exp(z - z[:, :1])[label == 0, 1:]
    np.testing.assert_allclose(ratio.mean(axis=0), 1.0, rtol=1e-8)
    tilted = ratio.T @ u[label == 0] / np.sum(label == 0)
    own = np.array([u[label == k].mean(axis=0) for k in range(1, 4)])
    if is_diagonal:
        tilted, own = (np.diag(moments[:, 1:]) for moments in (tilted, own))
    np.testing.assert_allclose(tilted, own, atol=1e-8)


@pytest.mark.parametrize("is_diagonal", [True, False])
def test_scales_that_do_not_fit_a_float_are_refused(is_diagonal):
    loglik, label = trials()
    with pytest.raises(InputError, match=r"loglik: scores differ so little.*Multiply them"):
        train_transform(1e-310 * loglik, label, prior=PRIOR, is_diagonal=is_diagonal)
    near = train_transform(1e-300 * loglik, label, prior=PRIOR, is_diagonal=is_diagonal)
    far = train_transform(1e-200 * loglik, label, prior=PRIOR, is_diagonal=is_diagonal)
    np.testing.assert_allclose(near.matrix, 1e100 * far.matrix, rtol=1e-8)


def test_a_matrix_that_separates_one_class_only_is_refused():
    """Class 3 is where the scores of classes 0 and 1 are both high; the three others overlap."""
    loglik, label = trials(300)
    loglik[label == 3] += [20.0, 20.0, 0.0, 0.0]
    with pytest.raises(InputError, match="infinite"):
        train_transform(loglik, label, prior=PRIOR, is_diagonal=False)


def test_excluded_classes_and_weights_of_0():
    loglik, label = trials()
    loglik[np.arange(0, 400, 2), (label[::2] + 1 + np.arange(200) % 3) % 4] = -np.inf
    weights = np.ones(400)
    weights[[5, 6]] = 0.0
    loglik[5, label[5]] = -np.inf
    fit = train_transform(loglik, label, prior=PRIOR, weights=weights, is_diagonal=True)
    with np.errstate(invalid="ignore"):
        z = np.diag(fit.matrix) * against_mean(loglik) + fit.offsets
    keep = weights > 0
    assert fit.objective == pytest.approx(cross_entropy(z[keep], label[keep], PRIOR), rel=1e-12)
    with pytest.raises(InputError, match="true class of 1 trials, the first at index 5"):
        train_transform(loglik, label, prior=PRIOR, is_diagonal=True)


def test_scores_that_are_alike_for_all_classes_are_refused():
    with pytest.raises(InputError, match="same scores"):
        train_transform(np.zeros((4, 4)), np.arange(4), prior=PRIOR, is_diagonal=True)
