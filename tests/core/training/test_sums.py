"""What looks at trials find adds up, whatever the order."""

import math
import pickle

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from deciban.core.training.sums import Ends, Sums, SumsUpTo

NUMBERS = st.lists(st.floats(-1e12, 1e12), min_size=1, max_size=40)


def summed(parts):
    total = parts[0]
    for one in parts[1:]:
        total = total + one
    return total


@given(NUMBERS, st.randoms())
def test_sums_of_parts_are_the_exact_ones_in_any_order(numbers, random):
    exact = math.fsum(numbers)
    for _ in range(3):
        random.shuffle(numbers)
        found = float(summed([Sums.of([x]) for x in numbers]).total[0])
        assert abs(found - exact) <= 1e-15 * abs(exact) + 1e-25 * math.fsum(map(abs, numbers))


def test_what_is_infinite_stays_so():
    found = summed([Sums.of([1.0, 1.0, np.nan]), Sums.of([np.inf, 2.0, 1.0]), Sums.of([3.0, -1.0, 0.0])])
    np.testing.assert_array_equal(found.total, [np.inf, 2.0, np.nan])


@given(NUMBERS)
def test_ends_are_those_of_all(numbers):
    found = summed([Ends.of(x, x) for x in numbers])
    assert (float(found.low), float(found.high)) == (min(numbers), max(numbers))
    assert float(summed([Ends.up_to(x) for x in numbers]).high) == max(numbers)


def test_sums_with_the_largest_can_be_sent():
    one = SumsUpTo(Sums.of([1.0]), Ends.up_to([3.0, 1.0])) + SumsUpTo(Sums.of([2.0]), Ends.up_to([2.0, 5.0]))
    again = pickle.loads(pickle.dumps(one))  # noqa: S301  # written a moment ago
    assert (again.sums.total.tolist(), again.largest.high.tolist()) == ([3.0], [3.0, 5.0])
