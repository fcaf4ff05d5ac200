"""Compiled loops give the numbers of NumPy, and are done without where they cannot be compiled."""

import sys
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban.core.ranks import counts, loops, roc

INF = np.inf
needs_numba = pytest.mark.skipif(loops.sort_loops() is None, reason="pip install -e '.[fast]'")


@pytest.fixture(params=[1 << 24, 100], ids=["whole", "quarters"])
def sorts_by_loops(request):
    """Any number of scores is sorted by loops."""
    with (
        patch.object(loops, "sorts_slowly", lambda: True),
        patch.multiple(loops, _FEWEST=0, _FEWEST_IN_THREADS=0, _ENOUGH=0, _MOST=request.param),
    ):
        yield


def by_numpy(function, *arguments):
    """What a function returns without loops."""
    with patch.object(roc, "ready", lambda: None), patch.object(counts, "ready", lambda: None):
        return function(*arguments)


SCORES = {
    "normal": np.random.default_rng(0).normal(size=70_000),
    "few digits": np.random.default_rng(1).integers(-40, 40, 5000) / 8.0,
    "ends": np.array([0.0, -0.0, INF, -INF, 5e-324, -5e-324, 1.8e308, -1.8e308, 1.0]),
    "close to 1": 1 + np.random.default_rng(2).integers(0, 1 << 20, 5000) * 2.0**-52,
    "close to 1, and a large one": np.append(1 + np.arange(5000)[::-1] * 2.0**-52, [1e300, -1e300]),
    "equal": np.full(300, 2.5),
    "none": np.zeros(0),
}


@needs_numba
@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("name", SCORES)
@pytest.mark.usefixtures("sorts_by_loops")
def test_loops_sort_like_numpy(name, kind):
    with np.errstate(over="ignore", under="ignore"):
        scores = SCORES[name].astype(kind)
    before = scores.copy()
    one, (other, rest) = loops.in_order(scores), loops.all_in_order([scores, scores[::2]])
    for found, expected in ((one, scores), (other, scores), (rest, scores[::2])):
        assert found.dtype == kind
        np.testing.assert_array_equal(found, np.sort(expected))
    np.testing.assert_array_equal(scores, before)


@needs_numba
@given(st.lists(st.floats(allow_nan=False), max_size=50))
def test_any_scores_are_sorted_like_by_numpy(values):
    scores = np.array(values, np.float64)
    with patch.object(loops, "_loops_to_sort", lambda _: loops.sort_loops()):
        np.testing.assert_array_equal(loops.in_order(scores), np.sort(scores))


@needs_numba
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)).filter(any), min_size=1, max_size=60))
def test_loops_pool_like_numpy(groups):
    n_tar, n_non = np.array(groups, np.int64).T
    with patch.object(roc, "FEW", 0):
        np.testing.assert_array_equal(roc.pool(n_tar, n_non), by_numpy(roc.pool, n_tar, n_non))


@needs_numba
def test_numba_is_loaded_only_after_many_slowly_sorted_scores():
    with (
        patch.object(loops, "sorts_slowly", lambda: True),
        patch.object(loops, "ready", lambda: None),
        patch.object(loops, "_SORTED", loops._SortedBefore()),
        patch.object(loops, "_ENOUGH", 3 * loops._FEWEST),
    ):
        found = [loops._loops_to_sort(n) for n in (loops._FEWEST - 1, loops._FEWEST, 2 * loops._FEWEST)]
    assert found == [None, None, loops.sort_loops()]
    with patch.object(loops, "sorts_slowly", lambda: False):
        assert loops._loops_to_sort(10**9) is None


def test_without_numba_there_are_none():
    with patch.dict(sys.modules, {"numba": None}):
        assert loops.count_loops.__wrapped__() is None
        assert loops.sort_loops.__wrapped__() is None


def test_loops_that_cannot_be_kept_are_compiled_all_the_same():
    numba = pytest.importorskip("numba", reason="pip install -e '.[fast]'", exc_type=ImportError)
    njit = numba.njit

    def without_folder(*given, cache=False, **how):
        if cache:
            raise RuntimeError("cannot cache function: no locator available")
        return njit(*given, **how)

    with patch.object(numba, "njit", without_folder):
        loop = loops._compiled(numba.int64(numba.int64), lambda n: n + 1)
    assert loop(41) == 42
