"""Pages for those who come from other tools, and pages that explain: what they show runs and prints what they say."""

import re

import pytest

from deciban.cli.main import COMMANDS
from deciban.plots import CLASS_KINDS, COMPARISON_KINDS, KINDS, TEACHING_KINDS
from support.pages import DOCS, run_python

PAGES = sorted([*(DOCS / "coming-from").glob("*.md"), *(DOCS / "explanation").glob("*.md")])
EACH = pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)


@EACH
def test_code_of_the_page_prints_what_the_page_says(path):
    text = path.read_text()
    assert run_python(text) == text.count("```python")


@EACH
def test_commands_and_plots_are_there(path):
    commands = re.findall(r"`deciban ([a-z]+)(?: ([a-z-]+))?", path.read_text())
    assert {name for name, _ in commands} <= set(COMMANDS)
    drawn = {kind.replace("-", "_") for name, kind in commands if name == "plot"}
    assert drawn <= {*KINDS, *CLASS_KINDS, *COMPARISON_KINDS, *TEACHING_KINDS}


def test_each_row_of_a_table_of_tools_names_something_of_ours():
    for path in DOCS.glob("coming-from/*.md"):
        rows = [row.split("|") for row in path.read_text().splitlines() if row.startswith("| ")]
        ours = [row[2] for row in rows if row[2].strip() != "here"]
        assert ours, path
        assert not [cell for cell in ours if "`" not in cell], path


def test_table_of_peers_has_the_form_that_the_script_writes():
    titles = re.search(r"TITLES = \[(.*)\]", (DOCS.parent / "benchmarks" / "peers.py").read_text())[1]
    rows = [
        [cell.strip() for cell in row.split("|")[1:-1]]
        for row in (DOCS / "peers.md").read_text().splitlines()
        if row[:1] == "|"
    ]
    assert rows[0] == re.findall(r'"([^"]+)"', titles)
    assert {row[1] for row in rows[2:]} == {"deciban", "scikit-learn", "pyeer", "lir"}
    assert all(float(row[-1]) == 1 for row in rows[2:] if row[1] == "deciban")
