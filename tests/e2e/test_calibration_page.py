"""What the page on calibration shows runs, and prints what it says."""

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from deciban.io import write_demo

PAGE = (Path(__file__).parents[2] / "docs/calibration.md").read_text()
COMMANDS = re.findall(r"^deciban .*$", PAGE, flags=re.MULTILINE) + re.findall(r"\| `(deciban [^`]+)` \|", PAGE)
PYTHON = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("calibration")
    write_demo(path)
    for name, source in {
        "dev.txt": "sysA.txt",
        "dev.key": "key.txt",
        "eval.txt": "sysA.txt",
        "eval.key": "key.txt",
    }.items():
        shutil.copy(path / source, path / name)
    rows = [line.split() for line in (path / "dev.txt").read_text().splitlines()]
    (path / "dev.csv").write_text("enroll,test,score\n" + "".join(f"{','.join(row)}\n" for row in rows))
    labels = [line.split() for line in (path / "dev.key").read_text().splitlines()]
    keyed = "".join(f"{m},{s},{label},{m},{1 + len(m) / 2}\n" for m, s, label in labels)
    (path / "key.csv").write_text("enroll,test,label,speaker,weight\n" + keyed)
    return path


def run(words, folder):
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)


def deciban(line, folder):
    words = shlex.split(line, comments=True)
    return run([Path(sys.executable).with_name("deciban"), *words[1:]], folder)


def test_all_that_it_shows_runs(folder):
    assert len(COMMANDS) == 7
    for line in COMMANDS:  # in this order: some need what others write
        done = deciban(line, folder)
        assert done.returncode == 0, f"{line}: {done.stderr}"
    for code in PYTHON:
        done = run([sys.executable, "-W", "error", "-c", code], folder)
        assert done.returncode == 0, done.stderr


def test_it_shows_what_is_printed(folder):
    (shown,) = re.findall(r"```\n(system.*?)```", PAGE, flags=re.DOTALL)
    printed = deciban("deciban calibrate sysA.txt --key key.txt -o m.json", folder).stdout

    def stable(text):  # without the digits that differ between machines
        text = re.sub(r"in \d+ steps, gradient \S+", "", text)
        return [line.rstrip() for line in text.splitlines()]

    assert stable(shown) == stable(printed)
