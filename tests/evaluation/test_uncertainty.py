"""Intervals of evaluations: which metrics have one, what it contains, and limits by definition."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban import InputError
from deciban.evaluation import TwoClassMetrics, evaluate
from support.limits import mover, wilson
from support.speakers import one_sided

METRICS = TwoClassMetrics(
    [0.01, (0.3, 1, 2)], posteriors_at=[0.2], at_thresholds={"agreed": 0.3}, eer_conventions=True, fmr_at=[0.1]
)


def test_one_unit_has_no_intervals():
    found = evaluate([1.0, 2.0], [0.0, 1.5], tar_units=[1, 1], non_units=[1, 1])
    assert found.uncertainty is None
    with pytest.raises(InputError, match="units"):
        found.interval("eer")


def test_all_trials_of_a_class_may_be_of_one_unit():
    non = np.linspace(-3, 1.5, 8)
    found = evaluate([1.0, 2.0, -1.0], non, operating_points=[0.5], tar_units=[9, 9, 9], non_units=range(8))
    known = found.uncertainty
    assert known.estimates.keys() <= {("p_fa", 0), *(("misleading_non", k) for k in range(9))}
    assert known.too_few == {"targets": 1.0}
    assert known.notes[0] == (
        "The targets come from 1 effective unit (at least 5 are needed): no confidence intervals for metrics that "
        "depend on targets."
    )
    rate = np.mean(non >= 0)
    interval = found.interval(("p_fa", 0))
    assert (interval.low, interval.high) == pytest.approx(wilson(rate, 7, 8))
    with pytest.raises(InputError, match="no interval for 'eer'"):
        found.interval("eer")


@pytest.mark.parametrize(("n_units", "sizes"), [(4, (4, 4)), (8, (8, 1)), (8, (1, 8))])
def test_fewer_than_five_effective_units_of_a_class_give_no_interval_and_a_note(n_units, sizes):
    """Eight units of which one has nearly all trials amount to little more than one."""
    rng = np.random.default_rng(1)
    units = [
        np.arange(80) % n_units if size == n_units else np.where(np.arange(80) < 73, 0, np.arange(80) % n_units)
        for size in sizes
    ]
    found = evaluate(rng.normal(1, 1, 80), rng.normal(-1, 1, 80), tar_units=units[0], non_units=units[1])
    known = found.uncertainty
    few = [name for name, size in zip(("targets", "non-targets"), sizes, strict=True) if size < 5]
    assert list(known.too_few) == few
    assert sum(": no confidence intervals for metrics that depend on " in note for note in known.notes) == len(few)
    enough = {name for name, size in zip(("p_miss", "p_fa"), sizes, strict=True) if size >= 5}
    assert {metric[0] for metric in known.estimates if metric[0] in ("p_miss", "p_fa")} == enough
    assert not {"eer", "cllr", "auc", ("act_dcf", 0), ("min_dcf", 0)} & known.estimates.keys()


def test_metrics_that_no_unit_moves_have_no_interval():
    """All scores alike: all ranks are chance, and no unit changes that."""
    units = {"tar_units": range(12), "non_units": range(12)}
    found = evaluate(np.zeros(12), np.zeros(12), operating_points=[0.5], **units).uncertainty
    assert not {"cllr", "min_cllr", "auc", "calibration_loss"} & found.estimates.keys()
    assert all(one.interval().low < one.interval().high for one in found.estimates.values())


@given(st.integers(0, 10_000), st.floats(0.0, 4.0), st.sampled_from([5, 9, 30]), st.booleans())
def test_an_interval_contains_its_metric_and_stays_within_its_range(seed, shift, n_units, is_corrected):
    trials = one_sided(n_units, seed, most=2)
    found = evaluate(
        trials.tar + shift, trials.non, operating_points=METRICS, optimism=is_corrected, **trials.arguments
    )
    for metric, known in found.uncertainty.estimates.items():
        for level in (0.5, 0.95):
            interval = found.interval(metric, level=level)
            assert interval.low <= interval.estimate <= interval.high, metric
            assert known.limits[0] <= interval.low <= interval.high <= known.limits[1], metric
            assert interval.corrected is None or interval.low <= interval.corrected <= interval.high, metric


def test_of_many_errors_limits_are_those_of_the_normal_distribution():
    """With many independent trials Wilson limits and their sums are estimates plus and minus standard errors."""
    rng, n = np.random.default_rng(3), 5000
    tar, non = rng.normal(1, 1.2, n), rng.normal(-1, 1.2, n)
    found = evaluate(
        tar, non, operating_points=[0.5, 0.2], tar_units=range(n), non_units=range(n, 2 * n), optimism=False
    )
    p_miss, p_fa = np.mean(tar < 0), np.mean(non >= 0)
    error = math.sqrt((p_miss * (1 - p_miss) + p_fa * (1 - p_fa)) / n)
    for metric, expected in ((("p_miss", 0), math.sqrt(p_miss * (1 - p_miss) / n)), (("act_dcf", 0), error)):
        interval = found.interval(metric)
        assert interval.estimate - interval.low == pytest.approx(1.96 * expected, rel=0.04)
        assert interval.high - interval.estimate == pytest.approx(1.96 * expected, rel=0.04)
    for metric in ("eer", ("min_dcf", 1), ("act_dcf", 1), "prbep", "mean_act_dcf"):
        interval = found.interval(metric)
        assert interval.high - interval.low == pytest.approx(2 * 1.96 * interval.standard_error, rel=0.05), metric


@pytest.mark.parametrize("level", [0.9, 0.95])
def test_without_errors_rates_have_wilson_limits_of_as_many_trials_as_units(level):
    scores, units = np.arange(3.0, 83.0), np.arange(80) % 40
    found = evaluate(scores, -scores, operating_points=[0.5, 0.01], tar_units=units, non_units=units, level=level)
    high = wilson(0.0, 40, 40, level)[1]
    for metric in (("p_miss", 0), ("p_fa", 0), ("misleading_tar", 0), ("misleading_non", 0)):
        interval = found.interval(metric)
        assert (interval.low, interval.high, interval.method) == (0.0, pytest.approx(high), "Wilson limits by unit")
    parts = [(1.0, 0.0, (0.0, high))] * 2
    assert found.interval(("act_dcf", 0)).high == pytest.approx(mover(parts)[1])
    assert found.interval("auc").low == pytest.approx(1 - (1 - (1 - level) ** (1 / 40)))
    assert found.interval("min_cllr").method == "rule of three"
    assert found.interval(("min_dcf", 1)).high == 1.0  # 99 times what is not known
    with pytest.raises(InputError, match="no interval for 'cllr'"):  # nothing shows how costly an error would be
        found.interval("cllr")
    assert any("perfectly separated" in note for note in found.uncertainty.remarks)


@pytest.mark.parametrize(("prior", "shift"), [(0.01, 5.0), (0.5, 2.0), (0.99, 6.5)])
def test_an_error_rate_of_0_beside_another_one_is_not_taken_for_sure(prior, shift):
    """Distances of both rates from their limits add in squares, as weighted."""
    n = 60
    tar, non = np.tile([-3.0, *[1.0] * 9], 12) + shift, np.full(n, -4.0) + shift  # one target in ten is far too low
    tar, non = (-non, -tar) if prior == 0.99 else (tar, non)
    units = [np.random.default_rng(k).permutation(len(one)) % n for k, one in enumerate((tar, non))]
    found = evaluate(tar, non, operating_points=[prior, 0.5], tar_units=units[0], non_units=units[1], optimism=False)
    point, (unseen, seen) = found.operating_points[0], ("p_miss", "p_fa") if prior == 0.99 else ("p_fa", "p_miss")
    assert getattr(point, unseen) == 0.0
    assert 0.0 < getattr(point, seen) < 1.0
    rate, heavy, known = getattr(point, seen), max(prior, 1 - prior) / min(prior, 1 - prior), found.interval("act_dcf")
    wrong, own = (non >= point.threshold, units[1]) if prior == 0.99 else (tar < point.threshold, units[0])
    by_unit = np.bincount(own, wrong - wrong.mean()) / len(wrong)
    variance = by_unit @ by_unit * n / (n - 1)
    assert known.standard_error == pytest.approx(math.sqrt(variance))
    n_effective = min(rate * (1 - rate) / variance, len(wrong))
    parts = [(1.0, rate, wilson(rate, n_effective, n)), (heavy, 0.0, wilson(0.0, n, n))]
    assert (known.low, known.high) == pytest.approx(mover(parts))
    assert found.interval("mean_act_dcf").high > found.mean_act_dcf + heavy * parts[1][2][1] / 2


def test_scores_that_are_all_equal_have_no_interval_of_a_minimum():
    """No threshold is better than rejecting all, and other trials with the same score cannot change that."""
    units = {"tar_units": np.arange(30), "non_units": 100 + np.arange(270)}
    found = evaluate(np.full(30, 0.5), np.full(270, 0.5), **units)
    assert found.min_dcf == 1.0
    assert not {"eer", "auc", "min_cllr", ("min_dcf", 0), "mean_min_dcf"} & {*found.uncertainty.estimates}


@pytest.mark.parametrize("seed", range(4))
def test_minima_and_losses_of_cllr_have_no_bound_above_that_of_cllr(seed):
    """By definition they are parts of it, in the population as in the sample."""
    rng = np.random.default_rng(seed)
    tar, non = rng.normal(5.0, 10**0.5, 150), rng.normal(-5.0, 10**0.5, 5000)
    found = evaluate(tar, non, tar_units=np.arange(150), non_units=1000 + np.arange(5000))
    for level in (0.5, 0.95, 0.99):
        most = found.interval("cllr", level=level).high
        for name in ("min_cllr", "calibration_loss"):
            one = found.interval(name, level=level)
            assert one.high <= max(most, one.estimate, one.corrected)


def test_a_cllr_that_rests_on_few_errors_bounds_nothing():
    """Its own interval may be too narrow: of 200 draws, it held the value of the population in 76 %."""
    rng = np.random.default_rng(1)
    tar, non = rng.normal(9.0, 18**0.5, 200), rng.normal(-9.0, 18**0.5, 5000)
    found = evaluate(tar, non, tar_units=np.arange(200), non_units=1000 + np.arange(5000))
    assert any(note.startswith("Only ") for note in found.uncertainty.notes)
    assert found.interval("min_cllr").high > found.interval("cllr").high
