"""Training of weights and offsets of many classes: the optimum, what must not change it, and when there is none."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import log_softmax

from deciban.core.training import moments as survey
from deciban.core.training import multiclass_training as class_training
from deciban.core.training import trust_region
from deciban.core.training.linear_training import train
from deciban.core.training.multiclass_objective import CountedTrials
from deciban.errors import InputError
from support.many_classes import cross_entropy, masses, optimum, problem, train_classes

FLAT = np.full(4, 0.25)
PRIOR = np.array([0.1, 0.2, 0.3, 0.4])


def widths(systems, label, prior):
    """The root of the mean variance of the differences of two classes, for each system, by definition."""
    n_classes = systems.shape[2]
    mass = prior[label] / np.bincount(label, minlength=n_classes)[label]
    mass = mass / mass.sum()
    found = []
    for scores in np.moveaxis(systems, 1, 0):
        variances = []
        for i in range(n_classes):
            for j in range(i):
                gap = scores[:, i] - scores[:, j]
                variances.append(mass @ (gap - mass @ gap) ** 2)
        found.append(np.sqrt(np.mean(variances)))
    return np.array(found)


@pytest.mark.parametrize("n_classes", [3, 4, 6])
@pytest.mark.parametrize("n_systems", [1, 2, 3])
@pytest.mark.parametrize("flat", [True, False])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_optimum_is_that_of_the_textbook(n_classes, n_systems, flat, weighted):
    systems, label = problem(250, n_systems, n_classes, seed=n_classes)
    prior = np.full(n_classes, 1 / n_classes) if flat else np.arange(1.0, n_classes + 1) ** 2
    prior /= prior.sum()
    weights = np.random.default_rng(2).uniform(0.2, 3.0, 250) if weighted else None
    fit = train_classes(systems, label, prior=prior, weights=weights)
    best_weights, best_offsets = optimum(systems, label, prior=prior, weights=weights)
    np.testing.assert_allclose(fit.weights, best_weights, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(fit.offsets, best_offsets, rtol=1e-9, atol=1e-9)
    assert fit.offsets.mean() == pytest.approx(0.0, abs=1e-14)
    loglik = np.tensordot(systems, best_weights, (1, 0)) + best_offsets
    assert fit.objective == pytest.approx(cross_entropy(loglik, label, prior, weights), rel=1e-12)
    assert fit.objective_at_zero == pytest.approx(-(prior @ np.log(prior)), rel=1e-14)
    assert fit.converged
    assert "converged" in fit.status


@pytest.mark.parametrize("form", [{"offset": False}, {"scale": False}])
@pytest.mark.parametrize("n_systems", [1, 2])
def test_scales_or_offsets_alone(form, n_systems):
    systems, label = problem(250, n_systems)
    fit = train_classes(systems, label, prior=PRIOR, **form)
    weights, offsets = optimum(systems, label, prior=PRIOR, **form)
    np.testing.assert_allclose(fit.weights, weights, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(fit.offsets, offsets, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("ridge", [1e-3, 0.1, 3.0])
@pytest.mark.parametrize("n_systems", [1, 2])
def test_a_penalty_is_counted_in_widths(ridge, n_systems):
    systems, label = problem(250, n_systems)
    width = widths(systems, label, PRIOR)
    fit = train_classes(systems, label, prior=PRIOR, ridge=ridge)
    weights, offsets = optimum(systems, label, prior=PRIOR, penalty=ridge * width**2)
    np.testing.assert_allclose(fit.weights, weights, rtol=1e-8)
    np.testing.assert_allclose(fit.offsets, offsets, rtol=1e-8)
    np.testing.assert_allclose(fit.standardized, weights * width, rtol=1e-8)
    loglik = np.tensordot(systems, weights, (1, 0)) + offsets
    assert fit.objective == pytest.approx(cross_entropy(loglik, label, PRIOR), rel=1e-12)


@pytest.mark.parametrize("n_systems", [1, 3])
@pytest.mark.parametrize("ridge", [0.0, 0.05])
@pytest.mark.parametrize("p_target", [0.5, 0.03])
@pytest.mark.parametrize("weighted", [False, True])
def test_two_classes_are_the_two_class_trainer(n_systems, ridge, p_target, weighted):
    systems, label = problem(400, n_systems, 2, apart=1.0)
    weights = np.random.default_rng(2).uniform(0.2, 3.0, 400) if weighted else None
    fit = train_classes(systems, label, prior=np.array([1 - p_target, p_target]), weights=weights, ridge=ridge)
    rule = {"alpha": 1.0, "beta": 1.0, "log_odds": float(np.log(p_target / (1 - p_target)))}
    llr = np.ascontiguousarray(systems[:, :, 1] - systems[:, :, 0])
    binary = train(list(llr.T), label == 1, weights=weights, ridge=ridge, **rule)
    np.testing.assert_allclose(fit.weights, binary.weights, rtol=1e-10)
    assert fit.offsets[1] - fit.offsets[0] == pytest.approx(binary.offset, rel=1e-10)
    assert fit.objective == pytest.approx(binary.objective, rel=1e-12)
    np.testing.assert_allclose(fit.standardized, binary.standardized, rtol=1e-10)


@pytest.mark.parametrize("ridge", [0.0, 0.01])
def test_a_constant_of_each_trial_changes_nothing(ridge):
    systems, label = problem(400, 2)
    systems = np.round(systems * 2**10) / 2**10  # so that nothing is rounded off when 1e9 is added
    plain = train_classes(systems, label, prior=FLAT, ridge=ridge)
    constants = np.round(np.random.default_rng(5).normal(scale=1e9, size=(400, 2, 1)))
    shifted = train_classes(systems + constants, label, prior=FLAT, ridge=ridge)
    np.testing.assert_allclose(shifted.weights, plain.weights, rtol=1e-9)
    np.testing.assert_allclose(shifted.offsets, plain.offsets, atol=1e-9)
    assert shifted.objective == pytest.approx(plain.objective, rel=1e-12)


@pytest.mark.parametrize("n", [400, 40_000])
def test_constants_of_each_class_go_into_the_offsets(n):
    systems, label = problem(n, 2)
    by_class = np.array([[1e3, -1e3, 0.0, 5.0], [0.0, 2e3, 3.0, 0.0]])
    plain, moved = (train_classes(s, label, prior=FLAT) for s in (systems, systems + by_class))
    np.testing.assert_allclose(moved.weights, plain.weights, rtol=1e-8)
    expected = plain.offsets - plain.weights @ by_class
    np.testing.assert_allclose(moved.offsets, expected - expected.mean(), rtol=1e-8, atol=1e-6)


@given(size=st.sampled_from([1e300, 1e-300, 1e-5, 3e7]), ridge=st.sampled_from([0.0, 0.1]))
def test_any_magnitude_gives_the_same_map(size, ridge):
    systems, label = problem(300, 2)
    plain = train_classes(systems, label, prior=PRIOR, ridge=ridge)
    scaled = train_classes(systems * size, label, prior=PRIOR, ridge=ridge)
    np.testing.assert_allclose(scaled.weights * size, plain.weights, rtol=1e-7)
    np.testing.assert_allclose(scaled.offsets, plain.offsets, rtol=1e-7)
    np.testing.assert_allclose(scaled.standardized, plain.standardized, rtol=1e-7)
    assert scaled.objective == pytest.approx(plain.objective, rel=1e-12)


@settings(max_examples=max(12, settings.default.max_examples // 3))  # trains twice, on many trials
@given(order=st.permutations(range(4)), n=st.sampled_from([300, 33_000]))
def test_the_order_of_classes_does_not_matter(order, n):
    systems, label = problem(n, 2)
    place = np.argsort(order)
    one = train_classes(systems, label, prior=PRIOR)
    other = train_classes(np.ascontiguousarray(systems[:, :, order]), place[label], prior=PRIOR[list(order)])
    np.testing.assert_allclose(other.weights, one.weights, rtol=1e-8)
    np.testing.assert_allclose(other.offsets, one.offsets[list(order)], atol=1e-8)


def test_the_order_of_trials_and_of_systems_does_not_matter():
    systems, label = problem(300, 3)
    rows = np.random.default_rng(1).permutation(300)
    one = train_classes(systems, label, prior=PRIOR)
    other = train_classes(np.ascontiguousarray(systems[rows][:, ::-1]), label[rows], prior=PRIOR)
    np.testing.assert_allclose(other.weights, one.weights[::-1], rtol=1e-9)
    np.testing.assert_allclose(other.offsets, one.offsets, atol=1e-9)


@pytest.mark.parametrize("layout", ["F", "strided", "float32", "two axes"])
def test_any_layout_gives_the_same_map(layout):
    systems, label = problem(300, 1)
    systems = systems.astype(np.float32).astype(np.float64)
    forms = {
        "F": np.asfortranarray(systems),
        "strided": np.repeat(systems, 2, axis=2)[:, :, ::2],
        "float32": systems.astype(np.float32),
        "two axes": systems[:, 0],
    }
    plain = train_classes(systems, label, prior=PRIOR)
    other = train_classes(forms[layout], label, prior=PRIOR)
    np.testing.assert_allclose(other.weights, plain.weights, rtol=1e-10)
    np.testing.assert_allclose(other.offsets, plain.offsets, atol=1e-10)


def test_weights_count_like_copies_and_weight_0_not_at_all():
    systems, label = problem(200, 2)
    weights = np.random.default_rng(1).integers(0, 4, 200)
    weights[:4] = 1
    weighted = train_classes(systems, label, prior=PRIOR, weights=weights.astype(np.float64))
    copies = train_classes(np.repeat(systems, weights, axis=0), np.repeat(label, weights), prior=PRIOR)
    np.testing.assert_allclose(weighted.weights, copies.weights, rtol=1e-9)
    np.testing.assert_allclose(weighted.offsets, copies.offsets, atol=1e-9)


@pytest.mark.parametrize("ridge", [0.0, 0.1])
@pytest.mark.parametrize("form", [{}, {"scale": False}, {"offset": False}])
def test_a_class_of_prior_0_is_as_if_it_were_not_there(ridge, form):
    """Neither its trials nor its scores count, and its offset is 0."""
    systems, label = problem(300, 2)
    systems[::3, 0, 2] = np.inf
    systems[1::3, 0, 2] = -np.inf
    prior = np.array([0.2, 0.3, 0.0, 0.5])
    fit = train_classes(systems, label, prior=prior, ridge=ridge, **form)
    rows = label != 2
    some = np.ascontiguousarray(systems[rows][:, :, [0, 1, 3]])
    alone = train_classes(some, np.array([0, 1, -1, 2])[label[rows]], prior=prior[prior > 0], ridge=ridge, **form)
    np.testing.assert_allclose(fit.weights, alone.weights, rtol=1e-9)
    np.testing.assert_allclose(fit.offsets[[0, 1, 3]], alone.offsets, atol=1e-9)
    assert fit.offsets[2] == 0.0
    assert fit.objective == pytest.approx(alone.objective, rel=1e-12)
    assert fit.objective_at_zero == pytest.approx(alone.objective_at_zero, rel=1e-14)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_systems", [1, 2])
def test_the_way_through_samples_leads_to_the_same_optimum(monkeypatch, weighted, n_systems):
    """70,000 trials go through two samples and float32; without these levels, Newton's method sees them all at once."""
    systems, label = problem(70_000, n_systems)
    weights = np.random.default_rng(2).uniform(0.2, 3.0, 70_000) if weighted else None
    quick = train_classes(systems, label, prior=PRIOR, weights=weights)
    monkeypatch.setattr(survey, "sample_of_classes", lambda trials: trials)
    monkeypatch.setattr(class_training, "LARGE", 1 << 40)
    direct = train_classes(systems, label, prior=PRIOR, weights=weights)
    np.testing.assert_allclose(quick.weights, direct.weights, atol=1e-6)
    np.testing.assert_allclose(quick.offsets, direct.offsets, atol=1e-6)
    assert quick.objective == pytest.approx(direct.objective, rel=1e-13)


@pytest.mark.parametrize("form", [{}, {"offset": False}, {"scale": False}])
def test_many_classes_go_through_float32_to_the_same_optimum(monkeypatch, form):
    """They are as much work as many trials: rough first, without a sample, and with second derivatives again."""
    systems, label = problem(1200, 1, 80, apart=2.0)
    label[:80] = np.arange(80)
    systems[..., ::3] += 1.0
    systems, prior = systems.astype(np.float32), np.full(80, 1 / 80)
    found = []
    for large in (1, 1 << 40):
        monkeypatch.setattr(class_training, "LARGE", large)
        monkeypatch.setattr(trust_region, "LARGE", large)
        found.append(train_classes(systems, label, prior=prior, **form))
    quick, direct = found
    assert quick.converged
    assert quick.objective == pytest.approx(direct.objective, rel=1e-14)
    np.testing.assert_allclose(quick.weights, direct.weights, atol=1e-6)
    np.testing.assert_allclose(quick.offsets, direct.offsets, atol=1e-5)


def test_very_unequal_classes_of_many_trials():
    """One class has 20 trials of 70,000, and most of the prior."""
    systems, label = problem(70_000, 1, 3)
    few = np.flatnonzero(label == 0)[20:]
    keep = np.ones(70_000, bool)
    keep[few] = False
    systems, label, prior = systems[keep], label[keep], np.array([0.9, 0.05, 0.05])
    fit = train_classes(systems, label, prior=prior)
    weights, offsets = optimum(systems, label, prior=prior)
    np.testing.assert_allclose(fit.weights, weights, rtol=1e-9)
    np.testing.assert_allclose(fit.offsets, offsets, atol=1e-9)


def test_a_hundred_classes():
    systems, label = problem(2000, 1, 100, apart=2.0)
    prior = np.full(100, 0.01)
    fit = train_classes(systems, label, prior=prior)
    weights, offsets = optimum(systems, label, start=(fit.weights, fit.offsets))
    np.testing.assert_allclose(fit.weights, weights, rtol=1e-9)
    np.testing.assert_allclose(fit.offsets, offsets, atol=1e-9)


def separated(n_classes=3):
    systems, label = problem(60, 1, n_classes, apart=0.0)
    systems[np.arange(60), 0, label] = systems[:, 0].max(axis=1) + 0.1
    return systems, label


@pytest.mark.parametrize("form", [{}, {"offset": False}])
def test_separated_classes_are_refused(form):
    systems, label = separated()
    with pytest.raises(InputError, match="the classes are separated.*ridge"):
        train_classes(systems, label, prior=np.full(3, 1 / 3), **form)


def test_classes_separated_by_offsets_only_are_refused():
    systems, label = separated()
    systems[:, 0] += [5.0, 0.0, -5.0]
    with pytest.raises(InputError, match="separated"):
        train_classes(systems, label, prior=np.array([0.6, 0.3, 0.1]))


def test_classes_separated_by_two_systems_together_are_refused():
    systems, label = separated()
    noise = np.random.default_rng(3).normal(size=systems.shape)
    with pytest.raises(InputError, match="separated"):
        train_classes(np.concatenate((systems + noise, noise), axis=1), label, prior=np.full(3, 1 / 3))


def test_a_tie_at_the_border_of_separated_classes_is_no_reason_to_believe_them():
    systems, label = separated()
    systems[0, 0] = 0.0
    with pytest.raises(InputError, match="best ones are infinite|separated"):
        train_classes(systems, label, prior=np.full(3, 1 / 3))


@pytest.mark.parametrize("form", [{}, {"offset": False}])
def test_a_penalty_makes_separated_classes_trainable(form):
    systems, label = separated()
    fit = train_classes(systems, label, prior=np.full(3, 1 / 3), ridge=1e-3, **form)
    assert fit.converged
    width = widths(systems, label, np.full(3, 1 / 3))
    weights, _ = optimum(systems, label, penalty=1e-3 * width**2, **form)
    np.testing.assert_allclose(fit.weights, weights, rtol=1e-6)


def test_offsets_alone_need_no_overlap():
    systems, label = separated()
    fit = train_classes(systems, label, prior=PRIOR[:3] / 0.6, scale=False)
    _, offsets = optimum(systems, label, prior=PRIOR[:3] / 0.6, scale=False)
    np.testing.assert_allclose(fit.offsets, offsets, atol=1e-8)


def test_scores_that_are_alike_for_all_classes_are_refused():
    label = np.array([0, 1, 2, 0])
    with pytest.raises(InputError, match="same scores"):
        train_classes(np.repeat(np.arange(4.0)[:, None, None], 3, axis=2), label, prior=np.full(3, 1 / 3))


def test_a_system_that_says_nothing_gets_weight_0():
    systems, label = problem(300, 2)
    systems[:, 1] = np.arange(300.0)[:, None]
    fit = train_classes(systems, label, prior=PRIOR)
    weights, offsets = optimum(systems[:, :1], label, prior=PRIOR)
    np.testing.assert_allclose(fit.weights, [weights[0], 0.0], rtol=1e-9)
    np.testing.assert_allclose(fit.offsets, offsets, atol=1e-9)


@pytest.mark.parametrize("n", [300, 70_000])
def test_systems_that_say_the_same_share_their_weight_and_are_counted(n):
    systems, label = problem(n, 1)
    fit = train_classes(np.repeat(systems, 2, axis=1), label, prior=PRIOR)
    alone = train_classes(systems, label, prior=PRIOR)
    np.testing.assert_allclose(fit.weights, np.full(2, alone.weights[0] / 2), rtol=1e-6)
    assert fit.flat == 1
    assert "not determined" in fit.status


@pytest.mark.parametrize("weighted", [False, True])
def test_certain_trials_that_are_right_cost_nothing(weighted):
    systems, label = problem(300, 2)
    weights = np.random.default_rng(2).uniform(0.2, 3.0, 300) if weighted else None
    mass = masses(label, PRIOR, weights)
    some = np.arange(50, 80)
    systems[some, 0, label[some]] = np.inf
    fit = train_classes(systems, label, prior=PRIOR, weights=weights)
    rest = np.delete(np.arange(300), some)
    best_weights, offsets = optimum(systems[rest], label[rest], prior=PRIOR, mass=mass[rest])
    np.testing.assert_allclose(fit.weights, best_weights, rtol=1e-9)
    np.testing.assert_allclose(fit.offsets, offsets, atol=1e-9)


def test_between_several_certain_classes_the_prior_decides():
    systems, label = problem(300, 1)
    plain = train_classes(systems, label, prior=PRIOR)
    certain = np.append(systems, np.full((1, 1, 4), np.inf), axis=0)
    certain[-1, 0, 3] = -np.inf
    label = np.append(label, 0)
    fit = train_classes(certain, label, prior=PRIOR)
    counts = np.bincount(label)
    mass = np.delete(masses(label, PRIOR), 300)
    z = fit.weights[0] * systems[:, 0] + fit.offsets + np.log(PRIOR)
    others = -mass @ log_softmax(z, axis=1)[np.arange(300), label[:300]]
    assert fit.objective == pytest.approx(others - PRIOR[0] / counts[0] * np.log(0.1 / 0.6), rel=1e-12)
    assert fit.weights[0] == pytest.approx(plain.weights[0], rel=0.05)


def test_excluded_wrong_classes_are_gone():
    """Each trial has three classes left: their cost is that of a softmax of three, and no step makes it less."""
    systems, label = problem(300, 1)
    systems[np.arange(300), 0, (label + 1 + np.arange(300) % 3) % 4] = -np.inf
    fit = train_classes(systems, label, prior=PRIOR)
    at = cross_entropy(fit.weights[0] * systems[:, 0] + fit.offsets, label, PRIOR)
    assert fit.objective == pytest.approx(at, rel=1e-12)
    for step in np.vstack((np.eye(5), -np.eye(5))) * 1e-3:
        loglik = (fit.weights[0] + step[0]) * systems[:, 0] + fit.offsets + step[1:]
        assert cross_entropy(loglik, label, PRIOR) >= at


def test_a_class_that_is_excluded_where_it_is_wrong_has_an_infinite_offset():
    systems, label = problem(300, 1)
    systems[label != 3, 0, 3] = -np.inf
    with pytest.raises(InputError, match="falls forever"):
        train_classes(systems, label, prior=PRIOR)


def test_no_penalty_keeps_offsets_finite(monkeypatch):
    """Even if nobody looked at infinite scores before: the search itself shows that the offsets are infinite."""
    monkeypatch.setattr(CountedTrials, "undecided", lambda own, *, offset: (own.trials, 0.0 * offset))
    loglik = np.array([[1, 0, 0], [0, 1, 0], [1, 0, 0], [0, 1, 0], [0.5, 0, 0], [0, 0.5, 0], [-np.inf, -np.inf, 0]])
    with pytest.raises(InputError, match="as the offsets grow") as caught:
        train_classes(loglik, np.array([0, 0, 0, 1, 1, 1, 2]), prior=np.full(3, 1 / 3), ridge=0.01)
    assert "ridge" not in str(caught.value)


@pytest.mark.parametrize("form", [{}, {"offset": False}, {"ridge": 0.1}])
@pytest.mark.parametrize("n_systems", [1, 2])
def test_scales_that_do_not_fit_a_float_are_refused(form, n_systems):
    systems, label = problem(300, n_systems)
    with pytest.raises(InputError, match=r"loglik: scores differ so little.*Multiply them"):
        train_classes(1e-310 * systems, label, prior=PRIOR, **form)


def test_a_class_that_is_never_compared_with_the_others_leaves_them_as_they_are():
    systems, label = problem(300, 1, 3, apart=1.0)
    alone = train_classes(systems[label != 2][:, :, :2], label[label != 2], prior=np.full(2, 0.5))
    systems[label == 2, 0, :2] = -np.inf
    systems[label != 2, 0, 2] = -np.inf
    fit = train_classes(systems, label, prior=np.array([0.3, 0.3, 0.4]))
    assert fit.weights[0] == pytest.approx(alone.weights[0], rel=1e-9)
    assert np.diff(fit.offsets[:2]) == pytest.approx(np.diff(alone.offsets), rel=1e-9)
    assert fit.objective == pytest.approx(0.6 * alone.objective, rel=1e-9)


@pytest.mark.parametrize("weights", [None, np.append(0.0, np.ones(99))])
@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinite_scores_that_are_wrong_are_refused(value, weights):
    systems, label = problem(100, 1)
    label[[6, 7]] = 1
    systems[7, 0, 0 if value > 0 else 1] = value
    with pytest.raises(InputError, match="1 trials, the first at index 7"):
        train_classes(systems, label, prior=PRIOR, weights=weights)


@pytest.mark.parametrize("n", [400, 70_000])
@pytest.mark.parametrize("far", [1e5, 1e10, 1e20, 1e300])
def test_a_score_that_is_far_on_the_right_side_does_not_matter(n, far):
    """Beyond a few hundred nats a trial costs nothing at any scale near the best one."""
    systems, label = problem(n, 2)
    systems[11, :, label[11]] = 1e3
    near = train_classes(systems, label, prior=PRIOR)
    systems[11, :, label[11]] = far
    fit = train_classes(systems, label, prior=PRIOR)
    assert fit.converged
    np.testing.assert_allclose(fit.weights, near.weights, atol=1e-6)
    np.testing.assert_allclose(fit.offsets, near.offsets, atol=1e-6)
    assert fit.objective == pytest.approx(near.objective, rel=1e-12)


@pytest.mark.parametrize("far", [1e4, 1e7, 1e10])
def test_a_score_that_is_far_on_the_wrong_side_decides(far):
    """Its cost is the scale times its distance: hardly any scale is left, whatever the others say."""
    systems, label = problem(400, 1)
    systems[11, 0, (label[11] + 1) % 4] = far
    fit = train_classes(systems, label, prior=PRIOR)
    assert abs(fit.weights[0]) * far < 30.0
    at = cross_entropy(fit.weights[0] * systems[:, 0] + fit.offsets, label, PRIOR)
    assert fit.objective == pytest.approx(at, rel=1e-9)
    assert at <= fit.objective_at_zero


@pytest.mark.parametrize("least", [1e-6, 1e-30])
def test_very_improbable_classes_are_no_reason_to_fail(least):
    systems, label = problem(500, 1, 3)
    prior = np.array([least, 0.5, 0.5 - least])
    fit = train_classes(systems, label, prior=prior)
    assert fit.converged
    at = cross_entropy(fit.weights[0] * systems[:, 0] + fit.offsets, label, prior)
    assert fit.objective == pytest.approx(at, rel=1e-9)
    for step in np.vstack((np.eye(4), -np.eye(4))) * 0.01:
        moved = (fit.weights[0] + step[0]) * systems[:, 0] + fit.offsets + step[1:]
        assert cross_entropy(moved, label, prior) >= at * (1 - 1e-12)
