"""``deciban summarize``, ``merge`` and ``eval`` of summaries as users type them."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest


@pytest.fixture
def shards(tmp_path, monkeypatch):
    """Three shards in the folder of the test."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    for k in range(3):
        label = rng.random(4000) < 0.3
        score = (rng.normal(size=len(label)) * 1.5 + 2.0 * label).astype(np.float32)
        pq.write_table(pa.table({"score": score, "label": label}), f"{k}.parquet")
    return [f"{k}.parquet" for k in range(3)]


def test_an_array_of_jobs(run, shards, monkeypatch):
    whole = run("eval *.parquet --dcf 0.1 --table csv")[1].splitlines()[1:3]
    monkeypatch.setattr("deciban.engines.summary_parts.ROOM", 300)
    for k, name in enumerate(shards):
        code, out, err = run(f"summarize {name} -o {k}.summary --dcf 0.1")
        assert (code, out) == (0, ""), err
        assert err.splitlines()[-1] == f"wrote  {k}.summary   a summary of 1 shard"
    assert run("merge 0.summary 1.summary 2.summary -o all.summary")[0] == 0
    code, out, err = run("eval all.summary")
    assert code == 0
    assert "summary of 3 shards, 12,000 rows, after one pass: figures of ranks have bounds" in err
    assert "[certain bounds]" in out
    assert "score: Approximate: figures in brackets are certain" in out
    for k, name in enumerate(shards):
        assert run(f"summarize {name} -o {k}.refined --refine all.summary -q") == (0, "", "")
    code, out, err = run("eval 0.refined 2.refined 1.refined --table csv")
    assert "after two passes" in err
    cells = dict(zip(*(line.split(",") for line in out.splitlines()[1:3]), strict=True))
    expected = dict(zip(*(line.split(",") for line in whole), strict=True))
    for name in ("EER (ROCCH) in %", "minDCF", "actDCF", "Cllr", "min Cllr", "calibration loss"):
        assert cells[name] == expected[name]
    assert float(cells.get("AUC low", cells["AUC"])) <= float(expected["AUC"]) + 5e-5
    assert float(cells.get("AUC high", cells["AUC"])) >= float(expected["AUC"]) - 5e-5


def test_bounds_stand_wherever_figures_do(run, shards, monkeypatch):  # noqa: ARG001
    monkeypatch.setattr("deciban.engines.summary_parts.ROOM", 300)
    assert run("summarize 0.parquet 1.parquet -o some.summary")[0] == 0
    for style in ("csv", "markdown", "latex"):
        out = run(f"eval some.summary --table {style} --thresholds -q")[1]
        assert "nan" not in out
        assert "low" in out if style == "csv" else "[" in out
    header, row = run("eval some.summary --table csv -q")[1].splitlines()[1:3]
    cells = dict(zip(header.split(","), row.split(","), strict=True))
    assert cells["EER (ROCCH) in %"] == cells["min Cllr"] == cells["AUC"] == ""
    assert 0 < float(cells["EER (ROCCH) low in %"]) < float(cells["EER (ROCCH) high in %"]) < 50
    assert run("report some.summary -o page.html -q")[0] == 0
    page = Path("page.html").read_text("utf-8")
    assert "In brackets: certain bounds." in page
    assert ">nan" not in page
    assert "not known after one pass" in page


def test_what_is_wrong_is_said_and_nothing_written(run, shards):  # noqa: ARG001
    for line, words in (
        ("merge 0.parquet -o new", "0.parquet: is no summary of shards"),
        ("summarize 0.parquet -o 0.parquet", "0.parquet"),
        ("summarize nowhere.parquet -o new", "nowhere.parquet"),
        ("summarize 0.parquet -o new --refine 1.parquet", "1.parquet: is no summary of shards"),
        ("merge -o new", "Missing argument"),
    ):
        code, out, err = run(line)
        assert (code, out) == (2, ""), line
        assert words in err
        assert not Path("new").exists()


def test_what_would_be_overlooked_is_refused(run, shards):  # noqa: ARG001
    for more, words in (
        ("--tar 1.parquet --non 2.parquet", "there are score files, and others of targets and non-targets"),
        ("--prior flat", "--prior is for many classes"),
        ("--preset lre17", "--preset lre17 is for many classes"),
    ):
        code, _, err = run(f"summarize 0.parquet -o 0.summary {more}")
        assert code
        assert words in err
        assert not Path("0.summary").exists()
