"""Trials in batches: each system alone, steps that change or select trials, and trials in memory."""

from functools import partial

import numpy as np
import pytest

from deciban.trials.sources import LoadedPartition, TrialFields, ordered
from support.array_sources import source_of


def read(source, system=0):
    """Scores of a system, truth and weights, in the order of the weights, which differ."""
    chunks = [one.read(TrialFields((system,), truth=True, weight=True)) for one in source.partitions]
    parts = [(one.scores[0], one.truth, one.weight) for one in chunks]
    scores, truth, weight = (np.concatenate(own) for own in zip(*parts, strict=True))
    order = np.argsort(weight)
    return scores[order], truth[order], weight[order]


def positive(sign, partition, wanted):
    """The trials whose first score is positive, with their scores times a sign."""
    chunk = partition.read(wanted)
    found = chunk.take(chunk.scores[0] > 0.0)
    return type(found)(tuple(sign * one for one in found.scores), found.truth, weight=found.weight)


@pytest.fixture
def trials():
    rng = np.random.default_rng(1)
    return rng, rng.normal(size=(3, 90)), rng.random(90) < 0.4, np.arange(1.0, 91.0)


@pytest.mark.parametrize("held", [False, True])
def test_a_system_alone_has_its_own_scores(trials, held):
    rng, scores, truth, weight = trials
    source = source_of(scores, truth, rng, systems=("A", "B", "C"), weights=weight, n_partitions=1 if held else 5)
    if held:
        whole = source.partitions[0].read(TrialFields((0, 1, 2), truth=True, weight=True))
        source = source.made_of([LoadedPartition(whole, "held")])
    for at, name in enumerate("ABC"):
        alone = ordered(source, systems=[at])
        assert alone.systems == (name,)
        np.testing.assert_array_equal(read(alone), (scores[at], truth, weight))
        np.testing.assert_array_equal(read(source, at)[0], scores[at])
        again = ordered(alone, systems=[0])
        np.testing.assert_array_equal(read(again)[0], scores[at])


def test_a_step_selects_scores_truth_and_weights_together(trials):
    rng, scores, truth, weight = trials
    source = source_of(scores[0], truth, rng, weights=weight)
    kept = scores[0] > 0.0
    np.testing.assert_array_equal(
        read(source.map(partial(positive, -1.0))), (-scores[0][kept], truth[kept], weight[kept])
    )
    assert source.map(partial(positive, -1.0)).n_rows == 90, "rows that are read, of which some may be no trials"


def test_steps_of_steps_are_taken_in_their_order(trials):
    rng, scores, truth, weight = trials
    source = source_of(scores[0], truth, rng, weights=weight)
    twice = source.map(partial(positive, 2.0)).map(partial(positive, -1.0))
    kept = scores[0] > 0.0
    np.testing.assert_array_equal(read(twice)[0], -2.0 * scores[0][kept])
    assert len(read(source.map(partial(positive, -1.0)).map(partial(positive, 2.0)))[0]) == 0
