"""Groups of units that are left out: what stays has as much weight, class by class."""

import numpy as np
import pytest

from deciban.core.resampling.class_sums import ClassMeans
from deciban.core.resampling.replicates import LeftOut
from deciban.core.resampling.unit_counts import groups_of_units
from deciban.core.resampling.units import TrialUnits

LABEL = np.repeat([0, 1, 2], [6, 9, 12])


def test_classes_count_as_much_without_a_group():
    label = np.sort(np.tile(LABEL, 4))
    units = TrialUnits.of(np.random.default_rng(0).integers(0, 9, (len(label), 2)))
    left_out = LeftOut(ClassMeans.of(label, label, None, units), 3)
    group = groups_of_units(units.keys, 3)
    found = [weights for weights, _ in left_out.weights()]
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


def test_trials_cost_what_decisions_without_their_unit_do():
    one, other = np.arange(27) % 9, (np.arange(27) + 1) % 9
    bin_of, costs = np.arange(27) % 4, np.arange(12.0).reshape(3, 4)
    single, double = TrialUnits.of(one), TrialUnits.of(np.stack((one, other), axis=1))
    group = groups_of_units(double.keys, 3)
    of_one, of_other = costs[group[one], bin_of], costs[group[other], bin_of]
    found = [LeftOut(ClassMeans.of(LABEL, LABEL, None, units), 3).held_out(costs, bin_of) for units in (single, double)]
    np.testing.assert_array_equal(found, [of_one, (of_one + of_other) / 2])


@pytest.mark.parametrize("sides", [1, 2])
@pytest.mark.parametrize("makes_up", [True, False])
def test_places_hold_what_stays_without_each_group(sides, makes_up):
    rng = np.random.default_rng(sides)
    label, place = np.sort(rng.integers(0, 3, 200)), rng.integers(0, 90, 200)
    weight, units = rng.uniform(0.1, 3.0, 200), TrialUnits.of(rng.integers(0, 25, (200, sides)))
    left_out = LeftOut(ClassMeans.of(label, label, rng.uniform(0.5, 2.0, 200), units), 5)
    found = left_out.tables(place, 90, weight, makes_up=makes_up)
    for number, (weights, stays) in enumerate(left_out.weights()):
        own = (weights if makes_up else left_out.share * stays) * weight
        expected = [own[(place == k) & (stays > 0)].sum() for k in range(90)]
        np.testing.assert_allclose(found[number], expected, rtol=1e-9, atol=1e-16)
        assert ((found[number] == 0.0) == (np.array(expected) == 0.0)).all()
