"""Looking trials up: every way of finding them counts copies and strangers alike."""

import numpy as np
import pytest

from deciban.trials import Trials
from deciban.trials import lists as lookup
from deciban.trials.lists import Lookup
from support.joins import trials_of

GRID = [("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")]


@pytest.fixture(params=[0, 10**9], ids=["sorted", "table"], autouse=True)
def path(request, monkeypatch):
    monkeypatch.setattr(lookup, "_SPARSEST_TABLE", request.param)


def test_copies_of_strangers_are_strangers():
    """Also of those whose names are both known."""
    found = Lookup(trials_of([GRID[0], GRID[3]])).find(trials_of([GRID[1], GRID[3], GRID[1], ("q", "x"), ("q", "x")]))
    assert found.rows.tolist() == [-1, 1]
    assert (found.n_extra, found.copies.tolist()) == (4, [[], []])


def test_copies_stand_in_the_order_of_their_rows():
    rows = [GRID[i] for i in (0, 3, 1, 3, 2, 0, 3, 1)]
    copies = [[1, 0, 1, 2], [3, 5, 6, 7]]
    assert Lookup(trials_of(rows)).surplus.tolist() == copies
    found = Lookup(trials_of(GRID)).find(trials_of(rows))
    assert (found.rows.tolist(), found.n_extra, found.copies.tolist()) == ([0, 2, 4, 1], 0, copies)
    found = Lookup(trials_of(GRID[::3])).find(trials_of(rows))
    assert (found.rows.tolist(), found.n_extra) == ([0, 1], 3)
    assert found.copies.tolist() == [[1, 0, 1], [3, 5, 6]]


def test_later_copies_are_told_in_order_whatever_the_order_of_their_names():
    wanted = trials_of(GRID)
    rows = trials_of([GRID[i] for i in (3, 0, 3, 0)])
    assert Lookup(wanted).find(rows).copies.tolist() == [[0, 1], [2, 3]]
    assert Lookup(Trials.of_grid(["b", "a"], ["y", "x"])).find(rows).copies.tolist() == [[0, 1], [2, 3]]


def test_a_grid_is_found_in_a_grid():
    mask = np.array([[True, False, True], [False, True, True]])
    among = Trials.of_grid(["b", "c"], ["y", "x", "z"], mask)
    found = Lookup(Trials.of_grid(["a", "b"], ["x", "y"])).find(among)
    assert (found.rows.tolist(), found.n_extra) == ([-1, -1, -1, 0], 3)
    found = Lookup(trials_of([("c", "z"), ("c", "y"), ("b", "z"), ("q", "z")])).find(among)
    assert (found.rows.tolist(), found.n_extra) == ([3, -1, 1, -1], 2)


def test_nothing_among_nothing():
    none = trials_of([("a", "b")]).take(np.array([], np.int64))
    assert Lookup(none).find(none).rows is None
    found = Lookup(none).find(trials_of(GRID))
    assert (found.rows.tolist(), found.n_extra) == ([], 4)
    found = Lookup(trials_of(GRID)).find(none)
    assert (found.rows.tolist(), found.n_extra) == ([-1] * 4, 0)


def test_the_same_trials_in_the_same_order_need_no_rows():
    assert Lookup(trials_of(GRID)).find(trials_of(GRID)).rows is None
    assert Lookup(trials_of(GRID)).find(trials_of(GRID[::-1])).rows.tolist() == [3, 2, 1, 0]
    assert Lookup(trials_of(GRID)).find(Trials.of_grid(["a", "b"], ["x", "y"])).rows.tolist() == [0, 1, 2, 3]
