"""Submitted decisions among many classes, C_avg after calibration, and error rates that add up to cross-entropy."""

import numpy as np
import pytest
from scipy.special import softmax

from deciban import InputError, multiclass
from deciban.multiclass import decision_c_avg, error_rate_weighting, recalibrated_c_avg
from deciban.rules import DetectionOfEach, expected_cost
from support.class_trials import random_trials


def test_bayes_decisions_cost_c_avg():
    loglik, label = random_trials(4, 80)
    weight = np.random.default_rng(1).integers(1, 4, 80)
    for p_target in (0.5, 0.1):
        accepted = multiclass.detection_llrs(loglik) >= -np.log(p_target / (1 - p_target))
        for weights in (None, weight):
            given = {"p_target": p_target, "sample_weight": weights}
            expected = multiclass.c_avg(loglik, label, **given)
            assert decision_c_avg(accepted, label, **given) == pytest.approx(expected, rel=1e-12)
        rule = expected_cost(loglik, label, rule=DetectionOfEach(p_target))
        assert rule == pytest.approx(multiclass.c_avg(loglik, label, p_target=p_target), rel=1e-12)


def test_calibration_undoes_what_a_scale_and_offsets_did_to_c_avg():
    loglik, label = random_trials(3, 200)
    spoilt = 3.0 * loglik + np.array([4.0, 0.0, -2.0])
    p = np.array([0.1, 0.5])
    found = recalibrated_c_avg(spoilt, label, p_target=p)
    np.testing.assert_allclose(found, recalibrated_c_avg(loglik, label, p_target=p), atol=0.02)
    assert found[1] < multiclass.c_avg(spoilt, label)


def test_scores_that_are_infinitely_wrong_are_left_out_by_calibration():
    """A scale of 0 takes nothing of them, and all are accepted where the prior is even."""
    wrong = [[0.0, np.inf], [np.inf, 0.0]]
    assert recalibrated_c_avg(wrong, [0, 1]) == 0.5
    assert multiclass.c_avg(wrong, [0, 1]) == 1.0


def test_weighted_error_rates_integrate_to_the_cross_entropy():
    """Thesis D.1: over a grid of log ratios of priors, for two and for three classes."""
    for n_classes, step, far in ((2, 0.01, 30.0), (3, 0.1, 22.0)):
        loglik, label = random_trials(n_classes, 12)
        axis = np.arange(-far, far + step / 2, step)
        grids = np.meshgrid(*[axis] * (n_classes - 1))
        x = np.stack([one.ravel() for one in grids] + [np.zeros(grids[0].size)], axis=1)
        prior = softmax(x, axis=1)
        errors = np.zeros(len(prior))
        for k in range(n_classes):
            own = loglik[label == k]
            for row in own:
                wrong = (row + np.log(prior)).argmax(axis=1) != k
                errors += prior[:, k] * wrong / len(own)
        found = (error_rate_weighting(prior) * errors).sum() * step ** (n_classes - 1)
        expected = multiclass.cross_entropy(loglik, label, prior=None)
        assert found == pytest.approx(expected, rel=0.02)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: decision_c_avg([[1, 0], [0, 3]], [0, 1]), r"accepted: .* got .*3\b"),
        (lambda: decision_c_avg([1, 0], [0, 1]), r"accepted: shape \(2,\)"),
        (lambda: decision_c_avg([[1, 0], [0, 1]], [0, 0]), "class"),
        (lambda: error_rate_weighting([[1.0, 0.0]]), "prior: row 0"),
    ],
)
def test_hostile(call, message):
    with pytest.raises(InputError, match=message):
        call()
