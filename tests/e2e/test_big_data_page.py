"""What the page on trials that do not fit in memory shows runs, and prints what it says."""

import re

import h5py
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from support.pages import page, run_python

PAGE = page("big-data.md")
COMMANDS = re.findall(r"^    (deciban .*)$", PAGE, flags=re.MULTILINE)


def test_code_of_the_page_prints_what_the_page_says():
    assert run_python(PAGE) == 2


@pytest.mark.parametrize("line", COMMANDS)
def test_commands_of_the_page_run(line, tmp_path, deciban):
    rng = np.random.default_rng(2)
    label = rng.random(20_000) < 0.1
    score = np.where(label, 2.0, -2.0) + rng.normal(0.0, 1.5, len(label))
    (tmp_path / "trials").mkdir()
    pq.write_table(pa.table({"score": score, "label": label}), tmp_path / "trials" / "part.parquet")
    with h5py.File(tmp_path / "scores.h5", "w") as file:
        file["ID/row_ids"], file["ID/column_ids"] = [f"m{k}" for k in range(20)], [f"t{k}" for k in range(30)]
        file["scores"] = rng.normal(size=(20, 30)).astype(np.float32)
    for side, name, n in (("enroll", "m", 20), ("test", "t", 30)):
        (tmp_path / f"{side}2spk").write_text("".join(f"{name}{k} speaker{k % 5}\n" for k in range(n)))
    assert deciban(line, tmp_path)
