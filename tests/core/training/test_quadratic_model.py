"""The model of a function at a point: steps by eigenvalues and by a triangular factor, and what the factor refuses."""

import numpy as np
import pytest

from deciban.core.training.quadratic_model import Bowl, Spectrum, model_of


def symmetric(curvatures):
    """A matrix with these eigenvalues."""
    axes = np.linalg.qr(np.random.default_rng(1).normal(size=(len(curvatures), len(curvatures))))[0]
    return (axes * curvatures) @ axes.T


@pytest.mark.parametrize("least", [1e-1, 1e-4, 1e-8])
def test_both_ways_lead_to_the_minimum_of_the_model(least):
    hessian = symmetric(np.geomspace(least, 1.0, 80))
    minimum = np.random.default_rng(2).normal(size=80)
    gradient = -hessian @ minimum
    for model in (Bowl.of(1.0, gradient, hessian, 1e-14), Spectrum.of(1.0, gradient, hessian, 1e-14)):
        np.testing.assert_allclose(model.newton, minimum, atol=1e-14 / least)
        assert model.decrement == pytest.approx(0.5 * minimum @ hessian @ minimum, rel=1e-12)
        step, gain = model.within(100.0)
        np.testing.assert_array_equal(step, model.newton)
        assert gain == pytest.approx(model.decrement, rel=1e-12)
        assert model.n_flat == 0


def test_a_step_ends_at_the_border_of_the_ball():
    """Where the gradient of the model points at its center: so does the condition of a minimum on a sphere say."""
    hessian, gradient = symmetric(np.geomspace(1e-3, 1.0, 80)), np.random.default_rng(3).normal(size=80)
    step, gain = Bowl.of(1.0, gradient, hessian, 1e-14).within(0.5)
    assert np.linalg.norm(step) == pytest.approx(0.5, rel=2e-3)
    slope = gradient + hessian @ step
    assert -(slope @ step) == pytest.approx(np.linalg.norm(slope) * np.linalg.norm(step), rel=1e-9)
    assert gain == pytest.approx(-(gradient @ step + 0.5 * step @ hessian @ step), rel=1e-12)


@pytest.mark.parametrize("least", [-1.0, -1e-9, 0.0, 1e-13, np.nan])
def test_eigenvalues_are_asked_where_a_direction_may_be_flat_or_curve_downward(least):
    hessian = symmetric(np.append(np.abs(least), np.ones(79))) if least != -1.0 else -np.eye(80)
    if -1.0 < least < 0.0:
        hessian -= 2 * 1e-9 * np.eye(80)
    assert Bowl.of(1.0, np.ones(80), hessian, 1e-14) is None


def test_few_parameters_go_by_eigenvalues():
    assert isinstance(model_of(1.0, np.ones(5), np.eye(5), 1e-14), Spectrum)
    assert isinstance(model_of(1.0, np.ones(80), np.eye(80), 1e-14), Bowl)
    assert isinstance(model_of(1.0, np.ones(80), np.zeros((80, 80)), 1e-14), Spectrum)
