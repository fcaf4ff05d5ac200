"""Cells: a table of bins finds what a search finds, and no threshold that matters is inside a bin."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban.core.ranks.counts import SortedClass
from deciban.core.resampling.linearised import ScoreBins, bins_of, in_bins
from deciban.metrics import SortedScores
from support.strategies import any_score, classes

finite = any_score.filter(np.isfinite)


@given(st.lists(finite, max_size=12), st.lists(any_score, max_size=20))
def test_cells_are_those_of_a_search(borders, others):
    bins = ScoreBins(np.unique(np.array(borders, np.float64)))
    everything = np.array([*others, *borders, *np.nextafter(borders, np.inf), *np.nextafter(borders, -np.inf)])
    for scores in (everything, np.resize(everything, 3000) if len(everything) else everything):  # few; and many
        assert bins.of(scores).tolist() == np.searchsorted(bins.borders, scores, side="right").tolist()


def test_cells_of_many_scores_and_many_borders_are_those_of_a_search():
    rng = np.random.default_rng(0)
    bins = ScoreBins(
        np.unique(np.concatenate((rng.normal(size=3000), rng.normal(0, 1e-9, 500), rng.normal(0, 1e6, 9))))
    )
    for scores in (rng.normal(size=200_000), rng.normal(size=70_000).astype(np.float32)):
        expected = np.searchsorted(bins.borders, scores.astype(np.float64), side="right")
        assert np.array_equal(bins.of(scores), expected)


@given(st.lists(finite, max_size=12), st.lists(any_score, max_size=20))
def test_positions_are_numbers_of_cells_below_thresholds(borders, others):
    bins = ScoreBins(np.unique(np.array(borders, np.float64)))
    thresholds = np.array([*bins.borders, *others, np.inf, -np.inf])
    expected = [
        0 if t == -np.inf else len(bins.borders) + 1 if t == np.inf else 1 + sum(b < t for b in bins.borders)
        for t in thresholds
    ]
    assert bins.positions(thresholds).tolist() == expected
    assert [bins.below(float(t)) for t in thresholds] == expected


@given(classes(), st.lists(any_score, max_size=5))
def test_what_a_threshold_rejects_is_what_the_cells_below_it_hold(sets, thresholds):
    ranks = SortedScores(*sets)
    bins = bins_of(ranks.table, ranks.pav, np.array(thresholds, np.float64), 5)
    for threshold in [t for t in (*thresholds, *ranks.pav.thresholds) if np.isfinite(t)] + [np.inf]:
        for scores in map(np.array, sets):
            rejected = bins.of(scores) < bins.below(float(threshold))
            if threshold < np.inf:  # +inf as a threshold accepts +inf by definition, and as a place rejects all
                assert rejected.tolist() == (scores < threshold).tolist()
    assert bins.below(-np.inf) == 0
    assert bins.below(np.inf) == bins.n_bins


@given(classes(st.one_of(finite)))
def test_few_scores_have_cells_of_their_own(sets):
    ranks = SortedScores(*sets)
    bins = bins_of(ranks.table, ranks.pav, np.zeros(0), 5)
    scores = np.unique(np.concatenate(sets))
    largest = np.finfo(float).max
    assert len(set(bins.of(scores[np.abs(scores) < largest]).tolist())) == np.sum(np.abs(scores) < largest)


@pytest.mark.parametrize(("n_units", "most"), [(10, 4096), (1000, 132), (10**6, 128)])
def test_many_scores_are_cut_along_the_curve(n_units, most):
    rng = np.random.default_rng(3)
    ranks = SortedScores(rng.normal(2, 1, 20_000), rng.normal(0, 1, 100_000))
    bins = bins_of(ranks.table, ranks.pav, np.array([0.123]), n_units)
    assert bins.n_bins <= most + len(ranks.pav.low) + 2
    counts, _ = in_bins(ranks.non, bins)
    assert counts.max() < ranks.non.total / 20  # none holds much
    assert counts[-20:].max() < 200  # and where there are few, less
    assert 0.123 in bins.borders


@given(classes(finite), st.data())
def test_counts_and_means_are_those_of_the_trials_in_each_cell(sets, data):
    scores = np.array(sets[0])
    weights = np.array(data.draw(st.lists(st.integers(1, 3), min_size=len(scores), max_size=len(scores))))
    bins = ScoreBins(np.unique(sets[1]))
    for given_weights in (None, weights, weights / 7):
        counts, means = in_bins(SortedClass.of(scores, given_weights), bins)
        at = np.searchsorted(bins.borders, scores, side="right")
        own = np.ones(len(scores)) if given_weights is None else given_weights
        np.testing.assert_allclose(counts, np.bincount(at, own, minlength=bins.n_bins), rtol=1e-12, atol=1e-12)
        for bin_of in set(at.tolist()):
            inside = at == bin_of
            scale = np.abs(scores[inside]).max()
            if scale < 1e290:
                expected = np.average(scores[inside], weights=own[inside])
                assert means[bin_of] == pytest.approx(expected, rel=1e-12, abs=max(1e-12 * scale, 1e-300))


def test_classes_that_do_not_overlap_are_cut_as_well():
    rng = np.random.default_rng(3)
    ranks = SortedScores(rng.normal(50, 1, 20_000), rng.normal(0, 1, 20_000), non_weights=rng.integers(0, 3, 20_000))
    bins = bins_of(ranks.table, ranks.pav, np.zeros(0), 1000)
    for trials in (ranks.tar, ranks.non):
        counts, _ = in_bins(trials, bins)
        assert np.count_nonzero(counts) > 40
        assert counts.max() < trials.total / 15


def test_infinite_scores_have_cells_of_their_own():
    ranks = SortedScores([-np.inf, 1.0, np.inf], [-np.inf, 0.0, 1.0])
    bins = bins_of(ranks.table, ranks.pav, np.zeros(0), 3)
    counts, means = in_bins(ranks.tar, bins)
    assert np.all(np.isfinite(bins.borders))
    assert means[counts > 0].tolist() == [-np.inf, 1.0, np.inf]


def test_a_mean_of_a_cell_whose_sum_overflows_is_its_lowest_score():
    huge = np.array([1.5e308, 1.2e308])
    bins = ScoreBins(np.array([-1.0, 1.0]))
    assert in_bins(SortedClass.of(np.append(huge, -huge)), bins)[1].tolist() == [-1.5e308, 0.0, 1.2e308]
