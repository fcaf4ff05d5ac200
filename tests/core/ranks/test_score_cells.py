"""Cells of scores: in order, exact, and the same table whatever is merged with what."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban.core.ranks.score_cells import ScoreCells, keys_of, merged_cells, of_both, scores_of

_FLOATS = st.floats(allow_nan=False, width=64)
_NARROW = st.floats(allow_nan=False, width=32)
_SCORES = st.lists(_FLOATS | st.integers(-4, 4).map(float) | st.floats(-1, 1), max_size=60)


def table_of(tar, non, room=10, cuts=(), kind=np.float64):
    empty = ScoreCells.empty(room, cuts)
    both = (np.sort(np.array(one, kind)) for one in (non, tar))
    return of_both(*(merged_cells([empty.of_class(one)]) for one in both))


def columns(cells):
    return [getattr(cells, name).tobytes() for name in ("starts", "counts", "low", "high", "mantissas")]


@given(st.lists(_FLOATS, min_size=1))
def test_keys_keep_the_order_and_come_back(scores):
    scores = np.array(scores)
    keys = keys_of(scores)
    assert np.array_equal(scores_of(keys), scores + 0.0)
    order = np.argsort(keys, kind="stable")
    assert (np.diff(scores[order]) >= 0).all() or np.isinf(scores).any()
    for a, key_a in zip(scores[:5], keys[:5], strict=True):
        assert [key_a < key for key in keys] == [a < b for b in scores]


@given(tar=_SCORES, non=_SCORES, room=st.integers(1, 30), cuts=st.lists(st.floats(-5, 5), max_size=3))
def test_a_table_has_the_most_bits_that_there_is_room_for(tar, non, room, cuts):
    cells = table_of(tar, non, room, cuts)

    def cell_of(score, level):
        key = int(keys_of(np.array([score]))[0])
        return key >> (64 - level), sum(score >= cut for cut in cells.cuts)

    n_cells = {level: len({cell_of(s, level) for s in [*tar, *non]}) for level in range(12, 65)}
    level = max([level for level, n in n_cells.items() if n <= room], default=12)
    assert cells.level == level
    for c, own in enumerate((non, tar)):
        held = {}
        for score in own:
            held.setdefault(cell_of(score, level), []).append(score)
        filled = np.flatnonzero(cells.counts[c])
        expected = [held[cell] for cell in sorted(held)]
        assert cells.counts[c, filled].tolist() == [len(one) for one in expected]
        assert cells.low[c, filled].tolist() == [min(one) for one in expected]
        assert cells.high[c, filled].tolist() == [max(one) for one in expected]
        sums = cells.sums()[c, filled]
        for total, one in zip(sums, expected, strict=True):
            if math.isinf(one[0]):
                assert total == one[0]
            else:
                exact = float(sum(map(Fraction, one))) if abs(one[0]) < 1e300 else total
                assert total == pytest.approx(exact, rel=1e-15, abs=0.0)


@given(tar=_SCORES, non=_SCORES, room=st.integers(1, 30), data=st.data())
def test_merging_gives_the_same_bytes_in_any_order_and_grouping(tar, non, room, data):
    whole = table_of(tar, non, room, [0.5])
    part_of_tar = [data.draw(st.integers(0, 3)) for _ in tar]
    part_of_non = [data.draw(st.integers(0, 3)) for _ in non]
    parts = [
        table_of(
            [s for s, at in zip(tar, part_of_tar, strict=True) if at == k],
            [s for s, at in zip(non, part_of_non, strict=True) if at == k],
            room,
            [0.5],
        )
        for k in range(4)
    ]
    a, b, c, d = (parts[k] for k in data.draw(st.permutations(range(4))))
    found = [merged_cells([a, b, c, d]), merged_cells([merged_cells([a, b]), merged_cells([c, d])])]
    found += [merged_cells([d, merged_cells([c, merged_cells([b, a])])])]
    for one in found:
        assert one.level == whole.level
        assert columns(one) == columns(whole)


@given(st.lists(_NARROW, max_size=50), st.integers(1, 20))
def test_narrow_scores_have_the_cells_of_wide_ones(scores, room):
    one, other = (table_of(scores, [1.0], room, [0.1], kind) for kind in (np.float32, np.float64))
    assert columns(one) == columns(other)


def test_many_scores_are_taken_in_steps():
    scores = np.sort(np.random.default_rng(1).normal(size=200_000).astype(np.float32))
    cells = table_of(scores, [], 5000)
    assert cells.counts[1].sum() == len(scores)
    assert 2000 < cells.n_cells <= 5000
    assert cells.sums()[1].sum() == pytest.approx(math.fsum(scores.tolist()), rel=1e-12)


def test_few_trials_stay_apart():
    cells = table_of([1.0, 1.0, np.nextafter(1.0, 2.0)], [1.0, -np.inf, np.inf], 5)
    assert cells.level == 64
    assert cells.counts.tolist() == [[1, 1, 0, 1], [0, 2, 1, 0]]


def test_other_cuts_or_room_do_not_merge():
    for other in (table_of([1.0], [], 4, [0.0]), table_of([1.0], [], 5)):
        with pytest.raises(ValueError, match="the same room and the same cuts"):
            merged_cells([table_of([2.0], [], 4), other])
