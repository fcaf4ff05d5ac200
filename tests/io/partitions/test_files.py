"""Damage, other schemas, copies and changes of files: refused, with the file and the row group."""

import os
import re
import shutil

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deciban.errors import FormatError
from deciban.io import read_contents
from deciban.io.partitions import files as rows
from deciban.io.partitions import opening, writing
from deciban.io.partitions.opening import open_trials
from deciban.trials.sources import TrialFields
from support.sources import gathered, trials


@pytest.fixture
def folder(tmp_path):
    """Four files of three row groups each."""
    path = tmp_path / "trials"
    path.mkdir()
    for at in range(4):
        pq.write_table(trials(np.random.default_rng(at), n=90), path / f"part-{at}.parquet", row_group_size=30)
    return path


def test_damage_in_the_middle(folder):
    path = folder / "part-2.parquet"
    data = bytearray(path.read_bytes())
    with pq.ParquetFile(path) as file:
        column = file.metadata.row_group(1).column(2)
        start = column.dictionary_page_offset or column.data_page_offset
    data[start : start + 40] = bytes(40)
    path.write_bytes(data)
    with pytest.raises(FormatError, match=r"part-2\.parquet, row group 1: damaged, or not Parquet"):
        gathered(open_trials(folder))


def test_cut_off_files(folder):
    path = folder / "part-1.parquet"
    path.write_bytes(path.read_bytes()[:-300])
    with pytest.raises(FormatError, match=r"part-1\.parquet: (damaged|no Parquet)"):
        open_trials(folder)


def test_other_columns(folder):
    table = trials(np.random.default_rng(7))
    pq.write_table(table.drop_columns("label"), folder / "part-9.parquet")
    with pytest.raises(FormatError, match=r"part-9\.parquet: has the columns .*part-0\.parquet"):
        open_trials(folder)
    words = pa.array(["1.5"] * len(table))
    pq.write_table(table.set_column(2, "score", words), folder / "part-9.parquet")
    with pytest.raises(
        FormatError, match=r"part-9\.parquet: column score contains text \(string\), .*contains numbers"
    ):
        open_trials(folder)
    pq.write_table(table.set_column(2, "score", table["score"].cast(pa.float64())), folder / "part-9.parquet")
    assert open_trials(folder).is_double


def test_two_columns_of_one_name(folder):
    for path in folder.iterdir():
        table = pq.read_table(path)
        pq.write_table(table.append_column("score", table["score"]), path)
    with pytest.raises(FormatError, match=r"part-0\.parquet: two columns are called 'score'"):
        open_trials(folder)


def test_nan_is_found_in_its_row(folder):
    table = trials(np.random.default_rng(8), n=90)
    values = table["score"].to_numpy().copy()
    values[47] = np.nan
    pq.write_table(table.set_column(2, "score", pa.array(values)), folder / "part-812.parquet", row_group_size=30)
    with pytest.raises(FormatError, match=r"part-812\.parquet, row group 1, row 17: the score is NaN"):
        gathered(open_trials(folder))


def test_empty_shards_and_shards_of_one_class(folder):
    table, expected = trials(np.random.default_rng(9)), gathered(open_trials(folder))
    pq.write_table(table.slice(0, 0), folder / "part-7.parquet")
    pq.write_table(table.slice(0, 0), folder / "part-8.parquet")
    np.testing.assert_array_equal(gathered(open_trials(folder)), expected)
    for label in ("target", "nontarget"):
        own = table.filter(pa.compute.equal(table["label"], label))
        pq.write_table(own, folder / f"only-{label}.parquet")
    assert len(gathered(open_trials(folder))) == len(expected) + len(table)
    for path in folder.iterdir():
        pq.write_table(table.slice(0, 0), path)
    with pytest.raises(FormatError, match="contains no trial"):
        open_trials(folder)


def test_copies_are_refused(folder):
    shutil.copy(folder / "part-1.parquet", folder / "part-8.parquet")
    with pytest.raises(FormatError, match=r"part-8\.parquet: the same content as .*part-1\.parquet"):
        open_trials(folder)
    (folder / "part-8.parquet").unlink()
    (folder / "part-8.parquet").symlink_to(folder / "part-1.parquet")
    with pytest.raises(FormatError, match="read twice"):
        open_trials(folder)


def test_links_to_nowhere_are_not_overlooked(folder):
    (folder / "part-9.parquet").symlink_to(folder / "lost.parquet")
    with pytest.raises(FormatError, match=r"part-9\.parquet: a broken link"):
        open_trials(folder)


@pytest.mark.parametrize("how", ["touched", "written", "gone"])
def test_changes_between_passes(folder, how):
    source = open_trials(folder)
    gathered(source)
    path = folder / "part-3.parquet"
    if how == "touched":
        os.utime(path, ns=(1, 1))
    elif how == "gone":
        path.unlink()
    else:
        pq.write_table(trials(np.random.default_rng(55), n=91), path)
    with pytest.raises(FormatError, match=r"part-3\.parquet, row group 0: changed while it was read"):
        gathered(source)


@pytest.mark.parametrize("fails", [False, True])
def test_a_change_during_a_read_is_no_damage_and_not_taken_for_whole(folder, monkeypatch, fails):
    source, read = open_trials(folder), rows.FileRows._read

    def changing(self, columns):
        found = read(self, columns)
        if self.name.endswith("part-3.parquet, row group 0"):
            os.utime(self.path, ns=(1, 1))
            if fails:
                raise OSError("Deserializing page header failed.")
        return found

    monkeypatch.setattr(rows.FileRows, "_read", changing)
    with pytest.raises(FormatError, match=r"part-3\.parquet, row group 0: changed while it was read"):
        gathered(source)


def test_files_that_hold_nothing_or_something_else_are_named_with_the_way_out(folder):
    (folder / "part-9.parquet").write_bytes(b"")
    with pytest.raises(FormatError, match=r"part-9\.parquet: the file is empty .* remove it"):
        open_trials(folder)
    (folder / "part-9.parquet").write_text("read me")
    with pytest.raises(FormatError, match=r"part-9\.parquet: not a Parquet file.* Remove it"):
        open_trials(folder)


def test_large_row_groups_are_cut(folder, monkeypatch):
    whole = trials(np.random.default_rng(20), n=200)
    pq.write_table(whole, folder / "part-5.parquet")
    expected = gathered(open_trials(folder))
    monkeypatch.setattr(opening, "MOST_ROWS", 100)
    monkeypatch.setattr(writing, "ROWS", 64)
    source = open_trials(folder)
    np.testing.assert_array_equal(gathered(source), expected)
    assert max(one.n_rows for one in source.partitions) <= 100
    assert any(one.name.endswith("part-5.parquet, rows 0 to 63") for one in source.partitions)
    assert any(one.name.endswith("part-1.parquet, row group 2") for one in source.partitions)


def test_a_column_without_any_value_has_the_type_of_other_files(folder):
    """Of type null in the file that comes first, and in the last one."""
    expected = gathered(open_trials(folder))
    table = trials(np.random.default_rng(21))
    for name in ("part-.parquet", "part-9.parquet"):
        own = table.slice(len(name), 20)
        pq.write_table(own.set_column(4, "gender", pa.nulls(20)), folder / name)
    source = open_trials(folder)
    assert source.n_rows == len(expected) + 40
    assert len(gathered(open_trials(folder, where={"gender": ["f", "m"]}))) == len(expected)
    for name in ("part-.parquet", "part-9.parquet"):
        own = pq.read_table(folder / name)
        pq.write_table(own.set_column(2, "score", pa.nulls(20)), folder / name)
        with pytest.raises(FormatError, match=rf"{name}, row group 0, row 0: the score is missing"):
            gathered(open_trials(folder))
        (folder / name).unlink()


FAULTS = {
    "score is NaN": ("score", float("nan"), "the score is NaN"),
    "no score": ("score", None, r"the score is missing \(column score\)"),
    "no label": ("label", None, r"the label is missing \(column label\)"),
    "unknown label": ("label", "maybe", "unknown label 'maybe'"),
    "no name": ("enroll", None, r"the name of the enroll is missing \(column enroll\)"),
}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("n_rows", [100, 3])
@pytest.mark.parametrize("kind", ["parquet", "arrow", "folder"])
def test_faults_are_told_alike_whether_files_are_read_at_once_or_in_batches(tmp_path, fault, n_rows, kind):
    column, value, words = FAULTS[fault]
    rows = {
        "enroll": [f"m{k % 3}" for k in range(8)],
        "test": [f"t{k}" for k in range(8)],
        "score": [k / 4 for k in range(8)],
        "label": ["target" if k % 2 else "nontarget" for k in range(8)],
    }
    good = pa.table({**rows, "test": [f"u{k}" for k in range(8)]})
    rows[column][5] = value
    bad, path = pa.table(rows), tmp_path / kind
    if kind == "arrow":
        with pa.ipc.new_file(str(path), bad.schema) as file:
            file.write_table(bad, max_chunksize=n_rows)
    elif kind == "parquet":
        pq.write_table(bad, path, row_group_size=n_rows)
    else:
        path.mkdir()
        pq.write_table(bad, path / "a.parquet", row_group_size=n_rows)
        pq.write_table(good, path / "b.parquet")
    part = {"parquet": "row group", "arrow": "batch", "folder": "row group"}[kind]
    name = f"{path}/a.parquet" if kind == "folder" else f"{path}"
    place = f"{name}, {part} 1, row 2" if n_rows < 8 else f"{name}, row 5"
    place = f"{name}, {part} 0, row 5" if kind == "folder" and n_rows > 8 else place
    said = []
    for read in (_at_once, _in_batches):
        with pytest.raises(FormatError, match=f"^{re.escape(place)}: {words}") as caught:
            read(path)
        said.append(str(caught.value))
    assert said[0] == said[1]


def _at_once(path):
    read_contents(path, need="scores")
    read_contents(path, need="key")


def _in_batches(path):
    for partition in open_trials(path, find_speakers=True).partitions:
        partition.read(TrialFields((0,), truth=True, names=True))
