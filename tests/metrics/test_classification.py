"""Metrics of classifiers against scikit-learn and against sums over bins."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, logit
from sklearn.metrics import (
    average_precision_score,
    balanced_accuracy_score,
    brier_score_loss,
    f1_score,
    log_loss,
    matthews_corrcoef,
    precision_recall_curve,
)

from deciban import metrics
from deciban.errors import InputError

SCORES = st.lists(st.integers(-5, 5).map(lambda x: x / 2 + 0.3), min_size=1, max_size=15)


def labelled(tar, non):
    return np.repeat([1, 0], [len(tar), len(non)]), np.array([*tar, *non])


@given(tar=SCORES, non=SCORES, at=st.integers(-4, 4).map(float))
def test_values_are_those_of_scikit_learn(tar, non, at):
    label, score = labelled(tar, non)
    assert metrics.average_precision(tar, non) == pytest.approx(average_precision_score(label, score), abs=1e-12)
    assert metrics.f1_at(tar, non, at) == pytest.approx(f1_score(label, score >= at, zero_division=0.0), abs=1e-12)
    assert metrics.matthews_at(tar, non, at) == pytest.approx(matthews_corrcoef(label, score >= at), abs=1e-12)

    balanced = metrics.balanced_accuracy_at(tar, non, at)
    assert balanced == pytest.approx(balanced_accuracy_score(label, score >= at), abs=1e-12)
    assert metrics.youden_at(tar, non, at) == pytest.approx(2 * balanced - 1, abs=1e-12)
    assert balanced == pytest.approx(1 - metrics.hter(tar, non, threshold=at), abs=1e-12)


@given(tar=SCORES, non=SCORES)
def test_curve_and_best_thresholds_are_those_of_all_thresholds(tar, non):
    label, score = labelled(tar, non)
    found = metrics.precision_recall(tar, non)
    precision, recall, threshold = precision_recall_curve(label, score)
    np.testing.assert_allclose(found.threshold, threshold[::-1], rtol=0, atol=0)
    np.testing.assert_allclose(found.precision, precision[:-1][::-1], rtol=1e-14)
    np.testing.assert_allclose(found.recall, recall[:-1][::-1], rtol=1e-14)
    shares = [(score >= t).mean() for t in found.threshold]
    np.testing.assert_allclose(found.accepted, shares, rtol=1e-14)
    np.testing.assert_allclose(found.lift, found.precision / label.mean(), rtol=1e-12, atol=1e-15)
    for name in ("f1", "matthews", "youden"):
        at = [getattr(metrics, f"{name}_at")(tar, non, t) for t in found.threshold]
        best = metrics.best_decision(tar, non, name)
        assert best.value == pytest.approx(max(at), abs=1e-12)
        assert getattr(metrics, f"{name}_at")(tar, non, best.threshold) == pytest.approx(best.value, abs=1e-12)


def test_rounding_does_not_decide_between_equally_good_thresholds():
    tar = [-1.41663726, 0.99109173, 2.31294987, -1.57672293, 1.79024412, 1.85972739]
    best = metrics.best_decision(tar, [0.39208545, -3.36823593, -2.32340514], "youden")
    assert (round(best.value, 12), best.threshold) == (round(2 / 3, 12), 0.99109173)


@given(tar=SCORES, non=SCORES)
def test_log_loss_and_brier_at_the_share_of_targets_are_those_of_scikit_learn(tar, non):
    """To the last digits: the posterior at the share of targets in the data is the probability."""
    label, score = labelled(tar, non)
    share = len(tar) / len(label)
    chance = expit(score + logit(share))
    assert metrics.cross_entropy(tar, non, p_target=share) == pytest.approx(log_loss(label, chance), rel=1e-13)
    assert metrics.brier(tar, non, p_target=share) == pytest.approx(brier_score_loss(label, chance), rel=1e-13)


@pytest.mark.parametrize("scale", [0.3, 1.0, 4.0])
def test_smooth_errors_are_those_of_the_definition(scale):
    """An independent integral over [0, 1] with images of the kernel beyond both ends."""
    rng = np.random.default_rng(5)
    tar, non = scale * rng.normal(1, 1.4, 60), scale * rng.normal(-1, 1.4, 90)
    width = metrics.smooth_ece(tar, non, prior=0.3)
    chance = expit(np.append(tar, non) + logit(0.3))
    weight = np.append(np.full(60, 0.3 / 60), np.full(90, 0.7 / 90))
    residual = weight * (np.arange(150) < 60) - weight * chance
    at = (np.arange(4000) + 0.5) / 4000
    images = [at + 2 * k for k in range(-3, 4)] + [2 * k - at for k in range(-3, 4)]
    kernel = sum(np.exp(-0.5 * ((one[:, None] - chance) / width) ** 2) for one in images)
    density = kernel @ residual / (width * math.sqrt(2 * math.pi))
    assert np.abs(density).mean() == pytest.approx(width, rel=1e-4)


def test_smooth_errors_are_0_without_evidence_and_large_if_wrong():
    assert metrics.smooth_ece([0.0], [0.0], prior=0.5) == pytest.approx(0.0, abs=1e-9)
    assert metrics.smooth_ece([-30.0], [30.0], prior=0.5) > 0.4
    rng = np.random.default_rng(2)
    tar, non = rng.normal(2, 2, 100_000), rng.normal(-2, 2, 100_000)
    assert metrics.smooth_ece(tar, non, prior=0.5) < 0.01


@given(tar=SCORES, non=SCORES)
def test_whole_weights_count_like_copies(tar, non):
    twice = [1 + k % 3 for k in range(len(non))]
    copies = np.repeat(non, twice)
    for name in ("average_precision", "ece", "mce", "smooth_ece"):
        how = {"prior": 0.3, **({} if name == "smooth_ece" else {"bins": 4})} if name != "average_precision" else {}
        metric = getattr(metrics, name)
        assert metric(tar, non, non_weights=twice, **how) == pytest.approx(metric(tar, copies, **how), abs=1e-12)
    for metric in (metrics.f1_at, metrics.matthews_at, metrics.youden_at, metrics.balanced_accuracy_at):
        assert metric(tar, non, 0.5, non_weights=twice) == pytest.approx(metric(tar, copies, 0.5), abs=1e-12)


@given(tar=SCORES, non=SCORES, prior=st.floats(0.05, 0.95), bins=st.integers(1, 7))
def test_calibration_errors_are_differences_of_bins(tar, non, prior, bins):
    rows = [(1 / (1 + math.exp(-x) * (1 - prior) / prior), prior / len(tar), True) for x in tar]
    rows += [(1 / (1 + math.exp(-x) * (1 - prior) / prior), (1 - prior) / len(non), False) for x in non]
    found = {}
    for q, weight, is_target in rows:
        found.setdefault(min(int(q * bins), bins - 1), []).append((q, weight, is_target))
    gaps, total = [], 0.0
    for each in found.values():
        weight = sum(w for _, w, _ in each)
        gap = abs(sum(w for _, w, is_target in each if is_target) - sum(w * q for q, w, _ in each))
        gaps.append(gap / weight)
        total += gap
    assert metrics.ece(tar, non, prior=prior, bins=bins) == pytest.approx(total, abs=1e-9)
    assert metrics.mce(tar, non, prior=prior, bins=bins) == pytest.approx(max(gaps), abs=1e-9)


@given(tar=SCORES, non=SCORES)
def test_bins_of_equal_mass_split_no_equal_scores_and_one_bin_is_one(tar, non):
    one = metrics.ece(tar, non, prior=0.5, bins=1)
    assert metrics.ece(tar, non, prior=0.5, bins=1, scheme="mass") == pytest.approx(one)
    many = metrics.ece(tar, non, prior=0.5, bins=1000, scheme="mass")
    values = sorted({*tar, *non})
    gaps = []
    for value in values:
        targets, others = tar.count(value) / len(tar) / 2, non.count(value) / len(non) / 2
        gaps.append(abs(targets - (targets + others) / (1 + math.exp(-value))))
    assert many == pytest.approx(sum(gaps), abs=1e-9)


def test_calibrated_llrs_have_small_errors_in_bins_of_equal_mass():
    rng = np.random.default_rng(2)
    tar, non = rng.normal(2, 2, 100_000), rng.normal(-2, 2, 100_000)
    assert metrics.ece(tar, non, prior=0.5, scheme="mass") < 0.01
    assert metrics.ece(3 * tar, 3 * non, prior=0.5, scheme="mass") > 0.05


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: metrics.ece([1.0], [0.0], prior=1.0), "prior|p_target"),
        (lambda: metrics.ece([1.0], [0.0], prior=0.5, bins=0), "bins: got 0"),
        (lambda: metrics.mce([1.0], [0.0], prior=0.5, scheme="size"), "scheme: got 'size'"),
        (lambda: metrics.average_precision([], [0.0]), "tar"),
        (lambda: metrics.best_decision([1.0], [0.0], "accuracy"), "metric: got 'accuracy'"),
        (lambda: metrics.f1_at([1.0], [0.0], math.nan), "threshold: got nan"),
    ],
)
def test_what_is_not_valid_is_refused(call, words):
    with pytest.raises(InputError, match=words):
        call()
