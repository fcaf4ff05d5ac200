"""Notebooks run from beginning to end, and are kept without what they print."""

import contextlib

import nbformat
import pytest
from IPython.core.interactiveshell import InteractiveShell

from support.pages import DOCS

NOTEBOOKS = sorted((DOCS.parent / "examples" / "notebooks").glob("*.ipynb"))
EACH = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def test_there_are_notebooks():
    assert len(NOTEBOOKS) >= 3


@EACH
def test_a_notebook_runs(path, tmp_path, capsys):
    """In a shell of this process: `report/test_notebook.py` starts a kernel, which takes seconds."""
    shell, shown = InteractiveShell(), 0
    with contextlib.chdir(tmp_path):
        for cell in nbformat.read(path, as_version=4).cells:
            if cell.cell_type == "code":
                done = shell.run_cell(cell.source)
                done.raise_error()
                shown += done.result is not None
    assert shown or capsys.readouterr().out


@EACH
def test_it_is_kept_without_output(path):
    cells = nbformat.read(path, as_version=4).cells
    assert [cell.source for cell in cells if cell.get("outputs") or cell.get("execution_count")] == []
