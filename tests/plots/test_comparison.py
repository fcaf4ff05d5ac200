"""Plots of comparisons show what the comparison says: intervals where they are, and bands."""

import numpy as np
import pytest
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure

import deciban
from deciban.errors import InputError
from support.compared import comparison, intervals_of


@pytest.fixture(scope="module")
def two():
    return comparison("AB")


@pytest.fixture(scope="module")
def three():
    return comparison("ABC")


def test_forest_shows_shares_of_the_greater_figure(two):
    ax = deciban.plots.forest(two)
    labels = [text.get_text() for text in ax.get_yticklabels()]
    assert labels[0] == "EER (ROCCH)"
    assert "AUC" not in labels
    drawn = intervals_of(ax)
    assert len(drawn) == len(labels)
    for (places, _, _), words in zip(drawn, labels, strict=True):
        (one,) = [row for row in two.pairs[0].metrics if row.words == words]
        low, middle, high = np.array([one.interval.low, one.interval.estimate, one.interval.high]) / max(one.values)
        assert places == pytest.approx([low, middle, high])
    bottom, top = ax.get_ylim()
    assert bottom > top  # the first figure is on top


def test_forest_of_one_figure_has_a_row_for_each_pair(three):
    ax = deciban.plots.forest(three, metric="cllr")
    assert [text.get_text() for text in ax.get_yticklabels()] == list(map(str, three.pairs))
    expected = [three.difference("cllr", *pair.names) for pair in three.pairs]
    middles = [places[1] for places, _, _ in intervals_of(ax)]
    assert middles == pytest.approx([one.estimate for one in expected])
    assert ax.get_xlabel() == "Difference of Cllr"
    assert ax.get_legend() is None
    assert deciban.plots.forest(three, metric="min_dcf").get_xlabel().startswith("Difference of minDCF")
    assert deciban.plots.forest(three, metric="eer").get_xlabel() == "Difference of EER (ROCCH) (%)"


def test_pairs_have_colours_and_do_not_hide_each_other(three):
    ax = deciban.plots.forest(three)
    drawn = intervals_of(ax)
    assert len({color for _, _, color in drawn}) == 3
    assert len({row for _, row, _ in drawn}) == len(drawn)
    assert [t.get_text() for t in ax.get_legend().get_texts()] == list(map(str, three.pairs))


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
        deciban.plots.forest(two, metric="speed")
    with pytest.raises(InputError, match="no such curve"):
        deciban.plots.difference_curve(two, curves=["c_avg"])
