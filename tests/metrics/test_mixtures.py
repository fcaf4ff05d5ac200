"""Sums of detection costs as members of the family of proper scoring rules."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

from deciban import InputError, OperatingPoint, metrics
from support.strategies import classes, finite_classes

TAR, NON = [1.0, 9.0, 2.0, 5.0, 7.5], [0.0, 1.0, -1.0, 4.8, -3.0, -2.0]
THRESHOLDS = st.lists(st.floats(-20, 20), min_size=1, max_size=4)


def brackets(tar, non, t):
    """Cost of a unit mass at ``t``, trial by trial: the integrals of eq. 9 over an impulse."""
    miss = [1 + math.exp(-t) if s < t else 0.0 for s in tar]
    false_alarm = [1 + math.exp(t) if s >= t else 0.0 for s in non]
    return np.mean(miss) + np.mean(false_alarm)


@given(classes(), THRESHOLDS, st.data())
def test_point_masses_cost_what_equations_8_and_9_say(sets, thresholds, data):
    masses = data.draw(st.lists(st.floats(0.01, 3), min_size=len(thresholds), max_size=len(thresholds)))
    expected = sum(m * brackets(*sets, t) for m, t in zip(masses, thresholds, strict=True))
    cost = metrics.point_mass_cost(*sets, thresholds=thresholds, masses=masses)
    assert cost == pytest.approx(expected, rel=1e-12)
    assert metrics.point_mass_cost(*sets, thresholds=thresholds) == pytest.approx(
        np.mean([brackets(*sets, t) for t in thresholds]), rel=1e-12
    )


def test_c_primary_in_exact_fractions():
    """At 0.01: misses 1, 2; false alarm 4.8 with weight 99. At 0.001: misses 1, 2, 5, no false alarm."""
    expected = (Fraction(2, 5) + 99 * Fraction(1, 6) + Fraction(3, 5)) / 2
    assert metrics.c_primary(TAR, NON) == pytest.approx(float(expected), rel=1e-14)
    # The best thresholds: between 4.8 and 5, where 2 of 5 targets are missed.
    assert metrics.min_c_primary(TAR, NON) == pytest.approx(2 / 5, rel=1e-14)
    assert metrics.c_primary(TAR, NON, weights=[2, 0]) == pytest.approx(2 * (2 / 5 + 99 / 6), rel=1e-14)


def test_c_primary_is_equation_17():
    thetas = np.array([4.59511985, 6.90675478])
    masses = special.expit(thetas) / 2
    by_hand = sum(m * brackets(TAR, NON, t) for m, t in zip(masses, thetas, strict=True))
    assert metrics.c_primary(TAR, NON) == pytest.approx(by_hand, rel=1e-7)
    found = metrics.point_masses([OperatingPoint(0.01), 0.001])
    np.testing.assert_allclose(found, [thetas, masses], rtol=1e-8)


@given(
    classes(),
    st.lists(st.tuples(*[st.floats(0.001, 0.999), st.floats(0.1, 9), st.floats(0.1, 9)]), min_size=1, max_size=3),
)
def test_a_mixture_of_point_masses_is_the_sum_of_costs(sets, points):
    thresholds, masses = metrics.point_masses(points)
    for mixture, mean, cost in (
        (metrics.point_mass_cost, metrics.c_primary, metrics.act_dcf),
        (metrics.min_point_mass_cost, metrics.min_c_primary, metrics.min_dcf),
    ):
        total = np.mean([cost(*sets, p_target=p, c_miss=c_miss, c_fa=c_fa) for p, c_miss, c_fa in points])
        assert mean(*sets, operating_points=points) == pytest.approx(total, rel=1e-9)
        assert mixture(*sets, thresholds=thresholds, masses=masses) == pytest.approx(total, rel=1e-9)


@given(classes(), THRESHOLDS)
def test_the_minimum_is_the_cost_after_pav(sets, thresholds):
    blocks = metrics.pav(*sets)
    recalibrated = np.repeat(blocks.llr, blocks.n_tar), np.repeat(blocks.llr, blocks.n_non)
    least = metrics.min_point_mass_cost(*sets, thresholds=thresholds)
    assert metrics.point_mass_cost(*recalibrated, thresholds=thresholds) == pytest.approx(least, rel=1e-9)
    assert least <= metrics.point_mass_cost(*sets, thresholds=thresholds) * (1 + 1e-12)


@pytest.mark.parametrize(("alpha", "beta"), [(1, 1), (2, 2), (2, 1), (0.7, 1.6)])
@pytest.mark.parametrize("tau", [0.0, -4.0, 2.0])
@given(sets=finite_classes)
def test_a_fine_grid_is_the_member_of_the_beta_family(alpha, beta, tau, sets):
    """Eqs. 6, 7 and 11 with the integral of eq. 2 over the real line, as a sum: ``w_pi(t) dt`` as masses."""
    # Scores on a grid stand at borders of cells, so that the sum of midpoints has no error from steps.
    tar, non = (np.round(np.array(s) * 8) / 8 for s in sets)
    step = 1 / 64
    t = np.arange(-150, 150, step) + step / 2
    modulation = special.expit(tau) * special.expit(t) + special.expit(-tau) * special.expit(-t)
    log_weight = alpha * special.log_expit(t + tau) + beta * special.log_expit(-t - tau) - special.betaln(alpha, beta)
    masses = np.exp(log_weight) * modulation * step
    expected = metrics.scoring_rule_cost(tar, non, alpha=alpha, beta=beta, prior_log_odds=tau)
    assert metrics.point_mass_cost(tar, non, thresholds=t, masses=masses) == pytest.approx(
        expected, rel=1e-4, abs=1e-12
    )
    # The integral of w_pi is below 1: that is the Z of eq. 10.
    density = metrics.threshold_weighting(t, alpha=alpha, beta=beta, prior_log_odds=tau)
    np.testing.assert_allclose(density, masses / step / masses.sum(), rtol=1e-5)


def test_a_threshold_is_accepted():
    assert metrics.point_mass_cost([1.0], [0.0], thresholds=[1.0]) == 0.0
    assert metrics.point_mass_cost([1.0], [1.0], thresholds=[1.0]) == pytest.approx(1 + math.e)


def test_extreme_thresholds():
    cost = metrics.point_mass_cost([0.0], [1e4], thresholds=[5e3, 0.0], masses=[1e-300, 1.0])
    assert cost == math.inf
    assert metrics.point_mass_cost([0.0], [1e4], thresholds=[5e3, 0.0], masses=[0, 1.0]) == 2.0
    assert metrics.point_mass_cost([1e4], [0.0], thresholds=[5e3, -5e3], masses=[1, 0]) == 0.0
    assert metrics.min_point_mass_cost([0.0], [1.0], thresholds=[1e300, -1e300]) == 1.0
    assert metrics.c_primary([0.0], [0.0], operating_points=[1e-300, 0.5]) == 1.0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"thresholds": []}, r"thresholds: expected a vector of at least one, got shape \(0,\)"),
        ({"thresholds": 1.0}, r"shape \(\)"),
        (
            {"thresholds": [0.0, math.inf]},
            "thresholds: values must be finite, but 1 of 2 values are not, the first at index 1",
        ),
        ({"thresholds": [0.0, 1.0], "masses": [1.0]}, r"masses: shape \(1,\) for 2 points"),
        ({"thresholds": [0.0, 1.0], "masses": [1.0, -1.0]}, "masses: from -1 to"),
        ({"thresholds": [0.0, 1.0], "masses": [0, 0]}, "not all 0"),
        ({"thresholds": [0.0], "masses": [math.nan]}, "masses: values must be finite"),
    ],
)
@pytest.mark.parametrize("cost", [metrics.point_mass_cost, metrics.min_point_mass_cost])
def test_what_is_no_mixture_is_refused(cost, options, message):
    with pytest.raises(InputError, match=message):
        cost(TAR, NON, **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"operating_points": []}, "operating_points: empty"),
        ({"operating_points": [OperatingPoint(0.5, 0, 1)]}, "has a cost of 0"),
        ({"operating_points": ["0.5"]}, "expected p_target or"),
        ({"weights": [1.0]}, r"weights: shape \(1,\) for 2 points"),
    ],
)
@pytest.mark.parametrize("cost", [metrics.c_primary, metrics.min_c_primary])
def test_what_is_no_operating_point_is_refused(cost, options, message):
    with pytest.raises(InputError, match=message):
        cost(TAR, NON, **options)
