"""Influences of units on means over strata: numerical derivatives of these means."""

import numpy as np
import pytest

from deciban.core.resampling.linearised import ScoreBins
from deciban.core.resampling.unit_counts import StratifiedCounts, UnitCounts, in_blocks, in_strata
from deciban.core.resampling.units import TrialUnits

RNG = np.random.default_rng(2)
N, N_UNITS, N_BINS, N_STRATA = 60, 7, 5, 3
UNIT, STRATUM = RNG.integers(0, N_UNITS, N), RNG.integers(0, N_STRATA, N)
CELL, COST = RNG.integers(0, N_BINS, N), RNG.normal(size=(N_BINS, 2))


def mean_over_strata(weight):
    own = weight[UNIT]
    return np.mean(
        [np.average(COST[CELL[s == STRATUM]], weights=own[s == STRATUM], axis=0) for s in range(N_STRATA)], axis=0
    )


def counts():
    units = TrialUnits((UNIT,), np.arange(N_UNITS, dtype=np.uint64))
    sizes = np.bincount(STRATUM, minlength=N_STRATA)
    weight, group = (sizes.max() / sizes)[STRATUM], np.zeros(N_UNITS, np.int64)
    by_bin = UnitCounts.of(CELL.astype(np.float64), units, ScoreBins(np.arange(N_BINS - 1) + 0.5), group, weight)
    return StratifiedCounts.of(by_bin, *in_strata(STRATUM, CELL, units, weight, (N_STRATA, N_BINS)))


def test_influences_are_derivatives_of_means_over_strata():
    made = counts()
    ((_, (table, _)),) = in_blocks((made, made), 1)
    found, step = made.influence(COST, table), 1e-6
    for unit in range(N_UNITS):
        weights = np.ones((2, N_UNITS))
        weights[:, unit] += [step, -step]
        up, down = map(mean_over_strata, weights)
        assert found[unit] == pytest.approx((up - down) / (2 * step), abs=1e-7)


def test_groups_of_units_act_as_their_units_do_together():
    made = counts()
    few = made.in_groups(3)
    assert few.block(slice(None)).sum(axis=0) == pytest.approx(made.block(slice(None)).sum(axis=0))
    assert few.block(slice(None)).shape == (3, N_BINS)
    assert not made.is_sparse
