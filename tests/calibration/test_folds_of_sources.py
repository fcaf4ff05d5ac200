"""Folds of trials in batches: those of memory, for any pieces in any order."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deciban.calibration import folds
from deciban.calibration.folds import folded, folds_of
from deciban.engines import Threads
from deciban.errors import InputError
from deciban.trials.sources import TrialFields
from support.array_sources import Apart, source_of


def folds_in(source):
    """The first score of each trial, with its folds."""
    found = {}
    for one in source.partitions:
        chunk = one.read(TrialFields((0,), folds=True))
        first = [np.ravel(row)[0] for row in chunk.scores[0]]
        found |= {float(score): tuple(place) for score, place in zip(first, chunk.folds.tolist(), strict=True)}
    return found


def in_memory(scores, sides):
    return {float(score): tuple(place) for score, place in zip(scores, sides.T.tolist(), strict=True)}


@given(seed=st.integers(0, 2**32), n_sides=st.sampled_from([1, 2]), weights=st.booleans(), classes=st.booleans())
@settings(max_examples=15, deadline=None)
def test_groups_are_in_the_folds_of_memory(seed, n_sides, weights, classes):
    rng = np.random.default_rng(seed)
    n, n_folds = 200, int(rng.integers(2, 6))
    label = rng.integers(0, 4 if classes else 2, n)
    scores = rng.permutation(n) + 0.5
    given_scores = scores[:, None] + np.zeros(4) if classes else scores
    weight = rng.integers(0, 3, n) if weights else None
    sides = [np.array([f"g{k}" for k in rng.integers(0, 20, n)]) for _ in range(n_sides)]
    about = {"classes": ("a", "b", "c", "d")} if classes else {}
    truth = label if classes else label.astype(bool)
    source = source_of(given_scores, truth, rng, weights=weight, groups=sides, **about)
    here = folds_of(scores, label, weight, sides if n_sides == 2 else sides[0], n_folds=n_folds, seed=3)
    for engine in (Threads(), Apart()):
        assert folds_in(folded(source, engine, n_folds, 3)) == in_memory(scores, here)


@given(seed=st.integers(0, 2**32))
@settings(max_examples=5, deadline=None)
def test_fractions_of_weight_add_up_alike_in_any_partitions(seed):
    """Groups with the same weights in another order are alike, and chance alone says which of them comes first."""
    rng = np.random.default_rng(seed)
    weight, names, label = np.tile(rng.integers(1, 10, 10) / 10, 20), np.repeat(np.arange(20), 10), np.arange(200) % 2
    order, scores = rng.permutation(200), np.arange(200) + 0.5
    weight, names, label = weight[order], np.array([f"g{k:02d}" for k in names[order]]), label[order]
    (here,) = folds_of(scores, label, weight, names, n_folds=3, seed=3)
    source = source_of(scores, label.astype(bool), rng, weights=weight, groups=[names])
    assert folds_in(folded(source, Threads(), 3, 3)) == in_memory(scores, here[None])


@pytest.mark.parametrize("most", [1 << 23, 100])
@pytest.mark.parametrize("weights", [False, True])
def test_trials_by_themselves_are_in_the_folds_of_memory(most, weights, monkeypatch):
    monkeypatch.setattr(folds, "_MOST_NUMBERS", most)
    rng = np.random.default_rng(1)
    scores, truth = rng.normal(size=(400, 2)), rng.random(400) < 0.3
    weight = rng.integers(0, 3, 400) if weights else None
    source = source_of(scores.T, truth, rng, systems=("A", "B"), weights=weight, groups=())
    here = folds_of(scores, truth.astype(int), weight, None, n_folds=4, seed=7)
    for engine in (Threads(2), Apart()):
        assert folds_in(folded(source, engine, 4, 7)) == in_memory(scores[:, 0], here)


def test_very_many_trials_that_are_alike_are_held_out_together(monkeypatch):
    monkeypatch.setattr(folds, "_MOST_NUMBERS", 100)
    rng = np.random.default_rng(2)
    scores, truth = rng.integers(-20, 20, 1000) / 4, rng.random(1000) < 0.5
    scores[::7] *= -0.0  # there is one 0
    (own,) = folds_of(scores, truth.astype(int), None, None, n_folds=3, seed=0)
    for value in np.unique(scores):
        for kind in (True, False):
            assert len(np.unique(own[(scores == value) & (truth == kind)])) <= 1
    assert np.bincount(own).min() > 150


def test_what_cannot_be_dealt_is_refused_as_in_memory():
    rng = np.random.default_rng(3)
    scores, truth = rng.normal(size=6), np.arange(6) < 3
    for names, n_folds in ((None, 7), (np.array(list("aabbcc")), 4)):
        with pytest.raises(InputError) as here:
            folds_of(scores, truth.astype(int), None, names, n_folds=n_folds, seed=0)
        source = source_of(scores, truth, rng, groups=() if names is None else (names,))
        with pytest.raises(InputError) as there:
            folded(source, Threads(), n_folds, 0)
        assert str(here.value) == str(there.value)
