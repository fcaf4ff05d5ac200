"""Intervals of many classes in batches are those of the same trials in memory."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deciban.core.resampling.units import TrialUnits
from deciban.engines import Threads
from deciban.engines.class_problems import (
    UnitsAndStrata,
    confusion_in,
    grouped,
    summarize_surveyed,
    survey_classes,
    totals_of,
)
from deciban.engines.units import look_at_units
from deciban.errors import InputError
from deciban.evaluation import ClassMetrics, class_evaluation_of
from deciban.evaluation.multiclass.evaluate import GroupedProblem, evaluate_trials
from deciban.evaluation.uncertainty import Resampling
from deciban.multiclass.tables import ScoredClasses
from deciban.workflows.evaluate.class_sources import BatchedInfluences, calibration_of_source
from support.array_sources import Apart, source_of
from support.class_trials import random_trials

SEEDS = st.integers(0, 2**32 - 1)
MEMORY = 10**8
ALONE = Resampling()
TRAINED = ("min_cllr", "calibration_loss")
"""Metrics of maps that are trained by passes: to about 1e-9."""


def drawn(seed, n_sides, weighted):
    """Classes that overlap, with ties; every third unit is mostly in one class."""
    rng = np.random.default_rng(seed)
    n_classes = int(rng.integers(2, 5))
    loglik, label = random_trials(n_classes, int(rng.integers(15, 80)) * n_classes, seed=seed % 1000)
    loglik = np.round(loglik, rng.integers(0, 5))
    n = len(label)
    units = None
    if n_sides:
        units = rng.integers(0, 12, (n, n_sides))
        units[:, 0] = np.where(rng.random(n) < 0.3, 12 + label, units[:, 0])
        units = units[:, 0] if n_sides == 1 else units
    weights = rng.uniform(0.3, 2.0, n).round(2) * (rng.random(n) < 0.9) if weighted else None
    return rng, loglik, label, units, weights, tuple(f"class {k}" for k in range(n_classes))


def in_memory(*trials, resampling=ALONE):
    loglik, label, units, weights, classes, metrics = trials
    given_units = TrialUnits.of(np.arange(len(label)) if units is None else units)
    trials = ScoredClasses.of(loglik, label, weights, classes)
    return evaluate_trials(
        trials, metrics, name="system", resampling=dataclasses.replace(resampling, units=given_units)
    )


def in_batches(rng, *trials, memory=MEMORY, engine=None, resampling=ALONE):
    """With the uncertainty beside the evaluation."""
    loglik, label, units, weights, classes, metrics = trials
    each = units if units is not None or not resampling.bootstrap else np.arange(len(label))
    source = source_of(loglik, label, rng, units=each, weights=weights, classes=classes)
    engine, problem = engine or Threads(2), None
    known = TrialUnits((), np.zeros(0, np.uint64))
    if units is not None:
        known = look_at_units(source, engine)[0].units
    home, whole = np.arange(len(classes)), source
    if metrics.groups is not None:
        problem = GroupedProblem.of(metrics, metrics.groups, classes, totals_of(source, engine))
        source, metrics, home = grouped(source, problem), problem.metrics, problem.grouping.home
    who = UnitsAndStrata(known, home[home >= 0])
    sums = survey_classes(source, engine, system=0, metrics=metrics, who=who)
    calibration = calibration_of_source(sums.summary, source, engine, system=0)
    summary = summarize_surveyed(sums, source, engine, MEMORY, system=0, calibration=calibration)
    found = class_evaluation_of(summary)
    influences = BatchedInfluences(source, engine, memory, 0, who, resampling)
    found = dataclasses.replace(found, uncertainty=influences.uncertainty(sums.units, summary, found))
    if problem is not None:
        found = problem.finished(found, summary.checks, confusion_in(whole, engine, problem, system=0))
    return found


def compare(found, whole):
    """Two uncertainties."""
    assert (found is None) == (whole is None)
    if found is None:
        return
    assert found.n_units == whole.n_units
    assert set(found.estimates) == set(whole.estimates)
    for name, expected in whole.estimates.items():
        one, rtol = found.estimates[name], 1e-6 if name in TRAINED else 1e-10
        atol = 1e-6 * rtol + 1e-9 * (name in TRAINED)  # a metric that loses nothing but rounding
        for what in ("value", "standard_error"):
            assert getattr(one, what) == pytest.approx(getattr(expected, what), rel=rtol, abs=atol), (name, what)
        for what in ("n_units", "scale", "limits", "n_candidates", "corrected"):
            assert getattr(one, what) == getattr(expected, what), (name, what)
        for what in dataclasses.fields(expected.nothing_seen) if expected.nothing_seen is not None else ():
            a, b = (getattr(some.nothing_seen, what.name) for some in (one, expected))
            assert a == pytest.approx(b, rel=1e-12), (name, what.name)
        if expected.rates is not None:
            limits = one.rates.distances(0.95), expected.rates.distances(0.95)
            np.testing.assert_allclose(*limits, rtol=1e-7, atol=1e-9, err_msg=str(name))
        assert one.degrees == pytest.approx(expected.degrees, rel=1e-6), name
    place = {
        key: at for at, key in enumerate(whole.keys.tolist())
    }  # in batches, those with trials that count, in order
    for name, expected in whole.influences.items() if found.influences else ():
        if name not in TRAINED:
            of_keys = expected[[place[key] for key in found.keys.tolist()]]
            np.testing.assert_allclose(found.influences[name], of_keys, rtol=1e-8, atol=1e-14, err_msg=str(name))
    np.testing.assert_allclose(found.curves["c_avg"], whole.curves["c_avg"], rtol=1e-12, atol=1e-15)
    compare_bands(found, whole)
    compare_replicates(found.bootstrap, whole.bootstrap)


def compare_bands(found, whole):
    """Bands of detectors and of average costs."""
    assert found.curves.keys() == whole.curves.keys()
    assert found.error_rates.keys() == whole.error_rates.keys()
    for name, (places, expected) in whole.error_rates.items():
        axis, rates = found.error_rates[name]
        np.testing.assert_array_equal(axis, places)
        limits = rates.distances(0.95), expected.distances(0.95)
        np.testing.assert_allclose(*limits, rtol=1e-7, atol=1e-9, err_msg=str(name))


def compare_replicates(found, whole):
    """Those of two bootstraps."""
    assert (found is None) == (whole is None)
    if found is None:
        return
    assert found.values.keys() == whole.values.keys()
    assert (found.seed, found.left_out, found.notes) == (whole.seed, whole.left_out, whole.notes)
    np.testing.assert_array_equal(found.numbers, whole.numbers)
    for name, expected in whole.values.items():
        is_difference = name[0] == "available"  # of two costs, whose rounding it has
        rtol, atol = (1e-6, 1e-8) if name in TRAINED else (1e-10, 1e-12 if is_difference else 1e-14)
        np.testing.assert_allclose(found.values[name], expected, rtol=rtol, atol=atol, err_msg=str(name))


@settings(max_examples=4)
@given(SEEDS, st.integers(0, 2), st.booleans())
def test_intervals_are_those_of_memory(seed, n_sides, weighted):
    rng, *trials, classes = drawn(seed, n_sides, weighted)
    if weighted and min(np.bincount(trials[1][trials[3] > 0], minlength=len(classes))) == 0:
        return
    asked = {"p_target": [0.5, 0.1]}
    if len(classes) > 2 and rng.random() < 0.4:
        asked["p_out_of_set"] = 0.2
    if rng.random() < 0.3:
        asked["prior"] = rng.dirichlet(np.full(len(classes), 3.0))
    metrics = ClassMetrics(**asked)
    resampling = Resampling(bootstrap=int(rng.choice([0, 7, 300])), seed=seed % 7)
    whole = in_memory(*trials, classes, metrics, resampling=resampling)
    memory = int(rng.choice([MEMORY, 3000 if n_sides == 0 else 12_000]))  # a pass for every portion
    found = in_batches(rng, *trials, classes, metrics, memory=max(memory, 50_000), resampling=resampling)
    compare(found.uncertainty, whole.uncertainty)


@settings(max_examples=4)
@given(SEEDS, st.integers(0, 2), st.booleans())
def test_groups_are_those_of_memory(seed, n_sides, weighted):
    rng, *trials, _ = drawn(seed, n_sides, weighted)
    trials[0], trials[1] = np.concatenate((trials[0], trials[0][:, :1] - 0.5), axis=1), trials[1].copy()
    trials[1][rng.random(len(trials[1])) < 0.2] = trials[0].shape[1] - 1
    n = trials[0].shape[1]
    if min(np.bincount(trials[1] if trials[3] is None else trials[1][trials[3] > 0], minlength=n)) == 0:
        return
    classes = tuple(f"class {k}" for k in range(n))
    asked = {"groups": [[0, n - 1], list(range(1, n - 1))]}
    if rng.random() < 0.5:
        asked["prior"] = rng.dirichlet(np.full(n, 3.0))
    elif n > 3:
        asked |= {"prior": [0.0, *np.full(n - 1, 1.0 / (n - 1))]}
    metrics = ClassMetrics(**asked)
    resampling = Resampling(bootstrap=20, seed=3)
    whole = in_memory(*trials, classes, metrics, resampling=resampling)
    found = in_batches(rng, *trials, classes, metrics, resampling=resampling)
    compare(found.uncertainty, whole.uncertainty)
    assert found.classes == whole.classes
    assert found.notes == whole.notes
    assert (found.no_subsets, found.no_pairs) == (whole.no_subsets, whole.no_pairs)
    for name in ("counts", "confusion", "cllr", "brier", "prior", "c_avg"):
        np.testing.assert_allclose(getattr(found, name), getattr(whole, name), rtol=1e-12, err_msg=name)
    np.testing.assert_allclose(found.detection.eer, whole.detection.eer, rtol=1e-10)


def test_processes_add_up_to_what_threads_find():
    rng, *trials, classes = drawn(3, 1, weighted=True)
    asked, resampling = (*trials, classes, ClassMetrics()), Resampling(bootstrap=40)
    found = in_batches(rng, *asked, engine=Apart(2), resampling=resampling)
    compare(found.uncertainty, in_memory(*asked, resampling=resampling).uncertainty)


@pytest.mark.parametrize("n_sides", [0, 1])
def test_scores_that_tell_all_classes_apart_are_never_wrong_by_chance(n_sides):
    rng, loglik, label, units, _, classes = drawn(8, n_sides, weighted=False)
    loglik = 40.0 * np.eye(len(classes))[label]  # no error, and all trials of a class cost the same
    whole = in_memory(loglik, label, units, None, classes, ClassMetrics())
    found = in_batches(rng, loglik, label, units, None, classes, ClassMetrics())
    trained = (*TRAINED, ("available", 0))
    known = {name: one for name, one in whole.uncertainty.estimates.items() if name not in trained}
    for name, expected in known.items():  # where classes are separated, nothing is trained in batches
        assert found.uncertainty.estimates[name].standard_error == expected.standard_error == 0.0, name
        one, other = (some.uncertainty.interval(name) for some in (found, whole))
        assert (one.low, one.high) == pytest.approx((other.low, other.high), rel=1e-12, abs=1e-15), name


def test_infinite_scores_leave_what_memory_says():
    rng, loglik, label, units, _, classes = drawn(5, 1, weighted=False)
    loglik[::9, 0], loglik[label == 0, 0] = -np.inf, 3.0
    loglik[np.flatnonzero(label == 1)[0]] = [0.0, -np.inf, *np.zeros(len(classes) - 2)]
    given_trials = loglik, label, units, None, classes, ClassMetrics()
    compare(in_batches(rng, *given_trials).uncertainty, in_memory(*given_trials).uncertainty)


def test_too_many_units_for_the_memory_are_refused():
    rng, *trials, classes = drawn(3, 1, weighted=False)
    with pytest.raises(InputError, match="use every segment as a unit"):
        in_batches(rng, *trials, classes, ClassMetrics(), memory=1000)
