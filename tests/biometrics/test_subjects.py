"""Goats, lambs and wolves against loops over subjects, and error rates of transactions against counts of subjects."""

import json
import math

import jsonschema
import numpy as np
import pytest
from scipy import stats

import deciban
from deciban.biometrics import generalized_rates, zoo
from deciban.errors import InputError
from deciban.io.demos import write_field_demo

RNG = np.random.default_rng(9)
REFERENCE, PROBE = np.repeat(np.arange(12), 36), np.tile(np.repeat(np.arange(12), 3), 12)
MATED = REFERENCE == PROBE
SCORES = RNG.normal(size=len(MATED)) + 5.0 * MATED + 2.0 * (PROBE == 3) * ~MATED - 9.0 * (REFERENCE == 5) * MATED


def test_means_and_intervals_are_those_of_each_subject():
    found = zoo(SCORES, MATED, REFERENCE, PROBE)
    for one, own, other, chosen in (
        (found.goats, REFERENCE, np.arange(len(MATED)), MATED),
        (found.lambs, REFERENCE, PROBE, ~MATED),
        (found.wolves, PROBE, REFERENCE, ~MATED),
    ):
        assert one.subject.tolist() == list(range(12))
        for k, (mean, low, high) in enumerate(zip(one.mean, one.low, one.high, strict=True)):
            rows = chosen & (own == k)
            assert mean == pytest.approx(SCORES[rows].mean())
            cells = [SCORES[rows & (other == name)].mean() for name in np.unique(other[rows])]  # of equal size
            assert (low, high) == pytest.approx(stats.t.interval(0.95, len(cells) - 1, mean, stats.sem(cells)))
    assert np.flatnonzero(found.wolves.is_member).tolist() == [3]
    assert not found.lambs.is_member.any()
    order = RNG.permutation(len(MATED))
    again = zoo(SCORES[order], MATED[order], REFERENCE[order], PROBE[order])
    assert again.wolves.high == pytest.approx(found.wolves.high)
    few = zoo(SCORES[REFERENCE < 2], MATED[REFERENCE < 2], REFERENCE[REFERENCE < 2], PROBE[REFERENCE < 2])
    assert np.isnan(few.wolves.low).all()
    for wrong in (PROBE[1:], [None, *PROBE[1:]], np.where(PROBE == 1, np.nan, PROBE), [[1], *PROBE[1:], [1, 2]]):
        with pytest.raises(InputError, match="probe: shape"):
            zoo(SCORES, MATED, REFERENCE, wrong)
    for wrong in (math.inf, 1e200):
        with pytest.raises(InputError, match="scores: pass a finite score for each trial"):
            zoo(np.where(PROBE == 1, wrong, SCORES), MATED, REFERENCE, PROBE)


def test_rates_of_transactions_are_those_of_counted_subjects(tmp_path, run):
    n, k, m, j = 200, 10, 50, 5  # subjects, failures to enrol, acquisitions, failures to acquire
    found = generalized_rates(0.1, 0.2, enrol=(k, n), acquire=(j, m))
    rejected = k + (n - k) * (j + (m - j) * 0.2) / m
    assert found.gfrr == pytest.approx(rejected / n)
    assert found.gfar == pytest.approx((n - k) / n * (m - j) / m * 0.1)
    exact = stats.binomtest(k, n).proportion_ci(0.95)
    assert found.fte_interval == pytest.approx((exact.low, exact.high))
    assert generalized_rates(0.1, 0.2, enrol=(0, 5), acquire=(5, 5)).fta_interval[1] == 1.0
    with pytest.raises(InputError, match="acquire: got 3 failures in 2 attempts"):
        generalized_rates(0.1, 0.2, enrol=(0, 1), acquire=(3, 2))
    with pytest.raises(InputError, match="enrol: got 10000"):
        generalized_rates(0.1, 0.2, enrol=(10**20, 10**21), acquire=(0, 2))
    assert run("eval x.txt --failures FTE=1/2,FTE=1/3,FTA=0/1")[0] == 2
    (faces,) = write_field_demo(tmp_path, "biometrics")
    call = f"eval {faces} --preset iso19795 --no-intervals --failures FTE=10/200,FTA=5/50"
    code, out, err = run(f"{call} --json")
    assert code == 0, err
    jsonschema.Draft202012Validator(deciban.json_schemas()["eval"]).validate(made := json.loads(out))
    one = made["systems"][0]["fnmr_at_fmr"][0]
    own = generalized_rates(one["p_fa"], one["p_miss"], enrol=(10, 200), acquire=(5, 50))
    assert (one["gfar"], one["gfrr"], one["far"], one["frr"]) == (own.gfar, own.gfrr, own.far, own.frr)
    assert "FTE 5.00 % [2.4, 9], 10 of 200; FTA 10.00 % [3.3, 22], 5 of 50" in run(call)[1]
    assert "add the limits of a rate" in run(f"eval {faces} --failures FTE=1/2,FTA=1/2")[2]
    assert "failures and attempts of both kinds, for example FTE=3/150" in run(f"eval {faces} --failures FTE=1")[2]
