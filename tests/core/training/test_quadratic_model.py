"""The model of a function at a point: steps by eigenvalues and by a triangular factor, and what the factor refuses."""

import numpy as np
import pytest

from deciban.core.training.trust_region import Bowl, Spectrum, model_of


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


def test_negative_curvature_without_a_slope_is_followed_to_the_border():
    """The hard case: shifted by 1 the model is level along the first direction, and the other one needs 0.1 / 3."""
    model = Spectrum.of(1.0, np.array([0.0, 0.1]), np.diag([-1.0, 2.0]), 1e-14)
    step, gain = model.within(1.0)
    assert np.linalg.norm(step) == pytest.approx(1.0)
    assert step[1] == pytest.approx(-0.1 / 3, rel=1e-6)
    assert gain == pytest.approx(0.5 * step[0] ** 2 - 0.1 * step[1] - step[1] ** 2)


@pytest.mark.parametrize(("limit", "n_flat"), [(1.0, 0), (1e6, 1)])
def test_the_way_back_goes_only_where_it_costs_next_to_nothing(limit, n_flat):
    """Along the first direction, of curvature 1e-13, there are 5e4 to 0."""
    model = Spectrum.of(1.0, np.zeros(2), np.diag([1e-13, 1.0]), 1e-14)
    assert model.n_flat == 1
    step, found = model.way_back(np.array([1e9, 3.0]), limit)
    assert found == n_flat
    np.testing.assert_allclose(step, [-1e9 * n_flat, 0.0])
