"""Calibration of many classes: what users have, what they get, what they are told."""

import json
import warnings

import numpy as np
import pytest

import deciban
from deciban import multiclass
from deciban.calibration import (
    AffineCalibrator,
    MulticlassCalibrator,
    MulticlassScaleCalibrator,
    MulticlassShiftCalibrator,
    ScaleCalibrator,
    ShiftCalibrator,
)
from deciban.errors import DecibanWarning, FormatError, InputError
from support.many_classes import cross_entropy, optimum, problem

PRIOR = [0.1, 0.2, 0.3, 0.4]
KINDS = [MulticlassCalibrator, MulticlassScaleCalibrator, MulticlassShiftCalibrator]
PAIRS = list(zip(KINDS, [AffineCalibrator, ScaleCalibrator, ShiftCalibrator], strict=True))
FORMS = dict(zip(KINDS, [{}, {"offset": False}, {"scale": False}], strict=True))


def trials(n=300, n_classes=4, **how):
    systems, label = problem(n, 1, n_classes, **how)
    return systems[:, 0], label


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("prior", [None, PRIOR])
@pytest.mark.parametrize("weighted", [False, True])
def test_each_finds_the_best_of_its_maps(kind, prior, weighted):
    loglik, label = trials()
    weights = np.random.default_rng(2).integers(1, 4, 300) if weighted else None
    calibrator = kind(prior=prior).fit(loglik, label, sample_weight=weights)
    scale, offset = optimum(loglik[:, None], label, prior=prior, weights=weights, **FORMS[kind])
    assert calibrator.scale_ == pytest.approx(scale[0], rel=1e-9)
    np.testing.assert_allclose(calibrator.offset_, offset, atol=1e-9)
    mapped = calibrator.transform(loglik)
    np.testing.assert_allclose(mapped, scale[0] * loglik + offset, atol=1e-8)
    assert calibrator.objective_ == pytest.approx(cross_entropy(mapped, label, prior, weights), rel=1e-12)
    assert calibrator.objective_ == pytest.approx(
        multiclass.cross_entropy(mapped, label, prior=prior, sample_weight=weights), rel=1e-12
    )


@pytest.mark.parametrize(("kind", "binary"), PAIRS)
@pytest.mark.parametrize("p_target", [0.5, 0.03])
def test_two_classes_are_the_calibration_of_their_difference(kind, binary, p_target):
    loglik, label = trials(400, 2, apart=1.0)
    many = kind(prior=[p_target, 1 - p_target]).fit(loglik, label)
    two = binary(p_target=p_target).fit(loglik[:, 0] - loglik[:, 1], label == 0)
    assert many.scale_ == pytest.approx(two.scale_, rel=1e-10)
    assert many.offset_[0] - many.offset_[1] == pytest.approx(two.offset_, rel=1e-10)
    assert many.objective_ == pytest.approx(two.objective_, rel=1e-12)
    mapped = many.transform(loglik)
    np.testing.assert_allclose(mapped[:, 0] - mapped[:, 1], two.transform(loglik[:, 0] - loglik[:, 1]), rtol=1e-9)


def test_a_penalty_of_two_classes_is_that_of_their_difference():
    loglik, label = trials(400, 2, apart=1.0)
    many = MulticlassCalibrator(ridge=0.3).fit(loglik, label)
    two = AffineCalibrator(ridge=0.3).fit(loglik[:, 0] - loglik[:, 1], label == 0)
    assert many.scale_ == pytest.approx(two.scale_, rel=1e-10)
    assert many.objective_ == pytest.approx(two.objective_, rel=1e-12)


def test_calibrated_log_likelihoods_are_left_as_they_are():
    """Scores drawn from Gaussians whose log-likelihoods they are, 40,000 of them: scale 1, no offsets."""
    rng = np.random.default_rng(4)
    label = rng.integers(0, 3, 40_000)
    centers = np.array([[1.0, 0.0], [0.0, 1.5], [-1.0, -1.0]])
    points = centers[label] + rng.normal(size=(40_000, 2))
    loglik = -0.5 * ((points[:, None] - centers) ** 2).sum(axis=2)
    calibrator = MulticlassCalibrator().fit(loglik, label)
    assert calibrator.scale_ == pytest.approx(1.0, abs=0.02)
    np.testing.assert_allclose(calibrator.offset_, 0.0, atol=0.03)
    again = MulticlassCalibrator().fit(3.0 * loglik + [1.0, -2.0, 0.0], label)
    assert again.scale_ == pytest.approx(calibrator.scale_ / 3.0, rel=1e-6)


def test_what_is_calibrated_already_is_a_fixed_point():
    loglik, label = trials()
    mapped = MulticlassCalibrator(prior=PRIOR).fit_transform(loglik, label)
    again = MulticlassCalibrator(prior=PRIOR).fit(mapped, label)
    assert again.scale_ == pytest.approx(1.0, rel=1e-8)
    np.testing.assert_allclose(again.offset_, 0.0, atol=1e-8)


def test_differences_of_pairs_keep_their_order():
    """The information in any pair of classes stays what it is (paper of 2006, section 4.2)."""
    loglik, label = trials()
    mapped = MulticlassCalibrator().fit_transform(loglik, label)
    for j in range(1, 4):
        before, after = loglik[:, 0] - loglik[:, j], mapped[:, 0] - mapped[:, j]
        assert np.all(np.diff(after[np.argsort(before)]) >= 0)


def test_proportions_of_the_data_do_not_matter():
    loglik, label = trials()
    rows = np.concatenate([np.repeat(np.flatnonzero(label == k), k + 1) for k in range(4)])
    one, many = (MulticlassCalibrator(prior=PRIOR).fit(loglik[r], label[r]) for r in (np.arange(300), rows))
    assert many.scale_ == pytest.approx(one.scale_, rel=1e-9)
    np.testing.assert_allclose(many.offset_, one.offset_, atol=1e-9)


@pytest.mark.parametrize("layout", ["F", "strided", "float32", "list", "integers"])
def test_any_layout_gives_the_same_map(layout):
    loglik, label = trials()
    loglik = np.round(4 * loglik) + 0.0
    forms = {
        "F": np.asfortranarray(loglik),
        "strided": np.repeat(loglik, 2, axis=1)[:, ::2],
        "float32": loglik.astype(np.float32),
        "list": loglik.tolist(),
        "integers": loglik.astype(np.int64),
    }
    plain, other = (MulticlassCalibrator().fit(x, label) for x in (loglik, forms[layout]))
    assert other.scale_ == pytest.approx(plain.scale_, rel=1e-10)
    assert other.training_.fingerprint == plain.training_.fingerprint
    np.testing.assert_allclose(other.transform(forms[layout]), plain.transform(loglik), atol=1e-9)


def test_nothing_that_is_passed_is_changed():
    loglik, label = trials()
    before = loglik.copy()
    MulticlassCalibrator().fit(loglik, label).transform(loglik)
    np.testing.assert_array_equal(loglik, before)


def test_names_of_classes_stay_with_the_model(tmp_path):
    loglik, label = trials()
    names = ("eng", "fra", "deu", "spa")
    calibrator = MulticlassCalibrator().fit(loglik, np.array(names)[label], classes=names)
    assert calibrator.classes_ == names
    assert calibrator.training_.counts == dict(zip(names, np.bincount(label).tolist(), strict=True))
    assert calibrator.scale_ == MulticlassCalibrator().fit(loglik, label).scale_
    calibrator.save(tmp_path / "m.json")
    assert deciban.load_model(tmp_path / "m.json").classes_ == names
    assert MulticlassCalibrator().fit(loglik, label).classes_ is None
    with pytest.raises(InputError, match="Pass classes="):
        MulticlassCalibrator().fit(loglik, np.array(names)[label])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda p: p.update(scale=-1.0), r"parameters\.scale: -1.0 is less than the minimum"),
        (lambda p: p["offset"].pop(), "prior: shape"),
        (lambda p: p.update(offset=[0.0]), r"parameters\.offset"),
        (lambda p: p.update(classes=["a", "b"]), "2 names for 4 classes"),
        (lambda p: p.update(classes=["a", "b", "c", "c"]), "'c' occurs twice"),
        (lambda p: p.pop("classes"), "'classes' is a required property"),
    ],
)
def test_files_that_contradict_themselves_are_refused(tmp_path, change, words):
    path = tmp_path / "m.json"
    MulticlassCalibrator(prior=PRIOR).fit(*trials()).save(path)
    content = json.loads(path.read_text())
    change(content["parameters"])
    path.write_text(json.dumps(content))
    with pytest.raises(FormatError, match=words):
        deciban.load_model(path)


@pytest.mark.parametrize("kind", KINDS)
def test_every_bit_comes_back_from_a_file(kind, tmp_path):
    loglik, label = trials()
    calibrator = kind(prior=np.array(PRIOR)).fit(loglik, label)
    calibrator.save(tmp_path / "m.json")
    back = deciban.load_model(tmp_path / "m.json")
    assert type(back) is kind
    assert back.settings == calibrator.settings
    assert back.training_ == calibrator.training_
    assert back.classes_ is None
    np.testing.assert_array_equal(back.transform(loglik), calibrator.transform(loglik))


def test_a_class_without_trials_is_named():
    loglik, label = trials()
    with pytest.raises(InputError, match=r"class 2 \('deu'\) has no trial"):
        MulticlassCalibrator().fit(loglik[label != 2], label[label != 2], classes=["eng", "fra", "deu", "spa"])
    calibrator = MulticlassCalibrator(prior=[0.5, 0.25, 0.0, 0.25]).fit(loglik[label != 2], label[label != 2])
    assert calibrator.offset_[2] == 0.0
    assert calibrator.offset_.sum() == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("kind", [MulticlassCalibrator, MulticlassScaleCalibrator])
@pytest.mark.parametrize("prior", [None, PRIOR])
def test_scores_that_favour_the_wrong_classes_get_scale_0_and_a_warning(kind, prior):
    loglik, label = trials()
    with pytest.warns(DecibanWarning, match="the best non-negative scale is 0") as caught:
        calibrator = kind(prior=prior).fit(-loglik, label)
    assert caught[0].filename == __file__
    assert calibrator.scale_ == 0.0
    np.testing.assert_array_equal(calibrator.offset_, 0.0)
    entropy = -np.sum(np.array(prior or [0.25] * 4) * np.log(prior or [0.25] * 4))
    assert calibrator.objective_ == pytest.approx(entropy, rel=1e-14)
    assert calibrator.training_.results["objective_relative_to_llr_0"] == pytest.approx(1.0)
    np.testing.assert_array_equal(calibrator.transform([[1.0, np.inf, -np.inf, 0.0]]), np.zeros((1, 4)))


def test_scale_0_is_also_the_answer_where_the_unlimited_optimum_is_none():
    """The classes are separated the wrong way round."""
    label = np.repeat([0, 1, 2], 6)
    loglik = np.random.default_rng(1).normal(scale=0.1, size=(18, 3)) - 5.0 * np.eye(3)[label]
    with pytest.warns(DecibanWarning, match="is 0"):
        assert MulticlassCalibrator().fit(loglik, label).scale_ == 0.0


@pytest.mark.parametrize("kind", [MulticlassCalibrator, MulticlassScaleCalibrator])
@pytest.mark.parametrize("row", [[0.0, 0.0, 0.0], [1.0, 2.0, 0.0]])
@pytest.mark.parametrize("shift", [0.0, 0.1])
def test_scores_that_say_nothing_are_told_from_scores_of_the_wrong_sense(kind, row, shift):
    """The same scores in all trials that count, also where those of a trial are shifted: refused, as of two classes."""
    label = np.arange(30) % 3
    loglik = np.tile(row, (30, 1)) + shift * np.arange(30)[::-1, None]
    with pytest.raises(InputError, match="all 30 trials have the same scores, .* cannot be calibrated"):
        kind().fit(loglik, label)
    with pytest.raises(InputError, match="Constant scores cannot be calibrated"):
        AffineCalibrator().fit(loglik[:, 0] - loglik[:, 1], label > 0)
    loglik[0] = [9.0, 0.0, 0.0]
    with pytest.raises(InputError, match="all 29 trials have the same scores"):
        kind().fit(loglik, label, sample_weight=np.r_[0.0, np.ones(29)])
    with pytest.warns(DecibanWarning, match="negate them") as caught:
        calibrator = kind().fit(-np.eye(3)[label] + loglik[1], label)
    assert caught[0].filename == __file__
    assert (calibrator.scale_, calibrator.objective_) == (0.0, pytest.approx(np.log(3.0), rel=1e-14))


def test_a_wrong_infinite_score_is_told_by_the_name_of_its_class():
    loglik, label = trials()
    at = int(np.flatnonzero(label == 2)[3])
    loglik[at, 2] = -np.inf
    message = rf"true class of 1 trials, the first at index {at}, of class 2 \('deu'\)"
    with pytest.raises(InputError, match=message):
        MulticlassCalibrator().fit(loglik, label, classes=["eng", "fra", "deu", "spa"])
    with pytest.raises(InputError, match=rf"index {at}, of class 2: "):
        MulticlassCalibrator().fit(loglik, label)


@pytest.mark.parametrize("far", [1e6, 1e12, 1e100, 1e300])
def test_one_score_that_is_far_on_the_wrong_side_leaves_no_scale(far):
    loglik, label = trials()
    loglik[11, (label[11] + 1) % 4] = far
    with pytest.warns(DecibanWarning, match="is 0"):
        assert MulticlassCalibrator().fit(loglik, label).scale_ == 0.0


def test_classes_that_are_separated_are_refused_unless_there_is_a_penalty():
    label = np.repeat([0, 1, 2], 6)
    loglik = 5.0 * np.eye(3)[label] + np.random.default_rng(1).normal(size=(18, 3))
    for kind in (MulticlassCalibrator, MulticlassScaleCalibrator):
        with pytest.raises(InputError, match=r"separated.*ridge=0.001"):
            kind().fit(loglik, label)
        assert kind(ridge=1e-3).fit(loglik, label).scale_ > 0.5
    assert MulticlassShiftCalibrator().fit(loglik, label).scale_ == 1.0


def test_infinite_log_likelihoods_go_through():
    loglik, label = trials()
    loglik[3, (label[3] + 1) % 4] = -np.inf
    loglik[4, label[4]] = np.inf
    calibrator = MulticlassCalibrator().fit(loglik, label)
    mapped = calibrator.transform(loglik)
    assert mapped[3, (label[3] + 1) % 4] == -np.inf
    assert mapped[4, label[4]] == np.inf
    assert calibrator.objective_ == pytest.approx(multiclass.cross_entropy(mapped, label, prior=None), rel=1e-12)


def test_finite_numbers_do_not_become_certainty(tmp_path):
    loglik, label = trials()
    calibrator = MulticlassCalibrator().fit(1e-300 * loglik, label)
    zero, far = [0.0] * loglik.shape[1], [1e10, -1e10, 2e10] + [0.0] * (loglik.shape[1] - 3)
    for wrong in (far, [np.inf, *far[1:]]):
        with pytest.raises(InputError, match=r"1 of 2 trials.*exceed double precision.*, the first at index 1"):
            calibrator.transform([zero, wrong])
    calibrator.scale_ = 1e308
    calibrator.save(tmp_path / "c.json")
    with pytest.raises(InputError, match="exceed double precision.*, the first at index 0"):
        deciban.load_model(tmp_path / "c.json").transform([far])
    calibrator.scale_ = 1.0
    np.testing.assert_array_equal(calibrator.transform([[np.inf, *far[1:]]])[0, 0], np.inf)


def test_the_record_of_training():
    loglik, label = trials()
    training = MulticlassCalibrator().fit(loglik, label).training_
    order = np.random.default_rng(1).permutation(300)
    assert training.counts == {str(k): n for k, n in enumerate(np.bincount(label).tolist())}
    assert MulticlassCalibrator().fit(loglik[order], label[order]).training_.fingerprint == training.fingerprint
    swapped = label.copy()
    swapped[[0, 1]] = (label[[0, 1]] + 1) % 4
    assert MulticlassCalibrator().fit(loglik, swapped).training_.fingerprint != training.fingerprint
    assert "converged" in training.results["status"]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"prior": [0.5, 0.6]}, "sum to 1.1"),
        ({"prior": [0.5, -0.5, 1.0]}, "prior"),
        ({"prior": [np.nan, 1.0]}, "prior"),
        ({"prior": "flat"}, "prior: expected real numbers"),
        ({"prior": [[0.5, 0.5]]}, "prior"),
        ({"prior": 1.0}, "only one class"),
        ({"ridge": -1.0}, "ridge"),
        ({"ridge": np.nan}, "ridge"),
    ],
)
def test_settings_out_of_range_are_refused_at_once(settings, words):
    with pytest.raises(InputError, match=words):
        MulticlassCalibrator(**settings)


@pytest.mark.parametrize(
    ("loglik", "label", "words"),
    [
        ([1.0, 2.0], [0, 1], r"shape \(n_trials, n_classes\)"),
        ([[1.0, np.nan], [0.0, 1.0]], [0, 1], "NaN"),
        ([[1.0, 2.0], [0.0, 1.0]], [0, 2], "whole numbers from 0 to 1"),
        ([[1.0, 2.0], [0.0, 1.0]], [0], "one label per trial"),
        ([[-np.inf, -np.inf], [0.0, 1.0]], [0, 1], "exclude every class"),
    ],
)
def test_input_that_means_nothing_is_refused(loglik, label, words):
    with pytest.raises(InputError, match=words):
        MulticlassCalibrator().fit(loglik, label)


def test_a_prior_of_another_number_of_classes_is_refused():
    loglik, label = trials()
    with pytest.raises(InputError, match="prior"):
        MulticlassCalibrator(prior=[0.5, 0.5]).fit(loglik, label)


def test_untrained_and_mismatched_use_is_refused():
    loglik, label = trials()
    with pytest.raises(InputError, match=r"Call fit\(loglik, label\) first"):
        MulticlassCalibrator().transform(loglik)
    with pytest.raises(InputError, match="3 classes, but the model was trained on 4"):
        MulticlassCalibrator().fit(loglik, label).transform(loglik[:, :3])


def test_training_that_does_not_end_is_told(monkeypatch):
    from deciban.core.training import trust_region

    loglik, label = trials()
    real, limit = trust_region.minimize, 2
    monkeypatch.setattr(trust_region, "minimize", lambda *a, **k: real(*a, **{**k, "max_evaluations": limit}))
    with pytest.warns(DecibanWarning, match="not converged") as caught:
        MulticlassCalibrator().fit(loglik, label)
    assert caught[0].filename == __file__
    limit = 1
    with pytest.raises(InputError, match="no scale above 0, although one exists: not converged"):
        MulticlassCalibrator().fit(loglik, label)


def test_real_scores_of_images(real_data):
    """Logits of CIFAR-10: trained on one set, they inform better on another one, skewed or not."""
    folder = real_data / "cifar10_resnet50"
    val, tst, skewed = (
        (np.load(folder / f"{name}_predictions.npy"), np.load(folder / f"{name}_targets.npy"))
        for name in ("val", "tst", "tst_p")
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        calibrator = MulticlassCalibrator().fit(*val)
    for loglik, label in (tst, skewed):
        before, after = multiclass.cllr(loglik, label), multiclass.cllr(calibrator.transform(loglik), label)
        least = multiclass.min_cllr(loglik, label)
        assert least <= after < before
        assert after - least < 0.25 * (before - least)


@pytest.mark.parametrize("scale", [1.0, 1e3, 1e6, 1e14])
@pytest.mark.parametrize(
    ("lead", "label"), [([3, 1, -2, 2, -1, -3], [0, 0, 0, 1, 1, 1]), ([2, -1, -1, 1, -2], [0, 0, 0, 1, 1])]
)
def test_offsets_of_scores_however_far_apart(lead, label, scale):
    """Against a scan of offsets that knows no derivatives; far apart, costs are all but piecewise linear."""
    loglik, label = scale * np.column_stack((lead, np.zeros(len(lead)))), np.array(label)
    llr = (loglik[:, 0] + scale * np.linspace(-4, 4, 8001)[:, None]) * np.where(label == 0, 1, -1)
    costs = np.logaddexp(0.0, -llr)
    best = np.min(0.5 * costs[:, label == 0].mean(axis=1) + 0.5 * costs[:, label == 1].mean(axis=1))
    found = MulticlassShiftCalibrator().fit(loglik, label).objective_
    assert best * (1.0 - 1e-5) <= found <= best * (1.0 + 1e-12)
    assert multiclass.calibration_analysis(loglik, label).after_offset_only == pytest.approx(found / np.log(2))


@pytest.mark.parametrize(
    ("loglik", "prior"), [([[1, 0], [0, 1]], [0.1, 0.9]), ([[1, 0], [0.1, 0], [0, 0.1], [0, 2]], [0.05, 0.95])]
)
def test_scores_that_separate_are_refused_at_any_prior(loglik, prior):
    label = [0, 1] if len(loglik) == 2 else [0, 0, 1, 1]
    with pytest.raises(InputError, match="the classes are separated"):
        MulticlassScaleCalibrator(prior=prior).fit(loglik, label)


@pytest.mark.parametrize("ridge", [1e3, 1e8, 1e13, 1e200])
def test_large_penalties_leave_offsets_alone(ridge):
    loglik, label = trials()
    model = MulticlassCalibrator(ridge=ridge).fit(loglik, label)
    assert model.objective_ == pytest.approx(np.log(loglik.shape[1]), rel=1e-2)  # only a scale of 0 is left
    assert "not determined" not in model.training_.results["status"]
