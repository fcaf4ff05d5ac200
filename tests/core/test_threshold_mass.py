"""Shares and quantiles of threshold weightings, against integrals of the printed formula and closed forms."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, special

from deciban.core.proper import ThresholdMass, threshold_density

RULES = [
    (1, 1, 0.0),
    (2, 2, -4.6),
    (2, 1, -8.0),
    (0.5, 0.5, 5.0),
    (0.05, 100, 3.0),
    (100, 100, 1.0),
    (0.3, 0.05, -20.0),
]
parameters = st.floats(math.log(0.05), math.log(100)).map(math.exp)


def printed(alpha, beta, tau):
    """Eqs. 7, 10 and 11 of the paper as they are printed, in logarithms."""

    def log_weight(t):
        x = t + tau
        modulation = np.logaddexp(0, x) - np.logaddexp(0, t) - np.logaddexp(0, tau)
        return modulation - alpha * np.logaddexp(0, -x) - beta * np.logaddexp(0, x)

    top = max(log_weight(t) for t in np.linspace(-60, 60, 4801))
    return lambda t: np.exp(log_weight(t) - top)


@pytest.mark.parametrize(("alpha", "beta", "tau"), RULES)
def test_shares_are_integrals(alpha, beta, tau):
    weight, mass = printed(alpha, beta, tau), ThresholdMass(alpha, beta, tau)
    middle = mass.mode()
    cuts = sorted({middle + step for step in (-900, -100, -20, -5, -1, -0.2, 0, 0.2, 1, 5, 20, 100, 900)} | {0.0, -tau})
    partitions = [integrate.quad(weight, low, high, epsabs=1e-13, limit=200)[0] for low, high in pairwise(cuts)]
    total = sum(partitions)
    for i, t in enumerate(cuts[1:], start=1):
        assert mass.below(t) == pytest.approx(sum(partitions[:i]) / total, rel=1e-7, abs=1e-13)


def test_closed_forms():
    """With tau = 0 it is the beta distribution in log odds."""
    for g in (0.05, 0.7, 1.0, 2.0, 100.0):
        mass = ThresholdMass(g, g, 0.0)
        for share in (1e-9, 0.05, 0.3, 0.5, 0.95):
            p, q = special.betaincinv(g, g, share), 1.0 - special.betaincinv(g, g, 1.0 - share)
            if min(p, q, 1 - p) > 1e-200:
                assert mass.quantile(share) == pytest.approx(math.log(p) - math.log1p(-p), rel=1e-8, abs=1e-9)
        assert mass.mode() == pytest.approx(0.0, abs=1e-12)


@given(parameters, parameters, st.floats(-34, 34), st.floats(1e-6, 1 - 1e-6))
def test_quantiles_invert_shares(alpha, beta, tau, share):
    mass = ThresholdMass(alpha, beta, tau)
    assert mass.below(mass.quantile(share)) == pytest.approx(share, rel=1e-8)
    assert mass.below(-1e5) >= 0.0
    assert mass.below(1e5) == pytest.approx(1.0)


@given(parameters, parameters, st.floats(-34, 34))
def test_the_density_rises_to_the_mode_and_falls(alpha, beta, tau):
    mass = ThresholdMass(alpha, beta, tau)
    t = np.linspace(-80, 80, 400)
    density, rising = mass.density(t), t <= mass.mode()
    np.testing.assert_allclose(density, threshold_density(t, alpha, beta, tau), rtol=1e-10, atol=1e-300)
    assert np.all(np.diff(density[rising]) >= -1e-12 * density.max())
    assert np.all(np.diff(density[~rising]) <= 1e-12 * density.max())
    peak = mass.density(np.array([mass.mode()]))[0]
    assert density.max() <= peak * (1 + 1e-9)


@given(parameters, parameters, st.floats(-34, 34))
def test_outlines_hold_the_whole_density(alpha, beta, tau):
    mass = ThresholdMass(alpha, beta, tau)
    t = mass.outline(301)
    density = mass.density(t)
    assert np.all(np.diff(t) > 0)
    assert np.trapezoid(density, t) == pytest.approx(1.0, abs=2e-3)
    assert max(density[0], density[-1]) < 2e-3 * density.max()
