"""Scores as they occur: many ties, infinities, both zeros, every magnitude."""

from hypothesis import settings
from hypothesis import strategies as st

coarse = st.integers(-4, 4).map(lambda k: k / 2)
"""Few values, so that ties within and across classes are the rule."""

hostile = st.sampled_from([-float("inf"), float("inf"), 0.0, -0.0, 1e300, -1e300, 5e-324, 1e-300])
any_score = st.one_of(coarse, hostile, st.floats(-50, 50))


def classes(scores=any_score, max_size=12):
    """Two non-empty classes of scores."""
    one = st.lists(scores, min_size=1, max_size=max_size)
    return st.tuples(one, one)


finite_classes = classes(st.one_of(coarse, st.floats(-50, 50)))
log_odds = st.one_of(coarse, st.floats(-30, 30), st.sampled_from([1e4, -1e4]))


def fewer(share):
    """A share of the inputs of other laws, in every profile: for a law whose inputs take long."""
    return settings(max_examples=max(1, round(share * settings.default.max_examples)))
