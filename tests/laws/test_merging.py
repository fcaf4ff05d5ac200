"""Summaries of parts of the trials add up to the summary of all, whatever the parts."""

import dataclasses
import functools
import operator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban import InputError
from deciban.evaluation import TwoClassMetrics, evaluate, evaluation_of, merged, summarize
from support.strategies import any_score

METRICS = TwoClassMetrics([0.01, (0.5, 3, 1), 0.97])
WEIGHTS = {
    "none": None,
    "whole": lambda n, seed: np.random.default_rng(seed).integers(0, 4, n),
    "fractional": lambda n, seed: np.random.default_rng(seed).choice([0.1, 0.7, 1.0, 2.5], n),
}


@st.composite
def partitions(draw, scores=any_score):
    """Scores, labels, the part of every trial, and the type of the scores; both classes are somewhere."""
    score = np.array(draw(st.lists(scores, min_size=2, max_size=24)))
    with np.errstate(over="ignore"):
        score = score.astype(draw(st.sampled_from([np.float64, np.float32])))
    label = np.array(draw(st.lists(st.booleans(), min_size=len(score), max_size=len(score))))
    label[:2] = [True, False]
    part = np.array(draw(st.lists(st.integers(0, 4), min_size=len(score), max_size=len(score))))
    return score, label, part


def summary_of(score, label, weight, rows, **told):
    tar, non = rows & label, rows & ~label
    weights = {} if weight is None else {"tar_weights": weight[tar], "non_weights": weight[non]}
    return summarize(score[tar], score[non], metrics=METRICS, **weights, **told)


def numbers(value):
    """All numbers of an evaluation, curves included, by their names."""
    found = {}
    for field in dataclasses.fields(value):
        entry = getattr(value, field.name)
        if field.name == "bins" and not isinstance(entry, np.ndarray):
            entry = np.concatenate(
                [np.ravel(part) for side in (entry.tar, entry.non) for part in side if part is not None]
            )
            entry = entry.astype(np.float64)  # scores of no class of a part are of any kind
        if field.name in ("curves", "pav"):
            found |= {f"{field.name}.{name}": one for name, one in numbers(entry).items()}
        elif field.name == "operating_points":
            found[field.name] = np.array([dataclasses.astuple(point) for point in entry])
        elif field.name == "information_at":
            found[field.name] = np.array([(one.entropy, one.delivered, one.available) for one in entry])
        elif field.name not in ("name", "notes"):
            found[field.name] = np.asarray(entry)
    return found


@pytest.mark.parametrize("kind", ["none", "whole"])
@given(parts=partitions(), seed=st.integers(0, 9), way=st.sampled_from(["all", "left", "right"]))
def test_parts_add_up_to_the_whole_to_the_bit(kind, parts, seed, way):
    score, label, part = parts
    weight = None if WEIGHTS[kind] is None else WEIGHTS[kind](len(score), seed)
    if weight is not None:
        weight[:2] = 1
    partitions = [summary_of(score, label, weight, part == k) for k in range(5)]
    together = {
        "all": lambda: merged(partitions),
        "left": lambda: functools.reduce(operator.add, partitions),
        "right": lambda: functools.reduce(lambda one, two: two + one, partitions),
    }[way]()
    weights = {} if weight is None else {"tar_weights": weight[label], "non_weights": weight[~label]}
    whole = evaluate(score[label], score[~label], operating_points=METRICS, **weights)
    found = evaluation_of(together)
    expected = numbers(whole)
    for name, value in numbers(found).items():
        if name == "cllr":
            np.testing.assert_allclose(value, expected[name], rtol=1e-14)
        elif name == "information_at":  # entropy less Cllr
            np.testing.assert_allclose(value, expected[name], rtol=1e-14, atol=1e-15)
        else:
            np.testing.assert_array_equal(value, expected[name], err_msg=name)
            assert value.dtype == expected[name].dtype
    assert found.notes == whole.notes


@given(parts=partitions(st.floats(-30, 30)), seed=st.integers(0, 9))
def test_fractional_weights_add_up_to_rounding(parts, seed):
    score, label, part = parts
    weight = WEIGHTS["fractional"](len(score), seed)
    together = evaluation_of(merged(summary_of(score, label, weight, part == k) for k in range(5)))
    weights = {"tar_weights": weight[label], "non_weights": weight[~label]}
    whole = evaluate(score[label], score[~label], operating_points=METRICS, **weights)
    for name in ("n_tar", "n_non", "n_tied", "eer", "auc", "cllr", "min_cllr", "prbep"):
        np.testing.assert_allclose(getattr(together, name), getattr(whole, name), rtol=1e-12, atol=1e-14)
    for one, two in zip(together.operating_points, whole.operating_points, strict=True):
        np.testing.assert_allclose(dataclasses.astuple(one), dataclasses.astuple(two), rtol=1e-12, atol=1e-14)


def test_many_trials_in_parts_draw_the_same_pictures():
    """Beyond the number of trials from which pictures are made of cells."""
    rng = np.random.default_rng(4)
    tar, non = rng.normal(2, 2, 4000).round(2), rng.normal(-2, 2, 30_000).astype(np.float32)
    parts = merged(summarize(tar[k::3], non[k::3]) for k in range(3))
    whole = evaluate(tar, non)
    assert evaluation_of(parts).curves == whole.curves
    assert evaluation_of(parts).cllr == pytest.approx(whole.cllr, rel=1e-14)


def test_a_part_without_weights_counts_its_trials_once():
    plain, weighted = summarize([1.0, 2.0], [0.0]), summarize([1.0], [2.0, 0.5], tar_weights=[2], non_weights=[1, 0])
    found = evaluation_of(plain + weighted)
    assert (found.n_tar, found.n_non, found.is_weighted) == (4, 2, True)
    assert found.eer == evaluate([1.0, 2.0, 1.0, 1.0], [0.0, 2.0]).eer


def test_an_evaluation_needs_both_classes():
    nothing = summarize([], [])
    assert nothing.n_tar == nothing.n_non == nothing.n_tied == nothing.n_infinite == 0
    for summary, kind in ((nothing, "target"), (summarize([1.0], []), "non-target")):
        with pytest.raises(InputError, match=f"summary: no {kind} trials"):
            evaluation_of(summary)


def test_parts_that_were_asked_for_different_things_do_not_merge():
    one, two = (summarize([1.0], [0.0], metrics=TwoClassMetrics([p])) for p in (0.01, 0.05))
    with pytest.raises(InputError, match=r"has operating points p_target 0.01, the one at index 1 has .*0.05"):
        one + two
    with pytest.raises(InputError, match="none given"):
        merged([])
    with pytest.raises(TypeError):
        one + 1


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"tar": [np.nan]}, "tar: 1 of 1 scores are NaN"),
        ({"non_weights": [1.0, 2.0]}, "non_weights: 2 weights for 1 trials"),
        ({"tar": [[1.0]]}, "one-dimensional"),
        ({"tar": [], "tar_weights": [1.0]}, "tar_weights: 1 weights for 0 trials"),
    ],
)
def test_what_does_not_fit_is_refused(more, message):
    with pytest.raises(InputError, match=message):
        summarize(**{"tar": [1.0], "non": [0.0], **more})
