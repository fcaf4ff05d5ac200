"""Loops are compiled where they can be, and done without where they cannot."""

import sys
from unittest.mock import patch

import pytest

from deciban.core.ranks import value_counts as loops


def test_without_numba_there_are_none():
    with patch.dict(sys.modules, {"numba": None}):
        assert loops.compiled.__wrapped__() is None


def test_what_cannot_be_kept_is_compiled_all_the_same():
    numba = pytest.importorskip("numba", reason="pip install -e '.[fast]'", exc_type=ImportError)
    njit = numba.njit

    def without_folder(*given, cache=False, **how):
        if cache:
            raise RuntimeError("cannot cache function: no locator available")
        return njit(*given, **how)

    with patch.object(numba, "njit", without_folder):
        loop = loops._compiled(numba.int64(numba.int64), lambda n: n + 1)
    assert loop(41) == 42
