"""Groups of units that are left out: what stays has as much weight, class by class."""

import numpy as np
import pytest

from deciban.core.resampling.class_means import ClassMeans
from deciban.core.resampling.left_out import LeftOut
from deciban.core.resampling.unit_counts import groups_of_units
from deciban.core.resampling.units import TrialUnits

LABEL = np.repeat([0, 1, 2], [6, 9, 12])


def test_classes_count_as_much_without_a_group():
    label = np.sort(np.tile(LABEL, 4))
    units = TrialUnits.of(np.random.default_rng(0).integers(0, 9, (len(label), 2)))
    left_out = LeftOut(ClassMeans.of(label, label, None, units), 3)
    group = groups_of_units(units.keys, 3)
    found = list(left_out.weights())
    assert left_out.is_possible
    assert len(found) == 3
    for number, weights in enumerate(found):
        np.testing.assert_allclose(np.bincount(label, weights), 1.0)
        gone = (group[units.codes[0]] == number) | (group[units.codes[1]] == number)
        assert ((weights == 0.0) == gone).all()


def test_a_group_with_all_trials_of_a_class_cannot_be_left_out():
    one, two = TrialUnits.of(np.where(LABEL == 1, 0, np.arange(27) + 1)), TrialUnits.of(np.zeros(27, int))
    assert not LeftOut(ClassMeans.of(LABEL, LABEL, None, one), 10).is_possible
    assert not LeftOut(ClassMeans.of(LABEL, LABEL, None, two), 10).is_possible


def test_shift_takes_out_a_bias_that_falls_with_the_number():
    """A mean with a bias of 3/n, of 10 groups of 5 units."""
    assert 1.0 - 3 / 50 + LeftOut.shift(1.0 - 3 / 50, [1.0 - 3 / 45] * 10) == pytest.approx(1.0, abs=1e-12)
