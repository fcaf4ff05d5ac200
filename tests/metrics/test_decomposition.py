"""Log-loss and Brier score with their parts, against scikit-learn and the formulas of many classes."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, logit
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import brier_score_loss, log_loss

from deciban import InputError, metrics, multiclass
from support.strategies import classes, coarse, finite_classes

PRIORS = st.floats(0.01, 0.99)


def weighted(tar, non, p):
    """Labels, posteriors and weights with which every class has its prior."""
    label, score = np.repeat([1, 0], [len(tar), len(non)]), np.concatenate((tar, non))
    weight = np.where(label == 1, p / len(tar), (1 - p) / len(non))
    return label, expit(score + logit(p)), weight


@given(finite_classes, PRIORS)
def test_brier_is_that_of_scikit_learn(sets, p):
    label, posterior, weight = weighted(*sets, p)
    expected = brier_score_loss(label, posterior, sample_weight=weight)
    assert metrics.brier(*sets, p_target=p) == pytest.approx(expected, rel=1e-9, abs=1e-300)


@given(finite_classes, PRIORS)
def test_brier_is_half_of_that_of_many_classes(sets, p):
    """Which adds up over both classes."""
    tar, non = (np.array(s) for s in sets)
    llr, label = np.concatenate((tar, non)), np.repeat([0, 1], [len(tar), len(non)])
    loglik = np.stack((llr, np.zeros(len(llr))), axis=1)
    expected = multiclass.brier(loglik, label, prior=[p, 1 - p]) / 2
    assert metrics.brier(tar, non, p_target=p) == pytest.approx(expected, rel=1e-13, abs=1e-300)
    loss = multiclass.cross_entropy(loglik, label, prior=[p, 1 - p])
    assert metrics.score_parts(tar, non, rule="log", p_target=p).total == pytest.approx(loss, rel=1e-13, abs=1e-300)


@given(finite_classes, PRIORS)
def test_brier_is_a_third_of_its_rule(sets, p):
    rule = metrics.scoring_rule_cost(*sets, alpha=2, beta=2, p_target=p)
    assert 3 * metrics.brier(*sets, p_target=p) == pytest.approx(rule, rel=1e-12, abs=1e-300)


@pytest.mark.parametrize("rule", ["log", "brier"])
@given(sets=classes(coarse), p=PRIORS)
def test_parts_are_those_of_isotonic_regression(rule, sets, p):
    label, posterior, weight = weighted(*sets, p)
    score = np.concatenate(sets)
    fitted = IsotonicRegression(y_min=0, y_max=1).fit(score, label, sample_weight=weight).predict(score)
    loss = {
        "log": lambda q: log_loss(label, q, sample_weight=weight, labels=[0, 1]),
        "brier": lambda q: brier_score_loss(label, q, sample_weight=weight),
    }[rule]
    found = metrics.score_parts(*sets, rule=rule, p_target=p)
    assert found.discrimination_loss == pytest.approx(loss(np.clip(fitted, 0, 1)), rel=1e-6, abs=1e-9)
    assert found.uncertainty == pytest.approx(loss(np.full(len(label), p)), rel=1e-12)
    assert found.total == pytest.approx(loss(posterior), rel=1e-9)


@pytest.mark.parametrize("rule", ["log", "brier"])
@given(sets=finite_classes, p=PRIORS)
def test_parts_add_up(rule, sets, p):
    found = metrics.score_parts(*sets, rule=rule, p_target=p)
    parts = found.to_dict()
    assert found.calibration_loss + found.discrimination_loss == pytest.approx(found.total, rel=1e-14)
    assert found.uncertainty - found.resolution == pytest.approx(found.discrimination_loss, abs=1e-15)
    assert min(parts.values()) >= 0
    assert parts["total"] == found.total


def test_murphy_is_the_same_where_blocks_are_bins():
    """Posteriors of few values, more frequent targets the higher they are: each is a block and a bin of its own."""
    p, levels = 0.4, np.array([-1.0, 0.3, 2.0])
    tar, non = np.repeat(levels, [2, 5, 9]), np.repeat(levels, [8, 6, 1])
    posterior = expit(levels + logit(p))
    share = p * np.array([2, 5, 9]) / 16, (1 - p) * np.array([8, 6, 1]) / 15
    mass, frequency = share[0] + share[1], share[0] / (share[0] + share[1])
    found = metrics.score_parts(tar, non, rule="brier", p_target=p)
    assert found.calibration_loss == pytest.approx(mass @ (posterior - frequency) ** 2)
    assert found.resolution == pytest.approx(mass @ (frequency - p) ** 2)
    assert found.uncertainty == pytest.approx(p * (1 - p))


def test_infinite_evidence_for_the_wrong_class():
    found = metrics.score_parts([-math.inf, 2.0], [-1.0], rule="log", p_target=0.5)
    assert found.total == found.calibration_loss == math.inf
    assert math.isfinite(found.discrimination_loss)
    assert metrics.brier([-math.inf, math.inf], [-math.inf], p_target=0.5) == 0.25


def test_small_costs_keep_their_digits():
    """``1 - q`` of a posterior that is all but 1, and of a float32 that no float32 holds."""
    for dtype, llr in ((np.float64, 300.0), (np.float32, 30.0)):
        found = metrics.brier(np.array([llr], dtype), np.array([-llr], dtype), p_target=0.5)
        assert found == pytest.approx(math.exp(-2 * llr), rel=1e-12, abs=0)


def test_several_priors_keep_their_shape():
    found = metrics.brier([1.0], [0.0], prior_log_odds=[[0.0, 1.0]])
    assert found.shape == (1, 2)
    assert found[0, 0] == metrics.brier([1.0], [0.0], p_target=0.5)


@pytest.mark.parametrize(
    "how", [{"rule": "quadratic", "p_target": 0.5}, {"rule": "log"}, {"rule": "log", "p_target": 1}]
)
def test_refusals(how):
    with pytest.raises(InputError):
        metrics.score_parts([1.0], [0.0], **how)


def test_parts_keep_their_digits_at_priors_of_almost_one():
    """Of the odds e^300, targets cost e^-llr each and non-targets 300 + llr, by e^-300; what is less is rounded off."""
    tar, non = np.array([1.0, 2.0, 0.0]), np.array([0.0, -1.0, 1.5])
    found = metrics.score_parts(tar, non, rule="log", prior_log_odds=300.0)
    assert found.total * math.exp(300) == pytest.approx(np.exp(-tar).mean() + (300 + non).mean(), rel=1e-12)
    assert found.uncertainty * math.exp(300) == pytest.approx(301, rel=1e-12)
