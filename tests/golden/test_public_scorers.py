"""Figures on which public programs agree, at several priors; `public_scorers.json` says which, and how they ran."""

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
