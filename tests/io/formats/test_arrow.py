"""Arrow files and streams as other programs write them, what comes back of ours, and what is refused."""

import io

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban.errors import FormatError
from deciban.io import read_contents
from deciban.io.formats import Contents, InputOptions, by_name
from deciban.io.source import Source
from deciban.trials import Scores
from support.tables import (
    again,
    assert_one_file_of_others,
    assert_same_contents,
    binary_contents,
    changed,
    class_contents,
    read_bytes,
    sound_or_refused,
    written,
)

COLUMNS = {
    "enroll": ["ann", "bob d", "änn"],
    "test": ["x", "y", "日本"],
    "gender": ["f", None, "m"],
    "label": ["target", "nontarget", "nontarget"],
    "llr": [1.5, float("-inf"), -0.0],
}


def ipc(table, *, stream=False, compression=None, chunk=None):
    sink = io.BytesIO()
    table = pa.table(table)
    new = pa.ipc.new_stream if stream else pa.ipc.new_file
    with new(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression=compression)) as writer:
        writer.write_table(table, max_chunksize=chunk)
    return sink.getvalue()


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("compression", [None, "lz4", "zstd"])
@pytest.mark.parametrize("chunk", [None, 1])
def test_files_and_streams_of_arrow(stream, compression, chunk):
    assert_one_file_of_others(read_bytes(ipc(COLUMNS, stream=stream, compression=compression, chunk=chunk), "arrow"))


@pytest.mark.parametrize("write", ["write_ipc", "write_ipc_stream"])
def test_files_of_polars(tmp_path, write):
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame(COLUMNS)
    for one in (frame, frame.with_columns(pl.col("enroll", "label", "gender").cast(pl.Categorical))):
        path = tmp_path / "scores.arrow"
        getattr(one, write)(path)
        assert_one_file_of_others(by_name("arrow").read(Source(path), InputOptions()))


def test_files_of_pandas(tmp_path):
    pd = pytest.importorskip("pandas")
    path = tmp_path / "scores.feather"
    pd.DataFrame(COLUMNS).to_feather(path)
    assert_one_file_of_others(by_name("arrow").read(Source(path), InputOptions()))


def test_dictionaries_that_differ_between_batches():
    batches = [
        pa.record_batch({"trial": pa.array(names).dictionary_encode(), "score": [1.0, 2.0]})
        for names in (["a", "b"], ["c", "a"])
    ]
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, batches[0].schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
    contents = read_bytes(sink.getvalue(), "arrow")
    assert contents.index.trials.column("trial").to_pylist() == ["a", "b", "c", "a"]


def test_only_the_columns_that_are_needed():
    contents = read_bytes(ipc({"utt": ["a"], "x": [[1]], "llr": [1.0], "y": [2]}), "arrow", columns="trial,-,score,-")
    assert contents.index.trials.conditions == {}
    assert contents.notes == ()
    contents = read_bytes(ipc({"llr": [1.0], "x": [[1]], "utt": ["a"]}), "arrow")
    assert contents.index.trials.name_of(0) == "(a)"
    assert contents.notes == ("column x (list<item: int64>) was not read.",)


@given(st.one_of(binary_contents(), class_contents()))
def test_what_is_written_comes_back_bit_for_bit(contents):
    assert_same_contents(again(contents, "arrow"), contents)


def test_ours_is_a_feather_file(tmp_path):
    path = tmp_path / "scores.feather"
    path.write_bytes(written(Contents.of(Scores.of({"trial": ["a", "b"]}, [1.5, -np.inf])), "arrow"))
    assert pyarrow.feather.read_table(path).to_pydict() == {"trial": ["a", "b"], "score": [1.5, -np.inf]}


REFUSED = {
    "missing score": (
        {"trial": ["a", "b"], "score": [1.0, None]},
        r"file, row 1: the score is missing \(column score\)",
    ),
    "missing value in a dictionary": (
        {"trial": pa.DictionaryArray.from_arrays([0, 1], pa.array(["a", None])), "score": [1.0, 2.0]},
        "row 1: the name of the trial is missing",
    ),
    "NaN": ({"trial": ["a", "b"], "score": [1.0, np.nan]}, "row 1: the score is NaN"),
    "no rows": ({"trial": pa.array([], pa.string()), "score": pa.array([], pa.float64())}, "contains no trial"),
    "nothing but null": ({"trial": pa.nulls(3), "score": [1.0, 2, 3]}, "column trial, the trial, contains null values"),
    "no columns": ({}, "contains no column that can be read; the columns are none"),
    "runs": (
        {"trial": pa.RunEndEncodedArray.from_arrays(pa.array([2]), pa.array(["a"])), "score": [1.0, 2.0]},
        "column trial, the trial, contains run_end_encoded",
    ),
}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_trials_is_refused(case, stream):
    table, message = REFUSED[case]
    with pytest.raises(FormatError, match=message):
        read_bytes(ipc(table, stream=stream), "arrow")


def test_columns_of_one_name():
    table = pa.Table.from_arrays([pa.array(["a"]), pa.array([1.0]), pa.array([2.0])], ["trial", "score", "score"])
    with pytest.raises(FormatError, match="two columns are called 'score'"):
        read_bytes(ipc(table), "arrow")


def test_rows_without_bytes():
    n = 1 << 40
    batch = pa.record_batch([pa.Array.from_buffers(pa.null(), n, [None])], ["score"])
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, batch.schema, options=pa.ipc.IpcWriteOptions(allow_64bit=True)) as writer:
        writer.write_batch(batch)
    with pytest.raises(FormatError, match="contains null values"):
        read_bytes(sink.getvalue(), "arrow")


def test_numbers_that_compress_to_nothing():
    data = ipc({"score": np.zeros(1 << 26, np.float32)}, compression="zstd")
    assert len(data) < 50_000
    with pytest.raises(FormatError, match=r"declares 67,108,864 rows .* made to exhaust the memory"):
        read_bytes(data, "arrow")


def test_feather_of_long_ago():
    with pytest.raises(FormatError, match="Feather version 1, which is obsolete"):
        read_bytes(b"FEA1\x00\x00\x00\x00" + bytes(100) + b"FEA1", "arrow")


@pytest.mark.parametrize("stream", [False, True])
def test_every_cut_is_refused(stream):
    sound = ipc(COLUMNS, stream=stream)
    places = range(8, len(sound) - 8)
    for length in {*places[::7], *places[:64], *places[-64:]}:  # the last eight bytes of a stream may be left out
        with pytest.raises(FormatError, match="file"):
            read_bytes(sound[:length], "arrow")


SOUND = {stream: ipc(COLUMNS, stream=stream) for stream in (False, True)}


@given(st.sampled_from(sorted(SOUND)).flatmap(lambda stream: changed(SOUND[stream], 8)))
def test_changed_bytes_give_tables_or_our_errors(data):
    sound_or_refused(data, "arrow")


@pytest.mark.parametrize("compression", [None, "zstd"])
def test_a_stream_is_read_as_often_as_it_is_asked_for(tmp_path, compression):
    """Its reader hands out each batch once, so that it must not be kept for a second reading."""
    path = tmp_path / "trials.arrows"
    path.write_bytes(ipc(COLUMNS, stream=True, compression=compression))
    first, second = (read_contents(path) for _ in range(2))
    assert_same_contents(first, second)
    assert len(first.scores.score) == 3
