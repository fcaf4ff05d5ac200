"""What the page on conditions says happens."""

import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deciban.io import write_demo
from support.pages import page, run_python

PAGE = page("conditions.md")
COMMANDS = re.findall(r"^deciban eval .*$", PAGE, flags=re.MULTILINE)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Trials of the demo's first speakers, with a far microphone and its noise, and what is known of speakers."""
    write_demo(tmp_path)
    monkeypatch.chdir(tmp_path)
    for name in ("key", "sysA", "sysB"):
        lines = (tmp_path / f"{name}.txt").read_text().splitlines()
        kept = [line for line in lines if all(name[3:6] < "040" for name in line.split()[:2])]
        (tmp_path / f"{name}.txt").write_text("\n".join(kept) + "\n")
    trials = [line.split() for line in (tmp_path / "key.txt").read_text().splitlines()]
    channel = [("mic", "mic", "mic", "tel", "tel", "far")[int(test[-1])] for _, test, _ in trials]
    rows = [
        (enroll, test, label, "fm"[int(enroll[-1]) % 2], one, 3 + 7 * k % 40)
        for k, ((enroll, test, label), one) in enumerate(zip(trials, channel, strict=True))
    ]
    lines = ["enroll,test,label,gender,channel,duration", *(",".join(map(str, row)) for row in rows)]
    (tmp_path / "key.csv").write_text("\n".join(lines) + "\n")
    scores = [line.split() for line in (tmp_path / "sysA.txt").read_text().splitlines()]
    noise = np.random.default_rng(1).normal(size=len(scores))
    (tmp_path / "sysA.txt").write_text(
        "".join(
            f"{enroll} {test} {float(score) + 9 * noise[k] * (channel[k] == 'far'):.4f}\n"
            for k, (enroll, test, score) in enumerate(scores)
        )
    )
    table = {name: list(column) for name, column in zip(lines[0].split(","), zip(*rows, strict=True), strict=True)}
    own = [float(line.split()[2]) for line in (tmp_path / "sysA.txt").read_text().splitlines()]
    (tmp_path / "trials").mkdir()
    more = {"score": own, "speaker": table["enroll"]}
    pq.write_table(pa.table({**table, **more}), tmp_path / "trials" / "one.parquet")
    ages = [f"{name} {'old' if int(name[-1]) < 5 else 'young'}\n" for name in sorted({enroll for enroll, *_ in trials})]
    (tmp_path / "spk2age").write_text("".join(ages))
    return tmp_path


def test_commands_of_the_page_run_and_print_what_it_shows(folder, deciban):
    assert len(COMMANDS) == 6
    printed = "\n".join(deciban(line, folder) for line in COMMANDS)
    lines = [line.strip() for line in printed.splitlines()]
    before_python = PAGE.partition("```python")[0]
    shown = [line.strip().removesuffix("...").strip() for line in before_python.splitlines() if line.startswith("    ")]
    assert len(shown) > 10
    assert [line for line in shown if not any(one.startswith(line) for one in lines)] == []


def test_code_of_the_page_prints_what_the_page_says():
    assert run_python(PAGE) >= 1
