"""The tutorial on fusion: its commands and its Python run, and on the real scores they print what it says."""

import re
import shutil
from pathlib import Path

import numpy as np

from deciban.io import write_demo

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "fusion.md").read_text()
TUTORIAL = (DOCS / "tutorials/two-countermeasures.md").read_text()
COMMANDS = re.findall(r"^deciban .*$", TUTORIAL, flags=re.MULTILINE)
TABLES = re.findall(r"```\n((?:Training trials|system ).*?)```", TUTORIAL, flags=re.DOTALL)
(SPLIT,) = re.findall(r"```python\n(.*?)```", TUTORIAL, flags=re.DOTALL)
OTHERS = [
    line
    for line in re.findall(r"^deciban .*$", PAGE, flags=re.MULTILINE) + re.findall(r"\| `(deciban [^`]+)` \|", PAGE)
    if line not in COMMANDS
]


def test_the_tutorial_runs_on_files_of_the_same_form(tmp_path, deciban, python):
    rng = np.random.default_rng(7)
    attack = np.array(["-"] * 200 + ["SS_1", "SS_2", "SS_4", "US_1", "VC_1", "VC_4"] * 100)
    genuine = attack == "-"
    for name, harder in (("system_a", "VC_4"), ("system_b", "VC_1")):
        score = rng.normal(np.where(genuine, 2.0, np.where(attack == harder, 0.0, -2.0)), 1.5)
        words = np.where(genuine, "bonafide", "spoof")
        rows = [f"LA_D_{i} {attack[i]} {words[i]} {score[i].item():.6f}\n" for i in rng.permutation(len(attack))]
        (tmp_path / f"{name}.txt").write_text("".join(rows))
    python(SPLIT, tmp_path)
    printed = [deciban(line, tmp_path) for line in COMMANDS]
    assert len(printed) == 4
    # Genuine trials are divided by the order of one file, so that none is in both keys.
    keys = [set((tmp_path / name).read_text().splitlines()[1:]) for name in ("dev.csv", "eval.csv")]
    assert len(keys[0]) == len(keys[1]) == 400
    assert not keys[0] & keys[1]
    assert "Other trials" in printed[0]
    page = (tmp_path / "report.html").read_text()
    assert "Contribution of each system" in page
    assert "without system_b" not in page


def test_the_tutorial_says_what_is_printed(real_data, tmp_path, deciban, python, missing):
    for name in ("system_a.txt", "system_b.txt"):
        shutil.copyfile(real_data / "asvspoof19_la_dev_cm2" / name, tmp_path / name)
    python(SPLIT, tmp_path)
    printed = [deciban(line, tmp_path) for line in COMMANDS]
    fused, evaluated = TABLES
    assert "training: converged in" in fused
    assert missing(printed[0], fused) == ""
    assert missing(printed[2], evaluated) == ""


def test_the_other_calls_of_the_page_run(tmp_path, deciban, monkeypatch):
    monkeypatch.setattr("deciban.io.demos._SPEAKERS", 20)
    write_demo(tmp_path)
    for new, old in (("newA", "sysA"), ("newB", "sysB")):
        shutil.copyfile(tmp_path / f"{old}.txt", tmp_path / f"{new}.txt")
    assert len(OTHERS) == 5
    for line in OTHERS:
        deciban(line, tmp_path)
