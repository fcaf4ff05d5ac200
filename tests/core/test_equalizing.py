"""Weights by which conditions count alike: weighted means are means over conditions of their means."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from deciban.core.class_counts import equalizing_factors, sharing_factors, totals_by_condition


@st.composite
def trials(draw):
    n = draw(st.integers(1, 40))
    one = st.lists(st.integers(0, 3), min_size=n, max_size=n)
    condition, truth = np.array(draw(one)), np.array(draw(one))
    weight = draw(st.none() | st.lists(st.sampled_from([0, 0.5, 1, 3]), min_size=n, max_size=n).map(np.array))
    value = np.array(draw(st.lists(st.floats(-5, 5), min_size=n, max_size=n)))
    return condition, truth, weight, value


@given(trials())
def test_a_weighted_mean_is_the_mean_over_conditions_that_have_the_class(drawn):
    condition, truth, weight, value = drawn
    own = np.ones(len(truth)) if weight is None else weight
    totals = totals_by_condition(condition, truth, weight, n_conditions=4, n_classes=4)
    made = equalizing_factors(totals)[condition, truth] * own
    for k in range(4):
        some = [(condition == c) & (truth == k) & (own > 0) for c in range(4)]
        means = [np.average(value[one], weights=own[one]) for one in some if one.any()]
        if means:
            chosen = truth == k
            np.testing.assert_allclose(np.average(value[chosen], weights=made[chosen]), np.mean(means), atol=1e-9)
    assert np.array_equal(made == 0, own == 0)


@given(trials())
def test_totals_are_those_of_a_loop(drawn):
    condition, truth, weight, _ = drawn
    found = totals_by_condition(condition, truth, weight, n_conditions=4, n_classes=4)
    for c in range(4):
        for k in range(4):
            chosen = (condition == c) & (truth == k)
            assert found[c, k] == (chosen.sum() if weight is None else weight[chosen].sum())
    assert weight is not None or found.dtype == np.int64


def test_the_largest_condition_of_a_class_keeps_its_weights():
    made = equalizing_factors(np.array([[1, 2], [1, 1], [0, 0]]))
    assert made.tolist() == [[1.0, 1.0], [1.0, 2.0], [0.0, 0.0]]


def test_conditions_have_their_shares_and_classes_without_any_keep_their_weights():
    """Factors of a class make its totals those of its shares; NaN stands for none."""
    totals = np.array([[4, 6], [2, 2], [0, 8]])
    found = sharing_factors(totals, np.array([[np.nan, 0.5], [np.nan, 0.25], [np.nan, 0.25]]))
    np.testing.assert_allclose(found * totals, [[4, 8], [2, 4], [0, 4]], rtol=1e-15)
