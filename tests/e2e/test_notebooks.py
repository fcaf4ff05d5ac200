"""Notebooks run from beginning to end, and are kept without what they print."""

import contextlib

import nbclient
import nbformat
import pytest
from IPython.core.interactiveshell import InteractiveShell

from support.pages import DOCS

NOTEBOOKS = sorted((DOCS.parent / "examples" / "notebooks").glob("*.ipynb"))
EACH = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def test_there_are_notebooks():
    assert len(NOTEBOOKS) >= 3


def test_a_notebook_runs_in_a_kernel(tmp_path):
    notebook = nbformat.read(NOTEBOOKS[0], as_version=4)
    nbclient.NotebookClient(notebook, timeout=60, resources={"metadata": {"path": tmp_path}}).execute()
    assert any(cell.outputs for cell in notebook.cells if cell.cell_type == "code")


@pytest.mark.parametrize("path", NOTEBOOKS[1:], ids=lambda path: path.stem)
def test_a_notebook_runs(path, tmp_path, capsys):
    """In a shell of this process: a kernel takes seconds to start."""
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
