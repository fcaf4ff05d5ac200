"""C_avg of all subsets against one subset at a time."""

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logit

from deciban import InputError, multiclass
from deciban.core import class_counts as class_subsets
from support.class_trials import class_trials, detection_cost_8_10, finite, random_trials


def subsets_of(n):
    return [some for size in range(2, n + 1) for some in combinations(range(n), size)]


def one_by_one(loglik, label, p_target=0.5):
    """`c_avg` of the trials and columns of every subset."""
    values = []
    for some in subsets_of(loglik.shape[1]):
        kept = np.isin(label, some)
        values.append(multiclass.c_avg(loglik[kept][:, some], np.searchsorted(some, label[kept]), p_target=p_target))
    return values


@pytest.mark.parametrize(("n", "p_target"), [(2, 0.5), (3, 0.5), (3, 0.05), (3, 0.9), (5, 0.05), (7, 0.5), (7, 0.9)])
def test_every_subset_is_an_evaluation_of_its_own(n, p_target):
    loglik, label = random_trials(n, 40 * n, seed=n)
    found = multiclass.subset_c_avg(loglik, label, p_target=p_target)
    assert found.value == pytest.approx(one_by_one(loglik, label, p_target), abs=1e-14)
    if p_target == 0.5:
        expected = [detection_cost_8_10(loglik, label, some) for some in subsets_of(n)]
        assert found.value == pytest.approx(expected, abs=1e-14)


def test_subsets_are_named_and_ordered():
    loglik, label = random_trials(4, 100)
    found = multiclass.subset_c_avg(loglik, label, classes=["a", "b", "c", "d"])
    members = subsets_of(4)
    assert [found.members(at) for at in range(len(found))] == members
    assert found.size.tolist() == [len(some) for some in members]
    assert found.mask.tolist() == [sum(1 << k for k in some) for some in members]
    assert len(found) == 2**4 - 4 - 1
    assert np.asarray(found).tolist() == list(found) == found.value.tolist()
    assert np.asarray(found, dtype=np.float32).dtype == np.float32
    at = members.index((1, 2, 3))
    assert found.of(["d", "b", "c"]) == found.of([3, 2, 1]) == found.value[at]
    for wrong, message in (([1], "at least two"), ([1, 1], "at least two"), ([0, 4], "expected a class from 0 to 3")):
        with pytest.raises(InputError, match=message):
            found.of(wrong)


def test_there_are_16369_at_14_classes():
    loglik, label = random_trials(14, 200)
    found = multiclass.subset_c_avg(loglik, label)
    assert len(found) == 16369
    assert found.value[-1] == pytest.approx(multiclass.c_avg(loglik, label), abs=1e-14)
    expected = one_by_one_at(loglik, label, found, range(0, 16369, 997))
    assert found.value[::997] == pytest.approx(expected, abs=1e-14)


def one_by_one_at(loglik, label, found, places):
    return [detection_cost_8_10(loglik, label, found.members(at)) for at in places]


@pytest.mark.parametrize("spread", [100.0, 1000.0, 1e300])
def test_likelihoods_that_underflow_beside_each_other(spread):
    """Far below the best class of a trial, classes are compared with each other as exactly as at the top."""
    loglik, label = random_trials(5, 100, spread=spread)
    found = multiclass.subset_c_avg(loglik, label).value
    assert found == pytest.approx(one_by_one(loglik, label), abs=1e-14)


@given(class_trials(st.one_of(finite.map(lambda x: round(x, 6)), st.sampled_from([-2e3, -1e300, 1e300]))))
def test_magnitudes_in_any_mixture(trials):
    loglik, label = trials
    assert multiclass.subset_c_avg(loglik, label).value == pytest.approx(one_by_one(loglik, label), abs=1e-14)


@given(class_trials(st.sampled_from([-math.inf, math.inf, 0.0, 1.0, -3.0])))
def test_infinities_are_limits(trials):
    """Classes of a subset that are all excluded are alike, as if they were all -10^4."""
    loglik, label = trials
    near = np.clip(loglik, -1e4, 1e4)
    assert multiclass.subset_c_avg(loglik, label).value == pytest.approx(one_by_one(near, label), abs=1e-14)


def test_scores_at_the_threshold_are_accepted_however_sums_are_rounded():
    """The first class meets its Bayes threshold in its own trial, the second one is far from it in both trials."""
    for p_target in np.linspace(0.02, 0.98, 49):
        threshold = -float(logit(p_target))
        lead = abs(threshold) + 1
        loglik = [[threshold, 0, -99], [0, lead, -99], [0, 0, 99]]
        second_accepts_first = -threshold >= threshold
        found = multiclass.subset_c_avg(loglik, [0, 1, 2], p_target=p_target).of([0, 1])
        assert found == pytest.approx((1 - p_target) * second_accepts_first / 2, abs=1e-14), p_target


def test_sure_trials_are_told_from_the_others_without_error():
    """Margins around the one that lets a trial be left out."""
    n = 6
    for odds in (1.0, 0.1, 9.0):
        edge = math.log(max(1 + (n - 1) * odds, 1 / odds))
        for margin in edge + np.array([-0.3, -1e-8, 1e-8, 0.3]):
            loglik = np.zeros((n, n)) + margin * np.eye(n)
            loglik[:, 0] -= 0.01
            p_target = odds / (1 + odds)
            found = multiclass.subset_c_avg(loglik, np.arange(n), p_target=p_target)
            assert found.value == pytest.approx(one_by_one(loglik, np.arange(n), p_target), abs=1e-14)


def test_blocks_of_trials_add_up(monkeypatch):
    loglik, label = random_trials(9, 400)
    expected = multiclass.subset_c_avg(loglik, label).value
    monkeypatch.setattr(class_subsets, "_TRIALS", 8)
    monkeypatch.setattr(class_subsets, "_CELLS_AT_ONCE", 64)
    monkeypatch.setattr(class_subsets, "_READ", 50)
    np.testing.assert_allclose(multiclass.subset_c_avg(loglik, label).value, expected, rtol=1e-14)


def test_too_many_classes_are_refused():
    loglik, label = np.eye(21), np.arange(21)
    with pytest.raises(InputError, match="21 classes have 2e\\+06 subsets; subset_c_avg takes at most 20"):
        multiclass.subset_c_avg(loglik, label)


def test_means_by_size_are_those_of_the_subsets():
    rng = np.random.default_rng(3)
    label = np.arange(40) % 4
    costs = multiclass.subset_c_avg(rng.normal(size=(40, 4)) + 2.0 * np.eye(4)[label], label)
    pairs = [costs.of(pair) for pair in combinations(range(4), 2)]
    assert costs.mean_by_size[2] == pytest.approx(np.mean(pairs), rel=1e-15)
    assert costs.mean_by_size[4] == costs.of(range(4))
    assert list(costs.mean_by_size) == [2, 3, 4]
