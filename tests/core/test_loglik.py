"""Blocks of log-likelihoods."""

import math
import tracemalloc
from fractions import Fraction

import numpy as np
import pytest

from deciban._validate.arrays import all_finite
from deciban.core import logliks as kernels
from deciban.core.class_counts import log_weights, tally


def test_blocks_cover_every_trial_once():
    for n_trials, n_classes in ((1, 2), (100_000, 14), (65_536, 1), (3, 10**6)):
        rows = np.concatenate([np.arange(n_trials)[part] for part in kernels.row_blocks(n_trials, n_classes)])
        np.testing.assert_array_equal(rows, np.arange(n_trials))
        sizes = [(part.stop - part.start) * n_classes for part in kernels.row_blocks(n_trials, n_classes)]
        assert max(sizes) <= max(65_536, n_classes)


@pytest.mark.parametrize(("n_classes", "n_together"), [(256, 256), (1000, 256), (4096, 64), (10**6, 1)])
def test_blocks_of_many_classes_are_wide_and_bounded(n_classes, n_together):
    """Two megabytes at most, unless a single trial is larger."""
    (first, *_) = kernels.row_blocks(1000, n_classes)
    assert first.stop - first.start == n_together
    assert n_together * n_classes <= max(1 << 18, n_classes)


@pytest.mark.parametrize("n", [1, 2, 3, 8, 65])
@pytest.mark.parametrize("n_rows", [1, 2, 17, 300])
def test_rows_are_added_from_the_first_to_the_last(n_rows, n):
    """Whatever the shape: so blocks of other sizes make the same llrs to the last bit."""
    terms = np.random.default_rng(n).exponential(size=(n_rows, n)) ** 9
    total = np.zeros(n)
    for row in terms:
        total = total + row
    np.testing.assert_array_equal(kernels._sum(terms), total)


def test_relative_blocks_have_a_best_class_at_zero():
    table = np.array([[3.0, 1, -np.inf], [np.inf, 1, np.inf], [1e308, -1e308, 0], [-np.inf, -np.inf, 2]])
    block = kernels.relative(table, slice(None))
    expected = [[0, -2, -np.inf], [0, -np.inf, 0], [0, -np.inf, -1e308], [-np.inf, -np.inf, 0]]
    np.testing.assert_array_equal(block.T, expected)
    # Of classes that are all excluded none is preferred.
    np.testing.assert_array_equal(kernels.relative(table, slice(3, 4), np.array([0, 1])), [[0], [0]])


@pytest.mark.parametrize("order", ["C", "F", "strided"])
def test_a_block_of_any_layout_is_gathered_without_a_copy_of_the_whole(order):
    wide = np.random.default_rng(3).normal(size=(20_000, 20))
    table, rows = wide[:, ::2] if order == "strided" else np.array(wide[:, :10], order=order), np.arange(7, 20_000, 211)
    tracemalloc.start()
    block = kernels.class_major(table, rows)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    np.testing.assert_array_equal(block, table[rows].T)
    assert peak < table.nbytes / 10


def test_sums_without_one_term_keep_the_digits_of_the_small():
    terms = np.array([1e16, 1.0, 2.0, 4.0])[:, None]
    expected = [float(sum(Fraction(x) for j, x in enumerate(terms[:, 0]) if j != k)) for k in range(4)]
    np.testing.assert_allclose(kernels.leave_one_out(terms)[:, 0], expected, rtol=1e-15)


def test_the_best_class_is_compared_with_rivals_however_far_they_are_behind():
    block = np.array([[0.0, 0, 0, 0], [-2000, 0, -np.inf, -1], [-2001, -3, -np.inf, -np.inf]])
    of_best = kernels.detection_llrs(block, np.ones(3))[0]
    expected = [2000 - math.log((1 + math.exp(-1)) / 2), -math.log((1 + math.exp(-3)) / 2), math.inf, 1 + math.log(2)]
    np.testing.assert_allclose(of_best, expected, rtol=1e-15)


@pytest.mark.parametrize("prior", [[0.3, 0.7], [0.7, 0.3], [0.5, 0.5], [0.2, 0.3, 0.5]])
def test_log_weights_differ_as_the_prior_does(prior):
    weights = log_weights(np.array(prior))
    assert weights.max() == 0
    assert weights - weights[0] == pytest.approx([math.log(p / prior[0]) for p in prior], abs=1e-15)


def test_tally_is_exact_for_whole_weights():
    codes = np.array([0, 2, 2])
    assert tally(codes, 4, None).tolist() == [1, 0, 2, 0]
    whole = tally(codes, 4, np.array([3, 1, 2**40]))
    assert whole.dtype == np.int64
    assert whole.tolist() == [3, 0, 2**40 + 1, 0]
    assert tally(codes, 4, np.array([0.5, 0.25, 1.0])).tolist() == [0.5, 0, 1.25, 0]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("select", [np.s_[:], np.s_[::2], np.s_[:, ::2], np.s_[:, 1]])
def test_all_numbers_are_finite_even_if_their_sum_is_not(select, dtype):
    table = np.full((1000, 3), np.finfo(dtype).max, dtype)
    assert all_finite(table[select])
    assert all_finite(table.T[select[::-1] if isinstance(select, tuple) else select])
    for odd in ([np.nan], [np.inf], [-np.inf], [np.inf, -np.inf]):
        table[[500, 700][: len(odd)], 1] = odd
        assert all_finite(table[select]) == (select == np.s_[:, ::2])
