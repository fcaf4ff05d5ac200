"""Pages to learn from, and pages of tasks: every line runs, and prints what the page says."""

import importlib
import re
import shlex

import pytest

from deciban.cli.main import COMMANDS
from support.pages import DOCS, steps

NAMES = (
    "install",
    "ten-minutes",
    "what-numbers-mean",
    "night-before-the-deadline",
    "forensic-case",
    "fourteen-languages",
    "spoofing",
    "asvspoof-files",
    "method-validation",
    "biometric-test",
    "image-classifier",
    "billion-trials",
    "choosing-a-rule",
    "no-speaker-column",
    "scores-are-log10",
    "gate-a-pipeline",
    "two-files-of-numbers",
    "a-csv-with-labels",
    "most-misleading-trials",
    "threshold-from-dev",
    "fuse-with-missing-trials",
    "validate-a-submission",
    "print-for-a-paper",
    "five-conditions",
    "plug-in-a-format",
    "use-a-model-elsewhere",
    "normalize-scores",
    "monitor-without-labels",
)


@pytest.mark.parametrize("name", NAMES)
def test_a_page_says_what_is_printed(name, tmp_path, walk):
    (path,) = DOCS.rglob(f"{name}.md")
    text = path.read_text()
    assert steps(text)
    walk(text, tmp_path)


def test_common_tasks_have_commands_that_exist():
    """Each row of the page that maps tasks to commands; other tests run the commands."""
    (path,) = DOCS.rglob("who-uses-what.md")
    rows = [line for line in path.read_text().splitlines() if "`deciban " in line]
    assert len(rows) == 13
    for line in (line for row in rows for line in re.findall(r"`deciban ([^`]+)`", row)):
        name, *words = shlex.split(line)
        command = getattr(importlib.import_module(COMMANDS[name][0]), f"{name}_command")
        assert command.make_context(name, words).params
