"""The table of metrics: everything that shows metrics loops over it."""

import numpy as np
import pytest

import deciban
from deciban.evaluation import TwoClassFigures, evaluate_classes, metrics
from deciban.evaluation.metrics import JSON_PLACES, METRICS, keys_of, metric_of, name_with_place
from deciban.rules import ThresholdWeights

RNG = np.random.default_rng(3)
UNITS = np.arange(40)
REQUEST = TwoClassFigures(
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


def test_a_row_is_all_that_a_summary_table_needs(monkeypatch):
    row = metrics.Metric("n_errors", "errors at 0", digits=1)
    monkeypatch.setattr(type(TWO), "n_errors", property(lambda one: one.n_tar * one.eer_p_miss), raising=False)
    for module in ("metrics", "one_system"):
        monkeypatch.setattr(f"deciban.evaluation.{module}.METRICS", (*METRICS, row))
    monkeypatch.setitem(metrics._BY_NAME, "n_errors", row)
    headings, values = [line for line in TWO.table("csv").splitlines() if not line.startswith("#")][:2]
    assert headings.split(",")[-1] == "errors at 0"
    assert float(values.split(",")[-1]) == pytest.approx(TWO.n_errors, abs=0.06)
    assert TWO.summary_keys()[-1] == "n_errors"


def test_a_name_with_its_place_is_what_options_take():
    for key in keys(TWO):
        if key in TWO.estimates:
            assert TWO.key_called(name_with_place(key)) == key
