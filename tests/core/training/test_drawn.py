"""Samples drawn from parts: of all trials, whatever the order in which parts are put together."""

import numpy as np

from deciban.core.training.linear_objective import TrainingTrials
from deciban.core.training.sums import RandomSample


def drawn(scores, truth, size):
    return RandomSample.of(TrainingTrials.of([scores], truth), 2, size, (scores, truth))


def test_the_order_of_parts_does_not_matter():
    rng = np.random.default_rng(1)
    parts = [drawn(rng.normal(size=n), rng.random(n) < 0.1, 50) for n in (400, 10, 1000, 1)]
    forth = (parts[0] + parts[1]) + (parts[2] + parts[3])
    back = parts[3] + (parts[2] + (parts[1] + parts[0]))
    np.testing.assert_array_equal(forth.trials.columns[0], back.trials.columns[0])
    np.testing.assert_array_equal(forth.trials.is_target, back.trials.is_target)


def test_so_many_of_each_class_or_all_that_there_are():
    rng = np.random.default_rng(2)
    scores, truth = rng.normal(size=3000), np.arange(3000) < 30
    found = drawn(scores, truth, 100)
    assert (np.count_nonzero(found.trials.is_target), len(found.trials)) == (30, 130)
    assert len(np.unique(found.trials.columns[0])) == 130
    assert np.isin(found.trials.columns[0], scores).all()


def test_every_trial_has_the_same_chance():
    rng = np.random.default_rng(3)
    parts = [(rng.normal(size=2000), np.zeros(2000, bool)) for _ in range(20)]
    place = np.concatenate([np.arange(2000)] * 20)
    scores = np.concatenate([one for one, _ in parts])
    total = None
    for one, truth in parts:
        own = drawn(one, truth, 2000)
        total = own if total is None else total + own
    share = np.bincount(place[np.isin(scores, total.trials.columns[0])] // 200, minlength=10)
    assert abs(share - 200).max() < 5 * np.sqrt(200)  # of each tenth of the rows
