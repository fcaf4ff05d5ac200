"""The terminal of the tests of commands."""

import pytest

from support.class_files import write_files
from support.commands import terminal


@pytest.fixture
def run_binary(monkeypatch, capsysbinary):
    """Runs a command; what it prints comes as bytes."""
    return terminal(monkeypatch, capsysbinary)


@pytest.fixture
def run(run_binary):
    """Runs a command; what it prints comes as text."""

    def runner(*words, stdin=None):
        code, out, err = run_binary(*words, stdin=stdin)
        return code, out.decode(), err

    return runner


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Class scores, keys and what else the commands on many classes are tried on, in the folder of the test."""
    monkeypatch.chdir(tmp_path)
    return write_files(tmp_path)
