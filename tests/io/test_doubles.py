"""Files that are read as one table, of which one is there twice."""

import os
import shutil

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deciban.errors import FormatError
from deciban.io.partitions.opening import open_trials
from deciban.io.reader import read_contents
from deciban.io.source import refuse_doubles

LINKS = {
    "copy": (shutil.copy, "the same content as"),
    "hard link": (os.link, "the same content as"),
    "symbolic link": (os.symlink, "is read twice, as"),
}
READERS = {"memory": read_contents, "partitions": open_trials}


@pytest.fixture
def folder(tmp_path):
    for at in range(3):
        pq.write_table(pa.table({"score": [1.0 + at, -2.0], "label": [True, False]}), tmp_path / f"part-{at}.parquet")
    return tmp_path


@pytest.mark.parametrize("how", LINKS)
@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("pattern", ["", "*.parquet"])
def test_a_file_that_is_there_twice_is_refused_at_every_size(folder, how, read, pattern):
    make, words = LINKS[how]
    make(folder / "part-1.parquet", folder / "part-8.parquet")
    with pytest.raises(FormatError, match=rf"part-[18]\.parquet.* {words} .*part-[18]\.parquet"):
        READERS[read](str(folder / pattern))


@pytest.mark.parametrize("read", READERS)
def test_files_without_rows_are_no_copies(folder, read):
    for at in (7, 8):
        pq.write_table(pa.table({"score": [0.0], "label": [True]}).slice(0, 0), folder / f"part-{at}.parquet")
    READERS[read](folder)


def test_a_text_file_that_a_pattern_finds_twice(tmp_path):
    (tmp_path / "a.txt").write_text("ann x 1.5\nann y 2\n")
    shutil.copy(tmp_path / "a.txt", tmp_path / "b.txt")
    with pytest.raises(FormatError, match=r"b\.txt: the same content as .*a\.txt"):
        read_contents(str(tmp_path / "*.txt"))


def test_files_that_differ_in_the_middle_alone_are_other_files(tmp_path):
    content = bytearray(1 << 17)
    for name in "abc":
        (tmp_path / name).write_bytes(content)
        content[1 << 15] += 1  # neither at the ends nor in the middle of the file
    refuse_doubles([tmp_path / name for name in "abc"])
    shutil.copy(tmp_path / "b", tmp_path / "d")
    with pytest.raises(FormatError, match="the same content"):
        refuse_doubles([tmp_path / name for name in "bd"])
