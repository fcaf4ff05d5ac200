"""Counting around cuts: every rank figure of the few entries is that of all trials."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban.core.ranks import gaps
from deciban.core.ranks.counts import CountTable, SortedClass
from deciban.core.ranks.gaps import CutCounts, unknown_class
from deciban.core.ranks.hull import Pav

SEEDS = st.integers(0, 2**32 - 1)


def trials(seed):
    """Two classes with ties and infinite scores, and their float type."""
    rng = np.random.default_rng(seed)
    kind = rng.choice([np.float32, np.float64])
    tar, non = (
        np.round(rng.normal(shift, 1.0, rng.integers(1, most)), rng.integers(0, 4)).astype(kind)
        for shift, most in ((1.0, 30), (0.0, 300))
    )
    for one in (tar, non):
        one[rng.random(len(one)) < 0.05] = rng.choice([-np.inf, np.inf, -0.0])
    return rng, tar, non


def counted(rng, tar, non):
    """All trials in random parts, around the scores of targets."""
    counts = CutCounts(tar)
    for part in np.array_split(rng.permutation(np.concatenate((tar, non))), 4):
        counts.add(np.sort(part))
    return counts


@given(SEEDS)
def test_groups_blocks_and_their_ends_are_those_of_all_trials(seed):
    rng, tar, non = trials(seed)
    own = SortedClass.of(tar)
    whole = CountTable.of(own, SortedClass.of(non))
    found = CountTable.of(own, counted(rng, tar, non).without(np.sort(tar)).as_class())
    np.testing.assert_array_equal(found.n_tar, whole.n_tar)
    np.testing.assert_array_equal(found.n_non, whole.n_non)
    np.testing.assert_array_equal(found.corner_scores(), whole.corner_scores())
    assert Pav.of(found) == Pav.of(whole)


@given(SEEDS)
def test_a_threshold_is_answered_exactly_or_told(seed):
    rng, tar, non = trials(seed)
    found = counted(rng, tar, non).without(np.sort(tar)).as_class()
    thresholds = np.sort(np.concatenate((rng.normal(0.5, 1.0, 20), tar.astype(float), [-np.inf, np.inf])))
    for threshold in thresholds:
        before = len(found.missed)
        n = found.below(np.array([threshold]))[0]
        if len(found.missed) == before:
            assert n == np.count_nonzero(non < threshold)
    missed = np.concatenate([np.zeros(0), *found.missed])
    again = CutCounts(np.concatenate((tar, missed.astype(tar.dtype))))
    again.add(np.sort(non))
    sure = again.as_class()
    np.testing.assert_array_equal(sure.below(missed), [np.count_nonzero(non < one) for one in missed])
    assert not sure.missed


@given(SEEDS)
def test_sums_add_up(seed):
    rng, tar, non = trials(seed)
    found = counted(rng, tar, non).without(np.sort(tar)).as_class()
    finite = np.isfinite(found.scores)
    assert found.total == len(non)
    expected = non[np.isfinite(non)].sum(dtype=np.float64)
    assert found.scores[finite].astype(np.float64) @ found.weights[finite] == pytest.approx(expected, abs=1e-4)


@given(SEEDS)
def test_parts_counted_apart_are_the_whole(seed):
    rng, tar, non = trials(seed)
    cuts = CutCounts(tar)
    left, right = cuts.empty(), cuts.empty()
    split = rng.integers(0, len(non) + 1)
    left.add(np.sort(non[:split]))
    right.add(np.sort(non[split:]))
    cuts.add(np.sort(non))
    both = left + right
    for name in ("at", "between", "low", "high"):
        np.testing.assert_array_equal(getattr(both, name), getattr(cuts, name))


@given(
    SEEDS,
    st.sampled_from([(1, 1, 1, 1), (2, 0, 64, 5), (4, 3, 16, 1 << 17), (4096, 1024, 1 << 18, 7)]),
    st.sampled_from([0, 1, 4, 1000]),
)
def test_they_are_what_counting_one_by_one_gives_in_any_steps(seed, steps, sparse):
    rng, tar, non = trials(seed)
    cuts, few = (tar, non) if rng.random() < 0.5 else (non, tar)
    with pytest.MonkeyPatch.context() as patch:
        for name, value in zip(
            ("_CUTS_PER_STEP", "_FEW_TRIALS", "_MOST_CUTS_PER_STEP", "_MOST_TRIALS"), steps, strict=True
        ):
            patch.setattr(gaps, name, value)
        patch.setattr(gaps, "_SPARSE", sparse)
        found = CutCounts(cuts)
        found.add(np.sort(few))
    for at, (below, cut) in enumerate(zip([None, *found.cuts[:-1]], found.cuts, strict=True)):
        inside = few[(few < cut) & (True if below is None else few > below)]
        assert found.at[at] == np.count_nonzero(few == cut)
        assert found.between[at] == len(inside)
        assert (found.low[at], found.high[at]) == (min(inside, default=np.inf), max(inside, default=-np.inf))
        assert found.sums[at] == pytest.approx(inside.sum(dtype=np.float64), abs=1e-9)


@given(SEEDS, st.sampled_from([0, 4, 1000]))
def test_scores_with_their_numbers_are_counted_like_each_trial(seed, sparse):
    _, tar, non = trials(seed)
    one, other = CutCounts(tar), CutCounts(tar)
    one.add(np.sort(non))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gaps, "_SPARSE", sparse)
        other.add(*np.unique(non, return_counts=True))
    for name in ("at", "between", "low", "high"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    np.testing.assert_allclose(one.sums, other.sums, rtol=1e-12, atol=1e-9)


def test_counts_around_other_cuts_do_not_add_up():
    with pytest.raises(ValueError, match="same cuts"):
        CutCounts(np.array([1.0])) + CutCounts(np.array([2.0]))


def test_of_an_unknown_class_every_threshold_inside_is_told():
    found = unknown_class(1000, -2.0, 3.0, np.float64)
    assert found.total == 1000
    assert found.finite_range == (-2.0, 3.0)
    np.testing.assert_array_equal(found.below(np.array([-2.0, 4.0])), [0, 1000])
    assert not found.missed
    found.below(np.array([0.0, 3.0]))
    np.testing.assert_array_equal(found.missed[0], [0.0, 3.0])
