"""Intervals of subsets of classes: against weights of units that are moved a little, and quantiles for all subsets."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from deciban import multiclass
from deciban.evaluation import evaluate_classes

STEP, CLASSES = 1e-6, ("a", "b", "c", "d")


def drawn(n=168, n_units=14, n_classes=4, seed=3):
    """Each unit has as many trials of each class; some scores are infinite."""
    rng = np.random.default_rng(seed)
    label, units = np.arange(n) % n_classes, np.arange(n) // n_classes % n_units
    effects = rng.normal(size=(n_units, n_classes))[units]
    loglik = 1.2 * np.eye(n_classes)[label] + effects + rng.normal(size=(n, n_classes))
    loglik[::17, 0] = -np.inf
    return loglik, label, units


def costs_of_subsets(loglik, label, weights, p_target):
    """C_avg of every subset by its own trials and columns."""
    found = {}
    for size in range(2, loglik.shape[1] + 1):
        for members in itertools.combinations(range(loglik.shape[1]), size):
            own = np.isin(label, members)
            where = np.searchsorted(members, label[own])
            found[members] = multiclass.c_avg(
                loglik[own][:, members], where, p_target=p_target, sample_weight=weights[own]
            )
    return found


@pytest.mark.parametrize("p_target", [0.5, 0.1])
def test_standard_errors_are_of_derivatives_in_the_weights_of_units(p_target):
    loglik, label, units = drawn()
    found = evaluate_classes(loglik, label, classes=CLASSES, units=units, p_target=p_target)
    slopes = {}
    for unit in range(14):
        more, less = (
            costs_of_subsets(loglik, label, np.where(units == unit, 1 + step, 1.0), p_target) for step in (STEP, -STEP)
        )
        for members in more:
            slopes.setdefault(members, []).append((more[members] - less[members]) / (2 * STEP))
    slopes = {members: np.array(values) for members, values in slopes.items()}
    costs = costs_of_subsets(loglik, label, np.ones(len(label)), p_target)

    def error(values):
        return pytest.approx(math.sqrt(14 / 13 * np.sum(values**2)), rel=1e-4, abs=1e-9)

    for size in (2, 3, 4):
        one = found.interval(("subset_mean_by_size", str(size)))
        assert one.estimate == pytest.approx(np.mean([value for who, value in costs.items() if len(who) == size]))
        assert one.standard_error == error(np.mean([v for who, v in slopes.items() if len(who) == size], axis=0))
    told = found.subset_summary()
    for word in ("hardest", "easiest"):
        members, one = tuple(map(CLASSES.index, told[word]["classes"])), found.interval(("subset_c_avg", word))
        assert one.estimate == told[word]["c_avg"] == pytest.approx(costs[members])
        assert one.standard_error == error(slopes[members])
        below, above = found.uncertainty.estimates["subset_c_avg", word].rates.distances(1 - 0.05 / 11)  # of 11 subsets
        assert (one.low, one.high) == pytest.approx((one.estimate - below, one.estimate + above))
        assert one.high - one.low > 2 * stats.t(13).ppf(1 - 0.025 / 11) * one.standard_error * 0.9


def test_the_mean_of_the_whole_is_c_avg():
    loglik, label, units = drawn(n=400, n_classes=10)
    found = evaluate_classes(loglik, label, units=units)
    one, same = found.interval("c_avg"), found.interval(("subset_mean_by_size", "10"))
    assert (same.low, same.high) == pytest.approx((one.low, one.high))


def test_an_easiest_subset_without_errors_has_wilson_limits_for_all_subsets():
    label = np.repeat(np.arange(3), 20)
    loglik = 9.0 * np.eye(3)[label]
    loglik[5, 1] = loglik[7, 2] = 20.0
    found = evaluate_classes(loglik, label, units=np.arange(60))
    easiest = found.interval(("subset_c_avg", "easiest"))
    assert easiest.estimate == 0.0
    # Each of two classes may have errors that cost 1/2: limits of 20 units each, whose distances add in squares.
    square = stats.t(19).ppf(1 - 0.05 / 4 / 2) ** 2
    assert easiest.high == pytest.approx(math.sqrt(2) * 0.5 * square / (20 + square))


def test_they_stand_beside_the_figures_and_have_no_replicates():
    loglik, label, units = drawn()
    found = evaluate_classes(loglik, label, classes=CLASSES, units=units, bootstrap=50)
    told = found.to_dict()
    assert set(told["intervals"]["subset_mean_by_size"]) == {"2", "3", "4"}
    assert set(told["intervals"]["subset_c_avg"]) == {"hardest", "easiest"}
    assert not found.uncertainty.bootstrap.has(("subset_c_avg", "hardest"))


def test_there_are_none_without_subsets():
    loglik, label, units = drawn()
    for asked in ({"subsets": False}, {"p_out_of_set": 0.2}, {"sample_weight": np.arange(1, 169)}):
        names = evaluate_classes(loglik, label, units=units, **asked).uncertainty.estimates
        assert not any(str(name[0]).startswith("subset") for name in names if isinstance(name, tuple))


def test_two_classes_are_their_only_subset():
    loglik, label, units = drawn(n_classes=2)
    found = evaluate_classes(loglik, label, units=units)
    assert len(found.subsets) == 1
    assert not any(str(name[0]).startswith("subset") for name in found.uncertainty.estimates if isinstance(name, tuple))


def test_trials_at_the_threshold_cost_what_they_do_in_the_figure():
    likelihood = 2 ** np.random.default_rng(5).integers(0, 4, size=(60, 3))
    label = np.arange(60) % 3
    likelihood[np.arange(60), label] *= 2
    found = evaluate_classes(np.log(likelihood), label, classes=CLASSES[:3], units=np.arange(60), p_target=1 / 3)
    told = found.subset_summary()
    for word in ("hardest", "easiest"):
        members = list(map(CLASSES.index, told[word]["classes"]))
        rest = likelihood[:, members].sum(axis=1)[:, None] - likelihood
        accepts = likelihood * (len(members) - 1) >= 2 * rest  # whole numbers: odds of a target are 1 to 2
        n_accepted, squares, mean = accepts[:, members].sum(axis=1), 0.0, 0.0
        for k in members:
            own = label == k
            others = n_accepted[own] - accepts[own, k]
            cost = (~accepts[own, k] + 2 * others / (len(members) - 1)) / (3 * len(members))
            mean += cost.mean()
            squares += np.sum((cost - cost.mean()) ** 2) / own.sum() ** 2
        one = found.interval(("subset_c_avg", word))
        assert one.estimate == pytest.approx(mean)
        assert one.standard_error == pytest.approx(math.sqrt(20 / 19 * squares))
