"""Samples and bins stand for all trials: same expectations, nearly the same optimum, every class in them."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

from deciban.core.training.linear_objective import LinearObjective, TrainingTrials
from deciban.core.training.moments import binned, informative, sample, thinned
from support.training_reference import gaussian, gradients, masses, optimum, pulls

N = 100_000
SIZE = 8192


def trials_of(scores, is_target, *, log_odds=0.0, weights=None, base=None, matrix=True):
    """Trials with class weights, as training gets them."""
    unit = masses(is_target, log_odds, weights) / (1.0 if weights is None else weights)
    trials = TrainingTrials.of(scores if matrix else list(scores.T), is_target, weights=weights, base=base)
    return replace(trials, class_weights=(unit[~is_target][0], unit[is_target][0]))


def mass_of(trials):
    """What each trial contributes, from the attributes of a sample."""
    mass = np.where(trials.is_target, trials.class_weights[1], trials.class_weights[0])
    return mass if trials.weights is None else mass * trials.weights


def scores_of(trials):
    return np.column_stack([np.asarray(column[:], np.float64) for column in trials.columns])


def level_of(trials, *, rule=(1.0, 1.0), log_odds=0.0, dtype=np.float64):
    n = len(trials.columns)
    return LinearObjective(trials, np.zeros(n), np.ones(n), True, *rule, log_odds, np.zeros(n + 1), dtype=dtype)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("p_target", [0.4, 0.02, 0.97])
def test_an_even_sample_has_enough_of_each_class_and_stands_for_all(p_target, weighted):
    scores, is_target = gaussian(N, 2, p_target=p_target)
    weights = np.random.default_rng(2).random(N) + 0.5 if weighted else None
    trials = trials_of(scores, is_target, log_odds=-1.0, weights=weights)
    few = sample(trials, SIZE)
    assert len(few) < 1.5 * SIZE
    assert min(few.is_target.sum(), (~few.is_target).sum()) >= min(0.9 * SIZE / 5, is_target.sum(), (~is_target).sum())
    assert len(np.unique(scores_of(few), axis=0)) == len(few)  # no trial twice
    mass, of_all = mass_of(few), mass_of(trials)
    for truth in (False, True):
        assert mass[few.is_target == truth].sum() == pytest.approx(of_all[is_target == truth].sum(), rel=1e-12)
    point = np.array([0.5, 0.8, 0.2])
    terms = mass[:, None] * gradients(scores_of(few), few.is_target, point, log_odds=-1.0)
    expected = of_all @ gradients(scores, is_target, point, log_odds=-1.0)
    np.testing.assert_array_less(np.abs(terms.sum(axis=0) - expected), 5 * np.sqrt((terms**2).sum(axis=0)))


def test_labels_that_come_in_step_with_the_sample_do_not_hide_a_class():
    """Of 40,000 trials every fourth is looked at, and these are targets all."""
    is_target = np.arange(40_000) % 4 == 0
    few = sample(trials_of(np.arange(40_000.0)[:, None], is_target), SIZE)
    assert few.is_target.sum() >= 0.9 * SIZE / 5
    assert (~few.is_target).sum() >= 0.9 * SIZE / 5
    # A still smaller sample of it has both classes as well, or is the sample itself.
    assert 0 < thinned(few).is_target.sum() < len(thinned(few))


def test_a_sample_of_few_trials_is_all_of_them():
    scores, is_target = gaussian(4 * SIZE - 1)
    trials = trials_of(scores, is_target)
    assert sample(trials, SIZE) is trials


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("kind", ["matrix", "columns", "weights", "base"])
def test_an_informative_sample_keeps_the_expectations(kind, dtype):
    scores, is_target = gaussian(N, 2, apart=1.5)
    rng = np.random.default_rng(3)
    weights = np.exp(rng.normal(size=N)) if kind == "weights" else None
    base = rng.normal(size=N) if kind == "base" else None
    trials = trials_of(scores, is_target, log_odds=-2.0, weights=weights, base=base, matrix=kind != "columns")
    trials = replace(trials, base=None if base is None else base)
    few, point = sample(trials, SIZE), np.array([1.5, 2.0, 0.3])
    some = informative(level_of(trials, log_odds=-2.0, dtype=dtype), point, few, SIZE)
    assert 0.8 * SIZE < len(some) < 1.1 * SIZE
    own, shift = (np.zeros(len(t)) if t.base is None else np.asarray(t.base[:]) for t in (some, trials))
    terms = mass_of(some)[:, None] * shifted_gradients(some, point, own)
    expected = mass_of(trials) @ shifted_gradients(trials, point, shift)
    # The variance of a sum of trials that come with a probability, estimated from those that came.
    probable = 1.0 / np.asarray(some.weights, np.float64) if weights is None else probabilities(some, scores, weights)
    error = np.sqrt(((1.0 - probable)[:, None] * terms**2).sum(axis=0))
    np.testing.assert_array_less(np.abs(terms.sum(axis=0) - expected), 4 * error + 1e-6 * np.abs(expected).max())
    # The tenth that comes evenly bounds what one trial may stand for.
    assert 1.0 / probable.min() <= 1.001 * N / (0.1 * SIZE)
    assert probable.max() == pytest.approx(1.0, rel=1e-6)
    # Those that pull most come most often.
    pull = np.abs(pulls(scores_of(trials) @ point[:-1] + point[-1] - 2.0 + shift, is_target, (1, 1))[0])
    pull *= mass_of(trials)
    assert share_of(some, scores, pull > np.quantile(pull, 0.99)) > 0.95


def shifted_gradients(trials, point, base):
    scores = np.column_stack((scores_of(trials), base))
    at = np.array([*point[:-1], 1.0, point[-1]])
    return np.delete(gradients(scores, trials.is_target, at, log_odds=-2.0), 2, axis=1)


def places(some, scores):
    """Where the trials of a sample are among all, by their first score."""
    order = np.argsort(scores[:, 0])
    first = np.asarray(some.columns[0][:], np.float64)
    found = np.searchsorted(scores[order, 0], first - 1e-6)
    near = np.clip(found[:, None] + np.arange(12), 0, len(order) - 1)
    distance = np.abs(scores[order[near], 0] - first[:, None])
    distance[:, :] += np.abs(scores[order[near], 1] - np.asarray(some.columns[1][:], np.float64)[:, None])
    return order[near[np.arange(len(first)), distance.argmin(axis=1)]]


def probabilities(some, scores, weights):
    """With which each trial came, where the weights of a sample are theirs divided by it."""
    return weights[places(some, scores)] / np.asarray(some.weights, np.float64)


def share_of(some, scores, wanted):
    """How many of the wanted trials are in a sample."""
    return np.isin(np.flatnonzero(wanted), places(some, scores)).mean()


def test_the_optimum_of_an_informative_sample_is_closer_than_that_of_an_even_one():
    """The classes overlap little: most trials say nothing."""
    errors = []
    for seed in range(3):
        scores, is_target = gaussian(N, 2, apart=1.6, seed=seed)
        trials = trials_of(scores, is_target)
        best = optimum(scores, is_target)
        few = sample(trials, SIZE)
        some = informative(level_of(trials), optimum(scores_of(few), few.is_target, mass=mass_of(few)), few, SIZE)
        found = (optimum(scores_of(each), each.is_target, mass=mass_of(each)) for each in (few, some))
        errors.append([np.linalg.norm(point - best) for point in found])
    even, chosen = np.mean(errors, axis=0)
    assert chosen < 0.25 * even


@pytest.mark.parametrize("rule", [(1.0, 1.0), (2.0, 1.0), (1.5, 0.7)])
def test_slopes_are_the_sizes_of_what_each_trial_pulls(rule):
    scores, is_target = gaussian(500, 2)
    trials = trials_of(scores, is_target, log_odds=-1.0, weights=np.linspace(0.1, 3.0, 500))
    point = np.array([0.5, 0.8, 0.2])
    slopes, _ = level_of(trials, rule=rule, log_odds=-1.0).slopes(point, slice(100, 400))
    expected = mass_of(trials) * np.abs(pulls(scores @ point[:-1] + point[-1] - 1.0, is_target, rule)[0])
    np.testing.assert_allclose(slopes, expected[100:400], rtol=1e-9)


def test_no_informative_sample_is_better_than_one_that_was_chosen_blindly():
    """The few trials that were looked at are all beyond doubt, the others are not: they would all come."""
    scores, is_target = gaussian(N, 2)
    trials = trials_of(scores, is_target)
    certain = trials_of(np.where(is_target[:SIZE, None], 9.0, -9.0) * np.ones(2), is_target[:SIZE])
    assert informative(level_of(trials), np.ones(3), certain, SIZE) is None


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("distance", [9.0, 60.0, 1000.0])
def test_there_is_no_informative_sample_where_all_slopes_are_next_to_0(distance, dtype):
    scores, is_target = gaussian(N, 2)
    scores = scores + np.where(is_target, distance, -distance)[:, None]
    trials = trials_of(scores, is_target)
    level = level_of(trials, rule=(100.0, 100.0), dtype=dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert informative(level, np.ones(3), sample(trials, SIZE), SIZE) is None


def bins_of(scores, is_target, log_odds, rows):
    """Bins that span some of the trials, with another standardization than the data's; and standardized scores."""
    trials = trials_of(scores, is_target, log_odds=log_odds, matrix=False)
    level = replace(level_of(trials, log_odds=log_odds), center=np.array([0.3]), width=np.array([1.7]))
    return binned(level, trials.take(rows)), (scores[:, 0] - 0.3) / 1.7


def test_bins_count_like_their_trials_those_beyond_the_sample_too():
    scores, is_target = gaussian(N, apart=0.8, p_target=0.1)
    scores[:2] = [[9.0], [-9.0]]
    bins, inside = bins_of(scores, is_target, 0.0, slice(10, None, 11))
    means, counts = np.asarray(bins.columns[0]), bins.weights
    assert len(bins) <= 2 * (1 << 14)
    edges = np.linspace(inside[10::11].min(), inside[10::11].max(), 17)[1:-1]  # each one a border of bins as well
    for truth in (False, True):
        own, all_of_them = bins.is_target == truth, is_target == truth
        assert counts[own].sum() == all_of_them.sum()
        assert counts[own] @ means[own] == pytest.approx(inside[all_of_them].sum(), rel=1e-9)
        seen, _ = np.histogram(means[own], [-np.inf, *edges, np.inf], weights=counts[own])
        np.testing.assert_array_equal(seen, np.histogram(inside[all_of_them], [-np.inf, *edges, np.inf])[0])


@pytest.mark.parametrize("log_odds", [0.0, -4.6])
def test_the_optimum_of_bins_is_nearly_that_of_all_trials(log_odds):
    scores, is_target = gaussian(N, apart=0.8, p_target=0.1)
    ends = [scores.argmin(), scores.argmax()]
    bins, inside = bins_of(scores, is_target, log_odds, np.append(np.arange(0, N, 11), ends))
    found = optimum(np.asarray(bins.columns[0]), bins.is_target, mass=mass_of(bins), log_odds=log_odds)
    np.testing.assert_allclose(found, optimum(inside, is_target, log_odds=log_odds), rtol=0, atol=1e-6)


def test_there_are_no_bins_between_scores_that_are_all_the_same():
    scores, is_target = gaussian(N, apart=0.8)
    trials = trials_of(scores, is_target, matrix=False)
    same = replace(trials.take(slice(100)), columns=(np.full(100, 7.0),))
    assert binned(level_of(trials), same) is None
