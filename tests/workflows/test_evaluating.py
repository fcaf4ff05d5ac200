"""Files that do not fit in memory: the same results, table and page as of those that do."""

import os
import threading

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deciban import evaluate, evaluate_files
from deciban.errors import InputError, KeyMismatchError
from deciban.io import recognition
from deciban.io.partitions.opening import open_trials
from deciban.io.recognition import memory_of
from deciban.workflows.options import Options
from deciban.workflows.reading.inputs import ScoreFiles, opened


@pytest.fixture
def folder(tmp_path):
    """Three million trials in three files, more than what 100 MB hold."""
    rng = np.random.default_rng(5)
    path = tmp_path / "trials"
    path.mkdir()
    for at in range(3):
        truth = rng.random(1_000_000) < 0.02
        scores = np.where(truth, 3.0, -3.0) + rng.normal(0.0, 2.0, len(truth))
        table = pa.table({"score": scores.astype(np.float32), "label": truth})
        pq.write_table(table, path / f"part-{at}.parquet", row_group_size=300_000)
    return path


def test_results_are_the_same_in_partitions(folder):
    whole = evaluate_files(folder, memory="10GB", intervals=False)
    found = evaluate_files(folder, memory="100MB", intervals=False)
    one, other = found.systems[0], whole.systems[0]
    for name in (
        "n_tar",
        "n_non",
        "eer",
        "auc",
        "min_cllr",
        "prbep",
        "operating_points",
        "notes",
        "dr30",
        "misleading",
    ):
        assert getattr(one, name) == getattr(other, name), name
    assert one.cllr == pytest.approx(other.cllr, rel=1e-14)
    assert any("in 12 batches" in str(message) for message in found.messages)
    assert not any("partitions" in str(message) for message in whole.messages)


def test_one_class_alone_is_refused_as_in_memory(tmp_path):
    path = tmp_path / "targets.parquet"
    pq.write_table(pa.table({"score": [0.5, 1.5], "label": ["target", "target"]}), path)
    for given in (path, pq.read_table(path)):
        with pytest.raises(KeyMismatchError, match=r"no non-target trial among 2\. .*check the label words"):
            evaluate_files(given)


@pytest.mark.parametrize("columns", [["score", "label"], ["score", "label", "trial"]])
def test_many_scores_with_labels_alone_are_read_in_batches(tmp_path, monkeypatch, columns):
    rng, path = np.random.default_rng(8), tmp_path / "trials.parquet"
    truth = rng.random(1000) < 0.4
    rows = {"score": truth + rng.normal(size=1000), "label": truth, "trial": [f"t{at}" for at in range(1000)]}
    pq.write_table(pa.table({name: rows[name] for name in columns}), path, row_group_size=300)
    options = Options.of("evaluate_files", {})
    whole = evaluate_files(path)
    assert isinstance(opened(path, None, options), ScoreFiles)
    monkeypatch.setattr(recognition, "_MANY_ROWS", 1000)
    assert isinstance(opened(path, None, options), ScoreFiles) == ("trial" in columns)
    found = evaluate_files(path)
    assert found.systems[0].interval("eer") == whole.systems[0].interval("eer")
    assert not any("do not fit" in str(message) for message in found.messages)


@pytest.fixture
def piped(tmp_path, monkeypatch):
    """Text on standard input, and the same in a file."""
    rng = np.random.default_rng(6)
    lines = [f"m{k} t{k} {rng.normal() + k % 2:.3f} {'target' if k % 2 else 'nontarget'}\n" for k in range(300)]
    path = tmp_path / "trials.txt"
    path.write_text("enroll test score label\n" + "".join(lines))
    with path.open() as stream:
        monkeypatch.setattr("sys.stdin", stream)
        yield path


@pytest.mark.parametrize(("times", "in_batches"), [(1, False), (10**5, True)])
def test_standard_input_is_read_in_partitions_if_it_is_longer_than_what_fits(piped, monkeypatch, times, in_batches):
    whole = evaluate_files(piped, intervals=False)
    monkeypatch.setattr(recognition, "TIMES_ITS_SIZE", dict.fromkeys(("text", "packed", "binary"), times))
    found = evaluate_files("-", memory="100MB", intervals=False)
    assert found.systems[0].eer == whole.systems[0].eer
    assert any("read once: they do not fit in memory" in str(message) for message in found.messages) == in_batches
    (met,) = (one.text for one in whole.messages if one.kind == "join")
    met = met.replace("0 duplicate", "duplicates not checked") if in_batches else met
    assert met.replace("(trials)", "(standard input)") in [one.text for one in found.messages]


def test_pipes_are_read_like_standard_input(piped, tmp_path, monkeypatch):
    monkeypatch.setattr(recognition, "TIMES_ITS_SIZE", dict.fromkeys(("text", "packed", "binary"), 10**5))
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=lambda: (tmp_path / "pipe").write_bytes(piped.read_bytes()))
    writer.start()
    found = evaluate_files(tmp_path / "pipe", memory="100MB", intervals=False)
    writer.join()
    assert found.systems[0].n_tar == 150
    assert any("read once: they do not fit in memory" in str(message) for message in found.messages)


def test_what_fits_is_read_as_a_whole(folder):
    options = Options.of("evaluate_files", {"memory": "1GB"})
    assert opened([folder], None, options).is_at_hand
    assert memory_of([folder], None) > 100 * 10**6
    assert opened([folder], None, Options.of("evaluate_files", {"memory": "100MB"})).n_rows == 3_000_000


def test_nobody_says_of_an_object_that_it_does_not_fit():
    table = pa.table({"score": [0.5, 1.5, 1.0], "label": ["target", "target", "nontarget"]})
    words = [one.text for one in evaluate_files(table).messages]
    assert words[-1] == "3 rows in 1 batch, read more than once"
    assert any("3 trials taken as independent" in text for text in words)


@pytest.mark.parametrize("options", [{}, {"memory": 10**9}])
def test_one_hot_labels_are_classes_and_no_mask(tmp_path, options):
    """A matrix of 0 and 1 has no non-target; a boolean one could be both, and the user says which."""
    rng = np.random.default_rng(8)
    labels = np.arange(60) % 4
    logits = rng.normal(size=(60, 4)) + 2 * np.eye(4)[labels]
    np.save(tmp_path / "logits.npy", logits)
    np.save(tmp_path / "one_hot.npy", np.eye(4, dtype=np.int64)[labels])
    np.save(tmp_path / "dummies.npy", np.eye(4, dtype=bool)[labels])
    np.save(tmp_path / "labels.npy", labels)
    paths = {name: tmp_path / f"{name}.npy" for name in ("one_hot", "dummies", "labels")}
    expected = evaluate_files(tmp_path / "logits.npy", paths["labels"]).systems[0]
    for key, given in (("one_hot", {}), ("dummies", {"kind": "classes"})):
        found = evaluate_files(tmp_path / "logits.npy", paths[key], **given, **options).systems[0]
        assert (found.cllr, found.error_rate) == (pytest.approx(expected.cllr), expected.error_rate)
    with pytest.raises(InputError, match='use kind="classes"'):
        evaluate_files(tmp_path / "logits.npy", paths["dummies"], **options)
    two = evaluate_files(tmp_path / "logits.npy", paths["dummies"], kind="two-class", **options).systems[0]
    assert (two.n_tar, two.n_non) == (60, 180)


@pytest.mark.parametrize("mask", [np.int8, np.bool_])
def test_a_matrix_with_its_mask_is_read_whatever_memory_is_allowed(tmp_path, mask):
    rng = np.random.default_rng(2)
    truth = rng.choice([1, -1, 0], (40, 30), p=[0.2, 0.7, 0.1])
    scores = truth + rng.normal(size=truth.shape)
    np.save(tmp_path / "m.npy", scores)
    np.save(tmp_path / "k.npy", truth.astype(mask) if mask is np.int8 else truth == 1)
    found = evaluate_files(tmp_path / "m.npy", tmp_path / "k.npy", memory="9GB")
    non = scores[truth == -1 if mask is np.int8 else truth != 1]
    expected = evaluate(scores[truth == 1], non)
    assert (found.systems[0].eer, found.systems[0].n_non) == (expected.eer, expected.n_non)
    assert found.systems[0].cllr == pytest.approx(expected.cllr, rel=1e-12)
    assert not any("fit in memory" in str(message) for message in found.messages)


def test_a_matrix_is_cut_into_blocks_that_little_memory_holds(tmp_path):
    truth = np.random.default_rng(3).random((100, 300)) < 0.1
    np.save(tmp_path / "m.npy", truth + 0.5)
    np.save(tmp_path / "k.npy", truth)
    source = open_trials(tmp_path / "m.npy", tmp_path / "k.npy", memory=96 * 900)
    assert [one.n_rows for one in source.partitions] == [900] * 33 + [300]
