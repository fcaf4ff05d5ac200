"""Empirical bounds of llrs in batches: those of memory, for any pieces."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deciban.calibration import AffineCalibrator, Chain, ElubCalibrator, nonparametric
from deciban.engines import Threads
from deciban.errors import DecibanWarning
from support.array_sources import Apart, source_of

MEMORY = 1 << 28


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    n=st.sampled_from([2, 5, 40, 400]),
    scale=st.sampled_from([1e-4, 0.3, 1.0, 4.0, 30.0]),
    digits=st.sampled_from([0, 1, 6]),
    kind=st.sampled_from(["plain", "weighted", "infinite", "weighted and infinite"]),
    amount=st.sampled_from([1.0, 3.5]),
)
def test_bounds_are_those_of_memory(seed, n, scale, digits, kind, amount):
    rng = np.random.default_rng(seed)
    truth = np.arange(n) % 2 == 0
    llr = (scale * (np.where(truth, 1.5, -1.5) + rng.normal(size=n))).round(digits)
    if "infinite" in kind:
        llr[rng.random(n) < 0.2] = np.inf
        llr[rng.random(n) < 0.2] = -np.inf
    weight = None if "weighted" not in kind else np.append([1, 1], rng.integers(0, 4, n - 2))
    model = ElubCalibrator(n_misleading=amount)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DecibanWarning)
        here = ElubCalibrator(n_misleading=amount).fit(llr, truth, sample_weight=weight)
        for engine in (Threads(2), Apart()):
            there = model.fit_source(source_of(llr, truth, rng, weights=weight), engine, MEMORY)
            assert (there.low_, there.high_) == (here.low_, here.high_)
            assert there.training_.results["status"] == here.training_.results["status"]


def test_a_chain_ends_with_bounds_of_what_it_makes():
    rng = np.random.default_rng(1)
    truth = np.arange(5000) % 5 == 0
    scores = np.where(truth, 2.0, -1.0) + rng.normal(size=5000)
    here = Chain(AffineCalibrator(), ElubCalibrator()).fit(scores, truth)
    there = Chain(AffineCalibrator(), ElubCalibrator()).fit_source(source_of(scores, truth, rng), Threads(), MEMORY)
    assert there.steps[1].low_ == pytest.approx(here.steps[1].low_, rel=1e-9)
    assert there.steps[1].high_ == pytest.approx(here.steps[1].high_, rel=1e-9)


def test_bounds_far_from_0_and_more_llrs_at_one_place_than_are_looked_at_together(monkeypatch):
    monkeypatch.setattr(nonparametric, "_AT_ONCE", 7)
    rng = np.random.default_rng(2)
    truth = np.arange(4000) % 2 == 0
    for scale, digits in ((1e-5, 12), (3.0, 1)):
        llr = (scale * (np.where(truth, 1.5, -1.5) + rng.normal(size=4000))).round(digits)
        found = ElubCalibrator().fit(llr, truth)
        with monkeypatch.context() as larger:
            larger.setattr(nonparametric, "_AT_ONCE", 1 << 20)
            whole = ElubCalibrator().fit(llr, truth)
        assert (found.low_, found.high_) == (whole.low_, whole.high_)
