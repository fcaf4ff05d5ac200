"""Files by size and hash: patterns and folders by their parts, and nothing of what can be read only once."""

import hashlib
import os
from pathlib import Path

import pytest

from deciban.errors import InputError
from deciban.io.read_files import described


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
