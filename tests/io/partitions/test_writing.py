"""Row groups that are written: as large as memory allows."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deciban.io.partitions.opening import open_trials
from deciban.io.partitions.writing import ROWS, rows_of_group, write_batches
from deciban.memory import bytes_of_row


@pytest.mark.parametrize(
    ("columns", "memory", "expected"), [(1, None, ROWS), (1, 25_000_000, 100_000), (100, 1 << 26, 10407)]
)
def test_a_row_group_fits_in_memory(columns, memory, expected):
    schema = pa.schema({f"c{k}": pa.float64() for k in range(columns)})
    assert rows_of_group(schema, memory) == expected


@pytest.mark.parametrize("n_classes", [2, 3, 6, 40, 1000])
def test_a_pass_over_classes_can_read_the_row_groups_of_text(n_classes):
    """It gives rows half of the memory; text has no row groups that a user could make smaller."""
    schema = pa.schema({f"c{k}": pa.float64() for k in range(n_classes)})
    for_rows = 22_500_000
    assert rows_of_group(schema, for_rows) * bytes_of_row(n_classes, 8, weighted=True) <= for_rows


def test_rows_are_written_in_such_groups(tmp_path):
    table = pa.table({"score": np.arange(10_000.0)})
    write_batches(tmp_path / "a.parquet", table.schema, table.to_batches(max_chunksize=999), memory=1)
    meta = pq.ParquetFile(tmp_path / "a.parquet").metadata
    assert max(meta.row_group(k).num_rows for k in range(meta.num_row_groups)) == 4096
    assert pq.read_table(tmp_path / "a.parquet")["score"].to_numpy().tolist() == np.arange(10_000.0).tolist()


def test_text_becomes_partitions_that_little_memory_holds(tmp_path):
    """In one group of rows they would be read at once."""
    rng = np.random.default_rng(1)
    label = np.where(rng.random(70_000) < 0.1, "target", "nontarget")
    scores = rng.normal(size=70_000).round(3)
    lines = [f"{score},{word}\n" for score, word in zip(scores.tolist(), label.tolist(), strict=True)]
    (tmp_path / "long.csv").write_text("score,label\n" + "".join(lines))
    source = open_trials(tmp_path / "long.csv", memory=5_000_000)
    assert source.n_rows == 70_000
    assert max(one.n_rows for one in source.partitions) <= 20_000
