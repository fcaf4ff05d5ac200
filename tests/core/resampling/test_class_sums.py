"""Influences that are summed up over blocks of trials are those of all trials at once."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban.core.resampling.class_sums import ClassMeans, CostBlock, CostPart, CostSums, centre_of
from deciban.core.resampling.clusters import ClassGroups, StratumWeights, UnitDesign
from deciban.core.resampling.units import TrialUnits

SEEDS = st.integers(0, 2**32 - 1)


def drawn(seed, n_sides):
    """Trials class by class and, within each, stratum by stratum, with units and costs of two metrics."""
    rng = np.random.default_rng(seed)
    home = np.array([0, 0, 1, 2])  # the first class is a group of two
    stratum = np.sort(np.concatenate((np.repeat(np.arange(4), 2), rng.integers(0, 4, int(rng.integers(0, 60))))))
    n = len(stratum)
    weights = rng.uniform(0.2, 3.0, n) if rng.random() < 0.5 else None
    units = TrialUnits.of(rng.integers(0, 7, (n, 2) if n_sides == 2 else n)) if n_sides else None
    costs = np.stack((rng.normal(size=n) + 1e3, np.where(stratum == 1, 0.3, rng.exponential(size=n))))
    return rng, home, stratum, weights, units, costs


@pytest.mark.parametrize("n_sides", [0, 1, 2])
@given(seed=SEEDS)
def test_sums_over_blocks_are_those_of_all_trials(seed, n_sides):
    rng, home, stratum, weights, units, costs = drawn(seed, n_sides)
    n = len(stratum)
    means = ClassMeans.of(home[stratum], stratum, weights, TrialUnits.each(n) if units is None else units)
    halves = np.split(np.arange(n), [int(rng.integers(0, n + 1))])
    parts = [
        StratumWeights.of(stratum[own], 4, None if weights is None else weights[own], units and units.take(own))
        for own in halves
    ]
    design = UnitDesign(home, 3, parts[0] + parts[1])
    assert design.n_units == means.design.n_units
    known, expected = design.clusters, means.design.clusters
    np.testing.assert_array_equal(known.seen, expected.seen)
    np.testing.assert_allclose(known.overlap, expected.overlap, rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(known.n_trials, expected.n_trials)
    every = CostPart(np.arange(2), slice(0, n), costs)
    first = np.unique(stratum, return_index=True)[1]
    centre = centre_of(
        [CostPart(np.arange(2), slice(0, 4), costs[:, first])], CostBlock(stratum[first], None, None), (2, 4)
    )
    sums = [CostSums.empty(centre, design) for _ in halves]
    for own, one in zip(halves, sums, strict=True):
        block = CostBlock(stratum[own], None if weights is None else weights[own], units and units.take(own))
        one.add(CostPart(every.metrics, slice(0, len(own)), costs[:, own]), block)
    sums[0] += sums[1]
    whole = means.sums(costs)
    for groups in (
        ClassGroups.apart(3),
        ClassGroups(np.array([[0.0, 1.0, 0.0], [0.3, 0.0, 0.7]])),
        ClassGroups.of([2], 3),
    ):
        one, other = sums[0].spread(slice(0, 2), groups), whole.spread(slice(0, 2), groups)
        for name in ("total", "fourth", "by_group", "means", "alone"):
            np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=1e-9, atol=1e-20, err_msg=name)
    np.testing.assert_array_equal(sums[0].most, np.abs(costs).max(axis=1))
    found = sums[0].influences(slice(0, 2))
    assert (found is None) == (units is None)
    if units is not None:
        np.testing.assert_allclose(found, whole.influences(), rtol=1e-9, atol=1e-11)


@given(seed=SEEDS)
def test_means_and_variances_of_single_trials_are_those_of_their_definitions(seed):
    """Class by class: the mean of costs, and its variance about the means of strata if trials were independent."""
    _, home, stratum, weights, units, costs = drawn(seed, 1)
    label, own = home[stratum], np.ones(len(stratum)) if weights is None else weights
    found = ClassMeans.of(label, stratum, weights, units).sums(costs).spread(slice(0, 2), ClassGroups.apart(3))
    for k, row in enumerate(costs):
        centre = np.array([np.average(row[stratum == at], weights=own[stratum == at]) for at in range(4)])[stratum]
        for c in range(3):
            rows = label == c
            square = np.average((row - centre)[rows] ** 2, weights=own[rows])
            assert found.means[k, c] == pytest.approx(np.average(row[rows], weights=own[rows]), rel=1e-12)
            assert found.alone[k, c] == pytest.approx(square / np.count_nonzero(rows), rel=1e-8, abs=1e-20)


def test_costs_that_are_alike_in_every_class_give_nothing_to_the_last_digit():
    _, home, stratum, weights, units, _ = drawn(3, 1)
    costs, n = np.array([0.1, 0.7, 1.0 / 3.0, 1e9])[stratum][None], len(stratum)
    for some in (units, None):
        design = UnitDesign(home, 3, StratumWeights.of(stratum, 4, weights, some))
        block, part = CostBlock(stratum, weights, some), CostPart(np.arange(1), slice(0, n), costs)
        sums = CostSums.empty(centre_of([part], block, (1, 4)), design)
        sums.add(part, block)
        assert [one.tolist() for one in sums.powers(slice(0, 1), ClassGroups.apart(3))] == [[0.0], [0.0], [[0.0] * 3]]


def test_a_class_of_one_unit_is_not_stretched():
    home, stratum = np.array([0, 1]), np.array([0, 0, 0, 1, 1])
    units = TrialUnits.of(np.array([0, 1, 2, 3, 3]))
    design = UnitDesign(home, 2, StratumWeights.of(stratum, 2, None, units))
    assert (design.n_units, design.clusters.seen.tolist()) == (4, [3, 1])
    np.testing.assert_allclose(design.factor_of_pairs, [*[np.sqrt(3 * 3 / (4 * 2))] * 3, 0.0], rtol=1e-15)
    np.testing.assert_allclose(design.share, [1 / 3, 1 / 2], rtol=1e-15)
