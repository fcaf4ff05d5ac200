"""What the page on training beyond memory shows runs, and prints what it says."""

import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from support.pages import page, run_python

PAGE = page("big-data-training.md")
COMMANDS = re.findall(r"^    (deciban .*)$", PAGE, flags=re.MULTILINE)


def test_code_of_the_page_prints_what_the_page_says():
    assert run_python(PAGE) == 1


@pytest.mark.parametrize("line", COMMANDS)
def test_commands_of_the_page_run(line, tmp_path, deciban):
    rng = np.random.default_rng(2)
    label = rng.random(5000) < 0.3
    names = [f"trial{k}" for k in range(len(label))]
    known = {"trial": names, "label": label, "speaker": rng.integers(0, 50, len(label))}
    for folder in ("trials", "other-trials", "eval", "other-eval"):
        (tmp_path / folder).mkdir()
        score = np.where(label, 2.0, -2.0) + rng.normal(0.0, 2.0, len(label))
        pq.write_table(pa.table(known | {"score": score}), tmp_path / folder / "part.parquet")
    rows = [f"{name},{int(one)}" for name, one in zip(names, label, strict=True)]
    (tmp_path / "eval.csv").write_text("\n".join(["trial,label", *rows]) + "\n")
    assert deciban(line, tmp_path)
