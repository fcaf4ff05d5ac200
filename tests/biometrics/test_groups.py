"""Differences between groups against formulas written out, and intervals against those of evaluations."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import deciban
from deciban.biometrics import differential
from deciban.errors import InputError
from deciban.evaluation import TwoClassMetrics

RNG = np.random.default_rng(7)
N, GROUPS = 60, np.array(["f", "m", "x"])
SUBJECT = np.arange(3 * N)
GROUP = GROUPS[SUBJECT // N]
PAIRS = np.concatenate([np.stack(np.triu_indices(N, 1), axis=1) + k * N for k in range(3)])
EFFECT = RNG.normal(0, 0.5, 3 * N)
MATED = np.repeat(SUBJECT, 5)
TAR = 2 + EFFECT[MATED] - 0.3 * (MATED // N) + RNG.normal(0, 1, len(MATED))
NON = EFFECT[PAIRS].mean(axis=1) - 1.2 + 0.2 * (PAIRS[:, 0] // N) + RNG.normal(0, 1, len(PAIRS))
TRIALS = {"tar_groups": GROUP[MATED], "non_groups": GROUP[PAIRS], "tar_units": MATED, "non_units": PAIRS}


def gini(rates):
    n, mean = len(rates), sum(rates) / len(rates)
    return n / (n - 1) * sum(abs(x - y) for x in rates for y in rates) / (2 * n * n * mean) if mean else 0.0


@given(
    tar=st.lists(st.tuples(st.integers(-3, 3), st.sampled_from("abc")), min_size=1, max_size=12),
    non=st.lists(st.tuples(st.integers(-3, 3), st.sampled_from("abc")), min_size=1, max_size=12),
    at=st.integers(-3, 3),
    alpha=st.sampled_from([0.0, 0.3, 1.0]),
)
def test_rates_ratios_and_coefficients_are_the_formulas(tar, non, at, alpha):
    tar += [(0, name) for name in "abc"]
    non += [(0, name) for name in "abc"]
    how = {"tar_groups": [g for _, g in tar], "non_groups": [g for _, g in non], "threshold": at, "alpha": alpha}
    found = differential([float(s) for s, _ in tar], [float(s) for s, _ in non], **how)
    fmr = [sum(s >= at for s, g in non if g == name) / sum(g == name for _, g in non) for name in "abc"]
    fnmr = [sum(s < at for s, g in tar if g == name) / sum(g == name for _, g in tar) for name in "abc"]
    assert (found.fmr.value.tolist(), found.fnmr.value.tolist()) == (fmr, fnmr)
    assert found.fmr_gini.estimate == pytest.approx(gini(fmr))
    assert found.garbe.estimate == pytest.approx(alpha * gini(fmr) + (1 - alpha) * gini(fnmr))
    assert found.fmr.value["abc".index(found.fmr_worst)] == max(fmr)
    for ratio, rate in zip(found.fmr_ratio, fmr, strict=True):
        if min(fmr) > 0:
            assert ratio.estimate == pytest.approx(rate / min(fmr))
        else:
            assert ratio.estimate == math.inf if rate else math.isnan(ratio.estimate)
    assert 0.0 <= found.garbe.estimate <= 1.0 + 1e-12
    assert np.isnan(found.fmr.low).all()


def test_intervals_of_rates_are_those_of_an_evaluation():
    found = differential(TAR, NON, threshold=0.8, **TRIALS)
    for k, name in enumerate(GROUPS):
        own = k == MATED // N, PAIRS[:, 0] // N == k
        metrics = TwoClassMetrics(at_thresholds={"t": 0.8})
        units = {"tar_units": MATED[own[0]], "non_units": PAIRS[own[1]]}
        one = deciban.evaluation.evaluate(TAR[own[0]], NON[own[1]], operating_points=metrics, **units)
        for rates, metric in ((found.fnmr, "at_thresholds_p_miss"), (found.fmr, "at_thresholds_p_fa")):
            interval = one.interval((metric, 0))
            assert (rates.low[k], rates.high[k]) == pytest.approx((interval.low, interval.high), rel=0.02), name


def test_intervals_surround_their_estimates():
    found = differential(TAR, NON, fmr=0.02, **TRIALS)
    assert (found.threshold <= NON).mean() <= 0.02
    for one in (*found.fmr_ratio, *found.fnmr_ratio, found.fmr_gini, found.fnmr_gini, found.garbe):
        assert one.low <= one.estimate <= one.high
    assert [one.estimate for one in found.fmr_ratio][GROUPS.tolist().index(found.fmr_reference)] == 1.0
    assert "too high by chance" in found.notes[-1]
    named = differential(TAR, NON, fmr=0.02, reference="m", **TRIALS)
    assert (named.fmr_reference, named.fnmr_reference, named.notes) == ("m", "m", ())


def test_the_derivative_of_the_gini_coefficient_is_its_slope():
    from deciban.biometrics import groups

    rates = np.array([0.1, 0.04, 0.2, 0.15])

    def coefficient(values):
        kind = object.__new__(groups._Kind)
        object.__setattr__(kind, "rates", groups.Rates(values, values, values, values, values))
        return groups._Kind.gini(kind)

    value, slopes = coefficient(rates)
    assert value == pytest.approx(gini(rates.tolist()))
    for k in range(4):
        step = np.eye(4)[k] * 1e-6
        slope = (coefficient(rates + step)[0] - coefficient(rates - step)[0]) / 2e-6
        assert slopes[k] == pytest.approx(slope, rel=1e-5)


def test_few_errors_and_few_subjects_have_no_intervals():
    found = differential(TAR, NON, threshold=4.0, **TRIALS)
    assert math.isnan(found.fmr_gini.low)
    assert any("errors (10 needed)" in note for note in found.notes)
    some = np.isin(MATED % N, range(3)), np.isin(PAIRS % N, range(3)).all(axis=1)
    how = {name: values[some[name.startswith("non")]] for name, values in TRIALS.items()}
    few = differential(TAR[some[0]], NON[some[1]], threshold=0.0, **how)
    assert any("effective subjects" in note for note in few.notes)


GIVEN = {"tar_groups": ["a", "b"], "non_groups": ["a", "b"], "threshold": 0.0}


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"tar_groups": ["a"]}, "tar_groups: shape"),
        ({"tar_groups": [1, 2]}, "names of groups"),
        ({"tar_groups": ["a", "c"]}, "group 'b' has no mated comparisons"),
        ({"tar_groups": ["a", "a"], "non_groups": ["a", "a"]}, "1 group. Differences need at least two"),
        ({"reference": "z"}, "reference: got 'z'"),
        ({"alpha": 2.0}, "alpha"),
        ({"threshold": math.nan}, "threshold: got nan"),
        ({"threshold": None, "fmr": -1.0}, "fmr"),
        ({"tar_units": ["u", "v"]}, "only one kind of comparison"),
    ],
)
def test_what_is_not_valid_is_refused(more, words):
    with pytest.raises(InputError, match=words):
        differential([1.0, -1.0], [0.5, -0.5], **{**GIVEN, **more})
