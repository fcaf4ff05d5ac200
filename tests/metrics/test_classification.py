"""Metrics of classifiers against scikit-learn and against sums over bins."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, f1_score, matthews_corrcoef

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


@given(tar=SCORES, non=SCORES)
def test_whole_weights_count_like_copies(tar, non):
    twice = [1 + k % 3 for k in range(len(non))]
    copies = np.repeat(non, twice)
    for name in ("average_precision", "ece", "mce"):
        metric, how = getattr(metrics, name), {} if name == "average_precision" else {"prior": 0.3, "bins": 4}
        assert metric(tar, non, non_weights=twice, **how) == pytest.approx(metric(tar, copies, **how), abs=1e-12)
    for metric in (metrics.f1_at, metrics.matthews_at):
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
        (lambda: metrics.f1_at([1.0], [0.0], math.nan), "threshold: got nan"),
    ],
)
def test_what_is_not_valid_is_refused(call, words):
    with pytest.raises(InputError, match=words):
        call()
