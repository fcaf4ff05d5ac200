"""Training of weights and offset: derivatives, the optimum, and every reason why there is none."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize as scipy_minimize
from scipy.special import logit

from deciban import metrics
from deciban.core.training import linear_objective
from deciban.core.training.linear_objective import LinearObjective, TrainingTrials
from deciban.core.training.linear_training import train
from deciban.core.training.moments import moments
from deciban.errors import InputError

RULES = [(1.0, 1.0), (2.0, 2.0), (0.5, 0.5), (2.0, 1.0), (1.0, 2.0), (1.5, 0.7), (3.0, 5.0)]
LOG = {"alpha": 1.0, "beta": 1.0, "log_odds": 0.0}


def overlapping(n=400, n_systems=2, seed=1):
    """Targets and non-targets of several systems of different quality; a quarter are targets."""
    rng = np.random.default_rng(seed)
    is_target = rng.random(n) < 0.25
    shift = np.linspace(0.4, 0.7, n_systems)
    return rng.normal(size=(n, n_systems)) + np.where(is_target[:, None], shift, -shift), is_target


def cost(parameters, scores, is_target, rule, log_odds, weights=None):
    """The objective from the formula of the metrics, which nothing here is made of."""
    llr = scores @ parameters[:-1] + parameters[-1]
    w = {} if weights is None else {"tar_weights": weights[is_target], "non_weights": weights[~is_target]}
    alpha, beta = rule
    arguments = {"alpha": alpha, "beta": beta, "prior_log_odds": log_odds, **w}
    return metrics.scoring_rule_cost(llr[is_target], llr[~is_target], **arguments)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("log_odds", [0.0, -4.6])
@pytest.mark.parametrize("weighted", [False, True])
def test_value_and_derivatives_are_those_of_the_metric(rule, log_odds, weighted):
    scores, is_target = overlapping()
    weights = np.random.default_rng(2).random(len(scores)) if weighted else None
    amount = np.ones(len(scores)) if weights is None else weights
    prior = 1 / (1 + math.exp(-log_odds))
    class_weights = (1 - prior) / amount[~is_target].sum(), prior / amount[is_target].sum()
    trials = TrainingTrials(tuple(scores.T), is_target, class_weights, weights)
    objective = LinearObjective(trials, np.zeros(2), np.ones(2), True, *rule, log_odds, np.zeros(3))
    point, h = np.array([0.7, 0.4, -0.3]), 1e-4

    def value(x):
        return cost(x, scores, is_target, rule, log_odds, weights)

    at = objective(point)
    assert at.value == pytest.approx(value(point), rel=1e-13)
    steps = h * np.eye(3)
    slopes = [
        (8 * (value(point + d) - value(point - d)) - value(point + 2 * d) + value(point - 2 * d)) / (12 * h)
        for d in steps
    ]
    np.testing.assert_allclose(at.gradient, slopes, rtol=1e-8, atol=1e-11)
    rows = [(objective(point + d).gradient - objective(point - d).gradient) / (2 * h) for d in steps]
    np.testing.assert_allclose(at.hessian, rows, rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("log_odds", [0.0, -2.3])
def test_no_other_point_is_better(rule, log_odds):
    scores, is_target = overlapping()
    fit = train(list(scores.T), is_target, alpha=rule[0], beta=rule[1], log_odds=log_odds)
    best = cost(np.append(fit.weights, fit.offset), scores, is_target, rule, log_odds)
    assert fit.converged
    assert fit.objective == pytest.approx(best, rel=1e-12)
    rivals = [
        scipy_minimize(cost, start, (scores, is_target, rule, log_odds), method="Nelder-Mead").fun
        for start in ([0.5, 0.5, 0.0], [2.0, 3.0, -1.0], [0.1, 0.0, 2.0])
    ]
    assert best <= min(rivals) * (1 + 1e-10)


@pytest.mark.parametrize("rule", [(1.0, 1.0), (2.0, 2.0)])
def test_weights_count_like_copies(rule):
    scores, is_target = overlapping(200)
    copies = np.random.default_rng(3).integers(0, 4, len(scores))
    arguments = {"alpha": rule[0], "beta": rule[1], "log_odds": -1.0}
    weighted = train(list(scores.T), is_target, weights=copies.astype(float), **arguments)
    copied = train(list(np.repeat(scores, copies, axis=0).T), np.repeat(is_target, copies), **arguments)
    np.testing.assert_allclose(weighted.weights, copied.weights, rtol=1e-7)
    assert weighted.offset == pytest.approx(copied.offset, rel=1e-6)
    assert weighted.objective == pytest.approx(copied.objective, rel=1e-13)


def test_trials_of_weight_0_are_as_if_they_were_not_there():
    scores, is_target = np.array([3.0, 2.0, 1.0, 0.0, 9.0, -9.0]), np.array([True, False, True, False, False, True])
    weights = np.array([1.0, 1.0, 1.0, 1.0, 0.0, 0.0])
    fit, without = train([scores], is_target, weights=weights, **LOG), train([scores[:4]], is_target[:4], **LOG)
    assert fit.weights[0] == pytest.approx(without.weights[0], rel=1e-9)
    with pytest.raises(InputError, match="separated"):
        train([scores], is_target, weights=np.array([1.0, 0.0, 0.0, 1.0, 0.0, 0.0]), **LOG)


@pytest.mark.parametrize("n", [30_000, 300_000])
def test_neither_samples_nor_the_order_of_rows_change_the_optimum(n):
    """Large data go through samples and float32; the optimum is that of one pass over everything."""
    scores, is_target = overlapping(n, 1, seed=4)
    is_target &= np.random.default_rng(5).random(n) < 0.05  # rare targets, beside non-targets that look like them
    fit = train([scores[:, 0]], is_target, **LOG)
    backwards = train([scores[::-1, 0]], is_target[::-1], **LOG)
    assert backwards.weights[0] == pytest.approx(fit.weights[0], rel=1e-8)
    assert backwards.objective == pytest.approx(fit.objective, rel=1e-13)
    grid = itertools.product(fit.weights[0] * np.array([0.999, 1, 1.001]), fit.offset + np.array([-0.001, 0, 0.001]))
    costs = [cost(np.array(point), scores, is_target, (1, 1), 0.0) for point in grid]
    assert np.argmin(costs) == 4


@given(shift=st.sampled_from([0.0, 1e3, -1e9]), size=st.sampled_from([1.0, 1e-290, 1e290, 1e-5]))
def test_any_magnitude_gives_the_same_llrs(shift, size):
    scores, is_target = overlapping(120, 1)
    scores = np.round(scores[:, 0] * 4) / 4  # so that a shift by a power of ten loses no digits
    moved = (scores + shift) * size
    fit, plain = train([moved], is_target, **LOG), train([scores], is_target, **LOG)
    assert fit.weights[0] * size == pytest.approx(plain.weights[0], rel=1e-6)
    llr = fit.weights[0] * moved + fit.offset
    np.testing.assert_allclose(llr, plain.weights[0] * scores + plain.offset, atol=1e-6)


def test_a_penalty_is_counted_in_standard_deviations():
    """With weight w on scores divided by their prior-weighted deviation, ridge w^2 / 2 is added."""
    scores, is_target = overlapping(300, 1)
    s, prior, ridge = scores[:, 0], 0.2, 0.05
    weight = np.where(is_target, prior / is_target.sum(), (1 - prior) / (~is_target).sum())
    deviation = math.sqrt(np.cov(s, aweights=weight, ddof=0))
    fit = train([s], is_target, alpha=1.0, beta=1.0, log_odds=float(logit(prior)), ridge=ridge)

    def penalized(x):
        return cost(x, scores, is_target, (1, 1), logit(prior)) + 0.5 * ridge * (x[0] * deviation) ** 2

    best = scipy_minimize(penalized, [1.0, 0.0], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-15})
    np.testing.assert_allclose([fit.weights[0], fit.offset], best.x, rtol=1e-5)
    center, width = moments(
        TrainingTrials((s,), is_target, ((1 - prior) / (~is_target).sum(), prior / is_target.sum()))
    )
    assert center[0] == pytest.approx(np.average(s, weights=weight), rel=1e-12)
    assert width[0] == pytest.approx(deviation, rel=1e-12)


@pytest.mark.parametrize(
    ("tar", "non"),
    [
        ([1.0, 2.0], [0.0, -1.0]),
        ([1.0, 2.0], [1.0, 0.0]),  # a tie at the border
        ([0.0, -1.0], [1.0, 2.0]),  # the wrong way round
        ([5.0], [4.0]),
        ([1e300, 2e300], [0.0, 1.0]),
        ([1.0, 1.0, 1.0], [1.0, 1.0, 0.0]),
        (list(range(50, 100)), list(range(51))),
    ],
)
@pytest.mark.parametrize("rule", RULES)
def test_separated_classes_are_refused(tar, non, rule):
    scores, is_target = np.array(tar + non, dtype=float), np.arange(len(tar) + len(non)) < len(tar)
    with pytest.raises(InputError, match="separated"):
        train([scores], is_target, alpha=rule[0], beta=rule[1], log_odds=0.0)


@pytest.mark.parametrize("rule", RULES)
def test_a_penalty_makes_separated_classes_trainable(rule):
    scores, is_target = np.array([3.0, 2.0, 1.0, 0.0]), np.array([True, True, False, False])
    fit = train([scores], is_target, alpha=rule[0], beta=rule[1], log_odds=0.0, ridge=1e-3)
    assert fit.converged
    assert 0.0 < fit.weights[0] < 1e4


def test_classes_separated_by_two_systems_together_are_refused():
    scores = np.array([[0.0, 1.1], [1.0, 2.1], [2.0, 3.1], [0.0, 0.9], [1.0, 1.9], [2.0, 2.9]])
    with pytest.raises(InputError, match="separated"):
        train(list(scores.T), np.arange(6) < 3, **LOG)


@pytest.mark.parametrize("columns", [[[1.0, 1.0, 1.0, 1.0]], [[1e300] * 4], [[0.0, -0.0, 0.0, -0.0]]])
def test_constant_scores_are_refused(columns):
    with pytest.raises(InputError, match="all 4 are"):
        train([np.array(column) for column in columns], np.array([True, False, True, False]), **LOG)


def test_a_constant_system_among_others_gets_no_weight():
    scores, is_target = overlapping(100, 1)
    alone = train([scores[:, 0]], is_target, **LOG)
    fit = train([scores[:, 0], np.full(100, 7.0)], is_target, **LOG)
    assert fit.weights[1] == 0.0
    assert fit.weights[0] == pytest.approx(alone.weights[0], rel=1e-9)


@pytest.mark.parametrize("n", [100, 70_000])
def test_systems_that_say_the_same_share_their_weight_and_are_counted(n):
    scores, is_target = overlapping(n, 1)
    alone = train([scores[:, 0]], is_target, **LOG)
    fit = train(scores * [1.0, 10.0], is_target, **LOG)
    assert fit.flat == 1
    assert fit.objective == pytest.approx(alone.objective, rel=1e-12)
    assert fit.weights[0] + 10 * fit.weights[1] == pytest.approx(alone.weights[0], rel=1e-7)
    assert fit.standardized[0] == pytest.approx(fit.standardized[1], rel=1e-6)


def test_infinite_scores_that_are_right_cost_nothing():
    scores, is_target = overlapping(100, 1)
    s = np.append(scores[:, 0], [np.inf, -np.inf, np.inf])
    truth = np.append(is_target, [True, False, True])
    fit = train([s], truth, **LOG)
    n_tar, n_non = is_target.sum(), (~is_target).sum()
    llr = fit.weights[0] * s + fit.offset
    assert fit.objective == pytest.approx(metrics.cllr(llr[truth], llr[~truth]) * math.log(2), rel=1e-12)
    # The other trials count less now, by their share of their class.
    weights = np.where(is_target, n_tar / (n_tar + 2), n_non / (n_non + 1))
    assert weights.min() < 1.0
    finite = cost(np.append(fit.weights, fit.offset), scores, is_target, (1, 1), 0.0)
    assert fit.objective < finite


def test_infinite_scores_that_are_wrong_are_refused_or_counted():
    scores, is_target = overlapping(100, 1)
    s, truth = np.append(scores[:, 0], -np.inf), np.append(is_target, True)
    with pytest.raises(InputError, match=r"1 target trials score -inf, the first at index 100"):
        train([s], truth, **LOG)
    fit = train([s], truth, alpha=2.0, beta=2.0, log_odds=0.0)
    llr = fit.weights[0] * s + fit.offset
    expected = metrics.scoring_rule_cost(llr[truth], llr[~truth], alpha=2.0, beta=2.0, prior_log_odds=0.0)
    assert fit.objective == pytest.approx(expected, rel=1e-12)


def test_systems_that_contradict_each_other_with_infinite_scores_are_refused():
    scores, is_target = overlapping(50, 2)
    scores[7] = [np.inf, -np.inf]
    with pytest.raises(
        InputError, match="contradict each other with infinite scores in 1 trials, the first at index 7"
    ):
        train(list(scores.T), is_target, **LOG)


@pytest.mark.parametrize("rule", [(1.0, 1.0), (2.0, 1.0)])
@pytest.mark.parametrize("n_systems", [1, 4])
def test_scores_as_they_are_and_standardized_ones_give_the_same_sums(rule, n_systems, monkeypatch):
    scores, is_target = overlapping(3000, n_systems)
    scores = scores * [1.0, 20.0, 1e-3, 3.0][-n_systems:] + [2.0, -5.0, 1e-3, 4.0][-n_systems:]
    center, width = scores.mean(axis=0), scores.std(axis=0)
    point = np.array([0.3, -0.2, 0.5, 0.1, -0.4])[-n_systems - 1 :]
    settings = (center, width, True, *rule, -1.0, np.full(n_systems + 1, 0.1))
    trials = replace(TrainingTrials.of(scores, is_target), class_weights=(1e-4, 3e-4))
    monkeypatch.setattr(linear_objective, "_MANY", 1)
    made = [LinearObjective(trials, *settings)(point)]
    monkeypatch.setattr(linear_objective, "suits_raw_block", lambda *_: False)
    made.append(LinearObjective(trials, *settings)(point))
    assert made[0].value == pytest.approx(made[1].value, rel=1e-13)
    np.testing.assert_allclose(made[0].gradient, made[1].gradient, rtol=1e-10, atol=1e-13)
    np.testing.assert_allclose(made[0].hessian, made[1].hessian, rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize("shift", [0.0, 1e6])
def test_a_matrix_is_trained_like_its_columns_even_far_from_zero(shift):
    scores, is_target = overlapping(100_000, 3)
    scores = scores + shift
    whole, apart = train(scores, is_target, **LOG), train(list(scores.T), is_target, **LOG)
    np.testing.assert_allclose(whole.weights, apart.weights, rtol=1e-6)
    assert whole.objective == pytest.approx(apart.objective, rel=1e-12)


@pytest.mark.parametrize("log_odds", [-60.0, 60.0, -46.0])
def test_very_improbable_classes_are_no_reason_to_fail(log_odds):
    scores, is_target = overlapping(300, 1)
    fit = train([scores[:, 0]], is_target, alpha=1.0, beta=1.0, log_odds=log_odds)
    assert fit.converged
    here = cost(np.append(fit.weights, fit.offset), scores, is_target, (1, 1), log_odds)
    assert fit.objective == pytest.approx(here, rel=1e-9)
    for d in (-1e-2, 1e-2):
        assert cost(np.append(fit.weights, fit.offset + d), scores, is_target, (1, 1), log_odds) > here


@pytest.mark.parametrize("rule", RULES)
def test_a_rough_look_with_float32_is_right_to_six_digits_even_far_from_the_optimum(rule):
    scores, is_target = overlapping(5000, 2)
    for point in (np.array([0.7, 0.4, -0.3]), np.array([-20.0, -15.0, 3.0])):
        settings = (np.zeros(2), np.ones(2), True, *rule, 0.0, np.zeros(3))
        trials = TrainingTrials(tuple(scores.T), is_target, (1e-4, 2e-4))
        fine, rough = (LinearObjective(trials, *settings, dtype=kind)(point) for kind in (np.float64, np.float32))
        assert rough.value == pytest.approx(fine.value, rel=1e-5)
        np.testing.assert_allclose(rough.gradient, fine.gradient, rtol=1e-4, atol=1e-6 * fine.value)


def test_the_smallest_temporaries_still_cover_all_trials(monkeypatch):
    scores, is_target = overlapping(1000, 2)
    whole = train(list(scores.T), is_target, **LOG)
    monkeypatch.setattr(linear_objective, "_SIZES", (56, 56))
    partitions = train(list(scores.T), is_target, **LOG)
    np.testing.assert_allclose(partitions.weights, whole.weights, rtol=1e-9)


def test_systems_without_information_get_weight_0_and_are_not_called_separated():
    for scores in ([[0.0], [1.0], [0.0], [1.0]], [[0.0, 0.0], [1.0, 1.0]] * 2):
        fit = train(list(np.array(scores).T), np.arange(4) < 2, **LOG)
        assert fit.converged
        np.testing.assert_allclose(fit.weights, 0.0, atol=1e-12)
        assert fit.objective == pytest.approx(math.log(2), rel=1e-14)


@pytest.mark.parametrize("non", [9.0, 4.0])
def test_without_an_offset_a_border_away_from_0_separates_nothing(non):
    scores, is_target = np.array([10.0, 12.0, non]), np.array([True, True, False])
    fit = train([scores], is_target, alpha=1.0, beta=1.0, log_odds=float(logit(0.01)), intercept=False)
    points = fit.weights[0] + np.linspace(-0.2, 0.2, 401)
    costs = [cost(np.array([a, 0.0]), scores[:, None], is_target, (1, 1), float(logit(0.01))) for a in points]
    assert fit.converged
    assert np.argmin(costs) == 200
    with pytest.raises(InputError, match="separated"):
        train([np.array([3.0, 0.0, -1.0])], is_target, **LOG, intercept=False)


@pytest.mark.parametrize("rule", [(1.0, 1.0), (0.5, 0.5), (2.0, 2.0)])
@pytest.mark.parametrize("far", [0.0, 1e6, -2000.0])
def test_a_shift_alone_needs_no_overlap(rule, far):
    """Targets and non-targets mirror each other around 2: so must the llrs around 0."""
    base = np.array([4.0, 6.0, 0.0, -2.0]) + far
    fit = train([], np.arange(4) < 2, alpha=rule[0], beta=rule[1], log_odds=0.0, base=base)
    assert fit.converged
    assert fit.offset == pytest.approx(-2.0 - far, rel=1e-9)


def test_infinite_scores_that_are_only_shifted_are_refused_where_they_are_wrong():
    is_target = np.arange(4) < 2
    with pytest.raises(InputError, match="1 target trials score -inf"):
        train([], is_target, **LOG, base=np.array([1.0, -np.inf, 0.0, 2.0]))
    with pytest.raises(InputError, match="one class has no finite score"):
        train([], is_target, **LOG, base=np.array([np.inf, np.inf, 0.0, 2.0]))
    right = train([], is_target, **LOG, base=np.array([1.0, np.inf, 0.0, 2.0]))
    large = train([], is_target, **LOG, base=np.array([1.0, 800.0, 0.0, 2.0]))
    assert right.offset == pytest.approx(large.offset, rel=1e-12)


@pytest.mark.parametrize("n", [400, 70_000])
@pytest.mark.parametrize("far", [1e10, 1e20, 1e300])
def test_a_score_that_is_far_on_the_right_side_does_not_matter(n, far):
    scores, is_target = overlapping(n, 1)
    s = scores[:, 0].copy()
    fits = []
    for value in (1e4, far):
        s[np.flatnonzero(is_target)[n // 9]] = value
        fits.append(train([s], is_target, **LOG))
    assert fits[1].converged
    assert fits[1].weights[0] == pytest.approx(fits[0].weights[0], rel=1e-9)
    assert fits[1].offset == pytest.approx(fits[0].offset, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("far", [1e10, 1e20, 1e300])
def test_a_score_that_is_far_on_the_wrong_side_decides(far):
    scores, is_target = overlapping(400, 1)
    s = scores[:, 0].copy()
    s[np.flatnonzero(is_target)[0]] = -far
    fit = train([s], is_target, **LOG)
    assert fit.converged
    # With a negative weight it costs nothing, and with a tiny one all others cost as much as without information.
    assert -100.0 < fit.weights[0] * far < -10.0
    assert fit.objective < math.log(2)


@pytest.mark.parametrize("rule", [(1.0, 1.0), (0.5, 0.5), (0.7, 0.9)])
@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_rare_classes_lose_no_digits(rule, sign):
    scores, is_target = overlapping(60, 1)
    log_odds = sign * math.log(1e12)
    fit = train([scores[:, 0]], is_target, alpha=rule[0], beta=rule[1], log_odds=log_odds)
    at = np.append(fit.weights, fit.offset)
    assert fit.converged
    assert fit.objective == pytest.approx(cost(at, scores, is_target, rule, log_odds), rel=1e-11)
    for step in (*np.eye(2), *-np.eye(2), np.ones(2), -np.ones(2)):
        assert fit.objective < cost(at + 0.02 * step, scores, is_target, rule, log_odds)


def test_a_rare_class_alone_may_vary():
    """At prior 1e-20 the variance of all scores is 1e-20 that of the targets'."""
    fit = train([np.array([1.0, 2.0, 3.0, 1.5, 1.5])], np.arange(5) < 3, alpha=0.5, beta=0.5, log_odds=-12.0)
    assert fit.converged
    column = TrainingTrials((np.array([1.0, 2.0, 1.5, 1.5]),), np.arange(4) < 2, (0.5, 0.5e-20))
    assert moments(column)[1][0] == pytest.approx(0.5e-10, rel=1e-9)


@pytest.mark.parametrize("rule", [(1.0, 1.0), (2.0, 2.0), (2.0, 1.0), (1.3, 0.8)])
def test_the_last_step_is_newtons(rule):
    """With second derivatives of another point it would leave 1e-6."""
    scores, is_target = overlapping(70_000, 1)
    log_odds = float(logit(0.01))
    fit = train([scores[:, 0]], is_target, alpha=rule[0], beta=rule[1], log_odds=log_odds)
    order = np.random.default_rng(2).permutation(len(scores))
    again = train([scores[order, 0]], is_target[order], alpha=rule[0], beta=rule[1], log_odds=log_odds)
    assert again.weights[0] == pytest.approx(fit.weights[0], rel=1e-9)
    assert again.offset == pytest.approx(fit.offset, rel=1e-9, abs=1e-10)


def test_errors_that_a_bounded_rule_gives_up_are_not_called_separated():
    scores, is_target = np.array([0.0, 1.0, 3.0]), np.array([True, False, True])
    with pytest.raises(InputError, match="the objective falls forever") as caught:
        train([scores], is_target, alpha=5.0, beta=5.0, log_odds=0.0)
    assert "separated" not in str(caught.value)
    assert "alpha and beta of at most 1" in str(caught.value)


def test_points_that_leave_float64_are_out_of_bounds():
    trials = TrainingTrials((np.array([1.0, 2.0, 3.0]),), np.array([True, False, True]), (1.0, 0.5))
    objective = LinearObjective(trials, np.zeros(1), np.ones(1), True, 0.05, 0.05, 0.0, np.zeros(2))
    for point in ([1e200, -1e200], [np.inf, -np.inf], [np.nan, 0.0]):
        assert objective(np.array(point)).value == np.inf
