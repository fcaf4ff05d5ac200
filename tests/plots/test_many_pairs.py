"""Differences of many pairs: each is seen, where one plot for all would show a tangle."""

import dataclasses
from contextlib import nullcontext

import numpy as np
import pytest
from matplotlib.collections import PolyCollection

import deciban
from deciban.plots.comparison import pair_label
from support.compared import comparison, intervals_of


@pytest.mark.parametrize("size", [None, "column"])
def test_many_pairs_have_a_row_each_and_figures_a_panel(size):
    six = comparison("ABCDEF")
    with deciban.plots.print_style(size) if size else nullcontext():
        first = deciban.plots.forest(six)
    panels = first.figure.axes
    assert [text.get_text() for text in first.get_yticklabels()] == list(map(str, six.pairs))
    assert (len(six.pairs), len({round(one.get_position().y0, 3) for one in panels})) == (15, 2 if size else 1)
    shown = [one for one in six.pairs[0].metrics if one.relative is not None]
    assert [one.get_title().replace("\n", " ") for one in panels] == [one.words for one in shown]
    for panel, one in zip(panels, shown, strict=True):
        expected = [next(row for row in pair.metrics if row.metric == one.metric).relative for pair in six.pairs]
        drawn = intervals_of(panel)
        assert [[middle, low, high] for (low, middle, high), _, _ in drawn] == [
            pytest.approx(found) for found in expected
        ]
        assert [row for _, row, _ in drawn] == list(range(15))
    assert len(deciban.plots.forest(six, metric="eer").figure.axes) == 1


def test_more_than_four_pairs_have_a_panel_each():
    ten = comparison("ABCDE")
    first = deciban.plots.difference_curve(ten, curves=["act_error"])
    panels = first.figure.axes
    assert [one.get_title(loc="left") for one in panels] == list(map(str, ten.pairs))
    for panel, pair in zip(panels, ten.pairs, strict=True):
        (curve,) = [one for one in pair.curves if one.curve == "act_error"]
        (line,) = [one for one in panel.lines if len(one.get_xdata()) == len(curve.log_odds)]
        assert np.asarray(line.get_ydata()) == pytest.approx(curve.difference)
        (band,) = [one for one in panel.collections if isinstance(one, PolyCollection)]
        assert np.isin(np.round(curve.high, 9), np.round(band.get_paths()[0].vertices[:, 1], 9)).all()
    (legend,) = first.figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["actual", "95 % band over all priors"]
    two = comparison("ABC", against="first")
    assert len(deciban.plots.difference_curve(two).figure.axes) == 1


@pytest.mark.parametrize("names", ["AB", "ABCDE"])
def test_large_differences_are_in_sight(names):
    """Systems that lie 0.9 apart over most priors, where plots used to end at 0.6."""
    rng = np.random.default_rng(0)
    made = {"A": (40.0, 1.0)} | dict.fromkeys("BCDE", (0.05, 1.0))
    unit = np.repeat(np.arange(40), 5)
    pairs = [[side * made[k][0] + rng.normal(size=200) for side in (1, -1)] for k in names]
    found = deciban.compare(*map(tuple, pairs), names=list(names), tar_units=unit, non_units=unit)
    ax = deciban.plots.difference_curve(found)
    assert (
        ax.get_ylim()[1] > max(np.median(np.abs(one.difference)) for pair in found.pairs for one in pair.curves) > 0.6
    )


def test_of_long_names_the_sign_between_them_is_seen():
    names = [f"system of team {'x' * 60} {k}" for k in range(2)]
    found = dataclasses.replace(comparison("AB").pairs[0], names=tuple(names))
    first, sign, second = pair_label(found).partition(" \N{MINUS SIGN} ")
    assert sign
    assert max(len(first), len(second)) <= 13
    assert (first[-1], second[-1]) == ("0", "1")
