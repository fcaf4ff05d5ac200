"""Ctrl-C at any moment: one line, exit code 130, within a second, and nothing half-written."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deciban.cli import running
from deciban.io.summary_files import PartitionRecord, SummaryHead, count_rows, write_summary

if sys.platform == "win32":
    pytest.skip("signals are of POSIX", allow_module_level=True)

_UP = """
import runpy, sys

class Up:
    def find_spec(self, name, *_):
        if name == "deciban.cli.main":
            print("up", flush=True)

sys.meta_path.insert(0, Up())
runpy.run_module("deciban", run_name="__main__", alter_sys=True)
"""
"""The command, and a line as soon as it listens: what Python does before is not ours."""

ROWS = 400_000


@pytest.fixture(scope="module")
def big(tmp_path_factory):
    folder = tmp_path_factory.mktemp("big")
    rng = np.random.default_rng(0)
    score = rng.normal(0, 2, ROWS)
    lines = [f"m{k % 999} seg{k}" for k in range(ROWS)]
    (folder / "s.txt").write_text("".join(f"{line} {x:.5f}\n" for line, x in zip(lines, score, strict=True)))
    words = np.where(score + rng.normal(size=ROWS) > 1, "target", "nontarget")  # no threshold tells them apart
    (folder / "k.txt").write_text("".join(f"{line} {word}\n" for line, word in zip(lines, words, strict=True)))
    return folder


COMMANDS = {
    "evaluation": ["eval", "s.txt", "--key", "k.txt"],
    "training": ["calibrate", "s.txt", "--key", "k.txt", "-o", "m.json"],
    "text": ["convert", "s.txt", "o.csv"],
    "compression": ["convert", "s.txt", "o.txt.gz"],
    "binary": ["convert", "s.txt", "o.h5"],
    "plot": ["plot", "det", "s.txt", "--key", "k.txt", "-o", "o.png"],
}


DELAYS = [0.0, 0.1, 0.4, 0.8]


@pytest.mark.parametrize(
    ("name", "delay"),
    [
        *(("evaluation", delay) for delay in DELAYS),  # all phases of one command, which the others share
        *((name, (0.1, 0.4)[at % 2]) for at, name in enumerate(COMMANDS) if name != "evaluation"),
    ],
)
def test_ctrl_c_ends_it_with_one_line(big, name, delay):
    assert_interrupted(big, COMMANDS[name], delay)


@pytest.mark.parametrize(
    ("arguments", "delay"),
    [
        (["summarize", "s.txt", "--key", "k.txt", "-o", "o.summary"], 0.5),
        (["merge", "whole.summary", "-o", "o.summary"], 0.1),
    ],
    ids=["summarize", "merge"],
)
def test_ctrl_c_leaves_no_half_of_a_summary(big, arguments, delay):
    scores = np.arange(1_000_000) / 2
    rows = count_rows({"score": scores, "label": scores == np.rint(scores)})
    head = SummaryHead(("score",), (), (PartitionRecord("a", 1_000_000, (500_000, 500_000), "a"),), "trials")
    write_summary(head, [rows], big / "whole.summary")
    assert_interrupted(big, arguments, delay)


def assert_interrupted(big, arguments, delay):
    before = sorted(one.name for one in big.iterdir())
    command = [sys.executable, "-c", _UP, *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=big) as process:
        assert process.stdout.readline() == b"up\n"
        time.sleep(delay)
        sent = time.monotonic()
        process.send_signal(signal.SIGINT)
        shown, said = process.communicate(timeout=60)
        took = time.monotonic() - sent
    new = {one.name for one in big.iterdir()} - set(before)
    for name in new:
        (big / name).unlink()
    assert new <= {*arguments}, "what is written is whole, and has its name, or is not there"
    had_its_work_done = arguments[-1] in new or b"Cllr" in shown
    if process.returncode == 0 or (process.returncode == -signal.SIGINT and had_its_work_done):  # Python was ending
        return
    assert process.returncode == running.EXIT_CODE, said.decode()
    assert said.splitlines()[-1] == b"deciban: interrupted"
    assert b"Traceback" not in said
    assert took < 5, "a second on a machine that has nothing else to do"


def test_a_library_at_work_cannot_hold_up_the_end(tmp_path):
    code = (
        "import numpy as np\nfrom deciban.cli import running\n"
        "with running.listening():\n    a = np.random.rand(3000, 3000)\n    print('up', flush=True)\n"
        "    for _ in range(9):\n        np.linalg.svd(a)\n"  # seconds without a byte of Python
    )
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path) as process:
        assert process.stdout.readline() == b"up\n"
        time.sleep(0.2)
        sent = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert (process.returncode, said) == (running.EXIT_CODE, b"deciban: interrupted\n")
    assert time.monotonic() - sent < 3


@pytest.mark.parametrize(("number", "code", "said"), [("SIGINT", 130, "interrupted"), ("SIGTERM", 143, "terminated")])
def test_what_is_written_aside_goes(tmp_path, number, code, said):
    program = (
        "import time\nfrom deciban.cli import running\nfrom deciban.io import atomic_write\n"
        "from deciban._files import ScratchFolder\nfolder = ScratchFolder()\n"
        "with running.listening(), atomic_write('o.txt') as stream:\n    stream.write(b'half')\n    stream.flush()\n"
        "    print('up', flush=True)\n    time.sleep(30)\n"
    )
    (tmp_path / "o.txt").write_text("old")
    how = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "env": {**os.environ, "TMPDIR": str(tmp_path)}}
    with subprocess.Popen([sys.executable, "-c", program], cwd=tmp_path, **how) as process:
        assert process.stdout.readline() == b"up\n"
        assert len(list(tmp_path.iterdir())) == 3
        process.send_signal(getattr(signal, number))
        assert process.wait(10) == code
        assert process.stderr.read().decode() == f"deciban: {said}\n"
    assert [one.name for one in tmp_path.iterdir()] == ["o.txt"]
    assert (tmp_path / "o.txt").read_text() == "old"


@pytest.fixture(scope="module")
def trials(tmp_path_factory):
    """Three million trials in a folder, which are sorted in files where 105 MB are allowed."""
    rng, path = np.random.default_rng(5), tmp_path_factory.mktemp("trials")
    for at in range(3):
        truth = rng.random(1_000_000) < 0.5
        score = (rng.normal(0.0, 2.0, len(truth)) + np.where(truth, 3.0, -3.0)).astype(np.float32)
        pq.write_table(pa.table({"score": score, "label": truth}), path / f"{at}.parquet", row_group_size=100_000)
    return path


@pytest.mark.parametrize(
    ("number", "code", "said", "begun"),
    [("SIGINT", 130, "interrupted", "range-*"), ("SIGTERM", 143, "terminated", "scores-*")],
)
def test_files_of_sorting_go(trials, tmp_path, number, code, said, begun):
    """While ranges are written, and while they are sorted."""
    command = [sys.executable, "-m", "deciban", "eval", str(trials), "--memory", "105MB", "--no-intervals"]
    how = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "env": {**os.environ, "TMPDIR": str(tmp_path)}}
    with subprocess.Popen(command, **how) as process:
        while not list(tmp_path.glob(f"*/{begun}")):
            assert process.poll() is None, "it ended without such files"
            time.sleep(0.002)
        process.send_signal(getattr(signal, number))
        _, told = process.communicate(timeout=20)
    assert (process.returncode, told.decode().splitlines()[-1]) == (code, f"deciban: {said}")
    assert list(tmp_path.iterdir()) == []


def test_who_loses_a_file_to_the_end_says_nothing(tmp_path):
    code = (
        "import os, sys, threading\nfrom deciban.cli import running\nfrom deciban.cli.main import main\n"
        "sys.argv = ['deciban', 'inspect', 'gone.txt']\nrunning._ending.set()\n"
        "threading.Timer(0.5, os._exit, (running.EXIT_CODE,)).start()\nmain()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, cwd=tmp_path, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (running.EXIT_CODE, b"")


def test_programs_that_import_it_keep_their_own_answer():
    assert not running.is_program()
    before = signal.getsignal(signal.SIGINT)
    with running.listening():
        inside = signal.getsignal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before
    assert inside is not signal.default_int_handler or before is not signal.default_int_handler
    own = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with running.listening():
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, own)
