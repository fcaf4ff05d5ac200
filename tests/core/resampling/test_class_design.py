"""Sizes of classes and of groups of them, and what follows for intervals."""

import numpy as np
import pytest

from deciban.core.resampling.class_design import ClusterDesign, Groups, Spread
from deciban.core.resampling.rates import ClassSize


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
    assert design.has_enough(Groups.of([0, 1], 3))
    assert not design.has_enough(Groups.apart(3))
    assert design.has_enough(Groups(np.array([[1.0, 0.0, 0.0], [0.0, 0.5, 0.5]])))  # rivals count together


def test_a_class_has_the_size_of_its_units():
    design = design_of([4, 2, 1, 1, 1, 1], [2] * 8)
    for k, totals in enumerate(([4, 2, 1, 1, 1, 1], [2] * 8)):
        found, expected = (
            design.sizes(Groups.apart(2))[k],
            ClassSize.of(np.array(totals, np.float64), float(sum(totals))),
        )
        assert (found.n_trials, found.n_units) == (expected.n_trials, expected.n_units)
        assert found.n_clusters == pytest.approx(expected.n_clusters)


def test_graded_errors_count_as_decisions_that_vary_alike():
    """Trials that cost 0 or half of the most: as independent trials, their mean is as sure as it looks."""
    design = design_of([1] * 200)
    variance = 0.5 * 0.1 * (1 - 0.1) * 0.5 / 200  # half of the trials' rate of 0.1 each way
    spread = Spread(np.array(variance), np.array(0.0), np.array([variance]), np.array([0.05]), np.array([variance]))
    (part,) = design.rates(spread, Groups.apart(1), np.ones(1), are_graded=True).parts[0]
    assert part.size.effective(part.rate, part.variance) == pytest.approx(0.05 * 0.95 / (variance * 200 / 199))
    (part,) = design.rates(spread, Groups.apart(1), np.ones(1), are_graded=False).parts[0]
    assert part.size.effective(part.rate, part.variance) == 200.0


def test_sizes_of_groups_come_from_the_units_that_classes_share():
    """Against sums over units; metrics of one detector share their groups, which are summed once."""
    home, unit = np.array([0, 0, 1, 1, 2, 2, 2]), np.array([0, 1, 1, 2, 2, 3, 4])
    weight = np.array([3.0, 1.0, 2.0, 2.0, 1.0, 1.0, 2.0])
    groups = Groups(np.array([[1.0, 0.0, 0.0], [0.0, 0.25, 0.75]]))
    design = ClusterDesign.of(home, unit, weight, (3, 5), np.array([4.0, 4.0, 4.0]))
    share = np.zeros((3, 5))
    share[home, unit] = weight / 4.0
    by_unit = groups.weights @ share
    found = design.sizes(groups)
    assert [size.n_clusters for size in found] == pytest.approx([1 / (row @ row) for row in by_unit])
    assert [size.n_units for size in found] == [2, 5]
    assert design.sizes(groups) is found
    assert design.sizes(Groups(groups.weights[::-1]))[0].n_clusters == found[1].n_clusters
