"""What is said of a summary of shards: what it holds, and which shards were read."""

from pathlib import Path

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
        table = {"score": scores, "label": [True, False, False, False], "spk": [*"xyxz"], "w": [1, 2, 0, 1]}
        pq.write_table(pa.table(table), f"{name}.parquet")
        deciban.summarize_files(f"{name}.parquet", f"{name}.summary")
    deciban.merge_summaries(["b.summary", "a.summary"], "all.summary")
    return "all.summary"


def test_shards_and_trials_are_told(merged):
    told = dict(inspect_file(merged).properties)
    assert told["partitions"] == "2: a.parquet, b.parquet"
    assert told["rows"] == "8"
    assert told["labels"] == "2 targets, 6 non-targets"
    assert (told["weights"], told["units"]) == ("every trial counts once", "every trial is a unit")
    assert any(
        "score='score'" in value for name, value in inspect_file(merged).properties if name == "the first partition"
    )


def test_weights_and_units_are_told(merged):
    deciban.summarize_files("a.parquet", merged, weights="w", units="spk")
    told = dict(inspect_file(merged).properties)
    assert (told["weights"], told["units"]) == ("column 'w'", "by column 'spk'")


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
    whole = Path(merged).read_bytes()
    Path("forged").write_bytes(whole.replace(b'"n_rows"', b'"m_rows"'))
    with pytest.raises(FormatError, match="forged"):
        inspect_file("forged")
