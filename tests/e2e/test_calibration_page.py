"""What the page on calibration shows runs, and prints what it says."""

import re
import shutil
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


def test_all_that_it_shows_runs(folder, deciban, python):
    assert len(COMMANDS) == 7
    for line in COMMANDS:  # in this order: some need what others write
        deciban(line, folder)
    for code in PYTHON:
        python(code, folder)


def test_it_shows_what_is_printed(folder, deciban, missing):
    (shown,) = re.findall(r"```\n(system.*?)```", PAGE, flags=re.DOTALL)
    printed = deciban("deciban calibrate sysA.txt --key key.txt -o m.json", folder)
    assert missing(printed, shown) == ""
