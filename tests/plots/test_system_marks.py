"""What tells systems apart in grey print."""

import io

import numpy as np
import pytest
from matplotlib import image
from matplotlib.figure import Figure

from deciban import plots
from deciban.plots import axes as system_marks
from support.evaluated import gaussian, recognizer

TEN = [gaussian(f"s{k}", 1.6 + 0.1 * k, n_tar=60, n_non=200, seed=k) for k in range(10)]
CURVES = (
    *("det", "bayes_error", "ape", "ece", "histogram", "pav", "tippett", "roc", "reliability"),
    *("rocch", "minimum_cost", "error_contributions", "ape_bars"),
)


def shapes_of(ax, mark):
    """Markers and dashes of all lines in the colour of a system that carry its markers."""
    return {
        (line.get_marker(), line.get_markerfacecolor() == "white")
        for line in ax.lines
        if line.get_color() == mark and line.get_gid() == system_marks.MARKED
    }


@pytest.mark.parametrize("kind", CURVES)
def test_ten_systems_have_ten_markers(kind):
    """Each at least once along its curves and nowhere along another's; without the style there are none."""
    with plots.print_style("column"):
        ax = getattr(plots, kind)(TEN)
    found = [shapes_of(ax, color) for color in plots.system_colors(10)]
    assert [len(shapes) for shapes in found] == [1] * 10
    assert len(set.union(*found)) == 10
    drawn = [line for line in ax.lines if line.get_gid() == system_marks.MARKED]
    for line in drawn:
        places = ax.transAxes.inverted().transform(line.get_transform().transform(line.get_xydata()))
        assert np.all((places >= -0.001) & (places <= 1.001))


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
    assert not any(line.get_gid() == system_marks.MARKED for line in ax.lines)


def test_a_system_drawn_later_has_a_marker_of_its_own():
    with plots.print_style("column"):
        ax = plots.ece(TEN[:2])
        plots.ece(TEN[2], ax)
    found = [shapes_of(ax, color) for color in plots.system_colors(3)]
    assert len(set.union(*found)) == 3


@pytest.mark.parametrize("steps", ["default", "steps-post"])
def test_markers_stand_on_what_is_seen(steps):
    """Half of this line is outside; steps and slopes are followed, not the corners of the data."""
    ax = Figure().add_subplot()
    ax.set(xlim=(0, 10), ylim=(0, 1))
    (line,) = ax.plot([-10, 4, 4.5, 30], [0.2, 0.2, 0.8, 0.8], color="#0072B2", drawstyle=steps)
    system_marks.mark_lines(ax, [line], {"#0072B2": 0})
    (marks,) = [other for other in ax.lines if other is not line]
    x, y = marks.get_xydata().T
    corner = 4.5 if steps == "steps-post" else 4.0
    height = np.where(x <= corner, 0.2, np.where(x >= 4.5, 0.8, 0.2 + 1.2 * (x - 4.0)))
    assert len(x) >= 3
    assert y[x != 4.5] == pytest.approx(height[x != 4.5], abs=1e-9)
    assert np.diff(x).max() < 10 * 0.42 + 1e-9


def test_lines_that_are_not_seen_have_none():
    ax = Figure().add_subplot()
    ax.set(xlim=(0, 1), ylim=(0, 1))
    lines = [ax.plot([0, 1], [2, 3], color="#0072B2")[0], ax.plot([0, np.nan], [np.inf, 1], color="#0072B2")[0]]
    system_marks.mark_lines(ax, lines, {"#0072B2": 0})
    assert len(ax.lines) == 2


def test_after_ten_systems_markers_are_filled():
    looks = [system_marks.look_of(k, "black") for k in range(20)]
    assert len({(look["marker"], look["markerfacecolor"]) for look in looks}) == 20
