"""Partitions of the classes."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban import InputError, metrics, multiclass
from support.class_trials import class_trials, finite, priors, random_trials

PRIOR = np.array([0.1, 0.2, 0.3, 0.15, 0.25])
GROUPS = [[3, 0], [1], [2, 4]]


@given(class_trials(finite), st.data())
def test_group_posterior_is_the_sum_of_posteriors(trials, data):
    loglik, _ = trials
    n = loglik.shape[1]
    prior = data.draw(priors(n))
    cut = data.draw(st.integers(1, n - 1))
    order = data.draw(st.permutations(range(n)))
    groups = [order[:cut], order[cut:]]
    q = multiclass.posterior(loglik, prior=prior)
    of_groups = np.column_stack([q[:, some].sum(axis=1) for some in groups])
    group_prior = [prior[some].sum() for some in groups]
    found = multiclass.posterior(multiclass.group_loglik(loglik, groups, prior=prior), prior=group_prior)
    np.testing.assert_allclose(found, of_groups, rtol=1e-12, atol=1e-300)


@given(class_trials(finite | st.sampled_from([-math.inf, 1e300, -1e300])))
def test_groups_of_one_are_the_classes(trials):
    loglik, _ = trials
    found = multiclass.group_loglik(loglik, [[k] for k in range(loglik.shape[1])])
    np.testing.assert_array_equal(found, loglik)


@given(class_trials(st.sampled_from([-math.inf, math.inf, 0.0, 2.5])), st.data())
def test_infinities_are_limits(trials, data):
    """What a group means for posteriors: as log-likelihoods of 10^4 do."""
    loglik, _ = trials
    n = loglik.shape[1]
    prior = data.draw(priors(n))
    groups = [[0], range(1, n)]
    found, near = (
        multiclass.posterior(multiclass.group_loglik(x, groups, prior=prior), prior=[prior[0], prior[1:].sum()])
        for x in (loglik, np.clip(loglik, -1e4, 1e4))
    )
    np.testing.assert_allclose(found, near, rtol=1e-10, atol=1e-300)  # 10^4 has an ulp of 2e-12


@given(class_trials(finite | st.sampled_from([-math.inf, math.inf, 800.0, -800.0])))
def test_one_against_the_rest_is_detection(trials):
    loglik, _ = trials
    n = loglik.shape[1]
    for target in range(n):
        pair = multiclass.group_loglik(loglik, [[target], [k for k in range(n) if k != target]])
        llr = multiclass.pairwise_llr(pair, 0, 1)
        np.testing.assert_allclose(llr, multiclass.detection_llr(loglik, target=target), rtol=1e-13, atol=1e-13)


def test_two_classes_that_are_possible_are_a_pair():
    loglik, _ = random_trials(4, 30)
    pair = multiclass.group_loglik(loglik, [[1], [3]], prior=[0, 0.5, 0, 0.5])
    np.testing.assert_allclose(pair[:, 0] - pair[:, 1], loglik[:, 1] - loglik[:, 3], rtol=1e-14)


def test_classes_that_are_alike_are_as_one():
    loglik = np.repeat([[2.0, 0.5], [0.1, -1.0], [0.3, 0.3]], [3, 10], axis=1)
    groups = [range(3), range(3, 13)]
    found = multiclass.group_loglik(loglik, groups)
    assert (found[:, 0] - found[:, 1]).tolist() == pytest.approx([1.5, 1.1, 0.0], abs=1e-15)
    assert found[2, 0] == found[2, 1]


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ([-math.inf, -math.inf, 1], [-math.inf, 1]),
        ([math.inf, 0, 1], [math.inf, 1]),
        ([math.inf, 0, math.inf], [math.log(0.5), 0]),
        ([-math.inf, 0, 0], [math.log(0.5), 0]),
    ],
)
def test_infinite_scores(row, expected):
    assert multiclass.group_loglik([row], [[0, 1], [2]])[0].tolist() == pytest.approx(expected, rel=1e-15)


def brute_force_groups(loglik, label):
    """Cross-entropy of the groups from sums of posteriors of classes, every class averaged by itself."""
    home = np.array([0, 1, 2, 0, 2])
    q = multiclass.posterior(loglik, prior=PRIOR)
    right = np.array([row[home == home[k]].sum() for row, k in zip(q, label, strict=True)])
    return sum(PRIOR[k] * np.mean(-np.log(right[label == k])) for k in range(5))


def test_partition_is_a_problem_like_any_other():
    loglik, label = random_trials(5, 200)
    p = multiclass.partition(loglik, label, GROUPS, prior=PRIOR)
    found = multiclass.cross_entropy(p.loglik, p.label, prior=p.prior, sample_weight=p.sample_weight)
    assert found == pytest.approx(brute_force_groups(loglik, label), rel=1e-12)
    assert p.prior.tolist() == pytest.approx([0.25, 0.2, 0.55])
    assert p.classes is None
    # Two groups are a two-class problem, PAV minimum and all.
    two = multiclass.partition(loglik, label, {"some": [0, 1], "others": [2, 3, 4]}, prior=PRIOR)
    llr = multiclass.pairwise_llr(two.loglik, "some", "others", classes=two.classes)
    is_some = two.label == 0
    weights = {"tar_weights": two.sample_weight[is_some], "non_weights": two.sample_weight[~is_some]}
    found = multiclass.detection_analysis(two.loglik, two.label, sample_weight=two.sample_weight)
    assert found.min_cllr[0] == pytest.approx(metrics.min_cllr(llr[is_some], llr[~is_some], **weights), rel=1e-12)


def test_partition_of_weighted_trials_is_that_of_copies():
    loglik, label = random_trials(5, 60)
    weights = np.arange(60) % 3
    weights[:5] = 1
    copies = np.repeat(loglik, weights, axis=0), np.repeat(label, weights)
    one = multiclass.partition(loglik, label, GROUPS, prior=PRIOR, sample_weight=weights)
    other = multiclass.partition(*copies, GROUPS, prior=PRIOR)
    found, expected = (
        multiclass.cross_entropy(p.loglik, p.label, prior=p.prior, sample_weight=p.sample_weight) for p in (one, other)
    )
    assert found == pytest.approx(expected, rel=1e-12)


def test_trials_of_classes_that_drop_out_are_left_out():
    loglik, label = random_trials(3, 50)
    p = multiclass.partition(loglik, label, [[0], [2]], prior=[0.5, 0, 0.5])
    assert len(p.label) == np.count_nonzero(label != 1)
    np.testing.assert_allclose(p.loglik[:, 0] - p.loglik[:, 1], (loglik[:, 0] - loglik[:, 2])[label != 1], rtol=1e-14)


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ([[0, 1, 2]], "groups: got 1. At least two groups are needed"),
        ([[0], [1]], "groups: class 2 is in no group"),
        ([[0, 1], [1, 2]], r"groups\[1\]: class 1 is in another group, too"),
        ([[0, 0, 1], [2]], r"groups\[0\]: class 0 is listed twice"),
        ([[0, 1, 2], []], r"groups\[1\]: none of its classes has a prior above 0"),
        ([0, [1, 2]], r"groups\[0\]: expected a list of classes, got 0"),
        ({"a": "b", "c": [1, 2]}, r"groups\['a'\]: expected a list of classes, got 'b'"),
        ([[0, 3], [1, 2]], r"groups\[0\]: expected a class from 0 to 2"),
        ([["x"], [1, 2]], r"groups\[0\]: got the name 'x'. Pass classes="),
    ],
)
def test_no_partition(groups, message):
    with pytest.raises(InputError, match=message):
        multiclass.group_loglik(np.eye(3), groups)
