"""Commands keep to the memory that is allowed: measured from outside, as what the process cannot give back."""

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/status").exists() or "RssAnon" not in Path("/proc/self/status").read_text(),
    reason="this system does not tell anonymous memory (RssAnon in /proc/PID/status)",
)


def anonymous(process):
    """Bytes now; 0 of one that has ended."""
    try:
        lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return sum(1024 * int(line.split()[1]) for line in lines if line.startswith("RssAnon:"))


def most_memory(*words):
    """The most that a command takes while it runs, in bytes, and what it says."""
    environment = os.environ | {"NO_COLOR": "1"}
    with subprocess.Popen(
        [sys.executable, "-m", "deciban", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
    ) as process:
        most = 0
        while process.poll() is None:
            most = max(most, anonymous(process))
            time.sleep(0.005)
        _, err = process.communicate()
    assert process.returncode == 0, err.decode()
    return most, err.decode()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A million trials in two files, half of them targets."""
    rng, found = np.random.default_rng(11), tmp_path_factory.mktemp("trials")
    for at in range(2):
        truth = rng.random(500_000) < 0.5
        score = (rng.normal(0.0, 2.0, len(truth)) + np.where(truth, 3.0, -3.0)).astype(np.float32)
        table = pa.table({"score": score, "label": truth, "weight": rng.random(len(truth)) + 0.5})
        pq.write_table(table, found / f"{at}.parquet", row_group_size=100_000)
    return found


def test_trials_of_which_neither_class_fits(folder):
    allowed = 110_000_000
    most, said = most_memory("eval", str(folder), "--memory", str(allowed), "--no-intervals")
    assert "1,000,000 rows in 10 batches" in said
    assert 30_000_000 < most <= allowed


def test_summaries_are_written_and_evaluated(folder, tmp_path):
    most, _ = most_memory("summarize", str(folder), "-o", str(tmp_path / "s"), "--memory", "150MB")
    assert most <= 150_000_000
    most, _ = most_memory("eval", str(tmp_path / "s"), "--memory", "150MB")
    assert most <= 150_000_000


def test_weights_take_memory_too(folder):
    most, _ = most_memory("eval", str(folder), "--memory", "140MB", "--weights", "weight", "--no-intervals")
    assert 60_000_000 < most <= 140_000_000


def test_a_table_with_quoted_names_is_converted(tmp_path):
    n = 400_000
    names = {"enroll": pa.array([f"model {i % 100}" for i in range(n)]), "test": pa.array([f"u{i}" for i in range(n)])}
    pyarrow.csv.write_csv(pa.table(names | {"score": np.linspace(-3, 3, n)}), tmp_path / "a.csv")
    most, _ = most_memory("convert", str(tmp_path / "a.csv"), str(tmp_path / "a.parquet"), "--memory", "110MB")
    assert most <= 110_000_000
    assert pq.read_metadata(tmp_path / "a.parquet").num_rows == n
