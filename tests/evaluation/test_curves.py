"""Curves of many trials, which are drawn from few bins, against their definition."""

import numpy as np
import pytest

from deciban import evaluate
from deciban.evaluation import curves


def bits(scores, weights, log_odds, sign):
    """Weighted mean surprise of one class at each prior, all trials at once."""
    return np.array([np.average(np.logaddexp(0.0, sign * (scores + x)), weights=weights) for x in log_odds]) / np.log(2)


def cross_entropy(tar, non, log_odds):
    prior = 1 / (1 + np.exp(-log_odds))
    return prior * bits(*tar, log_odds, -1) + (1 - prior) * bits(*non, log_odds, 1)


@pytest.mark.parametrize("kind", ["none", "whole", "in bins", "fractional"])
@pytest.mark.parametrize("n", [300, 30_000])
def test_the_cross_entropy_of_many_weighted_trials_is_that_of_the_definition(n, kind):
    rng = np.random.default_rng(7)
    tar, non = rng.normal(2.0, 3.0, n), rng.normal(-2.0, 2.0, 2 * n)
    tar_weights = non_weights = None
    if kind != "none":  # those of weak targets and strong non-targets count for more
        tar_weights, non_weights = np.where(tar < 1.0, 5, 1), np.where(non > 0.0, 7, 1)
    if kind == "in bins":  # the upper half of each bin counts for more: its mean is not in the middle
        tar_weights, non_weights = (1 + 9 * (x * curves._BINS_PER_NAT % 1.0 > 0.5) for x in (tar, non))
    if kind == "fractional":
        tar_weights, non_weights = tar_weights / 3, non_weights * 0.3
    found = evaluate(tar, non, tar_weights=tar_weights, non_weights=non_weights).curves
    expected = cross_entropy((tar, tar_weights), (non, non_weights), found.entropy_log_odds)
    np.testing.assert_allclose(found.act_cross_entropy, expected, atol=1e-5 if n > 300 else 1e-12)
