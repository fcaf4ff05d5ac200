"""Plots over the prior."""

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from deciban import plots
from deciban.evaluation import evaluate
from support.evaluated import gaussian


def named(ax, label):
    (found,) = [line for line in ax.lines if line.get_label() == label]
    return found


def of_style(ax, linestyle):
    return [line for line in ax.lines if line.get_linestyle() == linestyle and len(line.get_xdata()) > 0]


def test_bayes_error_draws_both_curves(system, drawn):
    ax = drawn["bayes_error"]
    actual, (least,) = named(ax, "sysA"), of_style(ax, "--")
    np.testing.assert_array_equal(actual.get_xdata(), system.curves.prior_log_odds)
    np.testing.assert_array_equal(actual.get_ydata(), system.curves.act_error)
    np.testing.assert_array_equal(least.get_ydata(), system.curves.min_error)
    assert ax.get_ylim()[1] == 1.4
    (default,) = of_style(ax, ":")
    assert default.get_ydata() == [1.0, 1.0]


def test_bayes_error_marks_scarce_errors_on_the_minimum(system, drawn):
    ax = drawn["bayes_error"]
    drawn = [line for line in ax.lines if line.get_marker() in {"<", ">"} and len(line.get_xdata())]
    marks = {line.get_marker(): line.get_xydata() for line in drawn}
    assert set(marks) == {"<", ">"}
    for marker, at in zip("<>", system.dr30, strict=True):
        ((x, y),) = marks[marker]
        assert x == at
        assert y == pytest.approx(np.interp(at, system.curves.prior_log_odds, system.curves.min_error))
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert "< 30 false alarms to the left" in texts
    assert "< 30 misses to the right" in texts


def test_no_marks_where_errors_are_scarce_everywhere():
    ax = plots.bayes_error(evaluate([1.0], [0.0]))
    assert not [line for line in ax.lines if line.get_marker() in {"<", ">"}]


@pytest.mark.parametrize("kind", ["bayes_error", "ape", "ece"])
def test_operating_points_and_priors_are_marked(kind, system, drawn):
    ax = drawn[kind]
    lines = [line.get_xdata()[0] for line in of_style(ax, "-.")]
    assert lines == sorted(-point.threshold for point in system.operating_points)
    (top,) = ax.child_axes
    assert top.get_xlabel() == "Prior probability of a target"
    ticks = dict(zip((label.get_text() for label in top.get_xticklabels()), top.get_xticks(), strict=True))
    assert set(ticks) == {"0.5", "0.1", "0.01", "0.001", "0.9", "0.99", "0.999"}
    assert ticks["0.5"] == 0.0
    assert ticks["0.01"] == pytest.approx(math.log(0.01))
    assert ax.get_xlim() == (-7.0, 7.0)


@pytest.mark.parametrize(("p_target", "n_ticks"), [(1e-6, 5), (1e-300, 5)])
def test_few_priors_are_written_on_a_wide_axis(p_target, n_ticks):
    ax = plots.bayes_error(evaluate([1.0, 3.0], [0.0, 2.0], operating_points=[p_target]))
    (top,) = ax.child_axes
    ax.figure.draw_without_rendering()
    assert len(top.get_xticks()) == n_ticks
    boxes = sorted((label.get_window_extent() for label in top.get_xticklabels()), key=lambda box: box.x0)
    assert all(left.x1 < right.x0 for left, right in pairwise(boxes))


def test_ape_is_not_normalized(system, drawn):
    ax = drawn["ape"]
    log_odds = system.curves.prior_log_odds
    default = np.minimum(1 / (1 + np.exp(-log_odds)), 1 / (1 + np.exp(log_odds)))
    np.testing.assert_allclose(named(ax, "sysA").get_ydata(), system.curves.act_error * default)
    (least,) = of_style(ax, "--")
    np.testing.assert_allclose(least.get_ydata(), system.curves.min_error * default)
    assert least.get_ydata().max() == pytest.approx(system.eer, rel=0.01)
    (reference,) = of_style(ax, ":")
    assert reference.get_ydata().max() == 0.5


def test_ece_draws_both_curves_and_the_entropy_of_the_prior(system, drawn):
    ax = drawn["ece"]
    actual, (after,), (reference,) = named(ax, "sysA"), of_style(ax, "--"), of_style(ax, ":")
    np.testing.assert_array_equal(actual.get_xdata(), system.curves.entropy_log_odds)
    np.testing.assert_array_equal(actual.get_ydata(), system.curves.act_cross_entropy)
    np.testing.assert_array_equal(after.get_ydata(), system.curves.min_cross_entropy)
    assert np.interp(0.0, *actual.get_data()) == pytest.approx(system.cllr)
    assert np.interp(0.0, *reference.get_data()) == pytest.approx(1.0)
    p = 0.1
    entropy = -p * math.log2(p) - (1 - p) * math.log2(1 - p)
    assert np.interp(math.log(p / (1 - p)), *reference.get_data()) == pytest.approx(entropy, rel=1e-4)


@pytest.mark.parametrize("kind", ["bayes_error", "ape", "ece"])
def test_curves_out_of_sight_are_told(kind):
    wrong = evaluate([-np.inf, -np.inf], [np.inf], name="wrong")
    ax = getattr(plots, kind)(wrong)
    assert ax.get_legend().get_texts()[0].get_text() == "wrong (actual: above the frame)"


@pytest.mark.parametrize(("d", "scale", "low", "high"), [(1, 1, 1.0, 1.2), (1, 9, 1.0, 1.31), (5, 1, 0.03, 0.1)])
def test_ece_shows_the_reference_or_what_lies_far_below(d, scale, low, high):
    assert low <= plots.ece(gaussian("x", d, scale=scale)).get_ylim()[1] <= high


def with_units(level=0.95):
    rng = np.random.default_rng(11)
    units = {"tar_units": np.arange(200) % 40, "non_units": rng.integers(0, 40, (600, 2)), "level": level}
    return evaluate(rng.normal(2, 2, 200), rng.normal(-2, 2, 600), **units)


DRAWN = [plots.bayes_error, plots.ape, plots.ece, plots.det, plots.roc, plots.pav, plots.tippett]


@pytest.mark.parametrize("draw", DRAWN)
def test_bands_are_shaded_and_told_once(draw):
    one = with_units()
    shaded = draw([one, replace(one, name="other")])
    labels = [text.get_text() for text in shaded.get_legend().get_texts()]
    assert labels.count("95 % band by unit") == 1
    assert len(shaded.collections) + len(shaded.patches) >= 2
    for bare in (draw(one, bands=False), draw(replace(one, uncertainty=None))):
        assert not any("band" in text.get_text() for text in bare.get_legend().get_texts())
        assert not len(bare.collections)
        assert not len(bare.patches)


def test_a_band_reaches_from_bound_to_bound():
    one = with_units(level=0.8)
    ax = plots.bayes_error(one)
    corners = np.concatenate([path.vertices for path in ax.collections[0].get_paths()])
    at = float(one.curves.prior_log_odds[280])
    found = corners[np.isclose(corners[:, 0], at, atol=1e-9), 1]
    cost = evaluate(*_again(), operating_points=[0.5], level=0.8, **_units()).interval("act_dcf")
    assert at == 0.0
    assert (found.min(), found.max()) == (pytest.approx(cost.low), pytest.approx(cost.high))


def _units():
    return {"tar_units": np.arange(200) % 40, "non_units": np.random.default_rng(11).integers(0, 40, (600, 2))}


def _again():
    rng = np.random.default_rng(11)
    rng.integers(0, 40, (600, 2))
    return rng.normal(2, 2, 200), rng.normal(-2, 2, 600)
