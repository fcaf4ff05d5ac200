"""Paired differences by units against closed forms, enumeration and brute force."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from deciban.analysis.compared import PairedUnits, SignFlips, holm
from deciban.core.resampling.units import keys_of
from deciban.errors import InputError
from deciban.evaluation import evaluate
from deciban.evaluation.two_class.evaluate import evaluation_of
from deciban.evaluation.two_class.summary import summarize
from deciban.evaluation.uncertainty import Resampling


def pair(first, second):
    return PairedUnits.of(first.uncertainty, second.uncertainty)


def wilson(p, n, t):
    """Wilson limits, as roots of ``(p - x)^2 = t^2 x (1 - x) / n``."""
    return sorted(np.roots([1.0 + t**2 / n, -2.0 * p - t**2 / n, p**2]).tolist())


def two_systems(seed, n_units=40, n_each=3, shift=0.5, **options):
    """Trials of one unit each; scores of both systems share a part of the unit and of the trial."""
    rng = np.random.default_rng(seed)
    unit = np.repeat(np.arange(n_units), n_each)
    found = []
    common = [rng.normal(size=n_units)[unit] + rng.normal(size=len(unit)) for _ in "tn"]
    for more in (0.0, shift):
        noise = [rng.normal(size=len(unit)) for _ in "tn"]
        scores = (common[0] + noise[0] + 2.0 + more, common[1] + noise[1] - 2.0 - more)
        found.append(evaluate(*scores, tar_units=unit, non_units=unit, optimism=False, **options))
    return found


@pytest.mark.parametrize("metric", ["eer", "cllr", "min_cllr", ("min_dcf", 0), ("act_dcf", 0), "auc", "prbep"])
def test_a_system_and_itself_do_not_differ(metric):
    one, _ = two_systems(0)
    found = pair(one, one).difference(metric, 0.95)
    assert (found.estimate, found.low, found.high, found.standard_error, found.p_value) == (0, 0, 0, 0, 1)


def test_the_difference_of_two_rates_is_that_of_discordant_trials():
    """As in McNemar's test: only trials count that one system decides right and the other wrong."""
    rng = np.random.default_rng(3)
    tar, n_non = np.full(50, 9.0), 400
    first, second = (np.where(rng.random(n_non) < rate, 5.0, -5.0) for rate in (0.2, 0.3))
    number = np.arange(50 + n_non)
    units = {"tar_units": number[:50], "non_units": number[50:], "operating_points": [0.5]}
    found = pair(evaluate(tar, first, **units), evaluate(tar, second, **units)).difference(("p_fa", 0), 0.9)
    only_first, only_second = np.sum((first > 0) & (second < 0)), np.sum((first < 0) & (second > 0))
    variance = (only_first + only_second - (only_first - only_second) ** 2 / n_non) / (n_non * (n_non - 1))
    assert found.estimate == pytest.approx((only_first - only_second) / n_non)
    assert found.standard_error == pytest.approx(math.sqrt(variance), rel=1e-12)
    reach = stats.t(n_non - 1).ppf(0.95) * math.sqrt(variance)
    assert (found.low, found.high) == pytest.approx((found.estimate - reach, found.estimate + reach))
    assert found.p_value == pytest.approx(
        2 * stats.t(n_non - 1).sf(abs(found.estimate) / math.sqrt(variance)), rel=1e-9
    )


def test_variances_of_systems_without_common_units_add():
    one, other = two_systems(1)[0], None
    rng = np.random.default_rng(5)
    unit = 1000 + np.repeat(np.arange(40), 3)
    other = evaluate(rng.normal(2, 2, 120), rng.normal(-2, 2, 120), tar_units=unit, non_units=unit)
    paired = pair(one, other)
    assert (paired.n_shared, paired.n_units) == (0, 40)
    for metric in ("eer", "cllr"):
        parts = [one.uncertainty.estimates[metric].standard_error, other.uncertainty.estimates[metric].standard_error]
        assert paired.difference(metric, 0.95).standard_error == pytest.approx(math.hypot(*parts), rel=1e-12)


def test_units_are_found_by_name_whatever_their_order():
    rng = np.random.default_rng(8)
    tar, non = rng.normal(1.0, 1.0, (2, 2, 60))
    names = np.array([f"s{k % 12}" for k in range(60)])
    order = rng.permutation(60)
    plain = [evaluate(t, n - 2, tar_units=names, non_units=names) for t, n in zip(tar, non, strict=True)]
    moved = evaluate(tar[1][order], non[1][order] - 2, tar_units=names[order], non_units=names[order])
    for metric in ("eer", "cllr", "min_cllr"):
        one, other = (pair(plain[0], second).difference(metric, 0.95) for second in (plain[1], moved))
        assert (one.low, one.high, one.p_value) == pytest.approx((other.low, other.high, other.p_value), rel=1e-12)


def test_the_test_has_its_size_and_intervals_their_coverage():
    how = {"n_units": 60, "shift": 0.0, "operating_points": [0.5]}  # where errors of both kinds are seen
    pairs = [pair(*two_systems(seed, **how)) for seed in range(80)]
    for metric in ("cllr", ("act_dcf", 0)):
        p_values = [one.difference(metric, 0.9).p_value for one in pairs]
        rejected = np.sum(np.array(p_values) < 0.1)
        assert 1 <= rejected <= 18  # 8 expected; beyond with probability 0.002
        assert stats.kstest(p_values, "uniform").pvalue > 0.001


def test_a_real_difference_is_seen():
    p_values = [pair(*two_systems(seed, shift=0.7)).difference("cllr", 0.95).p_value for seed in range(10)]
    assert np.median(p_values) < 0.01


def test_where_no_error_was_seen_wilson_limits_take_part():
    units = np.arange(40)
    perfect = evaluate(np.full(40, 9.0), np.full(40, -9.0), tar_units=units, non_units=units)
    other = evaluate(np.full(40, 4.0), np.full(40, -8.0), tar_units=units, non_units=units)
    found = pair(perfect, other).difference("eer", 0.95)
    t = stats.t(39).ppf(0.975)
    most = t**2 / (40 + t**2)  # of a rate of which no error was seen
    assert (found.estimate, found.p_value) == (0.0, 1.0)
    # Each EER is half of both rates, neither of which was seen: squares add over rates, then over systems.
    assert (found.low, found.high) == pytest.approx((-most / math.sqrt(2), most / math.sqrt(2)))
    wrong = evaluate(np.full(40, -9.0), np.full(40, -9.5), tar_units=units, non_units=units, operating_points=[0.5])
    right = evaluate(np.full(40, 9.0), np.full(40, -9.5), tar_units=units, non_units=units, operating_points=[0.5])
    found = pair(wrong, right).difference(("p_miss", 0), 0.95)
    assert (found.estimate, found.high) == (1.0, 1.0)
    assert found.low == pytest.approx(1.0 - math.sqrt(2) * most)
    assert found.p_value == pytest.approx(2 * stats.t(39).sf(t / (math.sqrt(2) * most)))


def test_systems_with_the_same_decisions_do_not_differ():
    """An increasing map leaves all errors where they are."""
    units = np.arange(40)
    scores = np.where(units < 4, -1.0, 1.0)
    one, other = (
        evaluate(factor * scores, -9.0 - units, tar_units=units, non_units=units, operating_points=[0.5])
        for factor in (1.0, 2.0)
    )
    found = pair(one, other).difference(("p_miss", 0), 0.95)
    assert (found.estimate, found.low, found.high, found.p_value) == (0.0, 0.0, 0.0, 1.0)


def test_metrics_of_other_trials_have_the_limits_of_both():
    units = np.arange(40)
    tar, non = np.where(units < 4, -1.0, 1.0), -9.0 - units
    one, other = (
        evaluate(factor * tar, non, tar_units=first + units, non_units=first + units, operating_points=[0.5])
        for first, factor in ((0, 1.0), (100, -1.0))
    )
    found, t = pair(one, other).difference(("p_miss", 0), 0.95), stats.t(39).ppf(0.975)
    (low, high), (least, most) = wilson(0.1, 40, t), wilson(0.9, 40, t)
    assert found.low == pytest.approx(-0.8 - math.hypot(0.1 - low, most - 0.9), rel=0.02)
    assert found.high == pytest.approx(-0.8 + math.hypot(high - 0.1, 0.9 - least), rel=0.02)


def test_systems_are_the_same_though_some_metric_has_no_interval():
    units = np.arange(40)
    scores = np.append(np.full(39, 9.0), -np.inf), np.full(40, -9.0)  # Cllr is infinite
    one, other = (evaluate(*scores, tar_units=units, non_units=units) for _ in "ab")
    assert "cllr" not in one.uncertainty.estimates
    assert pair(one, other).are_same
    assert not pair(one, evaluate(np.minimum(9.0 - units, 5.0), scores[1], tar_units=units, non_units=units)).are_same


def test_influences_that_were_not_kept_are_asked_for():
    units = np.arange(6)
    summary = summarize([2, 1, 3, 0.5, 1, 2], [0, -1, 1, -2, 0, 1], tar_units=units, non_units=units)
    found = evaluation_of(summary, resampling=Resampling(keep=False))
    with pytest.raises(InputError, match="influences of 6 units on 'cllr' were not kept"):
        pair(found, found).difference("cllr", 0.95)


def test_sign_flips_are_those_of_all_subsets():
    rng = np.random.default_rng(0)
    adds = rng.normal(0.4, 1.0, 9)
    value = float(adds.sum())
    influences = adds - value / len(adds)
    statistics = [
        abs(stats.ttest_1samp(adds * signs, 0.0).statistic) for signs in itertools.product([1, -1], repeat=len(adds))
    ]
    observed = abs(stats.ttest_1samp(adds, 0.0).statistic)
    exact = np.mean(np.array(statistics) >= observed - 1e-12)
    n = 20_000
    found = SignFlips(n, seed=4).p_value(value, influences, keys_of(np.arange(9)))
    assert found == pytest.approx(exact, abs=4 * math.sqrt(exact * (1 - exact) / n) + 1 / n)


def test_sign_flips_depend_on_units_and_seed_alone(monkeypatch):
    rng = np.random.default_rng(1)
    influences, keys, order = rng.normal(size=25), keys_of(np.arange(25)), rng.permutation(25)
    value = 2.0
    found = SignFlips(999, 7).p_value(value, influences, keys)
    assert SignFlips(999, 7).p_value(value, influences[order], keys[order]) == found
    assert SignFlips(999, 8).p_value(value, influences, keys) != found
    monkeypatch.setattr("deciban.analysis.compared._CELLS", 100)
    assert SignFlips(999, 7).p_value(value, influences, keys) == found


def test_sign_flips_have_their_size():
    """Of normal influences, which is when the t test is exact."""
    rng = np.random.default_rng(2)
    keys, n = keys_of(np.arange(12)), 200
    draws = rng.normal(size=(n, 12))
    p_values = [SignFlips(199, k).p_value(x.sum(), x - x.mean(), keys) for k, x in enumerate(draws)]
    assert np.mean(np.array(p_values) <= 0.1) == pytest.approx(0.1, abs=0.065)
    exact = [stats.ttest_1samp(x, 0.0).pvalue for x in draws]
    assert np.max(np.abs(np.array(p_values) - exact)) < 0.15
    assert np.mean(np.abs(np.array(p_values) - exact)) < 0.04


def test_nothing_to_exchange_is_no_difference():
    assert SignFlips(99).p_value(0.0, np.zeros(5), keys_of(np.arange(5))) == 1.0


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=6))
def test_holm_is_the_closure_of_bonferroni(p_values):
    """A hypothesis falls if Bonferroni refuses every set of hypotheses that it is in."""
    found = holm(np.array(p_values))
    sets = [s for n in range(1, len(p_values) + 1) for s in itertools.combinations(range(len(p_values)), n)]
    for k, adjusted in enumerate(found):
        brute = max(min(1.0, len(s) * min(p_values[j] for j in s)) for s in sets if k in s)
        assert adjusted == pytest.approx(brute, rel=1e-12)


def test_bootstrap_of_both_by_the_same_draws_agrees_with_influences():
    rng = np.random.default_rng(6)
    unit = np.repeat(np.arange(60), 3)
    common = rng.normal(size=(2, 180))
    how = {"tar_units": unit, "non_units": unit, "bootstrap": 400, "operating_points": [0.5]}
    scores = [common + 0.5 * rng.normal(size=(2, 180)) + np.array([[gap], [-gap]]) for gap in (1.0, 1.2)]
    drawn = [evaluate(*one, **how, seed=3) for one in scores]
    plain = [evaluate(*one, **{**how, "bootstrap": 0}) for one in scores]
    for metric in ("cllr", ("act_dcf", 0), "auc"):
        one, other = pair(*drawn).difference(metric, 0.95), pair(*plain).difference(metric, 0.95)
        assert one.method.startswith("bootstrap")
        assert one.estimate == other.estimate
        assert one.standard_error == pytest.approx(other.standard_error, rel=0.2)
        first, second = (x.uncertainty.bootstrap.values[metric] for x in drawn)
        assert (one.low, one.high) == pytest.approx(tuple(np.quantile(first - second, [0.025, 0.975])))
    itself = pair(drawn[0], drawn[0]).difference("cllr", 0.95)
    assert (itself.low, itself.high, itself.p_value) == (0.0, 0.0, 1.0)
    apart = pair(drawn[0], evaluate(*scores[1], **how, seed=4)).difference("cllr", 0.95)
    assert apart.method == "linearised by unit"


def test_replicates_without_an_error_do_not_make_sure_that_there_is_none():
    units = np.repeat(np.arange(40), 10)
    tar = np.linspace(1.0, 3.0, 400)
    missed = np.where(np.arange(400) % 80, tar, -2.0)
    how = {"tar_units": units, "non_units": units}
    pairs = [[evaluate(one, -tar, bootstrap=n, **how) for one in (tar, missed, tar + 0.1)] for n in (0, 400)]
    for metric in ("eer", "min_cllr", ("min_dcf", 0)):
        for other in (1, 2):
            plain, drawn = (pair(found[0], found[other]).difference(metric, 0.95) for found in pairs)
            assert drawn == plain
            assert drawn.method == "linearised by unit"
            assert drawn.low < 0.0 < drawn.high
    worse = evaluate(missed - 0.5, -tar, bootstrap=400, **how)
    assert pair(pairs[1][1], worse).difference("cllr", 0.95).method.startswith("bootstrap")


def test_replicates_are_paired_by_their_numbers():
    """Of the same units, but each system lacks targets, and so metrics, in replicates of its own."""
    rng = np.random.default_rng(8)
    units = np.repeat(np.arange(20), 4)
    scores, found = rng.normal(size=(2, 80)), []
    for of_targets in (slice(0, 20), slice(20, 40)):  # five units each
        tar, non = scores[0, of_targets] + 1.0, scores[1] - 1.0
        found.append(evaluate(tar, non, tar_units=units[of_targets], non_units=units, bootstrap=1000, seed=2))
    drawn = [one.uncertainty.bootstrap for one in found]
    assert drawn[0].left_out
    assert not np.array_equal(drawn[0].numbers, drawn[1].numbers)
    both = set(drawn[0].numbers.tolist()) & set(drawn[1].numbers.tolist())
    by_number = [dict(zip(x.numbers.tolist(), x.values["cllr"].tolist(), strict=True)) for x in drawn]
    expected = np.quantile([by_number[0][k] - by_number[1][k] for k in sorted(both)], [0.025, 0.975])
    one = pair(*found).difference("cllr", 0.95)
    assert one.method.startswith("bootstrap")
    assert (one.low, one.high) == pytest.approx(tuple(expected))


def test_what_rounding_leaves_of_a_standard_error_makes_nobody_sure():
    """Fractional weights: all trials are rejected, and no unit moves that by more than an ulp."""
    rng = np.random.default_rng(0)
    unit, weight = np.arange(120) % 20, rng.random(120)
    how = {"tar_units": unit, "non_units": unit, "tar_weights": weight, "operating_points": [0.5]}
    wrong = evaluate(np.full(120, -1.0) - rng.random(120), np.full(120, -1.0), **how)
    right = evaluate(np.full(120, 1.0), np.full(120, -1.0), **how)
    found = pair(wrong, right).difference(("act_dcf", 0), 0.95)
    assert found.estimate == 1.0
    assert found.standard_error == 0.0
    # Three rates may be less extreme than was seen: the misses of both, and the false alarms of the right one.
    of_unit, reach = np.bincount(unit, weight), []
    for n in (of_unit.sum() ** 2 / (of_unit @ of_unit), 20):
        t = stats.t(n - 1).ppf(0.975)
        reach.append(t**2 / (n + t**2))
    assert found.low == pytest.approx(1.0 - math.hypot(reach[0], reach[0], reach[1]), rel=1e-9)


def test_false_alarms_that_neither_system_shows_count_in_a_difference_of_costs():
    """At prior 0.01 a false alarm costs 99 times what a miss does, and none of n may be a rate of t^2 / (n + t^2)."""
    rng = np.random.default_rng(11)
    tar, non = rng.normal(8.0, 4.0, 100), np.minimum(rng.normal(-8.0, 4.0, 1000), 4.0)
    tar[:3] = 0.0
    worse = tar - np.where(np.arange(100) < 6, 9.0, 0.0)
    units = {"tar_units": np.arange(100), "non_units": np.arange(100, 1100), "optimism": False}
    one, other = (evaluate(x, non, operating_points=[0.01], **units) for x in (tar, worse))
    assert one.operating_points[0].p_fa == other.operating_points[0].p_fa == 0.0
    found = pair(one, other).difference(("act_dcf", 0), 0.95)
    square = stats.t(999).ppf(0.975) ** 2
    unseen = 99 * square / (1000 + square)
    assert found.low < found.estimate - unseen
    assert found.high > found.estimate + unseen
    assert found.p_value > 0.05
    misses = pair(one, other).difference(("p_miss", 0), 0.95)
    seen = found.high - found.estimate
    assert seen == pytest.approx(math.hypot(misses.high - misses.estimate, unseen), rel=0.02)


@pytest.mark.parametrize("metric", ["auc", "cllr"])
def test_limits_of_differences_of_skewed_metrics_are_those_of_both(metric):
    """The limit toward more errors is farther: of the worse system, it is the larger part."""
    one, other = two_systems(1)
    first, second = (x.uncertainty.estimates[metric] for x in (one, other))
    found = pair(one, other).difference(metric, 0.95)
    spread = math.hypot(first.standard_error, second.standard_error)
    (fall, rise), (other_fall, other_rise) = first.distances(0.95), second.distances(0.95)
    factor = found.standard_error / spread
    assert found.estimate - found.low == pytest.approx(factor * math.hypot(fall, other_rise))
    assert found.high - found.estimate == pytest.approx(factor * math.hypot(rise, other_fall))
    assert (found.p_value < 0.05) == (found.low > 0.0 or found.high < 0.0)
