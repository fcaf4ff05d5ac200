"""Summaries of many classes: parts add up to the whole, and what needs all trials at once is left out and said."""

import dataclasses
import functools
import math
import operator
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban import InputError, metrics
from deciban._validate import classes as _validate_classes
from deciban.evaluation import (
    ClassMetrics,
    class_evaluation_of,
    evaluate,
    evaluate_classes,
    evaluate_groups,
    merged_classes,
    summarize_classes,
)
from support.class_files import CLASSES, trials

OF_ALL = {"calibration", "subsets", "no_subsets", "notes"}
"""What merged summaries do not have, or say differently."""


def numbers(value, prefix=""):
    """All numbers of an evaluation by their names, but those that need all trials at once."""
    found = {}
    for field in dataclasses.fields(value):
        entry, name = getattr(value, field.name), prefix + field.name
        if field.name in ("curves", "detection", "pairwise"):
            found |= numbers(entry, name + ".") if entry is not None else {name: np.array(None)}
        elif field.name == "decided":
            found[name] = entry.sums["counts"]
        elif field.name == "points":
            found[name] = np.array([dataclasses.astuple(point) for point in entry])
        elif field.name not in OF_ALL and name != "curves.sample":
            found[name] = np.asarray(entry)
    return found


@st.composite
def problems(draw):
    """Log-likelihoods with ties and infinities, classes that all occur, the part of each trial, maybe weights."""
    n_classes = draw(st.integers(2, 4))
    n = draw(st.integers(n_classes, 24))
    level = st.sampled_from([-np.inf, -2.0, -0.5, 0.0, 0.5, 1.0, 2.5])
    loglik = np.array(draw(st.lists(level, min_size=n * n_classes, max_size=n * n_classes))).reshape(n, n_classes)
    loglik[np.isneginf(loglik).all(axis=1)] = 0.0
    label = np.array(draw(st.lists(st.integers(0, n_classes - 1), min_size=n, max_size=n)))
    label[:n_classes] = range(n_classes)
    part = np.array(draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)))
    weight = draw(st.sampled_from([None, 1 + np.arange(n) % 3]))
    return loglik.astype(draw(st.sampled_from([np.float64, np.float32]))), label, part, weight


@given(problem=problems(), is_open=st.booleans(), way=st.sampled_from(["all", "pairwise"]))
def test_parts_add_up_to_the_whole(problem, is_open, way):
    loglik, label, part, weight = problem
    asked = {"p_target": [0.5, 0.1], "prior": np.arange(1, loglik.shape[1] + 1) / np.arange(loglik.shape[1] + 1).sum()}
    if is_open and loglik.shape[1] > 2:
        asked["p_out_of_set"] = 0.2
    metrics = ClassMetrics(**asked)
    parts = [
        summarize_classes(
            loglik[rows], label[rows], metrics=metrics, sample_weight=None if weight is None else weight[rows]
        )
        for rows in (part == k for k in range(3))
        if rows.any()
    ]
    together = merged_classes(parts) if way == "all" else functools.reduce(operator.add, parts)
    found = class_evaluation_of(together)
    whole = class_evaluation_of(summarize_classes(loglik, label, metrics=metrics, sample_weight=weight))
    expected = numbers(whole)
    sums = {"cross_entropy", "brier"}
    for name, value in numbers(found).items():
        if name in sums:
            np.testing.assert_allclose(value, expected[name], rtol=1e-14)
        else:
            np.testing.assert_array_equal(value, expected[name], err_msg=name)
    np.testing.assert_allclose(found.cllr, whole.cllr, rtol=1e-14)


@pytest.mark.parametrize("more", [{}, {"p_out_of_set": 0.2}, {"pairs": False}])
def test_problems_that_are_made_in_turn_are_those_that_are_kept(more):
    loglik, label = trials(n=300)
    at_once = evaluate_classes(loglik, label, p_target=[0.5, 0.1, 0.3], **more)
    kept = class_evaluation_of(summarize_classes(loglik, label, metrics=ClassMetrics(p_target=[0.5, 0.1, 0.3], **more)))
    expected = numbers(at_once)
    for name, value in numbers(kept).items():
        np.testing.assert_array_equal(value, expected[name], err_msg=name)


@pytest.mark.parametrize(
    ("n", "n_classes", "more", "limit"),
    [(40_000, 10, {"subsets": False}, 2.6), (20_000, 20, {"p_target": [0.5, 0.1, 0.01], "p_out_of_set": 0.2}, 2.8)],
)
def test_memory_beside_the_scores_is_that_of_one_problem_at_a_time(n, n_classes, more, limit):
    rng = np.random.default_rng(3)
    label = np.arange(n) % n_classes
    loglik = rng.normal(size=(n, n_classes)) + 2.0 * np.eye(n_classes)[label]
    evaluate_classes(loglik[:400], label[:400], **more)  # what is imported late is there from now on
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        evaluate_classes(loglik, label, **more)
        in_use = tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()
    assert in_use < limit * loglik.nbytes


def test_merged_trials_lack_what_needs_all_of_them_and_say_so():
    loglik, label = trials(n=300)
    one, other = (summarize_classes(loglik[k::2], label[k::2], classes=CLASSES) for k in range(2))
    found = class_evaluation_of(one + other)
    assert math.isnan(found.min_cllr)
    assert (found.subsets, found.curves.sample) == (None, None)
    assert "need all trials at once" in found.no_subsets
    assert any("min Cllr and calibration loss are unknown" in note for note in found.notes)
    assert found.to_dict()["min_cllr"] is None
    for kind in dir(found.plot):
        if kind not in ("subset_c_avg", "simplex"):
            getattr(found.plot, kind)()


def test_a_merged_note_on_infinite_cllr_counts_without_naming_a_place():
    loglik, label = trials(n=300)
    at = np.flatnonzero(label == 1)[:2]
    loglik[at, 1] = -np.inf
    parts = [summarize_classes(loglik[rows], label[rows]) for rows in (slice(0, 100), slice(100, 300))]
    assert class_evaluation_of(merged_classes(parts)).notes[0].startswith("Cllr is infinite: infinite scores rule out")


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"metrics": ClassMetrics(p_target=0.1)}, "the metrics of the first one are p_target .0.5,., those at index 1"),
        ({"classes": CLASSES}, "the classes of the first one are"),
    ],
)
def test_parts_of_different_kinds_do_not_merge(more, message):
    with pytest.raises(InputError, match=message):
        summarize_classes(*trials()) + summarize_classes(*trials(), **more)


@pytest.mark.parametrize("more", [{"subsets": True}, {"groups": [[0, 1], [2]]}])
def test_parts_cannot_be_asked_for_what_needs_all_trials(more):
    with pytest.raises(InputError, match="need all trials at once"):
        summarize_classes(*trials(), metrics=ClassMetrics(**more))


def test_an_evaluation_needs_every_class():
    loglik, label = trials()
    with pytest.raises(InputError, match="no trials of class 2 .'2'."):
        class_evaluation_of(summarize_classes(loglik[label < 2], label[label < 2]))


@pytest.mark.parametrize("weight", [None, np.arange(1, 201) % 4 + 1])
def test_two_classes_are_the_two_class_problem_to_the_last_digit(weight):
    rng = np.random.default_rng(5)
    label = np.arange(200) % 2
    loglik = rng.normal(size=(200, 2)).round(2) + 2.0 * np.eye(2)[label]
    many = evaluate_classes(loglik, label, sample_weight=weight, p_target=[0.5, 0.1])
    llr, is_target = loglik[:, 0] - loglik[:, 1], label == 0
    weights = {} if weight is None else {"tar_weights": weight[is_target], "non_weights": weight[~is_target]}
    two = evaluate(llr[is_target], llr[~is_target], operating_points=[0.5, 0.1], **weights)
    assert many.cllr == pytest.approx(two.cllr, rel=4e-16)
    assert (many.detection.cllr[0], many.detection.min_cllr[0]) == (two.cllr, two.min_cllr)
    assert many.detection.eer[0] == two.eer
    assert many.pairwise.cllr[1, 0] == pytest.approx(two.cllr, rel=1e-15)
    for point, other in zip(many.points, two.operating_points, strict=True):
        cost = metrics.act_dcf(llr[is_target], llr[~is_target], p_target=point.p_target, normalize=False, **weights)
        other_way = metrics.act_dcf(
            -llr[~is_target], -llr[is_target], p_target=point.p_target, normalize=False,
            **({} if weight is None else {"tar_weights": weight[~is_target], "non_weights": weight[is_target]}),
        )  # fmt: skip
        assert point.c_avg == pytest.approx((cost + other_way) / 2, rel=1e-15)
        assert other.act_dcf * min(point.p_target, 1 - point.p_target) == pytest.approx(cost, rel=1e-15)


@pytest.mark.parametrize("n_classes", [3, 6])
def test_trials_are_checked_once(monkeypatch, n_classes):
    rng = np.random.default_rng(1)
    label = np.arange(60) % n_classes
    loglik = rng.normal(size=(60, n_classes)) + 2.0 * np.eye(n_classes)[label]
    names = [f"c{k}" for k in range(n_classes)]
    counts = dict.fromkeys(("loglik", "label", "names"), 0)
    for name in counts:
        original = getattr(_validate_classes, name)

        def counted(*arguments, _name=name, _original=original, **more):
            counts[_name] += 1
            return _original(*arguments, **more)

        monkeypatch.setattr(_validate_classes, name, counted)
    evaluate_classes(loglik, label, classes=names, p_target=[0.5, 0.1])
    assert counts == {"loglik": 1, "label": 1, "names": 1}
    evaluate_groups(loglik, label, [names[:2], names[2:]], classes=names)
    assert counts == {"loglik": 2, "label": 2, "names": 2}


def test_pairs_of_very_many_classes_are_left_out_and_come_on_request():
    n_classes = 101
    rng = np.random.default_rng(2)
    label = np.repeat(np.arange(n_classes), 10)
    loglik = rng.normal(size=(len(label), n_classes)) + np.eye(n_classes)[label]
    found = evaluate_classes(loglik, label)
    assert found.pairwise is None
    assert found.to_dict()["pairwise"] is None
    assert found.no_pairs == "101 classes have 5,050 pairs. Pass pairs=True."
    with pytest.raises(InputError, match="pairs of classes were not evaluated for 'system': 101 classes"):
        found.plot.pairwise_loss()
    few = evaluate_classes(*trials(), pairs=False)
    assert (few.pairwise, few.no_pairs) == (None, "they were not requested. Pass pairs=True.")
    assert ClassMetrics(pairs=True).why_no_pairs(n_classes) == ""


def test_evaluations_of_the_same_scores_are_equal():
    loglik, label = trials()
    one, two = (evaluate_classes(loglik, label) for _ in range(2))
    assert one == two
    assert hash(one) == hash(two)
    assert one != evaluate_classes(loglik + np.eye(3)[0], label)
    assert one in [evaluate_classes(loglik, label[::-1]), two]
