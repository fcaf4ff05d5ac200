"""When the best weights are infinite, and when they only look like it."""

import numpy as np
import pytest

from deciban.core.proper import beta_cost_tar
from deciban.core.training.linear_training import train
from deciban.errors import InputError
from support.training_reference import gaussian, masses, optimum

LOG = {"alpha": 1.0, "beta": 1.0, "log_odds": 0.0}


@pytest.mark.parametrize(
    ("tar", "non"),
    [
        ([2.0, 0.0, 1.0, 3.0], [0.0, -1.0, -3e4, -2.0, -100.0, 0.0]),
        ([2e4, 2.0, 2e4, 0.0, 100.0], [-2.0, 0.0, -200.0, -2e4, -3.0, -1.0]),
        ([1e4, 0.0, 2.0, 0.0], [0.0, -3.0, -1.0, -2e4]),
    ],
)
@pytest.mark.parametrize("rule", [(1.0, 1.0), (0.5, 0.5)])
@pytest.mark.parametrize("log_odds", [0.0, -2.0, -7.0])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_tie_at_the_border_is_no_overlap_however_far_the_others_are(tar, non, rule, log_odds, sign):
    """The cost of the tied trials stays, that of the others falls forever, and soon by less than a digit."""
    scores, is_target = sign * np.array(tar + non), np.arange(len(tar) + len(non)) < len(tar)
    with pytest.raises(InputError, match="separated"):
        train([scores], is_target, alpha=rule[0], beta=rule[1], log_odds=log_odds)
    # One more pair the other way round, and there is a minimum.
    more = np.append(scores, [-sign, sign])
    fit = train([more], np.append(is_target, [True, False]), alpha=rule[0], beta=rule[1], log_odds=log_odds)
    assert fit.converged
    assert 0.0 < sign * fit.weights[0] < 100.0


def test_two_systems_whose_sum_ties_at_the_border_are_separated_however_large_they_are():
    tar = np.array([[0.0, 0.0], [3e4, -3e4], [3e4, 2e4], [200.0, 200.0], [2.0, 0.0]])
    non = np.array([[100.0, -200.0], [-3.0, 0.0], [-3.0, 2.0], [0.0, 0.0], [-1.0, -2.0]])
    tar[1] = [3e4, -2e4]
    scores = np.concatenate((tar, non))
    # 3 s_0 + 2 s_1 orders them, with two trials at 0.
    combined = scores @ [3.0, 2.0]
    assert combined[:5].min() == combined[5:].max() == 0.0
    with pytest.raises(InputError, match="separated"):
        train(list(scores.T), np.arange(10) < 5, alpha=0.3, beta=0.8, log_odds=-2.0)


@pytest.mark.parametrize("n", [500, 40_000, 100_000])
@pytest.mark.parametrize("as_matrix", [True, False])
def test_a_system_that_tells_of_one_target_alone_makes_the_objective_fall_forever(n, as_matrix):
    """It is 0 elsewhere: the larger its weight, the less that target costs."""
    scores, is_target = gaussian(n, 2)
    scores[:, 1] = 0.0
    scores[np.flatnonzero(is_target)[n // 13], 1] = 1.0
    with pytest.raises(InputError, match="the objective falls forever"):
        train(scores if as_matrix else list(scores.T), is_target, **LOG)
    # A non-target with the same score puts an end to it.
    scores[np.flatnonzero(~is_target)[n // 2], 1] = 1.0
    fit = train(scores if as_matrix else list(scores.T), is_target, **LOG)
    np.testing.assert_allclose([*fit.weights, fit.offset], optimum(scores, is_target), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("n", [500, 40_000, 100_000])
@pytest.mark.parametrize("n_systems", [1, 3])
def test_one_trial_on_the_wrong_side_is_enough_of_an_overlap(n, n_systems):
    """All others are apart, so that every sample without it is separated."""
    scores, is_target = gaussian(n, n_systems)
    scores = np.where(is_target[:, None], np.abs(scores), -np.abs(scores))
    place = np.flatnonzero(is_target)[n // 13]
    with pytest.raises(InputError, match="separated"):
        train(scores, is_target, **LOG)
    scores[place] = -1.0
    fit = train(scores, is_target, **LOG)
    assert fit.converged
    assert fit.gradient_norm < 1e-5
    assert fit.objective > 0.0
    assert scores[place] @ fit.weights + fit.offset < 0.0


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("n_systems", [0, 1, 2])
def test_what_is_added_may_separate_the_classes_as_scores_that_get_weights_may_not(n_systems, sign):
    """No trial is on the wrong side at weight 0, but a larger weight would change that."""
    scores, is_target = gaussian(400, n_systems)
    base = np.where(is_target, 3.0, -3.0) + 0.1 * sign * np.random.default_rng(2).normal(size=400)
    fit = train(scores, is_target, base=base, **LOG)
    best = optimum(scores, is_target, mass=masses(is_target), log_odds=base)
    assert fit.converged
    np.testing.assert_allclose([*fit.weights, fit.offset], best, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("rule", [(1.0, 1.0), (2.0, 2.0), (1.5, 1.2)])
@pytest.mark.parametrize("scale", [1e-3, 1.0])
@pytest.mark.parametrize("intercept", [True, False])
def test_what_is_added_separates_nothing_however_far_it_goes(rule, scale, intercept):
    """Scores that are mere noise have a best weight, and a larger one costs more, whatever the rule is."""
    rng, is_target = np.random.default_rng(2), np.arange(400) % 2 == 0
    base = np.where(is_target, 3.0, -3.0) + 0.1 * rng.normal(size=400)
    scores = scale * rng.normal(size=400)
    about = {"alpha": rule[0], "beta": rule[1], "log_odds": 0.0, "base": base, "intercept": intercept}
    fit = train([scores], is_target, **about)

    def cost(weight, offset):
        x = weight * scores + offset + base
        own = beta_cost_tar(x[is_target], *rule), beta_cost_tar(-x[~is_target], *rule[::-1])
        return np.mean(own[0]) / 2 + np.mean(own[1]) / 2

    best = cost(fit.weights[0], fit.offset)
    assert fit.objective == pytest.approx(best, rel=1e-9)
    steps = [(step / scale, shift) for step in (-1e-2, 0.0, 1e-2) for shift in (-0.01 * intercept, 0.01 * intercept)]
    assert min(cost(fit.weights[0] + step, fit.offset + shift) for step, shift in steps) >= best * (1.0 - 1e-12)
    apart = scale * np.where(is_target, rng.uniform(0.5, 1.0, 400), -rng.uniform(0.5, 1.0, 400))
    with pytest.raises(InputError, match="best scale would be infinite"):
        train([apart], is_target, **(about | {"base": 0.1 * rng.normal(size=400)}))


@pytest.mark.parametrize("rule", [(1.0, 1.0), (2.0, 2.0)])
def test_without_an_offset_scores_separate_at_zero_only(rule):
    rng, is_target = np.random.default_rng(3), np.arange(200) % 2 == 0
    scores = np.where(is_target, rng.uniform(5.0, 7.0, 200), rng.uniform(1.0, 4.0, 200))
    about = {"alpha": rule[0], "beta": rule[1], "log_odds": 0.0}
    fit = train([scores], is_target, intercept=False, **about)
    assert 0.0 < fit.weights[0] < 1.0
    assert fit.offset == 0.0
    for other, intercept in ((scores, True), (scores - 4.5, False)):
        with pytest.raises(InputError, match="best scale would be infinite"):
            train([other], is_target, intercept=intercept, **about)
