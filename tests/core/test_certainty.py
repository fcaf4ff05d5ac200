"""What infinite scores decide, and what is said about those that are wrong."""

import numpy as np
import pytest

from deciban.core.training.multiclass_objective import CountedTrials, decided, ruled_out
from deciban.errors import InputError, TrialError
from support.many_classes import train_classes

INF = np.inf
FLAT = np.full(3, 1 / 3)
NAMES = ("cat", "dog", "eel")


def counted(rows, label, prior=FLAT, weights=None):
    systems = np.asarray(rows, np.float64)
    return CountedTrials.of(systems if systems.ndim == 3 else systems[:, None, :], np.array(label), prior, weights)


def test_trials_are_decided_by_plus_infinity_or_by_no_class_left():
    rows = [[INF, 0, 0], [INF, INF, -INF], [-INF, 0, 0], [-INF, -INF, 0], [-INF, -INF, -INF], [1, 2, 3]]
    is_decided, certain = decided(counted(rows, [0, 1, 2, 2, 0, 1]).trials)
    assert is_decided.tolist() == [True, True, False, False, True, False]
    assert certain.astype(int).tolist() == [[1, 0, 0], [1, 1, 0], [0, 0, 0], [0, 0, 0], [1, 1, 1], [0, 0, 0]]


@pytest.mark.parametrize(
    ("row", "label", "wrong"),
    [
        ([0, INF, 0], 0, True),
        ([0, INF, 0], 1, False),
        ([-INF, 0, 0], 0, True),
        ([-INF, 0, 0], 2, False),
        ([-INF, -INF, -INF], 1, False),
        ([[INF, 0, 0], [-INF, 0, 0]], 0, True),
        ([[-INF, -INF, -INF], [0, 0, 0]], 0, False),
        ([[-INF, -INF, -INF], [-INF, 0, 0]], 0, True),
    ],
)
def test_what_rules_out_the_true_class(row, label, wrong):
    row = np.array(row, np.float64)
    rows = np.stack([row, *(np.zeros_like(row),) * 3])
    assert ruled_out(counted(rows, [label, 0, 1, 2]).trials).tolist() == [wrong, False, False, False]


def test_a_class_of_prior_0_has_no_say():
    """Its +inf decides nothing, and where it is the only one possible none of the others is preferred."""
    prior = np.array([0.5, 0.0, 0.5])
    trials = counted([[0, INF, 1], [-INF, 0, -INF], [0, 5, 1], [3, 0, 0]], [0, 2, 1, 2], prior)
    assert trials.possible.tolist() == [0, 2]
    assert trials.numbers.tolist() == [0, 1, 3]
    assert trials.trials.label.tolist() == [0, 1, 1]
    assert decided(trials.trials)[0].tolist() == [False, True, False]
    assert not ruled_out(trials.trials).any()


def overlapping():
    rng = np.random.default_rng(4)
    label = np.arange(30) % 3
    return rng.normal(size=(30, 3)) + np.eye(3)[label], label


@pytest.mark.parametrize(("classes", "words"), [(None, "class 2"), (NAMES, r"class 2 \('eel'\)")])
def test_a_wrong_score_is_told_by_class_and_trial(classes, words):
    """Positions are those of the caller, also where trials and classes before it do not count."""
    loglik, label = overlapping()
    loglik[[11, 14], 2] = -INF
    message = rf"rule out the true class of 2 trials, the first at index 11, of {words}: their cost is infinite"
    for prior, weights in ((FLAT, None), (FLAT, np.r_[0.0, np.ones(29)]), (np.array([0.0, 0.5, 0.5]), None)):
        with pytest.raises(TrialError, match=message):
            train_classes(loglik, label, prior=prior, weights=weights, classes=classes)


def test_an_offset_without_limit_is_told_by_its_classes():
    loglik, label = overlapping()
    loglik[label != 1, 1] = -INF  # no other trial speaks against dogs
    with pytest.raises(InputError, match=r"forever as the offset of class 1 \('dog'\) grows"):
        train_classes(loglik, label, prior=FLAT, classes=NAMES)
    fit = train_classes(loglik, label, prior=FLAT, offset=False)
    assert fit.converged


def test_a_class_whose_trials_are_all_decided_limits_no_offset_against_it():
    loglik, label = overlapping()
    loglik[label == 0, 0] = INF
    with pytest.raises(InputError, match=r"all trials of class 0 against class 1, but not those of class 1 against"):
        train_classes(loglik, label, prior=FLAT)
    loglik[label != 0, 0] = -INF  # now it is compared with nothing
    fit = train_classes(loglik, label, prior=FLAT)
    alone = train_classes(loglik[label != 0][:, 1:], label[label != 0] - 1, prior=np.full(2, 0.5))
    assert fit.weights[0] == pytest.approx(alone.weights[0], rel=1e-9)
    assert fit.objective == pytest.approx(alone.objective * 2 / 3, rel=1e-12)


def test_nothing_to_train_on():
    loglik = np.where(np.eye(3)[[0, 1, 2, 0]] > 0, 0.0, -INF)
    with pytest.raises(InputError, match="decide all trials correctly"):
        train_classes(loglik, np.array([0, 1, 2, 0]), prior=FLAT)


def test_a_scale_can_be_trained_on_the_same_scores_if_infinite_ones_decide_the_rest():
    """Undecided trials all score (1, 0); of class 1 only half count, so that e^a / (1 + e^a) = (1/2) / (1/2 + 1/4)."""
    loglik = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, INF]])
    fit = train_classes(loglik, np.array([0, 1, 1]), prior=np.full(2, 0.5), offset=False)
    assert fit.weights[0] == pytest.approx(np.log(2.0), rel=1e-9)
    assert fit.objective == pytest.approx(0.5 * np.log(1.5) + 0.25 * np.log(3.0), rel=1e-12)


def test_a_sample_of_many_trials_may_hold_none_of_a_decided_class():
    """So many trials that the search begins with a sample, in which a class has no finite score."""
    rng = np.random.default_rng(5)
    label = np.arange(60_000) % 3
    loglik = rng.normal(size=(60_000, 3)) + np.eye(3)[label]
    loglik[label == 0] = [INF, 0.0, 0.0]
    loglik[label != 0, 0] = -INF
    fit = train_classes(loglik, label, prior=FLAT)
    alone = train_classes(loglik[label != 0][:, 1:], label[label != 0] - 1, prior=np.full(2, 0.5))
    assert fit.weights[0] == pytest.approx(alone.weights[0], rel=1e-8)
    assert fit.objective == pytest.approx(alone.objective * 2 / 3, rel=1e-10)
