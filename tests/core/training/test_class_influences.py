"""Standard errors of calibrations and fusions of many classes: against refits with perturbed weights, and of two."""

import numpy as np
import pytest

from deciban.calibration import (
    AffineCalibrator,
    GaussianBackend,
    MatrixTransformation,
    MulticlassCalibrator,
    MulticlassScaleCalibrator,
    MulticlassShiftCalibrator,
)
from deciban.errors import DecibanWarning, InputError
from deciban.fusion import MulticlassFusion
from support.resampled import refitted_covariance

N_UNITS, N_CLASSES = 25, 4
MODELS = {
    "affine": MulticlassCalibrator,
    "affine, prior": lambda: MulticlassCalibrator(prior=[0.1, 0.2, 0.3, 0.4]),
    "affine, an impossible class": lambda: MulticlassCalibrator(prior=[0.4, 0.0, 0.2, 0.4]),
    "scale": MulticlassScaleCalibrator,
    "shift": MulticlassShiftCalibrator,
    "fusion": MulticlassFusion,
    "fusion without offsets": lambda: MulticlassFusion(offsets=False),
}


@pytest.fixture(scope="module")
def drawn():
    rng = np.random.default_rng(3)
    label, units = rng.integers(0, N_CLASSES, 400), rng.integers(0, N_UNITS, 400)
    loglik = rng.normal(size=(400, 2, N_CLASSES)) + 0.5 * rng.normal(size=(N_UNITS, 1, N_CLASSES))[units]
    loglik[np.arange(400), :, label] += 1.5
    return loglik, label, units, rng.integers(1, 4, 400).astype(float)


def numbers_of(model):
    scales = model.weights_ if isinstance(model, MulticlassFusion) else [model.scale_]
    return [*scales, *model.offset_]


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.usefixtures("sandwich")
def test_the_covariance_is_that_of_refits_with_perturbed_weights(name, drawn):
    loglik, label, units, weight = drawn
    make = MODELS[name]
    x = loglik if isinstance(make(), MulticlassFusion) else loglik[:, 0]
    model = make().fit(x, label, sample_weight=weight, units=units)
    expected = refitted_covariance(
        lambda weights: numbers_of(make().fit(x, label, sample_weight=weights)), weight, units
    )
    np.testing.assert_allclose(model.parameter_covariance_, expected, atol=1e-6 * np.abs(expected).max())
    assert len(model.parameter_names) == len(expected)


@pytest.mark.usefixtures("sandwich")
def test_excluded_classes_and_decided_trials(drawn):
    loglik, label, units, _ = drawn
    x = loglik[:, 0].copy()
    x[np.arange(30), (label[:30] + 1) % N_CLASSES] = -np.inf
    x[np.arange(30, 40), label[30:40]] = np.inf
    model = MulticlassCalibrator().fit(x, label, units=units)
    expected = refitted_covariance(
        lambda weights: numbers_of(MulticlassCalibrator().fit(x, label, sample_weight=weights)), np.ones(400), units
    )
    np.testing.assert_allclose(model.parameter_covariance_, expected, atol=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize("name", MODELS)
def test_leaving_out_each_unit_is_training_without_it(name, drawn):
    loglik, label, units, weight = drawn
    make = MODELS[name]
    x = loglik if isinstance(make(), MulticlassFusion) else loglik[:, 0]
    model = make().fit(x, label, sample_weight=weight, units=units)
    without = [
        numbers_of(make().fit(x[units != unit], label[units != unit], sample_weight=weight[units != unit]))
        for unit in range(N_UNITS)
    ]
    changes = np.array(without) - numbers_of(model)
    expected = (N_UNITS - 1) / N_UNITS * changes.T @ changes
    np.testing.assert_allclose(model.parameter_covariance_, expected, atol=1e-6 * np.abs(expected).max())
    bias = (N_UNITS - 1) * changes.mean(axis=0)
    np.testing.assert_allclose(model.uncertainty_.bias, bias, atol=1e-4 * np.abs(bias).max())


def test_two_classes_are_those_of_the_calibration_of_two(drawn):
    _, _, units, _ = drawn
    rng = np.random.default_rng(5)
    is_target = rng.random(400) < 0.3
    score = np.where(is_target, 1.5, -1.0) + rng.normal(size=400) + rng.normal(size=N_UNITS)[units]
    two = AffineCalibrator(p_target=0.2).fit(score, is_target, units=units)
    loglik = np.column_stack((np.zeros(400), score))
    many = MulticlassCalibrator(prior=[0.8, 0.2]).fit(loglik, is_target.astype(int), units=units)
    to_two = np.array([[1.0, 0.0, 0.0], [0.0, -1.0, 1.0]])
    np.testing.assert_allclose(
        to_two @ many.parameter_covariance_ @ to_two.T, two.parameter_covariance_, rtol=1e-6, atol=1e-9
    )


def test_offsets_do_not_move_together(drawn):
    loglik, label, units, _ = drawn
    covariance = MulticlassCalibrator().fit(loglik[:, 0], label, units=units).parameter_covariance_
    np.testing.assert_allclose(covariance[:, 1:].sum(axis=1), 0.0, atol=1e-12)


@pytest.mark.parametrize("kind", [GaussianBackend, MatrixTransformation])
def test_models_without_a_formula_say_so(kind, drawn):
    loglik, label, units, _ = drawn
    with pytest.warns(DecibanWarning, match="no standard errors: there is no formula"):
        model = kind().fit(loglik[:, 0], label, units=units)
    assert model.parameter_covariance_ is None
    assert model.training_lines()[-1].startswith("no standard errors: there is no formula for this form of map")


def test_log_likelihoods_of_classes_have_no_intervals(drawn):
    loglik, label, units, _ = drawn
    model = MulticlassCalibrator().fit(loglik[:, 0], label, units=units)
    with pytest.raises(InputError, match="up to a constant"):
        model.interval(loglik[:, 0])
    assert "± " in model.parameter_lines()[0]
