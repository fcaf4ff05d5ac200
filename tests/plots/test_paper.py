"""Pictures in a size for print."""

import dataclasses
import io
from contextlib import nullcontext

import numpy as np
import pytest
from matplotlib import image, rcParams
from matplotlib.figure import Figure

from deciban import plots
from deciban.errors import InputError
from deciban.plots import files as paper
from support.evaluated import gaussian, recognizer


@pytest.mark.parametrize(
    ("size", "width", "height"),
    [
        ("column", 3.5, None),
        ("page", 7.2, None),
        ("85mm", 85 / 25.4, None),
        ("85mmx60mm", 85 / 25.4, 60 / 25.4),
        ("3.5inx2.5in", 3.5, 2.5),
        ("9cm x 180pt", 9 / 2.54, 2.5),
    ],
)
def test_reads_sizes(size, width, height):
    found = paper.paper_of(size)
    assert found.width == pytest.approx(width, rel=1e-12)
    assert (found.height is None) == (height is None)
    assert height is None or found.height == pytest.approx(height, rel=1e-12)


@pytest.mark.parametrize("size", [85, "85", "85x60", "3.5 x 2.5in", "3.5inx2.5", "3.5x2.5in"])
def test_asks_for_units(size):
    with pytest.raises(InputError, match=r"each number needs its unit.*85mmx60mm"):
        paper.paper_of(size)


@pytest.mark.parametrize("size", ["", "Column", "a4", "85mmx", "1inx2inx3in", "-85mm", "85px", "infin"])
def test_refuses_what_is_no_size(size):
    with pytest.raises(InputError, match=r"size: got .*column \(3.5 in wide\)"):
        paper.paper_of(size)


@pytest.mark.parametrize("size", ["10mm", "85mmx1in", "85cmx300cm", "0in"])
def test_refuses_what_cannot_be_read(size):
    with pytest.raises(InputError, match="figures need a width of at least 2 in"):
        paper.paper_of(size)


def test_style_ends_with_its_block():
    before, plain = rcParams["font.size"], plots.tippett(gaussian("A")).figure.get_size_inches().tolist()
    with pytest.raises(RuntimeError), plots.print_style("column"):
        assert paper.paper().width == 3.5
        raise RuntimeError
    assert paper.paper() is None
    assert rcParams["font.size"] == before
    assert plots.tippett(gaussian("A")).figure.get_size_inches().tolist() == plain


def test_letters_stay_when_a_picture_is_saved_after_the_block():
    with plots.print_style():
        ax = plots.bayes_error(gaussian("A"))
    plots.save(ax, io.BytesIO(), "svg")
    ticks = [text for part in (ax, *ax.child_axes) for text in (*part.get_xticklabels(), *part.get_yticklabels())]
    assert {text.get_fontsize() for text in ticks} == {7.0}


@pytest.mark.parametrize("kind", ["det", "ece", "cllr_bars"])
def test_a_height_that_is_asked_for_is_kept(kind):
    with plots.print_style("90mmx80mm"):
        ax = getattr(plots, kind)(gaussian("A"))
        page = io.BytesIO()
        plots.save(ax, page, "svg")
    assert ax.figure.get_size_inches() == pytest.approx([90 / 25.4, 80 / 25.4])
    assert f'width="{90 / 25.4 * 72:.6f}'[:13].encode() in page.getvalue()
    assert ax.bbox.width > 100


def test_a_size_without_room_is_refused():
    systems = [gaussian(f"a system with a long name {k}", seed=k) for k in range(10)]
    with (
        pytest.raises(InputError, match="leave no room next to labels and legend. Use a larger size"),
        plots.print_style("60mmx50mm"),
    ):
        plots.save(plots.bayes_error(systems), io.BytesIO(), "svg")


def test_long_labels_of_axes_have_two_lines_in_print_alone():
    with plots.print_style("column"):
        label = plots.bayes_error(gaussian("A")).get_ylabel()
    assert label == "Normalized Bayes error\nrate (1 = without scores)"
    assert plots.bayes_error(gaussian("A")).get_ylabel() == label.replace("\n", " ")
    in_log10 = dataclasses.replace(gaussian("A"), axis="log10")
    with plots.print_style("column"):
        assert plots.histogram(in_log10).get_ylabel() == "Density (per unit of\nlog10 likelihood ratio)"


def test_figures_of_ones_own_keep_their_size():
    figure = Figure(figsize=(9, 4), layout="constrained")
    with plots.print_style("column"):
        plots.ece(gaussian("A"), figure.add_subplot())
    assert figure.get_size_inches().tolist() == [9, 4]


def test_panels_stand_below_each_other_where_there_is_no_room_beside():
    columns = {}
    for size in ("2.2in", "column", "page"):
        with plots.print_style(size):
            columns[size] = plots.class_ape(recognizer(6)).axes[0].get_gridspec().ncols
    assert columns == {"2.2in": 1, "column": 2, "page": 3}


@pytest.mark.parametrize("size", [None, "column"])
def test_no_ink_touches_the_edge_of_triangles(size):
    """Axes with equally long units, which one round of laying out leaves too high."""
    with plots.print_style(size) if size else nullcontext():
        page = io.BytesIO()
        plots.save(plots.simplex(recognizer(3, names=("Czech", "Hindi", "Urdu"))), page, "png")
    page.seek(0)
    ink = image.imread(page)[:, :, :3].min(axis=2) < 1.0
    edges = np.concatenate((ink[0], ink[-1], ink[:, 0], ink[:, -1]))
    assert not edges.any()
    assert ink.any()
