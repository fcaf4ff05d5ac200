"""Text, compressed files and objects of other libraries become tables in batches, and their temporary files go."""

import bz2
import gc
import gzip
import tempfile

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from deciban.errors import FormatError, InputError
from deciban.io.partitions import writing
from deciban.io.partitions.opening import open_trials
from deciban.io.text import reader
from support.sources import gathered, in_memory, trials, write


@pytest.fixture
def table():
    return trials(np.random.default_rng(1)).drop_columns("weight")


@pytest.fixture
def expected(table, tmp_path):
    return in_memory([write(table, tmp_path / "expected", np.random.default_rng(2))])[0]


@pytest.fixture(autouse=True)
def nothing_is_left(tmp_path_factory, monkeypatch):
    scratch = tmp_path_factory.mktemp("scratch")
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    yield
    gc.collect()
    assert not list(scratch.glob("deciban-*"))


def objects(table, tmp_path):
    """The same rows as other libraries hold them."""
    pl = pytest.importorskip("polars", reason="polars is not installed")
    folder = write(table, tmp_path / "parts", np.random.default_rng(3))
    yield table
    yield pl.from_arrow(table)
    yield pl.from_arrow(table).lazy()
    yield pl.scan_parquet(folder / "*.parquet")
    yield table.to_pandas()
    yield ds.dataset(folder)
    yield ds.dataset(folder).filter(ds.field("age") > 0)
    yield ds.dataset(table)
    yield table.to_reader(7)


class OnlyStream:
    """Hands out its rows once."""

    def __init__(self, table):
        self.reader = table.to_reader(5)

    def __arrow_c_stream__(self, requested_schema=None):
        return self.reader.__arrow_c_stream__(requested_schema)


def test_objects_hold_the_same_trials(table, expected, tmp_path):
    for one in [*objects(table, tmp_path), OnlyStream(table)]:
        np.testing.assert_array_equal(gathered(open_trials(one)), expected, str(type(one)))


def test_dask(table, expected):
    frames = pytest.importorskip("dask.dataframe", reason="dask.dataframe is not installed")
    arrays = pytest.importorskip("dask.array")
    np.testing.assert_array_equal(gathered(open_trials(frames.from_pandas(table.to_pandas(), npartitions=4))), expected)
    scores, mask = np.random.default_rng(4).normal(size=(20, 9)), np.random.default_rng(5).random((20, 9)) < 0.3
    source = open_trials(arrays.from_array(scores, chunks=(6, 4)), arrays.from_array(mask, chunks=(3, 9)))
    rows = np.column_stack([scores.ravel(), mask.ravel()])
    np.testing.assert_array_equal(gathered(source), rows[np.lexsort(rows.T)])


def test_partitions_of_a_dataset(table, tmp_path):
    ds.write_dataset(table, tmp_path / "by", format="parquet", partitioning=["gender"], partitioning_flavor="hive")
    dataset = ds.dataset(tmp_path / "by", partitioning="hive")
    said = {"where": {"gender": "m"}}
    np.testing.assert_array_equal(gathered(open_trials(dataset, **said)), in_memory([tmp_path / "by"], **said)[0])


def test_streams_fail_as_a_whole(table):
    def failing():
        yield from table.to_batches(10)[:3]
        raise RuntimeError("the line was cut")

    with pytest.raises(FormatError, match=r"scores: reading stopped early \(.*the line was cut"):
        open_trials(pa.RecordBatchReader.from_batches(table.schema, failing()))
    with pytest.raises(InputError, match="scores: got int. Pass a path, a data frame"):
        open_trials(5)


def test_frames_of_dask_that_fail_are_named():
    dask = pytest.importorskip("dask.dataframe", reason="dask is not installed")
    array = pytest.importorskip("dask.array", reason="dask is not installed")

    def failing(_part):
        raise RuntimeError("the disk of a worker was full")

    frame = dask.from_dict({"score": [0.5, 1.0], "label": [0, 1]}, npartitions=1)
    with pytest.raises(FormatError, match=r"scores: reading stopped early \(.*the disk of a worker"):
        open_trials(frame.map_partitions(failing, meta=frame._meta))
    some = array.from_array(np.arange(5.0), chunks=2)
    with pytest.raises(InputError, match=r"scores: an array of unknown shape.*compute_chunk_sizes"):
        open_trials(some[some > 1], np.array([True, False, True]))


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(reader, "BLOCK", 150)


def csv(table, path):
    path.write_bytes(table.to_pandas().to_csv(index=False).encode())
    return path


def packed(path, ending):
    data = path.read_bytes()
    made = {".gz": gzip.compress, ".bz2": bz2.compress, ".zst": lambda raw: pa.compress(raw, "zstd", asbytes=True)}
    target = path.with_name(path.name + ending)
    target.write_bytes(made[ending](data))
    return target


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("ending", ["", ".gz", ".bz2"])
@pytest.mark.parametrize("finite", [True, False])
def test_text_is_parsed_in_blocks(table, tmp_path, ending, finite):
    if finite:
        table = table.filter(pa.compute.is_finite(table["score"]))
    path = csv(table, tmp_path / "trials.csv")
    path = packed(path, ending) if ending else path
    source = open_trials(path)
    np.testing.assert_array_equal(gathered(source), in_memory([path])[0])
    assert source.systems == ("trials",)
    assert "trials.csv" in source.partitions[0].name


@pytest.mark.usefixtures("small_blocks")
def test_lines_without_a_header(tmp_path):
    path, key = tmp_path / "scores.txt", tmp_path / "key.txt"
    path.write_text("# made by hand\n" + "".join(f"m{k % 7} t{k} {k / 8}\r\n" for k in range(90)))
    key.write_text("".join(f"m{k % 7} t{k} {'target' if k % 5 else 'nontarget'}\n" for k in range(90)))
    source = open_trials(path, key)
    np.testing.assert_array_equal(gathered(source), in_memory([path], key)[0])


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("header", ["", "enroll test score label\n"])
def test_faults_of_text_name_the_line(tmp_path, header):
    path = tmp_path / "scores.txt"
    lines = [f"m{k} t{k} {k / 8} {'target' if k % 5 else 'nontarget'}\n" for k in range(90)]
    lines[70] = "m70 t70 often target\n"
    path.write_text(header + "".join(lines))
    with pytest.raises(FormatError, match=rf"scores\.txt:{71 + bool(header)}: "):
        open_trials(path, format="wespeaker" if not header else None)


@pytest.mark.usefixtures("small_blocks")
def test_line_breaks_in_quotes_end_no_row(tmp_path):
    """Blocks end between rows, wherever fields have line breaks; lines of errors are those of the file."""
    path = tmp_path / "scores.csv"
    rows = [f'"m\n{k}","t ""{k}""\n\n",{k / 8},{"target" if k % 5 else "nontarget"}\n' for k in range(90)]
    header = "enroll,test,score,label\n"
    path.write_text(header + "".join(rows))
    source = open_trials(path)
    assert source.n_rows == 90
    np.testing.assert_array_equal(gathered(source), in_memory([path])[0])
    rows[70] = rows[70].replace("8.75", "often")
    path.write_text(header + "".join(rows))
    with pytest.raises(FormatError, match=rf"scores\.csv:{2 + 4 * 70}: the score 'often'"):
        open_trials(path)
    path.write_text(header + "".join(rows[:70]) + '"m,t,1,target\nm,t,1,target\n')
    with pytest.raises(FormatError, match=rf"scores\.csv:{2 + 4 * 70}: .*A quote has no end"):
        open_trials(path)


def test_compressed_parquet_and_arrow_streams(table, expected, tmp_path):
    pq.write_table(table, tmp_path / "one.parquet", row_group_size=11)
    np.testing.assert_array_equal(gathered(open_trials(packed(tmp_path / "one.parquet", ".gz"))), expected)
    with pa.OSFile(str(tmp_path / "one.arrows"), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table, max_chunksize=13)
    np.testing.assert_array_equal(gathered(open_trials(tmp_path / "one.arrows")), expected)


def test_a_full_disk_leaves_nothing(table, monkeypatch):
    def full(*_args, **_more):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pq.ParquetWriter, "write_table", full)
    with pytest.raises(OSError, match=r"no space for temporary files\. .*TMPDIR.*: '.*scratch"):
        open_trials(table.to_reader())


def test_rows_of_what_was_copied_are_counted_from_its_beginning(table, monkeypatch):
    monkeypatch.setattr(writing, "ROWS", 10)
    score = [None if row == 37 else 0.5 for row in range(len(table))]
    at = table.column_names.index("score")
    source = open_trials(table.set_column(at, "score", pa.array(score)).to_reader())
    with pytest.raises(FormatError, match=r"^scores, row 37: the score is missing"):
        gathered(source)


def test_columns_of_what_was_copied_can_be_named(table, tmp_path):
    renamed = table.rename_columns([f"c{at}" for at in range(table.num_columns)])
    columns = {"enroll": "c0", "test": "c1", "score": "c2", "label": "c3"}
    expected = in_memory([write(renamed, tmp_path / "expected", np.random.default_rng(4))], columns=columns)[0]
    pq.write_table(renamed, tmp_path / "one.parquet")
    with pa.OSFile(str(tmp_path / "one.arrows"), "wb") as sink, pa.ipc.new_stream(sink, renamed.schema) as stream:
        stream.write_table(renamed)
    for one in (packed(tmp_path / "one.parquet", ".bz2"), tmp_path / "one.arrows", csv(renamed, tmp_path / "one.csv")):
        found = gathered(open_trials(one, columns=columns))
        np.testing.assert_allclose(found, expected, rtol=1e-6 if one.suffix == ".csv" else 0)  # text is of float32


def test_streams_are_copied(table, tmp_path, monkeypatch):
    path = csv(table, tmp_path / "one.csv")
    with path.open("rb") as stream:
        found = gathered(open_trials(stream))
    np.testing.assert_array_equal(found, in_memory([path])[0])
    with packed(path, ".gz").open() as stream:
        monkeypatch.setattr("sys.stdin", stream)
        source = open_trials("-")
    np.testing.assert_array_equal(gathered(source), found)
    assert source.name == "standard input"
