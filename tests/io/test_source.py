"""Bytes of inputs: what they are, how they are unpacked, and what is refused before it does harm."""

import bz2
import gzip
import io
import os
import pickle
import tarfile
import threading
import tracemalloc
import zipfile

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban import FormatError, InputError, Scores, read_scores
from deciban.errors import display_name
from deciban.io import atomic_write
from deciban.io import write as write_tables
from deciban.io.source import Source, read_text
from deciban.io.writing import refuse_overwriting

TEXT = b"ann x 1.5\nbob y -2\n"


def zstd(data):
    return pa.Codec("zstd").compress(data, asbytes=True)


SKIPPABLE = b"\x50\x2a\x4d\x18\x04\x00\x00\x00abcd"
COMPRESS = {"gzip": gzip.compress, "bzip2": bz2.compress, "zstd": zstd}
TOOL = {"gzip": "gzip -dc", "bzip2": "bzip2 -dc", "zstd": "zstd -dc"}


@pytest.fixture
def write(tmp_path):
    def written(data, name="file.txt"):
        path = tmp_path / name
        path.write_bytes(data)
        return path

    return written


@pytest.mark.parametrize("codec", COMPRESS)
@pytest.mark.parametrize("parts", [[TEXT], [TEXT[:7], TEXT[7:]], [b"", TEXT, b""]])
def test_compressed_bytes_whatever_the_ending(write, codec, parts):
    source = Source(write(b"".join(COMPRESS[codec](part) for part in parts)))
    assert source.head == source.data == TEXT
    assert (source.kind, source.is_binary, source.size) == ("text", False, len(TEXT))
    assert source.seekable().read() == TEXT
    assert read_text(source) == TEXT


def test_frames_that_parallel_tools_write(write):
    assert read_text(write(SKIPPABLE + zstd(TEXT[:5]) + SKIPPABLE + zstd(TEXT[5:]))) == TEXT


def test_bzip2_may_have_an_empty_stream_in_the_middle(write):
    packed = bz2.compress(b"m s 0.5\n") + bz2.compress(b"") + bz2.compress(b"m t 1.5\n")
    np.testing.assert_array_equal(read_scores(write(packed)).score, [0.5, 1.5])


def test_tapes_pad_gzip_with_zeros(write):
    assert read_text(write(gzip.compress(TEXT) + bytes(500))) == TEXT


@pytest.mark.parametrize("codec", COMPRESS)
def test_megabytes_come_out_whole(write, codec):
    text = b"".join(b"model_%d segment_%d %d\n" % (i % 91, i, i % 7) for i in range(60_000))
    assert read_text(write(COMPRESS[codec](text))) == text
    noise = np.random.default_rng(0).integers(0, 256, 3 << 19, np.uint8).tobytes()
    source = Source(write(COMPRESS[codec](noise)))
    assert source.head == noise[:4096]
    assert source.data == noise


@pytest.mark.parametrize("codec", COMPRESS)
@pytest.mark.parametrize("harm", ["cut", "cut at the start", "junk", "one byte", "half a second part", "changed"])
def test_damaged_compression_is_refused(write, codec, harm):
    noise = np.random.default_rng(1).integers(32, 127, 50_000, np.uint8).tobytes()
    packed = COMPRESS[codec](noise)
    harmed = {
        "cut": packed[:-6],
        "cut at the start": packed[:14],
        "junk": packed + b"more lines\n",
        "one byte": packed + b"\n",
        "half a second part": packed + packed[:2000],
        "changed": packed[:11] + bytes(200) + packed[211:],
    }[harm]
    with pytest.raises(FormatError, match=r"file.txt: compressed data are damaged or cut off .*Copy the file again"):
        read_text(write(harmed))


@pytest.mark.parametrize("outer", COMPRESS)
@pytest.mark.parametrize("inner", COMPRESS)
def test_compressed_twice(write, outer, inner):
    path = write(COMPRESS[outer](COMPRESS[inner](TEXT)))
    with pytest.raises(
        FormatError, match=f"compressed twice, last with {outer}. Decompress it once: {TOOL[outer]} FILE"
    ):
        Source(path).data
    with pytest.raises(FormatError, match="compressed twice"):
        Source(path).head


def bomb(codec, n_bytes):
    """Zeros as `codec` has them, made without having them."""
    block = bytes(1 << 24)
    if codec == "zstd":
        sink = pa.BufferOutputStream()
        with pa.CompressedOutputStream(sink, "zstd") as stream:
            for _ in range(n_bytes >> 24):
                stream.write(block)
        return sink.getvalue().to_pybytes()
    packed = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=packed, mode="wb", compresslevel=1) if codec == "gzip" else bz2.BZ2File(packed, "wb") as s
    ):
        for _ in range(n_bytes >> 24):
            s.write(block)
    return packed.getvalue()


@pytest.mark.parametrize("codec", COMPRESS)
def test_bombs_are_refused_early(write, codec, monkeypatch):
    most = 256 if codec == "gzip" else 16  # others take longer
    if most < 256:
        monkeypatch.setattr("deciban.io.source._HARMLESS", most << 20)
    path = write(bomb(codec, (most + 16) << 20))
    tracemalloc.start()
    try:
        with pytest.raises(
            FormatError, match=rf"may be a decompression bomb. Above {most} MiB, .*{TOOL[codec]} FILE \| deciban"
        ):
            read_text(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 3 * most << 20
    assert set(Source(path).head) == {0}  # a look at the first bytes costs nothing


def test_repetitive_lists_of_more_than_the_harmless_size_pass(write, monkeypatch):
    monkeypatch.setattr("deciban.io.source._HARMLESS", 16 << 20)
    lines = b"".join(b"model_0001 segment_%06d nontarget\n" % i for i in range(20_000))
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", compresslevel=5) as stream:
        for _ in range(30):
            stream.write(lines)
    assert Source(write(packed.getvalue())).size == 30 * len(lines) > 16 << 20


@pytest.mark.parametrize("codec", [None, *COMPRESS])
def test_standard_input(monkeypatch, codec):
    data = TEXT if codec is None else COMPRESS[codec](TEXT)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
    source = Source("-")
    assert source.name == "standard input"
    assert (source.head, source.kind, source.size, source.data) == (TEXT, "text", len(TEXT), TEXT)
    assert source.seekable().read() == TEXT
    assert not source.is_folder


def test_a_pipe_is_read_once(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(gzip.compress(TEXT),))
    writer.start()
    source = Source(pipe)
    assert (source.kind, source.head, source.data) == ("text", TEXT, TEXT)
    writer.join()


KINDS = {
    "HDF5": b"\x89HDF\r\n\x1a\n" + bytes(64),
    "NumPy": b"\x93NUMPY\x01\x00",
    "Parquet": b"PAR1\x15\x04",
    "Arrow": b"ARROW1\x00\x00",
    "MATLAB": b"MATLAB 5.0 MAT-file, Platform: GLNXA64",
    "pickle": pickle.dumps({"scores": [1.0]}),
    "xz": b"\xfd7zXZ\x00\x00",
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("codec", [None, *COMPRESS])
def test_kinds_by_their_first_bytes(write, kind, codec):
    data = KINDS[kind] if codec is None else COMPRESS[codec](KINDS[kind])
    source = Source(write(data))
    assert (source.kind, source.is_binary) == (kind, True)
    with pytest.raises(FormatError, match=f"file.txt: this is an? {kind} file, expected a text table"):
        read_text(source)


def test_hdf5_below_a_user_block(write):
    for start in (512, 1024, 2048):
        assert Source(write(b"MATLAB 7.3".ljust(start) + KINDS["HDF5"])).kind == "HDF5"


def test_streams_of_arrow(write):
    sink = pa.BufferOutputStream()
    table = pa.table({"trial": ["a"], "score": [1.0]})
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    assert Source(write(sink.getvalue().to_pybytes())).kind == "Arrow"


def zipped(name, data):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(name, data)
    return out.getvalue()


def test_zip_archives_other_than_npz(write):
    saved = io.BytesIO()
    np.savez(saved, score=np.zeros(3))
    assert Source(write(saved.getvalue())).kind == "npz"
    for archive in (zipped("scores.txt", TEXT), zipped("archive/data.pkl", b"\x80\x02}"), b"PK\x05\x06" + bytes(18)):
        with pytest.raises(
            FormatError, match=r"this is a zip file.*The only zip archives that deciban reads are .npz files. Unpack it"
        ):
            read_text(write(archive))


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("compress", [bytes, gzip.compress])
@pytest.mark.parametrize("thing", [{"modelset": ["a"]}, ["a"], np.zeros(3)], ids=["dict", "list", "array"])
def test_pickles_are_never_loaded(write, protocol, compress, thing):
    with pytest.raises(FormatError, match="this is a pickle file.*deciban never loads pickles"):
        read_text(write(compress(pickle.dumps(thing, protocol))))


def test_objects_pickled_by_old_tools(write):
    import copyreg

    class Scores:
        pass

    stream = f"c{copyreg._reconstructor.__module__}\n_reconstructor\np0\n(csidekit.bosaris\n{Scores.__name__}\n"
    with pytest.raises(FormatError, match="deciban never loads pickles"):
        read_text(write(gzip.compress(stream.encode())))


def test_nul_bytes_name_their_line(write):
    for where in (1, 2000):
        data = b"ann x 1\n" * where + b"bob \x00y 2\n"
        with pytest.raises(FormatError, match=f"file.txt:{where + 1}: contains NUL bytes, so it is not text"):
            read_text(write(data))


def test_a_regular_file_is_handed_on_as_it_is(write):
    path = write(KINDS["HDF5"])
    source = Source(path)
    assert source.seekable() == path
    assert source.size == len(KINDS["HDF5"])
    assert "data" not in vars(source)


def test_the_head_of_a_big_file_is_not_the_file(tmp_path):
    path = tmp_path / "sparse"
    with path.open("wb") as stream:
        stream.write(b"PAR1\x15")
        stream.truncate(1 << 40)
    source = Source(path)
    assert (source.kind, len(source.head), source.size) == ("Parquet", 4096, 1 << 40)


def test_folders(tmp_path):
    source = Source(tmp_path)
    assert (source.is_folder, source.kind, source.head, source.is_binary) == (True, "folder", b"", True)
    with pytest.raises(IsADirectoryError):
        read_text(source)


def test_what_is_missing_is_an_os_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        Source(tmp_path / "none").head


def test_names_like_file_marks_are_text(write):
    for text in (b"BZh9 PAR1 1.5\n", b"PAR1\tx\t1\n", b"PKA x 1\n", b"(dp x 1\n", b"ARROW1 x 1\n", b"", b"P*M x 1\n"):
        assert read_text(write(text)) == text


@given(st.sampled_from([b"", *KINDS.values(), *(f(TEXT) for f in COMPRESS.values())]), st.binary(max_size=300))
def test_only_our_errors_come_out(tmp_path_factory, start, rest):
    path = tmp_path_factory.getbasetemp() / "fuzzed"
    path.write_bytes(start[: len(rest) % 37 + 1] + rest)
    source = Source(path)
    try:
        assert source.head == source.data[:4096]
        read_text(source)
    except FormatError as error:
        assert str(error).startswith(str(path))


def test_an_empty_file_name_is_no_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    scores = Scores.of({"trial": ["a"]}, [1.0])
    attempts = [Source, read_scores, lambda name: write_tables(scores, name, format="trial")]
    attempts += [lambda name: refuse_overwriting([name], []), lambda name: refuse_overwriting([], [name])]
    attempts += [lambda name: atomic_write(name).__enter__()]
    for attempt in attempts:
        with pytest.raises(InputError, match="empty file name"):
            attempt("")
        with pytest.raises(InputError, match=r"a\\x00b: file names cannot contain NUL"):
            attempt("a\0b")
    assert list(tmp_path.iterdir()) == []


@given(st.text(min_size=1))
def test_names_of_files_cannot_speak_to_the_terminal(name):
    assert display_name(name + "x").isprintable()
    assert display_name("\x1b[31mred\nlines\x9b.txt") == r"\x1b[31mred\nlines\x9b.txt"
    assert display_name("Wörter für 日本.txt") == "Wörter für 日本.txt"


def test_a_control_character_in_a_name_is_escaped_in_messages(write):
    path = write(b"ann x 1.5\nann y oops\n", "a\x1b]0;title\x07b.txt")
    scores = read_scores(write(b"ann x 1.5\n", "c\x1bd.txt"))
    assert (scores.name, scores.trials.origin.where(0)) == (r"c\x1bd", str(scores.trials.origin.name) + ":1")
    with pytest.raises(FormatError) as caught:
        read_scores(path)
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_other_encodings_are_called_by_their_names(write, encoding):
    called = encoding[:6].upper()
    with pytest.raises(FormatError, match=f"this is an? {called} file.*iconv -f {called.lower()} -t utf-8"):
        read_text(write("ann x 1.5\nbob y -2\n".encode(encoding)))


@pytest.mark.parametrize("compression", ["", "gz", "bz2"])
def test_archives_are_called_by_their_names(tmp_path, compression):
    (tmp_path / "scores.txt").write_bytes(TEXT)
    with tarfile.open(tmp_path / "a.tar", f"w:{compression}") as archive:
        archive.add(tmp_path / "scores.txt", "scores.txt")
    with pytest.raises(FormatError, match="this is a tar file.*Unpack it .*name the files inside"):
        read_text(tmp_path / "a.tar")
    with zipfile.ZipFile(tmp_path / "a.xlsx", "w") as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
    with pytest.raises(FormatError, match="this is an Excel file.*Save the sheet as CSV"):
        read_text(tmp_path / "a.xlsx")


@pytest.mark.parametrize("given", [None, 3, b"a.txt", {"score": [1.0]}])
def test_what_is_no_file_name_is_refused_with_a_way_out(given):
    with pytest.raises(InputError, match=f"path: got {type(given).__name__}. Pass a file name or an open file."):
        read_scores(given)
