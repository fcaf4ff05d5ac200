"""Many small problems at once: each of them as if it were alone."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban import metrics, multiclass
from deciban.core import class_counts as counts
from deciban.core.class_counts import Problems, mean_log_costs, min_cllrs
from deciban.core.ranks import roc
from deciban.multiclass import tables
from support.class_trials import random_trials
from support.strategies import classes


def side_by_side(problems):
    """Scores of targets and of non-targets of some problems."""
    sides = ([np.array(one[side], float) for one in problems] for side in (0, 1))
    return [Problems(np.concatenate(side), np.array([len(scores) for scores in side])) for side in sides]


@given(st.lists(classes(), min_size=1, max_size=6))
def test_every_problem_is_solved_on_its_own(problems):
    tar, non = side_by_side(problems)
    costs = [[mean_log_costs(side[None], None)[0] for side in (np.array(tar), -np.array(non))] for tar, non in problems]
    np.testing.assert_allclose(
        np.mean(costs, axis=1) / math.log(2.0), [metrics.cllr(*one) for one in problems], rtol=4e-15
    )
    np.testing.assert_allclose(
        min_cllrs(tar, non), [metrics.min_cllr(*one) for one in problems], rtol=4e-15, atol=1e-15
    )


@given(st.lists(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)).filter(any), min_size=1, max_size=20),
                min_size=1, max_size=5), st.integers(1, 50))  # fmt: skip
def test_nothing_is_pooled_across_tables(tables, chunk):
    n_tar, n_non = (np.array([group[side] for table in tables for group in table]) for side in (0, 1))
    is_first = np.concatenate([np.arange(len(table)) == 0 for table in tables])
    before, roc._GROUPS_PER_BATCH = roc._GROUPS_PER_BATCH, chunk
    try:
        found = roc.pool(n_tar, n_non, is_first)
    finally:
        roc._GROUPS_PER_BATCH = before
    begins = np.flatnonzero(is_first)
    alone = [
        begin + roc.pool(n_tar[begin:end], n_non[begin:end])
        for begin, end in zip(begins, np.append(begins[1:], len(n_tar)), strict=True)
    ]
    np.testing.assert_array_equal(found, np.concatenate(alone))


@pytest.mark.parametrize("spread", [0.1, 5.0, 100.0])
def test_sums_are_exact_to_the_last_digit(spread):
    rng = np.random.default_rng(1)
    lengths = [1, 2, 3, 1000, 40_000]
    values = np.exp(rng.normal(0.0, spread, sum(lengths)))
    begins = np.cumsum(lengths) - lengths
    exact = [math.fsum(part) for part in np.split(values, begins[1:])]
    np.testing.assert_allclose(counts._sums(values, begins), exact, rtol=2.3e-16)
    values[begins[2]] = np.inf
    assert np.isinf(counts._sums(values, begins)).tolist() == [False, False, True, False, False]
    assert counts._sums(np.array([1e307, 3e307, 1e300]), np.array([0, 2])).tolist() == [4e307, 1e300]
    assert counts._sums(np.zeros(3), np.array([0, 2])).tolist() == [0.0, 0.0]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("small", "at_once"), [(0, 1), (60, 1), (60, 100), (1000, 1), (1000, 10**6)])
def test_small_and_large_pairs_give_the_same_numbers(monkeypatch, dtype, small, at_once):
    loglik, label = random_trials(7, 200, seed=3)
    loglik = loglik.round(1).astype(dtype)
    loglik[:20:3, 2:5] = -np.inf
    monkeypatch.setattr(tables, "_SMALL", small)
    monkeypatch.setattr(tables, "_AT_ONCE", at_once)
    found = multiclass.pairwise_analysis(loglik, label)
    for i in range(7):
        for j in range(7):
            llr = multiclass.pairwise_llr(loglik, i, j)
            tar, non = llr[label == i], llr[label == j]
            assert found.cllr[i, j] == pytest.approx(metrics.cllr(tar, non), rel=4e-15)
            assert found.min_cllr[i, j] == pytest.approx(metrics.min_cllr(tar, non), rel=4e-15)


def test_pairs_that_share_a_table_have_similar_sizes():
    sizes = np.array([1, 3, 2, 900, 5, 40, 2, 700])
    label = np.repeat(np.arange(len(sizes)), sizes)
    portions = list(tables.Pairs.of(tables.ScoredClasses.of(np.zeros((len(label), len(sizes))), label))._portions())
    assert {(int(i), int(j)) for some in portions for i, j in zip(*some, strict=True)} == {
        (i, j) for i in range(len(sizes)) for j in range(i)
    }
    for i, j in portions:  # otherwise a table of many small pairs would be as wide as the largest
        assert max(sizes[i] + sizes[j]) < 2 * min(sizes[i] + sizes[j])
