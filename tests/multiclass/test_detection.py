"""C_avg against its definitions: NIST's sums and the scoring rule of the thesis."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logit

from deciban import metrics, multiclass
from support.class_trials import class_trials, detection_cost_8_10, finite, random_trials


def c_avg_of_nist(loglik, label, p_target, p_out_of_set=None):
    """LRE 2009 evaluation plan: sums over target languages, decisions from posteriors in plain arithmetic."""
    n = loglik.shape[1]
    n_targets = n if p_out_of_set is None else n - 1
    p_out = p_out_of_set or 0.0
    p_non = (1 - p_target - p_out) / (n_targets - 1)
    total = 0.0
    for target in range(n_targets):
        prior = np.full(n, p_non)
        prior[n_targets:] = p_out
        prior[target] = p_target
        joint = np.exp(loglik - loglik.max(axis=1, keepdims=True)) * prior
        # With unit costs the Bayes decision accepts what is at least as likely as not.
        accepted = joint[:, target] >= joint.sum(axis=1) - joint[:, target]
        rate = [accepted[label == k].mean() for k in range(n)]
        total += p_target * (1 - rate[target]) + sum(prior[k] * rate[k] for k in range(n) if k != target)
    return total / n_targets


@pytest.mark.parametrize("n", [2, 3, 7, 14])
@pytest.mark.parametrize("p_target", [0.5, 0.1, 0.9])
def test_closed_set(n, p_target):
    loglik, label = random_trials(n, 400, seed=n)
    expected = c_avg_of_nist(loglik, label, p_target)
    assert multiclass.c_avg(loglik, label, p_target=p_target) == pytest.approx(expected, abs=1e-14)
    if p_target == 0.5:
        assert detection_cost_8_10(loglik, label, range(n)) == pytest.approx(expected, abs=1e-14)


@pytest.mark.parametrize("n", [3, 8])
@pytest.mark.parametrize(("p_target", "p_out"), [(0.5, 0.2), (0.5, 0.499), (0.1, 0.05), (0.7, 0.2)])
def test_open_set(n, p_target, p_out):
    loglik, label = random_trials(n, 300, seed=n)
    expected = c_avg_of_nist(loglik, label, p_target, p_out)
    assert multiclass.c_avg(loglik, label, p_target=p_target, p_out_of_set=p_out) == pytest.approx(expected, abs=1e-14)


@pytest.mark.parametrize("p_out", [None, 0.005])
def test_curve_is_its_points(p_out):
    loglik, label = random_trials(4, 200)
    grid = np.array([[0.99, 0.5], [0.01, 0.3]])
    curve = multiclass.c_avg(loglik, label, p_target=grid, p_out_of_set=p_out)
    assert curve.shape == grid.shape
    points = [multiclass.c_avg(loglik, label, p_target=p, p_out_of_set=p_out) for p in grid.ravel()]
    assert curve.ravel().tolist() == points


@given(class_trials(), st.lists(st.sampled_from([0.01, 0.2, 0.5, 0.8]), min_size=1, max_size=4))
def test_curve_of_hostile_scores_is_its_points(trials, grid):
    curve = multiclass.c_avg(*trials, p_target=grid, normalize=True)
    assert curve.tolist() == [multiclass.c_avg(*trials, p_target=p, normalize=True) for p in grid]


def test_open_set_curve_is_that_of_nist():
    loglik, label = random_trials(5, 400)
    grid = np.random.default_rng(2).uniform(0.0, 0.8, 150)
    expected = [c_avg_of_nist(loglik, label, p, 0.2) for p in grid]
    np.testing.assert_allclose(multiclass.c_avg(loglik, label, p_target=grid, p_out_of_set=0.2), expected, rtol=1e-12)


def test_no_priors_no_costs():
    loglik, label = random_trials(3, 20)
    for p_out in (None, 0.2):
        assert multiclass.c_avg(loglik, label, p_target=[], p_out_of_set=p_out).shape == (0,)


@given(class_trials(finite, n_classes=st.just(2)), st.sampled_from([0.5, 0.1, 0.77]))
def test_two_classes_are_two_detectors(trials, p):
    loglik, label = trials
    loglik[::2] = [-float(logit(p)), 0.0]  # exactly at the threshold of the first detector, not of the second
    llr = loglik[:, 0] - loglik[:, 1]
    for normalize in (False, True):
        both = (
            metrics.bayes_error(llr[label == 0], llr[label == 1], p_target=p, normalize=normalize),
            metrics.bayes_error(-llr[label == 1], -llr[label == 0], p_target=p, normalize=normalize),
        )
        assert multiclass.c_avg(loglik, label, p_target=p, normalize=normalize) == sum(both) / 2
        curve = multiclass.c_avg(loglik, label, p_target=[0.9, p, 0.05], normalize=normalize)
        assert curve[1] == sum(both) / 2


@pytest.mark.parametrize("n", range(2, 30))
def test_no_information_costs_what_the_default_decision_does(n):
    """Every trial is exactly at the threshold of 0.5; rounding of sums must not show."""
    loglik, label = np.zeros((n, n)), np.arange(n)
    grid = np.array([0.001, 0.3, 0.5, 0.8, 0.999])
    assert multiclass.c_avg(loglik, label, p_target=grid) == pytest.approx(np.minimum(grid, 1 - grid), rel=1e-14)
    assert multiclass.c_avg(loglik, label, p_target=grid, normalize=True) == pytest.approx(1, rel=1e-14)
    llrs = multiclass.detection_llrs(loglik)
    assert np.all(llrs == 0)


def test_ends_of_the_curve_reject_and_accept_everything():
    loglik, label = random_trials(5, 100)
    assert multiclass.c_avg(loglik, label, p_target=[1e-9, 1 - 1e-9], normalize=True) == pytest.approx(1, rel=1e-6)


@given(class_trials(), st.data())
def test_laws(trials, data):
    loglik, label = trials
    value = pytest.approx(multiclass.c_avg(loglik, label, p_target=[0.1, 0.5]), rel=1e-14)
    order = data.draw(st.permutations(range(len(label))))
    assert multiclass.c_avg(loglik[order], label[order], p_target=[0.1, 0.5]) == value
    weights = np.array(data.draw(st.lists(st.integers(1, 3), min_size=len(label), max_size=len(label))))
    copies = multiclass.c_avg(np.repeat(loglik, weights, axis=0), np.repeat(label, weights))
    assert multiclass.c_avg(loglik, label, sample_weight=weights) == copies
    assert multiclass.c_avg(loglik, label, sample_weight=weights * 0.3) == pytest.approx(copies, rel=1e-14)
    assert 0 <= copies <= 1


def test_renamed_classes_cost_the_same():
    loglik, label = random_trials(6, 200)
    classes = np.random.default_rng(0).permutation(6)
    again = multiclass.c_avg(loglik[:, classes], np.argsort(classes)[label], p_target=[0.1, 0.5])
    assert again == pytest.approx(multiclass.c_avg(loglik, label, p_target=[0.1, 0.5]), rel=1e-14)


@given(class_trials(st.integers(-64, 64).map(lambda k: k / 8)), st.integers(-(2**40), 2**40))
def test_a_constant_for_each_trial_changes_no_digit(trials, shift):
    loglik, label = trials
    shifts = shift * (np.arange(len(label)) % 3)[:, None]
    assert multiclass.c_avg(loglik + shifts, label) == multiclass.c_avg(loglik, label)


def test_many_thresholds_are_counted_in_turns(monkeypatch):
    loglik, label = random_trials(5, 300)
    grid = np.random.default_rng(1).uniform(0.01, 0.99, 50)
    expected = multiclass.c_avg(loglik, label, p_target=grid)
    monkeypatch.setattr("deciban.core.class_counts._CELLS", 60)
    np.testing.assert_array_equal(multiclass.c_avg(loglik, label, p_target=grid), expected)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"p_target": 0.0}, "p_target: a prior must be inside"),
        ({"p_target": [0.5, 1.0]}, "p_target: a prior must be inside"),
        (
            {"p_out_of_set": 0.5},
            r"p_out_of_set: 0.5 and a target prior of 0.5 leave none .* \(p_target\) must be below 0.5\.",
        ),
        ({"p_out_of_set": 0.0}, "p_out_of_set: got 0.0"),
        ({"p_out_of_set": -0.1}, "p_out_of_set: got -0.1"),
        (
            {"p_out_of_set": 0.3, "p_target": [0.5, 0.8]},
            "p_out_of_set: 0.3 and a target prior of 0.8 leave none .* below 0.7",
        ),
        ({"p_out_of_set": 0.2, "p_target": 0.8}, "0.2 and a target prior of 0.8 .* below 0.8"),
        ({"p_out_of_set": 1.5}, "p_out_of_set: got 1.5. It must be above 0 and below 1"),
    ],
)
def test_priors_out_of_range_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        multiclass.c_avg(np.eye(3), [0, 1, 2], **arguments)


def test_out_of_set_needs_two_targets():
    with pytest.raises(ValueError, match="at least three classes"):
        multiclass.c_avg(np.eye(2), [0, 1], p_out_of_set=0.2)
