"""Panels are in even rows, share their axes, and have room for what is said above them."""

import pytest
from matplotlib.lines import Line2D

from deciban.plots import print_style
from deciban.plots.files import legend_above, panels_of


def grid_of(panels):
    """How many panels stand in each row, from the top."""
    tops = [round(one.get_position().y1, 6) for one in panels]
    return [tops.count(top) for top in sorted({*tops}, reverse=True)]


@pytest.mark.parametrize(("n", "rows"), [(1, [1]), (3, [3]), (4, [2, 2]), (5, [5]), (6, [3, 3]), (45, [5] * 9)])
def test_few_places_are_empty(n, rows):
    figure, panels = panels_of(n, None, "x", "y")
    assert grid_of(panels) == rows
    assert figure.axes == panels


def test_columns_are_those_that_are_asked_for_and_no_more_than_print_has_room_for():
    assert grid_of(panels_of(7, 4, "x", "y")[1]) == [4, 3]
    with print_style("column"):
        assert grid_of(panels_of(6, None, "x", "y")[1]) == [2, 2, 2]


def test_only_edges_carry_numbers():
    _, panels = panels_of(5, 3, "x", "y")
    shown = [one.xaxis.get_major_ticks()[0].label1.get_visible() for one in panels]
    assert shown == [False, False, True, True, True]


@pytest.mark.parametrize(("is_long", "rows"), [(False, 1), (True, 2)])
def test_a_legend_takes_the_lines_that_it_needs(is_long, rows):
    figure, _ = panels_of(3, None, "x", "y")
    names = [f"a line of {k}" for k in range(5)]
    legend_above(figure, [Line2D([], [], label=name) for name in names], "what", is_long=is_long)
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == names
    assert -(-len(names) // legend._ncols) == rows
