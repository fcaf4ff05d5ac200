"""Maps of calibrators, and systems before and after calibration."""

import dataclasses

import numpy as np
import pytest

from deciban import plots
from deciban.calibration import AffineCalibrator, BoundCalibrator, Chain, PavCalibrator
from deciban.errors import InputError
from deciban.evaluation import evaluate

RNG = np.random.default_rng(3)
TAR, NON = RNG.normal(3, 1, 150), RNG.gumbel(-0.5, 0.7, 600)
SCORES, TRUTH = np.append(TAR, NON), np.arange(750) < 150
RAW = evaluate(TAR, NON, name="raw", operating_points=[0.01, 0.3])
AFFINE = AffineCalibrator(p_target=0.1).fit(SCORES, TRUTH)
STEPS = PavCalibrator(interpolation="step").fit(SCORES, TRUTH)


def named(ax, label):
    (found,) = [line for line in ax.lines if line.get_label() == label]
    return found


def texts(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_maps_are_drawn_over_the_scores():
    ax = plots.calibration_map(RAW, {"affine": AFFINE, "steps": STEPS}, lw=3)
    x, y = named(ax, "affine").get_data()
    low, high = ax.get_ylim()
    height = high - low
    np.testing.assert_allclose(y, np.clip(AFFINE.scale_ * x + AFFINE.offset_, low - height, high + height), rtol=1e-12)
    assert (x[0], x[-1]) == ax.get_xlim()
    assert named(ax, "affine").get_linewidth() == 3
    assert texts(ax)[:3] == ["affine", "steps", "PAV on these trials"]
    assert named(ax, "affine").get_color() == plots.system_colors(1)[0]
    thresholds = [line.get_ydata()[0] for line in ax.lines if line.get_linestyle() == "-." and len(line.get_ydata())]
    assert thresholds == sorted(point.threshold for point in RAW.operating_points)


def test_without_trials_maps_are_drawn_over_what_they_know():
    far = PavCalibrator().fit(4 * SCORES, TRUTH)
    ax = plots.calibration_map(None, {"affine": AFFINE, "far": far})
    low, high = ax.get_xlim()
    assert (low, high) == (min(-8.0, far.low_.min()), max(8.0, far.high_.max()))
    x, y = named(ax, "far").get_data()
    assert set(far.low_) <= set(x)
    np.testing.assert_array_equal(y, np.clip(far.transform(x), -3 * ax.get_ylim()[1], 3 * ax.get_ylim()[1]))
    assert texts(ax) == ["affine", "far"]
    assert plots.calibration_map(None, AFFINE).get_xlim() == (-8.0, 8.0)


def test_steps_on_their_own_trials_are_the_reference():
    ax = plots.calibration_map(RAW, STEPS)
    x, y = named(ax, "PavCalibrator").get_data()
    blocks = RAW.curves.pav
    finite = np.isfinite(blocks.llr)
    for edge in (blocks.low, blocks.high):
        np.testing.assert_array_equal(y[np.searchsorted(x, edge[finite])], blocks.llr[finite])
    (reference,) = [line for line in ax.lines if line.get_color() == "0.55" and len(line.get_xdata()) > 1]
    assert set(blocks.llr[finite]) <= set(reference.get_ydata())


def test_several_evaluations_against_the_pav_reference():
    """Figure 3 of Bruemmer and Doddington 2013: llrs of two calibrators, horizontally, over the PAV llrs."""
    brier = AffineCalibrator(p_target=0.1, alpha=2, beta=2).fit(SCORES, TRUTH)
    after = [evaluate(c.transform(TAR), c.transform(NON), name=n) for n, c in (("log", AFFINE), ("Brier", brier))]
    ax = plots.pav(after)
    # Both are the same trials in the same order: the same steps, shifted and scaled along the horizontal axis.
    one, two = named(ax, "log"), named(ax, "Brier")
    np.testing.assert_allclose(one.get_ydata(), two.get_ydata(), rtol=1e-12)
    score = (one.get_xdata() - AFFINE.offset_) / AFFINE.scale_
    inside = np.abs(one.get_ydata()) < ax.get_ylim()[1]
    np.testing.assert_allclose(two.get_xdata()[inside], (brier.scale_ * score + brier.offset_)[inside], atol=1e-9)
    assert "y = x (calibrated)" in texts(ax)


def test_before_is_pale_and_after_as_ever():
    after = evaluate(AFFINE.transform(TAR), AFFINE.transform(NON), name="after")
    ax, plain = plots.bayes_error(after, before=RAW), plots.bayes_error(after)
    np.testing.assert_array_equal(named(ax, "after").get_ydata(), named(plain, "after").get_ydata())
    (pale,) = [line for line in ax.lines if line.get_alpha() and len(line.get_xdata())]
    np.testing.assert_array_equal(pale.get_ydata(), RAW.curves.act_error)
    assert pale.get_color() == named(ax, "after").get_color()
    assert pale.get_linewidth() < named(ax, "after").get_linewidth()
    assert "before calibration" in texts(ax)
    assert texts(after.plot.bayes_error(before=RAW)) == texts(ax)


def test_before_out_of_sight_is_told():
    reversed_ = evaluate([-np.inf, -np.inf], [np.inf], name="x")
    ax = plots.bayes_error(evaluate([1.0, 2.0], [0.0], name="x"), before=reversed_)
    assert "before calibration (1 above the frame)" in texts(ax)


@pytest.mark.parametrize("n", [0, 2])
def test_before_and_after_are_the_same_systems(n):
    with pytest.raises(InputError, match="no system to draw" if n == 0 else "before: 2 systems, but 1 after"):
        plots.bayes_error(RAW, before=[RAW] * n)


@pytest.mark.filterwarnings("ignore::deciban.errors.DecibanWarning")
def test_hostile_scores():
    for tar, non in (([1.0], [1.0]), ([np.inf, 2.0, -np.inf, 1e307], [-np.inf, 0.0, 1.0, -1e307]), ([5e-324], [0.0])):
        scores, truth = np.append(tar, non), np.arange(len(tar) + len(non)) < len(tar)
        calibrator = PavCalibrator(interpolation="step").fit(scores, truth)
        ax = plots.calibration_map(evaluate(tar, non), {"a $b$ _c": calibrator})
        ax.figure.draw_without_rendering()
        assert np.all(np.isfinite([*ax.get_xlim(), *ax.get_ylim()]))


def test_no_calibrator():
    with pytest.raises(InputError, match="none given"):
        plots.calibration_map(RAW, {})
    with pytest.raises(InputError, match="not trained yet"):
        plots.calibration_map(RAW, AffineCalibrator())


def bands(ax):
    return [one for one in ax.collections if one.get_gid() == "band"]


def test_bands_are_the_intervals_of_calibrators_that_know_their_units():
    sure = AffineCalibrator(p_target=0.1).fit(SCORES, TRUTH, units=np.arange(750) % 50)
    ax = plots.calibration_map(RAW, {"sure": sure, "plain": AFFINE}, level=0.8)
    (band,) = bands(ax)
    x, y = named(ax, "sure").get_data()
    low, high = sure.interval(x, level=0.8)
    ends = band.get_paths()[0].vertices
    middle = len(x) // 2
    at = ends[np.isclose(ends[:, 0], x[middle])]
    np.testing.assert_allclose(sorted(at[:, 1]), [low[middle], high[middle]], rtol=1e-9)
    assert low[middle] < y[middle] < high[middle]
    assert "80 % interval" in texts(ax)
    assert not bands(plots.calibration_map(RAW, {"sure": sure}, level=None))
    assert not bands(plots.calibration_map(RAW, {"plain": AFFINE}))


def test_a_chain_is_called_by_its_steps_and_its_bounds_are_in_the_frame():
    rng = np.random.default_rng(1)
    scores, is_target = np.append(rng.normal(2, 1, 50), rng.normal(-2, 1, 200)), np.arange(250) < 50
    chain = Chain(AffineCalibrator(), BoundCalibrator(low=-2.0, high=3.0)).fit(scores, is_target)
    ax = plots.calibration_map(evaluate(scores[:50], scores[50:]), {chain.kind: chain})
    assert ax.get_legend().get_texts()[0].get_text() == "affine, bound"
    low, high = ax.get_ylim()
    assert low < -2.0 < 3.0 < high
    in_log10 = dataclasses.replace(evaluate(scores[:50], scores[50:]), axis="log10")
    assert plots.calibration_map(in_log10, chain).get_ylabel() == "log10 likelihood ratio"
