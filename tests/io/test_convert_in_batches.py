"""Files that do not fit in memory written as Parquet: what is written of those that do."""

import gzip
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deciban.errors import FormatError, InputError
from deciban.io.text import reader
from deciban.io.writing import convert
from support.score_files import said

LABELS = {"target": "same", "nontarget": "different"}
MODULE = sys.modules["deciban.io.writing"]


def both_ways(source, target, **options):
    """What is written and said in memory, and in batches of a few lines."""
    whole = target.with_name("whole.parquet")
    told = said(convert(source, whole, **options))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MODULE, "memory_of", lambda _paths: 10**18)
        patch.setattr(reader, "BLOCK", 256)
        found = said(convert(source, target, **options))
    one, other = pq.read_table(target), pq.read_table(whole)
    assert one.schema.equals(other.schema, check_metadata=True)
    assert one.to_pylist() == other.to_pylist()
    assert found[-1] == f"wrote  {target}   as parquet, in batches"
    return told[:-1], found[:-1]


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(1)
    words = np.where(rng.random(90) < 0.3, "same", "different")
    lines = [f"m{k % 5} s{k} {rng.normal():.4f} {words[k]}" for k in range(90)]
    (tmp_path / "a.txt").write_text("enroll test score label\n" + "\n".join(lines) + "\n")
    return tmp_path / "a.txt"


@pytest.mark.parametrize("what", [None, "scores", "key", "index"])
def test_text_is_the_same_as_in_memory(table, tmp_path, what):
    told, found = both_ways(table, tmp_path / "out.parquet", what=what, labels=LABELS)
    assert found == told
    assert pq.ParquetFile(tmp_path / "out.parquet").num_row_groups > 5


def test_negated_text(table, tmp_path):
    told, found = both_ways(table, tmp_path / "out.parquet", labels=LABELS, negate=True)
    assert found == told
    score = pq.read_table(table.with_name("whole.parquet"))["score"].to_numpy()
    given = [float(line.split()[2]) for line in table.read_text().splitlines()[1:]]
    assert score.tolist() == [0.0 - one for one in given]


def test_likelihood_ratios_become_logarithms_with_a_note(tmp_path):
    (tmp_path / "lr.txt").write_text("".join(f"m s{k} {2.0**k!r}\n" for k in range(90)))
    told, found = both_ways(tmp_path / "lr.txt", tmp_path / "out.parquet", lr=True)
    assert found == told
    assert "note  scores are likelihood ratios; they are written as their natural logarithms" in told
    score = pq.read_table(tmp_path / "whole.parquet")["score"].to_numpy()
    assert score == pytest.approx(np.arange(90) * np.log(2))


def test_compressed_text(table, tmp_path):
    packed = tmp_path / "a.txt.gz"
    packed.write_bytes(gzip.compress(table.read_bytes()))
    told, found = both_ways(packed, tmp_path / "out.parquet", labels=LABELS)
    assert found == told


def test_probabilities_become_llrs_and_certain_ones_are_counted(tmp_path):
    values = [0.0, 0.25, 0.5, 1.0, 1.0] * 20
    (tmp_path / "p.txt").write_text("".join(f"m s{k} {p}\n" for k, p in enumerate(values)))
    told, found = both_ways(tmp_path / "p.txt", tmp_path / "out.parquet", probabilities=0.5)
    assert found == told
    assert any("60 trials with a probability of exactly 0 or 1" in one for one in found)


def test_folders_with_conditions_in_their_names_and_classes_in_different_partitions(tmp_path):
    for k, value in enumerate("fm"):
        (tmp_path / f"in/gender={value}").mkdir(parents=True)
        columns = {"trial": [f"{value}{i}" for i in range(8)], "class": [f"c{k}"] * 4 + ["shared"] * 4}
        pq.write_table(pa.table(columns), tmp_path / f"in/gender={value}/p.parquet", row_group_size=3)
    both_ways(tmp_path / "in", tmp_path / "out.parquet", what="class-key")
    assert sorted(set(pq.read_table(tmp_path / "out.parquet")["class"].to_pylist())) == ["c0", "c1", "shared"]


def test_many_classes_written_as_detection_llrs(tmp_path):
    rng = np.random.default_rng(2)
    lines = "".join(f"s{k},{','.join(map(str, rng.normal(size=3)))}\n" for k in range(40))
    (tmp_path / "a.csv").write_text("trial,x,y,z\n" + lines)
    told, found = both_ways(tmp_path / "a.csv", tmp_path / "out.parquet", what="class-scores", write_as="detection-llr")
    assert found == told


def test_faults_name_the_line_and_leave_nothing(table, tmp_path, monkeypatch):
    lines = table.read_text().splitlines()
    lines[60] = "m1 s59 much same"
    table.write_text("\n".join(lines) + "\n")
    monkeypatch.setattr(MODULE, "memory_of", lambda _paths: 10**18)
    monkeypatch.setattr(reader, "BLOCK", 256)
    with pytest.raises(FormatError, match=r"a\.txt:61: "):
        convert(table, tmp_path / "out.parquet", labels=LABELS)
    assert [one.name for one in tmp_path.iterdir()] == ["a.txt"]


def test_what_needs_the_whole_file(table, tmp_path, monkeypatch):
    monkeypatch.setattr(MODULE, "memory_of", lambda _paths: 10**18)
    convert(table, tmp_path / "out.csv", labels=LABELS)  # as ever, where nothing is said of memory
    for target, more, words in (
        ("new.csv", {}, "only Parquet can be written in batches"),
        ("new.parquet", {"key": table}, "labels of a key"),
    ):
        with pytest.raises(InputError, match=words):
            convert(table, tmp_path / target, labels=LABELS, memory="100MB", **more)
    assert not (tmp_path / "new.csv").exists()
