"""What the best scale and offsets save; optima from scipy's general minimizer and from closed forms."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize

from deciban import metrics, multiclass
from deciban.calibration import MulticlassCalibrator
from deciban.multiclass.recalibration import CalibrationLimits
from deciban.multiclass.tables import ScoredClasses, expected_surprise
from support.class_trials import class_mean, random_trials, surprise

INF = math.inf


def optimum(loglik, label, prior, *, scale=True, offset=True):
    """Least cross-entropy in bits and its scale, by a minimizer that knows nothing but the definition."""
    n = loglik.shape[1]

    def cost(x):
        a = x[0] if scale else 1.0
        b = np.append(x[1:], 0.0) if offset else np.zeros(n)
        return class_mean(surprise(a * loglik + b, label, prior), label, prior) / math.log(2)

    found = minimize(cost, np.r_[0.5, np.zeros(n - 1)], tol=1e-12)
    return found.fun, found.x[0]


@pytest.mark.parametrize("prior", [None, [0.5, 0.3, 0.2]])
def test_optima_are_those_of_a_general_minimizer(prior):
    loglik, label = random_trials(3, 120, spread=3.0)
    loglik += [0.5, -1.0, 0.0]
    found = multiclass.calibration_analysis(loglik, label, prior=prior)
    flat = np.full(3, 1 / 3) if prior is None else np.array(prior)
    least, scale = optimum(loglik, label, flat)
    assert found.minimum == pytest.approx(least, abs=1e-9)
    assert found.scale == pytest.approx(scale, abs=1e-4)
    assert found.after_offset_only == pytest.approx(optimum(loglik, label, flat, scale=False)[0], abs=1e-9)
    assert found.after_scale_only == pytest.approx(optimum(loglik, label, flat, offset=False)[0], abs=1e-9)
    assert found.total == multiclass.cross_entropy(loglik, label, prior=prior) / math.log(2)
    # The map that is reported has the cost that is reported.
    mapped = multiclass.cross_entropy(found.scale * loglik + found.offset, label, prior=prior)
    assert mapped / math.log(2) == pytest.approx(found.minimum, abs=1e-12)
    assert np.mean(found.offset) == pytest.approx(0, abs=1e-14)
    if prior is None:
        assert multiclass.min_cllr(loglik, label) == pytest.approx(found.minimum, abs=1e-15)


@pytest.mark.parametrize("n", [6000, 70_000])
def test_values_of_many_trials_take_fewer_passes_and_keep_their_digits(n):
    """The map itself has fewer digits than that of a trained calibration."""
    label = np.arange(n) % 3
    loglik = 2.0 * np.random.default_rng(5).normal(size=(n, 3)) + 3.0 * np.eye(3)[label] + [0.5, 0.0, -0.2]
    found, model = multiclass.calibration_analysis(loglik, label), MulticlassCalibrator().fit(loglik, label)
    assert found.minimum * math.log(2) == pytest.approx(model.objective_, rel=1e-11)
    assert found.scale == pytest.approx(model.scale_, rel=1e-6)
    np.testing.assert_allclose(found.offset, model.offset_, atol=3e-6)


@pytest.mark.parametrize("n_classes", [2, 5])
@pytest.mark.parametrize("n", [300, 6000, 70_000])
def test_a_scale_alone_is_the_best_wherever_its_search_starts(n, n_classes):
    loglik, label = random_trials(n_classes, n, seed=4)
    trials = ScoredClasses.of(1.7 * loglik + 2.0 * np.arange(n_classes), label)
    prior = trials.prior(None)
    alone, after = (CalibrationLimits.of(trials, prior, expected_surprise(trials, prior)) for _ in range(2))
    both = after.least()
    one, other = alone.least(offset=False), after.least(offset=False)
    assert other.cost == pytest.approx(one.cost, rel=1e-12)
    assert other.scale == pytest.approx(one.scale, rel=1e-5)
    assert abs(both.scale - one.scale) > 1e-3
    assert after.least(scale=False).cost == pytest.approx(alone.least(scale=False).cost, rel=1e-12)


def test_losses_are_differences_in_order():
    loglik, label = random_trials(4, 200, spread=3.0)
    found = multiclass.calibration_analysis(loglik, label)
    assert found.loss == found.total - found.minimum
    assert found.offset_loss == found.total - found.after_offset_only
    assert found.scale_loss == found.total - found.after_scale_only
    assert 0 < found.minimum < min(found.after_offset_only, found.after_scale_only)
    assert max(found.after_offset_only, found.after_scale_only) < found.total
    assert found.reference == pytest.approx(2, rel=1e-15)


def test_scale_and_offsets_leave_the_minimum_alone():
    loglik, label = random_trials(4, 200)
    least = multiclass.min_cllr(loglik, label)
    assert multiclass.min_cllr(0.01 * loglik + [1, 2, 3, 4], label) == pytest.approx(least, abs=1e-12)
    found = multiclass.calibration_analysis(loglik, label)
    again = multiclass.calibration_analysis(found.scale * loglik + found.offset, label)
    assert again.loss == pytest.approx(0, abs=1e-12)
    assert again.scale == pytest.approx(1, abs=1e-6)


def test_whole_weights_are_copies():
    loglik, label = random_trials(3, 60)
    weights = np.arange(60) % 3
    weights[:3] = 2
    copies = multiclass.min_cllr(np.repeat(loglik, weights, axis=0), np.repeat(label, weights))
    assert multiclass.min_cllr(loglik, label, sample_weight=weights) == pytest.approx(copies, abs=1e-12)


def test_perfect_separation_leaves_nothing():
    loglik = np.array([[2.0, 0, 0], [0, 1, 0], [0, 0, 3], [5, 1, 4]])
    found = multiclass.calibration_analysis(loglik, [0, 1, 2, 0])
    assert found.minimum == found.after_scale_only == multiclass.min_cllr(loglik, [0, 1, 2, 0]) == 0
    assert found.scale > 1
    assert 0 < found.after_offset_only < found.total
    # Here offsets are needed before the scale may grow.
    shifted = multiclass.calibration_analysis(loglik + np.array([0, 9.0, 0]), [0, 1, 2, 0])
    assert shifted.minimum == 0 < shifted.after_scale_only


def test_an_optimum_at_infinity_that_is_not_zero():
    """Two trials of different classes are alike, all others are apart: one bit for each of the two, of two each."""
    llr = np.array([2.0, 1.0, 1.0, -2.0])
    loglik = np.column_stack([llr, np.zeros(4)])
    found = multiclass.calibration_analysis(loglik, [0, 0, 1, 1])
    assert found.minimum == pytest.approx(0.5, abs=1e-9)
    tied = multiclass.calibration_analysis([[1.0, 0], [0, 0], [0, 1], [0, 0]], [0, 0, 1, 1])
    assert tied.minimum == pytest.approx(0.5, abs=1e-9)
    assert tied.after_scale_only == pytest.approx(0.5, abs=1e-9)


@pytest.mark.parametrize(
    "loglik",
    [
        np.zeros((3, 3)),
        np.arange(3)[:, None] + np.array([[3.0, 0, 1]]),
        -np.eye(3),
        [[-INF, 0, 0], [0, 1, 0], [0, 0, 1]],
        [[0, INF, 0], [0, 1, 0], [0, 0, 1]],
    ],
)
def test_what_no_scale_helps_is_thrown_away(loglik):
    """No information, the opposite of information, infinite evidence against the truth: scale 0, the entropy."""
    found = multiclass.calibration_analysis(loglik, [0, 1, 2])
    assert (found.minimum, found.scale, found.offset.tolist()) == (found.reference, 0, [0, 0, 0])
    assert found.after_scale_only == found.reference
    assert found.after_offset_only >= found.reference - 1e-15
    assert found.total >= found.after_offset_only
    assert found.loss == found.total - found.minimum
    assert found.offset_loss >= 0


def test_certainty_that_is_right_costs_nothing():
    loglik = np.where(np.eye(3) > 0, 0.0, -INF)
    found = multiclass.calibration_analysis(loglik, [0, 1, 2])
    assert found.total == found.minimum == found.loss == found.after_offset_only == found.after_scale_only == 0


def test_certain_trials_are_left_as_they_are():
    """Trials that are decided and right cost nothing under any map with a scale above 0."""
    loglik, label = random_trials(3, 90)
    loglik[3:6] = np.where(np.eye(3) > 0, INF, 1.0)
    label[3:6] = [0, 1, 2]
    found = multiclass.calibration_analysis(loglik, label)
    kept = np.ones(90, bool)
    kept[3:6] = False
    counts, left = np.bincount(label), np.bincount(label[kept])
    weights = (left / counts)[label[kept]]

    def cost(x):
        costs = surprise(x[0] * loglik[kept] + np.append(x[1:], 0), label[kept], np.full(3, 1 / 3))
        return class_mean(np.array(costs) * weights, label[kept], [1 / 3] * 3) / math.log(2)

    assert found.minimum == pytest.approx(minimize(cost, [0.5, 0, 0], tol=1e-12).fun, abs=1e-9)


def test_two_classes_have_less_freedom_than_pav():
    loglik, label = random_trials(2, 200)
    llr = loglik[:, 0] - loglik[:, 1]
    assert metrics.min_cllr(llr[label == 0], llr[label == 1]) < multiclass.min_cllr(loglik, label)
