"""Detectors calibrated one by one: what each is equal to, what is made of them together, their files."""

import json
import tracemalloc

import numpy as np
import pytest

import deciban
from deciban import multiclass
from deciban.calibration import (
    AffineCalibrator,
    DetectionAffineTransformation,
    DetectionPavTransformation,
    MulticlassCalibrator,
    PavCalibrator,
)
from deciban.errors import DecibanWarning, FormatError, InputError
from support.many_classes import problem

PRIOR = [0.1, 0.2, 0.3, 0.4]


def trials(n=400, n_classes=4, **how):
    systems, label = problem(n, 1, n_classes, **how)
    return systems[:, 0], label


def test_two_classes_are_the_two_class_map():
    loglik, label = trials(300, 2, apart=1.0)
    many = DetectionPavTransformation(smoothing=0.0).fit(loglik, label)
    two = PavCalibrator().fit(loglik[:, 0] - loglik[:, 1], label == 0)
    llr = many.detection_llr(loglik)
    np.testing.assert_allclose(llr[:, 0], two.transform(loglik[:, 0] - loglik[:, 1]), atol=1e-12)
    np.testing.assert_array_equal(llr[:, 0], -llr[:, 1])
    mapped = many.transform(loglik)
    np.testing.assert_allclose(multiclass.pairwise_llr(mapped, 0, 1), llr[:, 0], atol=1e-12)
    assert many.objective_ / np.log(2) == pytest.approx(two.training_.results["objective_relative_to_llr_0"], rel=1e-9)


@pytest.mark.parametrize("prior", [None, PRIOR])
@pytest.mark.parametrize("weighted", [False, True])
def test_each_detector_is_the_best_monotone_map_against_the_rest(prior, weighted):
    """The cost of each, with the other classes shared as the prior says, is the minimum of the detection problem."""
    loglik, label = trials()
    weight = np.random.default_rng(1).integers(1, 4, 400) if weighted else np.ones(400, np.int64)
    fitted = DetectionPavTransformation(prior=prior, smoothing=0.0).fit(
        loglik, label, sample_weight=weight if weighted else None
    )
    llr, pi = fitted.detection_llr(loglik), np.array(prior or [0.25] * 4)
    raw = multiclass.detection_llrs(loglik, prior=prior)
    counts = np.bincount(label, weight)
    for k in range(4):
        rest = label != k
        weights = (weight * (pi / counts)[label])[rest]
        cost = deciban.metrics.cllr(llr[~rest, k], llr[rest, k], tar_weights=weight[~rest], non_weights=weights)
        least = deciban.metrics.min_cllr(raw[~rest, k], raw[rest, k], tar_weights=weight[~rest], non_weights=weights)
        assert cost == pytest.approx(least, rel=1e-10)


def test_what_comes_out_are_posteriors_without_the_prior():
    loglik, label = trials()
    fitted = DetectionPavTransformation(prior=PRIOR).fit(loglik, label)
    log_odds = fitted.detection_llr(loglik) + np.log(PRIOR) - np.log1p(-np.array(PRIOR))
    expected = -np.log1p(np.exp(-log_odds)) - np.log(PRIOR)
    np.testing.assert_allclose(fitted.transform(loglik), expected, atol=1e-12)
    found = multiclass.cross_entropy(fitted.transform(loglik), label, prior=PRIOR)
    assert fitted.objective_ == pytest.approx(found, rel=1e-12)
    flat = DetectionPavTransformation().fit(loglik, label)
    projected = multiclass.project_detection_llr(flat.detection_llr(loglik))
    np.testing.assert_allclose(flat.transform(loglik), projected + np.log(4), atol=1e-12)


def test_it_only_sees_differences_within_a_trial():
    loglik, label = trials()
    loglik = np.round(loglik * 2**10) / 2**10
    shift = np.round(np.random.default_rng(1).normal(scale=1e6, size=(400, 1)))
    fitted = DetectionPavTransformation().fit(loglik, label)
    np.testing.assert_allclose(fitted.transform(loglik + shift), fitted.transform(loglik), atol=1e-9)


def test_a_trial_that_all_detectors_reject_has_no_class_left():
    label = np.repeat([0, 1, 2], 20)
    loglik = 4.0 * np.eye(3)[label] + np.random.default_rng(1).normal(scale=0.1, size=(60, 3))
    with pytest.warns(DecibanWarning, match="class [012]: .*separated"):
        fitted = DetectionPavTransformation(smoothing=0.0).fit(loglik, label)
    with pytest.raises(InputError, match="all detectors reject 1 trials with certainty, the first at index 1"):
        fitted.transform(np.vstack((loglik[:1], np.zeros((1, 3)))))
    assert np.isfinite(DetectionPavTransformation().fit(loglik, label).transform(np.zeros((1, 3)))).all()


def test_a_refit_that_fails_changes_nothing():
    label = np.repeat([0, 1, 2], 20)
    loglik = 4.0 * np.eye(3)[label] + np.random.default_rng(1).normal(scale=0.1, size=(60, 3))
    fitted = DetectionPavTransformation().fit(loglik, label)
    before, objective = fitted.parameters(), fitted.objective_
    fitted.smoothing = 0.0
    with pytest.warns(DecibanWarning, match="separated"), pytest.raises(InputError, match="at index 60"):
        fitted.fit(np.vstack((loglik, np.zeros((1, 3)))), np.append(label, 0), sample_weight=np.append(np.ones(60), 0))
    assert fitted.parameters() == before
    assert fitted.objective_ == objective


def test_a_class_whose_prior_is_nearly_1():
    """Only how the others share among themselves decides on a detector; as their prior falls, posteriors are ratios."""
    loglik, label = trials(400, 3)
    tiny = DetectionPavTransformation(prior=[1 - 2e-17, 1e-17, 1e-17]).fit(loglik, label)
    even = DetectionPavTransformation(prior=[0.5, 0.25, 0.25]).fit(loglik, label)
    np.testing.assert_allclose(tiny.detectors_[0].llr_, even.detectors_[0].llr_, atol=1e-12)
    llr, mapped = tiny.detection_llr(loglik), tiny.transform(loglik)
    np.testing.assert_allclose(mapped[:, 1:], llr[:, 1:], atol=1e-12)
    np.testing.assert_allclose(mapped[:, 0], 0.0, atol=1e-12)


def test_no_more_is_held_than_one_number_for_each_class_and_trial():
    loglik, label = trials(20_000, 20)
    size = 8 * loglik.size
    loglik = loglik.astype(np.float32)
    tracemalloc.start()
    try:
        fitted = DetectionPavTransformation().fit(loglik, label)
        in_training = tracemalloc.get_traced_memory()[1]
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        fitted.transform(loglik)
        in_use = tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()
    assert in_training < 2.5 * size
    assert in_use < 2.0 * size


def test_infinite_log_likelihoods_are_scores_like_others():
    loglik, label = trials()
    loglik[3, (label[3] + 1) % 4] = -np.inf
    loglik[4, label[4]] = np.inf
    fitted = DetectionPavTransformation().fit(loglik, label)
    assert np.isfinite(fitted.transform(loglik)).all()
    assert np.argmax(fitted.transform(loglik)[4]) == label[4]


def test_warnings_name_the_class():
    loglik, label = trials(200, 3)
    loglik[:, 1] = -50.0 * (label == 1)
    with pytest.warns(DecibanWarning, match=r"class 1 \('fra'\): .*one block") as caught:
        DetectionPavTransformation().fit(loglik, label, classes=["eng", "fra", "deu"])
    assert caught[0].filename == __file__


def test_every_bit_comes_back_from_a_file(tmp_path):
    loglik, label = trials()
    fitted = DetectionPavTransformation(prior=PRIOR, smoothing=0.0, bound=8.0).fit(loglik, label, classes=list("abcd"))
    fitted.save(tmp_path / "m.json")
    back = deciban.load_model(tmp_path / "m.json")
    assert type(back) is DetectionPavTransformation
    assert back.settings == fitted.settings
    assert back.training_ == fitted.training_
    np.testing.assert_array_equal(back.transform(loglik), fitted.transform(loglik))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda p: p["detectors"].pop(), "prior: shape"),
        (lambda p: p["detectors"][1]["llr"].append(1.0), "Every block needs one of each"),
        (lambda p: p["detectors"][1].pop("low"), "'low' is a required property"),
    ],
)
def test_files_that_contradict_themselves_are_refused(tmp_path, change, words):
    loglik, label = trials()
    path = tmp_path / "m.json"
    DetectionPavTransformation(prior=PRIOR).fit(loglik, label).save(path)
    content = json.loads(path.read_text())
    change(content["parameters"])
    path.write_text(json.dumps(content))
    with pytest.raises(FormatError, match=words):
        deciban.load_model(path)


def test_settings_and_use_that_mean_nothing_are_refused():
    loglik, label = trials()
    with pytest.raises(InputError, match="interpolation"):
        DetectionPavTransformation(interpolation="cubic")
    with pytest.raises(InputError, match="smoothing"):
        DetectionPavTransformation(smoothing=-1.0)
    with pytest.raises(InputError, match="class 1 has prior 0"):
        DetectionPavTransformation(prior=[0.5, 0.0, 0.25, 0.25]).fit(loglik, label)
    with pytest.raises(InputError, match="first"):
        DetectionPavTransformation().detection_llr(loglik)


def test_one_map_of_all_classes_is_better_on_other_trials():
    """Trained on 400 trials and tried on 4000: what the thesis saw in language recognition (8.3.3)."""
    loglik, label = trials(4400, 6)
    train, test = (loglik[:400], label[:400]), (loglik[400:], label[400:])
    one, each = MulticlassCalibrator().fit(*train), DetectionPavTransformation().fit(*train)
    costs = [multiclass.cllr(model.transform(test[0]), test[1]) for model in (one, each)]
    assert costs[0] < costs[1]


def test_one_against_the_rest_is_logistic_regression_of_each_detector():
    """Of two classes it is the affine map of the differences; of more each detector is trained at its prior."""
    loglik, label = trials(300, 2, apart=1.0)
    many, two = DetectionAffineTransformation().fit(loglik, label), AffineCalibrator()
    two.fit(loglik[:, 0] - loglik[:, 1], label == 0)
    np.testing.assert_allclose(many.detection_llr(loglik)[:, 0], two.transform(loglik[:, 0] - loglik[:, 1]), atol=1e-7)
    loglik, label = trials()
    found = DetectionAffineTransformation(prior=PRIOR).fit(loglik, label)
    llr = multiclass.detection_llrs(loglik, prior=PRIOR)
    for k, detector in enumerate(found.detectors_):
        share = np.array(PRIOR) / (1.0 - PRIOR[k]) / np.bincount(label)
        share[k] = 1.0 / np.count_nonzero(label == k)
        own = AffineCalibrator(p_target=PRIOR[k]).fit(llr[:, k], label == k, sample_weight=share[label])
        assert (detector.scale_, detector.offset_) == pytest.approx((own.scale_, own.offset_), rel=1e-6)


def test_one_against_the_rest_is_written_and_read(tmp_path):
    loglik, label = trials()
    model = DetectionAffineTransformation(ridge=0.01).fit(loglik, label)
    model.save(tmp_path / "model.json")
    np.testing.assert_array_equal(
        deciban.load_model(tmp_path / "model.json").transform(loglik), model.transform(loglik)
    )


def test_one_scale_for_all_is_better_than_one_against_the_rest_on_other_trials():
    """Thesis figure 8.4: where all classes are off by one scale and offsets, they are best calibrated together."""
    loglik, label = trials(2000, 6, apart=1.5)
    costs = []
    for model in (MulticlassCalibrator(), DetectionAffineTransformation()):
        model.fit(0.3 * loglik[:1000], label[:1000])
        costs.append(multiclass.cllr(model.transform(0.3 * loglik[1000:]), label[1000:]))
    assert costs[0] < costs[1]
