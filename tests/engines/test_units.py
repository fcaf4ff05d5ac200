"""Intervals of trials in pieces are those of the same trials in memory."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban.core.resampling.cells import Cells
from deciban.engines.counting import summarize_shards
from deciban.engines.threads import Threads
from deciban.engines.units import UnitsInPieces, UnitTally
from deciban.errors import InputError
from deciban.evaluation import evaluate
from deciban.evaluation.two_class import evaluation_of
from deciban.evaluation.unit_trials import Resampling
from support.shards import source_of


def speakers(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(200, 900))
    units = rng.integers(0, rng.integers(5, 40), (n, 2))
    truth = units[:, 0] == units[:, 1]
    truth[:2] = [True, False]
    scores = np.where(truth, 2.0, -2.0) + rng.normal(0.0, 2.0, n)
    return rng, scores, truth, units


@given(st.integers(0, 2**32 - 1))
def test_intervals_are_those_of_memory(seed):
    rng, scores, truth, units = speakers(seed)
    source, engine = source_of(scores, truth, rng, units=units), Threads(2)
    found = UnitsInPieces.of(source, engine, 0)
    summary = replace(summarize_shards(source, engine, 10**8), units=found)
    streamed = evaluation_of(summary, resampling=Resampling())
    whole = evaluate(scores[truth], scores[~truth], tar_units=units[truth], non_units=units[~truth])
    for figure in ("eer", "cllr", "min_cllr", "act_dcf", "min_dcf", "auc", "calibration_loss"):
        one, other = streamed.interval(figure), whole.interval(figure)
        # Cells of costs are others where only the ends of gaps are known; thresholds are the same.
        assert (one.low, one.high) == pytest.approx((other.low, other.high), rel=1e-3, abs=1e-6)
        assert one.n_units == other.n_units


def test_counts_of_parts_add_up():
    rng, scores, truth, units = speakers(3)
    source = source_of(scores, truth, rng, units=units)
    cells = Cells(np.array([-1.0, 0.0, 1.0]))
    found = UnitsInPieces.of(source, Threads(1), 0)
    work = UnitTally(0, cells, found.about.keys)
    whole = Threads(1).run(work.empty(), source.pieces)
    left, right = Threads(1).run(work.empty(), source.pieces[:2]), Threads(1).run(work.empty(), source.pieces[2:])
    for one, other in zip((left + right).counts, whole.counts, strict=True):
        np.testing.assert_array_equal(one.array if hasattr(one, "array") else one.counts, other.counts)
    assert (work.empty() + right).counts[0].total == right.counts[0].total


def test_a_bootstrap_needs_the_trials_themselves():
    rng, scores, truth, units = speakers(4)
    source, engine = source_of(scores, truth, rng, units=units), Threads(1)
    summary = replace(summarize_shards(source, engine, 10**8), units=UnitsInPieces.of(source, engine, 0))
    with pytest.raises(InputError, match="bootstrap: needs all trials in memory"):
        evaluation_of(summary, resampling=Resampling(bootstrap=10))


def test_without_units_there_are_none():
    rng, scores, truth, _ = speakers(5)
    assert UnitsInPieces.of(source_of(scores, truth, rng), Threads(1), 0) is None
