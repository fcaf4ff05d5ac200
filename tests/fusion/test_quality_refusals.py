"""Fusion with quality measures: its model files, and what is refused."""

import json

import numpy as np
import pytest

import deciban
from deciban import metrics
from deciban.errors import DecibanWarning, FormatError, InputError
from deciban.fusion import LinearFusion, QualityFusion
from support.planted_quality import fitted, planted

# Model files


def cases():
    t = planted(150)
    both = {"enroll_quality": t.q, "test_quality": t.r}
    yield t, QualityFusion(p_target=0.1, ridge=1e-3), both
    yield t, QualityFusion(symmetric=False), {"enroll_quality": t.q, "test_quality": t.r[:, :1]}
    yield t, QualityFusion(), {"test_quality": t.q, "trial_quality": t.r}
    yield t, QualityFusion(symmetric=False), {"enroll_quality": t.q}
    yield t, QualityFusion(), {}


@pytest.mark.parametrize("case", range(5))
def test_a_fusion_comes_back_from_its_file(tmp_path, case):
    t, fusion, quality = list(cases())[case]
    llr = fusion.fit_transform(t.scores, t.is_target, **quality)
    fusion.save(tmp_path / "fusion.json")
    back = deciban.load_model(tmp_path / "fusion.json")
    assert type(back) is QualityFusion
    assert (back.settings, back.training_) == (fusion.settings, fusion.training_)
    np.testing.assert_array_equal(back.transform(t.scores, **quality), llr)
    lost = {name: np.full_like(values, np.nan) for name, values in quality.items()}
    if lost:
        with pytest.warns(DecibanWarning, match="150 of 150"):
            alone = back.transform(t.scores, **lost)
        np.testing.assert_array_equal(alone, LinearFusion(**_rule(fusion)).fit_transform(t.scores, t.is_target))


def _rule(fusion):
    return {name: getattr(fusion, name) for name in ("p_target", "alpha", "beta", "ridge")}


def _other_kind(parameters):
    from deciban.models.model import content_of

    calibrator = deciban.calibration.AffineCalibrator().fit([0.0, 1.0, 0.5, 2.0], [False, False, True, True])
    parameters["backoff"] = json.loads(json.dumps(content_of(calibrator)))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda p: p["quality_weights"][0].pop(), "rows of different lengths"),
        (lambda p: p["quality_weights"][-1].__setitem__(-1, 1.0), "the last corner must be 0"),
        (lambda p: p["quality_weights"][0].__setitem__(1, 9.0), "not symmetric"),
        (lambda p: p["quality_sides"].clear(), "inconsistent with quality_sides"),
        (lambda p: p["quality_sides"].pop(), "inconsistent with quality_sides"),
        (lambda p: p["quality_sides"].append("left"), "'left'"),
        (lambda p: p["weights"].append(1.0), "different lengths"),
        (lambda p: p["backoff"].update(kind="affine"), "backoff"),
        (_other_kind, "expected a linear fusion, got a model of kind 'affine'"),
        (lambda p: p["backoff"].update(deciban_model=99), "layout 99"),
        (lambda p: p.update(offset="inf"), "'inf' is not of type 'number'"),
    ],
)
def test_a_file_that_contradicts_itself_is_refused(tmp_path, change, words):
    fitted(planted(150)).save(tmp_path / "fusion.json")
    content = json.loads((tmp_path / "fusion.json").read_text())
    change(content["parameters"])
    (tmp_path / "fusion.json").write_text(json.dumps(content))
    with pytest.raises(FormatError, match=words):
        deciban.load_model(tmp_path / "fusion.json")


# What is refused

TINY = 1e-150 * np.random.default_rng(1).random((600, 2))
HUGE = np.where(TINY > 5e-151, 1.7e308, -1.7e308)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"enroll_quality": np.ones(600)}, r"enroll_quality: expected .* \(n_trials, n_measures\), got \(600,\)"),
        ({"enroll_quality": np.ones((600, 0))}, "enroll_quality: empty"),
        ({"test_quality": np.ones((599, 2))}, "test_quality: 599 rows for 600 trials"),
        ({"test_quality": [["a", "b"]] * 600}, "test_quality: expected real numbers"),
        (
            {"trial_quality": np.where(np.arange(600) == 3, -np.inf, 1.0)[:, None]},
            "trial_quality: measure 0 is infinite in 1 of 600 trials, the first at index 3",
        ),
        ({"enroll_quality": np.ma.masked_less(np.ones((600, 2)), 2)}, "masked"),
        ({"enroll_quality": 1e120 * np.random.default_rng(1).random((600, 2))}, "enroll_quality: measure 0 differs"),
        (
            {"enroll_quality": HUGE, "test_quality": HUGE},
            r"enroll_quality: measure 0 differs from its mean by up to [\d.]+e\+308",
        ),
        ({"enroll_quality": TINY, "test_quality": TINY}, "enroll_quality: measure 0 .* products of two exceed"),
        ({"scores": np.full((600, 2), np.nan)}, "scores of system 0 are NaN"),
        ({"is_target": np.ones(600, bool)}, "none of the 600 trials is a non-target"),
    ],
)
def test_what_cannot_be_fused_is_refused(change, words):
    t = planted()
    arguments = {"scores": t.scores, "is_target": t.is_target, "enroll_quality": t.q, "test_quality": t.r, **change}
    fusion = QualityFusion()
    with pytest.raises(InputError, match=words):
        fusion.fit(arguments.pop("scores"), arguments.pop("is_target"), **arguments)
    assert not fusion.is_fitted


def test_what_was_not_trained_for_is_refused():
    t = planted()
    with pytest.raises(InputError, match="symmetric: got 1"):
        QualityFusion(symmetric=1)
    with pytest.raises(InputError, match="not trained yet"):
        QualityFusion().transform(t.scores)
    fusion = fitted(t)
    with pytest.raises(InputError, match="1 systems, but the fusion was trained on 2"):
        fusion.transform(t.scores[:, :1], enroll_quality=t.q, test_quality=t.r)
    with pytest.raises(InputError, match="test_quality: 1 measures, but the fusion was trained on 2"):
        fusion.transform(t.scores, enroll_quality=t.q, test_quality=t.r[:, :1])
    with pytest.raises(InputError, match="products exceed double precision, the first at index 1"):
        fusion.transform(np.zeros((3, 2)), enroll_quality=[[0, 0], [1e200, 0], [0, 0]], test_quality=[[1e200, 0]] * 3)


def test_infinite_scores_are_certain_and_may_not_contradict_each_other():
    t = planted()
    fusion = fitted(t)
    assert fusion.transform([[np.inf, 0.0]], enroll_quality=t.q[:1], test_quality=t.r[:1]) == np.inf
    one, nan = np.ones((3, 2)), np.full((3, 2), np.nan)
    scores = [[0.0, 0.0], [np.inf, 0.0], [np.inf, np.inf]]
    with pytest.raises(InputError, match="the first at index 2"):
        fusion.transform(scores, enroll_quality=one, test_quality=one)
    with pytest.raises(InputError, match="the first at index 2"):
        fusion.transform(scores, enroll_quality=np.where([[False], [True], [True]], nan, one), test_quality=one)


# Measures far from 0


@pytest.mark.parametrize("far", [0.0, 1e2, 1e4, 1e5, 1e7, 1e9, 1e15])
@pytest.mark.parametrize("symmetric", [True, False])
def test_measures_far_from_0_give_the_llrs_that_were_trained_or_are_refused(far, symmetric):
    t = planted()
    fusion = QualityFusion(symmetric=symmetric)
    try:
        llr = fusion.fit_transform(t.scores, t.is_target, enroll_quality=t.q + far, test_quality=t.r + far)
    except InputError as error:
        assert far >= 1e5
        assert "standard deviations away from 0" in str(error)
        assert "Subtract a constant from this measure" in str(error)
        return
    assert far < 1e7
    near = QualityFusion(symmetric=symmetric)
    near.fit(t.scores, t.is_target, enroll_quality=t.q, test_quality=t.r)
    np.testing.assert_allclose(
        llr, near.transform(t.scores, enroll_quality=t.q, test_quality=t.r), atol=1e-6 if far else 0.0
    )
    cost = metrics.cross_entropy(llr[t.is_target], llr[~t.is_target], p_target=0.5)
    assert cost == pytest.approx(fusion.objective_, rel=1e-7)


@pytest.mark.parametrize("value", [0.3, 1.7e9])
@pytest.mark.parametrize("symmetric", [True, False])
def test_a_measure_that_is_constant_but_for_rounding_changes_nothing(value, symmetric):
    t = planted()
    rng = np.random.default_rng(2)

    def wider(table):
        return np.column_stack((table, np.where(rng.random(len(table)) < 0.5, value, np.nextafter(value, np.inf))))

    q, r = wider(t.q), wider(t.r)
    llr = QualityFusion(symmetric=symmetric).fit_transform(t.scores, t.is_target, enroll_quality=q, test_quality=r)
    without = QualityFusion(symmetric=symmetric).fit(t.scores, t.is_target, enroll_quality=t.q, test_quality=t.r)
    np.testing.assert_allclose(llr, without.transform(t.scores, enroll_quality=t.q, test_quality=t.r), atol=1e-7)
