"""The terminal of the tests of commands."""

import pytest

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
