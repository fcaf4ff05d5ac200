"""What must not be written to."""

import os

import pytest

from deciban import InputError
from deciban.io.writing import refuse_overwriting


def test_an_input_by_any_name_is_refused(tmp_path):
    read = tmp_path / "in.txt"
    read.write_text("ann x 1\n")
    os.link(read, tmp_path / "hard.txt")
    (tmp_path / "soft.txt").symlink_to("in.txt")
    (tmp_path / "loop").symlink_to(tmp_path)
    for name in ("in.txt", "hard.txt", "soft.txt", "./in.txt", "loop/in.txt", "loop/loop/hard.txt"):
        with pytest.raises(InputError, match=r"\.txt: is an input, or in a folder that is an input"):
            refuse_overwriting([tmp_path / "new.txt", tmp_path / name], [None, "-", read])
    refuse_overwriting([tmp_path / "new.txt", "-", "-nothing"], [None, "-", read])


def test_nothing_is_written_into_what_is_read(tmp_path):
    (tmp_path / "table").mkdir()
    (tmp_path / "table/part-0.parquet").touch()
    for name in ("part-0.parquet", "part-1.parquet", "deeper/part-2.parquet"):
        with pytest.raises(InputError, match="in a folder that is an input"):
            refuse_overwriting([tmp_path / "table" / name], [tmp_path / "table"])
    with pytest.raises(InputError, match="is an input"):
        refuse_overwriting([tmp_path / "table/part-0.parquet"], [tmp_path / "table/*.parquet"])


def test_every_output_has_a_name_of_its_own(tmp_path):
    (tmp_path / "link.txt").symlink_to("out.txt")  # leads nowhere yet
    for twice in (["out.txt", "out.txt"], ["out.txt", "./link.txt"]):
        with pytest.raises(InputError, match="would be written twice"):
            refuse_overwriting([tmp_path / name for name in twice], [])
    with pytest.raises(InputError, match="standard output: would be written twice"):
        refuse_overwriting(["-", "-"], [])
