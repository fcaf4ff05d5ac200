"""Information delivered and lost, capacity: against the metrics of other modules, and channels that are known."""

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from scipy.optimize import check_grad
from scipy.stats import entropy

from deciban import InputError, metrics, multiclass
from deciban.evaluation import evaluate_classes
from deciban.evaluation.multiclass.problem_sums import ClassMetrics
from deciban.evaluation.multiclass.summary import summarize_classes
from deciban.multiclass.tables import ScoredClasses
from deciban.rules import (
    Beta,
    Logarithmic,
    Quadratic,
    ThresholdWeights,
    capacity,
    class_capacity,
    class_information,
    expected_cost,
    information,
)
from deciban.rules.delivered import _lost_information
from support.class_trials import random_trials

RNG = np.random.default_rng(5)
TAR, NON = RNG.normal(1.5, 2.0, 80), RNG.normal(-1.0, 1.5, 300)


@pytest.mark.parametrize("p", [0.5, 0.01])
def test_two_classes_are_told_what_cross_entropy_leaves(p):
    found = information(TAR, NON, p_target=p)
    nats = [f(TAR, NON, p_target=p) for f in (metrics.cross_entropy, metrics.min_cross_entropy)]
    assert found.entropy == pytest.approx(entropy([p, 1 - p], base=2))
    assert (found.cost, found.minimum) == pytest.approx(tuple(x / math.log(2) for x in nats), rel=1e-12)
    assert found.entropy == pytest.approx(found.delivered + found.lost_by_calibration + found.lost_by_discrimination)
    assert found.available == pytest.approx(found.entropy - found.minimum)


def bits(*odds):
    """Entropy of the posterior odds, in bits, by decimals; or the costs of both classes."""
    total = Decimal(2).ln()
    return [(1 + 1 / x).ln() / total for x in odds], [(1 + x).ln() / total for x in odds]


@pytest.mark.parametrize("log_odds", [-700.0, -40.0, math.log(1e-9), 0.0, 27.6, 300.0])
def test_information_at_extreme_priors_is_that_of_decimals(log_odds):
    tar, non = [1.5, 3.25, -0.5], [-2.0, 0.75]
    with localcontext() as context:
        context.prec = 700
        odds = Decimal(log_odds).exp()
        prior = odds / (1 + odds)
        (of_tar, _), (_, of_non), (one, other) = (
            bits(*(odds * Decimal(x).exp() for x in llrs)) for llrs in (tar, non, [0.0])
        )
        entropy_of_prior = float(prior * one[0] + (1 - prior) * other[0])
        cost = float(prior * sum(of_tar) / len(tar) + (1 - prior) * sum(of_non) / len(non))
    found = information(tar, non, prior_log_odds=log_odds)
    np.testing.assert_allclose(
        (found.entropy, found.cost), (entropy_of_prior, cost), rtol=1e-3 if log_odds < -705 else 1e-13
    )


def test_a_prior_that_underflows_is_refused():
    with pytest.raises(InputError, match="prior_log_odds: -800 is a prior of 0"):
        information([1.0], [0.0], prior_log_odds=-800.0)


def test_posteriors_that_underflow_cost_what_their_log_odds_do():
    found = information([-900.0], [0.0], rule=Logarithmic(), prior_log_odds=0.0)
    assert found.cost == pytest.approx(450.0 + math.log(2) / 2)


def test_other_rules_in_their_units():
    found = information(TAR, NON, rule=Beta(2.0, 0.7), p_target=0.2, tar_weights=np.arange(80) % 3)
    given = {"alpha": 2.0, "beta": 0.7, "p_target": 0.2, "tar_weights": np.arange(80) % 3}
    assert found.cost == pytest.approx(metrics.scoring_rule_cost(TAR, NON, **given), rel=1e-12)
    assert found.minimum == pytest.approx(metrics.min_scoring_rule_cost(TAR, NON, **given), rel=1e-12)
    points = information(TAR, NON, rule=ThresholdWeights([0.3], [0.7]), p_target=0.5)
    dcf = metrics.act_dcf(TAR, NON, p_target=0.5, c_miss=1 / 0.3, c_fa=1 / 0.7, normalize=False)
    assert points.cost == pytest.approx(0.7 * dcf, rel=1e-12)
    assert str(points).startswith(f"{points.delivered:.4g} of {points.entropy:.4g} units of cost")


def test_many_classes_are_two_with_two_columns_and_flat_and_other_priors():
    llr = np.concatenate((TAR, NON))
    loglik, label = np.stack((llr, np.zeros(380)), axis=1), np.repeat([0, 1], [80, 300])
    for rule in (Logarithmic(2), Quadratic(), Beta(2.0, 0.7)):
        many = expected_cost(loglik, label, rule=rule, prior=[0.2, 0.8])
        assert many == pytest.approx(information(TAR, NON, rule=rule, p_target=0.2).cost, rel=1e-12)
    loglik, label = random_trials(4, 60)
    prior = [0.1, 0.2, 0.0, 0.7]
    found = class_information(loglik, label, prior=prior)
    assert found.delivered == pytest.approx(multiclass.information_delivered(loglik, label, prior=prior), rel=1e-12)
    assert found.minimum == pytest.approx(multiclass.calibration_analysis(loglik, label, prior=prior).minimum, rel=1e-9)
    assert class_information(loglik, label, rule=Quadratic()).minimum is None


def test_capacity_of_known_channels():
    """A binary symmetric channel with a tenth of errors; an erasure channel; one that tells nothing."""
    symmetric = capacity([1] * 9 + [0], [0] * 9 + [1])
    assert symmetric.bits == pytest.approx(1.0 - entropy([0.1, 0.9], base=2), rel=1e-9)
    assert symmetric.prior == pytest.approx([0.5, 0.5], abs=1e-6)
    z_channel = capacity([1] * 5 + [0] * 5, [0] * 10)  # log2(1 + (1 - p) p^(p / (1 - p))) with p = 1/2, at 2/5
    assert z_channel.bits == pytest.approx(math.log2(1.25), rel=1e-9)
    assert z_channel.prior == pytest.approx([0.4, 0.6], abs=1e-4)
    nothing = capacity([0.0], [0.0])
    assert (nothing.bits, nothing.prior.tolist()) == (0.0, [0.5, 0.5])


def test_capacity_is_the_most_at_any_prior():
    for recalibrated in (True, False):
        found = capacity(TAR, NON, recalibrated=recalibrated)
        told = [information(TAR, NON, prior_log_odds=x) for x in np.linspace(-4, 4, 401)]
        best = max(one.available if recalibrated else one.delivered for one in told)
        assert best - 1e-9 <= found.bits <= best + 1e-4


def test_capacity_of_many_classes():
    """A symmetric channel of four; one class that looks like another is left out."""
    p = np.full((4, 4), 0.1) + 0.6 * np.eye(4)
    label = np.repeat(np.arange(4), 10)
    symbol = np.concatenate([np.repeat(np.arange(4), (10 * row).round().astype(int)) for row in p])
    found = class_capacity(np.log(p.T)[symbol], label)
    assert found.bits == pytest.approx(2.0 - entropy(p[0], base=2), rel=1e-9)
    assert found.prior == pytest.approx([0.25] * 4, abs=1e-4)
    loglik = np.array([[3.0, 0.0, 1.4], [0.0, 3.0, 1.4], [1.0, 1.0, 1.0]])
    assert class_capacity(loglik, [0, 1, 2]).prior[2] < 1e-4


def test_capacity_leaves_out_a_class_that_its_own_trial_excludes():
    """Any prior of it would cost without end; the others tell what two classes tell."""
    found = class_capacity([[-np.inf, 0.0, 0.0], [0.0, 5.0, 0.0], [0.0, 0.0, 5.0]], [0, 1, 2])
    assert found.bits == pytest.approx(class_capacity([[5.0, 0.0], [0.0, 5.0]], [0, 1]).bits, rel=1e-12)
    assert found.prior == pytest.approx([0.0, 0.5, 0.5], abs=1e-6)
    certain = class_capacity(np.where(np.eye(3) > 0, np.inf, 0.0), [0, 1, 2])
    assert certain.bits == pytest.approx(math.log2(3), rel=1e-12)


def test_capacity_of_weighted_trials_is_that_of_the_channel():
    """Z channel: one symbol of the second class is half lost, ``log2 5/4`` bits at a prior of 2/5 for it."""
    loglik, label = np.log([[1.0, 0.5], [1.0, 0.5], [np.nextafter(0, 1), 0.5]]), [0, 1, 1]
    never = [-np.inf, 0.0]  # a trial of weight 0 does not exist, and excludes no class
    found = class_capacity([*loglik, never], [*label, 0], sample_weight=[4.0, 0.5, 0.5, 0.0])
    assert found.bits == pytest.approx(math.log2(1.25), rel=1e-9)
    assert found.prior == pytest.approx([0.6, 0.4], abs=1e-4)
    llr = loglik[:, 0] - loglik[:, 1]
    of_two = capacity(llr[:1], llr[1:], tar_weights=[7.0], non_weights=[3.0, 3.0], recalibrated=False)
    assert of_two.bits == pytest.approx(math.log2(1.25), rel=1e-9)
    assert of_two.prior == pytest.approx([0.6, 0.4], abs=1e-4)


def test_slopes_of_what_is_told_are_its_derivatives():
    trials = ScoredClasses.of_metric(*random_trials(3, 50), None, None)
    at, every = np.array([0.3, -0.5, 0.1]), np.arange(3)
    lost = [lambda x, k=k: _lost_information(x, trials, every)[k] for k in (0, 1)]
    assert check_grad(*lost, at) < 1e-6


def test_rules_about_other_classes_are_refused():
    with pytest.raises(InputError, match="rule: for 2 classes, but the scores have 3"):
        expected_cost(np.zeros((3, 3)), [0, 1, 2], rule=Beta(1, 1))
    with pytest.raises(InputError, match="prior"):
        information(TAR, NON)


def test_capacity_after_calibration_is_the_most_that_calibrated_scores_tell():
    """Evaluations have it of any scores that differ by a map, and no prior tells more."""
    rng, symbol = np.random.default_rng(4), np.repeat(np.arange(3), 40)
    loglik = rng.normal(0, 1.0, (120, 3)) + 1.5 * np.eye(3)[symbol]
    found = evaluate_classes(loglik, symbol, capacity=True)
    mapped = found.calibration.scale * loglik + found.calibration.offset
    told = [class_information(mapped, symbol, prior=rng.dirichlet([2, 2, 2])).delivered for _ in range(100)]
    assert max(told) <= found.capacity.bits + 1e-9
    at_best = class_information(mapped, symbol, prior=found.capacity.prior).delivered
    assert found.capacity.bits == pytest.approx(at_best, rel=1e-9)
    assert found.capacity.bits >= found.information_at[0].available - 1e-12
    assert found.capacity.bits == pytest.approx(class_capacity(mapped, symbol).bits, rel=1e-6)
    again = evaluate_classes(3.0 * loglik + [1.0, -2.0, 0.5], symbol, capacity=True).capacity
    assert again.bits == pytest.approx(found.capacity.bits, rel=1e-6)
    assert again.prior == pytest.approx(found.capacity.prior, abs=1e-3)


def test_scores_that_say_nothing_have_no_capacity_and_who_does_not_ask_gets_none():
    label, loglik = [0, 1, 2, 0], np.zeros((4, 3))
    nothing = evaluate_classes(loglik, label, capacity=True)
    assert (nothing.capacity.bits, nothing.capacity.prior.tolist()) == (0.0, pytest.approx([1 / 3] * 3))
    assert nothing.to_dict()["capacity"]["bits"] == 0.0
    assert "capacity" not in evaluate_classes(loglik, label).to_dict()
    with pytest.raises(InputError, match="capacity: this search needs all trials in memory"):
        summarize_classes(loglik, label, metrics=ClassMetrics(capacity=True))
