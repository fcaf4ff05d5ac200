"""Models applied piece by piece: the same as in memory, whole or not at all, and on from where it was interrupted."""

import gzip
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deciban import InputError, apply_files, train_files
from deciban.calibration import AffineCalibrator, MulticlassScaleCalibrator
from deciban.errors import FormatError, KeyMismatchError
from deciban.fusion import LinearFusion, QualityFusion
from deciban.io.partitions import writing
from deciban.workflows import apply as in_memory
from support.score_files import said

N = 60


@pytest.fixture
def model():
    rng = np.random.default_rng(1)
    truth = np.arange(40) < 20
    return AffineCalibrator().fit(rng.normal(size=40) + truth, truth, units=np.arange(40) // 2)


def trials(rng, n=N, systems=("score",)):
    """A table with ties, infinities, a condition that has gaps, and labels."""
    values = {name: rng.integers(-3, 4, n) * 0.5 + rng.choice([0.0, 0.0, np.inf], n) for name in systems}
    names = {"enroll": [f"m{k % 7}" for k in range(n)], "test": [f"s{rng.integers(10**6)}_{k}" for k in range(n)]}
    gender = [None if one == 2 else "fm"[one] for one in rng.integers(0, 3, n)]
    label = np.where(rng.random(n) < 0.5, "target", "nontarget")
    return pa.table(names | {"gender": gender} | values | {"label": label})


def write_folder(path, tables, rows=7):
    path.mkdir(parents=True)
    for k, table in enumerate(tables):
        pq.write_table(table, path / f"part-{k}.parquet", row_group_size=rows)
    return path


def alike(out, whole):
    """Whether a folder of files is together what one file holds."""
    found = pa.concat_tables([pq.read_table(one) for one in sorted(out.rglob("*.parquet"))]).unify_dictionaries()
    expected = pq.read_table(whole)
    assert found.schema.remove_metadata() == expected.schema.remove_metadata()
    assert found.schema.metadata[b"deciban"] == expected.schema.metadata[b"deciban"]
    assert found.to_pylist() == expected.to_pylist()
    return True


def test_a_folder_becomes_a_folder_with_the_llrs_of_memory(model, tmp_path):
    rng = np.random.default_rng(2)
    folder = write_folder(tmp_path / "in", [trials(rng) for _ in range(3)])
    messages = said(apply_files(model, folder, tmp_path / "out"))
    assert sorted(one.name for one in (tmp_path / "out").iterdir()) == [f"part-{k}.parquet" for k in range(3)]
    assert pq.ParquetFile(tmp_path / "out/part-1.parquet").num_row_groups == 9
    apply_files(model, folder, tmp_path / "whole.parquet")
    assert alike(tmp_path / "out", tmp_path / "whole.parquet")
    assert any("180 trials" in one for one in messages)
    assert messages[-1] == f"wrote  {tmp_path / 'out'}   a folder of 3 Parquet files"


@settings(max_examples=8)
@given(st.integers(0, 10**6), st.lists(st.integers(1, 20), min_size=1, max_size=4), st.integers(1, 9))
def test_partitions_of_any_size_make_the_same(tmp_path_factory, seed, sizes, rows):
    rng, path = np.random.default_rng(seed), tmp_path_factory.mktemp("any")
    truth = np.arange(40) < 20
    fusion = LinearFusion().fit(rng.normal(size=(40, 2)) + truth[:, None], truth)
    tables = [trials(rng, n, ("a_score", "b_score")) for n in sizes]
    folder = write_folder(path / "in", tables, rows)
    apply_files(fusion, folder, path / "out")
    apply_files(fusion, folder, path / "whole.parquet")
    assert alike(path / "out", path / "whole.parquet")


@pytest.mark.parametrize("write_as", ["loglik", "detection-llr"])
def test_many_classes(tmp_path, write_as):
    rng = np.random.default_rng(3)
    label = np.arange(90) % 3
    loglik = rng.normal(size=(90, 3)) + 2.0 * np.eye(3)[label]
    many = MulticlassScaleCalibrator().fit(loglik, label, classes=["a", "b", "c"])
    columns = {"trial": [f"s{k}" for k in range(90)], **{name: loglik[:, k] for k, name in enumerate("cab")}}
    table = pa.table(columns)
    folder = write_folder(tmp_path / "in", [table.slice(0, 50), table.slice(50)])
    how = {"write_as": write_as, "kind": "classes"}
    apply_files(many, folder, tmp_path / "out", **how)
    apply_files(many, folder, tmp_path / "whole.parquet", **how)
    assert alike(tmp_path / "out", tmp_path / "whole.parquet")


def test_intervals_are_columns(model, tmp_path):
    rng = np.random.default_rng(4)
    folder = write_folder(tmp_path / "in", [trials(rng), trials(rng)])
    apply_files(model, folder, tmp_path / "out", interval=True, level=0.9)
    apply_files(model, folder, tmp_path / "whole.parquet", interval=True, level=0.9)
    assert "llr_low" in pq.read_schema(tmp_path / "out/part-0.parquet").names
    assert alike(tmp_path / "out", tmp_path / "whole.parquet")


def test_inputs_that_share_row_order_are_fused(tmp_path):
    rng = np.random.default_rng(5)
    truth = np.arange(40) < 20
    fusion = LinearFusion().fit(rng.normal(size=(40, 2)) + truth[:, None], truth)
    both = [trials(rng, N, ("a", "b")) for _ in range(3)]
    one = write_folder(tmp_path / "a", [table.drop(["b"]).rename_columns({"a": "score"}) for table in both], rows=7)
    whole = pa.concat_tables(both).drop(["a"]).rename_columns({"b": "score"})
    other = write_folder(tmp_path / "b", [whole.slice(0, 100), whole.slice(100)], rows=11)
    # Without existing output, inputs that fit are read as a whole: the limit is what makes batches of them.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(in_memory, "memory_of", lambda _paths: 10**18)
        found = said(apply_files(fusion, [one, other], tmp_path / "out"))
        assert any("180 trials matched row by row, with the same names" in text for text in found)
        wrong = write_folder(tmp_path / "wrong", [whole.slice(0, 100), whole.slice(100).take(np.arange(80)[::-1])])
        with pytest.raises(KeyMismatchError, match=r"row group .*, row \d: trial .*are fused row by row"):
            apply_files(fusion, [one, wrong], tmp_path / "never")
        short = write_folder(tmp_path / "short", [whole.slice(0, 100)])
        with pytest.raises(KeyMismatchError, match="contains 100 scores, .* 180 scores"):
            apply_files(fusion, [one, short], tmp_path / "never")
        apply_files(fusion, [one, wrong], tmp_path / "anyway", by_order=True)
    assert not (tmp_path / "never").exists()
    apply_files(fusion, [one, other], tmp_path / "whole.parquet")
    assert alike(tmp_path / "out", tmp_path / "whole.parquet")


def test_a_parquet_file_is_written_in_batches(tmp_path, monkeypatch):
    rng = np.random.default_rng(21)
    truth = np.arange(40) < 20
    fusion = LinearFusion().fit(rng.normal(size=(40, 2)) + truth[:, None], truth)
    both = trials(rng, 200, ("a", "b"))
    one = write_folder(tmp_path / "a", [both.drop(["b"]).rename_columns({"a": "score"})], rows=30)
    other = write_folder(tmp_path / "b", [both.drop(["a"]).rename_columns({"b": "score"})], rows=41)
    whole = apply_files(fusion, [one, other], tmp_path / "whole.parquet")
    monkeypatch.setattr(in_memory, "memory_of", lambda _paths: 10**18)
    (tmp_path / "batches.parquet").write_bytes(b"an older file")
    found = apply_files(fusion, [one, other], tmp_path / "batches.parquet")
    assert found[-1].text == "as parquet, in batches"
    assert whole[-1].text == "as parquet"
    assert pq.ParquetFile(tmp_path / "batches.parquet").metadata.num_row_groups == 7
    assert (
        pq.read_table(tmp_path / "batches.parquet").to_pylist() == pq.read_table(tmp_path / "whole.parquet").to_pylist()
    )


@pytest.mark.parametrize("ids", ["strip-ending", "map"])
def test_names_are_compared_by_other_names(tmp_path, monkeypatch, ids):
    rng = np.random.default_rng(22)
    truth = np.arange(40) < 20
    fusion = LinearFusion().fit(rng.normal(size=(40, 2)) + truth[:, None], truth)
    names = pa.array([f"s{k}" for k in range(60)])
    ended = pa.array([f"s{k}.wav" for k in range(60)])
    tables = [pa.table({"trial": one, "score": rng.normal(size=60)}) for one in (names, ended)]
    one, other = (write_folder(tmp_path / name, [table], rows=25) for name, table in zip("ab", tables, strict=True))
    if ids == "map":
        ids = tmp_path / "map.csv"
        ids.write_text("left,right\n" + "".join(f"s{k}.wav,s{k}\n" for k in range(60)))
    apply_files(fusion, [one, other], tmp_path / "whole.parquet", ids=ids)
    monkeypatch.setattr(in_memory, "memory_of", lambda _paths: 10**18)
    found = said(apply_files(fusion, [one, other], tmp_path / "out", ids=ids))
    assert alike(tmp_path / "out", tmp_path / "whole.parquet")
    words = ids if ids == "strip-ending" else str(ids)
    assert f"ids   {words} changed names of {other}" in found
    with pytest.raises(KeyMismatchError, match="are fused row by row"):
        apply_files(fusion, [one, other], tmp_path / "never")


def test_probabilities_become_logarithms(tmp_path):
    rng = np.random.default_rng(23)
    path, key = tmp_path / "train.txt", tmp_path / "key.txt"
    path.write_text("".join(f"t{k} {rng.uniform(0.1, 0.6) + 0.3 * (k % 2)}\n" for k in range(60)))
    key.write_text("".join(f"t{k} {'target' if k % 2 else 'nontarget'}\n" for k in range(60)))
    model = train_files(path, key, AffineCalibrator(), probabilities=0.5).model
    table = pa.table({"trial": [f"t{k}" for k in range(60)], "score": [*rng.uniform(size=58), 0.0, 1.0]})
    folder = write_folder(tmp_path / "in", [table.slice(0, 30), table.slice(30)], rows=10)
    whole = said(apply_files(model, folder, tmp_path / "whole.parquet", probabilities=0.5))
    found = said(apply_files(model, folder, tmp_path / "out", probabilities=0.5))
    assert alike(tmp_path / "out", tmp_path / "whole.parquet")
    for words in ("scores are probabilities with prior 0.5", "2 trials with a probability of exactly 0 or 1"):
        assert [line for line in found if words in line] == [line for line in whole if words in line] != []
    assert not any("look like probabilities" in line for line in found)


def test_measures_of_no_trial_leave_no_folder(tmp_path):
    rng = np.random.default_rng(24)
    n = 200
    truth, quality = np.arange(n) < 100, rng.normal(size=(n, 1))
    fusion = QualityFusion().fit(rng.normal(size=(n, 1)) + truth[:, None], truth, trial_quality=quality)
    table = pa.table({"trial": [f"t{k}" for k in range(60)], "score": rng.normal(size=60)})
    folder = write_folder(tmp_path / "in", [table.slice(0, 30), table.slice(30)], rows=10)
    (tmp_path / "snr.txt").write_text("1\nother 0.5\n")
    with pytest.raises(InputError, match="no quality measures of trial for any trial"):
        apply_files(fusion, folder, tmp_path / "out", quality={"trial": tmp_path / "snr.txt"})
    assert not (tmp_path / "out").exists()


def test_quality_measures_of_names(tmp_path):
    rng = np.random.default_rng(6)
    n = 200
    truth, quality = np.arange(n) < 100, rng.normal(size=(n, 1))
    fusion = QualityFusion().fit(rng.normal(size=(n, 1)) + truth[:, None], truth, trial_quality=quality)
    table = pa.table({"trial": [f"t{k}" for k in range(60)], "score": rng.normal(size=60)})
    folder = write_folder(tmp_path / "in", [table.slice(0, 30), table.slice(30)], rows=10)
    known = "".join(f"t{k} {rng.normal()}\n" for k in range(10, 60))  # nothing is known of the first piece
    (tmp_path / "snr.txt").write_text("1\n" + known)
    found = said(apply_files(fusion, folder, tmp_path / "out", quality={"trial": tmp_path / "snr.txt"}))
    whole = said(apply_files(fusion, folder, tmp_path / "whole.parquet", quality={"trial": tmp_path / "snr.txt"}))
    assert alike(tmp_path / "out", tmp_path / "whole.parquet")
    words = "note  10 of 60 trials without quality measures are fused by scores alone"
    assert words in found
    assert words in whole


def test_folders_that_say_conditions_stay(model, tmp_path):
    rng = np.random.default_rng(7)
    for value in "fm":
        write_folder(tmp_path / f"in/gender={value}", [trials(rng).drop(["gender"])])
    apply_files(model, tmp_path / "in", tmp_path / "out")
    assert (tmp_path / "out/gender=f/part-0.parquet").exists()
    apply_files(model, tmp_path / "in", tmp_path / "whole.parquet")
    again, whole = (pq.read_table(tmp_path / name).to_pandas() for name in ("out", "whole.parquet"))
    assert again["score"].tolist() == whole["score"].tolist()
    assert again["gender"].astype(str).tolist() == whole["gender"].astype(str).tolist()


@pytest.mark.parametrize("packed", [False, True])
def test_text_that_does_not_fit(model, tmp_path, packed, monkeypatch):
    text = "".join(f"m{k} s{k} {k - 20}.25\n" for k in range(40))
    path = tmp_path / ("a.txt.gz" if packed else "a.txt")
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    apply_files(model, path, tmp_path / "whole.parquet", to="parquet")
    monkeypatch.setattr(in_memory, "memory_of", lambda _paths: 10**18)
    apply_files(model, path, tmp_path / "out")
    assert [one.name for one in (tmp_path / "out").iterdir()] == ["a.parquet"]
    assert alike(tmp_path / "out", tmp_path / "whole.parquet")
    with pytest.raises(InputError, match=r"is not a Parquet file or a folder, .* or name a folder"):
        apply_files(model, path, tmp_path / "llr.txt", memory="100MB")


def test_a_shard_without_trials_stays_one(model, tmp_path):
    rng = np.random.default_rng(8)
    table = trials(rng)
    folder = write_folder(tmp_path / "in", [table.slice(0, 0), table])
    apply_files(model, folder, tmp_path / "out")
    assert pq.read_table(tmp_path / "out/part-0.parquet").num_rows == 0
    assert pq.read_schema(tmp_path / "out/part-0.parquet") == pq.read_schema(tmp_path / "out/part-1.parquet")
    nothing = write_folder(tmp_path / "nothing", [table.slice(0, 0)])
    with pytest.raises(FormatError, match="contains no trial"):
        apply_files(model, nothing, tmp_path / "never")


def failing_after(n, monkeypatch, error):
    """Let the writer fail when it has written so many tables."""
    wrote, left = writing.TableWriter.write, [n]

    def write(self, table, partition):
        left[0] -= 1
        if left[0] < 0:
            raise error
        wrote(self, table, partition)

    monkeypatch.setattr(writing.TableWriter, "write", write)


def test_an_interrupted_run_goes_on_where_it_was(model, tmp_path):
    rng = np.random.default_rng(9)
    folder = write_folder(tmp_path / "in", [trials(rng) for _ in range(3)])
    with pytest.MonkeyPatch.context() as patch:
        failing_after(13, patch, KeyboardInterrupt())
        with pytest.raises(KeyboardInterrupt):
            apply_files(model, folder, tmp_path / "out")
    beside = tmp_path / ".out.unfinished"
    assert not (tmp_path / "out").exists()
    assert {one.name for one in beside.iterdir()} == {"part-0.parquet", "manifest.json", "lock"}
    first = (beside / "part-0.parquet").stat().st_mtime_ns
    found = said(apply_files(model, folder, tmp_path / "out"))
    assert any("1 file of 3 were finished by an earlier run" in one for one in found)
    assert (tmp_path / "out/part-0.parquet").stat().st_mtime_ns == first
    assert sorted(one.name for one in tmp_path.iterdir()) == ["in", "out"]
    apply_files(model, folder, tmp_path / "whole.parquet")
    assert alike(tmp_path / "out", tmp_path / "whole.parquet")


@pytest.mark.parametrize("what", ["model", "input"])
def test_what_was_made_of_something_else_is_made_anew(model, tmp_path, what):
    rng = np.random.default_rng(10)
    folder = write_folder(tmp_path / "in", [trials(rng) for _ in range(3)])
    with pytest.MonkeyPatch.context() as patch:
        failing_after(20, patch, KeyboardInterrupt())
        with pytest.raises(KeyboardInterrupt):
            apply_files(model, folder, tmp_path / "out")
    if what == "model":
        model = AffineCalibrator().fit([1.0, 2.0, 0.0, 3.0], [True, False, False, True])
    else:
        pq.write_table(trials(rng), folder / "part-0.parquet", row_group_size=7)
    found = said(apply_files(model, folder, tmp_path / "out"))
    n_stale = {"model": "2 files", "input": "1 file"}[what]
    assert any(f"{n_stale} of an earlier, interrupted run had another" in one for one in found)
    apply_files(model, folder, tmp_path / "whole.parquet")
    assert alike(tmp_path / "out", tmp_path / "whole.parquet")


def test_faults_name_shard_and_row_group(model, tmp_path):
    rng = np.random.default_rng(11)
    tables = [trials(rng) for _ in range(3)]
    values = tables[2]["score"].to_pylist()
    values[23] = None
    tables[2] = tables[2].set_column(3, "score", pa.array(values))
    folder = write_folder(tmp_path / "in", tables)
    with pytest.raises(FormatError, match=r"part-2\.parquet, row group 3, row 2: the score is missing"):
        apply_files(model, folder, tmp_path / "out")
    data = bytearray((folder / "part-2.parquet").read_bytes())
    at = pq.ParquetFile(folder / "part-2.parquet").metadata.row_group(1).column(3).data_page_offset
    data[at : at + 40] = bytes(40)
    (folder / "part-2.parquet").write_bytes(data)
    with pytest.raises(FormatError, match=r"part-2\.parquet, row group 1: damaged"):
        apply_files(model, folder, tmp_path / "out")
    (folder / "part-1.parquet").write_bytes((folder / "part-1.parquet").read_bytes()[:-100])
    with pytest.raises(FormatError, match=r"part-1\.parquet: "):
        apply_files(model, folder, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_full_disk_names_the_file_and_leaves_no_folder(model, tmp_path, monkeypatch):
    rng = np.random.default_rng(12)
    folder = write_folder(tmp_path / "in", [trials(rng) for _ in range(2)])
    wrote = pq.ParquetWriter.write_table

    def write_table(self, table, **how):
        wrote(self, table, **how)
        raise OSError("[Errno 28] Error writing bytes to file. Detail: [errno 28] No space left on device")

    monkeypatch.setattr(pq.ParquetWriter, "write_table", write_table)
    with pytest.raises(OSError, match=r"part-0\.parquet, row group 0 was written") as caught:
        apply_files(model, folder, tmp_path / "out")
    assert (caught.value.errno, caught.value.filename) == (28, str(tmp_path / "out/part-0.parquet"))
    assert [one.name for one in tmp_path.iterdir()] == ["in"]


def test_what_is_there_is_not_replaced(model, tmp_path):
    rng = np.random.default_rng(13)
    folder = write_folder(tmp_path / "in", [trials(rng)])
    write_folder(tmp_path / "out", [trials(rng)])
    with pytest.raises(InputError, match="already exists"):
        apply_files(model, folder, tmp_path / "out")
    (tmp_path / "empty").mkdir()
    apply_files(model, folder, tmp_path / "empty")
    assert [one.name for one in (tmp_path / "empty").iterdir()] == ["part-0.parquet"]


def test_only_parquet_is_written_in_batches(model, tmp_path):
    folder = write_folder(tmp_path / "in", [trials(np.random.default_rng(14))])
    with pytest.raises(InputError, match=r"to: got 'kaldi'"):
        apply_files(model, folder, tmp_path / "out", to="kaldi")


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_ctrl_c_leaves_no_folder(model, tmp_path):
    rng = np.random.default_rng(15)
    n = 200_000
    table = pa.table({"test": [f"s{k}" for k in range(n)], "enroll": ["m"] * n, "score": rng.normal(size=n)})
    folder = tmp_path / "in"
    folder.mkdir()
    for k in range(8):
        pq.write_table(table.slice(k), folder / f"part-{k}.parquet", row_group_size=20_000)
    model.save(tmp_path / "m.json")
    command = [sys.executable, "-m", "deciban", "apply", "m.json", "in", "-o", "out"]
    process = subprocess.Popen(command, cwd=tmp_path, env=os.environ, stderr=subprocess.PIPE)
    beside = tmp_path / ".out.unfinished"
    end = time.monotonic() + 60
    while not (beside / "part-0.parquet").exists() and process.poll() is None and time.monotonic() < end:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 130, told
    assert not (tmp_path / "out").exists()
    assert not list(beside.glob("*.part"))
