"""Folders that are written as a whole, or not at all."""

import pytest

from deciban._files import whole_folder
from deciban.errors import InputError


def fill(target, keys, stop_at=None):
    with whole_folder(target, keys) as folder:
        for name in keys:
            if name not in folder.finished:
                with folder.file(name) as stream:
                    stream.write(f"{name} of {keys[name]}".encode())
                    if name == stop_at:
                        raise RuntimeError(name)
        return folder


def names(folder):
    return sorted(one.relative_to(folder).as_posix() for one in folder.rglob("*") if one.is_file())


def test_it_is_there_when_all_files_are(tmp_path):
    fill(tmp_path / "out", {"a": "1", "sub/b": "2"})
    assert names(tmp_path) == ["out/a", "out/sub/b"]


def test_finished_files_of_the_same_are_kept_and_others_made_anew(tmp_path):
    keys = {"a": "1", "b": "1", "sub/c": "1", "d": "1"}
    with pytest.raises(RuntimeError, match="d"):
        fill(tmp_path / "out", keys, stop_at="d")
    assert names(tmp_path / ".out.unfinished") == ["a", "b", "lock", "manifest.json", "sub/c"]
    found = fill(tmp_path / "out", {"a": "1", "b": "2", "d": "1"})
    assert (found.finished, found.n_stale) == (("a",), 2)
    assert names(tmp_path) == ["out/a", "out/b", "out/d"]
    assert (tmp_path / "out/b").read_text() == "b of 2"


def test_nothing_is_left_where_nothing_was_finished(tmp_path):
    with pytest.raises(RuntimeError):
        fill(tmp_path / "out", {"a": "1"}, stop_at="a")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("left", ["{", "[]", '{"a": 3}', ""])
def test_a_record_that_is_none_says_nothing(tmp_path, left):
    beside = tmp_path / ".out.unfinished"
    beside.mkdir()
    (beside / "manifest.json").write_text(left)
    (beside / "a").write_text("old")
    (beside / "a.part").write_text("half")
    found = fill(tmp_path / "out", {"a": "1"})
    assert (found.finished, found.n_stale) == ((), 1)
    assert (tmp_path / "out/a").read_text() == "a of 1"


def test_two_runs_at_once_are_refused(tmp_path):
    with whole_folder(tmp_path / "out", {"a": "1"}) as folder:
        with pytest.raises(InputError, match="another run is writing this folder"):
            fill(tmp_path / "out", {"a": "1"})
        with folder.file("a") as stream:
            stream.write(b"first")
    assert (tmp_path / "out/a").read_text() == "first"


def test_what_is_there_is_not_replaced(tmp_path):
    (tmp_path / "file").write_text("mine")
    fill(tmp_path / "out", {"a": "1"})
    for target in ("file", "out"):
        with pytest.raises(InputError, match="already exists"):
            fill(tmp_path / target, {"a": "1"})
    assert (tmp_path / "file").read_text() == "mine"
