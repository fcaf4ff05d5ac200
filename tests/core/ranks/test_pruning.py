"""Which cells can matter: told apart where classes do not overlap, and never one too few."""

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from deciban.core.ranks.counts import CountTable, SortedClass
from deciban.core.ranks.hull import Pav, pool
from deciban.core.ranks.pruning import (
    are_open,
    around,
    classes_of,
    holding_vertices,
    in_windows,
    split_by,
    to_split,
    told_apart,
    windows_of,
)
from deciban.core.ranks.score_cells import ScoreCells, merged_cells, of_both

_SCORES = st.lists(st.integers(-30, 30).map(lambda k: k / 7) | st.floats(-9, 9), min_size=1, max_size=80)


def cells_of(tar, non, room=6, cuts=()):
    empty = ScoreCells.empty(room, cuts)
    return told_apart(of_both(*(merged_cells([empty.of_class(np.sort(np.array(one)))]) for one in (non, tar))))


def kept_scores(cells, kept, tar, non):
    windows = windows_of(cells, kept)
    both = [np.sort(np.array(one)) for one in (non, tar)]
    return [one[in_windows(one, windows)] for one in both]


@given(_SCORES, _SCORES, st.integers(1, 40))
def test_what_is_told_apart_has_the_same_trials_in_order(tar, non, room):
    cells = cells_of(tar, non, room)
    assert cells.counts.sum(axis=1).tolist() == [len(non), len(tar)]
    np.testing.assert_allclose(cells.sums().sum(axis=1), [sum(non), sum(tar)], rtol=1e-12, atol=1e-12)
    low, high = cells.low.min(axis=0), cells.high.max(axis=0)
    assert (high[:-1] < low[1:]).all()
    assert (np.diff(cells.starts.astype(float)) >= 0).all()
    one_above = (cells.low[1] > cells.high[0]) | (cells.low[0] > cells.high[1])
    assert not (one_above & (cells.counts > 0).all(axis=0)).any()


@given(_SCORES, _SCORES, st.integers(1, 40))
def test_pav_of_what_is_kept_is_that_of_all_scores(tar, non, room):
    cells = cells_of(tar, non, room)
    kept = holding_vertices(cells)
    of_tar, of_non = classes_of(cells, kept, kept_scores(cells, kept, tar, non))
    found = Pav.of(CountTable.of(of_tar, of_non))
    assert found == Pav.of(CountTable.of(SortedClass.of(np.array(tar)), SortedClass.of(np.array(non))))


@given(_SCORES, _SCORES, st.integers(1, 40))
def test_orders_for_and_against_us_hold_the_true_table_between_them(tar, non, room):
    cells = cells_of(tar, non, room)
    none, nothing = np.zeros(cells.n_cells, bool), [np.zeros(0)] * 2
    areas = [CountTable.of(*classes_of(cells, none, nothing, order)).auc() for order in ("worst", "tied", "best")]
    true = CountTable.of(SortedClass.of(np.array(tar)), SortedClass.of(np.array(non))).auc()
    assert areas[0] <= true <= areas[2]
    assert areas == sorted(areas)
    if not are_open(cells).any():
        assert areas == [true] * 3


@given(_SCORES, _SCORES, st.integers(1, 40), st.lists(st.floats(-9, 9), min_size=1, max_size=5))
def test_no_threshold_splits_a_cell_unseen(tar, non, room, thresholds):
    cells, thresholds = cells_of(tar, non, room), np.array(thresholds)
    kept = split_by(cells, thresholds)
    of_tar, of_non = classes_of(cells, kept, kept_scores(cells, kept, tar, non))
    assert of_tar.below(thresholds).tolist() == [sum(s < t for s in tar) for t in thresholds]
    assert of_non.at_or_above(thresholds).tolist() == [sum(s >= t for s in non) for t in thresholds]
    uncut = cells_of(tar, non, room, thresholds)
    assert not split_by(uncut, thresholds).any()


def test_beyond_64_bits_more_is_kept_and_nothing_lost():
    cells = cells_of([0.1, 0.7, 1.3, 2.9, 3.1, 3.3], [0.2, 0.6, 0.9, 1.4, 2.8, 3.2], 1)
    huge = ScoreCells(**{name: getattr(cells, name) for name in cells.__slots__} | {"counts": cells.counts << 34})
    assert (holding_vertices(huge) >= holding_vertices(cells)).all()
    assert len(pool(huge.counts[1], huge.counts[0])) == len(pool(cells.counts[1], cells.counts[0]))


def test_around_takes_the_next_cells_with_both_classes():
    tar, non = [1.0, 2.1, 4.0, 5.1, 9.0], [1.0, 2.0, 5.0, 9.0]
    cells = cells_of(tar, non, 40)
    both = (cells.counts > 0).all(axis=0)
    row = int(np.flatnonzero(cells.low.min(axis=0) == 4.0)[0])
    assert cells.low.min(axis=0)[around(cells, np.array([row]))].tolist() == [1.0, 4.0, 9.0]
    assert both.sum() == 2


@given(_SCORES, _SCORES, st.integers(1, 40), st.integers(1, 9))
def test_cells_are_split_until_none_is_left(tar, non, room, most):
    cells, passes = cells_of(tar, non, room), 0
    while (kept := cells.low.min(axis=0) < cells.high.max(axis=0)).any():
        some = to_split(cells, kept, most)
        assert some.any()
        assert (kept | ~some).all()
        assert some.sum() <= most or some.sum() == kept.sum()
        windows = windows_of(cells, some)
        empty = ScoreCells.empty(8 * most)
        parts = [own[in_windows(own, windows)] for own in (np.sort(np.array(one)) for one in (non, tar))]
        finer = told_apart(of_both(*(merged_cells([empty.of_class(one)]) for one in parts)))
        assert finer.n_cells > some.sum()
        rest = cells.take(~some)
        order = np.argsort(np.concatenate((rest.low.min(axis=0), finer.low.min(axis=0))), kind="stable")
        joined = {
            name: np.concatenate([getattr(rest, name), getattr(finer, name)], axis=-1)[..., order]
            for name in ("starts", "counts", "low", "high", "mantissas", "weights")
        }
        cells, passes = replace(cells, **joined), passes + 1
        assert passes < 1000
    assert cells.n_cells == len(np.unique(tar + non))
