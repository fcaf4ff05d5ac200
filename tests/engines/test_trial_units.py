"""Trials in batches that are units by themselves: intervals are those of a list of all units in memory."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deciban.core.resampling import linearised, unit_counts
from deciban.core.resampling.units import TrialUnits, independent
from deciban.engines import Threads
from deciban.engines import units as trial_units
from deciban.engines.sorting import evaluate_system
from deciban.engines.units import SourceUnits, survey_trials
from deciban.evaluation import TwoClassMetrics, evaluate
from deciban.evaluation.uncertainty import Resampling
from deciban.rules import ThresholdDensity
from support.array_sources import Apart, source_of
from support.how_sure import assert_equally_sure


@pytest.fixture(autouse=True, scope="module")
def exact_bins():
    """Each score has its own bin, also where units are listed, which have coarser bins otherwise."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(linearised, "_ROOM", 1 << 60)
        yield


DENSITY = ThresholdDensity([0.0, 0.6, 1.0], [0.0, 2.0, 0.0])
METRICS = TwoClassMetrics([0.01, 0.5], fnmr_at=[0.1], at_thresholds={"x": 0.3}, posteriors_at=[0.2], rule=DENSITY)


def made(seed, n, *, are_tied=False):
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < 0.1
    truth[:2] = [True, False]
    scores = np.where(truth, 2.0, -2.0) + rng.normal(0.0, 2.0, n)
    return rng, np.round(scores, 1) if are_tied else scores.astype(np.float32), truth, rng.permutation(10 * n)[:n]


def in_batches(rng, scores, truth, names, weights=None):
    return replace(source_of(scores, truth, rng, units=names, weights=weights), are_units=True)


def in_memory(scores, truth, names, weights=None, *, are_listed=True, **asked):
    """Of trials that count; where units are listed, nothing says while intervals are made that they are trials."""
    some = np.ones(len(truth), np.bool_) if weights is None else weights > 0
    tar, non = truth & some, ~truth & some
    source = "given" if are_listed else independent("trial")
    units = [TrialUnits.of(names, noun="trial", source=source).take(one).only_used() for one in (tar, non)]
    keys = np.concatenate([one.keys for one in units])
    units[0] = replace(units[0], keys=keys)
    units[1] = replace(units[1], keys=keys, codes=(units[1].codes[0] + tar.sum(),))
    given = {"tar_units": units[0], "non_units": units[1], "operating_points": METRICS, **asked}
    if weights is not None:
        given |= {"tar_weights": weights[tar], "non_weights": weights[non]}
    found = evaluate(scores[tar], scores[non], **given)
    return replace(found, uncertainty=replace(found.uncertainty, source=independent("trial")))


def units_of(source, engine, facts):
    return SourceUnits(source, engine, 0, facts.units, memory=1 << 30, facts=facts)


@given(st.integers(0, 2**32 - 1), st.integers(0, 2), st.booleans(), st.booleans())
@settings(max_examples=6)
def test_intervals_and_replicates_are_those_of_memory(seed, kind, are_tied, are_many):
    """Of few trials, whose groups are dealt out, and of more, whose keys decide."""
    n = 150 + seed % 1500
    rng, scores, truth, names = made(seed, n, are_tied=are_tied)
    scores[2:4] = [np.inf, -np.inf]
    weights = None
    if kind:
        weights = rng.integers(0, 4, n) if kind == 1 else np.where(rng.random(n) < 0.5, 1.0, rng.random(n))
        weights[:2] = 1
    with pytest.MonkeyPatch.context() as patch:
        for module in (unit_counts, trial_units):
            patch.setattr(module, "MOST_DEALT", 100 if are_many else 1 << 20)
        source, engine = in_batches(rng, scores, truth, names, weights), Apart(2) if are_tied else Threads(2)
        survey = survey_trials(source, engine)
        assert (survey.dealt() is None) == are_many
        by_unit = units_of(source, engine, survey), Resampling(bootstrap=15, seed=3)
        found = evaluate_system(source, engine, 10**8, metrics=METRICS, by_unit=by_unit)
        assert_equally_sure(found, in_memory(scores, truth, names, weights, bootstrap=15, seed=3))


def test_bands_of_more_trials_than_groups_are_those_of_memory():
    rng, scores, truth, names = made(4, 5000)
    source, engine = in_batches(rng, scores, truth, names), Threads(1)
    by_unit = units_of(source, engine, survey_trials(source, engine)), Resampling()
    found = evaluate_system(source, engine, 10**8, metrics=METRICS, by_unit=by_unit)
    assert_equally_sure(found, in_memory(scores, truth, names, are_listed=False))


def test_a_share_has_the_standard_error_of_independent_trials():
    """That of the binomial distribution, with n - 1 for n."""
    rng, scores, truth, names = made(5, 3000)
    source, engine = in_batches(rng, scores, truth, names), Threads(1)
    by_unit = units_of(source, engine, survey_trials(source, engine)), Resampling()
    point = evaluate_system(source, engine, 10**8, metrics=METRICS, by_unit=by_unit)
    rate, n_non = point.operating_points[1].p_fa, np.count_nonzero(~truth)
    expected = np.sqrt(rate * (1.0 - rate) / (n_non - 1))
    assert point.uncertainty.estimates["p_fa", 1].standard_error == pytest.approx(expected, rel=1e-9)


def test_surveys_of_parts_add_up():
    rng, scores, truth, names = made(6, 400)
    source, engine = in_batches(rng, scores, truth, names), Threads(1)
    some = (source.partitions[:2], source.partitions[2:])
    one, other = (survey_trials(replace(source, partitions=partitions), engine) for partitions in some)
    both = one + other
    assert both.n.tolist() == [np.count_nonzero(truth), np.count_nonzero(~truth)]
    np.testing.assert_array_equal(both.dealt(), np.sort(TrialUnits.of(names).keys))
    assert both.units.n_units == 400
