"""What all trials in batches say of units is what the same trials in memory say."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban.core.resampling.units import ClassFacts, TrialUnits, UnitFacts
from deciban.engines import Threads
from deciban.engines.units import look_at_units
from support.array_sources import source_of


@given(st.integers(0, 2**32 - 1), st.booleans())
def test_facts_are_those_of_all_trials(seed, two_sides):
    rng = np.random.default_rng(seed)
    n, n_units = int(rng.integers(2, 40)), int(rng.integers(1, 5))
    units = rng.integers(0, n_units, (n, 2) if two_sides else n)
    truth = rng.random(n) < 0.5
    weights = rng.integers(0, 3, n)
    weights[0] = 1
    counting = weights > 0
    source = source_of(rng.normal(size=n), truth, rng, units=units, weights=weights)
    facts = look_at_units(source, Threads(2))[0]
    whole = TrialUnits.of(units[counting])
    np.testing.assert_array_equal(facts.keys, np.sort(whole.only_used().keys))
    rows = np.atleast_2d(units.T).T[counting].tolist()
    classes = {
        c: [tuple(row) for row, is_tar in zip(rows, truth[counting], strict=True) if is_tar == c] for c in (0, 1)
    }
    assert facts.all_alike == all(len({*some}) <= 1 for some in classes.values())
    shared = [c for c, some in classes.items() if some and set.intersection(*map(set, some))]
    own = not two_sides and whole.only_used().n_units >= int(counting.sum())
    assert sorted(facts.sharing()) == ([] if own else shared)
    if two_sides:
        same = (units[:, 0] == units[:, 1]) & ~truth & counting
        assert facts.n_contradictions == np.count_nonzero(same)


def test_passes_add_up():
    rng = np.random.default_rng(2)
    source = source_of(rng.normal(size=90), rng.random(90) < 0.3, rng, units=rng.integers(0, 9, (90, 2)))
    (first,), (second,) = (
        look_at_units(replace(source, partitions=source.partitions[at::2]), Threads(1)) for at in (0, 1)
    )
    one, other = second + first, look_at_units(source, Threads(1))[0]
    assert (one.n_trials, one.n_contradictions, one.sharing()) == (90, other.n_contradictions, other.sharing())
    np.testing.assert_array_equal(one.keys, other.keys)


def test_of_no_trial_nothing_is_known():
    assert UnitFacts().units is None
    assert UnitFacts().sharing() == []
    names = TrialUnits.of([3, 3, 4])
    one = ClassFacts.of(names, np.array([True, True, False]))
    assert one + ClassFacts() == ClassFacts() + one == one
    assert not (one + ClassFacts.of(names, np.array([False, False, True]))).are_alike


@pytest.mark.parametrize("n", [0, 5])
def test_empty_partitions_say_nothing(n):
    rng = np.random.default_rng(0)
    source = source_of(np.ones(n + 1), np.arange(n + 1) == 0, rng, units=np.arange(n + 1))
    assert look_at_units(source, Threads(1))[0].n_trials == n + 1
