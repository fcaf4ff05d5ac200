"""What is found out once about trials of many classes, for all maps that are trained on them."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm

from deciban.core.training.moments import Survey, sample_of_classes
from deciban.core.training.multiclass_objective import ClassTrials
from support.many_classes import problem

PRIOR = np.array([0.1, 0.2, 0.3, 0.4])


def trials(n=500, prior=PRIOR, factor=1.0):
    systems, label = problem(n, 2)
    return ClassTrials(factor * systems, label, prior / np.bincount(label, minlength=4))


def standard(some, prior):
    """Center and width by definition: means of scores against the best class; mean variance of all differences."""
    mass = (prior / np.bincount(some.label))[some.label]
    mass /= mass.sum()
    scores = some.systems - some.systems.max(axis=2, keepdims=True)
    gaps = scores[..., :, None] - scores[..., None, :]
    spread = np.einsum("t,tkij->kij", mass, (gaps - np.einsum("t,tkij->kij", mass, gaps)) ** 2)
    return np.einsum("t,tkc->kc", mass, scores), np.sqrt(spread.sum(axis=(1, 2)) / 12)


@pytest.mark.parametrize("prior", [PRIOR, np.full(4, 0.25)])
def test_widths_are_those_of_equal_classes_and_centers_those_of_the_prior(prior):
    survey = Survey(trials(prior=prior))
    center, width = standard(survey.trials, np.full(4, 0.25))
    np.testing.assert_allclose(survey.standard[0], center, rtol=1e-12)
    np.testing.assert_allclose(survey.standard[1], width, rtol=1e-12)
    np.testing.assert_allclose(survey.center, standard(survey.trials, prior)[0], rtol=1e-12)


def test_the_reach_is_a_bound():
    survey = Survey(trials(factor=3.0))
    largest = np.abs(survey.trials.systems).max()
    assert largest <= survey.reach_in_widths(np.array([1.0, 2.0])) < np.inf
    assert survey.reach_in_widths(np.array([0.5, 2.0])) == 2.0 * survey.reach_in_widths(np.array([1.0, 0.0]))
    assert survey.reach_in_widths(np.zeros(2)) == np.inf


def test_typical_spreads_are_ranges_of_three_quarters_of_the_trials():
    survey = Survey(trials())
    ranges = np.quantile(np.ptp(survey.trials.systems, axis=2), 0.75, axis=0, method="higher")
    np.testing.assert_array_equal(survey.typical_spreads(np.array([1.0, 1e9])), [1.0, ranges[1]])


def test_a_sample_stands_for_all_trials():
    """As many of each class as there may be, with weights that make the prior of them."""
    everything = trials(60_000)
    few = sample_of_classes(everything)
    assert 4 * len(few) <= len(everything)
    np.testing.assert_allclose(few.class_weights * few.amounts, PRIOR, rtol=1e-12)
    assert sample_of_classes(few) is few
    quantiles = norm.ppf([0.1, 0.5, 0.9])
    for k in range(4):
        own, all_of_them = (some.systems[some.label == k, 0, k] for some in (few, everything))
        z = (np.quantile(own, [0.1, 0.5, 0.9]) - all_of_them.mean()) / all_of_them.std()
        np.testing.assert_allclose(z, quantiles, atol=0.15)


def sampled(everything):
    """Which trials are in the sample."""
    numbers = np.arange(len(everything), dtype=float)
    numbered = replace(everything, systems=np.broadcast_to(numbers[:, None, None], everything.systems.shape))
    return sample_of_classes(numbered).systems[:, 0, 0].astype(int)


def test_what_is_constant_in_the_sample_need_not_be_so_in_all_trials():
    everything = trials(60_000)
    systems = everything.systems.copy()
    systems[sampled(everything), 1] = 0.0
    varied = replace(everything, systems=systems)
    np.testing.assert_allclose(Survey(varied).standard[1], standard(varied, np.full(4, 0.25))[1], rtol=1e-9)


def test_no_sample_lacks_a_class_that_counts():
    everything = trials(60_000)
    weights = np.ones(len(everything))
    rows = sampled(everything)
    weights[rows[everything.label[rows] == 2]] = 0.0
    weighted = replace(everything, weights=weights)
    assert sample_of_classes(weighted) is weighted


def test_a_class_without_trials_is_no_trouble():
    everything = trials()
    some = everything.take(np.flatnonzero(everything.label != 3))
    center, width = Survey(some).standard
    label = some.label
    mass = (label[:, None] == np.arange(3)).astype(float) @ (1 / np.bincount(label)) / 3
    scores = some.systems - some.systems.max(axis=2, keepdims=True)
    np.testing.assert_allclose(center, np.einsum("t,tkc->kc", mass, scores), rtol=1e-12)
    assert np.isfinite(width).all()


def test_excluded_classes_are_no_part_of_a_spread():
    everything = trials()
    systems = everything.systems.copy()
    systems[np.arange(len(everything)), 0, (everything.label + 1) % 4] = -np.inf
    scores = np.where(np.isneginf(systems), np.nan, systems)[:, 0]
    ranges = np.nanmax(scores, axis=1) - np.nanmin(scores, axis=1)
    expected = np.quantile(ranges, 0.75, method="higher")
    assert Survey(replace(everything, systems=systems)).typical_spreads(np.array([1e9, 1.0]))[0] == expected
