"""Decisions at a grid of priors are those that the function of decisions makes at each of them."""

import numpy as np
import pytest

from deciban.evaluation import class_evaluation_of, evaluate_classes, merged_classes, summarize_classes
from deciban.evaluation.multiclass.problem_sums import MOST_DECIDED, PRIORS, DecidedAt
from deciban.multiclass import brier, confusion
from deciban.multiclass.tables import ScoredClasses


@pytest.mark.parametrize("weighted", [False, True])
def test_counts_are_those_of_decisions_at_that_prior(weighted):
    rng = np.random.default_rng(5)
    loglik = rng.normal(0, 3, (200, 4))
    loglik[rng.random(loglik.shape) < 0.1] = -np.inf
    loglik[np.isneginf(loglik).all(axis=1)] = 0.0
    loglik[20:24] = [
        [0.0, -400.0, -401.0, -402.0],
        [-730.0, 0.0, -744.0, -743.0],
        [5.0, 5.0, 5.0, 5.0],
        [0, 0, -720, 0],
    ]
    loglik[:20] = [-np.inf, 1.0, -np.inf, -np.inf]
    label = np.arange(200) % 4
    weight = rng.integers(0, 4, 200) if weighted else None
    found = DecidedAt.of(ScoredClasses.of(loglik, label, weight), np.array([0.1, 0.2, 0.3, 0.4]))
    for k in range(4):
        for p in PRIORS[::5]:
            wanted = confusion(loglik, label, prior=found.prior_at(k, p), sample_weight=weight)
            assert np.array_equal(found.confusion(k, p), wanted), (k, p)
        n_trials = np.bincount(label, weight)
        scores = [brier(loglik, label, prior=found.prior_at(k, p), sample_weight=weight) for p in PRIORS[::5]]
        assert found.brier(k, n_trials)[::5] == pytest.approx(scores, rel=1e-12)


def test_equal_posteriors_go_to_the_first_class():
    trials = ScoredClasses.of([[0.0, 0.0], [0.0, 0.0]], [0, 1])
    for k in (0, 1):
        found = DecidedAt.of(trials, np.array([0.5, 0.5]))
        assert found.confusion(k, 0.5).tolist() == [[1, 0], [1, 0]]


def test_parts_add_up_to_the_whole():
    rng = np.random.default_rng(6)
    loglik, label = rng.integers(-3, 3, (60, 3)).astype(float), np.arange(60) % 3
    whole = DecidedAt.of(ScoredClasses.of(loglik, label), np.full(3, 1 / 3)).sums
    one, two = (ScoredClasses.of(loglik[rows], label[rows]) for rows in (slice(0, 7), slice(7, 60)))
    parts = (DecidedAt.of(one, np.full(3, 1 / 3)) + DecidedAt.of(two, np.full(3, 1 / 3))).sums
    assert np.array_equal(whole["counts"], parts["counts"])
    assert parts["quadratic"] == pytest.approx(whole["quadratic"], rel=1e-12)
    assert whole["counts"].sum() == 3 * 60


def test_counts_on_request_are_those_of_the_scores_that_were_evaluated():
    rng = np.random.default_rng(7)
    loglik, label = rng.normal(size=(60, 3)), np.arange(60) % 3
    wanted = confusion(loglik, label, prior=[0.5, 0.25, 0.25])
    of_parts = merged_classes([summarize_classes(loglik[rows], label[rows]) for rows in (slice(0, 7), slice(7, 60))])
    found = evaluate_classes(loglik, label).decided, class_evaluation_of(of_parts).decided
    loglik[:], label[:] = 0.0, 0
    for one in found:
        assert np.array_equal(one.confusion(0, 0.5), wanted)


def test_very_many_classes_are_left_out():
    n = MOST_DECIDED + 1
    assert DecidedAt.of(ScoredClasses.of(np.eye(n), np.arange(n)), np.full(n, 1 / n)) is None
