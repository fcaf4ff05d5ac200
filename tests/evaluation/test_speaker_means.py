"""Means of speakers, counted trial by trial, and the animals that they are."""

import numpy as np
import pytest

from deciban import InputError
from deciban.evaluation import menagerie
from deciban.evaluation.breakdowns import ANIMALS


def trials(n_speakers=12, seed=2):
    rng = np.random.default_rng(seed)
    pairs = np.concatenate((np.arange(n_speakers).repeat(2).reshape(-1, 2), rng.integers(0, n_speakers, (400, 2))))
    is_target = pairs[:, 0] == pairs[:, 1]
    return rng.normal(3.0 * is_target, 1.0), is_target, pairs


def test_means_are_those_of_loops_over_trials():
    scores, is_target, pairs = trials()
    found = menagerie(scores, is_target, pairs, name="A")
    for k in range(12):
        own = [(s, t) for s, t, pair in zip(scores, is_target, pairs, strict=True) if k in pair]
        assert found.tar_mean[k] == pytest.approx(np.mean([s for s, t in own if t]))
        assert found.non_mean[k] == pytest.approx(np.mean([s for s, t in own if not t]))


def test_animals_are_in_both_outer_quarters():
    scores, is_target, pairs = trials(40, 3)
    found = menagerie(scores, is_target, pairs)
    rank = {name: np.argsort(np.argsort(mean)) for name, mean in (("tar", found.tar_mean), ("non", found.non_mean))}
    high = {name: set(np.flatnonzero(one >= 30)) for name, one in rank.items()}
    low = {name: set(np.flatnonzero(one < 10)) for name, one in rank.items()}
    expected = {
        "doves": high["tar"] & low["non"],
        "chameleons": high["tar"] & high["non"],
        "phantoms": low["tar"] & low["non"],
        "worms": low["tar"] & high["non"],
    }
    assert {animal: set(np.flatnonzero(found.members(animal))) for animal in ANIMALS} == expected


def test_speakers_without_trials_of_a_class_are_left_out():
    scores, is_target, pairs = trials()
    named = np.where(pairs == 3, np.where(is_target[:, None], 99, 3), pairs)
    found = menagerie(scores, is_target, named)
    assert (len(found.tar_mean), found.n_left_out) == (11, 2)


def test_what_has_no_mean_is_refused():
    scores, is_target, pairs = trials()
    with pytest.raises(InputError, match="1 are infinite"):
        menagerie(np.r_[np.inf, scores[1:]], is_target, pairs)
    with pytest.raises(InputError, match="quarters need 4"):
        menagerie(scores, is_target, pairs % 3)
    with pytest.raises(InputError, match="5 units for 412 trials"):
        menagerie(scores, is_target, pairs[:5])


def test_weights_are_copies_and_0_is_none():
    scores, is_target, pairs = trials()
    weight = np.random.default_rng(4).integers(0, 3, len(scores))
    weight[:24] = 1
    scores = np.where(weight == 0, np.inf, scores)
    found = menagerie(scores, is_target, pairs, sample_weight=weight)
    copies = np.repeat(np.arange(len(scores)), weight)
    other = menagerie(scores[copies], is_target[copies], pairs[copies])
    np.testing.assert_allclose([found.tar_mean, found.non_mean], [other.tar_mean, other.non_mean])
    half = menagerie(scores, is_target, pairs, sample_weight=weight / 2)
    np.testing.assert_allclose(half.non_mean, found.non_mean)
