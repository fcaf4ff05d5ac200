"""Minimization by a trust region: known minima, indefinite Hessians, flat directions, steep walls."""

import itertools

import numpy as np
import pytest

from deciban.core.training.trust_region import Derivatives, minimize


def quadratic(matrix, center):
    def function(x, _hessian=None):
        d = x - center
        return Derivatives(0.5 * d @ matrix @ d + 1.0, matrix @ d, matrix)

    return function


def rosenbrock(x, _hessian=None):
    a, b = x
    value = (1 - a) ** 2 + 100 * (b - a**2) ** 2
    gradient = np.array([-2 * (1 - a) - 400 * a * (b - a**2), 200 * (b - a**2)])
    return Derivatives(value + 1, gradient, np.array([[2 - 400 * b + 1200 * a**2, -400 * a], [-400 * a, 200.0]]))


def test_a_quadratic_function_needs_one_step_within_the_radius():
    found = minimize(quadratic(np.diag([1.0, 10.0]), np.array([1.0, -1.0])), np.zeros(2))
    assert found.converged
    assert found.n_evaluations == 2
    np.testing.assert_allclose(found.point, [1.0, -1.0], rtol=1e-14)


def test_a_small_radius_only_makes_the_way_longer():
    found = minimize(quadratic(np.diag([1.0, 1e4]), np.array([30.0, -1.0])), np.zeros(2), radius=0.1)
    assert found.converged
    np.testing.assert_allclose(found.point, [30.0, -1.0], rtol=1e-12)


@pytest.mark.parametrize("start", [(-1.2, 1.0), (0.0, 0.0), (3.0, -5.0), (-10.0, 50.0)])
def test_the_curved_valley_of_rosenbrock_is_followed(start):
    found = minimize(rosenbrock, np.array(start))
    assert found.converged
    np.testing.assert_allclose(found.polished, [1.0, 1.0], atol=1e-7)


def test_a_saddle_is_left_downhill():
    """Minima of (x^2 - 1)^2 + y^2 + 1 are at x = 1 and -1; the start is exactly on its saddle."""

    def function(p, _hessian=None):
        x, y = p
        gradient = np.array([4 * x * (x**2 - 1), 2 * y])
        return Derivatives((x**2 - 1) ** 2 + y**2 + 1, gradient, np.diag([12 * x**2 - 4, 2.0]))

    found = minimize(function, np.array([0.0, 0.0]))
    assert found.converged
    np.testing.assert_allclose(np.abs(found.point), [1.0, 0.0], atol=1e-7)


def many(smallest):
    """A quadratic function of 100 parameters, its curvatures from one that is given to 1, and its minimum."""
    rng = np.random.default_rng(0)
    axes = np.linalg.qr(rng.normal(size=(100, 100)))[0]
    center = axes @ np.append(0.0, rng.normal(size=99))
    return (axes * np.append(smallest, np.geomspace(0.1, 1.0, 99))) @ axes.T, axes[:, 0], center


@pytest.mark.parametrize("smallest", [0.05, 1e-5, 1e-9])
def test_many_parameters(smallest):
    matrix, _, center = many(smallest)
    found = minimize(quadratic(matrix, center), np.zeros(100), radius=20.0)
    assert (found.converged, found.flat) == (True, 0)
    np.testing.assert_allclose(found.polished, center, atol=1e-13 / smallest)
    assert found.least == pytest.approx(1.0, rel=1e-14)


def test_a_flat_direction_among_many_parameters_is_not_moved_along():
    matrix, flat, center = many(0.0)
    found = minimize(quadratic(matrix, center + 5.0 * flat), np.zeros(100))
    assert (found.converged, found.flat) == (True, 1)
    np.testing.assert_allclose(found.polished, center, atol=1e-10)


def test_many_parameters_leave_a_saddle():
    """Along one of 100 axes the function curves downward at first: it is a ``u^4 - 2 u^2``, with minima at 1 and -1."""
    matrix, axis, center = many(0.0)

    def function(x, _hessian=None):
        u, d = axis @ x, x - center
        gradient = matrix @ d + (4 * u**3 - 4 * u) * axis
        return Derivatives(
            0.5 * d @ matrix @ d + u**4 - 2 * u**2 + 3, gradient, matrix + (12 * u**2 - 4) * np.outer(axis, axis)
        )

    found = minimize(function, np.zeros(100))
    assert found.converged
    assert abs(axis @ found.point) == pytest.approx(1.0, abs=1e-6)
    assert found.least == pytest.approx(2.0, rel=1e-12)


def test_a_flat_direction_is_counted_and_not_moved_along():
    found = minimize(quadratic(np.array([[1.0, 1.0], [1.0, 1.0]]), np.array([1.0, 1.0])), np.zeros(2))
    assert found.converged
    assert found.flat == 1
    np.testing.assert_allclose(found.polished, [1.0, 1.0], rtol=1e-12)


def test_points_without_a_finite_value_are_out_of_bounds():
    """x - ln x has its minimum at 1 and is not defined left of 0."""

    def function(p, _hessian=None):
        x = p[0]
        if x <= 0:
            return Derivatives(np.inf, np.array([np.nan]), np.array([[np.nan]]))
        return Derivatives(x - np.log(x), np.array([1 - 1 / x]), np.array([[1 / x**2]]))

    for start in (1e-6, 50.0):
        found = minimize(function, np.array([start]))
        assert found.converged
        np.testing.assert_allclose(found.point, [1.0], rtol=1e-7)


def test_a_function_that_falls_forever_does_not_converge():
    found = minimize(
        lambda p, _: Derivatives(-p[0], np.array([-1.0]), np.zeros((1, 1))), np.zeros(1), max_evaluations=20
    )
    assert not found.converged
    assert found.n_evaluations == 20


def test_a_search_can_be_stopped():
    found = minimize(rosenbrock, np.array([-1.2, 1.0]), stop=lambda _, at: at.value < 3.0)
    assert not found.converged
    assert found.at.value < 3.0


def test_near_the_minimum_second_derivatives_are_used_again():
    """exp(x) - x: the Hessian is asked for on the way, and not any more at the end."""
    asked = []

    def function(p, hessian=None):
        asked.append(hessian is None)
        return Derivatives(np.exp(p[0]) - p[0], np.exp(p) - 1, np.diag(np.exp(p)) if hessian is None else hessian)

    found = minimize(function, np.array([2.0]), reuse=True)
    assert found.converged
    assert asked[0]
    assert not asked[-1]
    np.testing.assert_allclose(found.polished, [0.0], atol=1e-9)


def test_a_search_that_rounding_stops_has_arrived():
    """The gradient is known to 1e-6 only, so that Newton's step gains 1e-12 forever."""
    noise = itertools.cycle([0.0, 1e-6, 3e-6])  # no two of them alike, so that no step leads where the next slope is 0

    def function(p, _hessian=None):
        return Derivatives(1.0 + 0.5 * p[0] ** 2, p + next(noise), np.eye(1))

    found = minimize(function, np.array([3.0]), precise=1e-15, rounding=1e-13)
    assert found.converged
    assert found.n_evaluations < 10
    np.testing.assert_allclose(found.polished, [0.0], atol=4e-6)


def test_second_derivatives_that_are_used_again_explain_the_last_change():
    """Those that the function is given next map the last step to the change of the gradient along it."""
    given = []
    matrix = np.array([[2.0, 0.3], [0.3, 1.0]])

    def function(p, hessian=None):
        e = np.exp(p)
        gradient = e - 1 + matrix @ p
        given.append((p, gradient, hessian))
        own = np.diag(e) + matrix if hessian is None else hessian
        return Derivatives(e.sum() - p.sum() + 0.5 * p @ matrix @ p, gradient, own)

    found = minimize(function, np.array([0.3, -0.2]), reuse=True, precise=1e-15)
    assert found.converged
    np.testing.assert_allclose(found.polished, 0.0, atol=1e-12)
    again = [(given[i - 1], given[i - 2], given[i][2]) for i in range(2, len(given)) if given[i - 1][2] is not None]
    again = [(last, earlier, hessian) for last, earlier, hessian in again if hessian is not None]
    assert again
    for (point, gradient, _), (point_before, gradient_before, _), hessian in again:
        change = gradient - gradient_before
        np.testing.assert_allclose(
            hessian @ (point - point_before), change, rtol=1e-7, atol=1e-9 * np.abs(change).max()
        )


def test_after_a_minimum_of_nearly_the_same_function_its_second_derivatives_do():
    """The first pass is not asked for any, and the minimum is right nevertheless."""
    asked = []

    def function(p, hessian=None):
        asked.append(hessian is None)
        own = np.diag(np.exp(p)) if hessian is None else hessian
        return Derivatives(np.exp(p[0]) - 1.001 * p[0], np.exp(p) - 1.001, own)

    near = minimize(lambda p, _=None: Derivatives(np.exp(p[0]) - p[0], np.exp(p) - 1, np.diag(np.exp(p))), np.ones(1))
    found = minimize(function, near.polished, after=near)
    assert not asked[0]
    assert found.converged
    np.testing.assert_allclose(found.polished, [np.log(1.001)], rtol=1e-7)


def test_of_points_that_are_equally_good_the_smallest_is_found():
    """Only the sum matters: from (5, -1) on, the sum 2 is reached at (1, 1) and not at (4, -2)."""
    found = minimize(quadratic(np.ones((2, 2)), np.array([1.0, 1.0])), np.array([5.0, -1.0]))
    assert found.flat == 1
    np.testing.assert_allclose(found.polished, [1.0, 1.0], rtol=1e-9)


def test_a_direction_that_is_nearly_flat_but_long_matters():
    """Its curvature cannot be told from rounding, but from a minimum at 1e7 to 0 the value would grow by 5."""
    found = minimize(quadratic(np.diag([1.0, 1e-13]), np.array([1.0, 1e7])), np.array([0.0, 1e7]))
    assert found.converged
    assert found.flat == 0
    np.testing.assert_allclose(found.polished, [1.0, 1e7], rtol=1e-9)
