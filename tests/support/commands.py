"""Commands as users type them: what they print, and how they end."""

import io
import shlex
import sys

import pytest

from deciban.cli.main import main


def terminal(monkeypatch, capsysbinary):
    """A function that runs a command, given as words or as one line; it returns exit code, output and messages."""

    def run(*words, stdin=None):
        typed = shlex.split(str(words[0])) if len(words) == 1 else map(str, words)
        monkeypatch.setattr(sys, "argv", ["deciban", *typed])
        if stdin is not None:
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        with pytest.raises(SystemExit) as exit_info:
            main()
        captured = capsysbinary.readouterr()
        return exit_info.value.code, captured.out, captured.err.decode()

    return run
