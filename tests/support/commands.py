"""Commands as users type them: what they print, and how they end."""

import io
import re
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


def printed_table(text, *, under=None):
    """Rows of a printed table by their first cell, each a dict from heading to text; of the first one in the text.

    ``under`` is the line before its headings. Cells are two spaces apart or more, and stand below their headings; what
    stands below none is left out.
    """
    lines = iter(text.splitlines())
    if under is not None:
        next(line for line in lines if line == under)
    heads = [(cell.group(), *cell.span()) for cell in _cells(next(line for line in lines if line.strip()))]
    rows = {}
    for line in lines:
        if not line.strip():
            break
        first, *others = _cells(line)
        rows[first.group()] = {
            head: cell.group()
            for cell in others
            for head, low, high in heads
            if cell.start() < high and low < cell.end()
        }
    return rows


def _cells(line):
    return list(re.finditer(r"\S+(?: \S+)*", line))
