"""What tells systems apart in grey print."""

import io

import numpy as np
import pytest
from matplotlib import image

from deciban import plots
from deciban.plots import axes as system_marks
from support.evaluated import gaussian, recognizer

TEN = [gaussian(f"s{k}", 1.6 + 0.1 * k, n_tar=60, n_non=200, seed=k) for k in range(10)]
CURVES = (
    *("det", "bayes_error", "ape", "ece", "histogram", "pav", "tippett", "roc", "reliability"),
    *("rocch", "minimum_cost", "error_contributions", "ape_bars"),
)


def shapes_of(ax, mark):
    """Markers of all lines in the colour of a system."""
    return {
        (line.get_marker(), line.get_markerfacecolor() == "white")
        for line in ax.lines
        if line.get_color() == mark and line.get_marker() in system_marks.SHAPES
        if line.get_markersize() == system_marks.look_of(0, mark)["markersize"]
    }


@pytest.mark.parametrize("kind", CURVES)
def test_ten_systems_have_ten_markers(kind):
    with plots.print_style("column"):
        ax = getattr(plots, kind)(TEN)
    found = [shapes_of(ax, color) for color in plots.system_colors(10)]
    assert [len(shapes) for shapes in found] == [1] * 10
    assert len(set.union(*found)) == 10


def test_bars_of_classes_have_markers():
    with plots.print_style("column"):
        ax = plots.class_losses([recognizer(4, f"s{k}", seed=k) for k in range(3)])
    found = [shapes_of(ax, color) for color in plots.system_colors(3)]
    assert len(set.union(*found)) == 3
    assert [text.get_text() for text in ax.get_legend().get_texts()][:3] == ["s0", "s1", "s2"]


def test_legends_differ_in_grey():
    """As they come out of the printer: any two systems differ by a twentieth of full black over the box of a marker."""
    with plots.print_style("column"):
        ax = plots.ece(TEN)
    page = io.BytesIO()
    ax.figure.savefig(page, format="png", dpi=300)
    page.seek(0)
    grey = image.imread(page)[:, :, :3] @ [0.299, 0.587, 0.114]
    ax.figure.dpi = 300
    ax.figure.draw_without_rendering()
    handles = []
    for handle in ax.get_legend().legend_handles[:10]:
        x, y = handle.get_window_extent().get_points().mean(axis=0)
        row, column = round(grey.shape[0] - y), round(x)
        handles.append(grey[row - 12 : row + 13, column - 12 : column + 13])
    apart = [np.abs(a - b).mean() for k, a in enumerate(handles) for b in handles[:k]]
    assert len(apart) == 45
    assert min(apart) >= 0.05


def test_one_system_has_no_markers():
    with plots.print_style("column"):
        ax = plots.tippett(TEN[0])
    assert not shapes_of(ax, plots.system_colors(1)[0])


def test_a_system_drawn_later_has_a_marker_of_its_own():
    with plots.print_style("column"):
        ax = plots.ece(TEN[:2])
        plots.ece(TEN[2], ax)
    found = [shapes_of(ax, color) for color in plots.system_colors(3)]
    assert len(set.union(*found)) == 3


def test_after_ten_systems_markers_are_filled():
    looks = [system_marks.look_of(k, "black") for k in range(20)]
    assert len({(look["marker"], look["markerfacecolor"]) for look in looks}) == 20
