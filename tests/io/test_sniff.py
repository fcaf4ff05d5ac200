"""What a file could be read as, by its beginning."""

import gzip
import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

from deciban import FormatError, Key, Scores
from deciban.io import read_contents, write
from deciban.io.recognition import readable_as
from deciban.trials import ClassKey, ClassScores
from support.hdf5_files import at_most

ALL = ("scores", "key", "class-scores", "class-key")
GOLDEN = Path(__file__).parents[1] / "golden/formats"


@pytest.mark.parametrize(
    ("file", "kinds"),
    [
        ("kaldi.scores", {"scores"}),
        ("kaldi.key", {"key"}),
        ("wespeaker.both", {"scores", "key"}),
        ("nist-sre.submission", {"scores"}),
        ("nist-lre.submission", {"class-scores"}),
        ("nist-lre.key", {"class-key"}),
        ("table.classes.csv", {"class-scores"}),
        ("lir.words", {"key"}),
    ],
)
def test_text(file, kinds):
    assert set(readable_as(GOLDEN / file, ALL)) == kinds


def test_a_header_says_more_than_what_lines_look_like(tmp_path):
    path = tmp_path / "few.csv"
    path.write_text("trial,eng,fra\na,2.5,1.5\nb,0.5,1.5\n")
    assert readable_as(path, ALL) == ("class-scores",)


def test_compressed_text_and_patterns(tmp_path):
    (tmp_path / "one.csv.gz").write_bytes(gzip.compress(b"trial,eng,fra\na,2.5,1.5\nb,0.5,1.5\n"))
    assert readable_as(tmp_path / "one.csv.gz", ALL) == ("class-scores",)
    assert readable_as(tmp_path / "*.gz", ALL) == ("class-scores",)


def test_only_the_beginning_of_a_big_file_is_read(tmp_path):
    path = tmp_path / "big.txt"
    path.write_bytes(b"ann x 1.5\n" * 200_000 + b"\xff")
    assert readable_as(path, ALL) == ("scores",)


def test_arrays(tmp_path):
    np.save(tmp_path / "matrix.npy", np.zeros((4, 3)))
    np.save(tmp_path / "vector.npy", np.arange(4))
    assert readable_as(tmp_path / "matrix.npy", ALL) == ("class-scores",)
    assert readable_as(tmp_path / "matrix.npy", ALL, columns="score=2") == ("scores",)
    assert set(readable_as(tmp_path / "vector.npy", ALL)) == {"scores", "key", "class-key"}
    np.savez(tmp_path / "matrix.npz", score=np.zeros((4, 3)), label=np.arange(4) % 3)
    np.savez(tmp_path / "vector.npz", score=np.zeros(4))
    assert set(readable_as(tmp_path / "matrix.npz", ALL)) == {"class-scores", "class-key"}
    assert readable_as(tmp_path / "vector.npz", ("scores", "class-scores")) == ("scores",)


def test_only_the_headers_of_arrays_are_read(tmp_path):
    np.save(tmp_path / "vector.npy", np.zeros(1 << 20))
    np.savez(tmp_path / "vector.npz", score=np.zeros(1 << 20))
    for name in ("vector.npy", "vector.npz"):
        with at_most(1 << 20):
            assert readable_as(tmp_path / name, ("scores", "class-scores")) == ("scores",)


def test_columns_with_types(tmp_path):
    trial = ["a", "b"]
    wide = pa.table({"trial": trial, "eng": [1.0, 2.0], "fra": [0.0, 1.0], "note": ["x", "y"]})
    two = pa.table({"trial": trial, "a_score": [1.0, 2.0], "b_score": [0.0, 1.0], "label": [True, False]})
    pq.write_table(wide, tmp_path / "wide.parquet")
    pyarrow.feather.write_feather(two, tmp_path / "two.arrow")
    assert readable_as(tmp_path / "wide.parquet", ALL) == ("class-scores",)
    assert set(readable_as(tmp_path / "two.arrow", ALL)) == {"scores", "key", "class-scores"}
    (tmp_path / "folder").mkdir()
    pq.write_table(wide, tmp_path / "folder/part-0.parquet")
    assert readable_as(tmp_path / "folder", ALL) == ("class-scores",)


def test_our_own_files_say_what_they_hold(tmp_path):
    scores = ClassScores.of({"trial": ["a", "b"]}, ["x_score", "y_score"], [[1.0, 0.0], [0.0, 1.0]])
    key = ClassKey.of({"trial": ["a", "b"]}, ["x_score", "y_score"])
    for ending in (".parquet", ".arrow", ".npz"):
        write(scores, tmp_path / f"scores{ending}")
        write(key, tmp_path / f"key{ending}")
        assert readable_as(tmp_path / f"scores{ending}", ("scores", "class-scores")) == ("class-scores",)
        assert readable_as(tmp_path / f"key{ending}", ("key", "class-key")) == ("class-key",)


def test_formats_without_classes_are_not_opened(tmp_path):
    write(Scores.of({"enroll": ["a"], "test": ["x"]}, [1.0]), tmp_path / "one.h5")
    assert readable_as(tmp_path / "one.h5", ("scores", "class-scores")) == ("scores",)
    write(Key.of({"enroll": ["a"], "test": ["x"]}, [True]), tmp_path / "key.h5")
    assert "class-key" not in readable_as(tmp_path / "key.h5", ALL)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names on this system")
def test_pipes_are_not_touched(tmp_path):
    os.mkfifo(tmp_path / "pipe")  # opening it would wait for somebody who writes
    assert readable_as(tmp_path / "pipe", ALL) == ALL


def test_a_folder_that_holds_nothing_is_nothing(tmp_path):
    (tmp_path / "empty/deeper").mkdir(parents=True)
    (tmp_path / "empty/.hidden").touch()
    assert readable_as(tmp_path / "empty", ALL) == ()
    with pytest.raises(FormatError, match="empty"):
        read_contents(tmp_path / "empty", need="scores")


def test_nonsense_is_nothing(tmp_path):
    for name, data in (
        ("empty", b""),
        ("binary", b"\x00\x01"),
        ("words", b"hello\nworld again\n"),
        ("cut.npy", b"\x93NUMPY\x01"),
        ("parentheses.npy", b"\x93NUMPY\x01\x00\xff\x00" + b"(" * 255),
        ("long.npy", b"\x93NUMPY\x02\x00\xff\xff\xff\xff"),
        ("cut.npz", b"PK\x03\x04" + bytes(26) + b"score.npy"),
        ("cut.parquet", b"PAR1\x00\x00\x00\x00PAR1"),
        ("cut.arrow", b"ARROW1\x00\x00"),
    ):
        (tmp_path / name).write_bytes(data)
        assert readable_as(tmp_path / name, ALL) == ()
    with pytest.raises(FileNotFoundError):
        readable_as(tmp_path / "none", ALL)
    assert readable_as("-", ALL) == ALL
