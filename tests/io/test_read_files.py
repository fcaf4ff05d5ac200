"""Files by size and hash: patterns and folders by their parts, and nothing of what can be read only once."""

import hashlib
import os
from pathlib import Path

import pytest

from deciban.errors import InputError, heard_by
from deciban.io.source import described


def test_files_patterns_and_folders(tmp_path):
    for name in ("part-1.txt", "part-2.txt", "shards/x.parquet", "shards/y.parquet", "shards/notes.md"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(name)
    found = described({"scores": [tmp_path / "part-*.txt", tmp_path / "shards"], "key": [None]})
    assert [Path(one["path"]).name for one in found] == ["part-1.txt", "part-2.txt", "x.parquet", "y.parquet"]
    for one in found:
        name = one["path"].removeprefix(f"{tmp_path}/").encode()
        assert (one["role"], one["size"]) == ("scores", len(name))
        assert one["sha256"] == hashlib.sha256(name).hexdigest()


def test_large_files_tell_how_far_their_hash_is(tmp_path, monkeypatch):
    monkeypatch.setattr("deciban.io.source._PIECE", 4)
    for name, text in (("large", b"0123456789"), ("small", b"0123")):
        (tmp_path / name).write_bytes(text)
    told = []
    with heard_by(lambda *how_far: told.append(how_far)):
        found = described({"scores": [tmp_path / "large", tmp_path / "small"]})
    assert told == [(4, 10, "bytes"), (8, 10, "bytes"), (10, 10, "bytes")]
    assert [one["sha256"] for one in found] == [hashlib.sha256(text).hexdigest() for text in (b"0123456789", b"0123")]


def test_pipes_are_left_alone(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in ("-", tmp_path / "pipe"):
        assert described({"scores": [path]})[0]["sha256"] is None


def test_the_same_file_in_one_role_stands_once(tmp_path):
    (tmp_path / "a").touch()
    path = tmp_path / "a"
    assert [one["role"] for one in described({"scores": [path, path], "key": [path]})] == ["scores", "key"]
    with pytest.raises(InputError, match="no file matches"):
        described({"scores": [tmp_path / "b*"]})
