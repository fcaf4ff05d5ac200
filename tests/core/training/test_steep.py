"""Rules that are not convex: no map is called the best where counting knows a better one."""

import itertools
import warnings

import numpy as np
import pytest

from deciban import metrics
from deciban.calibration import AffineCalibrator, ScaleCalibrator
from deciban.errors import DecibanWarning, InputError
from deciban.fusion import LinearFusion

RULES = [(2.0, 2.0), (2.0, 1.0), (3.0, 3.0), (20.0, 20.0), (100.0, 100.0), (100.0, 1.0)]


def trials(seed, n, apart):
    rng = np.random.default_rng(seed)
    is_target = np.arange(n) < n // 2
    return rng.normal(size=n) + apart * is_target, is_target


def cost(llr, is_target, rule, p_target):
    settings = {"alpha": rule[0], "beta": rule[1], "p_target": p_target}
    return metrics.scoring_rule_cost(llr[is_target], llr[~is_target], **settings)


def best_threshold(scores, is_target, rule, p_target):
    """The cost of certainty on either side of each threshold, in either sense, and of llr 0."""
    # Certain decisions cost in proportion to the errors of each kind; some rules do not bound the cost of one.
    ends = [cost(np.full(len(scores), x), is_target, rule, p_target) for x in (-np.inf, np.inf)]
    above = scores >= np.unique(scores)[:, None]
    p_miss, p_fa = 1 - above[:, is_target].mean(axis=1), above[:, ~is_target].mean(axis=1)
    every = [
        sum(np.where(p > 0, end, 0.0) * np.maximum(p, 1e-300) for p, end in zip(rates, ends, strict=True))
        for rates in ((p_miss, p_fa), (1 - p_miss, 1 - p_fa))
    ]
    return min(cost(np.zeros(len(scores)), is_target, rule, p_target), np.min(every))


def test_certain_decisions_cost_in_proportion_to_their_errors():
    scores, is_target = trials(1, 60, 1.0)
    decided = np.where(scores >= 0.5, np.inf, -np.inf)
    p_miss, p_fa = np.mean(decided[is_target] < 0), np.mean(decided[~is_target] > 0)
    for rule in RULES:
        ends = [cost(np.full(60, x), is_target, rule, 0.01) for x in (-np.inf, np.inf)]
        assert cost(decided, is_target, rule, 0.01) == pytest.approx(p_miss * ends[0] + p_fa * ends[1])


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("p_target", [0.5, 0.01])
def test_a_map_that_is_worse_than_a_threshold_is_never_said_to_be_the_optimum(rule, p_target):
    settings = {"alpha": rule[0], "beta": rule[1], "p_target": p_target}
    told = 0
    for seed, (n, apart) in enumerate(itertools.product((60, 200), (3.0, 2.0, 1.0, 0.3))):
        scores, is_target = trials(seed, n, apart)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                calibrator = AffineCalibrator(**settings).fit(scores, is_target)
            except InputError:
                continue  # the best scale would be infinite
        own = cost(calibrator.transform(scores), is_target, rule, p_target)
        assert calibrator.objective_ == pytest.approx(own, rel=1e-9)
        status = calibrator.training_.results["status"]
        if status.startswith("converged"):
            assert own <= best_threshold(scores, is_target, rule, p_target) * (1 + 1e-5)
        else:
            told += 1
            assert any("optimum" in str(one.message) or "not converged" in str(one.message) for one in caught)
    assert told < 8


def test_steeper_maps_that_are_better_are_told_with_what_they_come_down_to():
    scores, is_target = trials(60, 60, 3.0)
    rule = (2.0, 2.0)
    with pytest.warns(DecibanWarning, match="a local optimum, .*: the objective of steeper maps falls to .* infinite"):
        fit = AffineCalibrator(alpha=2.0, beta=2.0).fit(scores, is_target)
    assert f"{best_threshold(scores, is_target, rule, 0.5):.6g}" in fit.training_.results["status"]
    assert fit.objective_ > best_threshold(scores, is_target, rule, 0.5)


@pytest.mark.parametrize("copies", [1, 100])
def test_a_steep_optimum_that_moderate_scales_do_not_lead_to_is_found(copies):
    """Here larger scores favour non-targets, at the lower end, which the search among moderate scales does not see."""
    rule = (3.0, 3.0)
    scores, is_target = (np.repeat(each, copies) for each in trials(500, 500, 0.3))
    with pytest.warns(DecibanWarning, match="higher scores favour non-targets"):
        calibrator = AffineCalibrator(alpha=3.0, beta=3.0, p_target=0.01).fit(scores, is_target)
    assert calibrator.training_.results["status"].startswith("converged")
    known = -39.4 * (scores + 2.58) - np.log(0.01 / 0.99)
    own = cost(calibrator.transform(scores), is_target, rule, 0.01)
    assert own <= cost(known, is_target, rule, 0.01) < 0.02491
    assert calibrator.objective_ == pytest.approx(own, rel=1e-9)


def test_several_systems_and_scales_without_offset_are_searched_from_steep_maps_as_well():
    scores, is_target = trials(3, 500, 0.3)
    both = np.column_stack((scores, trials(4, 500, 0.3)[0]))
    rule = (20.0, 20.0)
    for model, given in ((LinearFusion, both), (ScaleCalibrator, scores)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DecibanWarning)
            try:
                fitted = model(alpha=20.0, beta=20.0).fit(given, is_target)
            except InputError:
                continue
        own = cost(fitted.transform(given), is_target, rule, 0.5)
        assert fitted.objective_ == pytest.approx(own, rel=1e-9)
        assert own <= cost(np.zeros(500), is_target, rule, 0.5) * (1 + 1e-9)
