"""Trained maps of many classes on which other programs agree; `multiclass.json` says which."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize

from deciban import multiclass
from deciban.calibration import MulticlassCalibrator, MulticlassScaleCalibrator
from deciban.fusion import MulticlassFusion

CASES = json.loads((Path(__file__).parent / "multiclass.json").read_text())["multiclass"]


def load(name):
    case = CASES[name]
    return np.array(case["loglik_classes_by_trials"]).T, np.array(case["label_0_based"]), case["expect"]


def agrees(calibrator, expect):
    assert calibrator.scale_ == pytest.approx(expect["scale"], abs=1e-4)
    np.testing.assert_allclose(calibrator.offset_, expect["offsets_zero_mean"], atol=1e-4)


@pytest.mark.parametrize("name", CASES)
def test_scale_and_offsets(name):
    loglik, label, expect = load(name)
    calibrator = MulticlassCalibrator().fit(loglik, label)
    agrees(calibrator, expect["min_cllr_affine"])
    assert calibrator.objective_ / math.log(2) == pytest.approx(expect["min_cllr_affine"]["bits"], abs=1e-9)
    assert multiclass.cllr(calibrator.transform(loglik), label) == pytest.approx(
        expect["min_cllr_affine"]["bits"], abs=1e-9
    )


def test_another_prior_and_what_follows_from_the_map():
    loglik, label, expect = load("mc3_raw")
    best = expect["affine_prior_1toN"]
    calibrator = MulticlassCalibrator(prior=best["prior"]).fit(loglik, label)
    agrees(calibrator, best)
    assert calibrator.objective_ == pytest.approx(best["objective_nats"], abs=1e-9)
    assert calibrator.objective_ / math.log(3) == pytest.approx(best["objective_over_lnN"], abs=1e-9)
    mapped = MulticlassCalibrator().fit_transform(loglik, label)
    assert multiclass.c_avg(mapped, label) == pytest.approx(expect["c_avg_after_affine"], abs=1e-12)
    detectors = multiclass.detection_analysis(mapped, label)
    assert detectors.cllr.mean() == pytest.approx(expect["avg_det_cllr_after_affine"], abs=1e-9)


def test_scale_only():
    loglik, label, expect = load("mc3_raw")
    calibrator = MulticlassScaleCalibrator().fit(loglik, label)
    assert calibrator.scale_ == pytest.approx(expect["scale_only"]["scale"], abs=1e-4)
    assert calibrator.objective_ / math.log(2) == pytest.approx(expect["scale_only"]["bits"], abs=1e-9)


def test_the_printed_fusion_with_squares_is_not_the_optimum():
    """The weights that another program prints cost more than ours, which are those of a general minimizer.

    Whatever made them stop there: the objective is convex, so whoever costs less is closer to its only minimum.
    """
    loglik, label, expect = load("hand")
    systems = np.stack([loglik, loglik**2], axis=1)

    def cost(weights, offsets):
        z = np.tensordot(systems, np.asarray(weights), (1, 0)) + np.asarray(offsets)
        true = z[np.arange(len(label)), label]
        return float(np.mean(np.log(np.exp(z).sum(axis=1)) - true))  # flat prior, three trials of each class

    printed = expect["fusion_with_elementwise_square"]
    assert cost(printed["weights"], printed["offsets"]) == pytest.approx(0.56654, abs=1e-5)
    best = minimize(lambda x: cost(x[:2], [0.0, *x[2:]]), np.zeros(4), tol=1e-12)
    assert best.fun == pytest.approx(0.56356, abs=1e-5)
    fusion = MulticlassFusion().fit(systems, label)
    assert fusion.objective_ == pytest.approx(best.fun, abs=1e-12)
    assert cost(fusion.weights_, fusion.offset_) == pytest.approx(best.fun, abs=1e-12)
    np.testing.assert_allclose(fusion.weights_, best.x[:2], atol=1e-5)
