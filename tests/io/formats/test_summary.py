"""A summary of shards is a format that holds no trials: reading some says so, and what else can be done."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import deciban
from deciban.errors import FormatError


@pytest.fixture
def shard(tmp_path):
    path = tmp_path / "part.parquet"
    pq.write_table(pa.table({"score": np.array([0.5, -1.0, 2.0]), "label": [True, False, False]}), path)
    return path


@pytest.mark.parametrize("format", [None, "summary"])
@pytest.mark.parametrize("read", [deciban.read_scores, deciban.read_key])
def test_no_trials_are_read_from_a_summary(read, format, shard, tmp_path):
    deciban.summarize_files(shard, tmp_path / "part.summary")
    with pytest.raises(
        FormatError, match=r"part\.summary: is a summary of shards, and holds no trials.*name the shards"
    ):
        read(tmp_path / "part.summary", format=format)


def test_what_is_called_a_summary_must_be_one(shard):
    with pytest.raises(FormatError, match=r"part\.parquet: is no summary of shards"):
        deciban.read_scores(shard, format="summary")
