"""DET and ROC."""

from itertools import pairwise

import numpy as np
import pytest

from deciban import plots
from deciban.evaluation import evaluate
from support.evaluated import gaussian


def line(ax, label):
    (found,) = [line for line in ax.lines if line.get_label() == label]
    return found


def dashed(ax):
    (found,) = [line for line in ax.lines if line.get_linestyle() == "--" and len(line.get_xdata()) > 0]
    return found


def markers(ax, marker):
    return [line.get_xydata()[0].tolist() for line in ax.lines if line.get_marker() == marker and len(line.get_xdata())]


@pytest.mark.parametrize("kind", ["det", "roc"])
def test_curve_markers_and_hull_are_those_of_the_evaluation(kind, system, drawn):
    ax = drawn[kind]
    curves, points = system.curves, system.operating_points
    np.testing.assert_array_equal(line(ax, "sysA").get_xdata(), curves.roc_p_fa)
    np.testing.assert_array_equal(line(ax, "sysA").get_ydata(), curves.roc_p_miss)
    hull = set(map(tuple, dashed(ax).get_xydata()))
    assert set(zip(curves.hull_p_fa, curves.hull_p_miss, strict=True)) <= hull
    assert markers(ax, "*") == [[system.eer, system.eer]]
    assert markers(ax, "o") == [[points[0].p_fa, points[0].p_miss]]
    assert markers(ax, "s") == [[points[1].p_fa, points[1].p_miss]]
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert texts[:3] == ["sysA", "convex hull (ROCCH)", texts[2]]
    assert texts[-3:] == ["EER", "actual, p_target 0.2", "actual, p_target 0.01, costs 10:1"]


def test_roc_hull_is_drawn_with_straight_edges(system, drawn):
    hull = dashed(drawn["roc"])
    np.testing.assert_array_equal(hull.get_xdata(), system.curves.hull_p_fa)


def test_det_hull_passes_through_the_eer():
    result = evaluate([1.0, 2.0], [0.0, 1.5])
    x, y = dashed(plots.det(result)).get_data()
    nearest = np.argmin(np.hypot(x - result.eer, y - result.eer))
    assert abs(x[nearest] - result.eer) < 0.005
    assert abs(y[nearest] - result.eer) < 0.005


def test_det_draws_ties_as_the_area_counts_them():
    """All scores equal: accept-all to reject-all in one straight edge, p_miss = 1 - p_fa."""
    x, y = line(plots.det(evaluate([1.0, 1.0], [1.0])), "system").get_data()
    assert len(x) > 100
    np.testing.assert_allclose(y, 1 - x, atol=1e-15)


def test_det_limits_hold_the_curve(system, drawn):
    ax = drawn["det"]
    (x_low, x_high), (y_low, y_high) = ax.get_xlim(), ax.get_ylim()
    assert x_low < 1 / 2000 < x_high <= 0.99
    assert y_low < 1 / 400 < y_high <= 0.99
    assert x_low >= 1e-6
    assert x_low < system.eer < x_high


def test_det_limits_leave_room_around_the_eer():
    ax = plots.det(evaluate([1.0, 2.0], [0.0, 1.5], operating_points=[0.5]))
    assert ax.get_xlim()[1] > 0.75
    assert ax.get_ylim()[1] > 0.75


def test_det_marks_thirty_errors(system, drawn):
    ax = drawn["det"]
    dotted = {tuple(line.get_xydata()[0]) for line in ax.lines if line.get_linestyle() == ":" and len(line.get_xdata())}
    assert dotted == {(30 / 2000, 0.0), (0.0, 30 / 400)}
    sizes = [system, gaussian("other", n_tar=500, n_non=3000)]
    ax = plots.det(sizes)
    colors = [line.get_color() for line in ax.lines if line.get_linestyle() == ":" and len(line.get_xdata())]
    assert colors == [color for color in plots.system_colors(2) for _ in range(2)]


def test_det_stands_markers_at_the_edge():
    ax = plots.det(evaluate([1.0, 2.0, 0.2], [0.0, -1.0, 0.5], name="x"))
    assert markers(ax, "o") == [[ax.get_xlim()[0], ax.get_ylim()[1]]]


def test_det_without_errors_says_so():
    ax = plots.det(evaluate([2.0, 3.0], [0.0, 1.0], name="perfect"))
    assert ax.get_legend().get_texts()[0].get_text() == "perfect (no errors: outside the frame)"
    assert markers(ax, "*") == [[ax.get_xlim()[0], ax.get_ylim()[0]]]


def test_det_ticks_are_percentages_inside_the_limits(drawn):
    ax = drawn["det"]
    for axis, (low, high) in ((ax.xaxis, ax.get_xlim()), (ax.yaxis, ax.get_ylim())):
        places, labels = axis.get_ticklocs(), [label.get_text() for label in axis.get_ticklabels()]
        assert len(places) >= 5
        assert all(low <= place <= high for place in places)
        np.testing.assert_allclose([float(label) / 100 for label in labels], places)


def test_det_tick_labels_do_not_touch():
    ax = plots.det(gaussian("many", 2.5, n_tar=20000, n_non=200000))
    ax.figure.draw_without_rendering()
    boxes = sorted((label.get_window_extent() for label in ax.get_xticklabels()), key=lambda box: box.x0)
    assert all(left.x1 < right.x0 for left, right in pairwise(boxes))
    boxes = sorted((label.get_window_extent() for label in ax.get_yticklabels()), key=lambda box: box.y0)
    assert all(low.y1 < high.y0 + 2 for low, high in pairwise(boxes))


@pytest.mark.parametrize(("d", "limit"), [(0.5, 1.0), (2.0, 1.0), (4.0, 0.2)])
def test_roc_shows_the_corner_around_the_eer(d, limit):
    ax = plots.roc(gaussian("x", d))
    assert ax.get_xlim() == pytest.approx((-0.01 * limit, 1.01 * limit))
    assert ax.get_xlim() == ax.get_ylim()


def test_roc_without_errors_is_shown_whole():
    assert plots.roc(evaluate([1.0], [0.0])).get_xlim() == (-0.01, 1.01)
