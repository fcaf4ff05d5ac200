"""How much memory reading files takes, about."""

import gzip

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from deciban.io.recognition import memory_of


def test_binary_files_and_text(tmp_path):
    (tmp_path / "a.txt").write_text("m s 0.5\n" * 10)
    np.save(tmp_path / "a.npy", np.zeros(100))
    text, binary = (tmp_path / name for name in ("a.txt", "a.npy"))
    assert memory_of([text]) == 10 * text.stat().st_size
    assert memory_of([text], binary) == 10 * text.stat().st_size + 14 * binary.stat().st_size
    assert memory_of([str(tmp_path / "a.*")]) == memory_of([tmp_path]) == memory_of([text], binary)
    assert memory_of(["-", tmp_path / "nothing"]) == 0


def test_however_small_a_file_was_made_its_rows_count(tmp_path):
    names = pa.array(["a-long-name-of-a-model"] * 50_000)
    table = pa.table({"enroll": names, "score": np.zeros(50_000, np.float32), "label": np.arange(50_000) > 9})
    pq.write_table(table, tmp_path / "plain", compression="NONE", use_dictionary=False)
    pq.write_table(table, tmp_path / "small", compression="ZSTD")
    plain, small = tmp_path / "plain", tmp_path / "small"
    assert small.stat().st_size < plain.stat().st_size / 200
    assert memory_of([small]) >= 50_000 * 60
    assert memory_of([plain]) >= 6 * 50_000 * len("a-long-name-of-a-model")
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(b"m s 0.5\n" * 1000))
    assert memory_of([tmp_path / "a.txt.gz"]) == 40 * (tmp_path / "a.txt.gz").stat().st_size


def test_of_a_damaged_file_its_size_counts(tmp_path):
    (tmp_path / "damaged").write_bytes(b"PAR1" + bytes(100))
    assert memory_of([tmp_path / "damaged"]) == 14 * 104


def test_numbers_of_several_classes_take_more(tmp_path):
    n, scores = 10_000, np.zeros(10_000, np.float32)
    pq.write_table(pa.table({"a": scores, "b": scores}), tmp_path / "two.parquet")
    pq.write_table(pa.table({"a": scores, "b": scores, "c": scores}), tmp_path / "three.parquet")
    two, three = (memory_of([tmp_path / f"{name}.parquet"]) for name in ("two", "three"))
    assert three - two > 3 * 80 * n
