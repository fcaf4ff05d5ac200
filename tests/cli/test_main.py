"""How the command line ends when its user or the reader of its output has had enough."""

import subprocess
import sys
from pathlib import Path

import pytest

import deciban.workflows
from support.commands import terminal
from support.score_files import write_score_files

DECIBAN = f"'{sys.executable}' -m deciban"


@pytest.fixture
def scores(tmp_path):
    return write_score_files(tmp_path)


NOBODY, HEAD = "true", "head -n 1 > /dev/null"


@pytest.mark.parametrize(
    ("command", "reader"),
    [
        *((command, HEAD) for command in ("eval scores.txt --key key.txt -q --json", "convert scores.txt -")),
        *(
            (command, NOBODY)
            for command in (
                "eval scores.txt --key key.txt -q",
                "convert scores.txt -",
                "calibrate scores.txt --key key.txt -o - --ridge 0.1",
                "--help",
            )
        ),
    ],
)
def test_output_that_nobody_reads_is_no_error(scores, command, reader):
    told = "" if " -q" in command or "2>&1" in command else "2> /dev/null"
    words = f"cd '{scores}' && {DECIBAN} {command} {told} | {reader}"
    found = subprocess.run(["bash", "-o", "pipefail", "-c", words], capture_output=True, text=True, check=False)
    assert (found.returncode, found.stderr) == (0, "")


def test_errors_stay_errors_when_nobody_reads_them(scores):
    words = f"cd '{scores}' && {DECIBAN} eval nothing.txt --key key.txt 2>&1 | true"
    assert subprocess.run(["bash", "-o", "pipefail", "-c", words], check=False).returncode == 2


@pytest.mark.parametrize(("typed", "meant"), [("evla", "eval"), ("Report", "report"), ("calibrat", "calibrate")])
def test_a_command_that_is_nearly_one_is_suggested(run, typed, meant):
    code, out, err = run(typed, "a.txt")
    assert (code, out) == (2, "")
    assert f"No such command '{typed}'. Did you mean '{meant}'?" in err


def test_no_command_is_suggested_where_none_is_near(run):
    code, _, err = run("frobnicate", "a.txt")
    assert code == 2
    assert "No such command 'frobnicate'." in err
    assert "Did you mean" not in err


WIDTHS = ["0", "-3", "abc", "\N{SUPERSCRIPT TWO}"]


@pytest.mark.parametrize("command", ["eval scores.txt --key key.txt -q", "inspect scores.txt"])
def test_a_width_that_no_window_has_counts_as_none(run, scores, monkeypatch, command):
    """Emacs shells and expect set it to 0."""
    monkeypatch.chdir(scores)
    code, without, _ = run(command)
    assert code == 0
    for width in WIDTHS:
        monkeypatch.setenv("COLUMNS", width)
        assert run(command) == (0, without, "")


def closed(scores, command, streams):
    words = f"cd '{scores}' && {DECIBAN} {command} {streams}"
    found = subprocess.run(["bash", "-c", words], capture_output=True, text=True, check=False)
    return found.returncode, found.stdout, found.stderr


@pytest.mark.parametrize("command", ["eval scores.txt --key key.txt -q", "convert scores.txt -"])
def test_a_closed_output_is_refused_in_one_sentence(scores, command):
    said = "deciban: standard output is closed: redirect it to a file or a pipe\n"
    assert closed(scores, command, ">&-") == (1, "", said)


def test_closed_messages_are_lost_and_nothing_else_is(scores):
    command = "eval scores.txt --key key.txt"
    code, table, _ = closed(scores, command, "")
    assert (code, "EER" in table) == (0, True)
    assert closed(scores, command, "2>&-") == (0, table, "")


def test_a_closed_input_is_empty(scores):
    code, out, said = closed(scores, "eval - --key key.txt", "<&-")
    assert (code, out) == (2, "")
    assert "the file is empty" in said


def test_an_interrupt_is_one_line_and_what_shells_expect(run, scores, monkeypatch):
    def interrupted(*_scores, **_more):
        raise KeyboardInterrupt

    monkeypatch.setattr("deciban.workflows.reading.inputs.ScoreFiles.as_source", interrupted)
    code, out, err = run("eval", scores / "scores.txt", "--key", scores / "key.txt")
    assert (code, out, err) == (130, "", "deciban: interrupted\n")


def test_so_is_one_before_the_command_line_is_there(tmp_path):
    """Nothing of ours runs before click is imported."""
    (tmp_path / "click.py").write_text("raise KeyboardInterrupt")
    path = f"{tmp_path}:{Path(deciban.workflows.__file__).parents[2]}"
    words = [sys.executable, "-m", "deciban", "--version"]
    found = subprocess.run(words, capture_output=True, text=True, check=False, env={"PYTHONPATH": path})
    assert (found.returncode, found.stdout, found.stderr) == (130, "", "deciban: interrupted\n")


def test_nothing_is_searched_for_garbage_at_exit():
    after = "import atexit, gc; n = gc.get_freeze_count(); atexit.register(lambda: print(gc.get_freeze_count() - n))"
    code = f"{after}; from deciban.cli import main; assert gc.get_freeze_count() == n; main()"
    done = subprocess.run([sys.executable, "-c", code, "--version"], check=True, capture_output=True, text=True)
    version, frozen = done.stdout.split("\n", 1)
    assert version.startswith("deciban ")
    assert int(frozen) > 10_000


def test_a_file_for_json_is_told_to_be_no_value_of_the_option(scores):
    command = f"{DECIBAN} eval scores.txt --key key.txt --json out.json"
    done = subprocess.run(command, shell=True, cwd=scores, capture_output=True, text=True, check=False)  # noqa: S602
    assert done.returncode == 2
    assert "--json takes no name; it prints to standard output: --json > out.json" in " ".join(done.stderr.split())


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("eval scores.txt --probability 0.5", "Did you mean '--probabilities'?"),
        ("eval scores.txt --fnmr-at-fmr 0.1", "(Did you mean one of: '--fmr-at', '--fnmr-at'?)"),
        ("compare scores.txt other.txt --memory 1GB", ""),
        ("validate scores.txt --key key.txt", ""),
    ],
)
def test_offered_options_are_similar_to_what_was_typed(monkeypatch, capsysbinary, typed, meant):
    """Dashes, which all options have in common, do not count."""
    code, _, err = terminal(monkeypatch, capsysbinary)(typed)
    assert code == 2
    option = typed.split()[-2]
    assert err.rstrip().endswith(f"No such option '{option}'. {meant}".rstrip())
