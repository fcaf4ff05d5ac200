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
    assert told["passes"].startswith("1: figures of ranks have bounds")
    assert "--refine all.summary" in found.remarks[0]
    assert inspect_file(merged, format="summary") == found


def test_shards_that_a_pass_has_not_seen_are_named(merged):
    for name in ("a", "b"):
        deciban.summarize_files(f"{name}.parquet", f"{name}.refined", refine=merged)
    one = inspect_file("a.refined")
    assert dict(one.properties)["seen by pass 2"] == "1 of 2 shards"
    assert one.remarks[0].startswith("1 shard missing in pass 2: b.parquet.")
    deciban.merge_summaries(["a.refined", "b.refined"], "refined")
    assert (inspect_file("refined").remarks, dict(inspect_file("refined").properties)["passes"]) == (
        (),
        "2: figures are exact",
    )


def test_segments_of_many_classes_are_counted(tmp_path):
    rng = np.random.default_rng(0)
    label = np.array(["eng", "fra", "fra", "deu"])
    columns = {name: rng.normal(size=4) for name in ("deu", "eng", "fra")}
    pq.write_table(pa.table({"segment": [*"pqrs"], "class": label, **columns}), tmp_path / "c.parquet")
    deciban.summarize_files(tmp_path / "c.parquet", tmp_path / "c.summary")
    told = dict(inspect_file(tmp_path / "c.summary").properties)
    assert told["about"] == "3 classes: deu, eng, fra"
    assert told["segments of each class"] == "deu 1, eng 1, fra 2"


def test_a_damaged_summary_is_not_described(merged):
    table = pq.read_table(merged)
    n_non = table["n_non"].to_numpy() + 1
    at = table.schema.get_field_index("n_non")
    pq.write_table(table.set_column(at, "n_non", pa.array(n_non)), "forged")
    with pytest.raises(FormatError, match="forged: is damaged"):
        inspect_file("forged")
