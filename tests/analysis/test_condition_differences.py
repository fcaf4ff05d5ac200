"""Differences between conditions whose units are not the same."""

import numpy as np
import pytest
from scipy import stats

from deciban import evaluate
from deciban.analysis.differences import differences_between

SIZES = {"quiet": 12, "street": 20, "car": 35}


def conditions():
    """Evaluations of three conditions with speakers of their own, of which there are more or fewer."""
    rng, found, first = np.random.default_rng(6), [], 0
    for at, (name, n_units) in enumerate(SIZES.items()):
        units = first + np.repeat(np.arange(n_units), 6)
        shift = 0.5 * rng.normal(size=n_units).repeat(6) - 0.3 * at
        tar, non = (mean + shift + rng.normal(size=len(units)) for mean in (1.0, -1.0))
        found.append(evaluate(tar, non, tar_units=units, non_units=units, name=name))
        first += n_units
    return found


def test_a_condition_against_the_mean_of_the_others_has_the_variance_of_independent_means():
    evaluated = conditions()
    rows, _ = differences_between(evaluated, 0.95)
    rows = [row for row in rows if row.second is None and row.metric == "cllr"]
    assert [row.first for row in rows] == list(SIZES)
    values = np.array([one.cllr for one in evaluated])
    errors = np.array([one.uncertainty.estimates["cllr"].standard_error for one in evaluated])
    sizes = np.array(list(SIZES.values()))
    squares, n = errors**2 * (sizes - 1) / sizes, sizes.min()  # sums of squared influences; the fewest units count
    effective = np.array([one.uncertainty.estimates["cllr"].degrees for one in evaluated]) + 1
    own, shares = np.empty(3), np.empty(3)
    for k, row in enumerate(rows):
        others = [j for j in range(3) if j != k]
        assert row.interval.estimate == pytest.approx(values[k] - values[others].mean(), rel=1e-12)
        own[k] = (squares[k] + squares[others].sum() / 4) * n / (n - 1)
        shares[k] = 1 / effective[k] + (1 / effective[others]).sum() / 4
    assert [row.interval.standard_error for row in rows] == pytest.approx(np.sqrt(own), rel=1e-9)
    for row, error, least in zip(rows, np.sqrt(own), np.sqrt((own / shares).mean() * shares), strict=True):
        plain = row.interval.high if row.interval.estimate < 0 else row.interval.low
        reach = abs(plain - row.interval.estimate) * max(error, least) / error
        degrees = effective.min() - 1
        expected = 2 * stats.t.sf(abs(row.interval.estimate) / reach * stats.t.ppf(0.975, degrees), degrees)
        assert row.interval.p_value == pytest.approx(expected, rel=1e-9)


def test_minima_without_an_error_of_some_class_are_not_compared():
    """13 conditions that are alike, of 30 non-targets each: the best threshold lies above all of these in every one."""
    rng, found = np.random.default_rng(3), []
    tar = rng.normal(2, 2, 200)
    for k in range(13):
        units = 1000 * (k + 1) + np.arange(30)
        non = rng.normal(-2, 2, 30)
        found.append(evaluate(tar, non, tar_units=np.arange(200), non_units=units, name=f"c{k}"))
    rows, _ = differences_between(found, 0.95)
    assert {row.metric for row in rows} >= {"eer", ("act_dcf", 0)}
    assert not {row.metric for row in rows} & {("min_dcf", 0), "mean_min_dcf"}


def test_conditions_that_are_alike_seldom_differ_by_cllr():
    """Few non-targets, some of which cost nearly all: a condition without such a one has a small standard error, too.

    With the errors of single conditions alone, a difference is claimed in about half of such draws.
    """
    claimed = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        tar, found = rng.normal(4, np.sqrt(8), 200), []
        for k in range(13):
            non, units = rng.normal(-4, np.sqrt(8), 30), 1000 * (k + 1) + np.arange(30)
            found.append(evaluate(tar, non, tar_units=np.arange(200), non_units=units, name=f"c{k}"))
        rows, _ = differences_between(found, 0.95)
        claimed += any(row.metric == "cllr" and row.holm < 0.05 for row in rows)
    assert claimed <= 1


def test_conditions_that_differ_are_told_apart_by_cllr():
    rng, found = np.random.default_rng(1), []
    for k, mean in enumerate((4.0, 1.0, 1.0)):
        tar, non = rng.normal(mean, np.sqrt(2 * mean), 100), rng.normal(-mean, np.sqrt(2 * mean), 100)
        units = 1000 * k + np.arange(200)
        found.append(evaluate(tar, non, tar_units=units[:100], non_units=units[100:], name=f"c{k}"))
    rows, _ = differences_between(found, 0.95)
    holm = {(row.first, row.second): row.holm for row in rows if row.metric == "cllr"}
    assert max(holm["c0", "c1"], holm["c0", "c2"], holm["c0", None]) < 1e-3
    assert holm["c1", "c2"] > 0.05
