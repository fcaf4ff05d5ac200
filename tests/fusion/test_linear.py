"""Linear fusion: what users have, what they get, what they are told."""

import copy

import numpy as np
import pytest

import deciban
from deciban import metrics
from deciban.calibration import AffineCalibrator, ScaleCalibrator
from deciban.errors import FormatError, InputError
from deciban.fusion import LinearFusion


def systems(n_tar=80, n_non=300, n_systems=3, seed=1):
    """Systems that make different errors; targets first."""
    rng = np.random.default_rng(seed)
    is_target = np.arange(n_tar + n_non) < n_tar
    return rng.normal(size=(n_tar + n_non, n_systems)) + np.where(is_target, 0.8, -0.8)[:, None], is_target


def cllr(fusion, scores, is_target):
    llr = fusion.transform(scores)
    return metrics.cllr(llr[is_target], llr[~is_target])


@pytest.mark.parametrize("rule", [(1.0, 1.0), (2.0, 2.0), (0.5, 0.5), (2.0, 1.0)])
def test_one_system_is_calibrated(rule):
    scores, is_target = systems(n_systems=1)
    settings = {"p_target": 0.05, "alpha": rule[0], "beta": rule[1]}
    fusion = LinearFusion(**settings).fit(scores, is_target)
    calibrator = AffineCalibrator(**settings).fit(scores[:, 0], is_target)
    assert fusion.weights_[0] == pytest.approx(calibrator.scale_, rel=1e-12)
    assert fusion.offset_ == pytest.approx(calibrator.offset_, rel=1e-12)
    assert fusion.objective_ == pytest.approx(calibrator.objective_, rel=1e-14)


def test_the_objective_is_never_worse_than_that_of_a_single_system():
    scores, is_target = systems()
    fusion = LinearFusion().fit(scores, is_target)
    singles = [AffineCalibrator().fit(scores[:, k], is_target).objective_ for k in range(3)]
    assert fusion.objective_ < min(singles)
    assert cllr(fusion, scores, is_target) * np.log(2) == pytest.approx(fusion.objective_, rel=1e-12)


@pytest.mark.parametrize("layout", ["C", "F", "strided", "float32", "list"])
def test_any_layout_gives_the_same_fusion(layout):
    scores, is_target = systems()
    scores = scores.astype(np.float32).astype(np.float64)
    forms = {
        "C": np.ascontiguousarray(scores),
        "F": np.asfortranarray(scores),
        "strided": np.repeat(scores, 2, axis=1)[:, ::2],
        "float32": scores.astype(np.float32),
        "list": scores.tolist(),
    }
    fusion = LinearFusion().fit(forms[layout], is_target)
    np.testing.assert_allclose(fusion.weights_, LinearFusion().fit(scores, is_target).weights_, rtol=1e-12)
    assert fusion.training_.fingerprint == LinearFusion().fit(scores, is_target).training_.fingerprint


def test_badly_scaled_systems_get_the_weights_of_well_scaled_ones():
    scores, is_target = systems()
    plain = LinearFusion().fit(scores, is_target)
    size, shift = np.array([1e-3, 300.0, 1e12]), np.array([0.5, -4000.0, 0.0])
    scaled = LinearFusion().fit(scores * size + shift, is_target)
    np.testing.assert_allclose(scaled.weights_ * size, plain.weights_, rtol=1e-7)
    np.testing.assert_allclose(scaled.standardized_weights_, plain.standardized_weights_, rtol=1e-7)
    assert scaled.objective_ == pytest.approx(plain.objective_, rel=1e-12)


def test_a_system_that_tells_the_error_of_another_gets_a_negative_weight():
    """One system is truth plus noise, the other one the noise: their difference is what counts."""
    rng = np.random.default_rng(2)
    is_target = np.arange(600) < 200
    noise = 3 * rng.normal(size=600)
    scores = np.column_stack((np.where(is_target, 1, -1) + noise + rng.normal(size=600), noise + rng.normal(size=600)))
    fusion = LinearFusion().fit(scores, is_target)
    assert fusion.weights_[0] > 0 > fusion.weights_[1]


def test_few_targets_against_very_many_non_targets():
    """60 against 270 000: the optimum is that of scipy on the same objective."""
    scores, is_target = systems(60, 270_000, 2)
    fusion = LinearFusion(p_target=0.01).fit(scores, is_target)
    at = np.append(fusion.weights_, fusion.offset_)

    def cost(x):
        llr = scores @ x[:2] + x[2]
        return metrics.cross_entropy(llr[is_target], llr[~is_target], p_target=0.01)

    best = cost(at)
    for direction in np.eye(3):
        for step in (-1e-3, 1e-3):
            assert cost(at + step * direction) > best


def test_systems_that_say_the_same_are_named():
    scores, is_target = systems(n_systems=2)
    fusion = LinearFusion().fit(np.column_stack((scores, scores[:, 0])), is_target)
    pair = LinearFusion().fit(scores, is_target)
    assert "not determined" in fusion.training_.results["status"]
    assert fusion.objective_ == pytest.approx(pair.objective_, rel=1e-12)
    assert fusion.weights_[0] == pytest.approx(fusion.weights_[2], rel=1e-6)


def test_a_penalty_holds_only_the_weights():
    scores, is_target = systems()
    strong = LinearFusion(ridge=1e6).fit(scores, is_target)
    np.testing.assert_allclose(strong.weights_, 0.0, atol=1e-5)
    # What is left is llr 0: the prior is known already.
    assert strong.offset_ == pytest.approx(0.0, abs=1e-4)


def test_separated_classes_are_refused_without_and_trained_with_a_penalty():
    scores, is_target = systems(20, 20)
    scores[is_target] += 10
    with pytest.raises(InputError, match="separated"):
        LinearFusion().fit(scores, is_target)
    assert np.isfinite(LinearFusion(ridge=1e-3).fit(scores, is_target).weights_).all()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda s, y: (s[:, 0], y), r"shape \(n_trials, n_systems\), got \(380,\)"),
        (lambda s, y: (s[:, :, None], y), "shape"),
        (lambda s, y: (s[:0], y[:0]), "empty"),
        (lambda s, y: (s[:, :0], y), "empty"),
        (
            lambda s, y: (np.where(np.arange(380)[:, None] == 5, np.nan, s), y),
            "380 scores of system 0 are NaN, the first at index 5",
        ),
        (lambda s, y: (s, y[1:]), "379 labels for 380"),
        (lambda s, y: (s.astype(str), y), "expected real numbers"),
    ],
)
def test_what_cannot_be_fused_is_refused(change, words):
    with pytest.raises(InputError, match=words):
        LinearFusion().fit(*change(*systems()))


def test_other_systems_than_those_of_training_are_refused():
    scores, is_target = systems()
    fusion = LinearFusion().fit(scores, is_target)
    with pytest.raises(InputError, match="2 systems, but the fusion was trained on 3"):
        fusion.transform(scores[:, :2])
    with pytest.raises(InputError, match="contradict each other"):
        fusion.transform([[np.inf, -np.inf, 0.0]])
    with pytest.raises(InputError, match="not trained yet"):
        LinearFusion().transform(scores)


def test_a_system_of_weight_0_does_not_count_even_where_it_is_infinite():
    scores, is_target = systems(n_systems=1)
    fusion = LinearFusion().fit(np.column_stack((scores, np.full(380, 7.0))), is_target)
    assert fusion.weights_[1] == 0.0
    assert np.isfinite(fusion.transform([[1.0, np.inf]])).all()


def test_a_fusion_comes_back_from_its_file(tmp_path):
    scores, is_target = systems()
    fusion = LinearFusion(p_target=0.01, ridge=1e-4).fit(scores, is_target)
    fusion.save(tmp_path / "fusion.json")
    back = deciban.load_model(tmp_path / "fusion.json")
    assert type(back) is LinearFusion
    assert back.settings == fusion.settings
    np.testing.assert_array_equal(back.transform(scores), fusion.transform(scores))
    text = (tmp_path / "fusion.json").read_text()
    (tmp_path / "fusion.json").write_text(text.replace('"standardized_weights": [', '"standardized_weights": [1.0, '))
    with pytest.raises(FormatError, match="different lengths"):
        deciban.load_model(tmp_path / "fusion.json")


def test_trials_without_weight_do_not_move_the_index_of_what_is_refused():
    scores = np.random.default_rng(2).normal(size=(12, 2))
    is_target = np.arange(12) % 2 == 0
    weight = np.array([0, 1, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1])
    scores[[2, 6], 0] = -np.inf
    with pytest.raises(InputError, match="1 target trials score -inf, the first at index 6:") as caught:
        LinearFusion(ridge=1.0).fit(scores, is_target, sample_weight=weight)
    assert str(copy.copy(caught.value)) == str(caught.value)  # as pickle does it
    scores[[2, 6], 1] = np.inf
    with pytest.raises(InputError, match=r"contradict .* in 1 trials, the first at index 6 \(system 1\)"):
        LinearFusion(ridge=1.0).fit(scores, is_target, sample_weight=weight)


def test_infinite_scores_of_trials_without_weight_do_not_matter():
    rng = np.random.default_rng(5)
    is_target = np.arange(300) % 2 == 0
    scores = np.column_stack([rng.normal(size=300) + 2.0 * is_target, rng.normal(size=300)])
    scores[:, 1] += 0.8 * scores[:, 0] - 1.6 * is_target  # its weight is negative
    weight = np.ones(300)
    weight[4], scores[4, 1] = 0.0, np.inf
    found = LinearFusion().fit(scores, is_target, sample_weight=weight)
    alone = LinearFusion().fit(np.delete(scores, 4, axis=0), np.delete(is_target, 4))
    assert alone.weights_[1] < 0.0
    np.testing.assert_allclose(found.weights_, alone.weights_, rtol=1e-7)


@pytest.mark.parametrize("n", [(80, 300), (2000, 60_000)])
@pytest.mark.parametrize("ridge", [0.0, 1e-3])
@pytest.mark.parametrize("pair", [(0.3, 0.3), (0.3, 0.1 + 0.2), (-1e9, np.nextafter(-1e9, 0.0)), (1e-320, 1e-320)])
def test_a_system_that_is_constant_but_for_rounding_is_as_a_constant_one(pair, ridge, n):
    """Weight 0 next to others, a refusal alone: what rounding makes of one number says nothing."""
    scores, is_target = systems(*n, n_systems=2)
    rounded = np.where(np.random.default_rng(3).random(len(is_target)) < 0.3, *pair)
    fusion = LinearFusion(ridge=ridge).fit(np.column_stack((scores, rounded)), is_target)
    alone = LinearFusion(ridge=ridge).fit(scores, is_target)
    assert fusion.weights_[2] == fusion.standardized_weights_[2] == 0.0
    np.testing.assert_allclose(fusion.weights_[:2], alone.weights_, rtol=1e-8)
    assert fusion.offset_ == pytest.approx(alone.offset_, abs=1e-8)
    assert cllr(fusion, np.column_stack((scores, rounded)), is_target) == pytest.approx(
        cllr(alone, scores, is_target), rel=1e-12
    )
    for one in (LinearFusion(ridge=ridge), AffineCalibrator(ridge=ridge), ScaleCalibrator(ridge=ridge)):
        with pytest.raises(InputError, match="Constant scores cannot be calibrated"):
            one.fit(rounded[:, None] if isinstance(one, LinearFusion) else rounded, is_target)


def test_scores_that_differ_by_more_than_rounding_count():
    scores, is_target = systems(n_systems=1)
    near = 1e6 + np.round(scores, 3) * 1e-6
    fusion = LinearFusion().fit(np.column_stack((near, np.ones(len(near)))), is_target)
    alone = LinearFusion().fit((near - 1e6) * 1e6, is_target)
    assert fusion.weights_[0] * 1e-6 == pytest.approx(alone.weights_[0], rel=1e-7)
