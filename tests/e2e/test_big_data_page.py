"""What the page on trials that do not fit in memory shows runs, and prints what it says."""

import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from support.pages import page, run_python

PAGE = page("big-data.md")
COMMANDS = re.findall(r"^    (deciban .*)$", PAGE, flags=re.MULTILINE)


def test_code_of_the_page_prints_what_the_page_says():
    assert run_python(PAGE) == 1


@pytest.mark.parametrize("line", COMMANDS)
def test_commands_of_the_page_run(line, tmp_path, deciban):
    rng = np.random.default_rng(2)
    label = rng.random(20_000) < 0.1
    score = np.where(label, 2.0, -2.0) + rng.normal(0.0, 1.5, len(label))
    (tmp_path / "trials").mkdir()
    pq.write_table(pa.table({"score": score, "label": label}), tmp_path / "trials" / "part.parquet")
    assert deciban(line, tmp_path)
