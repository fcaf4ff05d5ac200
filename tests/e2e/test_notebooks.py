"""Notebooks run from beginning to end, and are kept without what they print."""

import nbclient
import nbformat
import pytest

from support.pages import DOCS

NOTEBOOKS = sorted((DOCS.parent / "examples" / "notebooks").glob("*.ipynb"))
EACH = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def test_there_are_notebooks():
    assert len(NOTEBOOKS) >= 3


@EACH
def test_a_notebook_runs(path, tmp_path):
    notebook = nbformat.read(path, as_version=4)
    nbclient.NotebookClient(notebook, timeout=60, resources={"metadata": {"path": tmp_path}}).execute()
    assert any(cell.outputs for cell in notebook.cells if cell.cell_type == "code")


@EACH
def test_it_is_kept_without_output(path):
    cells = nbformat.read(path, as_version=4).cells
    assert [cell.source for cell in cells if cell.get("outputs") or cell.get("execution_count")] == []
