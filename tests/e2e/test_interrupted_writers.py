"""A writer that is killed, or runs out of disk, leaves the old file or the new one, never half of one."""

import os
import resource
import signal
import subprocess
import sys
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deciban import Scores, merge_summaries, read_scores, summarize_files
from deciban.io import write

ENDINGS = [".txt", ".csv", ".txt.gz", ".csv.zst", ".h5", ".mat", ".parquet", ".arrow", ".npz"]


@pytest.fixture(scope="module")
def long_scores():
    enroll, test = np.meshgrid(np.arange(300), np.arange(200), indexing="ij")
    names = {"enroll": [f"m{i}" for i in enroll.ravel()], "test": [f"s{i}" for i in test.ravel()]}
    return Scores.of(names, np.random.default_rng(1).normal(size=enroll.size))


@pytest.fixture
def small_file():
    """Limit the size of files, as a full disk would; the signal that comes with it would end the tests."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    yield lambda size: resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    resource.setrlimit(resource.RLIMIT_FSIZE, before)
    signal.signal(signal.SIGXFSZ, handler)


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_full_disk_is_an_error_and_the_old_file_stays(ending, tmp_path, long_scores, small_file):
    path = tmp_path / f"scores{ending}"
    old = Scores.of({"enroll": ["a"], "test": ["b"]}, [0.5])
    write(old, path)
    before = path.read_bytes()
    small_file(20_000)
    with pytest.raises(OSError, match=r"."):
        write(long_scores, path)
    small_file(resource.RLIM_INFINITY)
    assert path.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == [path.name]


def test_a_full_disk_leaves_no_half_of_a_summary(tmp_path, monkeypatch, long_scores, small_file):
    monkeypatch.chdir(tmp_path)
    label = np.arange(len(long_scores.score)) % 3 == 0
    pq.write_table(pa.table({"score": long_scores.score, "label": label}), "s.parquet")
    summarize_files("s.parquet", "first")
    before = sorted(one.name for one in tmp_path.iterdir())
    small_file(20_000)
    for write_one in (lambda: summarize_files("s.parquet", "new"), lambda: merge_summaries(["first"], "new")):
        with pytest.raises(OSError, match=r"."):
            write_one()
    small_file(resource.RLIM_INFINITY)
    assert sorted(one.name for one in tmp_path.iterdir()) == before


_WRITE = """
import os, sys
from deciban import read_scores
from deciban.io import write
scores = read_scores(sys.argv[1])
for target in sys.stdin:
    if child := os.fork():
        print(child, flush=True)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
        continue
    while True:
        write(scores, target.strip())
"""
"""Forks a process for each file that it is told, and tells its number, and how it ended."""


@pytest.fixture(scope="module")
def writers(tmp_path_factory, long_scores):
    source = tmp_path_factory.mktemp("source") / "source.npz"
    write(long_scores, source)
    command = [sys.executable, "-c", _WRITE, source]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield process


@pytest.mark.parametrize("ending", [".txt", ".h5", ".parquet"])
def test_a_killed_writer_leaves_a_whole_file(ending, tmp_path, long_scores, writers):
    target = tmp_path / f"scores{ending}"
    old = Scores.of({"enroll": ["a"], "test": ["b"]}, [0.5])
    for delay in (0.0, 0.02, 0.05):
        write(old, target)
        writers.stdin.write(f"{target}\n")
        writers.stdin.flush()
        writer = int(writers.stdout.readline())
        time.sleep(delay)
        os.kill(writer, signal.SIGKILL)
        assert int(writers.stdout.readline()) == -signal.SIGKILL
        found = read_scores(target)
        assert np.array_equal(found.score, old.score) or np.array_equal(found.score, long_scores.score)
