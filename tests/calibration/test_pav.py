import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban import load_model, metrics
from deciban.calibration import PavCalibrator
from deciban.errors import DecibanWarning, FormatError, InputError
from support.labelled import fitted as trained
from support.labelled import labelled
from support.naive import pav_blocks
from support.strategies import any_score, classes, coarse

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "binary.json").read_text())["binary"]
INF = math.inf
LARGEST = float(np.finfo(np.float64).max)
MODES = ("step", "linear")
extreme = st.one_of(
    any_score, st.floats(allow_nan=False), st.sampled_from([LARGEST, -LARGEST, 5e-324, -5e-324, 1e-323])
)


def fitted(tar, non, *, weight=None, **settings):
    return trained(PavCalibrator(**settings), tar, non, weight)


def with_blocks(low, high, llr, **settings):
    calibrator = PavCalibrator(**settings)
    calibrator.set_parameters({"low": low, "high": high, "llr": llr})
    return calibrator


def block_llrs(scores, blocks):
    """By looking for the block of each score."""
    found = []
    for score in scores:
        (inside,) = [k for k in range(len(blocks.llr)) if blocks.low[k] <= score <= blocks.high[k]]
        found.append(blocks.llr[inside])
    return np.array(found)


@pytest.mark.parametrize("name", [name for name, case in GOLDEN.items() if "pav_bins" in case["expect"]])
@pytest.mark.parametrize("mode", MODES)
def test_blocks_of_other_programs(name, mode):
    tar, non = (np.array([float(score) for score in GOLDEN[name][side]]) for side in ("tar", "non"))
    calibrator = fitted(tar, non, interpolation=mode)
    for n_tar, _, low, high, llr in GOLDEN[name]["expect"]["pav_bins"]:
        inside = [score for score in tar if float(low) <= score <= float(high)]
        assert len(inside) == n_tar
        ends = calibrator.transform([float(low), *inside, float(high)])
        np.testing.assert_allclose(ends, float(llr), rtol=0, atol=1e-12)


@given(classes(extreme), st.sampled_from(MODES))
def test_own_training_data_get_the_pav_llrs_bit_for_bit(both, mode):
    scores = np.concatenate(both)
    calibrator = fitted(*both, interpolation=mode)
    np.testing.assert_array_equal(calibrator.transform(scores), block_llrs(scores, metrics.pav(*both)))


@given(classes(coarse), st.sampled_from(MODES), st.data())
def test_own_weighted_training_data_get_the_pav_llrs_bit_for_bit(both, mode, data):
    n_tar, n = len(both[0]), len(both[0]) + len(both[1])
    weight = data.draw(st.lists(st.sampled_from([0.25, 1.0, 2.0, 7.0, 1e-3]), min_size=n, max_size=n))
    calibrator = fitted(*both, interpolation=mode, weight=weight)
    blocks = metrics.pav(*both, tar_weights=weight[:n_tar], non_weights=weight[n_tar:])
    scores, _ = labelled(*both)
    np.testing.assert_array_equal(calibrator.transform(scores), block_llrs(scores, blocks))


@given(classes(coarse))
def test_cllr_on_own_training_data_is_the_minimum(both):
    scores, is_target = labelled(*both)
    calibrator = fitted(*both)
    llr = calibrator.transform(scores)
    assert metrics.cllr(llr[is_target], llr[~is_target]) == pytest.approx(metrics.min_cllr(*both), abs=1e-14)
    told = calibrator.training_.results
    assert told["objective_relative_to_llr_0"] == pytest.approx(metrics.min_cllr(*both), abs=1e-14)
    assert told["blocks"] == len(metrics.pav(*both).llr)


@given(
    classes(extreme),
    st.lists(extreme, max_size=8),
    st.sampled_from(MODES),
    st.sampled_from([0.0, 1.0, 0.3]),
    st.sampled_from([None, 0.0, 2.5, 1e300]),
)
def test_monotone_for_any_score(both, new, mode, smoothing, bound):
    calibrator = fitted(*both, interpolation=mode, smoothing=smoothing, bound=bound)
    edges = np.concatenate([new, *both, (-INF, INF, LARGEST, -LARGEST, 0.0, 5e-324, -5e-324)])
    with np.errstate(over="ignore"):
        queries = np.concatenate([edges, np.nextafter(edges, INF), np.nextafter(edges, -INF)])
    halves = 0.5 * np.sort(edges)[1:] + 0.5 * np.sort(edges)[:-1]
    queries = np.sort(np.concatenate([queries, halves[~np.isnan(halves)]]))
    llr = calibrator.transform(queries)
    assert not np.isnan(llr).any()
    assert (llr[1:] >= llr[:-1]).all()
    assert (llr >= calibrator.llr_[0]).all()
    assert (llr <= calibrator.llr_[-1]).all()
    if smoothing or bound is not None:
        assert np.isfinite(llr).all()
    if bound is not None:
        assert (np.abs(llr) <= bound).all()


@given(
    st.lists(extreme.filter(math.isfinite), min_size=2, max_size=2, unique=True), st.lists(st.floats(0, 1), min_size=2)
)
def test_linear_interpolation_is_exact_to_rounding(edges, shares):
    low, high = sorted(edges)
    calibrator = with_blocks([low, high], [low, high], [-1.5, 2.0])
    queries = sorted({min(max(low * (1 - share) + high * share, low), high) for share in shares} - {low, high})
    if not queries:
        return
    width = Fraction(high) - Fraction(low)
    exact = [float(Fraction(-3, 2) + Fraction(7, 2) * (Fraction(query) - Fraction(low)) / width) for query in queries]
    np.testing.assert_allclose(calibrator.transform(queries), exact, rtol=0, atol=2e-15)


def test_linear_interpolation_between_and_beyond_blocks():
    calibrator = with_blocks([0.0, 4.0, 9.0], [1.0, 5.0, 10.0], [-2.0, 1.0, 3.0])
    queries = np.linspace(-3.0, 13.0, 161)
    knots = [0.0, 1.0, 4.0, 5.0, 9.0, 10.0]
    expected = np.interp(queries, knots, [-2.0, -2.0, 1.0, 1.0, 3.0, 3.0])
    np.testing.assert_allclose(calibrator.transform(queries), expected, rtol=0, atol=1e-15)


def test_step_borders_lie_in_the_middle_and_belong_to_the_upper_block():
    calibrator = with_blocks([0.0, 4.0], [1.0, 5.0], [-2.0, 1.0], interpolation="step")
    below = np.nextafter(2.5, 0.0)
    np.testing.assert_array_equal(calibrator.transform([-9.0, 1.0, below, 2.5, 4.0, 99.0]), [-2, -2, -2, 1, 1, 1])


@pytest.mark.parametrize("low", [5e-324, 1e300, -1.0, -5e-324, LARGEST / 2])
@pytest.mark.parametrize("mode", MODES)
def test_blocks_without_a_float_between_them(low, mode):
    high = float(np.nextafter(low, INF))
    calibrator = with_blocks([low, high], [low, high], [-1.0, 1.0], interpolation=mode)
    np.testing.assert_array_equal(calibrator.transform([low, high]), [-1.0, 1.0])


def test_width_of_a_gap_beyond_the_largest_float():
    edges = [-LARGEST, LARGEST]
    linear = with_blocks(edges, edges, [-1.0, 1.0])
    np.testing.assert_allclose(linear.transform([-LARGEST / 2, 0.0, LARGEST / 2]), [-0.5, 0.0, 0.5], atol=1e-15)
    step = with_blocks(edges, edges, [-1.0, 1.0], interpolation="step")
    np.testing.assert_array_equal(step.transform([-1e-300, 0.0, 1e-300]), [-1.0, 1.0, 1.0])


def test_infinite_llrs_reach_to_where_the_next_block_begins():
    calibrator = with_blocks([0.0, 4.0, 9.0], [1.0, 5.0, 10.0], [-INF, 1.0, INF])
    below, above = np.nextafter(4.0, 0.0), np.nextafter(5.0, 6.0)
    np.testing.assert_array_equal(calibrator.transform([0.5, 2.0, below, 4.0, 5.0, above]), [-INF] * 3 + [1, 1, INF])
    separated = with_blocks([0.0, 4.0], [1.0, 5.0], [-INF, INF])
    np.testing.assert_array_equal(separated.transform([1.0, 2.4, 2.5, 2.6, 4.0]), [-INF, -INF, 0.0, INF, INF])


@given(classes(coarse), st.lists(coarse, min_size=1, max_size=9))
def test_without_a_bound_the_map_is_what_ever_larger_bounds_approach(both, queries):
    free = fitted(*both).transform(queries)
    large = fitted(*both, bound=1e200).transform(queries)
    finite = np.isfinite(free)
    np.testing.assert_array_equal(large[finite], free[finite])
    assert (np.abs(large[~finite]) > 1e190).all()
    np.testing.assert_array_equal(np.sign(large[~finite]), np.sign(free[~finite]))


@pytest.mark.parametrize("mode", MODES)
def test_infinite_scores_are_infinitely_far_away(mode):
    calibrator = with_blocks([-INF, 0.0, INF], [-INF, 1.0, INF], [-3.0, 0.5, 4.0], interpolation=mode)
    queries = [-INF, -LARGEST, -1.0, 0.5, 2.0, LARGEST, INF]
    np.testing.assert_array_equal(calibrator.transform(queries), [-3.0, 0.5, 0.5, 0.5, 0.5, 0.5, 4.0])
    nothing_between = with_blocks([-INF, INF], [-INF, INF], [-3.0, 4.0], interpolation=mode)
    between = {"linear": [0.5, 0.5, 0.5], "step": [-3.0, 4.0, 4.0]}[mode]
    np.testing.assert_array_equal(nothing_between.transform([-INF, -9.0, 0.0, 9.0, INF]), [-3.0, *between, 4.0])


@given(classes(any_score))
def test_smoothing_adds_a_target_below_and_a_non_target_above(both):
    tar, non = both
    calibrator = fitted(tar, non, smoothing=1.0)
    blocks = pav_blocks([*tar, -INF], [*non, INF])
    expected = [math.log(Fraction(n_tar, len(tar) + 1) / Fraction(n_non, len(non) + 1)) for n_tar, n_non, *_ in blocks]
    np.testing.assert_allclose(calibrator.llr_, expected, rtol=0, atol=1e-12)
    inner = [low for _, _, low, _ in blocks[1:]]
    np.testing.assert_array_equal(calibrator.low_, [min(*tar, *non), *inner])
    np.testing.assert_array_equal(calibrator.high_[-1], max(*tar, *non))


@given(classes(coarse))
def test_half_a_trial_of_smoothing_is_one_where_every_trial_counts_twice(both):
    half = fitted(*both, smoothing=0.5)
    twice = fitted(*both, smoothing=1.0, weight=np.full(len(both[0]) + len(both[1]), 2.0))
    np.testing.assert_array_equal(half.low_, twice.low_)
    np.testing.assert_allclose(half.llr_, twice.llr_, rtol=0, atol=1e-12)


@given(classes(coarse))
def test_smoothing_costs_on_the_training_data(both):
    scores, is_target = labelled(*both)
    llr = fitted(*both, smoothing=1.0).transform(scores)
    assert metrics.cllr(llr[is_target], llr[~is_target]) >= metrics.min_cllr(*both) - 1e-12
    assert metrics.min_cllr(llr[is_target], llr[~is_target]) >= metrics.min_cllr(*both) - 1e-12


def test_smoothing_can_move_min_cllr():
    # Three blocks of (targets, non-targets): (0, 1), (1, 1), (1, 0). With 1 more target below all and 1 more non-target
    # above, fractions 1/2, 1/2, 1/2 are one block: the worth of the scores is lost.
    with pytest.warns(DecibanWarning, match="smoothing is too strong"):
        llr = PavCalibrator(smoothing=1.0).fit_transform([1.0, 2.0, 0.0, 1.0], [True, True, False, False])
    assert metrics.min_cllr(llr[:2], llr[2:]) == 1.0
    assert metrics.min_cllr([1.0, 2.0], [0.0, 1.0]) == pytest.approx(0.5)


@given(classes(coarse), st.lists(st.floats(-5, 5), min_size=1))
def test_exchanged_classes_and_signs_change_the_sign(both, queries):
    tar, non = (np.array(one) for one in both)
    one, other = fitted(tar, non, bound=3.0), fitted(-non, -tar, bound=3.0)
    np.testing.assert_allclose(one.transform(queries), -other.transform(-np.array(queries)), rtol=0, atol=1e-14)


def test_float32_scores_stay_in_their_blocks():
    rng = np.random.default_rng(3)
    scores, is_target = labelled(rng.normal(1, 1, 200).astype(np.float32), rng.normal(-1, 1, 200).astype(np.float32))
    scores = scores.astype(np.float32)
    llr = PavCalibrator(interpolation="step").fit_transform(scores, is_target)
    np.testing.assert_array_equal(llr, block_llrs(scores, metrics.pav(scores[is_target], scores[~is_target])))


@pytest.mark.parametrize(
    ("tar", "non", "words"), [([1.0, 2.0], [-1.0, 0.0], "separated"), ([1.0, 1.0], [1.0, 1.0], "one block")]
)
def test_warnings(tar, non, words):
    with pytest.warns(DecibanWarning, match=words):
        PavCalibrator().fit(*labelled(tar, non))


def test_separated_classes_with_smoothing_are_finite_and_silent():
    calibrator = PavCalibrator(smoothing=1.0).fit(*labelled([1.0, 2.0], [-1.0, 0.0]))
    np.testing.assert_allclose(calibrator.transform([-5.0, 5.0]), [math.log(1 / 2), math.log(2)], atol=1e-15)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"interpolation": "cubic"}, "linear"),
        ({"smoothing": -1.0}, "at least 0"),
        ({"smoothing": math.nan}, "at least 0"),
        ({"smoothing": 1e-200}, "1e-100"),
        ({"bound": -1.0}, "bound"),
        ({"bound": INF}, "bound"),
    ],
)
def test_settings_out_of_range(settings, words):
    with pytest.raises(InputError, match=words):
        PavCalibrator(**settings)


def test_nan_and_no_training():
    with pytest.raises(InputError, match="not trained"):
        PavCalibrator().transform([1.0])
    with pytest.raises(InputError, match="NaN"):
        PavCalibrator().fit([1.0, math.nan], [True, False])
    with pytest.raises(InputError, match="NaN"):
        fitted([1.0, 0.0], [0.5]).transform([math.nan])


@given(classes(extreme), st.sampled_from(MODES), st.sampled_from([0.0, 0.7]))
def test_a_file_gives_the_same_map(tmp_path_factory, both, mode, smoothing):
    calibrator = fitted(*both, interpolation=mode, smoothing=smoothing)
    path = tmp_path_factory.mktemp("pav") / "model.json"
    calibrator.save(path)
    loaded = load_model(path)
    assert repr(loaded) == repr(calibrator)
    assert loaded.training_.fingerprint == calibrator.training_.fingerprint
    queries = np.concatenate([*both, [-INF, -1.0, 0.0, 0.3, 1e308, INF]])
    np.testing.assert_array_equal(loaded.transform(queries), calibrator.transform(queries))


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"llr": [-1.0]}, "Every block needs one of each"),
        ({"low": [2.0, 4.0]}, "low, high"),
        ({"high": [4.5, 5.0]}, "low, high"),
        ({"llr": [1.0, -1.0]}, "do not decrease"),
        ({"llr": [INF, INF]}, "only the first block"),
        ({"llr": [-1e301, 0.0]}, "1e300"),
        ({"llr": ["nan", 0.0]}, "llr"),
        ({"llr": [True, 2.0]}, "llr"),
        ({"llr": []}, "llr"),
        ({"low": [10**400, 10**401]}, "is not a valid number"),
    ],
)
def test_a_file_that_contradicts_itself(tmp_path, changed, words):
    path = tmp_path / "model.json"
    fitted([1.0, 4.0], [0.0, 2.0], smoothing=1.0).save(path)
    content = json.loads(path.read_text())
    blocks = {"low": [0.0, 4.0], "high": [1.0, 5.0], "llr": [-1.0, 1.0]} | changed
    content["parameters"] = {
        name: [str(value) if value in (INF, -INF) else value for value in values] for name, values in blocks.items()
    }
    path.write_text(json.dumps(content))
    with pytest.raises(FormatError, match=words):
        load_model(path)
