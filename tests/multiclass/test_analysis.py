"""One class against the rest, and pairs of classes: the two-class metrics on derived scores."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban import metrics, multiclass
from support.class_trials import class_trials, priors, random_trials


def one_detector(loglik, label, target, prior):
    """Detection scores of one target, and non-target weights that give every class its share."""
    llr = multiclass.detection_llr(loglik, target=target, prior=prior)
    counts = np.bincount(label)
    non = label != target
    return llr[label == target], llr[non], (prior / counts)[label[non]]


@pytest.mark.parametrize("p_target", [0.5, 0.1])
def test_each_target_is_a_two_class_problem(p_target):
    loglik, label = random_trials(5, 300)
    prior = np.array([0.1, 0.3, 0.2, 0.25, 0.15])
    found = multiclass.detection_analysis(loglik, label, prior=prior, p_target=p_target)
    for k in range(5):
        tar, non, weights = one_detector(loglik, label, k, prior)
        assert found.cllr[k] == pytest.approx(metrics.cllr(tar, non, non_weights=weights), rel=1e-12)
        assert found.min_cllr[k] == pytest.approx(metrics.min_cllr(tar, non, non_weights=weights), rel=1e-12)
        assert found.eer[k] == pytest.approx(metrics.eer(tar, non, non_weights=weights), rel=1e-12)
        at = {"p_target": p_target, "normalize": False, "non_weights": weights}
        assert found.cost[k] == pytest.approx(metrics.act_dcf(tar, non, **at), rel=1e-12)
        assert found.min_cost[k] == pytest.approx(metrics.min_dcf(tar, non, **at), rel=1e-12)
    assert found.target.tolist() == [0, 1, 2, 3, 4]
    assert found.calibration_loss == pytest.approx(found.cllr - found.min_cllr)
    assert found.mean_min_cost == pytest.approx(found.min_cost.mean())


def test_a_vector_of_priors_gives_curves():
    loglik, label = random_trials(4, 200)
    grid = np.array([0.9, 0.2, 0.5])
    prior = np.array([0.1, 0.0, 0.5, 0.4])
    found = multiclass.detection_analysis(loglik, label, prior=prior, p_target=grid)
    assert found.cost.shape == found.min_cost.shape == (3, 3)
    for at, p in enumerate(grid):
        alone = multiclass.detection_analysis(loglik, label, prior=prior, p_target=p)
        assert isinstance(alone.mean_cost, float)
        assert found.at(at).p_target == alone.p_target == p
        for name in ("cost", "min_cost", "cllr", "min_cllr", "eer", "mean_cost", "mean_min_cost"):
            np.testing.assert_array_equal(getattr(found.at(at), name), getattr(alone, name))
    np.testing.assert_allclose(found.mean_cost, found.cost.mean(axis=0), rtol=1e-15)
    with pytest.raises(ValueError, match=r"p_target: expected one prior or a vector of priors, got shape \(1, 3\)"):
        multiclass.detection_analysis(loglik, label, p_target=[grid])


@given(class_trials())
def test_mean_cost_is_c_avg(trials):
    found = multiclass.detection_analysis(*trials, p_target=0.3)
    assert found.mean_cost == pytest.approx(multiclass.c_avg(*trials, p_target=0.3), abs=1e-14)
    assert np.all(found.min_cost <= found.cost + 1e-15)
    assert np.all(found.min_cllr <= np.minimum(found.cllr, 1) + 1e-14)
    assert np.all(found.calibration_loss >= 0)


@given(class_trials(max_more=4), st.data())
def test_whole_weights_are_copies(trials, data):
    loglik, label = trials
    weights = np.array(data.draw(st.lists(st.integers(1, 3), min_size=len(label), max_size=len(label))))
    prior = data.draw(st.none() | priors(loglik.shape[1]))
    copies = np.repeat(loglik, weights, axis=0), np.repeat(label, weights)
    for analysis, figures in (
        (lambda *a, **kw: multiclass.detection_analysis(*a, prior=prior, **kw), ("cost", "min_cost", "cllr")),
        (multiclass.pairwise_analysis, ("cllr", "min_cllr")),
    ):
        weighted, repeated = analysis(loglik, label, sample_weight=weights), analysis(*copies)
        for figure in figures:
            np.testing.assert_allclose(getattr(weighted, figure), getattr(repeated, figure), rtol=1e-10, atol=1e-12)


def test_classes_of_prior_zero_drop_out():
    loglik, label = random_trials(4, 100)
    kept = (label == 1) | (label == 3)
    found = multiclass.detection_analysis(loglik, label, prior=[0, 0.4, 0, 0.6], classes=list("abcd"))
    few = multiclass.detection_analysis(loglik[kept][:, [1, 3]], label[kept] // 2)
    assert found.target.tolist() == [1, 3]
    assert found.classes == ("b", "d")
    np.testing.assert_array_equal(found.cllr, few.cllr)
    np.testing.assert_array_equal(found.min_cost, few.min_cost)


@given(class_trials())
def test_pairs_are_two_class_problems(trials):
    loglik, label = trials
    found = multiclass.pairwise_analysis(loglik, label)
    n = loglik.shape[1]
    for i in range(n):
        for j in range(n):
            llr = multiclass.pairwise_llr(loglik, i, j)
            tar, non = llr[label == i], llr[label == j]
            assert found.cllr[i, j] == pytest.approx(metrics.cllr(tar, non), rel=1e-14)
            assert found.min_cllr[i, j] == pytest.approx(metrics.min_cllr(tar, non), rel=1e-14)
    np.testing.assert_array_equal(found.calibration_loss, found.calibration_loss.T)


def test_the_largest_loss_is_a_finite_one():
    certain = [[0.0, -np.inf, -np.inf], [-np.inf, 0.0, -np.inf], [-np.inf, -np.inf, 0.0]]
    assert multiclass.pairwise_analysis(certain, [0, 1, 2]).largest_loss == 0.0
    wrong = multiclass.pairwise_analysis([*certain, certain[0], [0.0, 0.0, 0.0]], [0, 1, 2, 1, 2])
    assert wrong.cllr[0, 1] == np.inf
    finite = [wrong.min_cllr[i, j] for i in range(3) for j in range(3) if i != j]
    losses = [wrong.calibration_loss[i, j] for i in range(3) for j in range(3) if i != j]
    assert wrong.largest_loss == max(x for x in finite + losses if np.isfinite(x)) > 0.0


def test_scale_and_offsets_leave_pairwise_minima_alone():
    """Paper 001 section 4.2; the minima of detectors do move (eq. 19)."""
    loglik, label = random_trials(4, 300)
    moved = 0.25 * loglik + [0.5, -1.0, 0.0, 2.0]
    one, other = (multiclass.pairwise_analysis(x, label) for x in (loglik, moved))
    np.testing.assert_allclose(one.min_cllr, other.min_cllr, rtol=1e-12)
    assert not np.allclose(one.cllr, other.cllr)
    one, other = (multiclass.detection_analysis(x, label) for x in (loglik, moved))
    assert not np.allclose(one.min_cllr, other.min_cllr)


def test_two_classes_are_one_pair():
    loglik, label = random_trials(2, 100)
    llr = loglik[:, 0] - loglik[:, 1]
    tar, non = llr[label == 0], llr[label == 1]
    pairs, detectors = multiclass.pairwise_analysis(loglik, label), multiclass.detection_analysis(loglik, label)
    assert pairs.cllr[0, 1] == detectors.cllr[0] == multiclass.cllr(loglik, label) == metrics.cllr(tar, non)
    assert pairs.min_cllr[0, 1] == detectors.min_cllr[0] == metrics.min_cllr(tar, non)


def test_infinite_evidence_for_the_wrong_class_is_an_infinite_loss():
    loglik = [[0, -math.inf, 0], [-math.inf, 0, 0], [0, 0, 1]]
    pairs = multiclass.pairwise_analysis([*loglik, [1, 0, 0]], [1, 1, 2, 0])
    assert pairs.cllr[0, 1] == pairs.calibration_loss[0, 1] == math.inf
    assert pairs.min_cllr[0, 1] <= 1
    assert pairs.cllr[0, 2] < 1
