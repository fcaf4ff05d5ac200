"""Pictures of where figures come from."""

import math

import numpy as np
import pytest

import deciban
from deciban import plots
from deciban.evaluation import evaluate
from support.evaluated import gaussian

TEACHING = pytest.mark.parametrize("kind", plots.TEACHING_KINDS)


def of_style(ax, linestyle):
    return [line for line in ax.lines if line.get_linestyle() == linestyle and len(line.get_xdata()) > 0]


def test_tangents_touch_the_hull_and_no_point_lies_below_them(system):
    ax = plots.rocch(system)
    ends = [line.get_xydata() for line in of_style(ax, ":")]
    assert len(ends) == len(system.operating_points)
    for ((_, height), (width, _)), point in zip(ends, system.operating_points, strict=True):
        assert height / width == pytest.approx(math.exp(point.threshold))
        above = system.curves.hull_p_fa / width + system.curves.hull_p_miss / height
        assert above.min() == pytest.approx(1.0)


def test_many_systems_have_no_tangents(systems):
    assert of_style(plots.rocch(systems), ":")
    many = plots.rocch([*systems, *systems])
    assert not of_style(many, ":")
    assert not any("cost" in text.get_text() for text in many.get_legend().get_texts())


def test_steps_and_hull_are_those_of_the_evaluation(system):
    ax = plots.rocch(system)
    (hull,) = of_style(ax, "--")
    np.testing.assert_array_equal(hull.get_xydata(), np.c_[system.curves.hull_p_fa, system.curves.hull_p_miss])
    np.testing.assert_array_equal(ax.lines[0].get_xydata(), np.c_[system.curves.roc_p_fa, system.curves.roc_p_miss])


def test_the_least_error_reaches_the_eer_and_never_exceeds_it(systems):
    ax = plots.minimum_cost(systems)
    for system, top in zip(systems, of_style(ax, "-."), strict=True):
        (curve,) = [line for line in ax.lines if line.get_label() == system.name]
        assert set(top.get_ydata()) == {system.eer}
        assert curve.get_ydata().max() == pytest.approx(system.eer, rel=0.01)
        assert curve.get_ydata().max() <= system.eer * (1 + 1e-12)


def test_precision_and_recall_are_those_of_the_metric_at_each_threshold():
    rng = np.random.default_rng(4)
    tar, non = np.round(rng.normal(1, 1, 40), 2), np.round(rng.normal(-1, 1, 90), 2)
    ax, found = plots.precision_recall(evaluate(tar, non, name="A")), deciban.metrics.precision_recall(tar, non)
    drawn = {(round(x, 9), round(y, 9)) for x, y in ax.lines[0].get_xydata().tolist()}
    pairs = [(round(x, 9), round(y, 9)) for x, y in zip(found.recall.tolist(), found.precision.tolist(), strict=True)]
    precision = np.concatenate(([0.0], found.precision, [0.0]))
    tops = (np.diff(precision)[:-1] > 0) & (np.diff(precision)[1:] < 0)
    assert {pair for pair, is_corner in zip(pairs, tops, strict=True) if is_corner} <= drawn
    assert tops.sum() > 5
    (share,) = {y for line in of_style(ax, ":") for y in line.get_ydata()}
    assert share == 40 / 130


def test_bars_are_parts_of_cllr(systems):
    ax = plots.cllr_bars(systems)
    for system, (low,), (loss,) in zip(systems, ax.containers[::2], ax.containers[1::2], strict=True):
        assert low.get_width() == system.min_cllr
        assert loss.get_x() == system.min_cllr
        assert loss.get_width() == pytest.approx(system.cllr - system.min_cllr)
        assert loss.get_hatch()
    assert [text.get_text() for text in ax.get_yticklabels()] == ["sysA", "sysB", "sysC"]


def test_an_infinite_cllr_is_written():
    ax = plots.cllr_bars(evaluate([1.0, -np.inf], [0.0, -1.0], name="sure and wrong"))
    assert "inf" in [text.get_text() for text in ax.texts]
    assert ax.get_xlim()[1] < 10


def test_bars_are_added_under_those_that_are_there(systems):
    ax = plots.cllr_bars(systems[0])
    plots.cllr_bars(systems[1], ax)
    assert [text.get_text() for text in ax.get_yticklabels()] == ["sysA", "sysB"]
    first, second = (ax.containers[i][0] for i in (0, 2))
    assert first.get_facecolor() != second.get_facecolor()
    assert first.get_y() < second.get_y()


def test_bands_of_the_least_error_are_shaded_where_units_are_known():
    rng = np.random.default_rng(11)
    units = {"tar_units": np.arange(80) % 20, "non_units": rng.integers(0, 20, (200, 2))}
    one = evaluate(rng.normal(2, 2, 80), rng.normal(-2, 2, 200), **units)
    assert len(plots.minimum_cost(one).collections) == 1
    assert not len(plots.minimum_cost(one, bands=False).collections)


@TEACHING
def test_odd_scores_and_six_systems_are_drawn(kind, degenerate):
    for one in degenerate:
        getattr(plots, kind)(one).figure.draw_without_rendering()
    six = [gaussian(f"system {i}") for i in range(6)]
    labels = [text.get_text() for text in getattr(plots, kind)(six).get_legend().get_texts()]
    assert len(labels) == len(set(labels))


def test_nothing_to_draw_is_refused():
    with pytest.raises(deciban.errors.InputError, match="no system"):
        plots.cllr_bars([])
