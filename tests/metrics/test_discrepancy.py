"""Fiducial calibration discrepancy: sums over trials, and limits that contain 0 for calibrated llrs."""

import json
import math

import jsonschema
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import deciban
from deciban import metrics
from deciban.errors import InputError

LLRS = st.lists(st.integers(-40, 40).map(lambda x: x / 8), min_size=1, max_size=12)
EDGES = [-3.0, -1.0, 0.0, 0.5, 2.0]


@given(tar=LLRS, non=LLRS)
def test_the_integral_over_non_targets_is_compared_with_the_share_of_targets(tar, non):
    found = metrics.calibration_discrepancy(tar, non, edges=EDGES)
    again = metrics.calibration_discrepancy(
        tar, non, edges=EDGES, tar_weights=[1] * len(tar), non_weights=[1] * len(non)
    )
    for one, low, high in zip(found, EDGES[:-1], EDGES[1:], strict=True):
        inside = [[x for x in scores if low <= x / math.log(10) < high] for scores in (tar, non)]
        share, integral = len(inside[0]) / len(tar), sum(math.exp(x) for x in inside[1]) / len(non)
        assert (one.n_tar, one.n_non) == tuple(map(len, inside))
        if share and integral:
            assert one.value == pytest.approx(math.log10(integral / share), abs=1e-9)
            assert one.low < one.value < one.high
        elif share:
            assert (one.value, one.low) == (-math.inf, -math.inf)
        elif integral:
            assert (one.value, one.high) == (math.inf, math.inf)
        else:
            assert all(map(math.isnan, (one.value, one.low, one.high)))
            assert one.confirmed == 0.0
    assert found == again


def test_limits_contain_0_for_calibrated_llrs_and_find_a_wrong_scale():
    """Gaussian llrs whose mean is half their variance are calibrated; 1 of 20 limits may miss 0."""
    covered, confirmed, edges = [], [], [-2, -1, 0, 1, 2]
    for seed in range(60):
        rng = np.random.default_rng(seed)
        tar, non = rng.normal(4.5, 3, 200), rng.normal(-4.5, 3, 600)
        found = metrics.calibration_discrepancy(tar, non, edges=edges, seed=seed)
        covered += [one.low <= 0.0 <= one.high for one in found]
        confirmed.append(any(one.confirmed for one in found))
    assert np.mean(covered) > 0.94
    assert np.mean(confirmed) < 0.1
    tar, non = rng.normal(4.5, 3, 1000), rng.normal(-4.5, 3, 1000)
    twice = metrics.calibration_discrepancy(2 * tar, 2 * non, edges=[-2, 0, 2])
    assert twice[0].high < 0.0 < twice[1].low  # both kinds of evidence are overstated
    assert max(one.confirmed for one in twice) > 0.0


def test_default_decades_leave_out_infinite_and_huge_llrs():
    found = metrics.calibration_discrepancy([math.inf, 3.0, 1e300], [-math.inf, 2.0, -1e5, -0.5])
    assert [(one.low_edge, one.high_edge, one.n_tar, one.n_non) for one in found] == [
        (-1, 0, 0, 1),
        (0, 1, 0, 1),
        (1, 2, 1, 0),
    ]
    (one,) = metrics.calibration_discrepancy([math.inf], [-math.inf])
    assert math.isnan(one.value)
    for edges in ([1.0], [0.0, 0.0], [1.0, 0.0], [[0.0, 1.0]]):
        with pytest.raises(InputError, match="edges: pass at least two borders in ascending order"):
            metrics.calibration_discrepancy([1.0], [0.0], edges=edges)


def test_forensic_validation_has_the_discrepancy_as_a_criterion(tmp_path, monkeypatch, run):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(2)
    sets = [2 * rng.normal(mean, 2, 200) for mean in (2, -2)]
    rows = [f"{llr},{word}" for word, llrs in zip(("target", "nontarget"), sets, strict=True) for llr in llrs]
    (tmp_path / "llrs.csv").write_text("\n".join(("score,label", *rows)) + "\n")
    found = metrics.calibration_discrepancy(*sets)
    code, out, _ = run("eval llrs.csv --preset forensic --json -q --no-intervals")
    jsonschema.Draft202012Validator(deciban.json_schemas()["eval"]).validate(json.loads(out))
    (tmp_path / "result.json").write_text(out)
    (system,) = json.loads(out)["systems"]
    own = [one["confirmed"] for one in system["calibration_discrepancies"]]
    assert own == pytest.approx([one.confirmed for one in found], abs=1e-9)
    (tmp_path / "method.toml").write_text(
        '[[criterion]]\ncharacteristic = "calibration"\nrequire = "calibration_discrepancy<=0"\n'
    )
    code, out, _ = run("check result.json --criteria method.toml")
    assert (code, out.splitlines()[1].split()[-1]) == (1, "fail")
    code, out, _ = run("eval llrs.csv --preset forensic -q --no-intervals")
    assert f"together: llrs: some exclude 0, by at most {max(one.confirmed for one in found):.2f}" in out


def test_only_relative_sizes_of_fractional_weights_matter():
    tar, non = np.random.default_rng(3).normal([[2.0], [-2.0]], 2.0, (2, 300))
    found = [
        metrics.calibration_discrepancy(tar, non, tar_weights=np.full(300, size), non_weights=np.full(300, size))
        for size in (0.001, 0.1, 99.5)
    ]
    for one in found:
        same = [[(x.low, x.high) for x in each] for each in (one, metrics.calibration_discrepancy(tar, non))]
        np.testing.assert_allclose(*same, rtol=0.1, atol=0.05)  # rounding leads to other draws
