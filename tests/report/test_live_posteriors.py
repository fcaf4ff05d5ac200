"""What charts of reliability get beside PAV: histogram, prior and band of the evaluation."""

import numpy as np
import pytest

from deciban.evaluation import TwoClassMetrics, evaluate
from deciban.evaluation.bands import consistency_of
from deciban.report.live import posterior_data


@pytest.fixture(scope="module")
def one():
    rng = np.random.default_rng(4)
    return evaluate(
        rng.normal(1, 1.5, 200), rng.normal(-1, 1.5, 900), operating_points=TwoClassMetrics(posteriors_at=0.2)
    )


def test_shares_are_those_of_the_picture(one):
    found, curve = posterior_data(one, has_band=True), one.curves.reliability
    assert found["prior"] == 0.2
    assert found["happened"] == pytest.approx(curve.happened.tolist(), rel=1e-3)
    assert found["failed"] == pytest.approx(curve.failed.tolist(), rel=1e-3)
    assert sum(found["happened"]) == pytest.approx(0.2, rel=1e-2)
    assert sum(found["failed"]) == pytest.approx(0.8, rel=1e-2)


def test_the_band_is_that_by_resampling(one):
    found, band = posterior_data(one, has_band=True)["band"], consistency_of(one)
    assert found["noun"] == "trial"
    for name, own in (("x", band.posterior), ("low", band.low), ("high", band.high)):
        assert found[name] == pytest.approx(own.tolist(), rel=1e-3)
    assert posterior_data(one, has_band=False)["band"] is None


def test_weighted_trials_have_none():
    weighted = evaluate([1.0, 2.0], [0.0, -1.0], tar_weights=[1.5, 1.0], non_weights=[1.0, 0.5])
    assert posterior_data(weighted, has_band=True)["band"] is None
