"""Counting around cuts with weights: every rank figure of the few entries is that of all trials."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban.core.ranks.counts import CountTable, SortedClass
from deciban.core.ranks.hull import Pav
from deciban.core.ranks.weighted_gaps import WeightedCutCounts, spliced, unknown_weighted_class

SEEDS = st.integers(0, 2**32 - 1)


def trials(seed):
    """Scores of both classes and weights of non-targets, whole numbers or not, some of them 0."""
    rng = np.random.default_rng(seed)
    kind = rng.choice([np.float32, np.float64])
    tar, non = (
        np.round(rng.normal(shift, 1.0, rng.integers(1, most)), rng.integers(0, 4)).astype(kind)
        for shift, most in ((1.0, 30), (0.0, 300))
    )
    for one in (tar, non):
        one[rng.random(len(one)) < 0.05] = rng.choice([-np.inf, np.inf, -0.0])
    weights = rng.integers(0, 5, len(non)) if rng.random() < 0.5 else rng.gamma(0.5, 2.0, len(non))
    weights[rng.random(len(non)) < 0.1] = 0
    weights[0] = 2
    return rng, tar, non, weights


def counted(rng, cuts, scores, weights, n_parts=4):
    """All trials in random parts, some counted apart and merged."""
    whole, other = WeightedCutCounts(cuts), WeightedCutCounts(cuts)
    for at, part in enumerate(np.array_split(rng.permutation(len(scores)), n_parts)):
        (other if at % 2 else whole).add(scores[part], weights[part])
    return whole + pickle.loads(pickle.dumps(other))  # noqa: S301  # our own


@given(SEEDS)
def test_groups_blocks_and_their_ends_are_those_of_all_trials(seed):
    rng, tar, non, weights = trials(seed)
    own = SortedClass.of(tar)
    whole = CountTable.of(own, SortedClass.of(non, weights))
    found = CountTable.of(own, counted(rng, tar, non, weights).as_class())
    np.testing.assert_array_equal(found.n_tar, whole.n_tar)
    np.testing.assert_array_equal(found.corner_scores(), whole.corner_scores())
    if weights.dtype == np.int64:
        np.testing.assert_array_equal(found.n_non, whole.n_non)
        assert Pav.of(found) == Pav.of(whole)
    else:
        np.testing.assert_allclose(found.n_non, whole.n_non, rtol=1e-13)


@given(SEEDS)
def test_a_threshold_is_answered_exactly_or_told(seed):
    rng, tar, non, weights = trials(seed)
    found = counted(rng, tar, non, weights).as_class()
    for threshold in np.concatenate((rng.normal(0.5, 1.0, 20), tar.astype(float), [-np.inf, np.inf])):
        before = len(found.missed)
        n = found.below(np.array([threshold]))[0]
        if len(found.missed) == before:
            assert n == pytest.approx(weights[non < threshold].sum(), rel=1e-13)
    missed = np.concatenate([np.zeros(0), *found.missed])
    again = counted(rng, np.concatenate((tar, missed.astype(tar.dtype))), non, weights).as_class()
    again.below(missed)
    assert not again.missed


@given(SEEDS)
def test_whole_weights_count_like_copies(seed):
    rng, tar, non, weights = trials(seed)
    copies = np.repeat(non, weights.astype(np.int64))
    found = counted(rng, tar, non, weights.astype(np.int64)).as_class()
    one = counted(rng, tar, copies, np.ones(len(copies), np.int64)).as_class()
    np.testing.assert_array_equal(found.scores[~found.unsure], one.scores[~one.unsure])
    np.testing.assert_allclose(found.scores, one.scores, rtol=1e-6, atol=1e-7)  # means of what lies between
    np.testing.assert_array_equal(found.weights, one.weights)
    assert found.weights.dtype == np.int64


@given(SEEDS)
def test_sums_of_scores_stay(seed):
    rng, tar, non, weights = trials(seed)
    finite = np.isfinite(non)
    found = counted(rng, tar, non[finite], weights[finite]).as_class()
    expected = float(np.sum(non[finite].astype(float) * weights[finite]))
    scale = float(np.sum(np.abs(non[finite].astype(float)) * weights[finite]))
    eps = float(np.finfo(non.dtype).eps)
    assert found.score_sums.sum() == pytest.approx(expected, abs=4 * eps * scale + 1e-300)


@given(SEEDS)
def test_trials_of_a_gap_take_its_place(seed):
    rng, tar, non, weights = trials(seed)
    low, high = np.sort(rng.choice(np.append(tar, [-np.inf, np.inf]), 2, replace=False)).astype(float)
    some = (non >= low) & (non < high)
    found = spliced(counted(rng, tar, non, weights).as_class(), low, high, SortedClass.of(non[some], weights[some]))
    for threshold in np.unique(non[some]).astype(float):
        assert found.below(np.array([threshold]))[0] == pytest.approx(weights[non < threshold].sum(), rel=1e-13)
    assert not found.missed


def test_counts_add_up_only_around_the_same_cuts():
    with pytest.raises(ValueError, match="same cuts"):
        WeightedCutCounts(np.zeros(1)) + WeightedCutCounts(np.ones(1))


def test_nothing_is_known_of_an_unknown_class_but_its_ends():
    found = unknown_weighted_class(0.5, -1.0, 1.0, np.float64)
    assert found.total == 0.5
    assert found.finite_range == (-1.0, 1.0)
    found.below(np.array([-1.0]))
    assert not found.missed
    found.below(np.array([0.3]))
    assert found.missed
