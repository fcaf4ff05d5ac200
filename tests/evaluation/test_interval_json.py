"""Intervals in JSON and in frames stand where their metrics do."""

import math

import jsonschema
import numpy as np
import pytest

import deciban
from deciban.evaluation import TwoClassMetrics, evaluate_classes
from deciban.evaluation.one_system import with_intervals
from deciban.rules import ThresholdWeights

RNG = np.random.default_rng(3)
UNITS = {"tar_units": np.arange(120) % 40, "non_units": RNG.integers(0, 40, (500, 2))}
WANTED = TwoClassMetrics(
    operating_points=[0.5, 0.01],
    eer_conventions=True,
    fnmr_at=[0.1, 0.02],
    fmr_at=0.05,
    at_thresholds={"elsewhere": 0.3},
    posteriors_at=0.2,
    rule=ThresholdWeights([0.3, 0.9], [0.4, 0.6]),
)
ONE = deciban.evaluate(RNG.normal(1, 1, 120), RNG.normal(-1, 1, 500), operating_points=WANTED, **UNITS)
FOUND = ONE.to_dict()


def same(shown, interval):
    expected = (interval.low, interval.high, interval.standard_error, interval.level, interval.method)
    assert tuple(shown[name] for name in ("low", "high", "standard_error", "level", "method")) == expected
    assert shown["corrected"] == interval.corrected


@pytest.mark.parametrize(
    ("place", "metric"),
    [
        (("intervals", "eer"), "eer"),
        (("rule_costs", 0, "intervals", "cost"), ("rule_cost", 0)),
        (("rule_costs", 1, "intervals", "minimum"), ("rule_minimum", 1)),
        (("rule_costs", 0, "intervals", "information"), ("rule_information", 0)),
        (("intervals", "mean_min_dcf"), "mean_min_dcf"),
        (("intervals", "eer_conventions", "rocch"), ("eer_conventions", "rocch")),
        (("operating_points", 1, "intervals", "min_dcf"), ("min_dcf", 1)),
        (("operating_points", 0, "intervals", "p_fa"), ("p_fa", 0)),
        (("misleading_evidence", 0, "intervals", "p_non"), ("misleading_non", 0)),
        (("at_thresholds", 0, "intervals", "hter"), ("at_thresholds_hter", 0)),
        (("posterior_scores", 0, "intervals", "brier"), ("brier", 0)),
    ],
)
def test_intervals_stand_beside_their_figures(place, metric):
    found = FOUND
    for step in place:
        found = found[step]
    same(found, ONE.interval(metric))


def test_limited_rates_are_told_apart_by_what_is_limited():
    lists = [(name, entry) for name in ("fnmr_at_fmr", "fmr_at_fnmr") for entry in FOUND[name]]
    assert len(lists) == 3
    assert "intervals" not in lists[1][1]  # FMR 0.02 allows too few errors
    for k, (name, entry) in enumerate(lists):
        if "intervals" not in entry:
            continue
        (shown,) = entry["intervals"].items()
        assert shown[0] == name.partition("_")[0]
        same(shown[1], ONE.interval(("rates_at", k)))


def test_every_interval_has_a_place():
    def count(found):
        if isinstance(found, dict):
            return int("standard_error" in found) + sum(map(count, found.values()))
        return sum(map(count, found)) if isinstance(found, list) else 0

    assert count(FOUND) == len(ONE.uncertainty.estimates)


def test_units_are_told_or_null():
    assert FOUND["units"] == {"n": 40, "noun": "unit", "source": ONE.uncertainty.source}
    plain = deciban.evaluate([1.0, 2.0], [0.0, 1.5], intervals=False).to_dict()
    assert (plain["units"], plain["intervals"]) == (None, {})
    given = {"operating_points": [{"p_target": 0.5}]}
    assert with_intervals(given, None)["operating_points"] is given["operating_points"]


def test_what_is_given_is_not_changed():
    given = {"operating_points": [{"p_target": 0.5}, {"p_target": 0.01}]}
    scores, units = ([1.0, 2.0, 3.0, 0.5, 1.0], [0.0, 1.5, -1.0, -2.0, -1.5]), range(5)
    fewer = deciban.evaluate(*scores, tar_units=units, non_units=units, operating_points=[0.5, 0.01])
    point = {"operating_points": given["operating_points"], "misleading_evidence": [{} for _ in fewer.misleading]}
    point["information_at"] = [{} for _ in fewer.information_at]
    assert "intervals" in with_intervals(point, fewer.uncertainty)["operating_points"][0]
    assert given == {"operating_points": [{"p_target": 0.5}, {"p_target": 0.01}]}


def test_results_fit_their_schema_and_infinite_bounds_are_words():
    scores = RNG.normal(0, 1, (60, 3))
    classes = evaluate_classes(scores, np.arange(60) % 3, units=np.arange(60) // 2)
    units = {"tar_units": range(6), "non_units": range(6)}
    drawn = deciban.evaluate([2.0, 1.0, 3.0, 4.0, 0.5, 2.5], [0.0, 1.5, -1.0, -2.0, -1.5, -3.0], **units, bootstrap=30)
    for one in (ONE, classes, drawn):
        jsonschema.Draft202012Validator(deciban.json_schemas()["results"]).validate(deciban.Results((one,)).to_dict())
    assert (
        classes.to_dict()["detectors"][1]["intervals"]["eer"]["low"] == classes.interval(("detectors", "1", "eer")).low
    )
    assert drawn.to_dict()["bootstrap"]["n_replicates"] == 30
    separable = deciban.evaluate([2.0, 3.0] * 3, [0.0, 1.0] * 3, **units).to_dict()
    assert "eer" in separable["intervals"]
    words = [v for one in separable["intervals"].values() for v in one.values() if isinstance(v, float)]
    assert not any(map(math.isinf, words))


def test_frames_have_columns_of_bounds():
    (row,) = ONE.to_arrow().to_pylist()
    assert (row["eer_low"], row["eer_high"]) == (ONE.interval("eer").low, ONE.interval("eer").high)
    assert (row["units_n"], row["units_noun"]) == (40, "unit")
    rows = ONE.to_arrow("point").to_pylist()
    assert [row["min_dcf_high"] for row in rows] == [ONE.interval(("min_dcf", k)).high for k in (0, 1)]
    assert not any(name.endswith("_low") for name in deciban.evaluate([1.0], [0.0]).to_arrow().column_names)
