"""Influences on shares below thresholds are those of costs of trials that are 0 or 1, threshold by threshold."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deciban.core.resampling.class_shares import SharesBelow
from deciban.core.resampling.class_sums import ClassMeans
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
    places = [rng.integers(0, N_PLACES + 1, n) for _ in range(1 if single else n_sides)]
    begin = int(np.searchsorted(stratum, 1))
    sides = [[slice(0, begin)], [slice(begin, begin), slice(begin, n)]]
    return means, places, np.array([1.0, 0.5, 0.5])[stratum], sides


def by_trial(places, weight, some, k):
    """What trials of a side cost at a threshold."""
    chosen = np.zeros(len(weight))
    for one in some:
        chosen[one] = weight[one]
    return np.mean([chosen * (place <= k) for place in places], axis=0)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([1, 2]), st.booleans())
def test_tables_give_what_costs_of_trials_give(seed, n_sides, single):
    means, places, weight, sides = drawn(seed, n_sides=n_sides, single=single)
    found, factors = SharesBelow(means, 100), np.random.default_rng(seed).normal(size=(2, N_PLACES))

    def of(some):
        return [place[some] for place in places]

    expected = []
    for some in sides:
        costs = np.array([by_trial(places, weight, some, k) for k in range(N_PLACES)])
        expected.append(means.by_unit(means.centred(costs)))
        np.testing.assert_allclose(found.influences(of, N_PLACES, weight, some), expected[-1], atol=1e-14)
    rows = np.array([[0, 1, 2, 3, 4], [4, 4, 2, 1, 0]])
    squares = found.squares(of, N_PLACES, weight, sides, factors, rows)
    for at, row in enumerate(rows):
        parts = [factor[:, None] * one[row] for factor, one in zip(factors, expected, strict=True)]
        for own, one in zip(squares[:, at], (sum(parts), *parts), strict=True):
            np.testing.assert_allclose(own, np.square(one).sum(axis=1), rtol=1e-9, atol=1e-20)


@pytest.mark.parametrize("n_sides", [1, 2])
def test_more_units_than_asked_for_are_summed_in_groups(n_sides):
    means, places, weight, sides = drawn(3, n_sides=n_sides)

    def of(some):
        return [places[0][some]]

    group = groups_of_units(means.units.keys, 4)
    each = SharesBelow(means, 100).influences(of, N_PLACES, weight, sides[1])
    expected = np.stack([each[:, group == k].sum(axis=1) for k in range(4)], axis=1)
    np.testing.assert_allclose(SharesBelow(means, 4).influences(of, N_PLACES, weight, sides[1]), expected, atol=1e-15)


@pytest.mark.parametrize("n_units", [2000, 40])
def test_many_classes_of_few_units_each_are_no_other(n_units, monkeypatch):
    """Where the table of units and classes is mostly empty, it is a sparse matrix."""
    monkeypatch.setattr("deciban.core.resampling.class_shares._SMALL", 0)
    rng = np.random.default_rng(0)
    stratum = np.repeat(np.arange(50), 40)
    units = rng.permutation(2000) % n_units if n_units == 2000 else rng.integers(0, n_units, 2000)
    units[:2] = 0  # not all are single
    means = ClassMeans.of(stratum, stratum, None, TrialUnits.of(units))
    place, weight = rng.integers(0, N_PLACES + 1, 2000), np.ones(2000)
    found = SharesBelow(means, 1 << 12).influences(lambda some: [place[some]], N_PLACES, weight, [slice(0, 2000)])
    costs = np.array([(place <= k).astype(np.float64) for k in range(N_PLACES)])
    np.testing.assert_allclose(found, means.by_unit(means.centred(costs)), atol=1e-14)
