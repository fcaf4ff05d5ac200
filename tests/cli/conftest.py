"""Files that tests of commands read."""

import pytest

from support.class_files import write_files


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Class scores, keys and what else the commands on many classes are tried on, in the folder of the test."""
    monkeypatch.chdir(tmp_path)
    return write_files(tmp_path)
