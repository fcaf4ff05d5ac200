"""Calibration by a straight line: what users pass, what they get, what they are told."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban import metrics
from deciban.calibration import AffineCalibrator, ScaleCalibrator, ShiftCalibrator
from deciban.errors import DecibanWarning, InputError
from support.strategies import coarse

SCORES = [3.0, 1.0, 2.0, -1.0, 1.5, 0.0]
IS_TARGET = [True, True, True, False, False, False]
CALIBRATORS = [AffineCalibrator, ShiftCalibrator, ScaleCalibrator]


def llrs_of(scores, is_target, calibrator):
    llr = calibrator.transform(scores)
    return llr[np.asarray(is_target, bool)], llr[~np.asarray(is_target, bool)]


@pytest.mark.parametrize("dtype", [bool, int, np.uint8, float, object])
def test_labels_may_be_booleans_or_0_and_1(dtype):
    labels = np.array(IS_TARGET, dtype)
    plain = AffineCalibrator().fit(SCORES, IS_TARGET)
    assert AffineCalibrator().fit(SCORES, labels).scale_ == plain.scale_


@pytest.mark.parametrize(
    ("scores", "labels", "words"),
    [
        (SCORES, ["tar"] * 6, "is_target: expected booleans, got"),
        (SCORES, [1, 1, 1, 2, 2, 2], "got int64 2 at index 3|expected booleans or 0 and 1"),
        (SCORES, [1, -1, 1, 0, 0, 0], "index 1"),
        (SCORES, IS_TARGET[:5], "5 labels for 6 trials"),
        (SCORES, [True] * 6, "none of the 6 trials is a non-target"),
        (SCORES, [False] * 6, "none of the 6 trials is a target"),
        ([*SCORES[:5], np.nan], IS_TARGET, "1 of 6 scores are NaN, the first at index 5"),
        ([], [], "scores: empty"),
        ([[1.0, 2.0]], [True], "one-dimensional"),
        ([7.0] * 6, IS_TARGET, "all 6 are 7"),
    ],
)
@pytest.mark.parametrize("kind", CALIBRATORS)
def test_what_cannot_be_trained_on_is_refused(kind, scores, labels, words):
    if kind is ShiftCalibrator and scores == [7.0] * 6:
        kind().fit(scores, labels)  # an offset can still be right for scores that are all the same
        return
    with pytest.raises(InputError, match=words):
        kind().fit(scores, labels)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"p_target": 0.0}, "p_target"),
        ({"p_target": 1.0}, "p_target"),
        ({"p_target": [0.1, 0.2]}, "p_target: expected one prior, got 2"),
        ({"alpha": 0.0}, "alpha"),
        ({"beta": 101.0}, "beta"),
        ({"ridge": -1.0}, "ridge"),
        ({"ridge": np.nan}, "ridge"),
    ],
)
def test_settings_are_checked_when_given_and_when_used(settings, words):
    with pytest.raises(InputError, match=words):
        AffineCalibrator(**settings)
    changed = AffineCalibrator()
    for name, value in settings.items():
        setattr(changed, name, value)
    with pytest.raises(InputError, match=words):
        changed.fit(SCORES, IS_TARGET)


@pytest.mark.parametrize("kind", CALIBRATORS)
def test_it_cannot_be_used_before_it_is_trained(kind):
    with pytest.raises(InputError, match="not trained yet"):
        kind().transform([1.0])
    with pytest.raises(InputError, match="not trained yet"):
        kind().save("never-written.json")


def test_scores_that_favour_non_targets_get_a_negative_scale_and_a_warning():
    with pytest.warns(DecibanWarning, match="correct them; do not negate the scores"):
        calibrator = AffineCalibrator().fit([-s for s in SCORES], IS_TARGET)
    assert calibrator.scale_ == pytest.approx(-AffineCalibrator().fit(SCORES, IS_TARGET).scale_, rel=1e-9)


def test_the_record_says_how_training_went():
    results = AffineCalibrator(p_target=0.3).fit(SCORES, IS_TARGET).training_.results
    zero = metrics.cross_entropy([0.0], [0.0], p_target=0.3)
    assert results["objective_relative_to_llr_0"] == pytest.approx(results["objective"] / zero)
    assert results["gradient_norm"] < 1e-7
    assert "converged" in results["status"]


@given(
    st.lists(coarse, min_size=2, max_size=15),
    st.lists(coarse, min_size=2, max_size=15),
    st.sampled_from([0.5, 0.1, 0.9]),
    st.sampled_from([(1.0, 1.0), (0.5, 0.5), (0.7, 1.0)]),
)
def test_of_nested_maps_the_larger_one_is_never_worse(tar, non, prior, rule):
    """Shift and scale are special cases of the straight line, and llr 0 one of the scale (convex rules)."""
    scores, is_target = np.array(tar + non), np.arange(len(tar) + len(non)) < len(tar)
    settings = {"p_target": prior, "alpha": rule[0], "beta": rule[1]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DecibanWarning)  # of negative scales
        try:
            affine, shift, scale = (kind(**settings).fit(scores, is_target) for kind in CALIBRATORS)
        except InputError:
            return  # separated, or constant
    for calibrator in (affine, scale, shift):
        cost = metrics.scoring_rule_cost(*llrs_of(scores, is_target, calibrator), **settings)
        assert calibrator.objective_ == pytest.approx(cost, rel=1e-11)
    zero = metrics.scoring_rule_cost([0.0], [0.0], **settings)
    assert affine.objective_ <= min(scale.objective_, shift.objective_) * (1 + 1e-9)
    assert scale.objective_ <= zero * (1 + 1e-9)


def test_shift_and_scale_keep_what_they_promise():
    shift, scale = ShiftCalibrator().fit(SCORES, IS_TARGET), ScaleCalibrator().fit(SCORES, IS_TARGET)
    assert shift.scale_ == 1.0
    assert scale.offset_ == 0.0
    for calibrator, d in ((shift, (0.0, 1e-3)), (scale, (1e-3, 0.0))):
        for sign in (1, -1):
            llr = (calibrator.scale_ + sign * d[0]) * np.array(SCORES) + calibrator.offset_ + sign * d[1]
            assert metrics.cllr(llr[:3], llr[3:]) > metrics.cllr(*llrs_of(SCORES, IS_TARGET, calibrator))


def test_infinite_scores_stay_infinite():
    calibrator = AffineCalibrator().fit(SCORES, IS_TARGET)
    np.testing.assert_array_equal(calibrator.transform([np.inf, -np.inf]), [np.inf, -np.inf])


def test_the_fingerprint_tells_data_apart_but_not_their_order():
    def mark(scores, is_target, **more):
        return AffineCalibrator().fit(scores, is_target, **more).training_.fingerprint

    plain = mark(SCORES, IS_TARGET)
    assert mark(SCORES[::-1], IS_TARGET[::-1]) == plain
    assert mark(np.float32(SCORES), IS_TARGET) == plain
    assert mark([3.0000000000000004, *SCORES[1:]], IS_TARGET) != plain
    assert mark(SCORES, IS_TARGET, sample_weight=[1, 1, 1, 1, 1, 2]) != plain
    assert mark([3.0, 1.0, 2.0, 1.5, -1.0, 0.0], [True, True, False, True, False, False]) != plain


@pytest.mark.parametrize("kind", [AffineCalibrator, ScaleCalibrator])
def test_infinite_scores_are_refused_where_larger_ones_favour_non_target(kind):
    scores, is_target = [np.inf, -1.0, -2.0, 0.5, 1.0, 2.0, -0.5], [True, True, True, True, False, False, False]
    with pytest.raises(InputError, match="the best weight of system 0 is -.*Negate the scores"):
        kind().fit(scores, is_target)


def test_scores_that_tell_nothing_get_scale_0_and_a_warning():
    with pytest.warns(DecibanWarning, match="scale is 0: the scores do not separate targets from non-targets"):
        calibrator = AffineCalibrator().fit([0.0, 1.0, 0.0, 1.0], [True, True, False, False])
    np.testing.assert_array_equal(calibrator.transform([-5.0, np.inf]), [0.0, 0.0])


@pytest.mark.parametrize(("sign", "side"), [(1.0, "below"), (-1.0, "above")])
def test_separated_classes_are_described_by_their_order(sign, side):
    """Distances are separated the other way round."""
    scores = sign * np.array([3.0, 2.5, 1.0, 0.5, 0.0])
    with pytest.raises(InputError, match=f"no target has a score {side} a non-target"):
        AffineCalibrator().fit(scores, [1, 1, 0, 0, 0])
