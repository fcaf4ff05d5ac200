"""Rules of a density that is given as a function, against closed forms of the beta family and of other densities."""

import math
import time

import numpy as np
import pytest
from scipy.special import betainc, betaincc, betaln, expit, xlog1py, xlogy

from deciban import InputError
from deciban.rules import Beta, Quadratic, ThresholdDensity

PARAMETERS = (0.5, 0.7, 1.0, 1.5, 2.0, 5.0, 20.0, 77.3, 100.0)
U = np.linspace(-10.0, 10.0, 201)
AT = np.column_stack((expit(U), expit(-U)))


def worst(found, exact):
    """Largest relative error of costs that are not lost in underflow."""
    some = exact > 1e-280
    return float((np.abs(found - exact)[some] / exact[some]).max())


@pytest.mark.parametrize(
    ("alpha", "beta"), [(a, b) for i, a in enumerate(PARAMETERS) for k, b in enumerate(PARAMETERS) if (i + k) % 3 == 0]
)
def test_costs_are_those_of_the_beta_family(alpha, beta):
    rule = Beta(alpha, beta)
    found = ThresholdDensity.of_function(rule.density)
    assert worst(found.costs(AT), rule.costs(AT)) < 1e-8
    assert found.mass == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize(("a", "b"), [(200.0, 200.0), (200.0, 1.5), (1.5, 200.0), (150.0, 30.0)])
def test_costs_of_steep_densities_are_incomplete_beta_functions(a, b):
    """Where both parameters exceed 1: ``(a + b - 1) / (a - 1)`` times the tail of Beta(a - 1, b); and mirrored."""

    def density(eta):
        return np.exp(xlogy(a - 1, eta) + xlog1py(b - 1, -eta) - betaln(a, b))

    u = np.linspace(-3.0, 3.0, 61)
    q = expit(u)
    exact = np.column_stack(
        ((a + b - 1) / (a - 1) * betaincc(a - 1, b, q), (a + b - 1) / (b - 1) * betainc(a, b - 1, q))
    )
    assert worst(ThresholdDensity.of_function(density).costs(np.column_stack((q, expit(-u)))), exact) < 1e-8


def test_a_steep_density_has_the_digits_that_a_table_lacked():
    """A table of 4001 points had an error of 4e-3 here."""
    steep = Beta(20.0, 20.0)
    found = ThresholdDensity.of_function(steep.density).costs([0.9, 0.1])
    np.testing.assert_allclose(found, steep.costs([0.9, 0.1]), rtol=1e-11)


def test_far_reports_follow_the_powers_of_both_ends():
    rule = Beta(0.5, 1.5)
    u = np.array([-200.0, -40.0, -21.0, 21.0, 40.0, 200.0])
    at = np.column_stack((expit(u), expit(-u)))
    assert worst(ThresholdDensity.of_function(rule.density).costs(at), rule.costs(at)) < 1e-5
    uniform = ThresholdDensity.of_function(np.ones_like)
    assert uniform.costs([0.0, 1.0])[0] == math.inf
    assert uniform.costs([1.0, 0.0])[0] == 0.0


def test_jumps_and_densities_that_vanish():
    jump = ThresholdDensity.of_function(lambda eta: 1.0 * (eta > 0.3))
    np.testing.assert_allclose(jump.costs([0.2, 0.8]), [-math.log(0.3), 0.0], rtol=1e-11)
    np.testing.assert_allclose(jump.costs([0.9, 0.1]), [-math.log(0.9), math.log(7.0)], rtol=1e-11)
    kink = ThresholdDensity.of_function(lambda eta: np.abs(eta - 0.5))  # int_q^1 |h - 1/2| / h, q below 1/2
    np.testing.assert_allclose(kink.costs([0.25, 0.75])[0], math.log(2) / 2 - 0.25 + 0.5 - math.log(2) / 2, rtol=1e-9)
    nothing = ThresholdDensity.of_function(np.zeros_like)
    assert nothing.costs([0.3, 0.7]).tolist() == [0.0, 0.0]
    assert nothing.mass == 0.0


def test_the_table_holds_the_places_at_which_the_function_was_called():
    found = ThresholdDensity.of_function(lambda eta: 4 * eta * (1 - eta))
    np.testing.assert_allclose(found.costs(AT), Quadratic().costs(AT), rtol=1e-9)
    np.testing.assert_allclose(found.density, 4 * found.eta * (1 - found.eta), rtol=1e-7)
    assert (np.diff(found.eta) > 0).all()


def test_many_jumps_and_noise_end_within_a_second():
    rng = np.random.default_rng(1)
    start = time.perf_counter()
    ThresholdDensity.of_function(lambda eta: rng.random(eta.shape))
    ThresholdDensity.of_function(lambda eta: 1.0 + np.sign(np.sin(1e4 * eta)))
    assert time.perf_counter() - start < 5.0


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda eta: -eta, "with negative ones"),
        (lambda eta: eta[:-1], "got shape"),
        (lambda eta: eta / 0.0, "function"),
    ],
)
def test_what_is_no_density_is_refused(function, message):
    with pytest.raises(InputError, match=message), np.errstate(divide="ignore"):
        ThresholdDensity.of_function(function)
