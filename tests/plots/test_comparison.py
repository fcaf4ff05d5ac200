"""Plots of comparisons show what the comparison says: intervals where they are, and bands."""

from contextlib import nullcontext

import numpy as np
import pytest
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure

import deciban
from deciban.errors import InputError


def comparison(names, **options):
    rng = np.random.default_rng(3)
    unit = np.repeat(np.arange(40), 4)
    common = rng.normal(size=(2, 160))
    gaps = dict(zip("ABCDEF", (1.5, 2.0, 1.4, 1.7, 1.2, 1.8), strict=True))
    pairs = [common + 0.5 * rng.normal(size=(2, 160)) + np.array([[gaps[k]], [-gaps[k]]]) for k in names]
    how = {"tar_units": unit, "non_units": unit, "names": list(names), **options}
    return deciban.compare(*map(tuple, pairs), **how)


@pytest.fixture(scope="module")
def two():
    return comparison("AB")


@pytest.fixture(scope="module")
def three():
    return comparison("ABC")


def lines_of(ax, n_points):
    return [line for line in ax.lines if len(line.get_xdata()) == n_points and not np.isscalar(line.get_ydata())]


def test_forest_shows_shares_of_the_greater_figure(two):
    ax = deciban.plots.forest(two)
    labels = [text.get_text() for text in ax.get_yticklabels()]
    assert labels[0] == "EER (ROCCH)"
    assert "AUC" not in labels
    drawn = lines_of(ax, 3)
    assert len(drawn) == len(labels)
    for line, words in zip(drawn, labels, strict=True):
        (one,) = [row for row in two.pairs[0].figures if row.words == words]
        low, middle, high = np.array([one.interval.low, one.interval.estimate, one.interval.high]) / max(one.values)
        assert np.asarray(line.get_xdata()) == pytest.approx([low, middle, high])
    bottom, top = ax.get_ylim()
    assert bottom > top  # the first figure is on top


def test_forest_of_one_figure_has_a_row_for_each_pair(three):
    ax = deciban.plots.forest(three, figure="cllr")
    assert [text.get_text() for text in ax.get_yticklabels()] == list(map(str, three.pairs))
    drawn = lines_of(ax, 3)
    expected = [three.difference("cllr", *pair.names) for pair in three.pairs]
    assert [line.get_xdata()[1] for line in drawn] == pytest.approx([one.estimate for one in expected])
    assert ax.get_xlabel() == "Difference of Cllr"
    assert ax.get_legend() is None
    assert deciban.plots.forest(three, figure="min_dcf").get_xlabel().startswith("Difference of minDCF")
    assert deciban.plots.forest(three, figure="eer").get_xlabel() == "Difference of EER (ROCCH) (%)"


def test_pairs_have_colours_and_do_not_hide_each_other(three):
    ax = deciban.plots.forest(three)
    drawn = lines_of(ax, 3)
    assert len({line.get_color() for line in drawn}) == 3
    heights = [line.get_ydata()[0] for line in drawn]
    assert len(set(heights)) == len(heights)
    assert [t.get_text() for t in ax.get_legend().get_texts()] == list(map(str, three.pairs))


@pytest.mark.parametrize("size", [None, "column"])
def test_many_pairs_have_a_row_each_and_figures_a_panel(size):
    six = comparison("ABCDEF")
    with deciban.plots.print_style(size) if size else nullcontext():
        first = deciban.plots.forest(six)
    panels = first.figure.axes
    assert [text.get_text() for text in first.get_yticklabels()] == list(map(str, six.pairs))
    assert (len(six.pairs), len({round(one.get_position().y0, 3) for one in panels})) == (15, 2 if size else 1)
    shown = [one for one in six.pairs[0].figures if one.relative is not None]
    assert [one.get_title().replace("\n", " ") for one in panels] == [one.words for one in shown]
    for panel, one in zip(panels, shown, strict=True):
        expected = [next(row for row in pair.figures if row.figure == one.figure).relative for pair in six.pairs]
        drawn = [[line.get_xdata()[k] for k in (1, 0, 2)] for line in lines_of(panel, 3)]
        assert drawn == [pytest.approx(found) for found in expected]
        assert [line.get_ydata()[0] for line in lines_of(panel, 3)] == list(range(15))
    assert len(deciban.plots.forest(six, figure="eer").figure.axes) == 1


def test_curves_have_their_bands(two):
    ax = deciban.plots.difference_curve(two, curves=["act_error"])
    (curve,) = [one for one in two.pairs[0].curves if one.curve == "act_error"]
    (line,) = [one for one in ax.lines if len(one.get_xdata()) == len(curve.log_odds)]
    assert np.asarray(line.get_ydata()) == pytest.approx(curve.difference)
    (band,) = [one for one in ax.collections if isinstance(one, PolyCollection)]
    corners = band.get_paths()[0].vertices
    for end in (curve.low, curve.high):
        assert np.isin(np.round(end, 9), np.round(corners[:, 1], 9)).all()
    texts = [text.get_text() for text in ax.texts]
    assert texts == ["B better", "A better"]
    assert len(deciban.plots.difference_curve(two).collections) == 2


def test_by_name_and_on_given_axes(two, three):
    assert set(dir(two.plot)) == {"forest", "difference_curve"}
    ax = Figure().add_subplot()
    assert two.plot.forest(ax=ax) is ax
    assert not deciban.plots.difference_curve(three).texts


def test_what_is_not_there_is_named(two):
    with pytest.raises(InputError, match="no speed"):
        deciban.plots.forest(two, figure="speed")
    with pytest.raises(InputError, match="no such curve"):
        deciban.plots.difference_curve(two, curves=["c_avg"])
