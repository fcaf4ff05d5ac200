import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban import load_model, metrics
from deciban.calibration import (
    AffineCalibrator,
    BoundCalibrator,
    Chain,
    ElubCalibrator,
    PavCalibrator,
    ShiftCalibrator,
    elub_bounds,
)
from deciban.errors import DecibanWarning, FormatError, InputError
from support.labelled import labelled
from support.strategies import any_score, classes, coarse

ELUB = json.loads((Path(__file__).parents[1] / "golden" / "elub.json").read_text())
INF = math.inf


def bayes_error_ratio(tar, non, threshold, amount=1.0):
    """Normalized Bayes error rate with misleading llrs, as it is defined."""
    p_miss = (sum(score < threshold for score in tar) + amount) / (len(tar) + amount)
    p_fa = (sum(score >= threshold for score in non) + amount) / (len(non) + amount)
    return (p_miss + math.exp(threshold) * p_fa) / min(1.0, math.exp(threshold))


@pytest.mark.parametrize("case", ELUB["cases"], ids=lambda case: case["name"])
@pytest.mark.parametrize("amount", [1, 3])
def test_elub_agrees_with_lir_to_a_step_of_its_grid(case, amount):
    low, high = (bound / math.log(10) for bound in elub_bounds(case["tar"], case["non"], n_misleading=amount))
    grid_low, grid_high = case["log10_bounds"][str(amount)]
    step = ELUB["step_log10"]
    assert grid_low - step - 1e-9 <= low <= grid_low + 1e-9
    assert grid_high - 1e-9 <= high <= grid_high + step + 1e-9


@given(classes(st.one_of(coarse, st.floats(-9, 9).map(lambda x: round(x, 3)), st.sampled_from([INF, -INF])), 15))
def test_elub_encloses_the_thresholds_where_the_ratio_is_at_most_1(both):
    tar, non = both
    low, high = elub_bounds(tar, non)
    assert -math.log(len(tar) + 1) <= low <= 0.0 <= high <= math.log(len(non) + 1)
    for bound in (low, high):
        # Isolated thresholds, those of the scores themselves, do not count.
        inside = [bound * share for share in np.linspace(0.013, 0.987, 23)] if bound else []
        for threshold in set(inside) - {*tar, *non}:
            assert bayes_error_ratio(tar, non, threshold) <= 1.0 + 1e-12
    outer = sorted({abs(score) for score in (*tar, *non) if math.isfinite(score)})
    for bound, sign in ((low, -1.0), (high, 1.0)):
        beyond = min([score for score in outer if score > abs(bound)], default=abs(bound) + 1.0)
        just = sign * (abs(bound) + min(1e-6, (beyond - abs(bound)) / 2))
        assert bayes_error_ratio(tar, non, just) > 1.0


def test_elub_by_hand():
    # At t above 0 and up to 1, no target is missed and 1 of 3 non-targets is accepted: 1/5 + e^t 2/4 <= 1 to ln 1.6.
    low, high = elub_bounds([1.0, 2.0, 3.0, 4.0], [-2.0, -1.0, 1.5])
    assert high == pytest.approx(math.log(1.6), abs=1e-15)
    # Below 0: e^-t 1/5 + 2/4 <= 1 down to -ln 2.5, where non-targets are still rejected above -1.
    assert low == pytest.approx(-math.log(2.5), abs=1e-15)


@given(classes(coarse))
def test_elub_of_exchanged_classes(both):
    tar, non = (np.array(one) for one in both)
    low, high = elub_bounds(tar, non)
    assert elub_bounds(-non, -tar) == (-high, -low)


@given(classes(any_score), st.lists(st.integers(1, 4), min_size=24, max_size=24))
def test_elub_whole_weights_count_like_copies(both, copies):
    tar, non = (np.array(one) for one in both)
    tar_copies, non_copies = copies[: len(tar)], copies[12 : 12 + len(non)]
    weighted = elub_bounds(tar, non, tar_weights=tar_copies, non_weights=non_copies)
    assert weighted == elub_bounds(np.repeat(tar, tar_copies), np.repeat(non, non_copies))


def test_elub_of_infinite_llrs_is_finite():
    low, high = elub_bounds([INF] * 9, [-INF] * 99)
    assert high == pytest.approx(math.log(9 / 10 * 100), abs=1e-14)
    assert low == pytest.approx(-math.log(99 / 100 * 10), abs=1e-14)


def test_elub_of_useless_llrs():
    assert elub_bounds([0.0, 0.0], [0.0, 0.0]) == (0.0, 0.0)
    with pytest.warns(DecibanWarning, match="lower and the upper bound is 0"):
        calibrator = ElubCalibrator().fit(*labelled([-3.0, -2.0], [2.0, 3.0]))
    np.testing.assert_array_equal(calibrator.transform([-INF, 2.0]), [0.0, 0.0])


@given(classes(any_score))
def test_elub_calibrator_clips_to_its_bounds(both):
    scores, is_target = labelled(*both)
    low, high = elub_bounds(*both)
    if low == 0.0 or high == 0.0:
        with pytest.warns(DecibanWarning):
            calibrator = ElubCalibrator().fit(scores, is_target)
    else:
        calibrator = ElubCalibrator().fit(scores, is_target)
    llr = calibrator.transform(scores)
    expected = [min(max(score, low), high) for score in scores]
    np.testing.assert_array_equal(llr, expected)
    cost = metrics.cllr(llr[is_target], llr[~is_target])
    assert calibrator.training_.results["objective_relative_to_llr_0"] == pytest.approx(cost, rel=1e-12)


@pytest.mark.parametrize("amount", [0.5, -1.0, math.nan, INF])
def test_elub_refuses_less_than_one_misleading_llr(amount):
    with pytest.raises(InputError, match="n_misleading"):
        elub_bounds([1.0], [0.0], n_misleading=amount)
    with pytest.raises(InputError, match="n_misleading"):
        ElubCalibrator(n_misleading=amount)


@given(st.lists(any_score, min_size=1), st.sampled_from([(None, 1.5), (-2.0, None), (-2.0, 1.5), (0.5, 0.5)]))
def test_fixed_bounds(scores, bounds):
    low, high = bounds
    expected = [min(max(score, -INF if low is None else low), INF if high is None else high) for score in scores]
    np.testing.assert_array_equal(BoundCalibrator(low=low, high=high).transform(scores), expected)


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [(None, None, "at least one"), (1.0, -1.0, "above"), (-INF, None, "low"), (None, math.nan, "high")],
)
def test_fixed_bounds_out_of_range(low, high, words):
    with pytest.raises(InputError, match=words):
        BoundCalibrator(low=low, high=high)


def test_fixed_bounds_tell_what_they_did():
    calibrator = BoundCalibrator(low=-1.0, high=2.0).fit([3.0, 1.0, -4.0, -0.5], [True, True, False, False])
    told = calibrator.training_.results
    assert told["status"] == "of 4 llrs, 1 were below the lower bound and 1 above the upper bound"
    assert told["objective_relative_to_llr_0"] == pytest.approx(metrics.cllr([2.0, 1.0], [-1.0, -0.5]), rel=1e-14)


@pytest.mark.parametrize(
    "calibrator", [BoundCalibrator(low=-1.25), ElubCalibrator(n_misleading=2.0)], ids=lambda one: one.kind
)
def test_files(tmp_path, calibrator):
    rng = np.random.default_rng(5)
    scores, is_target = labelled(rng.normal(2, 2, 60), rng.normal(-2, 2, 60))
    calibrator.fit(scores, is_target).save(tmp_path / "model.json")
    loaded = load_model(tmp_path / "model.json")
    assert repr(loaded) == repr(calibrator)
    np.testing.assert_array_equal(loaded.transform(scores), calibrator.transform(scores))


def test_a_chain_is_one_step_after_the_other(tmp_path):
    rng = np.random.default_rng(6)
    scores, is_target = labelled(rng.normal(2, 1, 80), rng.normal(0, 1, 120))
    chain = Chain(AffineCalibrator(), ElubCalibrator())
    llr = chain.fit_transform(scores, is_target)
    affine = AffineCalibrator().fit_transform(scores, is_target)
    low, high = elub_bounds(affine[is_target], affine[~is_target])
    np.testing.assert_array_equal(llr, np.clip(affine, low, high))
    chain.save(tmp_path / "model.json")
    loaded = load_model(tmp_path / "model.json")
    assert repr(loaded) == repr(chain)
    assert [step.training_ for step in loaded.steps] == [step.training_ for step in chain.steps]
    np.testing.assert_array_equal(loaded.transform(scores), llr)


def test_a_chain_passes_weights_and_infinite_numbers_on(tmp_path):
    scores, is_target = labelled([1.0, 2.0, 3.0], [0.0, 1.5, -1.0])
    weight = [1.0, 2.0, 0.5, 3.0, 1.0, 1.0]
    chain = Chain(PavCalibrator(interpolation="step"), BoundCalibrator(low=-4.0)).fit(
        scores, is_target, sample_weight=weight
    )
    expected = PavCalibrator(interpolation="step").fit_transform(scores, is_target, sample_weight=weight)
    np.testing.assert_array_equal(chain.transform(scores), np.maximum(expected, -4.0))
    chain.save(tmp_path / "model.json")
    np.testing.assert_array_equal(load_model(tmp_path / "model.json").transform(scores), np.maximum(expected, -4.0))


def test_a_chain_of_the_wrong_things():
    with pytest.raises(InputError, match="A step is a calibrator"):
        Chain("affine")
    with pytest.raises(InputError, match="separate arguments"):
        Chain(Chain(AffineCalibrator()))
    with pytest.raises(InputError, match="at least one"):
        Chain().fit([1.0, 0.0], [True, False])
    with pytest.raises(InputError, match="not trained"):
        Chain(AffineCalibrator(), BoundCalibrator(low=0.0)).transform([1.0])


def test_a_damaged_chain(tmp_path):
    path = tmp_path / "model.json"
    Chain(BoundCalibrator(low=-1.0), BoundCalibrator(high=1.0)).fit([2.0, 0.0], [True, False]).save(path)
    content = json.loads(path.read_text())
    for steps in ([], ["affine"], [content], [{**content["parameters"]["steps"][0], "kind": "os"}], {"a": 1}):
        path.write_text(json.dumps({**content, "parameters": {"steps": steps}}))
        with pytest.raises(FormatError, match=r"model\.json"):
            load_model(path)


def test_intervals_of_a_bounded_map_contain_those_of_the_map_within_the_bounds(tmp_path):
    """The bounds of replicates cut their llrs, so that the jackknife alone hides how much the map varies."""
    rng = np.random.default_rng(5)
    units = np.arange(40).repeat(3)
    tar = rng.normal(4, 2, 120) + np.where(units < 2, -6, 0)
    scores, is_target = np.append(tar, rng.normal(-4, 2, 2000)), np.arange(2120) < 120
    of_trials = np.append(units, rng.integers(0, 40, 2000))
    alone = AffineCalibrator().fit(scores, is_target, units=of_trials)
    chain = Chain(AffineCalibrator(), ElubCalibrator()).fit(scores, is_target, units=of_trials)
    chain.save(tmp_path / "m.json")
    for model in (chain, load_model(tmp_path / "m.json")):
        own, whole = alone.interval([1.5, 3.0]), model.interval([1.5, 3.0])
        elub = model.steps[1]
        assert (whole[0] <= elub.transform(own[0])).all()
        assert (whole[1] >= elub.transform(own[1])).all()
    before = chain.interval([1.5])
    with pytest.raises(InputError):
        chain.fit(np.append(tar + 99, scores[120:]), is_target)  # separated: no finite map
    assert chain.interval([1.5]) == before
    assert chain.fit(scores, is_target).steps[0].uncertainty_ is None


def test_a_decreasing_step_exchanges_the_ends_of_intervals():
    rng = np.random.default_rng(6)
    scores, is_target = -np.append(rng.normal(1, 1, 60), rng.normal(-1, 1, 90)), np.arange(150) < 60
    chain = Chain(ShiftCalibrator(), AffineCalibrator())
    with pytest.warns(DecibanWarning, match="higher scores favour non-targets"):
        chain.fit(scores, is_target, units=np.arange(150) % 30)
    first, second = chain.steps
    ends = [second.transform(end) for end in first.interval([0.0, 2.0])]
    low, high = chain.interval([0.0, 2.0])
    assert (low <= np.minimum(*ends)).all()
    assert (high >= np.maximum(*ends)).all()
