"""Intervals of many classes: against weights of units that are moved a little, closed forms, and two classes."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from deciban import InputError
from deciban.core.resampling.units import TrialUnits
from deciban.evaluation import (
    ClassMetrics,
    class_evaluation_of,
    evaluate,
    evaluate_classes,
    evaluate_groups,
    merged_classes,
    summarize_classes,
)

CLASSES = ("eng", "fra", "deu", "spa")
GROUPS = {"west": ["eng", "fra"], "deu": ["deu"], "spa": ["spa"]}
STEP = 3e-7


def drawn(n=90, n_units=14, n_sides=1, seed=3):
    """Log-likelihoods of four classes, with effects of units, and weights."""
    rng = np.random.default_rng(seed)
    every = np.repeat(np.arange(n_units), 4)  # each unit has trials of each class
    label = np.concatenate((np.tile(np.arange(4), n_units), rng.choice(4, n - len(every), p=[0.4, 0.3, 0.2, 0.1])))
    units = np.concatenate((every, rng.integers(0, n_units, n - len(every))))
    if n_sides == 2:
        units = np.stack((units, rng.integers(0, n_units, n)), axis=1)
    effects = 0.8 * rng.normal(size=(n_units, 4))
    loglik = 1.2 * np.eye(4)[label] + effects[units if n_sides == 1 else units[:, 0]] + rng.normal(size=(n, 4))
    return loglik, label, units, rng.uniform(0.3, 2.0, n)


def metrics_of(found):
    """Every metric by its name."""
    values = {
        name: getattr(found, name)
        for name in ("cllr", "min_cllr", "calibration_loss", "information", "cross_entropy", "brier", "error_rate")
    }
    values |= {("information", k): one.delivered for k, one in enumerate(found.information_at)}
    values["available", 0] = found.information_at[0].available
    for k, point in enumerate(found.points):
        values |= {(name, k): value for name, value in point.costs.items()}
    values |= {f"mean_{name}": value for name, value in found.mean_costs.items()}
    for target, metrics in found.detectors.items():
        values |= {("detectors", target, name): value for name, value in metrics.items()}
    rates = found.confusion / found.confusion.sum(axis=1, keepdims=True)
    for i, name in enumerate(found.classes):
        values["class_error_rates", name] = found.class_error_rates[i]
        for j, other in enumerate(found.classes):
            values["confusion", name, other] = rates[i, j]
            if found.pairwise is not None and i != j:
                for what in ("cllr", "min_cllr", "calibration_loss"):
                    values[f"pairwise_{what}", name, other] = getattr(found.pairwise, what)[i, j]
    return values


def slopes(evaluated, units, weights, label, moved):
    """Derivatives of every metric in the weights of units to move, times jackknife factors, class by class."""
    sides = units if units.ndim == 2 else units[:, None]
    names, found, unmoved = np.unique(units), {}, metrics_of(evaluated(weights))
    for k in range(4):
        of_units = [weights[(sides == unit).any(axis=1) & (label == k)].sum() for unit in names]
        n, whole = np.count_nonzero(of_units), weights[label == k].sum()
        for at in moved:
            unit, own = names[at], of_units[at]
            is_of = (sides == unit).any(axis=1) & (label == k)
            more = metrics_of(evaluated(weights * np.where(is_of, 1 + STEP, 1.0)))
            factor = (1 - 1 / n) / (1 - own / whole) * math.sqrt(n * (len(names) - 1) / (len(names) * (n - 1)))
            for name, value in more.items():
                found.setdefault(name, np.zeros(len(names)))[at] += factor * (value - unmoved[name]) / STEP
    return found


ASKED = {
    "closed": {"p_target": [0.5, 0.2]},
    "open": {"p_target": [0.5, 0.2], "p_out_of_set": 0.2},
    "prior": {"prior": [0.1, 0.2, 0.3, 0.4]},
    "groups": {"groups": GROUPS, "prior": [0.4, 0.1, 0.3, 0.2]},
    "open groups": {"groups": GROUPS, "p_out_of_set": 0.3},
}


@pytest.mark.parametrize(
    ("asked", "n_sides"), [("closed", 1), ("prior", 1), ("open groups", 1), ("open", 2), ("groups", 2)]
)
def test_standard_errors_are_of_derivatives_in_the_weights_of_units(asked, n_sides, monkeypatch):
    monkeypatch.setattr("deciban.evaluation.multiclass.detector_costs._FEWEST_OF_PAIR", 1)  # pairs of few units, too
    loglik, label, units, weights = drawn(n=120, n_units=20, n_sides=n_sides)
    function = evaluate_groups if "groups" in asked else evaluate_classes
    given = {"label": label, "classes": CLASSES, **ASKED[asked]}
    found = function(loglik, sample_weight=weights, units=units, optimism=False, **given)
    n = found.uncertainty.n_units
    assert n == len(np.unique(units))
    moved = list(range(0, n, 1 if asked == "open" else 4))
    expected = slopes(lambda changed: function(loglik, sample_weight=changed, **given), units, weights, label, moved)
    influences = found.uncertainty.influences
    assert set(influences) <= set(found.uncertainty.estimates) == set(expected)
    for name in expected if len(moved) == n else influences:
        one = found.interval(name)
        assert one.estimate == pytest.approx(metrics_of(found)[name], abs=1e-12), name
        if name[-1] == "eer":  # by slopes of a chord
            continue
        error = math.sqrt(n / (n - 1) * np.sum((expected[name] if len(moved) == n else influences[name]) ** 2))
        assert one.standard_error == pytest.approx(error, rel=2e-4, abs=2e-8), name
        if name in influences:
            np.testing.assert_allclose(influences[name][moved], expected[name][moved], atol=2e-6, err_msg=str(name))


OF_BOTH = [
    *((name, ("detectors", "yes", name), 1.0) for name in ("eer", "cllr", "min_cllr", "calibration_loss")),
    (("act_dcf", 0), ("detectors", "yes", "cost"), 5.0),
    (("min_dcf", 0), ("detectors", "yes", "min_cost"), 5.0),
    ("cllr", "cllr", 1.0),
    (("information", 0), ("information", 0), 1.0),
    ("cllr", ("pairwise_cllr", "yes", "no"), 1.0),
    (("act_dcf", 1), ("normalized", 1), 1.0),
    (("act_dcf", 1), "error_rate", 2.0),
    (("p_miss", 1), ("class_error_rates", "yes"), 1.0),
    (("p_fa", 1), ("class_error_rates", "no"), 1.0),
]
"""Metrics that two classes and many have alike: their names in both, and the factor between them."""

RATES = {"eer", "act_dcf", "min_dcf", "p_miss", "p_fa"}


def of_two_classes(kind):
    """Classes, units and weights of trials: in both classes, of unequal size; in one class each; of both sides."""
    rng, n = np.random.default_rng(5), 240
    label = (rng.random(n) < 0.7).astype(int)
    if kind == "crossed":
        return label, np.minimum((8 * rng.pareto(1.0, n)).astype(int), 24) + rng.integers(0, 8, n)
    if kind == "apart":
        return label, rng.integers(0, 12, n) + np.where(label == 0, 0, 100 + rng.integers(0, 20, n))
    return label, rng.integers(0, 15, (n, 2))  # each has trials of both classes


@pytest.mark.parametrize(
    ("kind", "optimism"), [("crossed", False), ("crossed", True), ("sides", False), ("apart", False)]
)
@pytest.mark.parametrize("weighted", [None, "whole", "fractional"])
def test_two_classes_are_those_of_two_classes(kind, optimism, weighted):
    label, units = of_two_classes(kind)
    rng, n, tar = np.random.default_rng(8), len(label), label == 0
    loglik = rng.normal(size=(n, 2)) + 1.2 * np.eye(2)[label]
    weights = {None: None, "whole": rng.integers(1, 4, n), "fractional": rng.uniform(0.3, 2.0, n)}[weighted]
    of_units = {"tar_units": units[tar], "non_units": units[~tar], "optimism": optimism}
    if weights is not None:
        of_units |= {"tar_weights": weights[tar], "non_weights": weights[~tar]}
    llr = loglik[:, 0] - loglik[:, 1]
    two = evaluate(llr[tar], llr[~tar], operating_points=[0.2, 0.5], **of_units)
    given = {"units": units, "optimism": optimism, "sample_weight": weights}
    many = evaluate_classes(loglik, label, classes=("yes", "no"), p_target=[0.2, 0.5], **given)
    for own, other, factor in OF_BOTH:
        one, same = two.interval(own), many.interval(other)
        is_rate = (own if isinstance(own, str) else own[0]) in RATES
        names = ["estimate", "low", "high", "standard_error"]
        if kind == "apart":  # standard errors of two classes do not make up for units that a class has not
            names = names[:3] if is_rate else names[:1]
        for name in names:
            assert factor * getattr(same, name) == pytest.approx(getattr(one, name), rel=1e-9), (own, other, name)
        assert (same.corrected is None) == (one.corrected is None), own
        if one.corrected is not None:
            assert factor * same.corrected == pytest.approx(one.corrected, rel=1e-9), own


def test_error_rates_of_independent_trials_are_binomial():
    loglik, label, _, _ = drawn(n=400)
    prior = np.array([0.1, 0.2, 0.3, 0.4])
    found = evaluate_classes(loglik, label, classes=CLASSES, prior=prior, units=TrialUnits.each(400))
    n, rates = found.counts, found.class_error_rates
    variance = prior**2 @ (rates * (1 - rates) / (n - 1))
    assert found.interval("error_rate").standard_error == pytest.approx(math.sqrt(variance))
    for k, name in enumerate(CLASSES):
        own = found.interval(("class_error_rates", name))
        assert own.standard_error == pytest.approx(math.sqrt(rates[k] * (1 - rates[k]) / (n[k] - 1)))
        assert own.n_units == n[k]


@settings(max_examples=6, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 4))
def test_copies_of_units_divide_variances(seed, n_copies):
    loglik, label, units, _ = drawn(n=56, seed=seed)  # units of equal size
    given = {"optimism": False}  # which deals units out to groups
    one = evaluate_classes(loglik, label, units=units, **given).uncertainty
    names = np.concatenate([units + 100 * k for k in range(n_copies)])
    more = evaluate_classes(np.tile(loglik, (n_copies, 1)), np.tile(label, n_copies), units=names, **given).uncertainty
    few, many = one.n_units, more.n_units
    ratio = math.sqrt((few - 1) / few * many / (many - 1) / n_copies)
    for name, estimate in one.estimates.items():
        # A chord, and errors that no unit showed, as at a best threshold, depend on the number of units.
        if name[-1] == "eer" or any(word in str(name) for word in ("min_cost", "min_c_avg", "normalized_min")):
            continue
        expected = pytest.approx(ratio * estimate.standard_error, rel=1e-6, abs=1e-9)
        assert more.estimates[name].standard_error == expected, name


def test_order_of_trials_changes_nothing():
    loglik, label, units, weights = drawn()
    order = np.random.default_rng(0).permutation(len(label))
    one = evaluate_classes(loglik, label, units=units, sample_weight=weights)
    other = evaluate_classes(loglik[order], label[order], units=units[order], sample_weight=weights[order])
    for name, estimate in one.uncertainty.estimates.items():
        expected = pytest.approx(estimate.standard_error, rel=1e-7, abs=1e-12)
        assert other.uncertainty.estimates[name].standard_error == expected, name


@pytest.mark.parametrize("metrics", [ClassMetrics(p_target=[0.5, 0.2]), ClassMetrics(p_out_of_set=0.2)])
def test_parts_have_the_intervals_of_the_whole(metrics):
    loglik, label, units, weights = drawn()
    given = {"metrics": metrics, "classes": CLASSES}
    parts = [
        summarize_classes(loglik[k::3], label[k::3], units=units[k::3], sample_weight=weights[k::3], **given)
        for k in range(3)
    ]
    merged = class_evaluation_of(merged_classes(parts))
    out_of_set = {"p_out_of_set": metrics.p_out_of_set, "p_target": metrics.p_target}
    whole = evaluate_classes(loglik, label, classes=CLASSES, units=units, sample_weight=weights, **out_of_set)
    missing = set(whole.uncertainty.estimates) - set(merged.uncertainty.estimates)
    assert missing == {"min_cllr", "calibration_loss", ("available", 0)}
    for name, estimate in merged.uncertainty.estimates.items():
        assert estimate.standard_error == pytest.approx(whole.interval(name).standard_error, rel=1e-9), name


def test_parts_with_and_without_units_do_not_add_up():
    loglik, label, units, _ = drawn()
    parts = [summarize_classes(loglik, label, units=units), summarize_classes(loglik, label)]
    with pytest.raises(InputError, match="only some parts have units"):
        merged_classes(parts)


def test_band_of_the_average_cost_goes_through_its_interval():
    loglik, label, units, _ = drawn(n=400)
    found = evaluate_classes(loglik, label, units=units, p_target=[0.5])
    band = found.uncertainty.curves["c_avg"]
    assert band.shape == found.curves.c_avg.shape
    at = int(np.argmin(np.abs(found.curves.prior_log_odds)))
    assert at % 7 == 0  # where it is not interpolated
    assert band[at] == pytest.approx(found.interval("c_avg").standard_error, rel=1e-9)


def test_without_errors_the_rule_of_three_says_what_is_known():
    label = np.repeat(np.arange(3), 20)
    found = evaluate_classes(50.0 * np.eye(3)[label], label, units=np.arange(60))
    rate = found.interval(("class_error_rates", "1"))
    assert (rate.estimate, rate.low) == (0.0, 0.0)
    squared = stats.t(19).ppf(0.975) ** 2
    assert rate.high == pytest.approx(squared / (20 + squared))  # Wilson limits of 0 in 20
    each = squared / (20 + squared) / 3
    assert found.interval("error_rate").high == pytest.approx(math.sqrt(3) * each)  # squares of three classes add up
    for name, value in metrics_of(found).items():
        if name not in found.uncertainty.estimates:  # nothing limits a logarithmic cost that is nearly 0
            continue
        one = found.interval(name)
        assert one.low <= value + 1e-15, name
        assert one.high >= value - 1e-15, name
        assert not math.isnan(one.low + one.high)


def test_scores_of_the_best_map_lose_nothing_whatever_is_drawn():
    loglik, label, units, _ = drawn(n=400)
    first = evaluate_classes(loglik, label, units=units)
    best = first.calibration.scale * loglik + first.calibration.offset
    known = evaluate_classes(best, label, units=units).uncertainty.estimates
    if "calibration_loss" in known:  # rounding may leave something
        one = known["calibration_loss"].interval()
        assert (one.estimate, one.low, one.high) == pytest.approx((0.0, 0.0, 0.0), abs=1e-7)
        assert one.high > 1e-13


def test_infinite_scores_leave_the_other_figures():
    loglik, label, units, _ = drawn()
    loglik[5, label[5]] = -np.inf
    found = evaluate_classes(loglik, label, units=units)
    assert found.cllr == math.inf
    with pytest.raises(InputError, match="metrics that are infinite"):
        found.interval("cllr")
    assert found.interval("error_rate").standard_error > 0.0
    assert "min_cllr" not in found.uncertainty.estimates  # the best map takes nothing from such scores
    assert found.min_cllr == found.reference
    assert found.interval("brier").low > 0.0


@pytest.mark.parametrize(
    ("units", "message"),
    [([1, 2, 3], "units: 3 units for 90 trials"), (np.full(90, 0.5), "units: units must be words or whole numbers")],
)
def test_units_that_do_not_fit_are_refused(units, message):
    loglik, label, _, _ = drawn()
    with pytest.raises(InputError, match=message):
        evaluate_classes(loglik, label, units=units)


def test_one_unit_has_no_intervals():
    loglik, label, _, _ = drawn()
    found = evaluate_classes(loglik, label, units=["ann"] * 90)
    assert found.uncertainty is None
    with pytest.raises(InputError, match="at least two"):
        found.interval("cllr")


def test_level_and_unknown_figures():
    loglik, label, units, _ = drawn()
    found = evaluate_classes(loglik, label, units=units, level=0.5)
    wide, narrow = found.interval("c_avg", level=0.99), found.interval("c_avg")
    assert wide.low < narrow.low < narrow.high < wide.high
    assert narrow.level == 0.5
    with pytest.raises(InputError, match="no interval for 'eer'"):
        found.interval("eer")
    with pytest.raises(InputError, match="level"):
        evaluate_classes(loglik, label, units=units, level=1.0)


def test_a_class_whose_trials_are_all_of_one_unit():
    loglik, label, units, _ = drawn()
    units = np.where(label == 3, 77, units)
    found = evaluate_classes(loglik, label, classes=CLASSES, units=units)
    with pytest.raises(InputError, match="fewer than 5 effective units"):
        found.interval("cllr")
    few = f"Class {CLASSES[3]} comes from 1 effective unit (at least 5 are needed): no confidence intervals"
    assert any(note.startswith(few) for note in found.uncertainty.notes)
    assert found.interval(("class_error_rates", CLASSES[0])).standard_error > 0.0


def test_classes_without_an_error_have_no_intervals_of_mean_costs():
    """Nothing shows how costly an error would be; error rates keep their Wilson limits, and a note states it."""
    label = np.repeat(np.arange(3), 30)
    rng = np.random.default_rng(1)
    loglik = 9.0 * np.eye(3)[label] + rng.normal(size=(90, 3))
    found = evaluate_classes(loglik, label, units=np.arange(90))
    assert found.error_rate == 0.0
    for name in (
        "cllr",
        "information",
        "cross_entropy",
        "brier",
        ("detectors", "0", "cllr"),
        ("pairwise_cllr", "0", "1"),
    ):
        with pytest.raises(InputError, match="no interval"):
            found.interval(name)
    assert found.interval("error_rate").high > 0.0
    assert any("perfectly separated" in note for note in found.uncertainty.remarks)
    loglik[0] = loglik[0][[1, 0, 2]]
    wrong = evaluate_classes(loglik, label, units=np.arange(90))
    assert wrong.interval("cllr").high > 2 * wrong.cllr
    assert wrong.uncertainty.remarks == (
        "Class 2: perfectly separated from all others, so its own Cllr and calibration loss have no intervals.",
    )
