"""The optimum of the prior-weighted objective on which other programs agree; `calibration.json` says which."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from deciban.calibration import AffineCalibrator

CASE = json.loads((Path(__file__).parent / "calibration.json").read_text())["calibration"]["gauss_50_200"]
SCORES = np.array(CASE["tar"] + CASE["non"])
IS_TARGET = np.arange(len(SCORES)) < len(CASE["tar"])
RULES = list(CASE["scale_offset"])


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("i", range(len(CASE["priors"])))
def test_scale_offset_and_objective(rule, i):
    alpha, beta = map(float, re.search(r"\((.*),(.*)\)", rule).groups())
    calibrator = AffineCalibrator(p_target=CASE["priors"][i], alpha=alpha, beta=beta).fit(SCORES, IS_TARGET)
    np.testing.assert_allclose([calibrator.scale_, calibrator.offset_], CASE["scale_offset"][rule][i], atol=1e-4)
    expected = CASE["objective_over_value_at_llr_0"].get(rule)
    if expected is not None:
        relative = calibrator.training_.results["objective_relative_to_llr_0"]
        assert relative == pytest.approx(expected[i], abs=1e-9)
