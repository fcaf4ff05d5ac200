import json
import math
import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import norm

from deciban import load_model, metrics
from deciban.calibration import GaussianCalibrator
from deciban.errors import DecibanWarning, FormatError, InputError
from support.labelled import fitted, labelled

INF = math.inf
TAR, NON = [1.0, 2.5, 4.0, 2.0], [-1.0, 0.5, 1.5, -2.5, 0.0]


def drawn(n_tar=300, n_non=500, sd_tar=1.0, seed=1):
    rng = np.random.default_rng(seed)
    return labelled(rng.normal(2.0, sd_tar, n_tar), rng.normal(0.0, 1.0, n_non))


def moments(scores, weights=None):
    """Exactly, as fractions."""
    weights = [Fraction(1)] * len(scores) if weights is None else [Fraction(weight) for weight in weights]
    scores = [Fraction(score) for score in scores]
    mean = sum(w * s for w, s in zip(weights, scores, strict=True)) / sum(weights)
    return mean, sum(w * (s - mean) ** 2 for w, s in zip(weights, scores, strict=True)) / sum(weights)


@pytest.mark.parametrize("p_target", [0.5, 0.1])
def test_shared_variance_is_the_ratio_of_two_densities(p_target):
    calibrator = GaussianCalibrator(p_target=p_target).fit(*labelled(TAR, NON))
    (mean_tar, var_tar), (mean_non, var_non) = moments(TAR), moments(NON)
    sd = math.sqrt(p_target * var_tar + (1 - p_target) * var_non)
    queries = np.linspace(-6.0, 6.0, 41)
    expected = norm.logpdf(queries, float(mean_tar), sd) - norm.logpdf(queries, float(mean_non), sd)
    np.testing.assert_allclose(calibrator.transform(queries), expected, rtol=0, atol=1e-13)


@given(st.lists(st.sampled_from([0.0, 0.25, 1.0, 3.0]), min_size=9, max_size=9))
def test_separate_variances_are_the_ratio_of_two_weighted_densities(weights):
    assume(all(sum(weight > 0 for weight in part) > 1 for part in (weights[:4], weights[4:])))
    calibrator = fitted(GaussianCalibrator(shared_variance=False), TAR, NON, weights)
    (mean_tar, var_tar), (mean_non, var_non) = moments(TAR, weights[:4]), moments(NON, weights[4:])
    queries = np.linspace(-6.0, 6.0, 41)
    tar = norm.logpdf(queries, float(mean_tar), math.sqrt(var_tar))
    non = norm.logpdf(queries, float(mean_non), math.sqrt(var_non))
    np.testing.assert_allclose(calibrator.transform(queries), tar - non, rtol=1e-11, atol=1e-11)


def test_proportions_of_the_classes_do_not_enter():
    scores, is_target = labelled(TAR, NON)
    many = np.concatenate([scores, np.tile(scores[~is_target], 9)])
    once = GaussianCalibrator().fit(scores, is_target)
    again = GaussianCalibrator().fit(many, np.arange(len(many)) < len(TAR))
    np.testing.assert_allclose(again.transform(scores), once.transform(scores), rtol=1e-13)


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("scale", [1e300, 1e-300, 3.0])
def test_scales(shared, scale):
    scores, is_target = drawn()
    plain = GaussianCalibrator(shared_variance=shared).fit_transform(scores, is_target)
    scaled = GaussianCalibrator(shared_variance=shared).fit_transform(scores * scale, is_target)
    np.testing.assert_allclose(scaled, plain, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("shared", [True, False])
def test_shift_by_a_thousand_million(shared):
    scores, is_target = drawn(40, 60)
    shifted = scores + 1e9
    calibrator = GaussianCalibrator(shared_variance=shared).fit(shifted, is_target)
    (mean_tar, var_tar), (mean_non, var_non) = moments(shifted[is_target]), moments(shifted[~is_target])
    if shared:
        var_tar = var_non = (var_tar + var_non) / 2
    assert calibrator.sd_tar_ == pytest.approx(math.sqrt(var_tar), rel=1e-12)
    exact = [
        float((Fraction(s) - mean_non) ** 2 / var_non - (Fraction(s) - mean_tar) ** 2 / var_tar) / 2
        + math.log(var_non / var_tar) / 2
        for s in shifted
    ]
    # A score of 1e9 has a resolution of 1e-7, and so have the means that a file holds.
    np.testing.assert_allclose(calibrator.transform(shifted), exact, rtol=0, atol=1e-6)


def test_output_of_shared_variance_is_calibrated_where_the_model_is_right():
    """The llrs of both classes are Gaussian with variance v and means -v/2 and v/2 (van Leeuwen and Bruemmer 2013)."""
    scores, is_target = drawn(100_000, 100_000)
    llr = GaussianCalibrator().fit_transform(scores, is_target)
    for rows, sign in ((is_target, 1), (~is_target, -1)):
        assert llr[rows].mean() == pytest.approx(sign * llr[rows].var() / 2, rel=0.03)
    assert metrics.cllr(llr[is_target], llr[~is_target]) < metrics.min_cllr(llr[is_target], llr[~is_target]) + 0.002


def test_infinite_and_extreme_scores_are_never_nan():
    ends = [-INF, -1.7e308, 1.7e308, INF]
    line = GaussianCalibrator().fit(*labelled(TAR, NON)).transform(ends)
    np.testing.assert_array_equal(np.sign(line), [-1, -1, 1, 1])
    assert np.isinf(line[[0, 3]]).all()
    with pytest.warns(DecibanWarning, match="turns within"):
        wide = GaussianCalibrator(shared_variance=False).fit(*labelled([-9.0, 9.0, 3.0], [-0.1, 0.1]))
    np.testing.assert_array_equal(wide.transform(ends), [INF] * 4)
    tiny = GaussianCalibrator(shared_variance=False)
    tiny.set_parameters({"mean_tar": 0.0, "mean_non": 0.0, "sd_tar": 1e-300, "sd_non": 3e-300})
    np.testing.assert_array_equal(tiny.transform([-INF, -1e300, 1.0, INF]), [-INF] * 4)
    apart = GaussianCalibrator()
    apart.set_parameters({"mean_tar": 1e300, "mean_non": 0.0, "sd_tar": 1e-300, "sd_non": 1e-300})
    np.testing.assert_array_equal(apart.transform([0.0, 5e299, 1e300]), [-INF, 0.0, INF])


@pytest.mark.parametrize(
    ("tar", "non", "shared", "words"),
    [
        ([0.0, 1.0], [2.0, 3.0], True, "favour non-targets"),
        ([0.0, 1.0], [0.0, 1.0], True, "favour non-targets"),
        ([0.0, 1.1], [5.0, 6.0], False, "favour non-targets"),
        ([0.0, 4.0, 8.0], [1.9, 2.1, 2.0], False, "lowest scores"),
        ([2.0, 2.2, 2.1], [-4.0, 0.0, 4.0], False, "largest scores"),
    ],
)
def test_warnings(tar, non, shared, words):
    with pytest.warns(DecibanWarning, match=words):
        GaussianCalibrator(shared_variance=shared).fit(*labelled(tar, non))


@given(st.floats(0.2, 5.0), st.floats(-3, 3))
def test_a_warning_is_given_where_the_map_is_not_monotone(width, shift):
    tar, non = np.array([-1.0, 0.0, 1.0, 2.0]) * width + shift, np.array([-1.0, 0.5, 1.0])
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        calibrator = GaussianCalibrator(shared_variance=False).fit(*labelled(tar, non))
    queries = np.linspace(min(*tar, *non), max(*tar, *non), 2001)
    steps = np.diff(calibrator.transform(queries))
    assume(np.abs(steps[[0, -1]]).min() > 1e-9)
    assert bool(told) == bool((steps < 0).any())


@pytest.mark.parametrize(
    ("tar", "non", "shared", "words"),
    [
        ([1.0, 1.0], [0.0, 0.0, 0.0], True, "variance is 0"),
        ([1.0], [0.0], True, "variance is 0"),
        ([1.0], [0.0, 2.0], False, "the 1 target trials"),
        ([1.0, 2.0], [0.1, 0.1, 0.1], False, "the 3 non-target trials"),
        ([1.0, INF], [0.0, 2.0], True, "1 of 4 are infinite, the first at index 1"),
        ([1.0, 2.0], [-INF, -INF], False, "2 of 4 are infinite, the first at index 2"),
    ],
)
def test_what_cannot_be_trained(tar, non, shared, words):
    with pytest.raises(InputError, match=words):
        GaussianCalibrator(shared_variance=shared).fit(*labelled(tar, non))


def test_trials_of_weight_0_are_not_there():
    scores, is_target = labelled([1.0, 3.0, INF], [0.0, 2.0, -1e300])
    calibrator = GaussianCalibrator().fit(scores, is_target, sample_weight=[1, 1, 0, 1, 1, 0])
    assert (calibrator.mean_tar_, calibrator.mean_non_, calibrator.sd_tar_) == (2.0, 1.0, 1.0)


def test_settings_out_of_range():
    with pytest.raises(InputError, match="shared_variance"):
        GaussianCalibrator(shared_variance="no")
    with pytest.raises(InputError, match="p_target"):
        GaussianCalibrator(p_target=1.0)
    with pytest.raises(InputError, match="p_target"):
        GaussianCalibrator(p_target=[0.1, 0.2])


@pytest.mark.parametrize("shared", [True, False])
def test_files(tmp_path, shared):
    scores, is_target = drawn(50, 50, sd_tar=1.2)
    calibrator = fitted(GaussianCalibrator(shared_variance=shared), scores[is_target], scores[~is_target])
    calibrator.save(tmp_path / "model.json")
    loaded = load_model(tmp_path / "model.json")
    assert repr(loaded) == repr(calibrator)
    assert loaded.training_ == calibrator.training_
    np.testing.assert_array_equal(loaded.transform(scores), calibrator.transform(scores))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('"sd_tar": 0.0', "sd_tar"),
        ('"sd_tar": 9.0', "shared"),
        ('"sd_tar": 1e999', "sd_tar"),
        ('"sd_tar": "inf"', "sd_tar"),
    ],
)
def test_damaged_files(tmp_path, text, words):
    path = tmp_path / "model.json"
    calibrator = GaussianCalibrator().fit(*labelled(TAR, NON))
    calibrator.save(path)
    line = f'"sd_tar": {json.dumps(calibrator.sd_tar_)}'
    assert line in path.read_text()
    path.write_text(path.read_text().replace(line, text))
    with pytest.raises(FormatError, match=words):
        load_model(path)
