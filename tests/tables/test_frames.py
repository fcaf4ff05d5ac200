"""Metrics as Arrow tables and data frames are those of the results, infinite ones included."""

import dataclasses
import math
import pickle
import sys
from dataclasses import replace

import numpy as np
import pyarrow.compute as pc
import pytest

from deciban import Results, evaluate_files, train_files
from deciban.errors import InputError
from deciban.evaluation import evaluate, evaluate_classes
from deciban.fusion import LinearFusion

RNG = np.random.default_rng(8)
TWO = evaluate(RNG.normal(1.0, 1.0, 50), RNG.normal(-1.0, 1.0, 90), name="inf", operating_points=[0.5, (0.01, 10, 1)])
INFINITE = evaluate([1.0, -math.inf], [0.0, -1.0], name="b")
MANY = evaluate_classes(RNG.normal(size=(60, 4)), np.arange(60) % 4, classes=list("wxyz"), p_target=[0.1, 0.5])


def test_a_row_for_each_system():
    frame = Results((TWO, INFINITE)).to_frame()
    assert frame["name"].tolist() == ["inf", "b"]
    for name in ("eer", "auc", "cllr", "min_cllr", "calibration_loss", "n_tar", "n_non", "mean_min_dcf"):
        assert frame[name].tolist() == [getattr(TWO, name), getattr(INFINITE, name)]
    assert frame["cllr"].dtype == np.float64
    assert frame["dr30_misses"].tolist() == [TWO.dr30[1], INFINITE.dr30[1]]
    assert frame["cllr"][1] == math.inf


def test_a_row_for_each_point():
    rows = TWO.to_arrow("point").to_pylist()
    assert [row.pop("name") for row in rows] == ["inf", "inf"]
    assert rows == [dataclasses.asdict(point) for point in TWO.operating_points]
    rows = MANY.to_arrow("point").to_pylist()
    assert [(row["p_target"], row["c_avg"]) for row in rows] == [(point.p_target, point.c_avg) for point in MANY.points]


def test_a_row_for_each_class():
    frame = MANY.to_frame("class")
    assert frame["class"].tolist() == list("wxyz")
    assert frame["error_rate"].tolist() == MANY.class_error_rates.tolist()
    assert frame["min_cllr"].tolist() == [metrics["min_cllr"] for metrics in MANY.detectors.values()]
    out = evaluate_classes(RNG.normal(size=(60, 4)), np.arange(60) % 4, p_out_of_set=0.2).to_frame("class")
    assert out["cllr"].isna().tolist() == [False, False, False, True]
    with pytest.raises(InputError, match="two classes"):
        TWO.to_arrow("class")
    with pytest.raises(InputError, match="by: got 'row'"):
        TWO.to_arrow("row")


def test_models_and_training_tell_rows_apart(tmp_path):
    for name in "ab":
        rows = [f"t{i},{RNG.normal(2.0 * (i % 2)):.3f},{i % 2}" for i in range(60)]
        (tmp_path / f"{name}.csv").write_text("trial,score,label\n" + "\n".join(rows) + "\n")
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"]
    done = train_files(paths, None, LinearFusion(), test_scores=paths)
    frame = done.to_frame()
    assert frame["trials"].tolist() == ["dev"] * 3 + ["eval"] * 3
    assert frame["role"].tolist() == ["single", "single", "fusion"] * 2
    assert frame["cllr"].tolist() == [row.dev.cllr for row in done.rows] + [row.eval.cllr for row in done.rows]
    both = evaluate_files(paths, model=done.model).to_frame()
    assert both["part"].tolist() == ["before", "before", "after"]


def test_pandas_is_asked_for_in_words(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(InputError, match="pandas"):
        TWO.to_frame()
    assert TWO.to_arrow().num_rows == 1


def test_all_metrics_are_rows_of_one_table():
    units = [f"s{k % 20}" for k in range(90)]
    one = evaluate(
        RNG.normal(1.0, 1.0, 50),
        RNG.normal(-1.0, 1.0, 90),
        tar_units=units[:50],
        non_units=units,
        operating_points=[0.5, 0.1],
    )
    rows = {(row.metric, row.place): row for row in Results((one, TWO)).metrics if row.system == one.name}
    assert rows["eer", ""].value == one.eer
    found = one.interval("eer")
    assert (rows["eer", ""].low, rows["eer", ""].high, rows["eer", ""].corrected) == (
        found.low,
        found.high,
        found.corrected,
    )
    for k, point in enumerate(one.operating_points):
        place = one.point_names[k]
        assert rows["act_dcf", place].value == point.act_dcf
        assert rows["act_dcf", place].low == one.interval(("act_dcf", k)).low
        assert rows["p_fa", place].value == point.p_fa
    first, *_ = one.information_at
    assert rows["information", "prior 0.5"].value == first.delivered
    assert rows["misleading_tar", "factor 1"].value == one.misleading[0].p_tar
    frame = Results((one, TWO)).metrics.to_frame()
    assert frame.columns.tolist() == ["system", "condition", "metric", "place", "value", "low", "high", "corrected"]
    assert frame[frame["system"] == "inf"]["low"].isna().all()
    assert INFINITE.metrics.to_arrow().filter(pc.field("metric") == "cllr")["value"].to_pylist() == [math.inf]


def test_metrics_of_classes_have_the_class_as_their_place():
    rows = {(row.metric, row.place): row.value for row in MANY.metrics}
    assert rows["error_rate", ""] == MANY.error_rate
    assert rows["c_avg", MANY.point_names[1]] == MANY.points[1].c_avg
    assert rows["mean_c_avg", ""] == MANY.mean_costs["c_avg"]
    assert rows["class_error_rate", "x"] == MANY.class_error_rates[1]
    assert rows["detection_cllr", "x"] == MANY.detectors["x"]["cllr"]


def test_tables_of_equal_metrics_are_equal():
    """NaN and unknown limits included: a result is equal to itself computed again."""
    for one in (TWO, MANY, INFINITE):
        again = pickle.loads(pickle.dumps(one.metrics))  # noqa: S301  # what was pickled here
        assert again == one.metrics
        assert again is not one.metrics
        assert hash(again) == hash(one.metrics)
        assert again[:2] == one.metrics[:2] != one.metrics[1:3]
    assert TWO.metrics != MANY.metrics
    assert TWO.metrics != tuple(TWO.metrics)
    row = replace(TWO.metrics[0], value=math.nan)
    assert row == replace(row, value=float("nan"))
    assert len({row, replace(row, value=float("nan"))}) == 1
