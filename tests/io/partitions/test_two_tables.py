"""Files of targets and of non-targets, read together as one table."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deciban.io.partitions import writing as two_tables
from deciban.io.partitions.opening import open_trials
from deciban.io.source import TwoFiles
from deciban.trials.sources import TrialFields


@pytest.fixture
def source(tmp_path):
    for name, scores in (("tar", [2.0, 3.0, 1.0]), ("non", [-1.0, 0.5])):
        pq.write_table(pa.table({"score": scores}), tmp_path / f"{name}.parquet", row_group_size=2)
    return open_trials(TwoFiles(tmp_path / "tar.parquet", tmp_path / "non.parquet"))


def test_the_file_says_the_truth(source):
    chunks = [one.read(TrialFields((0,), truth=True)) for one in source.partitions]
    assert np.concatenate([one.scores[0] for one in chunks]).tolist() == [2.0, 3.0, 1.0, -1.0, 0.5]
    assert np.concatenate([one.truth for one in chunks]).tolist() == [True] * 3 + [False] * 2


def test_no_column_of_truth_is_made_where_none_is_wanted(source, monkeypatch):
    monkeypatch.setattr(two_tables, "of_numpy", None)
    assert [one.read(TrialFields((0,))).truth for one in source.partitions] == [None] * 3
