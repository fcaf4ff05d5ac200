"""Outputs: whole or not at all."""

import errno
import gc
import os
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest

from deciban import Scores, read_scores
from deciban._files import ScratchFolder, remove_unfinished
from deciban.io import atomic_write, write


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


def test_a_pipe_takes_what_has_to_be_sought_in(tmp_path):
    pipe, found = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: found.append(pipe.read_bytes()))
    reader.start()
    write(Scores.of({"enroll": ["a"], "test": ["x"]}, [1.5]), pipe, format="bosaris-hdf5")
    reader.join()
    (tmp_path / "copy.h5").write_bytes(found[0])
    assert read_scores(tmp_path / "copy.h5").score.tolist() == [1.5]


def test_links_in_a_circle_are_an_error(tmp_path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(OSError, match="[Ss]ymbolic links: .*a'"), atomic_write(tmp_path / "a"):
        pass
    with pytest.raises(OSError, match="[Ss]ymbolic links"):
        write(Scores.of({"trial": ["a"]}, [1.5]), tmp_path / "a")


def test_the_umask_is_left_alone(tmp_path, monkeypatch):
    def refused(_mask):
        raise AssertionError("another thread would create its files with this mask")

    monkeypatch.setattr(os, "umask", refused)
    with atomic_write(tmp_path / "out") as stream:
        stream.write(b"x")


def test_a_private_file_is_private_while_it_is_written(tmp_path):
    (tmp_path / "private").touch(mode=0o600)
    with atomic_write(tmp_path / "private"):
        assert {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()} == {0o600}


@pytest.mark.parametrize("ending", [".gz", ".bz2", ".zst"])
def test_scratch_files_are_made_where_the_target_is(ending, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
    write(Scores.of({"trial": ["a"]}, [1.5]), tmp_path / f"out.txt{ending}")
    assert read_scores(tmp_path / f"out.txt{ending}").score.tolist() == [1.5]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
def test_a_full_disk_is_an_error():
    with pytest.raises(OSError, match="No space left on device: .*full"), atomic_write("/dev/full") as stream:
        stream.write(b"x" * 100_000)


def test_a_folder_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError), atomic_write(tmp_path / "no" / "where"):
        pass


KILLED = """
import os, signal, sys
from deciban.io import atomic_write
with atomic_write(sys.argv[1]) as stream:
    stream.write(b"half")
    stream.flush()
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no such signal on this system")
def test_what_a_killed_writer_left_goes_with_the_next_write(tmp_path):
    target, other = tmp_path / "out.txt", tmp_path / "other.txt"
    for path in (target, other):
        subprocess.run([sys.executable, "-c", KILLED, path], check=False)
    left = sorted(tmp_path.glob(".deciban-*.part"))
    assert len(left) == 2
    with atomic_write(target) as stream:
        stream.write(b"x")
    assert sorted(tmp_path.glob(".deciban-*.part")) == left  # they may just be in the making
    for part in left:
        os.utime(part, (0, 0))
    with atomic_write(target) as stream:
        stream.write(b"y")
    assert target.read_text() == "y"
    assert len(list(tmp_path.glob(".deciban-*.part"))) == 1  # that of the other file
    with atomic_write(other) as stream:
        stream.write(b"z")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other.txt", "out.txt"]


def test_the_file_of_a_writer_at_work_is_left_alone(tmp_path):
    target = tmp_path / "out.txt"
    with atomic_write(target) as slow:
        slow.write(b"slow")
        slow.flush()
        (part,) = tmp_path.glob(".deciban-*.part")
        os.utime(part, (0, 0))
        with atomic_write(target) as quick:
            quick.write(b"quick")
        assert target.read_text() == "quick"
    assert target.read_text() == "slow"
    assert list(tmp_path.iterdir()) == [target]


def test_the_folder_is_brought_to_the_disk_after_the_new_name(tmp_path, monkeypatch):
    synced, sync = [], os.fsync

    def noted(handle):
        is_folder = stat.S_ISDIR(os.fstat(handle).st_mode)
        synced.append((is_folder, (tmp_path / "out.txt").exists()))
        sync(handle)

    monkeypatch.setattr(os, "fsync", noted)
    with atomic_write(tmp_path / "out.txt") as stream:
        stream.write(b"x")
    assert synced == [(False, False), (True, True)]


def test_scratch_folders_go_with_who_needs_them():
    folder = ScratchFolder()
    path = folder.path
    (path / "inner").mkdir()
    (path / "inner" / "file").write_bytes(b"x")
    del folder
    gc.collect()
    assert not path.exists()


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_scratch_folders_go_after_errors(error):
    folder = ScratchFolder()
    with pytest.raises(error), folder.or_nothing() as path:
        (path / "file").write_bytes(b"x")
        raise error
    assert not path.exists()


@pytest.mark.parametrize(("needs", "amount"), [(0, "at least 2.5 MB"), (7_000_000, "at least 7.0 MB")])
def test_a_full_scratch_disk_is_one_sentence_with_the_amount_and_the_folder(needs, amount):
    folder = ScratchFolder()
    with pytest.raises(OSError, match="no space") as caught, folder.or_nothing(needs) as path:
        (path / "file").write_bytes(bytes(2_500_000))
        raise OSError(errno.ENOSPC, "No space left on device")
    assert caught.value.strerror == (
        f"no space for temporary files ({amount} are needed). Free some space, or set TMPDIR to another folder"
    )
    assert caught.value.filename == str(path.parent)
    assert not path.exists()


def test_who_ends_the_process_removes_scratch_folders():
    folder = ScratchFolder()
    (folder.path / "file").write_bytes(b"x")
    remove_unfinished()
    assert not folder.path.exists()


def killed_with_a_folder(tmp_path):
    """The folder of a process that was killed just now."""
    before = {*tmp_path.glob("deciban-*")}
    code = "import os, signal\nfrom deciban._files import ScratchFolder\nfolder = ScratchFolder()\n"
    code += "(folder.path / 'half.parquet').write_text('x')\nos.kill(os.getpid(), signal.SIGKILL)"
    subprocess.run([sys.executable, "-c", code], env={**os.environ, "TMPDIR": str(tmp_path)}, check=False)
    (left,) = {*tmp_path.glob("deciban-*")} - before
    return left


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


def test_the_folder_of_a_killed_process_goes_with_the_next_one(temporary):
    left = killed_with_a_folder(temporary)
    ScratchFolder().remove()
    assert not left.exists()


def test_folders_of_processes_that_live_or_of_nobody_known_stay(temporary, monkeypatch):
    """Nobody can say whether a folder with another name or of another machine is abandoned."""
    here = ScratchFolder()
    left = killed_with_a_folder(temporary)
    os.utime(here.path, (time.time() - 120,) * 2)
    others = [temporary / "deciban-abc", temporary / "deciban-00000000-abc"]
    for one in others:
        one.mkdir()
        os.utime(one, (time.time() - 120,) * 2)
    with monkeypatch.context() as patch:
        patch.setattr("os.getuid", lambda: temporary.stat().st_uid + 1)
        ScratchFolder().remove()
        assert left.exists()
    ScratchFolder().remove()
    assert all(one.exists() for one in (here.path, *others))
    assert not left.exists()
    here.remove()
    assert not here.path.exists()


@pytest.mark.usefixtures("temporary")
def test_a_folder_that_is_removed_before_it_is_locked_is_made_again(monkeypatch):
    made, make = [], tempfile.mkdtemp

    def taken(**options):
        made.append(Path(make(**options)))
        if len(made) == 1:
            made[0].rmdir()
        return str(made[-1])

    monkeypatch.setattr("deciban._files.tempfile.mkdtemp", taken)
    folder = ScratchFolder()
    assert folder.path == made[1]
    assert folder.path.is_dir()
    assert folder.path.name.count("-") == 2  # claimed: the next process removes it if this one is killed
    folder.remove()


def test_where_folders_cannot_be_locked_none_is_taken_for_abandoned(temporary, monkeypatch):
    left = killed_with_a_folder(temporary)
    monkeypatch.setattr("deciban._files.lock", lambda _handle: False)
    one = ScratchFolder()
    assert left.exists()
    assert one.path.name.count("-") == 1
    one.remove()
