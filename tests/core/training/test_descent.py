"""The way to the optimum: how often it goes through all trials, in which precision, and that no shortcut misleads."""

import numpy as np
import pytest
from scipy.special import expit

from deciban import metrics
from deciban.core.training.linear_objective import LinearObjective
from deciban.core.training.linear_training import train
from support.training_reference import gaussian, masses, optimum, pulls

RULES = [(1.0, 1.0), (2.0, 2.0), (0.5, 0.5), (2.0, 1.0), (1.0, 2.0), (1.5, 0.7), (3.0, 5.0)]
LOG = {"alpha": 1.0, "beta": 1.0, "log_odds": 0.0}


@pytest.fixture
def passes(monkeypatch):
    """Every pass of a training: type, number of trials, and whether it computed second derivatives."""
    seen, original = [], LinearObjective.__call__

    def counted(self, parameters, /, hessian=None):
        seen.append((np.dtype(self.dtype), len(self.trials), hessian is None))
        return original(self, parameters, hessian)

    monkeypatch.setattr(LinearObjective, "__call__", counted)
    return seen


def cost(llr, is_target, rule, log_odds):
    """The objective by the metric."""
    alpha, beta = rule
    return metrics.scoring_rule_cost(llr[is_target], llr[~is_target], alpha=alpha, beta=beta, prior_log_odds=log_odds)


@pytest.mark.parametrize("n_systems", [1, 5])
@pytest.mark.parametrize("rule", [(1.0, 1.0), (2.0, 2.0)])
def test_two_passes_over_many_trials_are_enough(n_systems, rule, passes):
    scores, is_target = gaussian(100_000, n_systems)
    fit = train(scores, is_target, alpha=rule[0], beta=rule[1], log_odds=-1.0)
    over_all = [(dtype, own) for dtype, n, own in passes if n == len(scores)]
    assert fit.converged
    assert fit.n_passes == sum(dtype == np.float64 for dtype, _ in over_all) <= 2
    assert sum(own for _, own in over_all) <= 1  # second derivatives of a sample or of an earlier point do
    if n_systems > 1:
        assert 1 <= sum(dtype == np.float32 for dtype, _ in over_all) <= 3


@pytest.mark.parametrize("n_systems", [1, 3])
def test_a_sample_saves_passes_where_nothing_else_does(n_systems, passes):
    scores, is_target = gaussian(40_000, n_systems)
    assert train(scores, is_target, **LOG).n_passes <= 4
    assert all(dtype == np.float64 for dtype, n, _ in passes if n == len(scores))
    assert min(n for _, n, _ in passes) < 12_000


@pytest.mark.parametrize("size", [1e-60, 1e60])
def test_the_size_of_weights_does_not_matter(size, passes):
    """Float32 holds neither, so that weighted trials are looked at in full precision."""
    scores, is_target = gaussian(70_000, 2)
    weights = np.random.default_rng(2).random(70_000) + 0.5
    fits = [train(scores, is_target, weights=weights * factor, **LOG) for factor in (1.0, size)]
    assert fits[1].n_passes == fits[0].n_passes
    assert all(dtype == np.float64 for dtype, _, _ in passes)
    np.testing.assert_allclose(fits[1].weights, fits[0].weights, rtol=1e-9)


def test_weights_of_trials_from_1e_minus_60_to_1e60_are_trained_like_those_that_count():
    scores, is_target = gaussian(70_000, 2)
    weights = np.where(np.arange(70_000) % 3 == 0, 1e60, 1e-60)
    fit = train(scores, is_target, weights=weights, **LOG)
    best = optimum(scores[::3], is_target[::3])
    assert fit.n_passes < 10
    np.testing.assert_allclose([*fit.weights, fit.offset], best, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("n_systems", [1, 2])
def test_a_sample_that_is_separated_does_not_mislead(n_systems):
    """No trial of the sample, every fourth one, is on the wrong side; among the others many are."""
    scores, is_target = gaussian(40_000, n_systems)
    sampled = np.arange(40_000) % 4 == 0
    scores[sampled] = np.where(is_target[sampled, None], 1e-3, -1e-3) * (1 + np.abs(scores[sampled]))
    fit = train(scores, is_target, **LOG)
    best = optimum(scores, is_target)
    assert fit.converged
    assert fit.n_passes <= 8
    np.testing.assert_allclose([*fit.weights, fit.offset], best, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("n_systems", [1, 3])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("rule", [(1.0, 1.0), (0.5, 0.5), (1.5, 0.7)])
def test_all_the_levels_lead_to_the_optimum_of_all_trials(rule, weighted, n_systems):
    scores, is_target = gaussian(70_000, n_systems, p_target=0.03)
    weights = np.random.default_rng(2).random(70_000) if weighted else None
    fit = train(scores, is_target, weights=weights, alpha=rule[0], beta=rule[1], log_odds=-2.0)
    mass = masses(is_target, -2.0, weights)
    start = optimum(scores, is_target, mass=mass, log_odds=-2.0)
    best = optimum(scores, is_target, mass=mass, rule=rule, log_odds=-2.0, start=start)
    np.testing.assert_allclose([*fit.weights, fit.offset], best, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("n_systems", [1, 3])
def test_what_is_added_to_the_llr_of_many_trials_takes_part(n_systems):
    scores, is_target = gaussian(70_000, n_systems)
    base = np.random.default_rng(2).normal(size=70_000)
    fit = train(scores, is_target, base=base, alpha=1.0, beta=1.0, log_odds=-2.0)
    best = optimum(scores, is_target, mass=masses(is_target, -2.0), log_odds=base - 2.0)
    np.testing.assert_allclose([*fit.weights, fit.offset], best, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("n_systems", [1, 3])
@pytest.mark.parametrize(("intercept", "ridge"), [(False, 0.0), (True, 1e-2), (False, 1e-2)])
def test_without_an_offset_or_with_a_penalty_the_gradient_of_many_trials_vanishes_as_well(intercept, ridge, n_systems):
    scores, is_target = gaussian(70_000, n_systems)
    scores += 0.3
    fit = train(scores, is_target, alpha=1.0, beta=1.0, log_odds=-2.0, intercept=intercept, ridge=ridge)
    mass = masses(is_target, -2.0)
    deviation = np.sqrt([np.cov(column, aweights=mass, ddof=0) for column in scores.T])
    slope = mass * pulls(scores @ fit.weights + fit.offset - 2.0, is_target, (1, 1))[0]
    np.testing.assert_allclose(slope @ scores + ridge * deviation**2 * fit.weights, 0.0, atol=1e-7)
    if intercept:
        assert slope.sum() == pytest.approx(0.0, abs=1e-7)
    else:
        assert fit.offset == 0.0


@pytest.mark.parametrize("rule", RULES)
def test_the_order_of_many_trials_does_not_matter(rule):
    scores, is_target = gaussian(100_000, 5, p_target=0.05)
    order = np.random.default_rng(2).permutation(len(scores))
    settings = {"alpha": rule[0], "beta": rule[1], "log_odds": -1.0}
    fit, again = train(scores, is_target, **settings), train(scores[order], is_target[order], **settings)
    np.testing.assert_allclose(again.weights, fit.weights, rtol=1e-6)
    assert again.offset == pytest.approx(fit.offset, abs=1e-6)
    assert again.objective == pytest.approx(fit.objective, rel=1e-12)
    llr = scores @ fit.weights + fit.offset
    assert fit.objective == pytest.approx(cost(llr, is_target, rule, -1.0), rel=1e-11)


@pytest.mark.parametrize(
    ("tar", "non"),
    [
        ([-9.0, -3.0, -5.0, 3.0], [-4.0, -6.0, -5.0, 6.0, -5.0]),
        ([3.0, 7.0, 5.0, -4.0, 0.0], [0.0, 8.0, 0.0, 2.0]),
        ([-4.0, -2.0, 8.0, 3.0, 5.0], [-1.0, 5.0, -5.0]),
    ],
)
def test_the_best_of_several_minima_is_found(tar, non):
    """Brier's rule is not convex: besides the best point these trials have a worse one, where the search ends."""
    tar, non = np.array(tar), np.array(non)
    fit = train([np.append(tar, non)], np.arange(len(tar) + len(non)) < len(tar), alpha=2.0, beta=2.0, log_odds=-2.0)
    weight, offset = np.meshgrid(np.linspace(-3, 3, 401), np.linspace(-10, 10, 401))
    of_tar, of_non = (weight[..., None] * s + offset[..., None] - 2.0 for s in (tar, non))
    costs = expit(-2.0) * 3 * np.mean(expit(-of_tar) ** 2, -1) + expit(2.0) * 3 * np.mean(expit(of_non) ** 2, -1)
    assert fit.objective <= costs.min()


@pytest.mark.parametrize("kind", ["C", "Fortran", "float32", "strided", "read-only", "columns", "reversed"])
@pytest.mark.parametrize("n", [500, 40_000, 70_000])
def test_the_layout_of_a_matrix_does_not_matter_and_it_stays_as_it_was(n, kind):
    scores, is_target = gaussian(n, 3)
    scores = scores.astype(np.float32).astype(np.float64)  # so that nothing gets lost as float32
    expected = train(scores, is_target, **LOG)
    layouts = {
        "C": scores.copy(),
        "Fortran": np.asfortranarray(scores),
        "float32": scores.astype(np.float32),
        "strided": np.repeat(np.repeat(scores, 2, axis=0), 3, axis=1)[::2, ::3],
        "read-only": scores.copy(),
        "columns": list(scores.T.copy()),
        "reversed": scores[::-1, ::-1].copy()[::-1, ::-1],
    }
    given = layouts[kind]
    if kind == "read-only":
        given.setflags(write=False)
    labels = is_target.copy()
    fit = train(given, labels, **LOG)
    np.testing.assert_allclose(fit.weights, expected.weights, rtol=1e-6)
    assert fit.objective == pytest.approx(expected.objective, rel=1e-12)
    np.testing.assert_array_equal(np.transpose(given) if kind == "columns" else given, scores)
    np.testing.assert_array_equal(labels, is_target)


@pytest.mark.parametrize(
    ("n", "n_tar", "n_systems"), [(40_000, 100, 1), (120_000, 300, 1), (120_000, 100, 1), (40_000, 300, 2)]
)
def test_a_sample_that_is_nearly_separated_does_not_decide_on_a_bounded_rule(n, n_tar, n_systems):
    """Its best minimum lies far out, where all trials have none, or a worse one."""
    rng, is_target = np.random.default_rng(0), np.arange(n) < n_tar
    scores = rng.normal(size=(n, n_systems)) + is_target[:, None] * 3.5 / np.sqrt(n_systems)
    log_odds = float(np.log(0.001 / 0.999))
    fit = train(scores, is_target, alpha=2.0, beta=1.0, log_odds=log_odds)

    def cost(x):
        llr = scores @ x[:-1] + x[-1]
        rule = {"alpha": 2.0, "beta": 1.0, "prior_log_odds": log_odds}
        return metrics.scoring_rule_cost(llr[is_target], llr[~is_target], **rule)

    # The llr of Gaussians with equal variances, which the scores were drawn from, is close to the optimum.
    truth = np.append(np.full(n_systems, 3.5 / np.sqrt(n_systems)), -(3.5**2) / 2)
    assert fit.converged
    assert fit.objective <= cost(truth)


@pytest.mark.parametrize("far", [100.0, 1000.0])
def test_an_outlier_that_the_sample_missed_does_not_stop_a_rule_of_exponential_costs(far):
    rng, is_target = np.random.default_rng(0), np.arange(40_000) % 2 == 0
    scores = rng.normal(size=(40_000, 2)) + is_target[:, None]
    scores[10_001] = far
    fit = train(scores, is_target, alpha=0.5, beta=0.5, log_odds=0.0)
    assert fit.converged
    for step in (*np.eye(2), *-np.eye(2)):  # the objective is convex: nowhere nearby is it lower
        llr = scores @ (fit.weights + 1e-3 * step) + fit.offset
        assert (
            metrics.scoring_rule_cost(llr[is_target], llr[~is_target], alpha=0.5, beta=0.5, p_target=0.5)
            > fit.objective
        )
