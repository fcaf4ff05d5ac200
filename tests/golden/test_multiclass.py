"""Metrics of many classes on which other programs agree; `multiclass.json` says which."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from deciban import multiclass

CASES = json.loads((Path(__file__).parent / "multiclass.json").read_text())["multiclass"]


def load(name):
    case = CASES[name]
    return np.array(case["loglik_classes_by_trials"]).T, np.array(case["label_0_based"]), case["expect"]


@pytest.mark.parametrize("name", CASES)
def test_costs(name):
    loglik, label, expect = load(name)
    assert multiclass.cllr(loglik, label) == pytest.approx(expect["cllr_bits"], abs=1e-9)
    assert multiclass.c_avg(loglik, label) == pytest.approx(expect["c_avg"], abs=1e-12)
    detectors = multiclass.detection_analysis(loglik, label)
    assert detectors.cllr.mean() == pytest.approx(expect["avg_det_cllr"], abs=1e-9)
    assert detectors.mean_cost == pytest.approx(expect["c_avg"], abs=1e-12)
    subsets = multiclass.subset_c_avg(loglik, label)
    assert subsets.of([0, 1, 2]) == pytest.approx(expect["c_avg"], abs=1e-12)


@pytest.mark.parametrize("name", CASES)
def test_calibration_analysis(name):
    loglik, label, expect = load(name)
    found, best = multiclass.calibration_analysis(loglik, label), expect["min_cllr_affine"]
    assert found.minimum == pytest.approx(best["bits"], abs=1e-9)
    assert multiclass.min_cllr(loglik, label) == pytest.approx(best["bits"], abs=1e-9)
    assert found.scale == pytest.approx(best["scale"], abs=1e-4)
    np.testing.assert_allclose(found.offset, best["offsets_zero_mean"], atol=1e-4)


def test_calibrated_scores_and_other_priors():
    loglik, label, expect = load("mc3_raw")
    found = multiclass.calibration_analysis(loglik, label)
    assert found.after_scale_only == pytest.approx(expect["scale_only"]["bits"], abs=1e-9)
    assert found.total / found.reference == pytest.approx(expect["cllr_norm"], abs=1e-9)
    calibrated = found.scale * loglik + found.offset
    assert multiclass.c_avg(calibrated, label) == pytest.approx(expect["c_avg_after_affine"], abs=1e-12)
    assert multiclass.recalibrated_c_avg(loglik, label) == pytest.approx(expect["c_avg_after_affine"], abs=1e-12)
    detectors = multiclass.detection_analysis(calibrated, label)
    assert detectors.cllr.mean() == pytest.approx(expect["avg_det_cllr_after_affine"], abs=1e-7)
    other = expect["affine_prior_1toN"]
    found = multiclass.calibration_analysis(loglik, label, prior=other["prior"])
    assert found.minimum * math.log(2) == pytest.approx(other["objective_nats"], abs=1e-9)
    assert found.minimum / found.reference == pytest.approx(
        other["objective_over_lnN"] * math.log2(3) / found.reference
    )
    assert found.scale == pytest.approx(other["scale"], abs=1e-4)
    np.testing.assert_allclose(found.offset, other["offsets_zero_mean"], atol=1e-4)


def test_decisions_and_derived_scores():
    loglik, label, expect = load("mc3_raw")
    counts = multiclass.confusion(loglik, label)
    assert counts.sum(axis=1).tolist() == expect["counts"]
    assert counts.sum(axis=0).tolist() == expect["decision_counts_flat_prior"]
    assert multiclass.error_rate(loglik, label) == pytest.approx(expect["error_rate_balanced_flat_prior"], abs=1e-12)
    prior = np.arange(1, 4) / 6
    skewed = expect["prior_1toN"]
    assert multiclass.error_rate(loglik, label, prior=prior) == pytest.approx(skewed["expected_error"], abs=1e-12)
    assert multiclass.confusion(loglik, label, prior=prior).sum(axis=0).tolist() == skewed["decision_counts"]
    posterior = multiclass.posterior(loglik, prior=prior)[0]
    assert posterior == pytest.approx(expect["posterior_prior_1toN_first_trial"], abs=1e-12)
    llrs = multiclass.detection_llrs(loglik)[0]
    assert llrs == pytest.approx(expect["detection_llr_first_trial"], abs=1e-12)
