"""Trained maps of many classes on which other programs agree; `multiclass.json` says which."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from deciban import multiclass
from deciban.calibration import MulticlassCalibrator, MulticlassScaleCalibrator

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
    assert detectors.mean_cllr == pytest.approx(expect["avg_det_cllr_after_affine"], abs=1e-9)


def test_scale_only():
    loglik, label, expect = load("mc3_raw")
    calibrator = MulticlassScaleCalibrator().fit(loglik, label)
    assert calibrator.scale_ == pytest.approx(expect["scale_only"]["scale"], abs=1e-4)
    assert calibrator.objective_ / math.log(2) == pytest.approx(expect["scale_only"]["bits"], abs=1e-9)
