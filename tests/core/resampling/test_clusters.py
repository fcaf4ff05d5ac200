"""Sizes of classes and of groups of them, and what follows for intervals."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban.core.resampling.clusters import ClassGroups, ClusterDesign, Spread, StratumWeights, UnitDesign
from deciban.core.resampling.intervals import ClassSize
from deciban.core.resampling.units import TrialUnits


def design_of(*sizes):
    """Classes whose units have so many trials, each unit in one class."""
    home = np.repeat(np.arange(len(sizes)), [len(own) for own in sizes])
    weight = np.concatenate(sizes).astype(np.float64)
    n_trials = np.array([sum(own) for own in sizes], np.float64)
    return ClusterDesign.of(home, np.arange(len(home)), weight, (len(sizes), len(home)), n_trials)


def test_means_over_classes_need_enough_clusters_of_each():
    design = design_of([2] * 10, [3] * 5, [5, 1, 1, 1, 1, 1])
    assert design.effective.tolist() == [10, 5, 3]
    assert design.too_few(["a", "b", "c"]) == {"c": pytest.approx(100 / 30)}
    assert design.has_enough(ClassGroups.of([0, 1], 3))
    assert not design.has_enough(ClassGroups.apart(3))
    assert design.has_enough(ClassGroups(np.array([[1.0, 0.0, 0.0], [0.0, 0.5, 0.5]])))  # rivals count together


def test_a_class_has_the_size_of_its_units():
    design = design_of([4, 2, 1, 1, 1, 1], [2] * 8)
    for k, totals in enumerate(([4, 2, 1, 1, 1, 1], [2] * 8)):
        found, expected = (
            design.group_sizes(ClassGroups.apart(2))[k],
            ClassSize.of(np.array(totals, np.float64), float(sum(totals))),
        )
        assert (found.n_trials, found.n_units) == (expected.n_trials, expected.n_units)
        assert found.n_clusters == pytest.approx(expected.n_clusters)


def test_graded_errors_count_as_decisions_that_vary_alike():
    """Trials that cost 0 or half of the most: as independent trials, their mean is as sure as it looks."""
    design = design_of([1] * 200)
    variance = 0.5 * 0.1 * (1 - 0.1) * 0.5 / 200  # half of the trials' rate of 0.1 each way
    spread = Spread(np.array(variance), np.array(0.0), np.array([variance]), np.array([0.05]), np.array([variance]))
    (part,) = design.rates(spread, ClassGroups.apart(1), np.ones(1), are_graded=True).parts[0]
    assert part.size.effective(part.rate, part.variance) == pytest.approx(0.05 * 0.95 / (variance * 200 / 199))
    (part,) = design.rates(spread, ClassGroups.apart(1), np.ones(1), are_graded=False).parts[0]
    assert part.size.effective(part.rate, part.variance) == 200.0


def test_sizes_of_groups_come_from_the_units_that_classes_share():
    """Against sums over units; metrics of one detector share their groups, which are summed once."""
    home, unit = np.array([0, 0, 1, 1, 2, 2, 2]), np.array([0, 1, 1, 2, 2, 3, 4])
    weight = np.array([3.0, 1.0, 2.0, 2.0, 1.0, 1.0, 2.0])
    groups = ClassGroups(np.array([[1.0, 0.0, 0.0], [0.0, 0.25, 0.75]]))
    design = ClusterDesign.of(home, unit, weight, (3, 5), np.array([4.0, 4.0, 4.0]))
    share = np.zeros((3, 5))
    share[home, unit] = weight / 4.0
    by_unit = groups.weights @ share
    found = design.group_sizes(groups)
    assert [size.n_clusters for size in found] == pytest.approx([1 / (row @ row) for row in by_unit])
    assert [size.n_units for size in found] == [2, 5]
    assert design.group_sizes(groups) is found
    assert design.group_sizes(ClassGroups(groups.weights[::-1]))[0].n_clusters == found[1].n_clusters


@pytest.mark.parametrize("single", [False, True])
@given(seed=st.integers(0, 2**32 - 1))
def test_powers_are_summed_over_units_through_their_groups(seed, single):
    rng = np.random.default_rng(seed)
    n_classes, n_units = 4, 6
    unit = rng.permutation(n_units) if single else np.append([0, 0], rng.integers(0, n_units, 15))
    stratum = np.append([0, 1], rng.integers(0, n_classes, len(unit) - 2))
    weights = StratumWeights.of(stratum, n_classes, None, TrialUnits.of(unit))
    design = UnitDesign(np.arange(n_classes), n_classes, weights)
    values = rng.normal(size=(2, design.n_pairs))
    assert design.are_single == single
    for groups in (
        ClassGroups.apart(4),
        ClassGroups(np.array([[0.0, 0.5, 0.0, 0.5], [1.0, 0.0, 0.0, 0.0]])),
        ClassGroups.of([3], 4),
    ):
        found = design.powers(values[:, design.pairs_of(groups)], groups)
        for k, row in enumerate(values):
            sums = np.zeros((n_units, len(groups)))
            for home, own, value in zip(design.home_of_pairs, design.pairs.unit, row, strict=True):
                if (group := groups.of_class[home]) >= 0:
                    sums[own, group] += value
            whole = sums.sum(axis=1)
            assert found[0][k] == pytest.approx(math.fsum(whole**2), rel=1e-9, abs=1e-12)
            assert found[1][k] == pytest.approx(math.fsum(whole**4), rel=1e-9, abs=1e-12)
            np.testing.assert_allclose(found[2][k], (sums**2).sum(axis=0), rtol=1e-9, atol=1e-12)


def test_a_mean_of_classes_has_the_trials_that_its_variance_says():
    """Of n trials each, the variances of means add as squares of weights over n."""
    design = design_of([2] * 10, [3] * 20, [1] * 30)
    (size,) = design.group_sizes(ClassGroups(np.array([[0.2, 0.8, 0.0]])))
    assert 1.0 / size.n_trials == pytest.approx(0.2**2 / 20 + 0.8**2 / 60)
    assert 1.0 / size.n_clusters == pytest.approx(0.2**2 / 10 + 0.8**2 / 20)
    assert size.n_units == 30


def test_classes_of_the_same_units_have_no_more_than_there_are():
    home, unit = np.repeat([0, 1], 10), np.tile(np.arange(10), 2)
    design = ClusterDesign.of(home, unit, np.ones(20), (2, 10), np.full(2, 10.0))
    (size,) = design.group_sizes(ClassGroups(np.array([[0.5, 0.5]])))
    assert (size.n_units, design.n_units_of(ClassGroups.apart(2))) == (10, 10)
    assert size.n_clusters == pytest.approx(10.0)
    few = Spread(np.array(9.0), np.array(81.0), np.array([4.0, 5.0]), np.zeros(2), np.zeros(2))
    assert design.degrees(few, ClassGroups.apart(2)) == pytest.approx(9.0)
    assert design.degrees(few, ClassGroups.apart(2), is_mean=True) == pytest.approx(max(2.0 / 0.9, 9.0 * 26 / 99))
