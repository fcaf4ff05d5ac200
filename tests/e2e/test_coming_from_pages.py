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
