"""Units from names, and speakers from target trials, against a search that goes from name to name."""

from unittest import mock

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from deciban import InputError
from deciban.core.resampling import units as resampling_units
from deciban.core.resampling.units import connected, keys_of
from deciban.trials import Trials
from deciban.trials.units import side_of, speakers_of, units_of_columns, units_of_trials

NAMES = st.sampled_from(["a", "b", "c", "d", "e", "é b", "李"])
TRIALS = st.lists(st.tuples(NAMES, NAMES, st.booleans(), st.booleans()), min_size=1, max_size=12)


def searched(rows, *, apart):
    """The speaker of each end, as the set of the ends that target trials lead to; and how many speakers there are."""
    ends = [((0, e), (1 if apart else 0, t)) for e, t, _, _ in rows]
    links = [pair for pair, (_, _, target, counts) in zip(ends, rows, strict=True) if target and counts]

    def reached(start):
        found, ahead = {start}, [start]
        while ahead:
            at = ahead.pop()
            for one, other in links:
                for near, far in ((one, other), (other, one)):
                    if near == at and far not in found:
                        found.add(far)
                        ahead.append(far)
        return frozenset(found)

    return [tuple(map(reached, pair)) for pair in ends]


def columns(rows):
    trials = Trials.of({"enroll": [row[0] for row in rows], "test": [row[1] for row in rows]})
    return trials, *(np.array([row[k] for row in rows]) for k in (2, 3))


def partition(groups):
    """Which of several things are equal, whatever they are."""
    first = {}
    return [first.setdefault(one, len(first)) for one in groups]


@given(TRIALS)
def test_speakers_are_what_target_trials_lead_to(rows):
    trials, target, counting = columns(rows)
    found = speakers_of(trials, target, counting)
    expected = searched(rows, apart=found.by_name.apart)
    counted = [k for k in range(len(rows)) if counting[k]]
    ours = [int(side[k]) for side in found.units.codes for k in counted]
    theirs = [expected[k][at] for at in (0, 1) for k in counted]
    assert partition(ours) == partition(theirs)
    assert found.units.n_units == len(set(theirs))
    bad = sum(not target[k] and expected[k][0] == expected[k][1] for k in counted)
    assert found.n_contradictions == bad
    together = searched(rows, apart=False)
    contradicts = any(not target[k] and together[k][0] == together[k][1] for k in counted)
    assert found.by_name.apart == (contradicts and bad == 0)


@given(st.integers(0, 2**32 - 1), st.sampled_from(["few", "chain", "zigzag", "star"]))
def test_few_links_and_many_connect_the_same(seed, shape):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 60))
    order = {
        "few": rng.integers(0, n, int(rng.integers(0, 80))),
        "chain": rng.permutation(n),
        "zigzag": np.argsort(np.abs(np.arange(n) - n / 2), kind="stable"),
        "star": np.where(np.arange(2 * n) % 2, n - 1, np.arange(2 * n) // 2),
    }[shape]
    one, other = order[:-1], order[1:]
    graph = coo_array((np.ones(len(one)), (one, other)), shape=(n, n))
    _, expected = connected_components(graph, directed=False)
    np.testing.assert_array_equal(connected(one, other, n), expected)
    with mock.patch.object(resampling_units, "_MANY_LINKS", 0):
        np.testing.assert_array_equal(connected(one, other, n), expected)


@given(TRIALS, st.randoms(use_true_random=False))
def test_the_order_of_trials_changes_nothing(rows, random):
    order = list(range(len(rows)))
    random.shuffle(order)
    (one, target, _), (other, shuffled, _) = columns(rows), columns([rows[k] for k in order])
    ours, theirs = speakers_of(one, target).units, speakers_of(other, shuffled).units
    assert np.array_equal(ours.keys, theirs.keys)
    for side, again in zip(ours.codes, theirs.codes, strict=True):
        assert np.array_equal(side[order], again)


def test_a_grid_is_like_the_list_of_its_cells():
    enroll, test = ["m1", "m2", "m3"], ["x", "y", "m1", "z"]
    mask = np.ones((3, 4), bool)
    mask[2, 1] = False
    target = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 1]], bool)
    for marked in (None, mask):
        chosen = np.ones((3, 4), bool) if marked is None else marked
        rows = np.argwhere(chosen)
        listed = Trials.of({"enroll": [enroll[e] for e, _ in rows], "test": [test[t] for _, t in rows]})
        grid = Trials.of_grid(enroll, test, marked)
        for found, expected in (
            (speakers_of(grid, target[chosen]).units, speakers_of(listed, target[chosen]).units),
            (units_of_trials(grid, noun="trial"), units_of_trials(listed, noun="trial")),
        ):
            assert np.array_equal(found.keys, expected.keys)
            assert np.array_equal(found.codes, expected.codes)


def test_equal_names_that_would_contradict_the_key_are_taken_apart():
    numbers = [f"{k}" for k in range(6)]
    grid = Trials.of_grid(numbers[:2], numbers)
    target = (np.arange(2)[:, None] == np.arange(6) // 3).ravel()
    found = speakers_of(grid, target)
    assert (found.by_name.apart, found.units.n_units, found.n_contradictions) == (True, 2, 0)
    same = speakers_of(Trials.of({"enroll": ["a", "a", "b"], "test": ["b", "c", "c"]}), [True, False, False])
    assert (same.by_name.apart, same.units.n_units) == (False, 2)


def test_names_are_the_same_where_the_key_contradicts_itself_anyway():
    rows = [("m1", "x", 1), ("m2", "x", 1), ("m1", "y", 1), ("m2", "y", 0), ("x", "z", 1)]
    trials = Trials.of({"enroll": [row[0] for row in rows], "test": [row[1] for row in rows]})
    found = speakers_of(trials, [row[2] for row in rows])
    assert (found.by_name.apart, found.n_contradictions, found.units.n_units) == (False, 1, 1)


def test_channels_of_a_recording_are_two_speakers():
    ids = {"enroll": ["m1", "m2", "m1"], "test": ["call", "call", "call"], "side": ["a", "b", "b"]}
    found = speakers_of(Trials.of(ids), [True, True, False])
    assert (found.units.n_units, found.n_contradictions) == (2, 0)
    assert found.units.codes[0].tolist() == [found.units.codes[1][0], found.units.codes[1][1], found.units.codes[0][0]]


def test_keys_follow_from_names_alone():
    trials = Trials.of({"enroll": ["ann", "bob", "ann"], "test": ["x", "ann", "y"]})
    units = units_of_columns([side_of(trials, "enroll"), side_of(trials, "test")], noun="unit", source="")
    names = np.array(["ann", "bob", "x", "y"], object)
    by_key = dict(zip(keys_of(names).tolist(), names, strict=True))
    assert [by_key[key] for key in units.keys[units.codes[0]].tolist()] == ["ann", "bob", "ann"]
    assert [by_key[key] for key in units.keys[units.codes[1]].tolist()] == ["x", "ann", "y"]
    part = units_of_columns([side_of(trials.take(np.array([1])), "test")], noun="unit", source="")
    assert by_key[int(part.keys[0])] == "ann"


def test_sides_that_are_apart_share_no_unit_and_no_key():
    trials = Trials.of({"enroll": ["a", "b"], "test": ["b", "a"]})
    named = [side_of(trials, "enroll"), side_of(trials, "test")]
    together, apart = (units_of_columns(named, apart=how, noun="unit", source="") for how in (False, True))
    assert (together.n_units, apart.n_units) == (2, 4)
    assert len(set(apart.keys.tolist())) == 4
    assert not set(apart.codes[0].tolist()) & set(apart.codes[1].tolist())


def test_names_of_trials_that_do_not_count_make_no_units():
    trials = Trials.of({"trial": ["a", "b", "c"]})
    units = units_of_columns([side_of(trials, "trial")], np.array([True, False, True]), noun="unit", source="")
    assert units.n_units == 2
    assert units.codes[0][1] == 0
    assert units_of_trials(trials, np.array([True, False, False]), noun="trial").n_units == 1


def test_trials_with_names_are_units_by_these_and_others_by_their_rows():
    pairs = Trials.of({"enroll": ["a", "b", "a"], "test": ["b", "a", "a"]})
    units = units_of_trials(pairs, noun="trial")
    assert units.n_units == 3
    assert set(units_of_trials(pairs.take(np.array([2])), noun="trial").keys) < set(units.keys)
    rows = Trials.of_rows(4)
    one = units_of_trials(rows.take(np.array([1, 3])), noun="trial").keys
    assert set(one) < set(units_of_trials(rows, noun="trial").keys)


def test_very_many_units_are_found():
    n = 200_000
    names = pa.array(np.char.add("u", np.arange(n).astype(str)))
    codes = np.arange(n, dtype=np.int32)
    trials = Trials(("enroll", "test"), (names, names), (np.repeat(codes, 2), np.append(codes, np.roll(codes, 1))))
    units = units_of_columns([side_of(trials, "enroll"), side_of(trials, "test")], noun="unit", source="")
    assert units.n_units == n
    assert np.all(units.keys[1:] > units.keys[:-1])


def test_trials_of_one_name_do_not_say_who_is_who():
    with pytest.raises(InputError, match="the trials do not have two sides"):
        speakers_of(Trials.of({"trial": ["a"]}), [True])
