"""Bands of detectors where units are so many that they are dealt out to groups; others are tested with intervals."""

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from deciban import evaluate_files
from deciban.evaluation.bands import Bands
from support.class_trials import random_trials


@pytest.mark.parametrize("units", ["speaker", "trials"])
def test_groups_of_units_are_those_of_memory(tmp_path, monkeypatch, units):
    monkeypatch.setattr(Bands, "MOST_UNITS", 7)
    loglik, label = random_trials(3, 300, seed=4)
    columns = dict(zip("abc", loglik.T, strict=True)) | {"class": np.array([*"abc"])[label]}
    columns["speaker"] = [f"s{k % 23}" for k in range(300)]
    pq.write_table(pa.table(columns), tmp_path / "segments.parquet", row_group_size=70)
    asked = {"units": units, "pairs": False}
    whole = evaluate_files(tmp_path / "segments.parquet", **asked).systems[0].uncertainty
    found = evaluate_files(ds.dataset(tmp_path / "segments.parquet"), **asked).systems[0].uncertainty
    assert len([name for name in whole.error_rates if name[0] == "detectors"]) == 6
    compare_rates(found, whole)


def compare_rates(found, whole):
    for name, (places, expected) in whole.error_rates.items():
        axis, rates = found.error_rates[name]
        np.testing.assert_array_equal(axis, places)
        np.testing.assert_allclose(rates.distances(0.95), expected.distances(0.95), rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize("out_of_set", [None, 0.3])
def test_kinds_of_errors_that_no_class_has_are_those_of_memory(tmp_path, out_of_set):
    label = np.arange(120) % 3
    loglik = 9.0 * np.eye(3)[label] + 0.01 * np.random.default_rng(1).normal(size=(120, 3))
    loglik[::7] -= 9.0 * np.eye(3)[label[::7]]
    columns = dict(zip("abc", loglik.T, strict=True)) | {"class": np.array([*"abc"])[label]}
    pq.write_table(pa.table(columns), tmp_path / "segments.parquet", row_group_size=50)
    asked = {"units": "trials", "pairs": False, "p_target": [0.1, 0.2], "p_out_of_set": out_of_set}
    whole = evaluate_files(tmp_path / "segments.parquet", **asked).systems[0].uncertainty
    found = evaluate_files(ds.dataset(tmp_path / "segments.parquet"), **asked).systems[0].uncertainty
    compare_rates(found, whole)
    for name in ("c_avg", "normalized", "min_c_avg", "normalized_min"):
        for key in ((name, 0), (name, 1), f"mean_{name}"):
            one, other = found.interval(key), whole.interval(key)
            assert whole.estimates[key].rates.absent[1].weight > 0.0
            assert (one.low, one.high) == pytest.approx((other.low, other.high), rel=1e-9), key
