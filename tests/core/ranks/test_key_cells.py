"""Cells of scores that are refined until the hull is known: PAV blocks are those of all scores."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban.core.ranks.counts import CountTable, SortedClass
from deciban.core.ranks.hull import Pav
from deciban.core.ranks.key_cells import KeyCells, Refining, Sides

SEEDS = st.integers(0, 2**32 - 1)


def trials(seed):
    """Scores with ties and infinities, kinds of which all occur, maybe weights, and the part of each trial."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 500))
    kind = rng.integers(0, 3, n)
    kind[:3] = range(3)
    scores = np.round(rng.normal(size=n) * 2.0 + (kind == 0), rng.integers(0, 6))
    scores[rng.random(n) < 0.03] = rng.choice([-np.inf, np.inf, -0.0, 1e-40, 1e30])
    weights = rng.integers(1, 4, n) if rng.random() < 0.5 else None
    return rng, scores.astype(rng.choice([np.float32, np.float64])), kind, weights


def counted(rng, scores, kind, weights, room, windows=None):
    parts = np.array_split(rng.permutation(len(scores)), 4)
    how = {"n_kinds": 3, "room": room, "windows": windows}
    found = [KeyCells.of(scores[p], kind[p], None if weights is None else weights[p], **how) for p in parts]
    return KeyCells.merged([KeyCells.empty(3, room), *found])


def solved(sides, rng, scores, kind, weights):
    room = int(rng.integers(3, 40))
    found = Refining.of(sides, counted(rng, scores, kind, weights, room))
    for _ in range(70):
        if not found.n_open:
            return found
        room = max(room, 2 * found.n_open + 2)
        found = found.refined(counted(rng, scores, kind, weights, room, found.windows))
    raise AssertionError("the hull stays open")


def pav_of_all(scores, is_target, weights):
    tar, non = (SortedClass.of(scores[k], None if weights is None else weights[k]) for k in (is_target, ~is_target))
    return Pav.of(CountTable.of(tar, non))


@given(SEEDS)
def test_blocks_of_whole_numbers_are_those_of_all_scores(seed):
    rng, scores, kind, weights = trials(seed)
    found = solved(Sides(np.array([True, False, False]), np.ones(3)), rng, scores, kind, weights).pav
    expected = pav_of_all(scores, kind == 0, weights)
    for name in ("n_tar", "n_non", "low", "high", "llr"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), err_msg=name)


@given(SEEDS)
def test_kinds_may_weigh_differently(seed):
    rng, scores, kind, _ = trials(seed)
    share = np.array([1.0, 0.3, 1.0])
    found = solved(Sides(np.array([True, False, False]), share), rng, scores, kind, None)
    n_tar, n_non, low, high = found.blocks
    expected = pav_of_all(scores, kind == 0, share[kind])
    np.testing.assert_allclose(n_tar, expected.n_tar, rtol=1e-12)
    np.testing.assert_allclose(n_non, expected.n_non, rtol=1e-12)
    np.testing.assert_array_equal([low, high], [expected.low, expected.high])


@given(SEEDS)
def test_cells_do_not_depend_on_how_they_were_merged(seed):
    rng, scores, kind, weights = trials(seed)
    one, other = (counted(rng, scores, kind, weights, 20) for _ in range(2))
    whole = KeyCells.of(scores, kind, weights, n_kinds=3, room=20)
    for found in (one, other):
        assert found.level == whole.level
        assert found.n_cells <= 20
        for name in ("starts", "counts", "low", "high"):
            np.testing.assert_array_equal(getattr(found, name), getattr(whole, name), err_msg=name)


@pytest.mark.parametrize("kind", [0, 1])
def test_a_side_alone_is_one_block(kind):
    cells = KeyCells.of(np.array([1.0, 2.0, 3.0]), np.full(3, kind), n_kinds=2, room=10)
    n_tar, n_non, low, high = Refining.of(Sides(np.array([True, False]), np.ones(2)), cells).blocks
    assert [n_tar.tolist(), n_non.tolist()] == ([[3], [0]] if kind == 0 else [[0], [3]])
    assert [low[0], high[0]] == [1.0, 3.0]
