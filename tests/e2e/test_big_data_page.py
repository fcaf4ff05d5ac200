"""The code and commands of the page on data larger than memory run and print what the page shows."""

import gzip
import re

import h5py
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deciban.calibration import AffineCalibrator
from support.pages import page, run_python

PAGE = page("big-data.md")
COMMANDS = re.findall(r"^    (deciban .*)$", PAGE, flags=re.MULTILINE)


def test_code_of_the_page_prints_what_the_page_says():
    assert run_python(PAGE) == 3


@pytest.mark.parametrize("line", COMMANDS)
def test_commands_of_the_page_run(line, tmp_path, deciban):
    rng = np.random.default_rng(2)
    label = rng.random(5000) < 0.3
    named = [f"trial{k}" for k in range(len(label))]
    known = {"trial": named, "label": label, "speaker": rng.integers(0, 50, len(label))}
    for folder in ("trials", "other-trials", "eval", "other-eval"):
        (tmp_path / folder).mkdir()
        score = np.where(label, 2.0, -2.0) + rng.normal(0.0, 2.0, len(label))
        pq.write_table(pa.table(known | {"score": score}), tmp_path / folder / "part.parquet")
    lines = [f"{name},{int(one)}" for name, one in zip(named, label, strict=True)]
    (tmp_path / "eval.csv").write_text("\n".join(["trial,label", *lines]) + "\n")
    spoken = rng.integers(0, 3, 300)
    rows = rng.normal(size=(300, 3)) + 1.5 * np.eye(3)[spoken]
    (tmp_path / "languages").mkdir()
    columns = {
        "class": np.array(["eng", "fra", "deu"])[spoken],
        **dict(zip(("eng", "fra", "deu"), rows.T, strict=True)),
    }
    table = pa.table({"trial": [f"s{k}" for k in range(300)], **columns})
    pq.write_table(table, tmp_path / "languages" / "part.parquet")
    with h5py.File(tmp_path / "scores.h5", "w") as file:
        file["ID/row_ids"], file["ID/column_ids"] = [f"m{k}" for k in range(20)], [f"t{k}" for k in range(30)]
        file["scores"] = rng.normal(size=(20, 30)).astype(np.float32)
    for side, name, n in (("enroll", "m", 20), ("test", "t", 30)):
        (tmp_path / f"{side}2spk").write_text("".join(f"{name}{k} speaker{k % 5}\n" for k in range(n)))
    AffineCalibrator().fit(score[:2000], label[:2000]).save(tmp_path / "model.json")
    names = "".join(f"m{k % 7} s{k}\n" for k in range(100))
    (tmp_path / "list.tsv").write_text("enroll\ttest\n" + names.replace(" ", "\t"))
    (tmp_path / "submission.tsv").write_text(
        "enroll\ttest\tscore\n" + names.replace(" ", "\t").replace("\n", "\t0.5\n")
    )
    (tmp_path / "trials.txt.gz").write_bytes(gzip.compress(names.replace("\n", " 0.5\n").encode()))
    printed = deciban(line, tmp_path)
    assert printed or any((tmp_path / name).exists() for name in ("llrs", "trials.parquet"))
