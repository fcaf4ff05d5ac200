"""With compiled loops and without them: numbers must be the same."""

import pytest

from deciban.core.ranks.loops import sort_loops

with_and_without = pytest.mark.parametrize("how", ["numpy", "numba"])


def loops_of(how):
    """The loops; skips the test where numba is not installed."""
    if how == "numpy":
        return None
    if sort_loops() is None:
        pytest.skip("numba is not installed: pip install -e '.[fast]'")
    return sort_loops()
