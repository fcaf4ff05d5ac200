"""Fusion of many classes: what users have, what they get, what they are told."""

import numpy as np
import pytest

import deciban
from deciban import multiclass
from deciban.calibration import MulticlassCalibrator, MulticlassScaleCalibrator
from deciban.core.training.moments import sample_of_classes
from deciban.core.training.multiclass_objective import ClassTrials
from deciban.errors import FormatError, InputError
from deciban.fusion import LinearFusion, MulticlassFusion
from support.many_classes import cross_entropy, optimum, problem

PRIOR = [0.1, 0.2, 0.3, 0.4]


@pytest.mark.parametrize("offsets", [True, False])
@pytest.mark.parametrize("prior", [None, PRIOR])
def test_the_best_weights_and_offsets(offsets, prior):
    systems, label = problem(300, 3)
    weights = np.random.default_rng(2).integers(1, 4, 300)
    fusion = MulticlassFusion(prior=prior, offsets=offsets).fit(systems, label, sample_weight=weights)
    best, offset = optimum(systems, label, prior=prior, weights=weights, offset=offsets)
    np.testing.assert_allclose(fusion.weights_, best, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(fusion.offset_, offset, atol=1e-8)
    fused = fusion.transform(systems)
    np.testing.assert_allclose(fused, np.tensordot(systems, best, (1, 0)) + offset, atol=1e-7)
    assert fusion.objective_ == pytest.approx(cross_entropy(fused, label, prior, weights), rel=1e-12)
    assert fusion.penalized_objective_ == fusion.objective_


def test_systems_that_are_functions_of_one_another():
    """Log-likelihoods and their squares: the optimum is that of scipy, below that of either alone."""
    loglik, label = problem(200, 1, 3)
    systems = np.concatenate((loglik, loglik**2), axis=1)
    fusion = MulticlassFusion().fit(systems, label)
    best, offset = optimum(systems, label)
    np.testing.assert_allclose(fusion.weights_, best, atol=1e-8)
    np.testing.assert_allclose(fusion.offset_, offset, atol=1e-8)
    assert fusion.objective_ <= MulticlassCalibrator().fit(loglik[:, 0], label).objective_


@pytest.mark.parametrize("ridge", [0.0, 0.1])
def test_one_system_is_calibrated(ridge):
    systems, label = problem(300, 1)
    fusion = MulticlassFusion(ridge=ridge).fit(systems, label)
    calibrator = MulticlassCalibrator(ridge=ridge).fit(systems[:, 0], label)
    assert fusion.weights_[0] == pytest.approx(calibrator.scale_, rel=1e-10)
    np.testing.assert_allclose(fusion.offset_, calibrator.offset_, atol=1e-10)
    scaled = MulticlassFusion(ridge=ridge, offsets=False).fit(systems, label)
    assert scaled.weights_[0] == pytest.approx(
        MulticlassScaleCalibrator(ridge=ridge).fit(systems[:, 0], label).scale_, rel=1e-10
    )
    np.testing.assert_array_equal(scaled.offset_, 0.0)


@pytest.mark.parametrize("ridge", [0.0, 0.1])
@pytest.mark.parametrize("p_target", [0.5, 0.03])
def test_two_classes_are_the_fusion_of_their_differences(ridge, p_target):
    systems, label = problem(400, 3, 2, apart=1.0)
    many = MulticlassFusion(prior=[p_target, 1 - p_target], ridge=ridge).fit(systems, label)
    two = LinearFusion(p_target=p_target, ridge=ridge).fit(systems[:, :, 0] - systems[:, :, 1], label == 0)
    np.testing.assert_allclose(many.weights_, two.weights_, rtol=1e-10)
    np.testing.assert_allclose(many.standardized_weights_, two.standardized_weights_, rtol=1e-10)
    assert many.offset_[0] - many.offset_[1] == pytest.approx(two.offset_, rel=1e-10)
    assert many.objective_ == pytest.approx(two.objective_, rel=1e-12)
    assert many.penalized_objective_ == pytest.approx(two.penalized_objective_, rel=1e-12)


def test_it_is_never_worse_than_a_single_system():
    systems, label = problem(300, 3)
    fusion = MulticlassFusion().fit(systems, label)
    assert fusion.objective_ < min(MulticlassCalibrator().fit(systems[:, k], label).objective_ for k in range(3))
    fused = multiclass.cross_entropy(fusion.transform(systems), label, prior=None)
    assert fused == pytest.approx(fusion.objective_, rel=1e-12)


def test_a_system_that_tells_the_error_of_another_gets_a_negative_weight():
    rng = np.random.default_rng(2)
    label = rng.integers(0, 3, 600)
    noise = 3 * rng.normal(size=(600, 3))
    one, other = (noise + rng.normal(size=(600, 3)) for _ in range(2))
    one[np.arange(600), label] += 1.5
    fusion = MulticlassFusion().fit(np.stack((one, other), axis=1), label)
    assert fusion.weights_[0] > 0 > fusion.weights_[1]


@pytest.mark.parametrize("layout", ["F", "transposed", "float32", "list"])
def test_any_layout_gives_the_same_fusion(layout):
    systems, label = problem(300, 2)
    systems = systems.astype(np.float32).astype(np.float64)
    forms = {
        "F": np.asfortranarray(systems),
        "transposed": np.ascontiguousarray(np.swapaxes(systems, 0, 1)).swapaxes(0, 1),
        "float32": systems.astype(np.float32),
        "list": systems.tolist(),
    }
    plain, other = (MulticlassFusion().fit(x, label) for x in (systems, forms[layout]))
    np.testing.assert_allclose(other.weights_, plain.weights_, rtol=1e-9)
    assert other.training_.fingerprint == plain.training_.fingerprint
    np.testing.assert_allclose(other.transform(forms[layout]), plain.transform(systems), atol=1e-8)


def test_whole_numbers_are_scores_too():
    systems, label = problem(300, 2)
    whole = np.round(3 * systems).astype(np.int64)
    one, other = (MulticlassFusion().fit(x, label) for x in (whole, whole.astype(np.float64)))
    np.testing.assert_array_equal(one.weights_, other.weights_)


def test_infinite_log_likelihoods_go_through():
    systems, label = problem(300, 2)
    systems[3, 0, (label[3] + 1) % 4] = -np.inf
    systems[4, 1, label[4]] = np.inf
    fusion = MulticlassFusion().fit(systems, label)
    assert np.all(fusion.weights_ > 0)
    fused = fusion.transform(systems)
    assert fused[3, (label[3] + 1) % 4] == -np.inf
    assert fused[4, label[4]] == np.inf
    assert fusion.objective_ == pytest.approx(multiclass.cross_entropy(fused, label, prior=None), rel=1e-12)


def test_infinite_log_likelihoods_of_a_negative_weight_are_refused():
    rng = np.random.default_rng(2)
    label = rng.integers(0, 3, 600)
    noise = 3 * rng.normal(size=(600, 3))
    systems = np.stack([noise + rng.normal(size=(600, 3)) for _ in range(2)], axis=1)
    systems[np.arange(600), 0, label] += 1.5
    systems[5, 1, (label[5] + 1) % 3] = -np.inf
    with pytest.raises(InputError, match=r"weight of system 1 is -.*1 of 600 trials are infinite.* index 5"):
        MulticlassFusion().fit(systems, label)


def test_certainty_does_not_become_its_contrary():
    rng = np.random.default_rng(2)
    label = rng.integers(0, 3, 600)
    noise = 3 * rng.normal(size=(600, 3))
    systems = np.stack([noise + rng.normal(size=(600, 3)) for _ in range(2)], axis=1)
    systems[np.arange(600), 0, label] += 1.5
    fusion = MulticlassFusion().fit(systems, label)
    assert fusion.weights_[1] < 0.0
    fine = [[-np.inf, 0.0, 0.0], [0.0, 0.0, 0.0]]
    assert fusion.transform([fine])[0, 0] == -np.inf
    with pytest.raises(InputError, match=r"weight of system 1 is -.*1 of 2 trials are infinite, the first at index 1"):
        fusion.transform([fine, fine[::-1]])


def test_finite_numbers_do_not_become_certainty():
    systems, label = problem(300, 2)
    fusion = MulticlassFusion().fit(1e-300 * systems, label)
    zero, far = np.zeros((2, 4)), np.array([[1e10, -1e10, 2e10, 0.0], [0.0, 0.0, 0.0, 0.0]])
    excluded = np.array([[1e10, 0.0, 0.0, 0.0], [-np.inf, 0.0, 0.0, 0.0]])
    for wrong in (far, far[::-1], excluded):
        with pytest.raises(InputError, match=r"1 of 2 trials.*exceed double precision.*, the first at index 1"):
            fusion.transform([zero, wrong])
    fine = fusion.transform([[[-np.inf, 0.0, 0.0, 0.0], [1e-290, 0.0, 0.0, 0.0]]])[0]
    np.testing.assert_array_equal(np.isfinite(fine), [False, True, True, True])
    fusion.weights_[:] = 1.0
    with pytest.raises(InputError, match="the first at index 0"):  # only their sum is too large
        fusion.transform([[[1e308, 0.0, 0.0, 0.0]] * 2])


def test_systems_that_contradict_each_other_are_refused():
    systems, label = problem(300, 2)
    fusion = MulticlassFusion().fit(systems, label)
    systems[7, :, 0] = [np.inf, -np.inf]
    with pytest.raises(InputError, match="1 trials systems contradict each other.*index 7"):
        fusion.transform(systems)
    systems[7] = 0.0
    systems[7, 0, :2] = systems[7, 1, 2:] = -np.inf
    with pytest.raises(InputError, match="index 7"):
        fusion.transform(systems)


def test_a_system_of_weight_0_does_not_count_even_where_it_is_infinite():
    systems, label = problem(300, 2)
    systems[:, 1] = 3.0
    fusion = MulticlassFusion().fit(systems, label)
    assert fusion.weights_[1] == 0.0
    systems[0, 1, 0] = np.inf
    assert np.isfinite(fusion.transform(systems)).all()


def test_every_bit_comes_back_from_a_file(tmp_path):
    systems, label = problem(300, 2)
    fusion = MulticlassFusion(prior=PRIOR, ridge=0.01, offsets=False).fit(systems, label, classes=list("abcd"))
    fusion.save(tmp_path / "f.json")
    back = deciban.load_model(tmp_path / "f.json")
    assert type(back) is MulticlassFusion
    assert back.settings == fusion.settings
    assert back.training_ == fusion.training_
    assert back.classes_ == ("a", "b", "c", "d")
    np.testing.assert_array_equal(back.standardized_weights_, fusion.standardized_weights_)
    np.testing.assert_array_equal(back.transform(systems), fusion.transform(systems))


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ('"standardized_weights": [\n      ', '"standardized_weights": [\n 1.0,', "different lengths"),
        ('"offset": [\n      ', '"offset": [\n 1.0,', "4 names for 5 classes"),
        ('"ridge": 0.01', '"ridge": -1', "ridge"),
        ('"offsets": true', '"offsets": 2', "offsets: got 2"),
        ('"a",', '"b",', "'b' occurs twice"),
    ],
)
def test_files_that_contradict_themselves_are_refused(tmp_path, before, after, words):
    systems, label = problem(300, 2)
    path = tmp_path / "f.json"
    MulticlassFusion(prior=PRIOR, ridge=0.01).fit(systems, label, classes=list("abcd")).save(path)
    assert before in path.read_text()
    path.write_text(path.read_text().replace(before, after))
    with pytest.raises(FormatError, match=words):
        deciban.load_model(path)


@pytest.mark.parametrize(
    ("loglik", "words"),
    [
        (np.zeros((3, 4)), r"expected an array of shape \(n_trials, n_systems, n_classes\)"),
        (np.zeros((3, 0, 4)), "no system"),
        (np.zeros((3, 2, 1)), "two classes are needed"),
        (np.full((3, 2, 4), np.nan), r"loglik\[:, 0\]: 3 of 3 trials contain NaN"),
    ],
)
def test_input_that_means_nothing_is_refused(loglik, words):
    with pytest.raises(InputError, match=words):
        MulticlassFusion().fit(loglik, [0, 1, 2])


def test_mismatched_use_is_refused():
    systems, label = problem(300, 2)
    with pytest.raises(InputError, match=r"Call fit\(loglik, label\) first"):
        MulticlassFusion().transform(systems)
    fusion = MulticlassFusion().fit(systems, label)
    with pytest.raises(InputError, match="1 systems, but the fusion was trained on 2"):
        fusion.transform(systems[:, :1])
    with pytest.raises(InputError, match="3 classes, but the model was trained on 4"):
        fusion.transform(systems[:, :, :3])
    with pytest.raises(InputError, match="offsets: got 'no'"):
        MulticlassFusion(offsets="no")


def test_classes_that_two_systems_separate_together_are_refused_unless_there_is_a_penalty():
    label = np.repeat([0, 1, 2], 20)
    rng = np.random.default_rng(1)
    noise = 3 * rng.normal(size=(60, 3))
    systems = np.stack((np.eye(3)[label] + noise, noise), axis=1)
    with pytest.raises(InputError, match="separated"):
        MulticlassFusion().fit(systems, label)
    fusion = MulticlassFusion(ridge=1e-4).fit(systems, label)
    assert fusion.weights_[0] > 1.0
    assert fusion.weights_[1] < -1.0


@pytest.mark.parametrize("n", [100, 3000, 40_000])
@pytest.mark.parametrize("settings", [{}, {"ridge": 1e-3}, {"offsets": False}])
@pytest.mark.parametrize("shift", [0.0, 10.0, 1e6])
def test_a_system_that_gives_the_same_vector_in_all_trials_changes_nothing(n, settings, shift):
    """Also where something is added to all classes of a trial, which leaves differences that are rounded."""
    rng = np.random.default_rng(n)
    label = np.arange(n) % 3
    good = 2.0 * np.eye(3)[label] + rng.normal(size=(n, 3))
    silent = np.array([0.1, 0.7, 0.3]) + shift * rng.normal(size=(n, 1))
    fusion = MulticlassFusion(**settings).fit(np.stack([good, silent], axis=1), label)
    alone = MulticlassFusion(**settings).fit(good[:, None], label)
    assert fusion.weights_[1] == fusion.standardized_weights_[1] == 0.0
    assert fusion.weights_[0] == pytest.approx(alone.weights_[0], rel=1e-9)
    np.testing.assert_allclose(fusion.offset_, alone.offset_, atol=1e-9)
    assert fusion.objective_ == pytest.approx(alone.objective_, rel=1e-12)


def test_a_system_that_is_the_same_where_a_sample_looks_is_not_silent():
    rng = np.random.default_rng(1)
    label = np.arange(120_000) % 3
    systems = 2.0 * np.eye(3)[label][:, None] + rng.normal(size=(len(label), 2, 3))
    seen = sample_of_classes(ClassTrials(np.arange(len(label))[:, None, None] + np.zeros(3), label, np.ones(3))).systems
    rows = seen[:, 0, 0].astype(int)
    assert len(rows) < 12_000
    systems[rows, 1] = [0.1, 0.7, 0.3]
    fusion = MulticlassFusion().fit(systems, label)
    assert abs(fusion.weights_[1]) > 0.1
    llr = fusion.transform(systems)
    assert multiclass.cllr(llr, label) * np.log(2.0) == pytest.approx(fusion.objective_, rel=1e-9)
