"""DuckDB keeps to its folder and its memory, and ends as everything else does."""

import signal
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest

from deciban.errors import FormatError, InputError
from deciban.io.shards import database as module
from deciban.io.shards.database import database
from deciban.io.shards.opening import open_shards
from support.sources import trials, write

LONG = "select max(hash(range)) from range(100000000000)"


def numbers(n, fault=None):
    for at in range(n):
        if at == 3 and fault is not None:
            raise fault
        yield pa.record_batch({"row": pa.array(np.arange(1000) + 1000 * at)})


def test_a_stream_is_read_once_and_its_faults_are_those_of_its_reader(tmp_path):
    with database(tmp_path, 10**8, 5000, "numbers") as made:
        assert made.run("select count(*), sum(row) from given", given=numbers(5)) == [(5000, 5000 * 4999 // 2)]
    with (
        pytest.raises(FormatError, match="^scores.txt:3: is damaged$"),
        database(tmp_path, 10**8, 5000, "numbers") as made,
    ):
        made.run("select count(*) from given", given=numbers(5, FormatError("scores.txt:3: is damaged")))


def test_batches_come_in_the_order_that_is_asked_for(tmp_path):
    with database(tmp_path, 10**8, 5000, "numbers") as made:
        made.run("create table kept as select row from given", given=numbers(5))
        found = pa.Table.from_batches(made.batches("select row from kept order by row desc", 700))
        none = pa.Table.from_batches(made.batches("select row from kept where row < 0", 700))
    assert found["row"].to_pylist() == list(range(5000))[::-1]
    assert (none.column_names, len(none)) == (["row"], 0)


def test_what_is_sorted_goes_to_the_folder_and_too_little_memory_says_so(tmp_path):
    with database(tmp_path, 10**8, 1, "numbers") as made:
        made.run("create table many as select hash(range) as h from range(20000000)")
        assert sum(file.stat().st_size for file in tmp_path.rglob("*")) > 10**8
    with (
        pytest.raises(InputError, match="^memory: a and b took more than is allowed. Allow more"),
        database(tmp_path / ".", 10**8, 1, "a and b") as made,
    ):
        made.run("select list(h) from many")


def test_a_full_disk_is_one_of_the_system(tmp_path):
    with pytest.raises(OSError, match="No space left") as told, database(tmp_path, 10**8, 1, "numbers") as made:
        made.run("set max_temp_directory_size = '10MB'")
        made.run("create temp table many as select hash(range) as h, range as r from range(20000000)")
    assert told.value.filename == str(tmp_path)


def test_one_sentence_says_what_to_install(tmp_path, monkeypatch):
    rng = np.random.default_rng(1)
    table = trials(rng)
    scores = write(table.select(["enroll", "test", "score"]), tmp_path / "scores", rng)
    key = write(table.drop_columns("score"), tmp_path / "key", rng)
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(InputError, match=r"not installed: pip install 'deciban\[big\]'"):
        open_shards(scores, key)
    assert open_shards(scores, key, by_order=True).n_rows == 60  # which needs none


def test_nothing_imports_it_before_it_is_needed(tmp_path):
    rng = np.random.default_rng(2)
    folder = write(trials(rng), tmp_path / "trials", rng)
    code = f"import sys, deciban.io.shards.opening as o; o.open_shards({str(folder)!r}); print('duckdb' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"


def test_threads_are_as_many_as_memory_allows(tmp_path, monkeypatch):
    monkeypatch.setattr(module.os, "sched_getaffinity", lambda _: set(range(64)))
    for memory, expected in ((10**6, 1), (2 * 10**8, 2), (10**10, 64)):
        with database(tmp_path, memory, 1, "numbers") as made:
            assert made.run("select current_setting('threads')") == [(expected,)]


PROGRAM = """
from deciban.cli import interrupts
from deciban._files import ScratchFolder
from deciban.io.shards.database import database
import contextlib

with {around}:
    folder = ScratchFolder()
    with folder.or_nothing() as path, database(path, 10**8, 1, "numbers") as made:
        made.run("create table one as select 1")
        print("up", flush=True)
        made.run({query!r})
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals are of POSIX")
@pytest.mark.parametrize(
    ("around", "number", "code"),
    [
        ("interrupts.listening()", signal.SIGTERM, 143),
        ("interrupts.listening()", signal.SIGINT, 130),
        ("contextlib.nullcontext()", signal.SIGINT, -signal.SIGINT),
    ],
)
def test_a_signal_ends_a_long_query_and_leaves_no_file(tmp_path, around, number, code):
    program = PROGRAM.format(around=around, query=LONG)
    how = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "env": environment(tmp_path)}
    with subprocess.Popen([sys.executable, "-c", program], **how) as run:
        assert run.stdout.readline() == "up\n"
        run.send_signal(number)
        _, told = run.communicate(timeout=20)
    assert (run.returncode, list(tmp_path.iterdir())) == (code, []), told
    assert "nanobind" not in told


def environment(folder):
    import os

    return os.environ | {"TMPDIR": str(folder)}
