"""Every plot has an example in the gallery; drawn for print, it can be read there."""

import importlib.machinery
import importlib.util
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from matplotlib.text import Text

from deciban import plots

SCRIPT = Path(__file__).parents[2] / "scripts" / "gallery"


@pytest.fixture(scope="module")
def gallery():
    loader = importlib.machinery.SourceFileLoader("gallery", str(SCRIPT))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("gallery", loader))
    sys.modules["gallery"] = module
    loader.exec_module(module)
    yield module
    del sys.modules["gallery"]


@pytest.fixture(scope="module")
def made(gallery, tmp_path_factory):
    """The folder with all pictures, as wide as a column, and their figures by their names."""
    folder, figures, save = tmp_path_factory.mktemp("gallery"), {}, plots.save

    def remembering(drawing, file, format):
        save(drawing, file, format)
        figures[file.stem] = drawing.figure.figure if hasattr(drawing, "axes") else drawing

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plots, "save", remembering)
        gallery.main([str(folder), "--n", "24", "--size", "column"])
    return folder, figures


@pytest.fixture(scope="module")
def laid_out(made):
    """Of each figure, once all is in its place: its box, and those of its legends, of its axes and of their labels."""
    found = {}
    for name, figure in made[1].items():
        figure.draw_without_rendering()  # which places the legends
        others = [part.get_window_extent() for ax in figure.axes for part in (ax, ax.xaxis.label)]
        legends = [one.get_legend().get_window_extent() for one in figure.axes if one.get_legend()]
        found[name] = figure.get_tightbbox(), legends, others
    return found


def wrong(made, is_right):
    """Names of the pictures for which something does not hold."""
    return [name for name, figure in made[1].items() if not is_right(figure)]


def test_every_plot_has_an_example(gallery):
    assert gallery.missing() == []


def test_the_page_shows_every_picture(gallery, made):
    folder, figures = made
    shown = re.findall(r"!\[.*\]\((.*)\)", (folder / "index.md").read_text(encoding="utf-8"))
    assert set(shown) == {file.name for file in folder.glob("*.svg")}
    assert len(shown) == len(set(shown)) == len(gallery.examples()) == len(figures)


def test_pictures_for_a_column_are_as_wide_as_it_is(made):
    widths = {
        file.name: re.search(r'<svg[^>]* width="(\w+)"', file.read_text("utf-8")) for file in made[0].glob("*.svg")
    }
    assert {name for name, found in widths.items() if not found or found[1] != "252pt"} == set()


def test_letters_in_print_can_be_read(made):
    def sizes(figure):
        return [text.get_fontsize() for text in figure.findobj(Text) if text.get_visible() and text.get_text()]

    assert wrong(made, lambda figure: 6.5 <= min(sizes(figure)) <= max(sizes(figure)) <= 8.0) == []


def test_nothing_is_cut_in_print(made, laid_out):
    assert laid_out.keys() == made[1].keys()
    for name, (box, _, _) in laid_out.items():
        assert np.all(box.min >= -0.02), name
        assert np.all(box.max <= made[1][name].get_size_inches() + 0.02), name


def test_legends_in_print_cover_nothing(laid_out):
    assert [
        name
        for name, (_, legends, others) in laid_out.items()
        if any(legend.overlaps(other) for legend in legends for other in others)
    ] == []
