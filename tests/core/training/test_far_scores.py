"""Far scores and odd units: neither the optimum nor the number of passes depends on them."""

import numpy as np
import pytest

from deciban import metrics
from deciban.core.training.linear_training import train
from support.training_reference import gaussian

LOG = {"alpha": 1.0, "beta": 1.0, "log_odds": 0.0}


@pytest.mark.parametrize("rule", [(2.0, 2.0), (2.0, 1.0)])
@pytest.mark.parametrize("far", [1e2, 1e4, 1e7])
def test_one_far_error_does_not_cost_a_bounded_rule_the_optimum(rule, far):
    scores, is_target = gaussian(400, 1, seed=3)
    clean = train([scores[:, 0]], is_target, alpha=rule[0], beta=rule[1], log_odds=0.0)
    scores[np.flatnonzero(is_target)[36], 0] = -far
    fit = train([scores[:, 0]], is_target, alpha=rule[0], beta=rule[1], log_odds=0.0)
    llr = clean.weights[0] * scores[:, 0] + clean.offset
    rival = metrics.scoring_rule_cost(llr[is_target], llr[~is_target], alpha=rule[0], beta=rule[1], prior_log_odds=0.0)
    assert fit.objective <= rival


@pytest.mark.parametrize("unit", [1e-27, 1e-20, 1e20, 1e27])
def test_the_unit_of_scores_costs_no_passes(unit):
    scores, is_target = gaussian(100_000, 5)
    assert train(scores * unit, is_target, **LOG).n_passes <= train(scores, is_target, **LOG).n_passes + 1
