"""The best scale and offset on the same trials."""

import numpy as np
import pytest

from deciban.calibration import AffineCalibrator
from deciban.evaluation import evaluate

RNG = np.random.default_rng(8)


@pytest.mark.parametrize("n", [200, 30_000])
def test_it_is_the_map_of_logistic_calibration_at_even_odds(n):
    tar, non = 2.5 * RNG.normal(2, 2, n) + 1, 2.5 * RNG.normal(-2, 2, n) + 1
    found = evaluate(tar, non).affine
    model = AffineCalibrator().fit(np.append(tar, non), np.arange(2 * n) < n)
    assert found.scale == pytest.approx(model.scale_, rel=1e-3)
    assert found.offset == pytest.approx(model.offset_, abs=1e-3)
    after = evaluate(model.transform(tar), model.transform(non))
    assert found.cllr == pytest.approx(after.cllr, abs=2e-5)
    assert after.min_cllr <= found.cllr + 2e-5


@pytest.mark.parametrize(
    ("tar", "non"), [([2.0, 3.0], [0.0, 1.0]), ([1.0, 1.0], [1.0]), ([np.inf, 0.0], [0.0, 1.0]), ([5.0], [-5.0])]
)
def test_there_is_none_where_no_finite_scale_is_best(tar, non):
    assert evaluate(tar, non).affine is None


def test_weights_count_like_copies():
    tar, non = RNG.normal(1, 1, 40), RNG.normal(-1, 1, 50)
    copies = RNG.integers(1, 4, 40)
    weighted = evaluate(tar, non, tar_weights=copies, non_weights=np.ones(50, int)).affine
    copied = evaluate(np.repeat(tar, copies), non).affine
    assert weighted.scale == pytest.approx(copied.scale, rel=1e-9)
    assert weighted.cllr == pytest.approx(copied.cllr, rel=1e-9)
