"""What the BOSARIS paper says of its metrics."""

import math

import numpy as np
import pytest

from deciban.metrics import bayes_error, eer, min_bayes_error

N = 20_000


@pytest.fixture(scope="module")
def bosaris(script):
    return script("bosaris")


@pytest.fixture(scope="module")
def systems(bosaris):
    return bosaris.miscalibrated(N)


def rates(scores, log_odds):
    return np.asarray(bayes_error(*scores, prior_log_odds=log_odds, normalize=True))


def test_the_true_ratio_is_best_where_there_are_errors_to_count(systems):
    log_odds = np.linspace(-3.0, 2.0, 51)
    true = rates(systems["true LR"], log_odds)
    for name, scores in systems.items():
        assert np.all(true <= rates(scores, log_odds) + 0.005), name


def test_the_minimum_coincides_with_the_true_ratio(systems):
    log_odds = np.linspace(-3.0, 3.0, 61)
    least = min_bayes_error(*systems["true LR"], prior_log_odds=log_odds, normalize=True)
    assert rates(systems["true LR"], log_odds) == pytest.approx(least, abs=0.01)


def test_only_the_cautious_system_is_never_worse_than_the_prior_alone(systems):
    log_odds = np.linspace(-7.0, 7.0, 281)
    worst = {name: rates(scores, log_odds).max() for name, scores in systems.items()}
    assert {name for name, rate in worst.items() if rate <= 1.0} == {"true LR", "0.5 log LR"}


def test_beyond_the_lowest_ratio_everything_is_accepted(script):
    generators = script("generators")
    lowest = generators.unequal_gaussian_llr(np.linspace(-10.0, 10.0, 2001)).min()
    assert lowest == pytest.approx(-math.log(2.0) - 1.5)
    scores = [generators.unequal_gaussian_llr(part) for part in generators.unequal_gaussians(N)]
    assert bayes_error(*scores, prior_log_odds=-lowest + 0.01, normalize=True) == 1.0


@pytest.mark.parametrize(("kind", "worst"), [("good", (0.5, 0.7)), ("bad", (1.2, 1.6))])
def test_calibration_lasts_or_does_not(bosaris, kind, worst):
    _, new = bosaris.trained_and_new(kind, 1000)
    at_new_dcf = rates(new, math.log(0.001 / 0.999))
    assert worst[0] < at_new_dcf < worst[1]
    assert min_bayes_error(*new, p_target=0.001, normalize=True) < 0.8


def errors_at_least_cost(scores, log_odds):
    """Misses and false alarms at the best of all thresholds, by trying each."""
    tar, non = (np.sort(part) for part in scores)
    thresholds = np.concatenate((tar, non, [np.inf]))
    misses, alarms = np.searchsorted(tar, thresholds), len(non) - np.searchsorted(non, thresholds)
    best = np.argmin(misses / len(tar) * math.exp(log_odds) + alarms / len(non))
    return int(misses[best]), int(alarms[best])


@pytest.mark.parametrize("kind", ["good", "bad"])
def test_marks_of_the_rule_of_30_stand_where_errors_run_out(bosaris, kind):
    _, new = bosaris.trained_and_new(kind, 1000)
    (left, height), (right, _) = bosaris.scarce(new)
    assert errors_at_least_cost(new, left - 1e-6)[1] < 30 <= errors_at_least_cost(new, left + 1e-6)[1]
    assert errors_at_least_cost(new, right + 1e-6)[0] < 30 <= errors_at_least_cost(new, right - 1e-6)[0]
    misses, alarms = errors_at_least_cost(new, left + 1e-6)
    assert height == pytest.approx(misses / len(new[0]) + alarms / len(new[1]) * math.exp(-left), rel=1e-5)


def test_the_eer_is_the_highest_minimum(script):
    scores = script("generators").unequal_gaussians(25, 4)
    log_odds = np.linspace(-7.0, 7.0, 28_001)
    highest = np.max(min_bayes_error(*scores, prior_log_odds=log_odds))
    assert highest == pytest.approx(eer(*scores), abs=1e-4)
    assert highest <= eer(*scores) + 1e-12
