"""Where the Axes of a picture stand."""

import numpy as np
import pytest
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from deciban import plots
from deciban.plots import files
from support.evaluated import gaussian

LONG = [gaussian(f"a system with a very long name, the {i}th", seed=i) for i in range(3)]


def laid_out(ax, how):
    figure = ax.figure
    FigureCanvasSVG(figure)
    figure.dpi = 72
    ax.set_subplotspec(ax.get_subplotspec())
    how(figure, figure.get_layout_engine())
    ax.apply_aspect()
    return ax


def by_engine(figure, engine):
    engine.execute(figure)


@pytest.mark.parametrize("kind", plots.KINDS)
@pytest.mark.parametrize("systems", [gaussian("A"), LONG], ids=["one", "long"])
def test_nothing_leaves_the_picture_and_no_room_is_lost(kind, systems):
    ax = laid_out(getattr(plots, kind)(systems), files.lay_out)
    box, page = ax.get_tightbbox(for_layout_only=True), ax.figure.bbox
    assert min(*box.min, *(page.max - box.max)) >= 2.5
    ours = ax.bbox.frozen()
    theirs = laid_out(ax, by_engine).bbox
    assert np.abs(ours.min - theirs.min).max() < 2.0
    assert (ours.size - theirs.size).min() > -2.0
    assert (ours.size - theirs.size).max() < 20.0


def test_measures_again_where_a_legend_is_wider_than_the_axes():
    figure = Figure(figsize=(4.0, 3.0), layout="constrained")
    ax = figure.add_subplot()
    ax.plot([0, 1], [0, 1e6], label="a name that is wider than the axes")
    ax.yaxis.set_major_formatter("{x:20,.3f}")
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.15))
    laid_out(ax, files.lay_out)
    legend = ax.get_legend().get_window_extent()
    assert legend.width > ax.bbox.width > 0
    assert legend.x0 >= 0
    assert legend.x1 <= figure.bbox.x1


def test_ticks_are_measured_where_they_end_up():
    figure = Figure(figsize=(2.4, 2.0), layout="constrained")
    ax = figure.add_subplot()
    ax.plot([0, 1e-9], [0, 123456])
    ax.yaxis.set_major_formatter("{x:,.6f}")
    ours = laid_out(ax, files.lay_out).bbox.frozen()
    box = ax.get_tightbbox(for_layout_only=True)
    assert min(*box.min, *(figure.bbox.max - box.max)) >= 2.0
    assert np.abs(ours.size - laid_out(ax, by_engine).bbox.size).max() < 3.0


@pytest.mark.parametrize("more", ["second axes", "title", "grid"])
def test_leaves_other_figures_to_the_engine(more):
    figures = []
    for _ in range(2):
        figure = Figure(layout="constrained")
        if more == "grid":
            figure.add_gridspec(2, 2)
            ax = figure.add_subplot(2, 2, 1)
        else:
            ax = figure.add_subplot()
        if more == "second axes":
            figure.colorbar(ax.imshow([[1.0, 2.0]]), ax=ax)
        if more == "title":
            figure.suptitle("Title")
        figures.append(ax)
    ours, theirs = laid_out(figures[0], files.lay_out), laid_out(figures[1], by_engine)
    assert ours.get_position().bounds == theirs.get_position().bounds


def test_axes_without_room_warn_as_ever():
    figure = Figure(figsize=(0.3, 0.2), layout="constrained")
    ax = figure.add_subplot()
    with pytest.warns(UserWarning, match="collapsed to zero"):
        laid_out(ax, files.lay_out)
    assert ax.get_in_layout()
