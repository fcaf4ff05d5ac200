"""What the scripts of a page know of pairs is what comparisons say."""

import numpy as np
import pytest

from deciban.analysis.comparison import compare_results
from deciban.evaluation import Results, evaluate
from deciban.report.cards import comparison_of
from deciban.report.live import pair_data


def systems(names, **how):
    rng = np.random.default_rng(1)
    unit = np.repeat(np.arange(30), 3)
    common = rng.normal(size=(2, 90))
    made = []
    for k, name in enumerate(names):
        tar, non = common + 0.6 * rng.normal(size=(2, 90)) + np.array([[1 + k], [-1 - k]])
        made.append(evaluate(tar, non, name=name, **{"tar_units": unit, "non_units": unit, **how}))
    return Results(tuple(made))


def pairs_of(results):
    return pair_data(results, comparison_of(results, None))


def test_pairs_are_those_of_a_comparison_of_all():
    results = systems(["a-1", "B"])
    found, expected = pairs_of(results), compare_results(results).pairs[0]
    (pair,) = found["pairs"]
    assert pair["of"] == [0, 1]
    assert len(pair["rows"]) == len(expected.metrics)
    for row, one in zip(pair["rows"], expected.metrics, strict=True):
        assert float(row[1].replace(",", "")) == pytest.approx(one.values[0] * (100 if "%" in row[0] else 1), abs=0.006)
        assert row[3].startswith("\N{MINUS SIGN}" if one.interval.estimate < 0 else ("+", "0"))
    for curve, one in zip(pair["curves"], expected.curves, strict=True):
        assert curve["difference"] == pytest.approx(one.difference.tolist(), rel=1e-3)
        assert curve["low"] == pytest.approx(one.low.tolist(), rel=1e-3)
    assert any("a-1" in line or "B" in line for line in pair["sentences"])  # names stay as they are


def test_every_two_of_five_systems_are_there():
    found = pairs_of(systems("ABCDE"))
    assert sorted(pair["of"] for pair in found["pairs"]) == [[i, j] for i in range(5) for j in range(i + 1, 5)]


def test_of_seven_only_pairs_with_the_best_have_curves():
    results = systems("ABCDEFG")
    best = min(results.systems, key=lambda one: one.eer)
    found = pairs_of(results)["pairs"]
    assert len(found) == 21
    place = results.systems.index(best)
    assert [pair["of"] for pair in found if pair["curves"]] == [pair["of"] for pair in found if place in pair["of"]]
    (pair,) = (pair for pair in found if pair["of"] == [0, place])
    assert pair["curves"] == pairs_of(Results((results.systems[0], best)))["pairs"][0]["curves"]


def test_of_twelve_each_is_compared_with_the_first():
    found = pairs_of(systems([f"s{k}" for k in range(12)]))
    assert [pair["of"] for pair in found["pairs"]] == [[0, k] for k in range(1, 12)]


def test_one_system_or_no_units_have_no_pairs():
    assert pairs_of(systems("A")) is None
    assert pairs_of(systems("AB", tar_units=None, non_units=None)) is None
