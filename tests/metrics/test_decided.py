"""Hard decisions, costs of trials, and how many errors make a rate known."""

import numpy as np
import pytest
from scipy.stats import norm

from deciban import InputError, metrics
from deciban.metrics import decision_dcf, decision_errors, errors_needed, trial_costs

RNG = np.random.default_rng(8)
LLR, IS_TARGET = RNG.normal(size=200), RNG.random(200) < 0.3
LLR = LLR + 1.5 * IS_TARGET


def test_decisions_at_the_bayes_threshold_cost_the_actual_dcf():
    accepted = metrics.OperatingPoint(0.1, 3.0, 0.5).threshold <= LLR
    weight = RNG.integers(0, 4, 200)
    for weights in (None, weight):
        sides = [(LLR[s], None if weights is None else weights[s]) for s in (IS_TARGET, ~IS_TARGET)]
        (tar, tar_weights), (non, non_weights) = sides
        for normalize in (True, False):
            given = {"p_target": 0.1, "c_miss": 3.0, "c_fa": 0.5, "normalize": normalize}
            actual = metrics.act_dcf(tar, non, tar_weights=tar_weights, non_weights=non_weights, **given)
            found = decision_dcf(accepted.astype(int), IS_TARGET, sample_weight=weights, **given)
            assert found == pytest.approx(actual, rel=1e-13)
    assert decision_errors(accepted, IS_TARGET).p_fa == np.mean(
        LLR[~IS_TARGET] >= metrics.OperatingPoint(0.1, 3.0, 0.5).threshold
    )


@pytest.mark.parametrize("rule", [(1.0, 1.0), (2.0, 0.7)])
def test_class_means_of_trial_costs_are_the_cost_of_the_rule(rule):
    alpha, beta = rule
    costs = trial_costs(LLR, IS_TARGET, alpha=alpha, beta=beta, p_target=0.2)
    mean = 0.2 * costs[IS_TARGET].mean() + 0.8 * costs[~IS_TARGET].mean()
    whole = metrics.scoring_rule_cost(LLR[IS_TARGET], LLR[~IS_TARGET], alpha=alpha, beta=beta, p_target=0.2)
    assert mean == pytest.approx(whole, rel=1e-13)


def test_rule_of_thirty_holds_in_a_simulation():
    n = errors_needed(within=0.3, confidence=0.9)
    assert n == pytest.approx((norm.ppf(0.95) / 0.3) ** 2)
    counts = np.random.default_rng(1).poisson(n, 20000)
    assert np.mean(np.abs(counts - n) <= 0.3 * counts) == pytest.approx(0.9, abs=0.03)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: decision_errors([1, 2], [True, False]),
            r"accepted: expected booleans or 0 and 1, got .*2\b.* at index 1",
        ),
        (lambda: decision_errors([1, 0], [True, True]), "none of the 2 trials is a non-target"),
        (lambda: decision_errors([1, 0, 1], [True, False]), "is_target: 2 labels for 3 trials"),
        (lambda: trial_costs([1.0, np.nan], [True, False], p_target=0.5), "llr"),
        (lambda: trial_costs([1.0], [True]), "prior"),
        (lambda: errors_needed(within=0.0), "within: 0"),
        (lambda: errors_needed(confidence=1.0), "confidence: got 1"),
    ],
)
def test_hostile(call, message):
    with pytest.raises(InputError, match=message):
        call()
