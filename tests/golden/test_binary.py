"""Numbers that other programs agree on; `binary.json` says which."""

import json
from pathlib import Path

import numpy as np
import pytest

from deciban import evaluate, metrics

GOLDEN = json.loads((Path(__file__).parent / "binary.json").read_text())
CASES = GOLDEN["binary"]
FULL = [name for name, case in CASES.items() if "pav_bins" in case["expect"]]


def floats(values):
    """The file writes infinite numbers as strings."""
    return np.array([float(value) for value in np.ravel(np.array(values, dtype=object))])


@pytest.fixture(params=CASES)
def case(request):
    return load(request.param)


def load(name):
    return floats(CASES[name]["tar"]), floats(CASES[name]["non"]), CASES[name]["expect"]


def test_scalars(case):
    tar, non, expect = case
    assert metrics.eer(tar, non) == pytest.approx(expect["eer"], abs=1e-9)
    assert metrics.prbep(tar, non) == pytest.approx(expect["prbep"], abs=1e-9)
    assert metrics.cllr(tar, non) == pytest.approx(float(expect["cllr"]), abs=1e-9)
    assert metrics.min_cllr(tar, non) == pytest.approx(expect["min_cllr"], abs=1e-9)
    assert metrics.rocch(tar, non).area == pytest.approx(expect["rocch_area"], abs=1e-12)


def test_evaluation_holds_the_same_numbers(case):
    tar, non, expect = case
    result = evaluate(tar, non)
    assert (result.n_tar, result.n_non) == (len(tar), len(non))
    assert result.eer == pytest.approx(expect["eer"], abs=1e-9)
    assert result.prbep == pytest.approx(expect["prbep"], abs=1e-9)
    assert result.cllr == pytest.approx(float(expect["cllr"]), abs=1e-9)
    assert result.min_cllr == pytest.approx(expect["min_cllr"], abs=1e-9)


@pytest.mark.parametrize("name", FULL)
def test_error_rates_and_areas(name):
    tar, non, expect = load(name)
    rates = [metrics.uer(tar, non, ratio=ratio) for ratio in GOLDEN["uer_r"]]
    assert rates == pytest.approx(expect["uer"], abs=1e-9)
    assert metrics.auc(tar, non) == pytest.approx(expect["auc_mw"], abs=1e-12)
    assert metrics.roc_error_area(tar, non) == pytest.approx(1 - expect["auc_mw"], abs=1e-12)


@pytest.mark.parametrize("name", FULL)
def test_detection_costs(name):
    tar, non, expect = load(name)
    prior = np.array(GOLDEN["p_eff"])
    for normalize, suffix in ((False, ""), (True, "_norm")):
        least = metrics.min_dcf(tar, non, p_target=prior, normalize=normalize)
        assert least == pytest.approx(expect["min_dcf" + suffix], abs=1e-12)
        actual = metrics.act_dcf(tar, non, p_target=prior, normalize=normalize)
        assert actual == pytest.approx(expect["act_dcf" + suffix], abs=1e-12)
        assert metrics.bayes_error(tar, non, p_target=prior, normalize=normalize) == pytest.approx(actual, abs=0)
        loss = metrics.calibration_loss(tar, non, p_target=prior, normalize=normalize)
        expected = np.array(expect["act_dcf" + suffix]) - expect["min_dcf" + suffix]
        assert loss == pytest.approx(expected, abs=1e-12)
    points = evaluate(tar, non, operating_points=prior).operating_points
    assert [point.p_miss for point in points] == pytest.approx(expect["act_pmiss"], abs=1e-12)
    assert [point.p_fa for point in points] == pytest.approx(expect["act_pfa"], abs=1e-12)


@pytest.mark.parametrize("name", FULL)
def test_pav_blocks(name):
    tar, non, expect = load(name)
    blocks = metrics.pav(tar, non)
    counts_low_high_llr = np.array([floats(block) for block in expect["pav_bins"]]).T
    np.testing.assert_array_equal([blocks.n_tar, blocks.n_non, blocks.low, blocks.high], counts_low_high_llr[:4])
    np.testing.assert_allclose(blocks.llr, counts_low_high_llr[4], rtol=0, atol=1e-12)
    assert len(metrics.rocch(tar, non).p_fa) == expect["rocch_vertices"]


def test_costs_at_prior_log_odds():
    tar, non, expect = load("hand")
    log_odds = expect["prior_log_odds"]
    actual = metrics.act_dcf(tar, non, prior_log_odds=log_odds)
    assert actual == pytest.approx(expect["act_dcf_norm_at_log_odds"], abs=1e-12)
    least = metrics.min_dcf(tar, non, prior_log_odds=log_odds)
    assert least == pytest.approx(expect["min_dcf_norm_at_log_odds"], abs=1e-12)
