"""What is said of a summary of shards: its question, its shards, and which of them a pass has not seen."""

import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import deciban
from deciban.errors import FormatError
from deciban.workflows.inspection import inspect_file


@pytest.fixture
def merged(tmp_path, monkeypatch):
    """Two shards of 4 trials each, one of them a target, and their summary."""
    monkeypatch.chdir(tmp_path)
    for name, scores in (("a", [2.0, -1.0, 0.5, 1.0]), ("b", [1.5, 0.0, -3.0, -2.0])):
        pq.write_table(pa.table({"score": scores, "label": [True, False, False, False]}), f"{name}.parquet")
        deciban.summarize_files(f"{name}.parquet", f"{name}.summary", operating_points=[0.1, (0.5, 2, 1)])
    deciban.merge_summaries(["b.summary", "a.summary"], "all.summary")
    return "all.summary"


def test_the_question_and_the_shards_are_told(merged):
    found = inspect_file(merged)
    told = dict(found.properties)
    assert told["shards"] == "2: a.parquet, b.parquet"
    assert told["rows"] == "8"
    assert told["labels"] == "2 targets, 6 non-targets"
    assert re.match(r"p_target 0\.1\b.*0\.5", told["asked operating_points"])
    assert (told["passes"], found.remarks) == ("1: figures are exact", ())
    assert inspect_file(merged, format="summary") == found


def test_segments_of_many_classes_are_counted(tmp_path):
    rng = np.random.default_rng(0)
    label = np.array(["eng", "fra", "fra", "deu"])
    columns = {name: rng.normal(size=4) for name in ("deu", "eng", "fra")}
    pq.write_table(pa.table({"segment": [*"pqrs"], "class": label, **columns}), tmp_path / "c.parquet")
    deciban.summarize_files(tmp_path / "c.parquet", tmp_path / "c.summary")
    told = dict(inspect_file(tmp_path / "c.summary").properties)
    assert told["about"] == "3 classes: deu, eng, fra"
    assert told["segments of each class"] == "deu 1, eng 1, fra 2"
    assert told["passes"].startswith("1: minima of detectors and pairs have bounds")
    deciban.summarize_files(tmp_path / "c.parquet", tmp_path / "c.refined", refine=tmp_path / "c.summary")
    found = inspect_file(tmp_path / "c.refined")
    assert dict(found.properties)["passes"].startswith("2: minima of detectors and pairs are exact")
    assert not found.remarks
    assert deciban.evaluate_files(tmp_path / "c.refined").systems[0].bounds.keys() >= {"min_cllr"}


def test_a_damaged_summary_is_not_described(merged):
    table = pq.read_table(merged)
    n_non = table["count"].to_numpy() + 1
    at = table.schema.get_field_index("count")
    pq.write_table(table.set_column(at, "count", pa.array(n_non)), "forged")
    with pytest.raises(FormatError, match="forged: is damaged"):
        inspect_file("forged")
