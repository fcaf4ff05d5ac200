"""Logits of a real image recognizer of ten classes, where they are at hand."""

import math

import numpy as np
import pytest
from scipy.special import log_softmax

from deciban import multiclass


def load(folder, name):
    label = np.load(folder / f"{name}_targets.npy")
    return np.load(folder / f"{name}_predictions.npy"), label


@pytest.fixture(scope="module")
def cifar10(real_data):
    folder = real_data / "cifar10_resnet50"
    return {name: load(folder, name) for name in ("val", "tst", "tst_p")}


@pytest.mark.parametrize("name", ["tst", "tst_p"])
def test_figures_agree_with_their_definitions(cifar10, name):
    loglik, label = cifar10[name]
    label = label.astype(int)
    mean = [np.mean(-log_softmax(loglik.astype(float), axis=1)[label == k, k]) for k in range(10)]
    assert multiclass.cllr(loglik, label) == pytest.approx(np.mean(mean) / math.log(2), rel=1e-12)
    error = [np.mean(np.argmax(loglik[label == k], axis=1) != k) for k in range(10)]
    assert multiclass.error_rate(loglik, label) == pytest.approx(np.mean(error), abs=1e-15)
    detectors = multiclass.detection_analysis(loglik, label)
    assert detectors.mean_cost == pytest.approx(multiclass.c_avg(loglik, label), abs=1e-14)
    subsets = multiclass.subset_c_avg(loglik, label)
    assert len(subsets) == 2**10 - 11
    assert subsets.value[-1] == pytest.approx(multiclass.c_avg(loglik, label), abs=1e-14)


def test_skewed_proportions_hardly_move_class_averages(cifar10):
    """`tst_p` is a part of `tst` with other proportions: metrics are class means and change by sampling only."""
    even, skewed = (multiclass.calibration_analysis(*cifar10[name]) for name in ("tst", "tst_p"))
    assert skewed.total == pytest.approx(even.total, rel=0.15)
    assert skewed.minimum == pytest.approx(even.minimum, rel=0.15)


def test_calibration_learned_on_other_images_helps(cifar10):
    learned = multiclass.calibration_analysis(*cifar10["val"])
    loglik, label = cifar10["tst"]
    before = multiclass.calibration_analysis(loglik, label)
    after = multiclass.cllr(learned.scale * loglik + learned.offset, label)
    assert before.minimum <= after < before.total
    assert after - before.minimum < 0.1 * before.loss
