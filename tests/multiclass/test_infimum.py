"""The least cost that scale and offsets can come close to, where infinities or separated classes drive them away."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import minimize

from deciban import InputError, multiclass
from deciban.calibration import AffineCalibrator
from support.class_trials import priors

INF = math.inf
CORNERS = st.sampled_from([-INF, -1.0, 0.0, 1.0, INF])


def reference(loglik, label, prior, *, scale=True, offset=True):
    """Least cross-entropy in bits by a minimizer in a large box; infinities as the definitions say.

    The cost is convex in scale and offsets, and -inf excludes a class at any scale above 0, however small. Values are
    whole numbers, so that what falls forever is below 1e-20 at the sides of the box.
    """
    columns = np.flatnonzero(prior > 0)
    prior = prior[columns]
    nothing = -float(prior @ np.log(prior)) if scale else INF
    constant, rows, truths, masses = 0.0, [], [], []
    for row, true in zip(loglik[:, columns], label, strict=True):
        if true not in columns:
            continue
        k = int(np.searchsorted(columns, true))
        mass = prior[k] / np.sum(label == true)
        if math.isinf(row.max()):  # +inf decides; equal infinities are equal
            best = row == row.max()
            constant += mass * (math.log(prior[best].sum()) - math.log(prior[k])) if best[k] else INF
        elif row[k] == -INF:
            constant = INF
        else:
            rows.append(row)
            truths.append(k)
            masses.append(mass)
    if not rows or math.isinf(constant):
        return min(constant, nothing) / math.log(2)
    rows, masses, at = np.array(rows), np.array(masses), (np.arange(len(rows)), truths)
    finite = np.where(np.isfinite(rows), rows, 0.0)

    def cost(x):
        a, b = (x[0] if scale else 1.0), (x[1:] if offset else 0.0)
        z = np.where(np.isfinite(rows), a * finite + b + np.log(prior), -INF)
        likelihood = np.exp(z - z.max(axis=1, keepdims=True))
        posterior = likelihood / likelihood.sum(axis=1, keepdims=True)
        value = masses @ (np.log(likelihood.sum(axis=1)) + z.max(axis=1) - z[at])
        posterior[at] -= 1.0
        pull = masses[:, None] * posterior
        return value, np.append(scale * np.sum(pull * finite), offset * pull.sum(axis=0))

    box = [(0.0, 100.0)] + [(-400.0, 400.0)] * len(prior)
    ways = {"maxiter": 5000, "maxfun": 20000, "ftol": 1e-16, "gtol": 1e-11}
    found = [
        minimize(cost, np.append(start, 0.0 * prior), jac=True, method="L-BFGS-B", bounds=box, options=ways).fun
        for start in (0.3, 8.0)
    ]
    return min(min(found) + constant, nothing) / math.log(2)


@st.composite
def corner_cases(draw):
    """A few trials of corner values; mostly infinities that speak for the truth, for the others are soon told."""
    n = draw(st.integers(2, 4))
    label = [*range(n), *draw(st.lists(st.integers(0, n - 1), max_size=6))]
    row = st.lists(CORNERS, min_size=n, max_size=n).filter(lambda one: max(one) > -INF)
    loglik = np.array([draw(row) for _ in label])
    if draw(st.integers(0, 3)):
        for one, k in zip(loglik, label, strict=True):
            one[k] = INF if one.max() == INF else max(one[k], 0.0)
    return loglik, np.array(label)


def check(loglik, label, prior):
    found = multiclass.calibration_analysis(loglik, label, prior=prior)
    assert found.minimum == pytest.approx(reference(loglik, label, prior), abs=1e-7)
    assert found.after_offset_only == pytest.approx(reference(loglik, label, prior, scale=False), abs=1e-7)
    assert found.after_scale_only == pytest.approx(reference(loglik, label, prior, offset=False), abs=1e-7)
    mapped = found.scale * loglik + found.offset if found.scale > 0 else np.zeros(loglik.shape)
    at = multiclass.cross_entropy(mapped, label, prior=prior) / math.log(2)
    assert at == pytest.approx(found.minimum, abs=1e-11)  # the map that is reported comes as close as it says
    assert found.minimum <= min(found.reference, found.total + 1e-12)
    assert 0.0 <= found.minimum <= min(found.after_offset_only, found.after_scale_only) + 1e-9


@given(corner_cases(), st.data())
def test_the_infimum_is_that_of_a_minimizer_in_a_large_box(trials, data):
    loglik, label = trials
    n = loglik.shape[1]
    prior = data.draw(st.just(np.full(n, 1 / n)) | priors(n))
    if n > 2 and data.draw(st.booleans()):
        prior[data.draw(st.integers(0, n - 1))] = 0.0
    check(loglik, label, prior / prior.sum())


def test_a_class_that_all_others_exclude_costs_nothing():
    """Trials of class 1 are told from class 0 by an offset that only they feel: 0 and 1/2 bit."""
    found = multiclass.calibration_analysis([[0, -INF], [0, -INF], [0, 0], [0, 0]], [0, 0, 1, 1])
    assert (found.total, found.minimum, found.after_offset_only, found.after_scale_only) == (0.5, 0.0, 0.0, 0.5)
    assert found.offset[1] - found.offset[0] > 30


def test_a_class_whose_trials_are_all_certain_drops_out():
    """What is left of classes 1 and 2 is told by no scale above 0: one bit for two thirds of the prior."""
    loglik = np.array([[INF, 0, 0], [INF, 0, 1], [1, 0, 3], [0, 2, 4], [0, 0, 1], [0, 3, 2], [0, 1, 0]])
    label = np.array([0, 0, 1, 1, 2, 2, 1])
    found = multiclass.calibration_analysis(loglik, label)
    assert found.minimum == pytest.approx(2 / 3, abs=1e-12)
    assert 0 < found.scale < 1e-10  # not 0, which would throw away what is certain
    alone = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.0, 2.0], [0.0, 1.0]])
    # Where the scale is of use, it is that of the problem of two classes.
    loglik[2:, 1:] = alone
    found = multiclass.calibration_analysis(loglik, label := np.array([0, 0, 1, 1, 1, 2, 2]))
    two = multiclass.calibration_analysis(alone, label[2:] - 1)
    assert found.minimum == pytest.approx(two.minimum * 2 / 3, abs=1e-12)
    assert found.scale == pytest.approx(two.scale, rel=1e-6)


def test_exclusions_count_where_the_best_scale_is_0():
    """The wrong class always leads, but each trial has only two classes left: one bit, not log2 3."""
    loglik = np.array([[0.0, 1, -INF], [-INF, 0, 1], [1, -INF, 0]])
    found = multiclass.calibration_analysis(loglik, [0, 1, 2])
    assert found.minimum == pytest.approx(1.0, abs=1e-12)
    assert found.after_scale_only == pytest.approx(1.0, abs=1e-12)
    assert 0 < found.scale < 1e-10


@pytest.mark.parametrize("tie", [0.3, 0.1 + 0.2])
def test_ways_round_that_are_ties_but_for_rounding(tie):
    """Leads 0.1, 0.2 and -0.3 add up to 0: an offset for each class makes all three trials ties of two classes."""
    loglik = np.array([[0.0, 0.1, -9], [-9, 0, 0.2], [-tie, -9, 0]])
    found = multiclass.calibration_analysis(loglik, [0, 1, 2])
    assert found.minimum == pytest.approx(1.0, abs=1e-9)


@given(st.lists(st.tuples(st.sampled_from([-INF, -2.0, -1.0, 0.0, 1.0, 2.0, INF]), st.booleans()), min_size=4))
def test_two_classes_are_the_affine_calibrator(trials):
    llr, is_target = (np.array(column) for column in zip(*trials, strict=True))
    llr = np.where(np.isinf(llr), np.where(is_target, INF, -INF), llr)  # certain trials are right
    assume(0 < is_target.sum() < len(llr))
    try:
        calibrator = AffineCalibrator().fit(llr, is_target)
    except InputError:  # separated, or nothing finite
        return
    except Warning:  # the scale is negative
        return
    loglik = np.column_stack([llr, np.zeros(len(llr))])
    found = multiclass.calibration_analysis(loglik, 1 - is_target)
    assert found.minimum == pytest.approx(calibrator.objective_ / math.log(2), abs=1e-10)
    assert multiclass.min_cllr(loglik, 1 - is_target) == found.minimum
    assert found.scale == pytest.approx(calibrator.scale_, rel=1e-5, abs=1e-7)


def test_a_row_shift_and_weight_0_change_nothing():
    loglik = np.array([[0, -INF, 3], [1, 0, 0], [0, 0, 0], [0.0, 1, -INF], [0, 2, 2], [-INF, 0, 1]])
    label = np.array([0, 0, 1, 1, 2, 2])
    found = multiclass.calibration_analysis(loglik, label)
    again = multiclass.calibration_analysis(loglik + np.arange(6.0)[:, None], label)
    assert again.minimum == pytest.approx(found.minimum, abs=1e-12)
    wrong = np.array([[-INF, 0.0, 0.0], [0.0, 0.0, INF]])
    more = multiclass.calibration_analysis(
        np.vstack((loglik, wrong)), [*label, 0, 1], sample_weight=[1, 1, 1, 1, 1, 1, 0, 0]
    )
    assert more.minimum == pytest.approx(found.minimum, abs=1e-12)


def test_an_optimum_that_is_very_far_away_is_no_reason_to_refuse():
    """Two trials of each of many classes leave few trials that limit the scale; no direction separates the classes."""
    rng = np.random.default_rng(2)
    label = np.repeat(np.arange(101), 2)
    loglik = rng.normal(size=(202, 101)) + 4.0 * np.eye(101)[label]
    found = multiclass.calibration_analysis(loglik, label)
    surprise = np.logaddexp.reduce(loglik - loglik[np.arange(202), label][:, None], axis=1)
    assert found.total == pytest.approx(surprise.mean() / np.log(2), rel=1e-12)
    assert 0.0 <= found.minimum <= min(found.after_offset_only, found.after_scale_only) + 1e-12
    scales = np.geomspace(1.0, 60.0, 200)
    scaled = scales[:, None, None] * (loglik - loglik[np.arange(202), label][:, None])
    best = np.logaddexp.reduce(scaled, axis=2).mean(axis=1).min() / np.log(2)
    assert found.after_scale_only <= best + 1e-9
