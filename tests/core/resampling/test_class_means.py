"""Influences on sums of class means: against weights that are moved a little, and sums that are written out."""

import numpy as np
import pytest

from deciban.core.resampling.class_sums import ClassMeans, GroupedUnits
from deciban.core.resampling.clusters import ClassGroups
from deciban.core.resampling.units import TrialUnits


def drawn(n_sides=1, weighted=False, seed=0):
    """Trials of three classes, the last of which has two means of its own, with units."""
    rng = np.random.default_rng(seed)
    stratum = np.sort(np.concatenate((np.arange(4), rng.integers(0, 4, 40))))
    label = np.minimum(stratum, 2)
    units = TrialUnits.of(rng.integers(0, 9, (len(label), n_sides)))
    weights = rng.uniform(0.2, 2.0, len(label)) if weighted else None
    return label, stratum, weights, units, rng.normal(size=(3, len(label)))


def units_of(units):
    """The units of each trial, each once."""
    return [set(row) for row in zip(*(side.tolist() for side in units.codes), strict=True)]


@pytest.mark.parametrize("n_sides", [1, 2])
@pytest.mark.parametrize("weighted", [False, True])
def test_influences_are_derivatives_of_weighted_means(n_sides, weighted):
    label, stratum, weights, units, costs = drawn(n_sides, weighted)
    means = ClassMeans.of(label, stratum, weights, units)
    own = np.ones(len(label)) if weights is None else weights
    mass = np.bincount(stratum, own) / np.bincount(label, own)[[0, 1, 2, 2]]

    def metric(unit, of, weight):
        moved = own * np.array([weight if unit in some else 1.0 for some in units_of(units)])
        moved = np.where(stratum == of, moved, own)
        return [mass @ (np.bincount(stratum, moved * row) / np.bincount(stratum, moved)) for row in costs]

    step, n_units = 1e-6, means.design.n_units
    of_units = np.array(
        [[own[[k in some for some in units_of(units)] & (stratum == c)].sum() for k in range(9)] for c in range(4)]
    )
    expected = np.zeros((3, 9))
    for c in range(4):
        seen, share = np.count_nonzero(of_units[c]), of_units[c] / np.bincount(stratum, own)[c]
        stretch = np.sqrt(seen * (n_units - 1) / (n_units * (seen - 1)))
        for unit in range(9):
            slope = (np.array(metric(unit, c, 1 + step)) - metric(unit, c, 1 - step)) / (2 * step)
            expected[:, unit] += stretch * (1 - 1 / seen) / (1 - share[unit]) * slope  # as if the unit were left out
    np.testing.assert_allclose(means.sums(costs).influences(), expected, atol=1e-8)


@pytest.mark.parametrize("n_sides", [1, 2])
def test_squares_are_those_of_influences(n_sides):
    label, stratum, _, units, costs = drawn(n_sides)
    means = ClassMeans.of(label, stratum, None, units)
    sums, apart = means.sums(costs), ClassGroups.apart(3)
    spread, found = sums.spread(slice(None), apart), np.zeros((3, 3, units.n_units))
    for c in range(3):  # what a class does is what all do if the others cost nothing
        found[:, c] = means.sums(np.where(label == c, costs, 0.0)).influences()
    np.testing.assert_allclose(spread.by_group, (found**2).sum(axis=2))
    np.testing.assert_allclose(spread.total, (sums.influences() ** 2).sum(axis=1))
    np.testing.assert_allclose(spread.fourth, (sums.influences() ** 4).sum(axis=1))
    pair = sums.spread(slice(0, 1), ClassGroups.of([2, 0], 3))  # of some classes
    np.testing.assert_allclose(pair.by_group[0], spread.by_group[0, [2, 0]])
    seen = [len(set().union(*(s for s, k in zip(units_of(units), label, strict=True) if k == c))) for c in range(3)]
    assert means.design.clusters.seen.tolist() == seen
    assert means.design.n_units == len(set().union(*units_of(units)))


def test_means_and_variances_of_independent_trials_are_those_by_definition():
    label, stratum, weights, units, costs = drawn(weighted=True)
    spread = ClassMeans.of(label, stratum, weights, units).sums(costs).spread(slice(None), ClassGroups.apart(3))
    share = weights / np.bincount(label, weights)[label]
    for k, row in enumerate(costs):
        left = row - (np.bincount(stratum, weights * row) / np.bincount(stratum, weights))[stratum]
        np.testing.assert_allclose(spread.means[k], np.bincount(label, share * row))
        np.testing.assert_allclose(spread.alone[k], np.bincount(label, share * left**2) / np.bincount(label))


def test_a_class_with_fewer_units_has_the_variance_of_their_mean():
    """Units of one class each: what is estimated is the variance of a mean of so many, with its own mean taken out."""
    label, unit = np.repeat([0, 1], [12, 28]), np.arange(40) // 4
    costs = np.random.default_rng(2).normal(size=40)
    means = ClassMeans.of(label, label, None, TrialUnits.of(unit))
    found = np.square(means.sums(costs[None]).influences()).sum() * 10 / 9
    of_units = costs.reshape(10, 4).mean(axis=1)
    assert found == pytest.approx(of_units[:3].var(ddof=1) / 3 + of_units[3:].var(ddof=1) / 7)
    crossed = ClassMeans.of(label, label, None, TrialUnits.of(np.arange(40) % 4))
    np.testing.assert_allclose(crossed.design.factor_of_pairs, 1.0)


def test_every_trial_by_itself_needs_no_sums():
    label, stratum, _, _, costs = drawn()
    each = ClassMeans.of(label, stratum, None, TrialUnits.each(len(label)))
    assert GroupedUnits.of(each.design, each.units, 10).keys is None
    sums = each.sums(costs)
    total = sums.spread(slice(None), ClassGroups.apart(3)).total
    np.testing.assert_allclose(total, (sums.influences() ** 2).sum(axis=1))


def test_costs_that_are_alike_have_no_influence_to_the_last_digit():
    label, stratum, weights, units, _ = drawn(weighted=True)
    means = ClassMeans.of(label, stratum, weights, units)
    assert not means.sums(np.array([0.1, 1 / 3, 1e17, 7.7])[stratum][None]).influences().any()
