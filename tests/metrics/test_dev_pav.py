"""devPAV against a fine grid."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import deciban
from deciban import metrics

LLRS = st.lists(st.floats(-9, 9).map(lambda x: round(x, 2)), min_size=1, max_size=12)


@given(tar=LLRS, non=LLRS)
def test_dev_pav_is_the_mean_distance_of_the_pav_curve(tar, non):
    """Between finite values after PAV, on straight lines between the points, in decades."""
    blocks = metrics.pav(tar, non)
    finite = np.isfinite(blocks.llr)
    x = np.stack((blocks.low[finite], blocks.high[finite]), axis=1).ravel() / np.log(10)
    found = metrics.dev_pav(tar, non)
    if not len(x):
        assert np.isnan(found)
        return
    y = np.repeat(blocks.llr[finite], 2) / np.log(10)
    grid = x[0] + (np.arange(100_000) + 0.5) / 100_000 * (x[-1] - x[0])
    distance = np.abs(np.interp(grid, x, y) - grid)
    assert found == pytest.approx(distance.mean(), abs=2e-3)
    assert metrics.dev_pav([*tar, *tar], [*non, *non]) == pytest.approx(found)
    assert metrics.dev_pav(tar, non, tar_weights=[2] * len(tar), non_weights=[3] * len(non)) == pytest.approx(found)


def test_dev_pav_is_the_number_of_lir():
    """lir 1.3.1, lir.metrics.devpav.devpav of the same llrs in common logarithms."""
    found = metrics.dev_pav(2 + 2.5 * np.sin(7 * np.arange(20)), -1.5 + 2.5 * np.sin(11 * np.arange(60)))
    assert found == pytest.approx(0.15559255384103834, rel=1e-12)


def test_dev_pav_of_infinite_evidence():
    assert metrics.dev_pav([1.0, np.inf], [np.inf, 0.0]) == np.inf
    assert deciban.evaluate([1.0, 2.0, 0.0], [0.0, -1.0, 1.5]).curves.pav.deviation > 0.0
