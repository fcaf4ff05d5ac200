"""Conditions of a page: rows of all, and numbers of the largest ones at the finest detail that has room for all."""

import math

import numpy as np
import pytest

import deciban
from deciban.report.live import as_script_data, finite, fitted, n_conditions


@pytest.fixture(scope="module")
def results():
    """Lines of 60, 30 and 10 trials, and one without a target."""
    line = np.repeat(["a", "b", "c", "d"], [60, 30, 10, 5])
    label = np.arange(105) % 2 == 0
    label[100:] = False
    score = np.where(label, 1.0, -1.0) + np.random.default_rng(0).normal(0, 1, 105)
    return deciban.evaluate({"score": score, "label": label, "line": line}, by="line")


def numbers(systems, n):
    """They take the more room, the greater n is."""
    return [{"x": np.random.default_rng(1).integers(0, 10**9, n).tolist()} for _ in systems]


def fit(results, room, details=(100, 10), **how):
    return fitted(results, ("eer", "cllr"), details, numbers, room, **how)


def test_rows_are_those_of_the_evaluation(results):
    found, _ = fit(results, 10_000)
    known = results.conditions[0].partitions[0].conditions
    assert [row["name"] for row in found["rows"]] == [one.name for one in known]
    for row, one in zip(found["rows"], known, strict=True):
        assert row["trials"] == dict(one.trials)
        assert row["where"] == [f"line={one.values['line']}"]
        assert row["why_none"] == one.why_none
        assert row["figures"]["eer"] == [None if one.evaluation is None else one.evaluation.eer]
    assert n_conditions(results) == 4
    assert [row["set"] for row in found["rows"]] == [0, 1, 2, None]


def test_less_is_told_of_all_before_the_smallest_are_left_out(results):
    rows = len(as_script_data(fit(results, 0)[0]["rows"]))
    much, little = (len(as_script_data(numbers([0], n))) for n in (100, 10))
    for n, room in ((100, 3 * much), (10, 3 * much - 1)):
        found, detail = fit(results, rows + room)
        assert (detail, len(found["sets"])) == (n, 3)
    fewest, detail = fit(results, rows + 2 * little)
    assert (detail, len(fewest["sets"])) == (10, 2)
    assert [row["set"] for row in fewest["rows"]] == [0, 1, None, None]


def test_what_a_page_has_no_numbers_of_cannot_be_chosen(results):
    found, _ = fit(results, 10_000, (1,), why_none=lambda one: "too few" if one.n_tar < 10 else "")
    assert [row["why_none"] for row in found["rows"]][:3] == ["", "", "too few"]


def test_without_conditions_there_is_nothing():
    alone = deciban.evaluate({"score": [1.0, -1.0], "label": [1, 0]}, score=["score"])
    assert fit(alone, 10_000) is None
    assert n_conditions(alone) == 0


def test_numbers_that_are_none():
    assert [finite(x) for x in (None, math.inf, -math.inf, math.nan, 0.25)] == [None, None, None, None, 0.25]
