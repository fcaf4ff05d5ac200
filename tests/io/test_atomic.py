"""Outputs: whole or not at all."""

import os
import stat
from pathlib import Path

import pytest

from deciban.io import atomic_write


def test_an_error_leaves_the_old_file_and_nothing_else(tmp_path):
    target = tmp_path / "out.txt"
    target.write_text("old")
    with pytest.raises(RuntimeError, match="half way"), atomic_write(target) as stream:
        stream.write(b"new")
        assert target.read_text() == "old"
        raise RuntimeError("half way")
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_a_new_file_gets_the_usual_permissions_and_an_old_one_keeps_its_own(tmp_path):
    plain, private = tmp_path / "plain", tmp_path / "private"
    plain.touch()
    private.touch(mode=0o600)
    for target in (tmp_path / "new", private):
        with atomic_write(target) as stream:
            stream.write(b"x")
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)
    assert stat.S_IMODE(private.stat().st_mode) == 0o600


def test_links_stay_links(tmp_path):
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    with atomic_write(tmp_path / "link") as stream:
        stream.write(b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


def test_a_pipe_is_written_to_and_not_replaced(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    with atomic_write(pipe) as stream:
        stream.write(b"all of it")
    assert os.read(reader, 100) == b"all of it"
    os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
def test_a_full_disk_is_an_error():
    with pytest.raises(OSError, match="No space left on device: .*full"), atomic_write("/dev/full") as stream:
        stream.write(b"x" * 100_000)


def test_a_folder_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError), atomic_write(tmp_path / "no" / "where"):
        pass
