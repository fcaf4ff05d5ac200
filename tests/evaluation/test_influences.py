"""Influences and standard errors of all metrics: against central differences, closed forms and other programs."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from deciban import InputError, metrics
from deciban.evaluation import TwoClassMetrics, evaluate, evaluation_of, summarize
from deciban.evaluation.uncertainty import Resampling
from support.limits import wilson
from support.speakers import crossed, one_sided

METRICS = TwoClassMetrics(
    [0.01, (0.3, 1, 2)], posteriors_at=[0.2], at_thresholds={"agreed": 0.3}, eer_conventions=True, fmr_at=[0.1]
)
STEPS = ("eer", "prbep", "eer_conventions", "rates_at")
"""They move along a chord of the hull, or jump where a trial crosses: influences are no derivatives of the numbers."""

MEANS = ("p_", "min_p", "eer_p", "act", "cllr", "information", "misleading", "at_thresholds", "mean_act")
"""Means of costs at thresholds that a unit does not move."""


def value(found, metric):
    """A metric by its name, read from where results show it."""
    if isinstance(metric, str):
        return getattr(found, metric)
    name, at = metric
    if name in ("information", "available"):
        return getattr(found.information_at[at], name.replace("information", "delivered"))
    if name.startswith("misleading"):
        return getattr(found.misleading[at], name.replace("misleading", "p"))
    if name.startswith("at_thresholds"):
        return getattr(found.requested.at_thresholds[at].errors, name.removeprefix("at_thresholds_"))
    for rule in ("log_loss", "brier"):
        if name.startswith(rule):
            parts = getattr(found.requested.posterior_scores[at], rule)
            return getattr(parts, name.removeprefix(rule).removeprefix("_") or "total")
    return getattr(found.operating_points[at], name)


def weighted(trials, by_unit, base=(1.0, 1.0)):
    tar, non = (own * one for own, one in zip(trials.weights(by_unit), base, strict=True))
    return evaluate(trials.tar, trials.non, operating_points=METRICS, tar_weights=tar, non_weights=non)


def factors(trials, n_units):
    """What makes squares of influences those of a jackknife: (1 - 1/n) / (1 - share of the trials), for each class."""
    found = []
    for units in (trials.tar_units, trials.non_units):
        touched = np.array([(units.reshape(len(units), -1) == unit).any(axis=1).mean() for unit in range(n_units)])
        found.append((1 - 1 / np.count_nonzero(touched)) / (1 - touched))
    return found


@pytest.mark.parametrize("trials", [crossed(12), crossed(10, digits=0), one_sided(15)], ids=["crossed", "ties", "one"])
def test_influences_are_derivatives_through_each_class_times_a_factor(trials):
    found = evaluate(trials.tar, trials.non, operating_points=METRICS, optimism=False, **trials.arguments).uncertainty
    step, of_class = 1e-5, factors(trials, found.n_units)
    for unit in (0, 4, 9):
        expected = dict.fromkeys(found.influences, 0.0)
        for kind in (0, 1):
            sides = []
            for weight in (1 + step, 1 - step):
                by_unit = np.ones(found.n_units)
                by_unit[unit] = weight
                tar, non = trials.weights(by_unit)
                own = (tar, np.ones_like(non)) if kind == 0 else (np.ones_like(tar), non)
                sides.append(
                    evaluate(trials.tar, trials.non, operating_points=METRICS, tar_weights=own[0], non_weights=own[1])
                )
            for metric in expected:
                if metric not in STEPS and metric[0] not in STEPS:
                    rise = value(sides[0], metric) - value(sides[1], metric)
                    expected[metric] += of_class[kind][unit] * rise / 2 / step
        for metric, influences in found.influences.items():
            if metric not in STEPS and metric[0] not in STEPS:
                assert influences[unit] == pytest.approx(expected[metric], abs=2e-6), metric


@pytest.mark.parametrize("trials", [crossed(9, 2), one_sided(15)], ids=["crossed", "one"])
def test_squared_influences_on_means_are_the_jackknife_variance(trials):
    """Every unit is really deleted: ``(n - 1)/n`` times the squares of what that changes."""
    metrics = TwoClassMetrics([0.01, (0.3, 1, 2)], at_thresholds={"agreed": 0.3}, posteriors_at=[0.2])
    found = evaluate(trials.tar, trials.non, operating_points=metrics, optimism=False, **trials.arguments)
    known, changes = found.uncertainty, {}
    for unit in range(known.n_units):
        keep = [~(one.reshape(len(one), -1) == unit).any(axis=1) for one in (trials.tar_units, trials.non_units)]
        less = evaluate(trials.tar[keep[0]], trials.non[keep[1]], operating_points=metrics)
        for metric in known.estimates:
            name = metric if isinstance(metric, str) else metric[0]
            if name in ("log_loss", "brier") or (name.startswith(MEANS) and "min" not in name and "eer" not in name):
                changes.setdefault(metric, []).append(value(less, metric) - value(found, metric))
    assert len(changes) >= 14
    n = known.n_units
    for metric, change in changes.items():
        expected = math.sqrt((n - 1) / n * np.sum(np.square(change)))
        assert known.estimates[metric].standard_error == pytest.approx(expected, rel=1e-9), metric


def test_the_equal_error_rate_moves_with_both_rates_at_its_edge():
    """The chord that gives the slopes lies on the edge."""
    rng = np.random.default_rng(4)
    units = np.arange(600) % 60
    tar, non = (rng.random(600) < 0.95) * 1.0, (rng.random(600) < 0.4) * 1.0
    found = evaluate(tar, non, tar_units=units, non_units=units, optimism=False)
    p_miss, p_fa = np.mean(tar == 0), np.mean(non == 1)
    assert p_fa - p_miss > 0.2  # the hull meets the diagonal well inside its edge to a miss rate of 1
    up, down = 1 - p_miss, p_fa
    share = (p_fa - p_miss) / (up + down)
    scale = (1 - share) / (down + up)
    expected = sum(
        weight * np.bincount(units, wrong - wrong.mean()) / 600
        for weight, wrong in ((scale * down, tar == 0), (scale * up, non == 1))
    )
    np.testing.assert_allclose(found.uncertainty.influences["eer"], expected, rtol=1e-9)


def test_a_number_of_errors_is_a_rate_among_as_many_trials():
    trials = one_sided(40)
    known = evaluate(trials.tar, trials.non, optimism=False, **trials.arguments)
    ratio = len(trials.tar) / len(trials.non)
    rate = metrics.interval("uer", trials.tar, trials.non, ratio=ratio, **trials.arguments)
    found = known.interval("prbep")
    wanted = [len(trials.non) * one for one in (rate.estimate, rate.low, rate.high, rate.standard_error)]
    assert (found.estimate, found.low, found.high, found.standard_error) == pytest.approx(wanted)


def test_every_figure_that_results_show_has_an_interval():
    trials = crossed()
    found = evaluate(trials.tar, trials.non, operating_points=METRICS, **trials.arguments)
    for metric in found.uncertainty.estimates:
        interval = found.interval(metric)
        shown = value(found, metric) if metric[0] not in STEPS else interval.estimate
        assert interval.estimate == shown
        assert interval.low <= interval.high
        assert interval.n_units == 20
    assert len(found.uncertainty.estimates) > 40


@given(st.integers(0, 1000))
def test_a_rate_of_independent_trials_has_the_binomial_error(seed):
    rng = np.random.default_rng(seed)
    tar, non = rng.normal(1, 1, 200), rng.normal(-1, 1, 400)
    found = evaluate(
        tar, non, operating_points=[0.5], tar_units=np.arange(200), non_units=200 + np.arange(400), optimism=False
    )
    p_miss = np.mean(tar < 0)
    expected = math.sqrt(p_miss * (1 - p_miss) / 199)
    assert found.interval(("p_miss", 0)).standard_error == pytest.approx(expected, rel=1e-9)
    p_fa = np.mean(non >= 0)
    both = math.sqrt(p_miss * (1 - p_miss) / 199 + p_fa * (1 - p_fa) / 399)
    assert found.interval("act_dcf").standard_error == pytest.approx(both, rel=1e-9)


def test_a_rate_in_a_crossed_design_has_the_two_way_error():
    """Rows and columns of other units: each has its sum of squares (Owen 2007, Annals of Applied Statistics 1)."""
    rng = np.random.default_rng(4)
    row, column = np.divmod(np.arange(30 * 20), 20)
    non = rng.normal(-1, 1, 600) + rng.normal(0, 1, 30)[row] + rng.normal(0, 1, 20)[column]
    units = np.stack((row, 100 + column), axis=1)
    tar_units = np.stack((np.arange(30), 100 + np.arange(30) % 20), axis=1)
    found = evaluate(rng.normal(2, 1, 30), non, operating_points=[0.5], tar_units=tar_units, non_units=units)
    wrong = (non >= 0).reshape(30, 20) - np.mean(non >= 0)
    rows, columns = (np.sum(wrong.sum(axis=axis) ** 2) / 600**2 for axis in (1, 0))
    # Without a row 29/30 of the trials are left, without a column 19/20.
    expected = math.sqrt((rows * (30 / 29) ** 2 + columns * (20 / 19) ** 2) * 49 / 50)
    assert found.interval(("p_fa", 0)).standard_error == pytest.approx(expected, rel=1e-9)


def test_the_area_has_the_error_of_delong():
    rng = np.random.default_rng(5)
    tar, non = np.round(rng.normal(1, 1, 80), 1), np.round(rng.normal(0, 1, 120), 1)
    found = evaluate(tar, non, tar_units=np.arange(80), non_units=1000 + np.arange(120)).interval("auc")
    wins = (tar[:, None] > non).astype(float) + 0.5 * (tar[:, None] == non)
    of_tar, of_non = wins.mean(axis=1), wins.mean(axis=0)
    # DeLong and others 1988: S_10 / m + S_01 / n, with divisors m - 1 and n - 1.
    delong = np.var(of_tar, ddof=1) / 80 + np.var(of_non, ddof=1) / 120
    assert found.standard_error**2 == pytest.approx(delong, rel=1e-9)


def test_one_way_errors_are_those_of_the_bootstrap_of_scipy():
    trials, metrics = one_sided(60, seed=3), ("eer", "cllr", "auc", ("act_dcf", 1))

    def resampled(units):
        times = np.bincount(units.astype(int), minlength=60)
        resampled_trials = weighted(trials, times.astype(float))
        return [value(resampled_trials, metric) for metric in metrics]

    bootstrap = stats.bootstrap((np.arange(60),), resampled, vectorized=False, n_resamples=400, rng=1, method="basic")
    found = evaluate(trials.tar, trials.non, operating_points=METRICS, optimism=False, **trials.arguments)
    for metric, expected in zip(metrics, bootstrap.standard_error, strict=True):
        assert found.interval(metric).standard_error == pytest.approx(expected, rel=0.2)


@pytest.mark.parametrize("copies", [2, 5])
def test_copies_of_every_unit_shrink_variances(copies):
    """Of units of equal size: each of n units of another design has another share of the trials."""
    rng, units = np.random.default_rng(1), np.arange(80) % 20
    level = rng.normal(0, 1, 20)[units]
    tar, non = rng.normal(1.5, 1, 80) + level, rng.normal(-1.5, 1, 80) + level
    once = evaluate(tar, non, operating_points=METRICS, optimism=False, tar_units=units, non_units=units)
    all_units = np.concatenate([1000 * k + units for k in range(copies)])
    many = evaluate(
        np.tile(tar, copies),
        np.tile(non, copies),
        operating_points=METRICS,
        tar_units=all_units,
        non_units=all_units,
        optimism=False,
    )
    for metric, estimate in once.uncertainty.estimates.items():
        if metric in STEPS or metric[0] in STEPS:  # more trials have more errors; a chord is shorter
            continue
        n, n_all = 20, 20 * copies
        expected = estimate.standard_error**2 / copies * (n_all / (n_all - 1)) / (n / (n - 1))
        assert many.uncertainty.estimates[metric].standard_error ** 2 == pytest.approx(expected, rel=1e-9, abs=1e-20)


def test_a_unit_that_does_as_all_do_adds_nothing():
    tar, non = np.array([-1.0, 1.0, 1.0, 1.0] * 6), np.array([1.0, -1.0, -1.0, -1.0] * 6)
    units = np.repeat(np.arange(6), 4)
    found = evaluate(tar, non, operating_points=[0.5], tar_units=units, non_units=units).uncertainty
    for metric, influences in found.influences.items():
        assert influences == pytest.approx(np.zeros(6), abs=1e-12), metric
    # Nothing moves the areas and costs of maps, and no rate varies more than a binomial one does.
    assert not {"cllr", "min_cllr", "auc"} & found.estimates.keys()
    rate = found.interval(("p_miss", 0))
    assert (rate.low, rate.high) == pytest.approx(wilson(0.25, 6, 6))
    right = evaluate([*tar, 1.0], [*non, -1.0], tar_units=[*units, 6], non_units=[*units, 6], operating_points=[0.5])
    mean = 6 / 25
    expected = np.array([1 - 4 * mean] * 6 + [-mean]) / 25 * (6 / 7) / (1 - np.array([4] * 6 + [1]) / 25)
    assert right.uncertainty.influences[("p_miss", 0)] == pytest.approx(expected)


@given(st.integers(0, 10_000), st.booleans())
def test_order_and_parts_change_nothing(seed, two_sided):
    rng = np.random.default_rng(seed)
    trials = crossed(14, 2, seed, digits=1) if two_sided else one_sided(14, seed)
    whole = evaluate(trials.tar, trials.non, operating_points=METRICS, **trials.arguments)
    order = [rng.permutation(len(one)) for one in (trials.tar, trials.non)]
    parts = []
    for k in range(3):
        chosen = [one[k::3] for one in order]
        parts.append(
            summarize(
                trials.tar[chosen[0]],
                trials.non[chosen[1]],
                metrics=METRICS,
                tar_units=trials.tar_units[chosen[0]],
                non_units=trials.non_units[chosen[1]],
            )
        )
    again = evaluation_of(parts[2] + parts[0] + parts[1])
    assert again.uncertainty.estimates.keys() == whole.uncertainty.estimates.keys()
    for metric in whole.uncertainty.estimates:
        one, other = whole.interval(metric), again.interval(metric)
        for name in ("estimate", "low", "high", "standard_error", "corrected"):
            expected = getattr(one, name)
            assert getattr(other, name) == (None if expected is None else pytest.approx(expected, rel=1e-12, abs=1e-12))
    for name, errors in whole.uncertainty.curves.items():
        np.testing.assert_allclose(again.uncertainty.curves[name], errors, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("seed", range(8))
def test_order_changes_nothing_of_weights_whose_sums_round(seed):
    """All targets are missed: their shares are 1 but for rounding, which depends on the order."""
    rng = np.random.default_rng(seed)
    tar, non, weights = rng.normal(-9, 1, 40), rng.normal(-3, 1, 40), rng.random((2, 40)) * 3
    order, units = rng.permutation(40), np.arange(40) % 13
    known = [
        evaluate(tar[k], non, tar_weights=weights[0, k], non_weights=weights[1], tar_units=units[k], non_units=units)
        for k in (np.arange(40), order)
    ]
    for metric in (("p_miss", 0), "act_dcf"):
        one, other = (found.interval(metric) for found in known)
        assert one.method == other.method == "Wilson limits by unit"
        assert (other.low, other.high) == pytest.approx((one.low, one.high), rel=1e-12)


def test_what_units_are_called_changes_nothing():
    trials = crossed(25)
    numbers = evaluate(trials.tar, trials.non, **trials.arguments)
    words = evaluate(
        trials.tar, trials.non, tar_units=trials.tar_units.astype(str), non_units=trials.non_units.astype(str)
    )
    for metric in numbers.uncertainty.estimates:
        assert words.interval(metric).low == pytest.approx(numbers.interval(metric).low, rel=1e-12)


def test_whole_weights_are_copies():
    trials, rng = crossed(12, 2), np.random.default_rng(1)
    times = [rng.integers(0, 3, len(one)) for one in (trials.tar, trials.non)]
    copied = evaluate(
        np.repeat(trials.tar, times[0]),
        np.repeat(trials.non, times[1]),
        tar_units=np.repeat(trials.tar_units, times[0], axis=0),
        non_units=np.repeat(trials.non_units, times[1], axis=0),
    )
    heavy = evaluate(trials.tar, trials.non, tar_weights=times[0], non_weights=times[1], **trials.arguments)
    scaled = evaluate(trials.tar, trials.non, tar_weights=times[0] / 7, non_weights=times[1] / 3, **trials.arguments)
    for metric in copied.uncertainty.estimates:
        expected = copied.interval(metric)
        assert heavy.interval(metric).low == pytest.approx(expected.low, rel=1e-9, abs=1e-12)
        if metric != "prbep":
            assert scaled.interval(metric).standard_error == pytest.approx(expected.standard_error, rel=0.2, abs=1e-9)


def test_many_trials_are_as_exact_as_few():
    """With a hundred thousand trials metrics come from bins: the same numbers as trial by trial."""
    trials = crossed(120, 8)
    found = evaluate(trials.tar, trials.non, operating_points=[0.05], optimism=False, **trials.arguments).uncertainty
    of_tar, cost = np.logaddexp(0, -trials.tar) / math.log(2) / 2, np.logaddexp(0, trials.non) / math.log(2) / 2
    factor = (1 - 1 / 120) / (1 - 2 / 120)  # a speaker is in two of 120 parts of the non-targets
    expected = np.bincount(trials.tar_units, of_tar - of_tar.mean(), 120) / len(of_tar)
    for side in trials.non_units.T:
        expected += factor * np.bincount(side, cost - cost.mean(), 120) / len(cost)
    np.testing.assert_allclose(found.influences["cllr"], expected, atol=2e-3 * np.abs(expected).max())
    threshold = math.log(19)
    wrong = (trials.non >= threshold) - np.mean(trials.non >= threshold)
    expected = factor * sum(np.bincount(side, wrong, 120) for side in trials.non_units.T) / len(wrong)
    np.testing.assert_allclose(found.influences[("p_fa", 0)], expected, atol=1e-12)


def test_a_unit_in_every_trial_adds_only_what_it_does():
    trials = one_sided(20)
    both = {"tar_units": trials.tar_units, "non_units": np.stack((trials.non_units, np.full(len(trials.non), 99)), 1)}
    found, plain = (evaluate(trials.tar, trials.non, **how) for how in (both, trials.arguments))
    # It is in all non-targets: their mean cannot depend on how often it counts.
    assert found.uncertainty.influences[("p_fa", 0)][20] == pytest.approx(0.0, abs=1e-15)
    expected = plain.uncertainty.influences[("p_fa", 0)]
    assert found.uncertainty.influences[("p_fa", 0)][:20] == pytest.approx(expected)


@pytest.mark.filterwarnings("error")
@given(st.integers(0, 1000))
def test_infinite_scores_have_no_surprises(seed):
    rng = np.random.default_rng(seed)
    trials = crossed(8, 2, seed)
    tar, non = trials.tar.copy(), trials.non.copy()
    for scores in (tar, non):
        scores[rng.integers(0, len(scores), 2)] = rng.choice([-np.inf, np.inf], 2)
    found = evaluate(tar, non, **trials.arguments)
    assert ("cllr" in found.uncertainty.estimates) == math.isfinite(found.cllr)
    for metric in found.uncertainty.estimates:
        interval = found.interval(metric)
        assert interval.low <= interval.high
        assert not math.isnan(interval.low + interval.high)
    assert not any(np.isnan(errors).any() for errors in found.uncertainty.curves.values())


def test_parts_with_and_without_units_do_not_merge():
    one, other = summarize([1.0], [0.0], tar_units=[1], non_units=[2]), summarize([1.0], [0.0])
    with pytest.raises(InputError, match="only some parts have units"):
        one + other


@pytest.mark.parametrize(
    ("units", "words"),
    [
        ({"tar_units": [1, 2]}, "non_units: missing"),
        ({"tar_units": [1, 2, 3], "non_units": [1]}, "tar_units: 3 units for 2 scores"),
        ({"tar_units": [1, 2], "non_units": ["a"]}, "some are words and some are numbers"),
    ],
)
def test_units_must_fit(units, words):
    with pytest.raises(InputError, match=words):
        evaluate([1.0, 2.0], [0.0], **units)


def test_what_is_kept_is_said():
    trials = crossed(12)
    summary = summarize(trials.tar, trials.non, **trials.arguments)
    assert not evaluation_of(summary, resampling=Resampling(keep=False)).uncertainty.influences
    found = evaluation_of(summary, resampling=Resampling(level=0.5)).uncertainty
    assert found.interval("eer").level == 0.5
    assert found.interval("eer", level=0.9).level == 0.9
    errors = {
        name: math.sqrt(12 / 11 * found.influences[name] @ found.influences[name])
        for name in ("eer", "cllr", "min_cllr", "calibration_loss")
    }
    for name in ("eer", "cllr"):
        assert found.estimates[name].standard_error == pytest.approx(errors[name])
    # Differences of minima over maps vary less than corrected minima, by which intervals of one system are made.
    fixed = evaluation_of(summary, resampling=Resampling(optimism=False)).uncertainty.estimates
    for name in ("min_cllr", "calibration_loss"):
        assert fixed[name].standard_error < errors[name] < found.estimates[name].standard_error
    with pytest.raises(InputError, match="no interval for 'err'"):
        found.interval("err")
