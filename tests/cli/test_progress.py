"""Progress of long work by a clock of our own, and what readers and writers of real files count."""

import gzip
import threading
import time

import numpy as np
import pytest

from deciban import read_scores
from deciban.cli import running
from deciban.cli.running import ProgressSteps, working
from deciban.errors import heard_by
from deciban.io import write
from deciban.io.text import writer


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


def test_rate_and_time_left_are_those_of_the_step(clock):
    work = ProgressSteps("reading s.txt", clock)
    assert work.line() == "reading s.txt"
    clock.now = 4.0
    work.advance(20_000_000, 100_000_000, "bytes")
    assert work.line() == "reading s.txt · 20 % · 5.0 MB/s · 16 s left"
    clock.now = 8.0
    work.advance(80_000_000, 100_000_000, "bytes")
    assert work.line() == "reading s.txt · 80 % · 10.0 MB/s · 2 s left"
    work.say("joining trials")
    assert work.line() == "joining trials"
    clock.now = 9.0
    work.say("writing o.txt")
    work.advance(0, 1_000_000, "rows")
    assert work.line() == "writing o.txt · 0 %"
    clock.now = 10.0
    work.advance(1_000, 1_000_000, "rows")
    assert work.line() == "writing o.txt · 0 % · 1,000 rows/s · 16 min 39 s left"


def test_another_file_in_the_same_step_is_counted_anew(clock):
    work = ProgressSteps("converting", clock)
    clock.now = 10.0
    work.advance(100, 100, "bytes")
    clock.now = 20.0
    work.advance(0, 50, "rows")
    clock.now = 21.0
    work.advance(10, 50, "rows")
    assert work.facts() == ["20 %", "10 rows/s", "4 s left"]
    work.advance(60, 50, "rows")
    assert work.facts() == []  # what comes after is not counted


def test_names_are_shown_without_what_a_terminal_obeys(clock):
    assert ProgressSteps("reading a\x1b[2J\n.txt", clock).line() == r"reading a\x1b[2J\n.txt"


def test_lines_come_every_now_and_then_until_it_is_over(clock, capsys):
    work, over = ProgressSteps("reading s.txt", clock), threading.Event()
    thread = threading.Thread(target=running._in_lines, args=(work, over, 0.02))
    thread.start()
    time.sleep(0.2)
    over.set()
    thread.join()
    said = capsys.readouterr().err.splitlines()
    assert 1 <= len(said) <= 10
    assert set(said) == {"reading s.txt"}


def test_short_work_is_not_told(capsys):
    with working("reading s.txt") as say:
        say("joining trials")
    assert capsys.readouterr() == ("", "")


def test_a_bar_on_a_terminal(monkeypatch, capsys, clock):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("FORCE_COLOR", "1")
    work, over = ProgressSteps("reading [bold]s.txt", clock), threading.Event()
    clock.now = 1.0
    work.advance(25, 100, "rows")
    thread = threading.Thread(target=running._on_terminal, args=(work, over, 0.01))
    thread.start()
    time.sleep(0.5)
    over.set()
    thread.join()
    shown = capsys.readouterr().err
    assert "reading [bold]s.txt" in shown
    assert "25 % · 25 rows/s · 3 s left" in shown
    assert shown.endswith(("\x1b[?25h", "\x1b[?25h\r\x1b[1A\x1b[2K"))


@pytest.fixture
def listed(tmp_path):
    path = tmp_path / "s.txt"
    path.write_text("".join(f"m{k % 99} seg{k} {x:.5f}\n" for k, x in enumerate(np.linspace(-3, 3, 50_000))))
    return path


def counted(work):
    """What was told during work: pairs of what was done and what there was, by unit."""
    heard = []
    with heard_by(lambda *said: heard.append(said)):
        result = work()
    return result, heard


def test_reading_counts_bytes_to_the_end(listed):
    _, heard = counted(lambda: read_scores(listed))
    size = listed.stat().st_size
    done = [one for one, total, unit in heard if (total, unit) == (size, "bytes")]
    assert done == sorted(done)
    assert done[-1] == size


def test_unpacking_counts_the_bytes_of_the_file(listed, tmp_path):
    packed = tmp_path / "s.txt.gz"
    packed.write_bytes(gzip.compress(listed.read_bytes()))
    _, heard = counted(lambda: read_scores(packed))
    done = [one for one, total, unit in heard if (total, unit) == (packed.stat().st_size, "bytes")]
    assert done
    assert done[-1] == packed.stat().st_size


def test_writing_counts_rows(listed, tmp_path, monkeypatch):
    monkeypatch.setattr(writer, "_BLOCK", 1 << 16)
    scores = read_scores(listed)
    _, heard = counted(lambda: write(scores, tmp_path / "o.csv"))
    done = [one for one, total, unit in heard if (total, unit) == (50_000, "rows")]
    assert len(done) > 5
    assert done == sorted(set(done))
