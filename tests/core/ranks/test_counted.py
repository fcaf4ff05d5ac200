"""Trials by score and weight: merged in any order they are the same, and the class that sorting makes."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from deciban.core.ranks.counted import Counted
from deciban.core.ranks.counts import SortedClass


@given(st.integers(0, 2**32 - 1), st.booleans())
def test_parts_in_any_order_are_the_whole(seed, weighted):
    rng = np.random.default_rng(seed)
    scores = rng.integers(-3, 4, 50) * 0.5
    weights = rng.gamma(1.0, 1.0, 50).round(1) + 0.1 if weighted else None
    parts = np.array_split(rng.permutation(50), 3)
    made = [Counted.of(scores[some], None if weights is None else weights[some]) for some in parts]
    one, other = Counted.merged(made), Counted.merged([made[2], Counted.merged(made[:2])])
    whole = Counted.of(scores, weights)
    for found in (one, other):
        assert all(map(np.array_equal, found.arrays, whole.arrays))
    below = SortedClass.of(scores, weights).below(np.array([-1.0, 0.0, 0.5]))
    np.testing.assert_allclose(whole.as_class().below(np.array([-1.0, 0.0, 0.5])), below, rtol=1e-14)
