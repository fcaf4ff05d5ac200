"""Metrics on which public programs agree, at several priors; `public_scorers.json` says which, and how they ran."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from scipy.special import logit

from deciban import metrics, rules
from deciban.evaluation import evaluate

CASES = json.loads((Path(__file__).parent / "public_scorers.json").read_text())["cases"]
AT_PRIORS = [(case, float(p), found) for case in CASES for p, found in case["expect"]["priors"].items()]


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_cllr_its_minimum_and_the_area_are_those_of_others(case):
    tar, non, expect = case["tar"], case["non"], case["expect"]
    found = evaluate(tar, non)
    assert found.cllr == pytest.approx(expect["cllr"], rel=1e-12)
    assert found.min_cllr == pytest.approx(expect["cllr_min"], rel=1e-9)
    assert found.auc == pytest.approx(expect["auc"], rel=1e-12)
    assert found.information_at[0].delivered == pytest.approx(1.0 - expect["cllr"], abs=1e-12)


@pytest.mark.parametrize(("case", "p", "expect"), AT_PRIORS)
def test_costs_at_a_prior_are_those_of_others(case, p, expect):
    tar, non = np.array(case["tar"]), np.array(case["non"])
    nats = metrics.cross_entropy(tar, non, p_target=p)
    assert nats == pytest.approx(expect["sklearn_log_loss_nats"], rel=1e-9)
    assert nats / math.log(2) == pytest.approx(expect["lir_cllr_shifted_bits"], rel=1e-12)
    assert metrics.brier(tar, non, p_target=p) == pytest.approx(expect["sklearn_brier_score_loss"], rel=1e-12)
    told = rules.information(tar, non, p_target=p)
    assert told.entropy - told.delivered == pytest.approx(expect["lir_cllr_shifted_bits"], rel=1e-12)
    score = np.concatenate((tar, non)) >= -logit(p)
    truth = np.arange(len(score)) < len(tar)
    errors = metrics.decision_errors(score, truth)
    assert errors == pytest.approx((expect["sklearn_p_miss"], expect["sklearn_p_fa"]), rel=1e-12)


def by_name(case):
    return pytest.param(case["tar"], case["non"], case["expect"], id=case["name"])


@pytest.mark.parametrize(("tar", "non", "expect"), [by_name(case) for case in CASES])
def test_equal_error_rates_are_those_of_others_by_their_conventions(tar, non, expect):
    """SpeechBrain and torchmetrics take the mean of both rates where they differ least, at one of the thresholds.

    pyeer and audmetric follow FVC2000: of the two thresholds beside the crossing they take the one with the smaller sum
    of rates, and the mean there. None interpolates; the ROCCH, which deciban shows, may lie above or below them.
    """
    others, found = expect["eer"], metrics.eer_conventions(tar, non)
    assert found["closest_mean"] == pytest.approx(others["speechbrain"], abs=1e-7)  # they count in float32
    assert found["closest_mean"] == pytest.approx(others["torchmetrics"], abs=1e-7)
    at_all = np.array([beyond(tar, non, at) for at in np.unique(tar + non)])  # each a threshold that is accepted
    p_miss, p_fa = at_all.T
    beside = np.flatnonzero(p_miss <= p_fa)[-1], np.flatnonzero(p_miss >= p_fa)[0]
    rates = min((at_all[k] for k in beside), key=sum)
    assert rates.mean() == pytest.approx(others["pyeer"], rel=1e-12) == others["audmetric"]
    assert sorted(rates) == pytest.approx([others["pyeer_low"], others["pyeer_high"]], rel=1e-12)


def beyond(tar, non, threshold):
    """Rates of misses below a threshold, and of false alarms at it and above."""
    return np.mean(np.array(tar) < threshold), np.mean(np.array(non) >= threshold)


@pytest.mark.parametrize(("tar", "non", "expect"), [by_name(case) for case in CASES])
def test_minimum_costs_and_rates_at_rates_are_those_of_others(tar, non, expect):
    """SpeechBrain's minDCF is not divided by that without scores.

    pyeer reads the FNMR at the FMR that lies nearest, which may be above what was asked for; deciban at no more than
    that.
    """
    for point, cost in expect["speechbrain_min_dcf"].items():
        p_target, c_miss, c_fa = map(float, point.split(":"))
        costs = {"p_target": p_target, "c_miss": c_miss, "c_fa": c_fa, "normalize": False}
        assert metrics.min_dcf(tar, non, **costs) == pytest.approx(cost, abs=1e-7)
    attained = metrics.roc(tar, non).p_fa
    for fmr, fnmr in expect["pyeer_fnmr_at_fmr"].items():
        nearest = attained[np.argmin(np.abs(attained - float(fmr)))]
        assert metrics.fnmr_at_fmr(tar, non, fmr=nearest) == pytest.approx(fnmr, rel=1e-12)
        if nearest <= float(fmr):
            assert metrics.fnmr_at_fmr(tar, non, fmr=float(fmr)) == pytest.approx(fnmr, rel=1e-12)


@pytest.mark.parametrize(("tar", "non", "expect"), [by_name(case) for case in CASES])
def test_corners_of_the_roc_are_among_the_points_of_others(tar, non, expect):
    """torchmetrics keeps points on straight lines, too; both have the same area, ties counting half."""
    found = metrics.roc(tar, non)
    corners = np.round(np.column_stack((found.p_fa * len(non), found.p_miss * len(tar)))).astype(int).tolist()
    assert {tuple(one) for one in corners} <= {tuple(one) for one in expect["torchmetrics_roc"]}
    assert metrics.auc(tar, non) == pytest.approx(expect["torchmetrics_auroc"], abs=1e-7)
    p_fa, p_miss = np.array(expect["torchmetrics_roc"]).T / np.array([[len(non)], [len(tar)]])
    assert np.trapezoid(1.0 - p_miss, p_fa) == pytest.approx(found_area(found), rel=1e-12)


def found_area(roc):
    return -np.trapezoid(1.0 - roc.p_miss, roc.p_fa)  # from accepting all down
