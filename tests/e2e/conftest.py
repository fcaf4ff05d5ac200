"""Lines of pages, run as they stand: commands through the entry point of the command line, Python in names of its own.

They run in the process of the tests, where warnings are errors; that the installed command starts, and what it does to
signals, pipes and terminals, is tested in `cli/test_commands.py`.
"""

import contextlib
import io
import re
import runpy
import shlex
import shutil
import sys
from pathlib import Path

import pytest

from deciban.cli.main import main
from support.commands import terminal
from support.pages import lacks, steps

ROOT = Path(__file__).parents[2]


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
def typed_here(tmp_path, monkeypatch, capsysbinary):
    """A function that runs a command in a folder of its own; it returns exit status, output and messages as text."""
    monkeypatch.chdir(tmp_path)
    run = terminal(monkeypatch, capsysbinary)

    def typed(*words):
        code, out, err = run(*words)
        return code, out.decode(), err

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
        return [line.rstrip() for line in text.strip("\n").splitlines()]

    return lines


@pytest.fixture(scope="session")
def missing(stable):
    """A function that returns the first part of a page that was not printed, apart from what differs by machine."""
    return lambda printed, shown: lacks("\n".join(stable(printed)), "\n".join(stable(shown)))


@pytest.fixture(scope="session")
def demo(tmp_path_factory):
    """The folder that `deciban demo .` fills, and what it prints in 100 columns: most pages begin with it."""
    folder, printed = tmp_path_factory.mktemp("demo"), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.chdir(folder), contextlib.redirect_stdout(printed):
        patch.setenv("COLUMNS", "100")
        patch.setattr(sys, "argv", ["deciban", "demo", "."])
        with pytest.raises(SystemExit):
            main()
    return folder, printed.getvalue()


@pytest.fixture
def typed_line(monkeypatch, capsysbinary, demo):
    """A function that runs one line of a page in a folder: of deciban, or of an example; it may write into a file.

    The remark `# exit code 1` says how a line ends; what is printed then has the messages in it.
    """
    run = terminal(monkeypatch, capsysbinary)
    monkeypatch.setenv("COLUMNS", "100")

    def typed(line, folder):
        line, _, file = line.partition(" > ")
        expected = re.search(r"# exit code (\d)", line)
        name, *words = shlex.split(line, comments=True)
        with contextlib.chdir(folder):
            if name == "python":
                runpy.run_path(str(ROOT / words[0].removeprefix("CLONE/")))["main"](words[1:])
                return ""
            assert name == "deciban", line
            if words in (["demo", "."], ["demo", ".", "-q"]):
                shutil.copytree(demo[0], ".", dirs_exist_ok=True)
                return demo[1] if len(words) == 2 else ""
            code, out, err = run(*words)
            assert code == (int(expected[1]) if expected else 0), f"{line}: {err}"
            if file:
                Path(file).write_bytes(out)
        return "" if file else out.decode() + (err if expected else "")

    return typed


@pytest.fixture
def walk(typed_line, python, missing):
    """A function that goes through a page in a folder, and tells what was printed otherwise than the page says."""

    def walked(text, folder):
        for language, code, shown in steps(text):
            if language == "python":
                printed = python(code, folder)
            else:
                printed = "".join(typed_line(line, folder) for line in code.splitlines() if line[:1] not in ("", "#"))
            if shown:
                assert missing(printed, shown) == "", code

    return walked
