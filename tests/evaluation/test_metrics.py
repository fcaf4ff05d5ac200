"""The table of metrics: everything that shows metrics loops over it."""

import json
import math
import pickle
from dataclasses import replace

import jsonschema
import numpy as np
import pytest

import deciban
from deciban.evaluation import (
    Metric,
    TwoClassMetrics,
    evaluate_classes,
    evaluation_of,
    merged,
    register_metric,
    summarize,
)
from deciban.evaluation.metrics import JSON_PLACES, METRICS, keys_of, metric_of, name_with_place
from deciban.evaluation.saved import json_schemas, read_saved
from deciban.report.files import render
from deciban.rules import ThresholdWeights

RNG = np.random.default_rng(3)
UNITS = np.arange(40)
REQUEST = TwoClassMetrics(
    [0.1, 0.5], fnmr_at=[0.1], at_thresholds={"dev": 0.0}, posteriors_at=[0.2], rule=ThresholdWeights([0.5])
)
TWO = deciban.evaluate(
    RNG.normal(1, 2, 400), RNG.normal(-1, 2, 400), operating_points=REQUEST,
    tar_units=np.repeat(UNITS, 10), non_units=np.repeat(UNITS, 10),
)  # fmt: skip
LABEL = np.arange(300) % 3
CLASSES = evaluate_classes(
    2 * np.eye(3)[LABEL] + RNG.normal(size=(300, 3)), LABEL, p_target=[0.5, 0.1], units=LABEL * 20 + np.arange(300) % 20
)
SYSTEMS = pytest.mark.parametrize("one", [TWO, CLASSES], ids=["two-class", "classes"])


def keys(one):
    known = [metric for metric in METRICS if metric.per in ("system", "point")]
    return keys_of(known, one.kind, {"point": len(one.cost_points)})


@SYSTEMS
def test_every_metric_of_a_system_has_a_value_and_a_label(one):
    for key in keys(one):
        assert np.isfinite(one.value(key)), key
        assert one.words(key).startswith(metric_of(key).label)


@SYSTEMS
def test_every_estimate_is_a_value_of_the_system(one):
    for key in keys(one):
        if key in one.estimates:
            assert one.estimates[key].value == pytest.approx(one.value(key), rel=1e-12)


def test_a_name_means_one_thing_for_each_kind_and_place():
    known = [(metric.name, metric.per, kind) for metric in METRICS for kind in metric.kinds]
    assert len(known) == len(set(known))


def test_every_interval_on_request_stands_in_its_list_in_json():
    found = TWO.to_dict()
    for key in TWO.estimates:
        if not isinstance(key, str) and key[0] in JSON_PLACES:
            where, name = JSON_PLACES[key[0]]
            assert found[where][key[1]]["intervals"][name]["low"] is not None, key
    assert {name for name, _ in (JSON_PLACES[key[0]] for key in TWO.estimates if key[0] in JSON_PLACES)} == {
        "misleading_evidence", "at_thresholds", "information_at", "rule_costs", "posterior_scores"
    }  # fmt: skip


NAMES = [f"s{k}" for k in range(20)]


def cllr_costs(llr):
    """Costs whose class means add up to Cllr."""
    return np.logaddexp(0, -llr) / math.log(4), np.logaddexp(0, llr) / math.log(4)


@pytest.fixture
def register():
    """Register metrics until the end of the test."""
    removals = []
    yield lambda *given, **options: removals.append(register_metric(Metric(*given, **options)))
    for remove in removals:
        remove()


def test_a_registered_metric_is_shown_wherever_metrics_are(register, tmp_path):
    register("twin", "twin of Cllr", costs=cllr_costs, by_condition=True)
    table = tmp_path / "t.csv"
    rows = (
        f"{label},s{k % 20},{'xy'[k % 2]},{score}"
        for label, mean in (("target", 1), ("nontarget", -1))
        for k, score in enumerate(RNG.normal(mean, 2, 200))
    )
    table.write_text("label,speaker,cond,score\n" + "\n".join(rows) + "\n")
    result = deciban.evaluate_files([table], units=["speaker"], by=["cond"])
    one, found = result.systems[0], json.loads(result.to_json())
    jsonschema.validate(found, json_schemas()["results"])
    twins = [row for row in result.metrics if row.metric == "twin"]
    assert one.twin == pytest.approx(one.cllr, rel=1e-14)
    ends = [(one.interval(name).low, one.interval(name).high) for name in ("twin", "cllr")]
    assert ends[0] == pytest.approx(ends[1], rel=1e-12)
    assert found["systems"][0]["twin"] == one.twin == one.to_frame()["twin"][0]
    assert found["systems"][0]["intervals"]["twin"]["low"] == one.interval("twin").low == twins[0].low
    assert {(row.system, row.condition) for row in twins} == {
        (s.name, c) for s in result.systems for c in ("", "cond x", "cond y")
    }
    assert "twin of Cllr" in result.table()
    assert "twin of Cllr low" in result.table("csv")
    assert "twin of Cllr" in render(result)
    other = deciban.evaluate(RNG.normal(1, 1, 20), RNG.normal(-1, 1, 20), tar_units=NAMES, non_units=NAMES)
    difference = deciban.compare(one, other).difference
    assert difference("twin").p_value == pytest.approx(difference("cllr").p_value, rel=1e-9)
    saved = tmp_path / "r.json"
    saved.write_text(result.to_json())
    assert read_saved(saved)[0].metric("twin").low == one.interval("twin").low


def test_results_from_before_a_registration_lack_the_metric(register):
    before = deciban.evaluate([1.0, 2.0], [0.0, 1.0])
    register("twin", "twin of Cllr", costs=cllr_costs)
    after = deciban.evaluate([1.0, 2.0], [0.0, 1.0])
    assert "twin" not in before.table()
    assert "twin" in deciban.Results((after, before)).table()


def test_costs_cannot_change_the_scores(register):
    def costs(llr):
        llr *= 0.5
        return cllr_costs(llr)

    plain = deciban.evaluate([1.0, 2.0, -1.0], [0.0, 1.0, -3.0])
    register("halved", "halved", costs=costs)
    assert replace(deciban.evaluate([1.0, 2.0, -1.0], [0.0, 1.0, -3.0]), own=()) == plain


def test_sums_of_registered_costs_merge(register):
    register("twin", "twin of Cllr", costs=cllr_costs)
    parts = [summarize(RNG.normal(1, 1, n), RNG.normal(-1, 1, n)) for n in (5, 70)]
    both = evaluation_of(merged(parts))
    assert both.twin == pytest.approx(both.cllr, rel=1e-14)
    assert pickle.loads(pickle.dumps(both)).twin == both.twin  # noqa: S301


@pytest.mark.parametrize(
    ("costs", "words"),
    [
        (lambda llr: (llr, llr), "a negative cost or NaN"),
        (lambda llr: (llr * np.nan, llr), "a negative cost or NaN"),
        (lambda _: (np.ones(1), np.ones(1)), r"an array of shape \(1,\)"),
        (lambda _: None, "costs must return two arrays of numbers"),
    ],
)
def test_registered_costs_are_checked(register, costs, words):
    register("wrong", "wrong", costs=costs)
    with pytest.raises(deciban.InputError, match=f"metric 'wrong'.*{words}"):
        deciban.evaluate([-1.0, 2.0], [0.0, 1.0])


@pytest.mark.parametrize(
    "given",
    [
        ("eer", "EER"),
        ("units", "x"),
        ("n_tar", "x"),
        ("Hinge", "x"),
        ("my metric", "x"),
        ("new", " "),
        ("new", "x", ("classes",)),
        ("new", "x", ("two-class",), "point"),
    ],
)
def test_names_and_kinds_of_registered_metrics_are_checked(given):
    with pytest.raises(deciban.InputError, match=f"metric '{given[0]}'"):
        register_metric(Metric(*given, costs=cllr_costs))


def test_a_registered_metric_does_not_replace_another_number(register):
    register("plot", "plot", costs=cllr_costs)
    with pytest.raises(deciban.InputError, match="metric 'plot': results have another value"):
        deciban.evaluate([1.0], [0.0])


def test_a_name_with_its_place_is_what_options_take():
    for key in keys(TWO):
        if key in TWO.estimates:
            assert TWO.key_called(name_with_place(key)) == key
