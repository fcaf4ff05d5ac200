"""What infinite scores mean to training."""

import numpy as np
import pytest

from deciban.core.proper import beta_cost_tar
from deciban.core.training.linear_training import train
from deciban.errors import DecibanError, TrialError

RULE = {"alpha": 2.0, "beta": 1.5, "log_odds": 0.3}


def problem(wrong=-np.inf, n=60, seed=4):
    rng = np.random.default_rng(seed)
    is_target = np.arange(n) % 3 == 0
    scores = rng.normal(size=n) + 2 * is_target
    scores[[0, 3, 1]] = [wrong, wrong, -wrong]
    weights = rng.integers(1, 5, n)
    return scores, is_target, weights


def fit(scores, is_target, weights=None, **rule):
    weights = None if weights is None else np.asarray(weights, float)
    return train([scores], is_target, weights=weights, **(RULE | rule))


def test_weights_of_wrong_certainties_are_copies():
    """Of a rule with bounded costs: two targets at -inf and a non-target at +inf, with weights above 1."""
    scores, is_target, weights = problem()
    weighted = fit(scores, is_target, weights)
    copied = fit(np.repeat(scores, weights), np.repeat(is_target, weights))
    assert weighted.objective == pytest.approx(copied.objective, rel=1e-13)
    assert weighted.weights == pytest.approx(copied.weights, rel=1e-9)
    assert weighted.offset == pytest.approx(copied.offset, rel=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_objective_is_the_mean_cost_of_all_trials(weighted):
    """Those that are certain of the wrong class cost as much as a score that is wrong by thousands of nats."""
    scores, is_target, weights = problem()
    weights = weights if weighted else np.ones(len(scores))
    found = fit(scores, is_target, weights)
    x = np.where(np.isinf(scores), np.sign(scores) * 5e3, found.weights[0] * scores + found.offset) + RULE["log_odds"]
    cost_tar, cost_non = beta_cost_tar(x, 2.0, 1.5), beta_cost_tar(-x, 1.5, 2.0)
    prior = 1 / (1 + np.exp(-RULE["log_odds"]))
    expected = prior * np.average(cost_tar[is_target], weights=weights[is_target])
    expected += (1 - prior) * np.average(cost_non[~is_target], weights=weights[~is_target])
    assert found.objective == pytest.approx(expected, rel=1e-9)


def test_certainty_on_the_right_side_is_free():
    scores, is_target, _ = problem(wrong=np.inf)
    sure = np.isinf(scores)
    found = fit(scores, is_target, alpha=1.0, beta=1.0)
    weights = np.ones(len(scores))
    far = np.where(sure, np.sign(scores) * 1e4, scores)
    assert found.objective == pytest.approx(fit(far, is_target, weights, alpha=1.0, beta=1.0).objective, rel=1e-9)


def test_where_costs_have_no_limit_wrong_certainty_is_refused_and_named():
    scores, is_target, weights = problem()
    weights[0] = 0  # the first wrong trial does not count: the next one is named
    with pytest.raises(TrialError, match="1 target trials score -inf.*cost is infinite") as error:
        fit(scores, is_target, weights, alpha=1.0, beta=1.0)
    assert error.value.index == 3


def test_a_class_of_certainties_alone_says_not_where_the_other_begins():
    scores, is_target, _ = problem(wrong=np.inf)
    scores[is_target] = np.inf
    with pytest.raises(DecibanError, match="one class has no finite score"):
        fit(scores, is_target)
