"""Threshold weightings of rules."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from deciban import plots
from deciban.calibration import rule_weighting
from deciban.errors import InputError


def weighting(alpha, beta, p_target=0.01, points=(0.01, (0.01, 10, 1))):
    return rule_weighting(alpha=alpha, beta=beta, p_target=p_target, operating_points=points)


def named(ax, label):
    (found,) = [line for line in ax.lines if line.get_label() == label]
    return found


def bars(ax):
    return [line for line in ax.lines if line.get_gid() == "central range"]


def test_curves_bars_and_thresholds():
    one, two = weighting(1, 1), weighting(2, 2)
    ax = plots.omega([one, two])
    for item in (one, two):
        line = named(ax, item.name)
        np.testing.assert_array_equal(line.get_xdata(), item.threshold)
        np.testing.assert_array_equal(line.get_ydata(), item.density)
    assert [tuple(bar.get_xdata()) for bar in bars(ax)] == [one.most, two.most]
    assert [bar.get_color() for bar in bars(ax)] == plots.system_colors(2)
    dashed = [line.get_xdata()[0] for line in ax.lines if line.get_linestyle() == "-." and len(line.get_xdata())]
    assert dashed == sorted(point.threshold for point in one.points)
    assert ax.get_xlim()[0] < one.most[0]
    assert two.most[1] < ax.get_xlim()[1]
    assert "nats" in ax.get_xlabel()
    assert "per nat" in ax.get_ylabel()
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert texts == ["(1, 1) at prior 0.01", "(2, 2) at prior 0.01", "90 % of the weight", "operating point"]


def test_priors_are_written_where_their_thresholds_are():
    ax = plots.omega(weighting(1, 1))
    (top,) = ax.child_axes
    ticks = dict(zip((label.get_text() for label in top.get_xticklabels()), top.get_xticks(), strict=True))
    assert ticks["0.01"] == pytest.approx(np.log(100), abs=0.02)
    assert ticks["0.5"] == 0.0


def test_bars_stand_below_the_curves_and_apart_also_when_added_later():
    figure = Figure(figsize=(9, 4), layout="constrained")
    ax = figure.subplots()
    plots.omega(weighting(100, 100), ax)
    plots.omega([weighting(1, 1), weighting(2, 2)], ax, lw=3)
    heights = [bar.get_ydata()[0] for bar in bars(ax)]
    assert heights == sorted(heights, reverse=True)
    assert len(set(heights)) == 3
    low, high = ax.get_ylim()
    assert max(heights) < -low / (high - low)
    assert high < 1.1 * weighting(100, 100).density.max()
    assert named(ax, "(2, 2) at prior 0.01").get_linewidth() == 3
    figure.draw_without_rendering()
    assert not any(label.get_text().startswith("\N{MINUS SIGN}") for label in ax.get_yticklabels())


def test_extremes_are_drawn_within_reason():
    wide = [weighting(0.05, 0.05, 0.5), weighting(100, 0.05, 1e-12), weighting(0.05, 100, 1 - 1e-12, points=[1e-300])]
    ax = plots.omega(wide)
    low, high = ax.get_xlim()
    assert -40 < low < min(one.mode for one in wide)
    assert max(one.mode for one in wide) < high < 40
    ax.figure.draw_without_rendering()


@pytest.mark.parametrize(("nothing", "message"), [([], "none given"), ([1.0], "expected RuleWeightings, got float")])
def test_what_is_no_weighting_is_refused(nothing, message):
    with pytest.raises(InputError, match=message):
        plots.omega(nothing)
