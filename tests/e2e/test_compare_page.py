"""What the page on comparisons says happens."""

import re

import pytest

from deciban import train_files
from deciban.calibration import AffineCalibrator
from deciban.io import write_demo
from support.pages import page, run_python

PAGE = page("compare.md")
COMMANDS = [line for line in re.findall(r"^deciban compare .*$", PAGE, flags=re.MULTILINE) if "bonafide" not in line]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    write_demo(tmp_path)
    monkeypatch.chdir(tmp_path)
    for old, new in (("sysA", "sysC"), ("sysA", "released"), ("sysB", "candidate")):
        (tmp_path / f"{new}.txt").write_bytes((tmp_path / f"{old}.txt").read_bytes())
    train_files("sysA.txt", "key.txt", AffineCalibrator()).model.save("calibration.json")
    return tmp_path


def test_code_of_the_page_prints_what_the_page_says():
    assert run_python(PAGE) == 1


def test_commands_of_the_page_run_and_print_what_it_shows(folder, deciban):
    assert len(COMMANDS) == 4
    printed = [deciban(line, folder) for line in COMMANDS]
    shown = [line.strip() for line in PAGE.splitlines() if line.startswith("    EER (ROCCH) in %")]
    assert shown[0] in [line.strip() for line in printed[0].splitlines()]
    (folder / "runs").mkdir()
    for name in ("released", "candidate"):
        saved = deciban(f"deciban eval {name}.txt --key key.txt --no-optimism --json -q", folder)
        (folder / "runs" / f"{name}.json").write_text(saved)
    command = next(line for line in PAGE.splitlines() if line.startswith("deciban leaderboard"))
    ranked = deciban(command, folder).splitlines()
    expected = re.search(r"^run  .*?(?=^```)", PAGE, flags=re.MULTILINE | re.DOTALL)[0].splitlines()
    assert [line.split()[:4] for line in ranked] == [line.split()[:4] for line in expected]
