"""The count table at sizes and values where shortcuts would show."""

import math
from fractions import Fraction
from functools import reduce
from itertools import permutations, product
from operator import add
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deciban.core.ranks import counts, roc
from deciban.core.ranks.counts import CountTable, SortedClass
from support.loops import loops_of, with_and_without
from support.strategies import classes


def table(tar, non):
    return CountTable.of(SortedClass.of(np.asarray(tar, float)), SortedClass.of(np.asarray(non, float)))


def by_unique(tar, non):
    """The same table from `np.unique`: all distinct scores, then neighbours that are pure in one class joined."""
    values = np.unique(np.concatenate((tar, non)))
    rows = [(int(np.sum(tar == v)), int(np.sum(non == v))) for v in values]
    joined = []
    for n_tar, n_non in rows:
        if joined and ((n_tar == 0 == joined[-1][0]) or (n_non == 0 == joined[-1][1])):
            joined[-1] = (joined[-1][0] + n_tar, joined[-1][1] + n_non)
        else:
            joined.append((n_tar, n_non))
    return joined


@given(classes(max_size=30), st.sampled_from([1, 2, 3, 4096]))
def test_table_holds_every_distinct_score(sets, queries):
    tar, non = np.array(sets[0]), np.array(sets[1])
    before, counts._QUERIES_PER_SEARCH = counts._QUERIES_PER_SEARCH, queries
    try:
        found = table(tar, non)
    finally:
        counts._QUERIES_PER_SEARCH = before
    assert list(zip(found.n_tar.tolist(), found.n_non.tolist(), strict=True)) == by_unique(tar, non)


@with_and_without
@settings(max_examples=50)
@given(st.data())
def test_table_is_the_same_with_loops_and_without(how, data):
    few_different = st.lists(st.sampled_from([-math.inf, -1.0, -0.0, 0.0, 0.5, 1.0, 2.0, 3.0, math.inf]), min_size=1)
    kind = data.draw(st.sampled_from([np.float32, np.float64]))
    tar, non = (np.sort(np.array(data.draw(few_different), kind)) for _ in range(2))
    loops = loops_of(how)
    with patch.multiple(counts, ready=lambda: loops, FEW=0):
        found = CountTable.of(SortedClass(tar, None, None), SortedClass(non, None, None))
    assert list(zip(found.n_tar.tolist(), found.n_non.tolist(), strict=True)) == by_unique(tar, non)


def test_auc_of_huge_counts_is_exact():
    """Twice the number of pairs passes 2**63 here."""
    big = np.array([2**40, 2**40])
    tar, non = SortedClass.of(np.array([1.0, 2.0]), big), SortedClass.of(np.array([0.0, 2.0]), big)
    found = CountTable.of(tar, non)
    assert (found.auc(), found.error_area()) == (5 / 8, 3 / 8)


@pytest.mark.parametrize("many", [2**40, 0.1 * 2**40])
def test_a_small_error_area_is_not_a_difference_to_one(many):
    """One pair of weight 1 is wrong among (1 + many)^2; 1 less that share is 1 here."""
    weights = np.array([1, many])
    found = CountTable.of(SortedClass.of(np.array([0.0, 2.0]), weights), SortedClass.of(np.array([1.0, -1.0]), weights))
    assert found.auc() == 1.0
    assert found.error_area() == pytest.approx(1 / (1 + many) ** 2, rel=1e-14, abs=0)


def test_infinite_trials_count_by_their_weight_and_one_finite_score_is_a_range():
    scores = np.array([np.inf, -np.inf, 7.0])
    some = SortedClass.of(scores, np.array([3, 2, 5]))
    assert (some.infinite, some.total, some.finite_range) == (5, 10, (7.0, 7.0))
    assert SortedClass.of(scores[:2]).finite_range is None


def test_light_tails_of_fractional_weights_keep_their_digits():
    heavy = SortedClass.of(np.array([0.0, 1.0]), np.array([1e17, 1.5]))
    assert heavy.at_or_above(np.array([-1.0, 0.5, 1.0, 2.0])).tolist() == [1e17 + 1.5, 1.5, 1.5, 0.0]


def test_both_zeros_are_one_score():
    found = table([0.0, -0.0], [-0.0, 0.0])
    assert (found.n_tar.tolist(), found.n_non.tolist()) == ([2], [2])
    low, high = found.edges(np.array([0]))
    assert not np.signbit(low[0])
    assert not np.signbit(high[0])


def test_neighbouring_floats_are_different_scores():
    above = np.nextafter(1.0, 2.0)
    assert table([above], [1.0]).n_tar.tolist() == [0, 1]
    assert table([1.0], [above]).n_tar.tolist() == [1, 0]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_thresholds_between_floats_split_exactly(dtype):
    scores = SortedClass.of(np.array([1.0, 1.5, np.inf, -np.inf], dtype))
    just_above = np.nextafter(1.0, 2.0)
    thresholds = np.array([-np.inf, 1.0, just_above, 1e300, np.inf])
    assert scores.below(thresholds).tolist() == [0, 1, 2, 3, 3]
    assert scores.infinite == 2
    assert scores.finite_range == (1.0, 1.5)


def test_random_scores_large_enough_for_every_block():
    rng = np.random.default_rng(5)
    tar, non = np.round(rng.normal(1, 1, 30_000), 3), np.round(rng.normal(0, 1, 50_000), 3)
    found = table(tar, non)
    values, inverse = np.unique(np.concatenate((tar, non)), return_inverse=True)
    n_tar = np.bincount(inverse[: len(tar)], minlength=len(values))
    n_non = np.bincount(inverse[len(tar) :], minlength=len(values))
    starts = roc.pool(n_tar, n_non)
    again = roc.pool(found.n_tar, found.n_non)
    np.testing.assert_array_equal(np.add.reduceat(n_tar, starts), np.add.reduceat(found.n_tar, again))
    np.testing.assert_array_equal(np.add.reduceat(n_non, starts), np.add.reduceat(found.n_non, again))
    assert (found.n_tar.sum(), found.n_non.sum()) == (len(tar), len(non))


@pytest.mark.parametrize("n", [16_384, 40_000, 70_000])
def test_the_area_of_many_groups_is_that_of_the_pairs(n):
    """Targets 0, 2, 4, ... and non-targets 1, 3, 5, ...: 2 n groups, of which a target beats those before it."""
    found = table(2 * np.arange(n), 2 * np.arange(n) + 1)
    assert len(found.n_tar) == 2 * n
    assert Fraction(counts.twice_ordered(found.n_non, found.n_tar), 2 * n * n) == Fraction(n - 1, 2 * n)
    assert found.auc() == (n - 1) / (2 * n)
    assert found.error_area() == (n + 1) / (2 * n)


def test_the_order_of_rows_does_not_show_in_sums_of_fractional_weights():
    """What 0.1, 0.2, 0.3 and 0.7 add up to depends on their order; `sum` compensates from Python 3.12 on."""
    weights = np.array([0.1, 0.2, 0.3, 0.7])
    assert len({reduce(add, order) for order in permutations(weights.tolist())}) > 1
    sums = set()
    for order in permutations(range(4)):
        sorted_class = SortedClass.of(np.ones(4), weights[list(order)])
        sums.add((sorted_class.total, *sorted_class.cumulated.tolist(), *sorted_class.weights.tolist()))
    assert len(sums) == 1


@given(st.lists(classes(max_size=12), min_size=1, max_size=4), st.booleans())
def test_merged_classes_are_the_class_of_all(parts, with_empty):
    scores = [np.array(one[0]) for one in parts]
    partitions = [SortedClass.of(one) for one in scores] + [SortedClass.of(np.zeros(0))] * with_empty
    found, whole = SortedClass.merged(partitions), SortedClass.of(np.concatenate(scores))
    np.testing.assert_array_equal(found.scores, whole.scores)
    assert found.weights is whole.weights is None
    weighted = [SortedClass.of(one, np.arange(len(one)) % 3 + 1) for one in scores]
    alone = SortedClass.of(np.concatenate(scores), np.concatenate([np.arange(len(one)) % 3 + 1 for one in scores]))
    together = SortedClass.merged(weighted)
    for name in ("scores", "weights", "cumulated"):
        np.testing.assert_array_equal(getattr(together, name), getattr(alone, name))


def test_merged_with_weighted_trials_others_count_one_each_and_numbers_stay_whole():
    found = SortedClass.merged([SortedClass.of(np.array([1.0, 3.0])), SortedClass.of(np.array([2.0]), np.array([4]))])
    assert (found.scores.tolist(), found.weights.tolist(), found.total) == ([1.0, 2.0, 3.0], [1, 4, 1], 6)
    assert found.weights.dtype == found.cumulated.dtype == np.int64


@pytest.mark.parametrize("weights", [None, np.zeros(0, np.int64), np.zeros(0)])
def test_classes_without_trials(weights):
    none = SortedClass.of(np.zeros(0), weights)
    assert (none.total, none.infinite, none.finite_range) == (0, 0, None)
    one = SortedClass.of(np.array([1.0, 1.0, 2.0]))
    for tar, non, groups in ((none, one, [[0], [3]]), (one, none, [[3], [0]]), (none, none, [[], []])):
        found = CountTable.of(tar, non)
        assert [found.n_tar.tolist(), found.n_non.tolist()] == groups


@given(
    st.lists(st.tuples(st.integers(-3, 3), st.floats(0.5, 2.0), st.integers(-14, 2)), min_size=1, max_size=8),
    st.lists(st.tuples(st.integers(-5, 2), st.floats(0.5, 2.0), st.integers(-14, 2)), min_size=1, max_size=8),
)
def test_areas_of_fractional_weights_have_all_their_digits_and_stay_within_0_and_1(tar, non):
    tar, non = ([(score, mantissa * 10.0**size) for score, mantissa, size in side] for side in (tar, non))
    pairs = Fraction(0), Fraction(0)
    for (t, w), (n, v) in product(tar, non):
        weight = Fraction(w) * Fraction(v)
        above = Fraction(t > n) + Fraction(t == n) / 2
        pairs = pairs[0] + above * weight, pairs[1] + (1 - above) * weight
    of_tar, of_non = (SortedClass.of(*np.array(side, float).T) for side in (tar, non))
    counted = CountTable.of(of_tar, of_non)
    for found, own in zip((counted.auc(), counted.error_area()), pairs, strict=True):
        assert 0.0 <= found <= 1.0
        assert found == pytest.approx(float(own / sum(pairs)), rel=1e-14, abs=0.0)
