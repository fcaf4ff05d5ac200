"""Scores along both classes, found by passes, are those that sorting in memory finds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deciban.core.resampling.cells import _quantiles, room_for
from deciban.engines import pruning, score_places
from deciban.engines.counting import summarize_shards
from deciban.engines.score_places import CountBelow, KeepWithin, scores_along
from deciban.engines.threads import Threads
from deciban.errors import FormatError
from deciban.evaluation.summary import summarize
from support.shards import Apart, source_of


def made(seed, how):
    """Scores that are spread, tied, of very different size, or infinite."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(300, 5000))
    truth = rng.random(n) < rng.choice([0.01, 0.5, 0.9])
    truth[:2] = [True, False]
    scores = np.where(truth, 2.0, -2.0) + rng.normal(0.0, 2.0, n)
    if how == "tied":
        scores = np.round(scores)
    if how == "far":
        scores *= rng.choice([1e-30, 1.0, 1e30], n)
    if how == "infinite":
        scores[2:22] = rng.choice([np.inf, -np.inf], 20)
    return rng, scores.astype(rng.choice([np.float32, np.float64])), truth


@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from(["spread", "tied", "far", "infinite"]),
    st.sampled_from([2_000, 50_000, 10**8]),
    st.sampled_from([50, 400, 2000]),
)
def test_places_are_those_of_memory(seed, how, memory, n_units):
    """Where one class fits, where none does, and where so few scores are kept that they are looked for first."""
    rng, scores, truth = made(seed, how)
    source, engine = source_of(scores, truth, rng), Apart(2) if seed % 2 else Threads(2)
    whole = summarize(scores[truth], scores[~truth]).ranks
    room = room_for(n_units)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pruning, "_BYTES_PER_KNOWN_CELL", 1)
        ranks = summarize_shards(source, engine, max(memory, 20_000)).ranks
        patch.setattr(score_places, "_FEWEST_KEPT", 60)
        patch.setattr(score_places, "_CUTS", 1 << 12)
        found = scores_along(source, engine, memory, 0, ranks, n_units)
    classes = [whole.non, whole.tar]
    are_few = sum(len(one.scores) for one in classes) <= room
    expected = [one.scores if are_few else _quantiles(one, room // 2) for one in classes]
    np.testing.assert_array_equal(np.unique(found), np.unique(np.concatenate(expected).astype(np.float64)))


@given(st.integers(0, 2**32 - 1), st.booleans())
@settings(max_examples=10)
def test_places_of_weighted_trials_are_those_of_memory(seed, are_tied):
    rng, scores, truth = made(seed, "tied" if are_tied else "spread")
    weights = rng.integers(0, 4, len(truth))
    weights[:2] = 1
    source, engine = source_of(scores, truth, rng, weights=weights), Threads(2)
    ranks = summarize_shards(source, engine, 10**8).ranks
    given = {"tar_weights": weights[truth], "non_weights": weights[~truth]}
    whole = summarize(scores[truth], scores[~truth], **given).ranks
    classes = [whole.non, whole.tar]
    are_few = sum(len(one.scores) for one in classes) <= room_for(500)
    expected = [one.scores if are_few else _quantiles(one, room_for(500) // 2) for one in classes]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(score_places, "_FEWEST_KEPT", 300)
        patch.setattr(score_places, "_CUTS", 1 << 12)
        found = scores_along(source, engine, 10**3, 0, ranks, 500)
    np.testing.assert_array_equal(np.unique(found), np.unique(np.concatenate(expected).astype(np.float64)))


def test_nothing_is_kept_that_is_too_much():
    rng, scores, truth = made(1, "spread")
    source, engine = source_of(scores, truth, rng), Threads(1)
    whole = np.array([-np.inf]), np.array([np.inf])
    work = KeepWithin(0, np.float64, (whole, whole), 100)
    assert engine.run(work.empty(), source.pieces).gathered() is None
    assert (engine.run(work.empty(), source.pieces[:0]) + engine.run(work.empty(), source.pieces)).gathered() is None


def test_scores_below_cuts_are_counted():
    rng, scores, truth = made(2, "tied")
    cuts = np.array([-3.0, -0.5, 2.0])
    below = Apart(1).run(CountBelow(0, np.float64, (cuts, cuts[:0])), source_of(scores, truth, rng).pieces).below
    assert below[0].tolist() == [int(np.sum(scores[~truth] < one)) for one in cuts]
    assert not len(below[1])


def test_trials_that_are_not_what_they_were_are_refused():
    rng, scores, truth = made(3, "spread")
    engine, others = Threads(1), source_of(scores + 1000.0, truth, rng)
    ranks = summarize_shards(source_of(scores, truth, rng), engine, 10**8).ranks
    with pytest.raises(FormatError, match="changed while it was read"):
        scores_along(others, engine, 10**8, 0, ranks, 10**6)
