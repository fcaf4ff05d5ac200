"""Metrics of Gaussian populations: closed forms against each other and against large samples."""

import numpy as np
import pytest

from deciban import InputError, evaluate, metrics
from deciban.metrics import GaussianScores


def test_samples_have_the_figures_of_their_population():
    scores = GaussianScores(5.0, 1.0, 2.0)
    tar, non = scores.draw(200_000, 200_000, seed=1)
    found = evaluate(tar, non, operating_points=[(0.05, 2.0, 1.0)])
    assert found.eer == pytest.approx(scores.eer(), abs=0.002)
    assert found.auc == pytest.approx(scores.auc(), abs=0.002)
    assert found.min_cllr == pytest.approx(scores.min_cllr(), abs=0.004)
    assert found.operating_points[0].min_dcf == pytest.approx(scores.min_dcf(0.05, 2.0, 1.0), abs=0.01)
    assert metrics.cllr(scores.llr(tar), scores.llr(non)) == pytest.approx(scores.min_cllr(), abs=0.004)


def test_llr_is_the_logarithm_of_the_densities():
    scores = GaussianScores(5.0, 1.0, 2.0)
    at = np.array([-3.0, 3.0, 4.5])
    log_density = [-((at - mean) ** 2) / 8.0 for mean in (5.0, 1.0)]
    np.testing.assert_allclose(scores.llr(at), log_density[0] - log_density[1], rtol=1e-12)


def test_the_best_threshold_is_where_the_llr_is_the_bayes_threshold_and_no_other_is_better():
    scores = GaussianScores(5.0, 1.0, 2.0)
    best = scores.best_threshold(0.1, 1.0, 2.0)
    assert scores.llr(best)[0] == pytest.approx(metrics.OperatingPoint(0.1, 1.0, 2.0).threshold)
    around = best + np.linspace(-1, 1, 201)
    costs = 0.1 * scores.p_miss(around) + 0.9 * 2.0 * scores.p_fa(around)
    assert costs.min() == pytest.approx(scores.min_dcf(0.1, 1.0, 2.0, normalize=False), rel=1e-9)


@pytest.mark.parametrize("eer", [0.45, 0.1, 1e-3, 1e-9])
def test_calibrated_llrs_of_an_equal_error_rate(eer):
    scores = GaussianScores.of_eer(eer)
    assert scores.eer() == pytest.approx(eer, rel=1e-9)
    np.testing.assert_allclose(scores.llr([1.5, -7.0]), [1.5, -7.0], rtol=1e-12)
    assert 0.0 < scores.min_cllr() < 1.0


@pytest.mark.parametrize(
    ("separation", "min_cllr"),
    [
        (0.01, 0.9999819665374062),
        (1.0, 0.8392527802035832),
        (5.0, 0.024820995686755935),
        (20.0, 3.4130038087835534e-23),
        (30.0, 1.654890815376012e-50),
        (1e9, 0.0),
    ],
)
def test_min_cllr_has_its_digits_however_small_it_is(separation, min_cllr):
    """The integral of the cost over targets by mpmath 1.3, with 30 digits, between points around its peak."""
    assert GaussianScores(separation, 0.0).min_cllr() == pytest.approx(min_cllr, rel=1e-12, abs=0.0)


def test_an_error_that_costs_nothing():
    scores = GaussianScores(5.0, 1.0, 2.0)
    assert scores.min_dcf(0.3, 0.0, 1.0, normalize=False) == 0.0
    with pytest.raises(InputError, match="normalize: with a cost of 0"):
        scores.min_dcf(0.3, 0.0, 1.0)


def test_hostile():
    with pytest.raises(InputError, match="mean_tar must be above"):
        GaussianScores(0.0, 1.0)
    with pytest.raises(InputError, match="sd"):
        GaussianScores(1.0, 0.0, 0.0)
    with pytest.raises(InputError, match="eer: 0.5"):
        GaussianScores.of_eer(0.5)
