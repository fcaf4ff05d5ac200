"""Scores that are far away from all others: who they are, and what is drawn near."""

import numpy as np
import pytest

from deciban.core.training.moments import drawn_near, spreads, typical_spreads
from deciban.core.training.multiclass_objective import ClassTrials
from support.many_classes import problem


def trials(far):
    systems, label = problem(100, 2)
    systems[0, 1, 2] = far
    return ClassTrials(systems, label, np.full(4, 0.25) / np.bincount(label))


@pytest.mark.parametrize("far", [1e7, 1e300, -1e300])
def test_only_a_width_that_few_trials_make_is_replaced(far):
    given = trials(far)
    spread = typical_spreads(spreads(given), np.array([2.0, abs(far) / 10]))
    assert spread[0] == 2.0
    ranges = np.ptp(given.systems[:, 1], axis=1)
    assert np.mean(ranges <= spread[1]) == pytest.approx(0.75, abs=0.02)


def test_systems_that_mostly_score_all_classes_alike_keep_their_width():
    given = trials(1.0)
    given.systems[1:, 1] = 3.0
    np.testing.assert_array_equal(typical_spreads(spreads(given), np.array([2.0, 1e9])), [2.0, 1e9])


def test_drawing_near_keeps_what_is_near_and_what_is_excluded():
    given = trials(1e300)
    given.systems[1, 0, 0] = -np.inf
    near = drawn_near(given, np.array([2.0, 2.0])).systems
    against_best = given.systems - given.systems.max(axis=2, keepdims=True)
    np.testing.assert_array_equal(near[0, 1], np.where(np.arange(4) == 2, 0.0, -100.0))
    np.testing.assert_array_equal(near[1:], against_best[1:])
    assert near[1, 0, 0] == -np.inf
