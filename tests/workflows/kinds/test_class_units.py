"""Scores of classes in other units: detection llrs, as evaluations of language recognition take them."""

import numpy as np
import pytest
from scipy.special import logsumexp, softmax

from deciban import apply_files, evaluate_files
from deciban.calibration import MulticlassCalibrator
from deciban.errors import InputError
from deciban.io import read_class_scores
from deciban.io.writing import convert
from deciban.multiclass import project_detection_llr
from deciban.workflows import Options, read_joined
from support.class_files import CLASSES, names, trials, write_key, write_table

P_TARGET = 0.1


@pytest.fixture
def files(tmp_path):
    """The same scores as log-likelihoods and as detection llrs, which are made from posteriors."""
    loglik, label = trials()
    posterior = softmax(loglik, axis=1)
    write_table(tmp_path / "loglik.csv", loglik)
    write_table(tmp_path / "detection.csv", np.log(posterior / (1.0 - posterior)) + np.log(2.0))
    write_key(tmp_path / "key.csv", label)
    return tmp_path


def detection_llr(loglik):
    """Of each class against the mean likelihood of the others, one by one."""
    n_classes = loglik.shape[1]
    others = [np.delete(loglik, k, axis=1) for k in range(n_classes)]
    mean = [logsumexp(one, axis=1) - np.log(n_classes - 1) for one in others]
    return loglik - np.stack(mean, axis=1)


def c_avg(llr, label, p_target):
    """The average cost of the plans of NIST, unit costs, pair by pair of target and non-target class."""
    n_classes, threshold, cost = llr.shape[1], np.log((1 - p_target) / p_target), 0.0
    for target in range(n_classes):
        accepted = llr[:, target] >= threshold
        cost += p_target * np.mean(~accepted[label == target])
        for other in set(range(n_classes)) - {target}:
            cost += (1 - p_target) / (n_classes - 1) * np.mean(accepted[label == other])
    return cost / n_classes


def test_detection_llrs_are_projected(files):
    joined = read_joined(files / "detection.csv", files / "key.csv", Options.of("f", {"detection_llr": True}))
    written = read_class_scores(files / "detection.csv").score
    moved = joined.batch.scores[0] - project_detection_llr(written)
    np.testing.assert_allclose(moved, np.log(written.shape[1]), rtol=1e-13)  # without the flat prior
    assert any("detection llrs; they were projected" in str(one) for one in joined.messages)


def test_figures_are_those_of_the_log_likelihoods(files):
    loglik, label = trials()
    asked = {"p_target": P_TARGET}
    (plain,) = evaluate_files(files / "loglik.csv", files / "key.csv", **asked).systems
    (found,) = evaluate_files(files / "detection.csv", files / "key.csv", detection_llr=True, **asked).systems
    (taken_as_they_are,) = evaluate_files(files / "detection.csv", files / "key.csv", **asked).systems
    assert found.c_avg == plain.c_avg == pytest.approx(c_avg(detection_llr(loglik), label, P_TARGET))
    assert found.cllr == pytest.approx(plain.cllr, rel=1e-9)
    assert found.min_cllr == pytest.approx(plain.min_cllr, rel=1e-7)
    written = read_class_scores(files / "detection.csv").score
    np.testing.assert_allclose(written, detection_llr(loglik), atol=1e-9)
    assert abs(taken_as_they_are.cllr - plain.cllr) > 0.01  # the option does something


def test_detection_llrs_are_written_and_read_back(files):
    loglik, label = trials()
    model = MulticlassCalibrator().fit(loglik, label, classes=CLASSES)
    told = apply_files(model, files / "loglik.csv", files / "out.csv", write_as="detection-llr")
    assert any("written as detection llrs" in str(one) for one in told)
    made = model.transform(loglik)
    np.testing.assert_allclose(read_class_scores(files / "out.csv").score, detection_llr(made), atol=1e-9)
    joined = read_joined(files / "out.csv", files / "key.csv", Options.of("f", {"detection_llr": True}))
    back = joined.batch.scores[0]
    np.testing.assert_allclose(
        back - back.max(axis=1, keepdims=True), made - made.max(axis=1, keepdims=True), atol=1e-9
    )


def test_a_model_takes_detection_llrs_and_gives_what_it_would_of_log_likelihoods(files):
    model = MulticlassCalibrator().fit(*trials(), classes=CLASSES)
    for write_as in ("loglik", "detection-llr"):
        apply_files(model, files / "loglik.csv", files / "one.csv", write_as=write_as)
        apply_files(model, files / "detection.csv", files / "two.csv", write_as=write_as, detection_llr=True)
        one, two = (read_class_scores(files / f"{name}.csv").score for name in ("one", "two"))
        one, two = (score - score.max(axis=1, keepdims=True) for score in (one, two))
        np.testing.assert_allclose(one, two, atol=1e-9)


@pytest.mark.parametrize(
    ("given", "says"), [({}, True), ({"detection_llr": True}, False), ({"posterior_prior": [0.5, 0.3, 0.2]}, True)]
)
def test_submissions_to_evaluations_are_told_to_hold_detection_llrs(given, says, tmp_path):
    loglik, label = trials()
    write_table(tmp_path / "lre.tsv", loglik, first="segmentid", delimiter="\t")
    write_key(tmp_path / "lre.key", label, header=("segmentid", "language_code"), delimiter="\t")
    facts = evaluate_files(tmp_path / "lre.tsv", tmp_path / "lre.key", **given).message_lines
    assert (
        any(
            "contain detection llrs: if this is one, all results are wrong without detection_llr=True" in fact
            for fact in facts
        )
        == says
    )
    write_table(tmp_path / "plain.csv", loglik, called=names(len(label)))
    facts = evaluate_files(tmp_path / "plain.csv", tmp_path / "lre.key", **given).message_lines
    assert not any("contain detection llrs" in fact for fact in facts)


def test_a_prior_of_other_classes_than_those_of_training_is_refused_in_words(files):
    loglik, label = trials()
    model = MulticlassCalibrator().fit(loglik, label, classes=CLASSES)
    write_table(files / "two.csv", loglik[:, :2], header=CLASSES[:2])
    with pytest.raises(InputError, match="posterior_prior"):
        apply_files(model, files / "two.csv", files / "out.csv", posterior_prior=[0.75, 0.25])


@pytest.mark.parametrize("unit", [{"posterior_prior": [0.5, 0.3, 0.2]}, {"probabilities": [0.5, 0.3, 0.2]}])
def test_segments_that_are_filled_in_say_nothing_whatever_the_prior(unit, files):
    loglik, label = trials()
    posterior = softmax(loglik + np.log([0.5, 0.3, 0.2]), axis=1)[1:]
    scores = posterior if "probabilities" in unit else np.log(posterior)
    write_table(files / "some.csv", scores, called=names(len(label))[1:])
    joined = read_joined(files / "some.csv", files / "key.csv", Options.of("f", {"missing": 0.25, **unit}))
    (first,) = joined.batch.scores
    assert np.ptp(first[0]) == 0.0
    np.testing.assert_allclose(first[1:] - first[1:, :1], loglik[1:] - loglik[1:, :1], atol=1e-12)


def test_detection_llrs_of_some_classes_are_refused_and_the_way_out_works(files):
    _, label = trials()
    some = CLASSES[:-1]
    kept = label < len(some)
    write_key(files / "some.csv", label[kept], called=np.array(names(len(label)))[kept].tolist())
    asked = {"classes": some}
    (expected,) = evaluate_files(files / "loglik.csv", files / "some.csv", **asked).systems
    with pytest.raises(InputError, match="for each class against all others, but .* would be left out"):
        evaluate_files(files / "detection.csv", files / "some.csv", detection_llr=True, **asked)
    convert(files / "detection.csv", files / "converted.csv", detection_llr=True)
    (found,) = evaluate_files(files / "converted.csv", files / "some.csv", **asked).systems
    assert found.cllr == pytest.approx(expected.cllr, rel=1e-12)
    swapped = {"classes": CLASSES[::-1], "detection_llr": True}
    assert len(evaluate_files(files / "detection.csv", files / "key.csv", **swapped).systems) == 1


@pytest.mark.parametrize("unit", ["posterior_prior", "probabilities"])
def test_a_prior_may_be_an_array(unit, files):
    prior = [0.5, 0.3, 0.2]
    loglik, _ = trials()
    weighted = softmax(loglik + np.log(prior), axis=1)
    write_table(files / "posterior.csv", weighted if unit == "probabilities" else np.log(weighted))
    (expected,) = evaluate_files(files / "loglik.csv", files / "key.csv").systems
    (found,) = evaluate_files(files / "posterior.csv", files / "key.csv", **{unit: np.array(prior)}).systems
    assert found.cllr == pytest.approx(expected.cllr, rel=1e-12)
