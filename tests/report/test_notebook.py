"""What notebooks show: tables with small pictures, the page in a frame, and both in a real kernel."""

import html
import re

import numpy as np
import pytest

from deciban import compare, evaluate, evaluate_classes
from deciban.errors import InputError
from deciban.evaluation import Results
from deciban.report import render
from deciban.report.files import explore

HOSTILE = "</script><script>alert(1)</script>\"'"
RNG = np.random.default_rng(3)
TAR, NON = RNG.normal(2, 2, 60), RNG.normal(-2, 2, 90)
UNITS = {"tar_units": np.arange(60) % 9, "non_units": np.arange(90) % 9}


def two(name="A"):
    return evaluate(TAR, NON, name=name)


def many():
    label = np.arange(90) % 3
    return evaluate_classes(RNG.normal(size=(90, 3)) + 2 * np.eye(3)[label], label, name=HOSTILE)


@pytest.mark.parametrize(("result", "n_pictures"), [(two(HOSTILE), 2), (Results((two(), two("B"))), 2), (many(), 2)])
def test_a_table_stands_above_small_pictures(result, n_pictures):
    shown = result._repr_html_()
    assert shown.startswith(result.table("html"))
    assert re.findall(r'<img src="data:image/svg\+xml;base64,[^"]+" alt="[^"]+"', shown).__len__() == n_pictures
    assert "<script>" not in shown
    assert result._repr_markdown_() == result.table("markdown")


def test_the_frame_holds_the_page_and_no_more_rights_than_its_scripts_need():
    one = two(HOSTILE)
    frame = one.explore(title="Mine", height=500)._repr_html_()
    (inside,) = re.findall(r'srcdoc="([^"]*)"', frame)
    assert html.unescape(inside) == render(one, title="Mine")
    assert 'sandbox="allow-scripts"' in frame
    assert "allow-same-origin" not in frame
    assert "height: 500px" in frame


def test_comparisons_show_their_forest_and_the_page_of_their_systems(tmp_path):
    found = compare(evaluate(TAR, NON, name="A", **UNITS), evaluate(TAR + 1, NON, name="B", **UNITS))
    assert found._repr_html_().count("<img ") == 1
    page = explore(found)
    page.save(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text("utf-8") == page.page == render(found.results)


def test_nothing_is_no_page():
    assert "<img" not in Results(())._repr_html_()
    with pytest.raises(InputError, match="no system to report on"):
        Results(()).explore()


def test_a_kernel_shows_both():
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    cells = ["import deciban\none = deciban.evaluate([1.0, 2.0, 3.0], [0.0, 1.5, -1.0])\none", "one.explore()"]
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    nbclient.NotebookClient(book, timeout=60, kernel_name="python3").execute()
    table, frame = (cell.outputs[0].data for cell in book.cells)
    assert {"text/html", "text/markdown", "text/plain"} <= table.keys()
    assert "EER (ROCCH)" in table["text/markdown"]
    assert frame["text/html"].startswith("<iframe srcdoc=")
