"""The optimum of fusions on which other programs agree; `fusion.json` says which."""

import json
from pathlib import Path

import numpy as np
import pytest

from deciban.fusion import LinearFusion

CASE = json.loads((Path(__file__).parent / "fusion.json").read_text())["fusion"]["fus3"]
TAR, NON = np.array(CASE["train_tar_systems_by_trials"]).T, np.array(CASE["train_non_systems_by_trials"]).T


@pytest.mark.parametrize("trained", CASE["trained"], ids=lambda trained: f"prior {trained['prior']}")
def test_weights_offset_and_objective(trained):
    fusion = LinearFusion(p_target=trained["prior"]).fit(
        np.concatenate((TAR, NON)), np.arange(len(TAR) + len(NON)) < len(TAR)
    )
    np.testing.assert_allclose([*fusion.weights_, fusion.offset_], trained["w"], atol=1e-4)
    assert fusion.objective_ == pytest.approx(trained["objective_nats"], abs=1e-9)
    relative = fusion.training_.results["objective_relative_to_llr_0"]
    assert relative == pytest.approx(trained["objective_norm"], abs=1e-9)
