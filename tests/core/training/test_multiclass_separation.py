"""Directions in which the cost of many classes falls forever, against scipy's linear programs and graphs."""

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse.csgraph import connected_components

from deciban.core.training.multiclass_objective import Escape, reachable


def leads_of(seed, *, least=-3, most=3):
    """Small whole numbers, so that ways round that add up to exactly 0 are common; some pairs are never compared."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 6))
    leads = rng.integers(least, most, (n, n)).astype(float)
    leads[rng.random((n, n)) < rng.choice([0.0, 0.3, 0.7])] = -np.inf
    np.fill_diagonal(leads, -np.inf)
    return leads


def most_room(leads, scale, pair):
    """The largest room of a pair in any direction that closes none, with numbers of at most 1e3."""
    n, (i, j) = len(leads), pair
    rows = []
    for k, m in np.argwhere(leads > -np.inf):
        row = np.zeros(n + 1)
        row[0], row[1 + k], row[1 + m] = leads[k, m], -1.0, 1.0  # scale * lead <= offset_k - offset_m
        rows.append(row)
    aim = np.zeros(n + 1)
    aim[0], aim[1 + i], aim[1 + j] = leads[i, j], -1.0, 1.0
    found = linprog(aim, rows, np.zeros(len(rows)), bounds=[(0.0, 1.0 if scale else 0.0)] + [(-1e3, 1e3)] * n)
    return -found.fun


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("scale", [True, False])
def test_a_direction_makes_all_leads_fall_that_any_direction_does(seed, scale):
    leads = leads_of(seed, most=2 if seed % 2 else 4)
    compared = np.argwhere(leads > -np.inf)
    escape = Escape.of(leads, scale=scale, offset=True)
    room = {tuple(pair): most_room(leads, scale, pair) for pair in compared.tolist()}
    if escape is None:
        assert max(room.values(), default=0.0) == pytest.approx(0.0, abs=1e-9)
        return
    for (i, j), most in room.items():
        mine = escape.offsets[i] - escape.offsets[j] - escape.scale * leads[i, j]
        assert escape.level[i, j] == (most < 1e-9)
        if not escape.level[i, j]:
            assert mine > 1e-3
        elif escape.scale > 0.0:
            assert mine == pytest.approx(0.0, abs=1e-12)
        else:
            assert escape.offsets[i] == escape.offsets[j]


@pytest.mark.parametrize(
    ("leads", "is_tie"),
    [
        ([[0, 0.1, -9], [-9, 0, 0.2], [-0.3, -9, 0]], True),  # 0.1 + 0.2 - 0.3 is 5.6e-17 in floating point
        ([[0, 0.1, -9], [-9, 0, 0.2], [-0.3 - 1e-12, -9, 0]], False),
        ([[0, 1e-300, -1.0], [-1e300, 0, -1.0], [-1.0, -1.0, 0]], False),
        ([[0, 0.0], [0.0, 0]], True),
        ([[0, 0.3], [np.nextafter(-0.3, -1), 0]], False),
    ],
)
def test_a_way_round_that_rounding_keeps_off_0_is_a_tie_and_two_classes_are_exact(leads, is_tie):
    leads = np.array(leads)
    np.fill_diagonal(leads, -np.inf)
    escape = Escape.of(leads, scale=True, offset=True)
    assert escape.scale == 1.0
    assert bool(escape.level.any()) is is_tie


def test_without_offsets_no_rival_may_lead():
    assert Escape.of(np.array([[-np.inf, 1e-9], [-1.0, -np.inf]]), scale=True, offset=False) is None
    escape = Escape.of(np.array([[-np.inf, 0.0], [-1.0, -np.inf]]), scale=True, offset=False)
    assert (escape.scale, escape.offsets.tolist()) == (1.0, [0.0, 0.0])
    assert escape.level.tolist() == [[False, True], [False, False]]


@pytest.mark.parametrize("seed", range(30))
def test_nodes_that_reach_each_other_are_the_strong_components(seed):
    rng = np.random.default_rng(seed)
    step = rng.random((8, 8)) < rng.choice([0.05, 0.15, 0.4])
    reach = reachable(step)
    _, home = connected_components(step, directed=True, connection="strong")
    np.testing.assert_array_equal(reach & reach.T, home[:, None] == home)
    powers = np.linalg.matrix_power(np.eye(8) + step, 8) > 0
    np.testing.assert_array_equal(reach, powers)
