"""Sums of weights of trials in bins, against one `bincount` for each replicate."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban.core.resampling import replicates as module
from deciban.core.resampling.linearised import ScoreBins
from deciban.core.resampling.replicates import MOST, SumsOfProducts, SumsOfUnits, bin_sums
from deciban.core.resampling.unit_counts import UnitCounts
from deciban.core.resampling.units import TrialUnits, mixed_bits


def by_hand(codes, bin_of, n_bins, weights, of_trials=None):
    """Each trial with the product of the weights of its units, a unit on both sides once."""
    one, other = codes[0], codes[-1]
    product = np.where((one == other)[:, None], weights[one], weights[one].astype(int) * weights[other])
    if of_trials is not None:
        product = product * of_trials[:, None]
    return np.stack([np.bincount(bin_of, column, minlength=n_bins) for column in product.T], axis=1)


def made(rng, n_trials, n_units, n_bins, n_sides=2):
    codes = tuple(rng.integers(0, n_units, n_trials).astype(np.int32) for _ in range(n_sides))
    return TrialUnits(codes, mixed_bits(np.arange(n_units))), rng.integers(0, n_bins, n_trials)


@given(
    st.integers(0, 300), st.integers(1, 30), st.integers(1, 12), st.integers(1, 9), st.integers(1, MOST), st.randoms()
)
def test_products_are_exact(n_trials, n_units, n_bins, n_replicates, most, random):
    rng = np.random.default_rng(random.randrange(2**32))
    units, bin_of = made(rng, n_trials, n_units, n_bins)
    weights = rng.integers(0, most + 1, (n_units, n_replicates)).astype(np.uint8)
    found = SumsOfProducts(units, bin_of, n_bins, None).of(weights)
    assert found.dtype == np.int64
    np.testing.assert_array_equal(found, by_hand(units.codes, bin_of, n_bins, weights))


def test_the_largest_weights_overflow_nothing():
    rng = np.random.default_rng(1)
    units, bin_of = made(rng, 100_000, 50, 3)
    weights = np.full((50, 130), MOST, np.uint8)
    found = SumsOfProducts(units, bin_of, 3, None).of(weights)
    np.testing.assert_array_equal(found[:, 129], by_hand(units.codes, bin_of, 3, weights[:, :1])[:, 0])


@pytest.mark.parametrize(
    "cuts", [{"_GROUP": 1}, {"_GROUP": 2, "_RUN": 5}, {"_RUN": 3, "_GROUPS": 4, "_WEIGHTED": 4}, {"_TABLE": 60}]
)
def test_where_groups_and_runs_are_cut_changes_nothing(monkeypatch, cuts):
    rng = np.random.default_rng(7)
    units, bin_of = made(rng, 2000, 12, 9)
    weights, of_trials = rng.integers(0, MOST + 1, (12, 7)).astype(np.uint8), rng.random(2000)
    for name, size in cuts.items():
        monkeypatch.setattr(module, name, size)
    found = SumsOfProducts(units, bin_of, 9, None)
    assert len(found.parts) > 1 or "_GROUPS" not in cuts
    np.testing.assert_array_equal(found.of(weights), by_hand(units.codes, bin_of, 9, weights))
    found = SumsOfProducts(units, bin_of, 9, of_trials).of(weights)
    np.testing.assert_allclose(found, by_hand(units.codes, bin_of, 9, weights, of_trials), rtol=1e-13)


def test_one_unit_that_has_every_trial_and_sides_without_a_common_unit():
    rng = np.random.default_rng(8)
    bin_of = rng.integers(0, 5, 5000)
    weights = rng.integers(0, MOST + 1, (600, 6)).astype(np.uint8)
    star = np.zeros(5000, np.int32), rng.integers(0, 600, 5000).astype(np.int32)
    apart = rng.integers(0, 20, 5000).astype(np.int32), rng.integers(20, 600, 5000).astype(np.int32)
    for one, other in (star, apart):
        for codes in ((one, other), (other, one)):
            found = SumsOfProducts(TrialUnits(codes, mixed_bits(np.arange(600))), bin_of, 5, None).of(weights)
            np.testing.assert_array_equal(found, by_hand(codes, bin_of, 5, weights))


@pytest.mark.parametrize("n_units", [5, 1 << 30])
def test_trials_are_sorted_by_cell_and_hub_however_many_units_there_are(n_units):
    rng = np.random.default_rng(9)
    bin_of, (hub, beside) = rng.integers(0, 4000, 300), rng.integers(0, n_units, (2, 300)).astype(np.int32)
    order = np.lexsort((beside, hub, bin_of))
    found = module._sorted(bin_of, hub, beside, None)
    np.testing.assert_array_equal(found[0], hub[order])
    wanted, places = (
        np.stack(one) for one in ((bin_of[order], hub[order], beside[order]), (bin_of[order], *found[:2]))
    )
    assert sorted(zip(*wanted.tolist(), strict=True)) == sorted(zip(*places.tolist(), strict=True))
    weighted = module._sorted(bin_of, hub, beside, np.arange(300))
    np.testing.assert_array_equal(weighted[0], hub[weighted[2].astype(int)])
    np.testing.assert_array_equal(weighted[1], beside[weighted[2].astype(int)])


@pytest.mark.parametrize("n_trials", [(1 << 24) // MOST // 2, (1 << 24) // MOST, (1 << 26) + 1])
def test_sums_of_units_are_exact_on_both_sides_of_what_32_bits_hold(n_trials):
    counts = np.array([[n_trials, 1, -n_trials], [n_trials + 1, 3, 1], [1, 0, 2]])
    weights = np.array([[MOST, 1, 0], [MOST, 0, 1], [1, 1, 1]], np.uint8)
    np.testing.assert_array_equal(SumsOfUnits(counts).of(weights), counts.T @ weights.astype(np.int64))


def test_many_trials_in_one_cell_and_none_in_others():
    rng = np.random.default_rng(2)
    units, _ = made(rng, 300_000, 1000, 1)
    bin_of = np.full(300_000, 4)
    weights = rng.poisson(1.0, (1000, 6)).astype(np.uint8)
    found = SumsOfProducts(units, bin_of, 9, None).of(weights)
    np.testing.assert_array_equal(found, by_hand(units.codes, bin_of, 9, weights))


def test_weights_of_trials_count():
    rng = np.random.default_rng(3)
    units, bin_of = made(rng, 5000, 40, 20)
    weights, of_trials = rng.poisson(1.0, (40, 11)).astype(np.uint8), rng.random(5000)
    found = SumsOfProducts(units, bin_of, 20, of_trials).of(weights)
    np.testing.assert_allclose(found, by_hand(units.codes, bin_of, 20, weights, of_trials), rtol=1e-13)
    whole = SumsOfProducts(units, bin_of, 20, np.full(5000, 3)).of(weights)
    np.testing.assert_array_equal(whole, 3 * by_hand(units.codes, bin_of, 20, weights))


@pytest.mark.parametrize("n_sides", [1, 2])
@pytest.mark.parametrize("weighted", [False, True])
def test_both_ways_agree_with_the_sum_by_hand(n_sides, weighted):
    rng = np.random.default_rng(4)
    units, bin_of = made(rng, 4000, 300, 8, n_sides)
    of_trials = rng.random(4000) if weighted else None
    bins = ScoreBins(np.arange(1.0, 8.0))
    counts = UnitCounts.of(bin_of.astype(float), units, bins, np.zeros(300, np.int64), of_trials)
    weights = rng.poisson(1.0, (300, 5)).astype(np.uint8)
    sums = bin_sums(units, bin_of, 8, of_trials)
    assert isinstance(sums, SumsOfUnits if n_sides == 1 else SumsOfProducts)
    for one in (sums, SumsOfUnits(counts.counts)) if n_sides == 1 else (sums,):
        np.testing.assert_allclose(one.of(weights), by_hand(units.codes, bin_of, 8, weights, of_trials), rtol=1e-13)


def test_trials_with_one_speaker_on_both_sides_are_trials_of_one_unit():
    rng = np.random.default_rng(5)
    units, bin_of = made(rng, 500, 20, 6, 1)
    both = TrialUnits(units.codes * 2, units.keys)
    weights = rng.poisson(1.0, (20, 5)).astype(np.uint8)
    found = bin_sums(both, bin_of, 6)
    assert isinstance(found, SumsOfUnits)
    np.testing.assert_array_equal(found.of(weights), by_hand(units.codes, bin_of, 6, weights))


def test_very_many_units_are_summed_in_parts():
    from scipy.sparse import csr_matrix

    rng = np.random.default_rng(6)
    n_units = 150_000
    unit, bin_of = rng.integers(0, n_units, 20_000), rng.integers(0, 300, 20_000)
    counts = csr_matrix((np.ones(20_000, np.int64), (unit, bin_of)), shape=(n_units, 300))
    weights = rng.poisson(1.0, (n_units, 3)).astype(np.uint8)
    np.testing.assert_array_equal(SumsOfUnits(counts).of(weights), by_hand((unit,), bin_of, 300, weights))
