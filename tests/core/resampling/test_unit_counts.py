"""Counts by unit and bin against loops over trials; what is left without a group against leaving it out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban.core.resampling import unit_counts
from deciban.core.resampling.linearised import ScoreBins
from deciban.core.resampling.unit_counts import UnitCounts, cumulated, groups_of_units, in_blocks, merged_units
from deciban.core.resampling.units import TrialUnits, keys_of

BORDERS = ScoreBins(np.array([-0.5, 0.25, 1.0]))


def dense(table):
    return np.asarray(table.toarray() if hasattr(table, "toarray") else table)


def counted(scores, units, weights=None, n_groups=3):
    group = groups_of_units(units.keys, n_groups)
    return UnitCounts.of(np.asarray(scores), units, BORDERS, group, None if weights is None else np.asarray(weights))


trials = st.lists(st.tuples(st.floats(-2, 2), st.integers(0, 5), st.integers(0, 5), st.integers(0, 3)), min_size=1)


@pytest.fixture(params=["array", "sparse"])
def table_kind(request, monkeypatch):
    monkeypatch.setattr(unit_counts, "_DENSE", 0 if request.param == "sparse" else 1 << 22)


@pytest.mark.parametrize("fractional", [False, True])
@pytest.mark.usefixtures("table_kind")
@given(rows=trials)
def test_a_trial_counts_once_for_each_of_its_units(rows, fractional):
    scores, first, second, weights = map(np.array, zip(*rows, strict=True))
    weights = weights / 4 if fractional else weights
    units = TrialUnits((first, second), keys_of(np.arange(6)))
    found = counted(scores, units, weights)
    table, once = np.zeros((6, BORDERS.n_bins)), np.zeros(BORDERS.n_bins)
    left = [np.zeros(BORDERS.n_bins) for _ in range(3)]
    for score, one, other, weight in zip(scores, first, second, weights, strict=True):
        bin_of = np.searchsorted(BORDERS.borders, score, side="right")
        once[bin_of] += weight
        for unit in {int(one), int(other)}:
            table[unit, bin_of] += weight
        for number, own in enumerate(left):
            if found.group[one] != number and found.group[other] != number:
                own[bin_of] += weight
    np.testing.assert_allclose(dense(found.counts), table, rtol=1e-12)
    np.testing.assert_allclose(found.in_bins, once, rtol=1e-12)
    np.testing.assert_allclose(found.without_groups, left, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(found.totals, table.sum(axis=1), rtol=1e-12)


@given(trials, st.integers(0, 10))
def test_counts_of_parts_add_up(rows, cut):
    scores, first, second, weights = map(np.array, zip(*rows, strict=True))
    units, cut = TrialUnits((first, second), keys_of(np.arange(6))), min(cut, len(rows))
    whole = counted(scores, units, weights)
    parts = [counted(scores[s], units.take(s), weights[s]) for s in (slice(None, cut), slice(cut, None))]
    both = parts[0] + parts[1]
    assert dense(both.counts).tolist() == dense(whole.counts).tolist()
    assert both.in_bins.tolist() == whole.in_bins.tolist()
    assert both.without_groups.tolist() == whole.without_groups.tolist()


@pytest.mark.usefixtures("table_kind")
def test_blocks_hold_the_whole_table_and_influences_are_derivatives_of_means():
    rng = np.random.default_rng(1)
    units = TrialUnits(tuple(rng.integers(0, 40, (2, 500))), keys_of(np.arange(40)))
    scores, costs = rng.normal(size=500), rng.normal(size=(BORDERS.n_bins, 2))
    found = counted(scores, units)
    parts = [(part, table) for part, (table,) in in_blocks([found], 1 << 17)]
    assert len(parts) > 3
    assert np.array_equal(np.vstack([dense(part) for _, part in parts]), dense(found.counts))
    influences = np.vstack([found.influence(costs, part) for _, part in parts])
    of_trials = costs[BORDERS.of(scores)]
    for unit in (0, 7, 39):
        has = (units.codes[0] == unit) | (units.codes[1] == unit)
        means = [np.average(of_trials, axis=0, weights=np.where(has, 1 + h, 1)) for h in (1e-6, -1e-6)]
        np.testing.assert_allclose(influences[unit], (means[0] - means[1]) / 2e-6, atol=1e-9)


def test_rows_that_are_nearly_empty_stay_sparse_and_have_the_same_influences(monkeypatch):
    rng = np.random.default_rng(2)
    bins = ScoreBins(np.linspace(-2, 2, 99))
    units = TrialUnits(tuple(rng.integers(0, 300, (2, 500))), keys_of(np.arange(300)))
    scores, costs, group = rng.normal(size=500), rng.normal(size=(100, 2)), groups_of_units(units.keys, 3)
    full = UnitCounts.of(scores, units, bins, group)
    monkeypatch.setattr(unit_counts, "_DENSE", 0)
    few = UnitCounts.of(scores, units, bins, group)
    assert few.is_sparse
    assert not full.is_sparse
    assert np.array_equal(dense(few.counts), full.counts)
    tables = [table for _, (table,) in in_blocks([few], 1 << 13)]
    assert len(tables) > 3
    assert all(hasattr(table, "nnz") for table in tables)
    expected = full.influence(costs, full.counts)
    np.testing.assert_allclose(np.vstack([few.influence(costs, one) for one in tables]), expected, atol=1e-15)
    coarse = few.in_groups(7)
    sums = np.stack([expected[groups_of_units(units.keys, 7) == k].sum(axis=0) for k in range(7)])
    np.testing.assert_allclose(coarse.influence(costs, dense(coarse.counts)), sums, atol=1e-14)


@pytest.mark.parametrize("n_units", [1, 7, 255, 256, 300])
def test_cumulated_tables_hold_all_trials_below(n_units):
    table = np.random.default_rng(n_units).integers(0, 9, (11, n_units)).astype(np.float64)
    for one in (table, np.asfortranarray(table)):
        found = cumulated(one)
        assert found.tolist() == [[sum(column[:k]) for column in table.T.tolist()] for k in range(12)]


@given(trials)
def test_counts_are_those_of_their_type(rows):
    scores, first, second, _ = map(np.array, zip(*rows, strict=True))
    units, group = TrialUnits((first, second), keys_of(np.arange(6))), np.zeros(6, np.int64)
    expected = np.bincount(np.searchsorted(BORDERS.borders, scores, side="right"), minlength=BORDERS.n_bins)
    found = UnitCounts.of(scores, units, BORDERS, group)
    assert found.in_bins.tolist() == counted(scores, units).in_bins.tolist() == expected.tolist()
    twice = found + found
    assert twice.counts.dtype == np.int64  # of several parts there may be more than 32 bits hold
    assert twice.counts.tolist() == (2 * found.counts).tolist()


@given(st.lists(st.integers(0, 1000), unique=True, min_size=1), st.integers(1, 12))
def test_groups_are_of_equal_size_and_names_alone_decide(names, n_groups):
    keys = keys_of(names)
    group = groups_of_units(keys, n_groups)
    sizes = np.bincount(group)
    assert len(sizes) == min(n_groups, len(names))
    assert sizes.max() - sizes.min() <= 1
    order = np.random.default_rng(0).permutation(len(names))
    assert groups_of_units(keys[order], n_groups).tolist() == group[order].tolist()


def test_groups_of_very_many_units_follow_from_each_key(monkeypatch):
    """Whatever other units there are; sizes differ by chance alone."""
    monkeypatch.setattr(unit_counts, "MOST_DEALT", 100)
    keys = keys_of(np.arange(5000))
    group = groups_of_units(keys, 10)
    assert groups_of_units(keys[1000:], 10).tolist() == group[1000:].tolist()
    assert np.abs(np.bincount(group, minlength=10) - 500).max() < 4 * np.sqrt(500)
    assert not np.array_equal(groups_of_units(keys[:90], 10), group[:90])  # few are dealt out


def test_whole_and_fractional_weights_of_parts_add_up():
    units, bins, group = TrialUnits.of(["a", "b", "a"]), ScoreBins(np.zeros(1)), np.zeros(2, np.int64)
    scores = np.array([-1.0, 1.0, 1.0])
    whole = UnitCounts.of(scores, units, bins, group, np.array([1, 2, 3]))
    parts = UnitCounts.of(scores, units, bins, group, np.array([0.5, 0.25, 0.125]))
    for both in (whole + parts, parts + whole):
        assert np.asarray(both.counts).tolist() == [[1.5, 3.125], [0.0, 2.25]]


def test_units_of_parts_meet_by_name():
    one, other = TrialUnits.of(["ann", "bob"]), TrialUnits.of([["cid", "bob"], ["dan", "cid"]])
    first, second = merged_units([one, other])
    assert first.keys.tolist() == second.keys.tolist() == sorted(keys_of(["ann", "bob", "cid", "dan"]).tolist())
    assert first.keys[first.codes[0]].tolist() == keys_of(["ann", "bob"]).tolist()
    assert [second.keys[side].tolist() for side in second.codes] == [
        keys_of(["cid", "dan"]).tolist(),
        keys_of(["bob", "cid"]).tolist(),
    ]
