"""Lines of pages, run as they stand: commands through the entry point of the command line, Python in names of its own.

They run in the process of the tests, where warnings are errors; that the installed command starts, and what it does to
signals, pipes and terminals, is tested in `cli/test_commands.py`.
"""

import contextlib
import io
import re
import shlex

import pytest

from support.commands import terminal


@pytest.fixture
def deciban(monkeypatch, capsysbinary):
    """A function that runs one line of a page in a folder, without its remark, and returns what it prints."""
    run = terminal(monkeypatch, capsysbinary)

    def typed(line, folder):
        name, *words = shlex.split(line, comments=True)
        assert name == "deciban"
        with contextlib.chdir(folder):
            code, out, err = run(*words)
        assert code == 0, f"{line}: {err}"
        return out.decode()

    return typed


@pytest.fixture
def python():
    """A function that runs Python of a page in a folder, and returns what it prints."""

    def typed(code, folder):
        printed = io.StringIO()
        with contextlib.chdir(folder), contextlib.redirect_stdout(printed):
            exec(code, {"__name__": "__main__"})  # noqa: S102
        return printed.getvalue()

    return typed


@pytest.fixture(scope="session")
def stable():
    """A function that gives the lines of a text without what differs between machines: how training went, in digits."""

    def lines(text):
        text = re.sub(r"in \d+ steps, gradient \d\.\de[-+]\d\d\b", "in N steps, gradient G", text)
        return [line.rstrip() for line in text.strip().splitlines()]

    return lines
