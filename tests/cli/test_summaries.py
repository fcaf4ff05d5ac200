"""``deciban summarize``, ``merge`` and ``eval`` of summaries as users type them."""

import json
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
        speaker = [f"s{one}" for one in rng.integers(0, 50, len(label))]
        pq.write_table(pa.table({"score": score, "label": label, "spk": speaker}), f"{k}.parquet")
    return [f"{k}.parquet" for k in range(3)]


@pytest.mark.parametrize("how", ["", "--units spk"])
def test_an_array_of_jobs(run, shards, how):
    whole = run(f"eval *.parquet --dcf 0.1 --name score --table csv --corrected {how}")[1].splitlines()
    for k, name in enumerate(shards):
        code, out, err = run(f"summarize {name} -o {k}.summary {how}")
        assert (code, out) == (0, ""), err
        assert err.splitlines()[-1] == f"wrote  {k}.summary   a summary of 1 partition"
    assert run("merge 0.summary 1.summary 2.summary -o all.summary -q") == (0, "", "")
    for files in ("all.summary", "2.summary 0.summary 1.summary", "*.summary"):
        if files == "*.summary":
            Path("all.summary").unlink()
        code, out, err = run(f"eval {files} --dcf 0.1 --table csv --corrected")
        assert code == 0
        assert "summary of 3 shards, 12,000 trials" in err
        if how:  # else minima are corrected by trials that are left out together, which are dealt by row
            assert out.splitlines() == whole
        else:
            assert out.splitlines()[0] == whole[0]


def test_pages_and_plots_are_made_of_summaries(run, shards):
    assert run(f"summarize {shards[0]} {shards[1]} -o some.summary -q")[0] == 0
    assert run("report some.summary -o page.html -q")[0] == 0
    assert "some.summary" in Path("page.html").read_text("utf-8")
    assert run("plot det some.summary -o det.svg -q")[0] == 0
    assert run("calibrate some.summary -o model.json -q")[0] == 0
    assert run("eval some.summary --preset sre10 -q")[0] == 0


def test_json_says_what_was_read_and_written(run, shards):
    out = run(f"summarize {shards[0]} -o a.summary --json -q")[1]
    assert json.loads(out)["kind"] == "two-class"
    found = json.loads(run("merge a.summary -o b.summary --json -q")[1])
    assert (found["kind"], [one["role"] for one in found["files"]]) == ("two-class", ["summary", "output"])
    assert Path("a.summary").read_bytes() == Path("b.summary").read_bytes()


def test_what_is_wrong_is_said_and_nothing_written(run, shards):  # noqa: ARG001
    for line, words in (
        ("merge 0.parquet -o new", "0.parquet: is not a summary file"),
        ("summarize 0.parquet -o 0.parquet", "0.parquet"),
        ("summarize nowhere.parquet -o new", "nowhere.parquet"),
        ("summarize 0.parquet -o new --keep-names", "--keep-names"),
        ("summarize 0.parquet -o new --dcf 0.1", "No such option"),
        ("summarize 0.parquet -o new --tar 1.parquet --non 2.parquet", "No such option"),
        ("merge -o new", "Missing argument"),
    ):
        code, out, err = run(line)
        assert (code, out) == (2, ""), line
        assert words in err
        assert not Path("new").exists()
