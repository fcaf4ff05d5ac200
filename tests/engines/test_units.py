"""Intervals and replicates of trials in batches are those of the same trials in memory."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deciban.core.resampling.linearised import ScoreBins
from deciban.core.resampling.replicates import bin_sums, poisson_weights
from deciban.engines import Threads
from deciban.engines import units as engine_units
from deciban.engines.sorting import evaluate_system
from deciban.engines.units import ReplicateTally, SourceUnits, UnitReader, look_at_units, looked_at
from deciban.evaluation import TwoClassMetrics, evaluate
from deciban.evaluation.two_class.summary import UnitTrials
from deciban.evaluation.uncertainty import Resampling
from deciban.rules import ThresholdWeights
from deciban.trials.sources import MapPass
from support.array_sources import Apart, source_of
from support.how_sure import assert_equally_sure

METRICS = TwoClassMetrics(
    [0.01, 0.5],
    eer_conventions=True,
    fnmr_at=[0.1],
    at_thresholds={"x": 0.3},
    posteriors_at=[0.2],
    rule=ThresholdWeights([0.3, 0.9]),
)


def speakers(seed, most=900):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(200, most))
    units = rng.integers(0, rng.integers(5, 40), (n, 2))
    truth = units[:, 0] == units[:, 1]
    truth[:2] = [True, False]
    scores = np.where(truth, 2.0, -2.0) + rng.normal(0.0, 2.0, n)
    return rng, scores, truth, units


def units_in(source, engine):
    """The first system of a source with its units."""
    return SourceUnits(source, engine, 0, look_at_units(source, engine)[0].units)


def some_weights(rng, n, kind):
    """None, whole ones or fractions, some of them 0, in which some partitions are whole."""
    if kind == 0:
        return None
    weights = rng.integers(0, 4, n) if kind == 1 else np.where(rng.random(n) < 0.5, 1.0, rng.random(n))
    weights[:2] = 1
    return weights


@given(st.integers(0, 2**32 - 1), st.integers(0, 2), st.booleans(), st.booleans())
@settings(max_examples=6)
def test_intervals_and_replicates_are_those_of_memory(seed, kind, are_tied, one_sided):
    """Of ties, infinite scores, weights, one unit or two, one process or several."""
    rng, scores, truth, units = speakers(seed, 2000)
    scores = np.round(scores, 1) if are_tied else scores.astype(np.float32)
    scores[2:6] = [np.inf, -np.inf, np.inf, -np.inf]
    units, weights = units[:, 0] if one_sided else units, some_weights(rng, len(scores), kind)
    source, engine = source_of(scores, truth, rng, units=units, weights=weights), Apart(2) if are_tied else Threads(2)
    asked = Resampling(bootstrap=20, seed=3)
    by_unit = units_in(source, engine), asked
    found = evaluate_system(source, engine, 10**8, metrics=METRICS, by_unit=by_unit)
    given = {} if weights is None else {"tar_weights": weights[truth], "non_weights": weights[~truth]}
    given |= {"tar_units": units[truth], "non_units": units[~truth], "bootstrap": 20, "seed": 3}
    assert_equally_sure(found, evaluate(scores[truth], scores[~truth], operating_points=METRICS, **given))


def test_where_neither_class_fits_intervals_are_those_of_memory():
    rng, scores, truth, units = speakers(8, 6000)
    truth = rng.random(len(truth)) < 0.4
    source, engine = source_of(scores, truth, rng, units=units), Threads(1)
    by_unit = units_in(source, engine), Resampling(bootstrap=10)
    found = evaluate_system(source, engine, 20_000, by_unit=by_unit)
    whole = evaluate(scores[truth], scores[~truth], tar_units=units[truth], non_units=units[~truth], bootstrap=10)
    for name in ("eer", "min_cllr", "cllr", "min_dcf", "act_dcf"):
        mine, theirs = found.interval(name), whole.interval(name)
        assert (mine.low, mine.high) == pytest.approx((theirs.low, theirs.high), rel=1e-10)


def test_counts_of_parts_add_up():
    rng, scores, truth, units = speakers(3)
    source = source_of(scores, truth, rng, units=units)
    bins = ScoreBins(np.array([-1.0, 0.0, 1.0]))
    found = units_in(source, Threads(1))
    work = MapPass(
        UnitReader(0).fields,
        partial(looked_at, UnitReader(0), found.about.keys, partial(UnitTrials.by_unit, bins=bins)),
        "",
    )
    whole = Threads(1).run(work.empty(), source.partitions)
    left, right = (
        Threads(1).run(work.empty(), source.partitions[:2]),
        Threads(1).run(work.empty(), source.partitions[2:]),
    )
    both = (left + right).result
    for one, other in ((both.tar, whole.result.tar), (both.non, whole.result.non)):
        np.testing.assert_array_equal(one.array if hasattr(one, "array") else one.counts, other.counts)
    assert (work.empty() + right).result.tar.total == right.result.tar.total


def test_partitions_of_whole_weights_do_not_round_those_of_others():
    """Weights of a piece that happen to be whole are counted as such."""
    rng, scores, truth, units = speakers(5)
    weights = np.where(np.arange(len(scores)) % 2 == 0, 1.0, 0.25)
    source = source_of(scores, truth, rng, units=units, weights=weights)
    first = source.partitions[0]
    partitions = (replace(first, weight=np.ones(first.n_rows, np.int64)), *source.partitions[1:])
    expected = sum(float(one.weight.sum()) for one in partitions)
    keys = units_in(source, Threads(1)).about.keys
    work = MapPass(
        UnitReader(0).fields,
        partial(looked_at, UnitReader(0), keys, partial(UnitTrials.by_unit, bins=ScoreBins(np.zeros(1)))),
        "",
    )
    found = Threads(1).run(work, partitions).result
    tar, non = found.tar, found.non
    assert tar.total + non.total == pytest.approx(expected, rel=1e-12)
    both = sum(float(one.weight[one.units.codes[0] != one.units.codes[1]].sum()) for one in partitions)
    assert tar.totals.sum() + non.totals.sum() == pytest.approx(expected + both, rel=1e-12)


@pytest.mark.parametrize("one_sided", [True, False])
def test_sums_of_replicates_are_those_of_all_trials_at_once(monkeypatch, one_sided):
    monkeypatch.setattr(engine_units, "_SLICE", 50)
    rng, scores, truth, units = speakers(6)
    source = source_of(scores, truth, rng, units=units[:, 0] if one_sided else units)
    bins = ScoreBins(np.array([-1.0, 0.0, 1.0]))
    found = Threads(2).run(ReplicateTally(UnitReader(0), bins, 7, range(300, 620), 100), source.partitions)
    whole = UnitTrials.merged([UnitReader(0).trials(one.read(UnitReader(0).fields)) for one in source.partitions])
    weights = poisson_weights(whole.about.keys, 7, np.arange(300, 620))
    for sums, own, of_class in zip(found.result, whole.units, whole.scores, strict=True):
        expected = bin_sums(own, bins.of(of_class), 4).of(weights)
        np.testing.assert_array_equal(sums, expected)
        assert sums.dtype == np.int64


def test_a_pass_counts_as_many_replicates_as_there_is_room_for():
    """What a replicate is does not depend on it."""
    rng, scores, truth, units = speakers(9)
    source, n_passes = source_of(scores, truth, rng, units=units), []

    class Counted(Threads):
        def run(self, work, partitions):
            n_passes.append(isinstance(work, ReplicateTally))
            return super().run(work, partitions)

    engine, values = Counted(1), []
    for memory in (10**6, 10**9):
        n_passes.clear()
        by_unit = replace(units_in(source, engine), memory=memory), Resampling(bootstrap=300, seed=1)
        found = evaluate_system(source, engine, 10**8, by_unit=by_unit)
        values.append((sum(n_passes), found.uncertainty.bootstrap.values["min_cllr"]))
    assert [n for n, _ in values] == [2, 1]
    np.testing.assert_array_equal(values[0][1], values[1][1])
