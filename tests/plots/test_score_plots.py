"""Plots over scores."""

import math

import numpy as np
import pytest

from deciban import plots
from deciban.evaluation import evaluate


def named(ax, label):
    (found,) = [line for line in ax.lines if line.get_label() == label]
    return found


def dashed(ax):
    (found,) = [line for line in ax.lines if line.get_linestyle() == "--" and len(line.get_xdata()) > 0]
    return found


def marked(ax, marker):
    return [line.get_xydata().tolist() for line in ax.lines if line.get_marker() == marker and len(line.get_xdata())]


def test_histogram_draws_the_densities(system, drawn):
    ax = drawn["histogram"]
    curves = system.curves
    for line, density in ((named(ax, "sysA"), curves.tar_density), (dashed(ax), curves.non_density)):
        assert line.get_drawstyle() == "steps-post"
        np.testing.assert_array_equal(line.get_xdata()[1:], curves.bins)
        np.testing.assert_array_equal(line.get_ydata(), [0.0, *density, 0.0])
    assert ax.get_xlim()[0] < curves.bins[0]
    assert ax.get_ylim()[1] > max(curves.tar_density.max(), curves.non_density.max())


def test_one_system_is_filled_and_several_are_outlined(systems, drawn):
    assert len(drawn["histogram"].collections) == 2
    assert len(plots.histogram(systems).collections) == 0


def test_infinite_scores_are_counted():
    result = evaluate([np.inf, 1.0], [-np.inf, 0.0], name="x")
    assert named(plots.histogram(result), "x (2 infinite left out)").get_ydata().max() > 0
    assert named(plots.tippett(result), "x (2 infinite)").get_ydata()[0] == 1.0
    weighted = evaluate([np.inf, 1.0], [0.0], tar_weights=[0.25, 1.0], name="x")
    assert named(plots.histogram(weighted), "x (0.2 infinite left out)").get_ydata().max() > 0


def test_pav_draws_blocks_and_risers():
    result = evaluate([1.0, 3.0, 4.0, 7.0], [-2.0, 0.0, 2.0, 3.5])
    ax, blocks = plots.pav(result), result.curves.pav
    x, y = named(ax, "system").get_data()
    for low, high, llr in zip(blocks.low, blocks.high, blocks.llr, strict=True):
        level = float(np.clip(llr, *ax.get_ylim()))
        assert {(low, level), (high, level)} <= set(zip(x, y, strict=True))
    assert np.all((np.diff(x) == 0) | (np.diff(y) == 0))
    assert np.all(np.diff(x) >= 0)
    assert np.all(np.diff(y) >= 0)


def test_pav_marks_infinite_ratios_at_the_edge():
    ax = plots.pav(evaluate([1.0, 3.0], [-2.0, 2.0]))
    low, high = ax.get_ylim()
    assert marked(ax, "v") == [[[-2.0, low]]]
    assert marked(ax, "^") == [[[3.0, high]]]
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert texts == ["system", "infinite", "y = x (calibrated)", "Bayes threshold"]


def test_pav_shows_a_single_score_as_a_dot():
    ax = plots.pav(evaluate([1.0, 1.0], [1.0]))
    assert marked(ax, ".") == [[[1.0, 0.0]]]


def test_pav_shows_thresholds_within_its_limits(system, drawn):
    ax = drawn["pav"]
    thresholds = [line.get_ydata()[0] for line in ax.lines if line.get_linestyle() == "-." and len(line.get_xdata())]
    assert thresholds == sorted(point.threshold for point in system.operating_points)
    assert all(ax.get_ylim()[0] < threshold < ax.get_ylim()[1] for threshold in thresholds)


def test_tippett_draws_both_classes(system, drawn):
    ax = drawn["tippett"]
    curves = system.curves
    for line, above in ((named(ax, "sysA"), curves.tar_above), (dashed(ax), curves.non_above)):
        np.testing.assert_array_equal(line.get_xdata()[1:-2], curves.levels)
        np.testing.assert_array_equal(line.get_ydata()[1:-2], above)
        assert line.get_ydata()[0] == 1.0
        assert line.get_ydata()[-2:].tolist() == [0.0, 0.0]
    (zero,) = [line for line in ax.lines if line.get_linestyle() == ":" and len(line.get_xdata())]
    assert zero.get_xdata() == [0.0, 0.0]


def test_tippett_does_not_guess_what_lies_above_finite_scores():
    """One of two targets is infinite: right of the highest finite score the curve is not drawn to 0."""
    ax = plots.tippett(evaluate([1.0, math.inf], [0.0], name="x"))
    x, y = named(ax, "x (1 infinite)").get_data()
    assert (x[-1], y[-1]) == (1.0, 1.0)


@pytest.mark.parametrize("kind", ["tippett", "ape", "roc", "det"])
def test_rates_are_shown_in_percent(kind, drawn):
    ax = drawn[kind]
    ax.figure.draw_without_rendering()
    places = dict(zip((label.get_text() for label in ax.get_yticklabels()), ax.get_yticks(), strict=True))
    assert places["20"] == pytest.approx(0.2)
