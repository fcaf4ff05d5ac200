"""Many classes in batches: the evaluation is that of the same trials in memory."""

import dataclasses
import pickle
from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deciban.engines import Threads
from deciban.engines.class_problems import (
    ODDS,
    ClassSurvey,
    SystemScores,
    problems_of,
    solved,
    summarize_surveyed,
    survey_classes,
)
from deciban.evaluation import ClassMetrics, class_evaluation_of
from deciban.evaluation.multiclass.evaluate import evaluate_trials
from deciban.evaluation.multiclass.problem_sums import ProblemRequest
from deciban.multiclass import calibration_analysis
from deciban.multiclass.tables import ScoredClasses
from deciban.workflows.evaluate.class_sources import calibration_of_source
from support.array_sources import Apart, source_of
from support.class_trials import random_trials
from support.strategies import fewer

SEEDS = st.integers(0, 2**32 - 1)
MEMORY = 10**8
TO_THE_BIT = ("counts", "confusion", "n_infinite", "subsets", "classes", "error_rate", "prior")


def trials(seed, *, even=False):
    """Overlapping classes with ties, of float32 or float64, in batches; maybe weights."""
    rng = np.random.default_rng(seed)
    n_classes = int(rng.integers(2, 6))
    loglik, label = random_trials(n_classes, int(rng.integers(40, 800)) * n_classes, seed=seed)
    if even:
        label = np.arange(len(label)) % n_classes
    loglik = np.round(loglik, rng.integers(0, 8)).astype(rng.choice([np.float32, np.float64]))
    return rng, loglik, label, tuple(f"class {k}" for k in range(n_classes))


def in_batches(rng, loglik, label, classes, metrics, *, weight=None):
    source = source_of(loglik, label, rng, classes=classes)
    if weight is not None:
        place = {tuple(row): w for row, w in zip(loglik.tolist(), weight.tolist(), strict=True)}
        own = [
            np.array([place[tuple(row)] for row in one.scores[0].tolist()], weight.dtype) for one in source.partitions
        ]
        partitions = tuple(dataclasses.replace(one, weight=w) for one, w in zip(source.partitions, own, strict=True))
        source = dataclasses.replace(source, partitions=partitions, has_weights=True)
    engine = Threads(2)
    sums = survey_classes(source, engine, system=0, metrics=metrics)
    calibration = calibration_of_source(sums.summary, source, engine, system=0)
    summary = summarize_surveyed(sums, source, engine, MEMORY, system=0, calibration=calibration)
    return class_evaluation_of(summary)


def in_memory(loglik, label, classes, metrics, weight=None):
    return evaluate_trials(ScoredClasses.of(loglik, label, weight, classes), metrics, name="system")


def compare(found, whole, rtol, prefix=""):
    """All numbers of two evaluations."""
    names = found if isinstance(found, Mapping) else [field.name for field in dataclasses.fields(found)]
    for own in names:
        one, other = ((part[own] if isinstance(part, Mapping) else getattr(part, own)) for part in (found, whole))
        name = prefix + own
        if isinstance(one, tuple) and len(one) and dataclasses.is_dataclass(one[0]):
            one, other = (np.array([dataclasses.astuple(x) for x in some]) for some in (one, other))
        if dataclasses.is_dataclass(one) or name == "decided.sums":
            compare(one, other, 1e-9 if name == "calibration" else rtol, name + ".")
        elif isinstance(one, float | np.ndarray) and np.asarray(one).dtype.kind == "f" and name not in TO_THE_BIT:
            # Sums of squares are told apart from their total, of which what is left has the rounding.
            rounding = rtol * np.max(other) if name == "decided.sums.quadratic" else 1e-13
            np.testing.assert_allclose(one, other, rtol=rtol, atol=rounding, err_msg=name)
        else:
            np.testing.assert_equal(one, other, err_msg=name)


@fewer(0.5)
@given(SEEDS)
def test_an_evaluation_is_that_of_memory(seed):
    rng, loglik, label, classes = trials(seed)
    asked = {"p_target": [0.5, 0.1]}
    if len(classes) > 2 and rng.random() < 0.5:
        asked["p_out_of_set"] = 0.2
    metrics = ClassMetrics(**asked)
    compare(in_batches(rng, loglik, label, classes, metrics), in_memory(loglik, label, classes, metrics), 1e-12)


@fewer(0.5)
@given(SEEDS)
def test_minima_are_those_of_memory_to_the_bit_where_classes_have_as_many_trials(seed):
    rng, loglik, label, classes = trials(seed, even=True)
    loglik[rng.random(len(loglik)) < 0.01, 0] = rng.choice([-np.inf, np.inf])
    metrics = ClassMetrics(p_target=[0.5, 0.02], subsets=False)
    found = in_batches(rng, loglik, label, classes, metrics)
    whole = in_memory(loglik, label, classes, metrics)
    for name in ("eer", "min_cost", "cost", "min_cllr"):
        np.testing.assert_array_equal(getattr(found.detection, name), getattr(whole.detection, name), err_msg=name)
    for name in ("c_avg", "min_error", "act_error"):
        np.testing.assert_array_equal(getattr(found.curves, name), getattr(whole.curves, name), err_msg=name)
    np.testing.assert_allclose(found.pairwise.cllr, whole.pairwise.cllr, rtol=1e-14)
    np.testing.assert_allclose(found.pairwise.min_cllr, whole.pairwise.min_cllr, rtol=1e-14)
    assert found.min_cllr == pytest.approx(whole.min_cllr, rel=1e-8, abs=1e-12)


@fewer(0.5)
@given(SEEDS)
def test_weights_count_as_in_memory(seed):
    rng, loglik, label, classes = trials(seed)
    loglik = loglik + np.arange(len(loglik))[:, None] % 7 / 16.0  # rows stay what they are but for this
    _, first = np.unique(loglik, axis=0, return_index=True)
    loglik, label = loglik[first], label[first]
    weight = rng.integers(1, 4, len(label))
    if rng.random() < 0.5:
        weight = weight / 3.0
    metrics = ClassMetrics(subsets=False)
    if np.any(np.bincount(label, minlength=len(classes)) == 0):
        return
    found = in_batches(rng, loglik, label, classes, metrics, weight=weight)
    whole = in_memory(loglik, label, classes, metrics, weight)
    np.testing.assert_allclose(found.confusion, whole.confusion, rtol=1e-12)
    np.testing.assert_allclose(found.cllr, whole.cllr, rtol=1e-12)
    compare(found.detection, whole.detection, 1e-12)
    compare(found.pairwise, whole.pairwise, 1e-12)
    compare(found.curves.reliability, whole.curves.reliability, 1e-12)


def test_several_systems_are_told_apart():
    rng, loglik, label, classes = trials(3)
    source = source_of([loglik * 0.0, loglik], label, rng, systems=("one", "other"), classes=classes)
    sums = survey_classes(source, Threads(2), system=1, metrics=ClassMetrics())
    found = calibration_of_source(sums.summary, source, Threads(2), system=1)
    whole = in_memory(loglik, label, classes, ClassMetrics()).calibration
    assert found.minimum == pytest.approx(whole.minimum, rel=1e-9)


def test_scores_that_rule_out_a_true_class_leave_what_memory_says():
    rng, loglik, label, classes = trials(4)
    loglik[0, label[0]] = -np.inf
    metrics = ClassMetrics()
    found, whole = in_batches(rng, loglik, label, classes, metrics), in_memory(loglik, label, classes, metrics)
    assert found.calibration == whole.calibration
    assert found.cllr == whole.cllr == np.inf


@settings(max_examples=10)
@given(SEEDS)
def test_what_calibration_can_reach_at_most_is_what_memory_finds(seed):
    rng = np.random.default_rng(seed)
    n_classes, n = int(rng.integers(2, 5)), int(rng.integers(4, 40))
    label = np.concatenate((np.arange(n_classes), rng.integers(0, n_classes, n)))
    loglik = rng.integers(-2, 3, (len(label), n_classes)) + rng.integers(0, 7) * np.eye(n_classes)[label]
    certain = rng.random(len(label)) < 0.3 * rng.integers(0, 2)
    loglik = np.where(certain[:, None] & (rng.random(loglik.shape) < 0.5), -np.inf, loglik)
    if rng.random() < 0.3:
        loglik[certain, label[certain]] = np.inf
    elif rng.random() < 0.9:  # else some true classes are ruled out
        loglik[certain, label[certain]] = 1.0
    if rng.random() < 0.2:
        loglik = -loglik if np.isfinite(loglik).all() else loglik
    names = tuple("abcd"[:n_classes])
    source = source_of(loglik, label, rng, classes=names)
    sums = survey_classes(source, Threads(2), system=0, metrics=ClassMetrics(subsets=False))
    found = calibration_of_source(sums.summary, source, Threads(2), system=0)
    whole = calibration_analysis(loglik, label)
    for name in ("total", "minimum", "after_offset_only", "after_scale_only"):
        np.testing.assert_allclose(getattr(found, name), getattr(whole, name), rtol=1e-8, atol=1e-9, err_msg=name)


def test_the_least_cllr_of_separated_classes_is_that_of_memory():
    label = np.arange(60) % 3
    loglik = 5.0 * np.eye(3)[label] + np.linspace(0.0, 1.0, 60)[:, None] * [0.0, 0.5, 1.0]
    metrics, names = ClassMetrics(), ("a", "b", "c")
    found = in_batches(np.random.default_rng(1), loglik, label, names, metrics)
    whole = in_memory(loglik, label, names, metrics)
    assert found.min_cllr == whole.min_cllr == 0.0
    assert (found.calibration.minimum, found.calibration.scale) == (0.0, whole.calibration.scale)
    np.testing.assert_allclose(found.calibration.offset, whole.calibration.offset, rtol=1e-12)
    assert found.notes == whole.notes


def test_a_survey_of_no_trial_finds_nothing():
    source = source_of(np.zeros((0, 3)), np.zeros(0, np.int64), np.random.default_rng(0), classes=("a", "b", "c"))
    assert survey_classes(source, Threads(2), system=0, metrics=ClassMetrics()) is None


def test_decisions_at_other_priors_are_counted_for_pages_only():
    rng, loglik, label, classes = trials(5)
    source = source_of(loglik, label, rng, classes=classes)
    found = [
        survey_classes(source, Threads(2), system=0, metrics=ClassMetrics(), has_pages=has_pages).summary
        for has_pages in (True, False)
    ]
    assert [one.decided is None for one in found] == [False, True]
    np.testing.assert_array_equal(found[0].confusion, found[1].confusion)


def test_passes_over_parts_add_up_and_travel():
    rng, loglik, label, classes = trials(5)
    source = source_of(loglik, label, rng, classes=classes)
    metrics = ClassMetrics()
    whole = survey_classes(source, Threads(2), system=0, metrics=metrics)
    apart = [ClassSurvey(SystemScores(0, classes, has_weights=False), metrics) for _ in range(2)]
    for at, partition in enumerate(source.partitions):
        apart[at % 2].take([partition])
    both = (pickle.loads(pickle.dumps(apart[0])) + apart[1]).result  # noqa: S301
    np.testing.assert_array_equal(both.summary.confusion, whole.summary.confusion)

    asked = ProblemRequest.of(metrics, classes, whole.summary.places)
    problems = problems_of(asked, whole.summary.counts, len(label))
    one, other = (solved(problems, source, 0, asked, engine, MEMORY) for engine in (Threads(2), Apart(2)))
    for name, found in one.items():
        if name == ODDS:
            for field in dataclasses.fields(found):
                np.testing.assert_array_equal(*(getattr(some, field.name) for some in (found, other[name])))
            continue
        assert found.pav == other[name].pav
        assert found.cllr() == pytest.approx(other[name].cllr(), rel=1e-15)
