"""Influences on shares below thresholds are those of costs of trials that are 0 or 1, threshold by threshold."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deciban.core.resampling.class_sums import ClassMeans, CostBlock, GroupedUnits, SharesBelow
from deciban.core.resampling.unit_counts import groups_of_units
from deciban.core.resampling.units import TrialUnits

N_PLACES = 5


def drawn(seed, *, n_sides=1, n=60, n_units=9, single=False):
    """Means of two classes, the second of two strata, with thresholds below trials and weights of classes."""
    rng = np.random.default_rng(seed)
    stratum = np.sort(np.append(rng.integers(0, 3, n - 3), [0, 1, 2]))
    units = np.arange(n) if single else rng.integers(0, n_units, (n, n_sides)).squeeze()
    weights = rng.uniform(0.5, 2.0, n)
    means = ClassMeans.of(np.minimum(stratum, 1), stratum, weights, TrialUnits.of(units))
    places = rng.integers(0, N_PLACES + 1, (2, n))
    return rng, means, places, np.array([1.0, 0.5, 0.5])[stratum]


def shares_below(means, places, weight, keys, most=100, batches=1):
    """Counted batch by batch."""
    units = GroupedUnits(means.design, keys, most)
    found = SharesBelow(units, means.design.home == 0, len(places), N_PLACES)
    for own in np.array_split(np.arange(means.n_trials), batches):
        block = CostBlock(
            means.block.stratum[own], means.block.weights[own], None if keys is None else means.units.take(own)
        )
        for table, more in found.counted(units.shares(block), weight[own], [place[own] for place in places]):
            np.add(table, more, out=table)
    return found


def influences(means, place, weight):
    """On the share of each side below thresholds, by what trials cost there."""
    sides = [means.block.stratum == 0, means.block.stratum > 0]
    return [
        means.sums(np.array([side * weight * (place <= k) for k in range(N_PLACES)])).influences() for side in sides
    ]


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([1, 2]), st.booleans(), st.sampled_from([1, 3]))
def test_tables_give_what_costs_of_trials_give(seed, n_sides, single, batches):
    rng, means, places, weight = drawn(seed, n_sides=n_sides, single=single)
    keys = None if single else means.units.keys
    found, factors = shares_below(means, places, weight, keys, batches=batches), rng.normal(size=(2, N_PLACES))
    squares, rates = found.squares(factors), found.rates()
    for k, place in enumerate(places):
        parts = [factor[:, None] * one for factor, one in zip(factors, influences(means, place, weight), strict=True)]
        for own, one in zip(squares[:, k], (sum(parts), *parts), strict=True):
            np.testing.assert_allclose(own, np.square(one).sum(axis=1), rtol=1e-9, atol=1e-20)
        share = means.share * weight
        below, above = means.block.stratum == 0, means.block.stratum > 0
        expected = [(share[below] @ (place[below] <= j), share[above] @ (place[above] > j)) for j in range(N_PLACES)]
        np.testing.assert_allclose(rates[k].T, expected, atol=1e-15)


@pytest.mark.parametrize("n_sides", [1, 2])
def test_more_units_than_asked_for_are_summed_in_groups(n_sides):
    _, means, places, weight = drawn(3, n_sides=n_sides)
    group, ones = groups_of_units(means.units.keys, 4), np.ones((2, N_PLACES))
    found = shares_below(means, places[:1], weight, means.units.keys, most=4)
    for own, one in zip(found.squares(ones)[1:, 0], influences(means, places[0], weight), strict=True):
        groups = np.stack([one[:, group == k].sum(axis=1) for k in range(4)])
        np.testing.assert_allclose(own, np.square(groups).sum(axis=0), rtol=1e-9)
    assert found.units.n_units == 4
