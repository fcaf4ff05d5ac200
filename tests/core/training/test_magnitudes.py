"""Scores of any size, far scores and hopeless priors: the same answer as without, as often through all trials."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import logit

from deciban import metrics
from deciban.core.training.linear_objective import TrainingTrials
from deciban.core.training.linear_training import train
from deciban.core.training.moments import moments
from deciban.errors import InputError
from support.training_reference import gaussian, masses, optimum

LOG = {"alpha": 1.0, "beta": 1.0, "log_odds": 0.0}
SIZES = {"1e38": 1e38, "1e300": 1e300, "1e-300": 1e-300, "4e-308": 4e-308, "mixed": np.array([1e-25, 1.0, 1e25])}


@pytest.mark.parametrize("n", [40_000, 70_000])
@pytest.mark.parametrize("n_systems", [1, 3])
@pytest.mark.parametrize("size", SIZES)
def test_scores_of_any_size_give_the_same_llrs(n, n_systems, size):
    scores, is_target = gaussian(n, n_systems)
    best = optimum(scores, is_target)
    moved = scores * (SIZES[size][:n_systems] if size == "mixed" else SIZES[size])
    for given in (moved, list(moved.T)):
        fit = train(given, is_target, **LOG)
        assert fit.converged
        assert fit.n_passes <= 10
        np.testing.assert_allclose(
            moved @ fit.weights + fit.offset, scores @ best[:-1] + best[-1], rtol=1e-6, atol=3e-6
        )


def test_scores_whose_weights_would_not_fit_a_float_are_refused():
    scores, is_target = gaussian(400, 1)
    with pytest.raises(InputError, match="their scale exceeds double precision"):
        train(scores * 1e-309, is_target, **LOG)


@pytest.mark.parametrize("n", [400, 40_000, 70_000])
@pytest.mark.parametrize("n_systems", [1, 3])
@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_a_prior_of_1e_minus_60_is_one_like_others(n, n_systems, sign):
    """Where the other class is never doubted its odds are small: the optimum is that of exponential costs."""
    scores, is_target = gaussian(n, n_systems)
    truth = is_target if sign < 0 else ~is_target
    log_odds = sign * 60.0 * math.log(10.0)
    fit = train(scores, truth, **(LOG | {"log_odds": log_odds}))
    assert fit.converged
    # At prior p each cost is p times that of a rare class: -x for it, exp(x) for the other one, up to squares of p.
    rare = truth if sign < 0 else ~truth
    llr = (scores @ fit.weights + fit.offset) * -sign
    odds = np.exp(llr[~rare])
    np.testing.assert_allclose(odds.mean(), 1.0, rtol=1e-5)
    tilted = (odds[:, None] * scores[~rare]).mean(axis=0)
    np.testing.assert_allclose(tilted, scores[rare].mean(axis=0), atol=1e-5)


@pytest.mark.parametrize("far", [1e6, 1e12, 1e200])
@pytest.mark.parametrize("n_systems", [1, 3])
@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("n", [2000, 70_000])
def test_a_far_score_on_the_right_side_costs_neither_digits_nor_passes(n, tied, n_systems, far):
    """Its llr is that of a certain target, so that it leaves the others alone."""
    scores, is_target = gaussian(n, n_systems)
    if tied:
        for truth, value in ((False, -0.5), (True, 0.5)):
            scores[np.flatnonzero(is_target == truth)[::2]] = value
    place = np.flatnonzero(is_target)[n // 11]
    rest = np.arange(n) != place
    best = optimum(scores[rest], is_target[rest], mass=masses(is_target)[rest])
    scores[place, 0] = far
    fit = train(scores, is_target, **LOG)
    assert fit.converged
    assert n == 2000 or fit.n_passes <= 6
    np.testing.assert_allclose([*fit.weights, fit.offset], best, rtol=1e-6, atol=1e-6)
    assert fit.objective == pytest.approx(cost(scores, is_target, best), rel=1e-11)


def cost(scores, is_target, point):
    llr = scores @ point[:-1] + point[-1]
    return metrics.scoring_rule_cost(llr[is_target], llr[~is_target], alpha=1.0, beta=1.0, prior_log_odds=0.0)


@pytest.mark.parametrize("far", [1e6, 1e10, 1e12])
@pytest.mark.parametrize("n", [2000, 70_000])
def test_a_far_score_on_the_wrong_side_is_weighed_to_the_last_digit(n, far):
    """The weight is negative, so that it is right after all, and so small that the others say next to nothing."""
    scores, is_target = gaussian(n, 1)
    s = scores[:, 0].copy()
    place = np.flatnonzero(is_target)[n // 11]
    rest = np.arange(n) != place
    s[place] = -far
    fit = train([s], is_target, **LOG)
    assert fit.converged
    mass = masses(is_target)
    # Of the others no log odds are far from the offset, which makes up for what is missing of a class.
    offset = math.log(mass[rest & is_target].sum() / mass[rest & ~is_target].sum())

    def slope(weight):
        x = weight * s + offset
        return float(np.sum(mass * s * np.where(is_target, -1 / (1 + np.exp(x)), 1 / (1 + np.exp(-x)))))

    low, high = -100.0 / far, 0.0
    for _ in range(200):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if slope(middle) < 0 else (low, middle)
    # From 1e10 on a better weight would gain less than 1e-12 of the objective, from 1e12 on less than a digit of it.
    allowed = 1e-3 if far < 1e10 else 0.1 if far < 1e12 else 1.0
    assert fit.weights[0] * far == pytest.approx(low * far, abs=allowed)
    assert fit.objective <= cost(s[:, None], is_target, np.array([low, offset])) * (1 + 1e-12)


@pytest.mark.parametrize("ridge", [0.0, 1e-2])
@pytest.mark.parametrize("n", [500, 100_000])
def test_standardized_weights_are_those_of_scores_in_their_standard_deviation(n, ridge):
    """The deviation is that of the mixture of the classes at the prior of the objective."""
    scores, is_target = gaussian(n, 2)
    scores *= [1.0, 30.0]
    log_odds = -5.0  # next to no targets: with equal classes the deviation would be a fifth larger
    fit = train(scores, is_target, alpha=1.0, beta=1.0, log_odds=log_odds, ridge=ridge)
    mass = masses(is_target, log_odds)
    deviation = np.sqrt([np.cov(column, aweights=mass, ddof=0) for column in scores.T])
    equal = np.sqrt([np.cov(column, aweights=masses(is_target), ddof=0) for column in scores.T])
    assert np.all(equal > 1.15 * deviation)
    # Of many trials a sample tells the deviation.
    exact = n < 1000 or ridge > 0.0
    np.testing.assert_allclose(fit.standardized, fit.weights * deviation, rtol=1e-9 if exact else 0.05)


@pytest.mark.parametrize("n_systems", [1, 2])
def test_a_column_that_is_constant_where_the_sample_looks_is_not_constant(n_systems):
    """All trials of the sample, every fourth one, score the same."""
    scores, is_target = gaussian(40_000, n_systems)
    scores[::4, 0] = 7.0
    best = optimum(scores, is_target)
    fit = train(scores, is_target, **LOG)
    assert abs(best[0]) > 1e-3
    np.testing.assert_allclose([*fit.weights, fit.offset], best, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("p_target", [0.2, 1e-30])
@pytest.mark.parametrize("ridge", [1e9, 1e12, 1e100, 1e300])
def test_a_large_penalty_leaves_the_offset_alone(ridge, p_target):
    """Weights are next to 0, each as the objective falls there: with llr 0 throughout, that is known."""
    scores, is_target = gaussian(2000, 2)
    fit = train(scores, is_target, alpha=1.0, beta=1.0, log_odds=float(logit(p_target)), ridge=ridge)
    assert fit.converged
    assert fit.flat == 0
    assert abs(fit.offset) < 1e-6
    mass = masses(is_target, logit(p_target))
    fall = (mass * (is_target - p_target)) @ scores / (mass @ (scores - mass @ scores) ** 2)
    # Of the largest penalties only that nothing is left of the weights.
    np.testing.assert_allclose(fit.weights, fall / ridge, rtol=1e-4, atol=0.0 if ridge < 1e50 else 1e-60)


def test_moments_of_several_columns_are_those_of_each():
    """In many blocks, with a constant column, a huge one and a tiny one among them, and weights."""
    scores, is_target = gaussian(100_000, 5)
    scores[:, 1], scores[:, 2], scores[:, 3] = 3.0, scores[:, 2] * 1e300, scores[:, 3] * 1e-300 + 5e-299
    weights = np.random.default_rng(2).random(len(scores))
    class_weights = (0.3 / weights[~is_target].sum(), 0.7 / weights[is_target].sum())
    center, width = moments(replace(TrainingTrials.of(scores, is_target, weights=weights), class_weights=class_weights))
    mass = weights * np.where(is_target, class_weights[1], class_weights[0])
    unit = np.array([1.0, 1.0, 1e300, 1e-300, 1.0])
    mean = mass @ (scores / unit)
    np.testing.assert_allclose(center / unit, mean, rtol=1e-11)
    deviation = np.sqrt(mass @ (scores / unit - mean) ** 2)
    np.testing.assert_allclose(width / unit, deviation, rtol=1e-11, atol=1e-12)
    assert width[1] == 0.0


@pytest.mark.parametrize("n", [2000, 70_000])
def test_costs_that_do_not_fit_a_float_are_refused(n):
    """Scores keep their scale here, and a rule with beta < 1 costs exp(x) and more on the wrong side."""
    scores, is_target = gaussian(n)
    base = scores[:, 0]
    base[np.argmin(is_target)] = 1e4
    with pytest.raises(InputError, match=r"rule \(0.5, 0.5\) exceeds double precision: .* far on the wrong side"):
        train([], is_target, alpha=0.5, beta=0.5, log_odds=0.0, base=base)
