"""Evaluation of many classes: metrics by their definitions, and what does not fit."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import deciban
from deciban import InputError, metrics, multiclass
from deciban.core.resampling.units import TrialUnits
from deciban.workflows import evaluate_files as evaluate_class_files
from deciban.workflows import kind_of_scores
from support.class_files import CLASSES, trials, write_files
from support.strategies import fewer


@pytest.fixture(scope="module")
def found():
    loglik, label = trials()
    return deciban.evaluate_classes(loglik, label, classes=CLASSES, name="sys", p_target=[0.5, 0.1])


def test_figures_are_those_of_the_metrics(found):
    loglik, label = trials()
    assert found.cllr == pytest.approx(multiclass.cllr(loglik, label))
    assert found.min_cllr == pytest.approx(multiclass.min_cllr(loglik, label))
    assert found.calibration_loss == pytest.approx(found.cllr - found.min_cllr)
    assert found.brier == pytest.approx(multiclass.brier(loglik, label))
    assert found.c_avg == pytest.approx(multiclass.c_avg(loglik, label))
    assert [point.c_avg for point in found.points] == pytest.approx(
        multiclass.c_avg(loglik, label, p_target=[0.5, 0.1])
    )
    assert np.interp(0.0, found.curves.prior_log_odds, found.curves.c_avg) == pytest.approx(found.c_avg)


def test_detectors_are_two_class_problems(found):
    loglik, label = trials()
    log_odds = found.curves.detector_log_odds
    for k, (told, name) in enumerate(zip(found.to_dict()["detectors"], CLASSES, strict=True)):
        llr = multiclass.detection_llr(loglik, target=k)
        tar, non = llr[label == k], llr[label != k]
        assert told["target"] == name
        for metric in (metrics.eer, metrics.cllr, metrics.min_cllr):
            assert told[metric.__name__] == pytest.approx(metric(tar, non))
        at = {"prior_log_odds": log_odds, "normalize": False}
        np.testing.assert_allclose(found.curves.act_error[k], metrics.act_dcf(tar, non, **at), rtol=1e-12)
        np.testing.assert_allclose(found.curves.min_error[k], metrics.min_dcf(tar, non, **at), rtol=1e-12)


def test_each_point_has_its_own_least_costs(found):
    loglik, label = trials()
    assert (found.detection.p_target, found.detection.cost.shape) == (0.5, (3,))
    for point in found.points:
        alone = multiclass.detection_analysis(loglik, label, p_target=point.p_target)
        assert point.min_c_avg == pytest.approx(alone.mean_min_cost)


def by_nist(loglik, label, p_target, p_out_of_set):
    """C_avg of an open set: posteriors in plain arithmetic, sums over targets."""
    n_targets = loglik.shape[1] - 1
    costs = []
    for target in range(n_targets):
        prior = np.full(n_targets + 1, (1 - p_target - p_out_of_set) / (n_targets - 1))
        prior[target], prior[-1] = p_target, p_out_of_set
        joint = np.exp(loglik) * prior
        accepted = 2 * joint[:, target] >= joint.sum(axis=1)
        rate = np.array([accepted[label == k].mean() for k in range(n_targets + 1)])
        rate[target] = 1 - rate[target]
        costs.append(prior @ rate)
    return np.mean(costs)


def test_curves_are_of_the_open_set_where_points_are():
    loglik, label = trials()
    found = deciban.evaluate_classes(loglik, label, p_target=[0.5, 0.1], p_out_of_set=0.2)
    curves = found.curves
    priors = 1 / (1 + np.exp(-curves.prior_log_odds))
    assert priors[0] < 0.001
    assert 0.78 < priors[-1] < 0.8
    np.testing.assert_allclose(curves.c_avg, [by_nist(loglik, label, p, 0.2) for p in priors], rtol=1e-12)
    for point in found.points:
        assert point.c_avg == pytest.approx(by_nist(loglik, label, point.p_target, 0.2))
        rest = (1 - point.p_target - 0.2) / (1 - point.p_target)
        rivals = np.array([rest, rest, 1 - rest])
        alone = multiclass.detection_analysis(loglik, label, prior=rivals / rivals.sum(), p_target=point.p_target)
        assert point.min_c_avg == pytest.approx(alone.min_cost[:2].mean())
    assert curves.act_error.shape == curves.min_error.shape == (2, len(curves.detector_log_odds))


@pytest.mark.parametrize(("p_target", "p_out_of_set"), [(1e-4, 0.9995), (1e-13, 1 - 1e-12)])
def test_curves_of_an_open_set_with_hardly_any_target(p_target, p_out_of_set):
    loglik, label = trials()
    found = deciban.evaluate_classes(loglik, label, p_target=p_target, p_out_of_set=p_out_of_set)
    priors = 1 / (1 + np.exp(-found.curves.prior_log_odds))
    assert len(priors) == len(found.curves.c_avg) > 0
    assert np.all(priors < 1 - p_out_of_set)


def test_curves_reach_the_points():
    loglik, label = trials()
    found = deciban.evaluate_classes(loglik, label, p_target=1e-4)
    for log_odds in (found.curves.prior_log_odds, found.curves.detector_log_odds):
        assert log_odds[0] < np.log(1e-4) - 1
        assert log_odds[-1] == -log_odds[0]


def test_detectors_weigh_non_targets_by_class_whatever_their_numbers():
    loglik, label = trials()
    rows = np.concatenate((np.flatnonzero(label != 2), np.repeat(np.flatnonzero(label == 2), 5)))
    once = deciban.evaluate_classes(loglik, label)
    often = deciban.evaluate_classes(loglik[rows], label[rows])
    for metric in ("eer", "cllr", "min_cllr"):
        np.testing.assert_allclose(getattr(once.detection, metric), getattr(often.detection, metric), rtol=1e-12)
    np.testing.assert_allclose(once.curves.act_error, often.curves.act_error, atol=1e-12)
    np.testing.assert_allclose(once.curves.min_error, often.curves.min_error, atol=1e-12)
    assert often.counts.tolist() == [30, 30, 150]
    assert often.cllr == pytest.approx(once.cllr)


@fewer(0.35)
@given(st.lists(st.floats(-1e6, 1e6), min_size=90, max_size=90))
def test_constants_of_trials_change_nothing(shifts):
    loglik, label = trials()
    one = deciban.evaluate_classes(loglik, label)
    other = deciban.evaluate_classes(loglik + np.array(shifts)[:, None], label)
    assert other.cllr == pytest.approx(one.cllr, rel=1e-6)
    assert other.min_cllr == pytest.approx(one.min_cllr, rel=1e-6)
    assert other.points[0].min_c_avg == pytest.approx(one.points[0].min_c_avg, abs=0.02)


def test_json_is_plain_and_says_infinity_in_words(found):
    told = json.loads(found.to_json())
    assert told["classes"] == list(CLASSES)
    assert told["subsets"]["n"] == 4
    loglik, label = trials()
    loglik[0, label[0]] = -np.inf
    worst = deciban.evaluate_classes(loglik, label)
    assert json.loads(worst.to_json())["cllr"] == "inf"
    assert worst.information == -math.inf


def test_separated_classes_have_a_minimum_of_0():
    perfect = deciban.evaluate_classes(np.eye(3)[[0, 1, 2, 0]] * 3, [0, 1, 2, 0])
    assert perfect.min_cllr == pytest.approx(0, abs=1e-6)
    assert perfect.error_rate == 0
    assert any("The error rate is uncertain" in note for note in perfect.notes)


@pytest.mark.parametrize(("prior", "flat"), [(None, True), ([0.5, 0.5, 0.5], True), ([0.2, 0.3, 0.5], False)])
def test_whether_the_prior_is_flat(prior, flat):
    found = deciban.evaluate_classes(
        np.eye(3), [0, 1, 2], prior=None if prior is None else np.array(prior) / sum(prior)
    )
    assert found.has_flat_prior is flat


@pytest.mark.parametrize("prior", [None, [0.2, 0.3, 0.5]])
@pytest.mark.parametrize("row", [[0.0, 0.0, 0.0], [3.0, 6.0, 0.0]])
def test_scores_that_say_nothing_are_called_so(row, prior):
    notes = " ".join(deciban.evaluate_classes(np.tile(row, (90, 1)), np.arange(90) % 3, prior=prior).notes)
    assert "The scores carry no information" in notes
    assert "order of the classes" not in notes


def test_a_note_on_infinite_cllr_names_the_class_and_the_trial():
    loglik, label = trials(n=300)
    at = np.flatnonzero(label == 1)[[2, 5]]
    loglik[at, 1] = -np.inf
    names = ["cat", "dog", "eel"]
    (note, *_) = deciban.evaluate_classes(loglik, label, classes=names).notes
    assert f"rule out the true class of 2 segments, the first at index {at[0]} (class 'dog'). If they come from" in note
    weight = np.where(np.arange(300) == at[0], 0.0, 1.0)
    (note, *_) = deciban.evaluate_classes(loglik, label, classes=names, sample_weight=weight).notes
    assert f"of 1 segment, the first at index {at[1]} (class 'dog')." in note


def test_notes_on_what_looks_wrong():
    loglik, label = trials(n=300)
    probability = np.exp(loglik) / np.exp(loglik).sum(axis=1, keepdims=True)
    for values, words in (
        (probability, "they are not log-likelihoods"),
        (np.log(probability), "look like log posteriors"),
        (loglik * 3, "Cllr is above"),
        (loglik * 20, "scale far too large"),
        (-loglik, "More errors than with the prior alone"),
    ):
        notes = " ".join(deciban.evaluate_classes(values, label).notes)
        assert words in notes
    assert deciban.evaluate_classes(loglik, label).notes == ()


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"label": [0, 1]}, "one label per trial"),
        ({"label": np.arange(90) % 4}, "whole numbers from 0 to 2"),
        ({"label": np.arange(90) % 2}, "has no trial"),
        ({"loglik": np.full((90, 3), np.nan)}, "NaN"),
        ({"loglik": np.full((90, 3), -np.inf)}, "exclude every class"),
        ({"loglik": np.zeros(90)}, "shape"),
        ({"prior": [0.5, 0.5, 0.0]}, "has prior 0"),
        ({"prior": "even"}, "'flat'"),
        ({"prior": {"cat": 1.0}}, "without a probability"),
        ({"p_target": []}, "none given"),
        ({"p_target": 0.0}, "p_target"),
        ({"p_out_of_set": 0.6}, "p_out_of_set"),
        ({"p_out_of_set": 0.0}, "p_out_of_set"),
        ({"subsets": True, "sample_weight": np.ones(90)}, "Leave out the weights or the subsets"),
        ({"subsets": True, "p_out_of_set": 0.2}, "need a closed set.* Leave out its prior "),
        ({"p_out_of_set": 0.2, "p_target": [0.1, 0.8]}, "p_out_of_set: 0.2 and a target prior of 0.8 leave none"),
        ({"prior": {"xx": 0.5, "dog": 0.25, "eel": 0.25}}, "'xx' is not a class"),
        ({"classes": ["a", "b"]}, "2 names for 3 classes"),
    ],
)
def test_what_does_not_fit_is_refused(more, message):
    loglik, label = trials()
    given_ = {"loglik": loglik, "label": label, "classes": CLASSES} | more
    with pytest.raises(InputError, match=message):
        deciban.evaluate_classes(given_.pop("loglik"), given_.pop("label"), **given_)


def test_subsets_of_too_many_classes_are_refused():
    loglik, label = np.eye(21) * 2.0, np.arange(21)
    assert deciban.evaluate_classes(loglik, label).subsets is None
    with pytest.raises(InputError, match="21 classes have too many"):
        deciban.evaluate_classes(loglik, label, subsets=True)


def test_subsets_come_by_themselves_for_few_classes_of_a_closed_set():
    loglik, label = trials()
    closed = deciban.evaluate_classes(loglik, label)
    assert (len(closed.subsets), closed.no_subsets) == (4, "")
    for more in ({"p_out_of_set": 0.2}, {"sample_weight": np.ones(90)}, {"subsets": False}):
        found = deciban.evaluate_classes(loglik, label, **more)
        assert found.subsets is None
        assert found.no_subsets


def test_a_point_given_twice_counts_once():
    loglik, label = trials()
    found = deciban.evaluate_classes(loglik, label, p_target=[0.5, 0.1, 0.5, 0.1])
    assert [point.p_target for point in found.points] == [0.5, 0.1]
    assert found.mean_costs["c_avg"] == pytest.approx(sum(point.c_avg for point in found.points) / 2)


def test_kinds_of_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_files(tmp_path)
    assert kind_of_scores("sysA.csv", "key.csv") == "classes"
    assert kind_of_scores("lre.tsv") == "classes"
    assert kind_of_scores("loglik.npy") == "classes"
    assert kind_of_scores("loglik.npy", columns="score=2") == "two-class"
    assert kind_of_scores("-") == "two-class"
    assert kind_of_scores("-", "lre.key") == "classes"


def test_results_of_files_are_those_of_arrays(tmp_path):
    loglik, label = write_files(tmp_path)
    both = [tmp_path / "sysA.csv", tmp_path / "sysB.csv"]
    results = evaluate_class_files(both, tmp_path / "key.csv", intervals=False)
    assert [one.name for one in results.systems] == ["sysA", "sysB"]
    of_arrays = deciban.evaluation.evaluate_classes(loglik, label, classes=CLASSES, name="sysA")
    assert results.systems[0].to_dict() == of_arrays.to_dict()
    with_units = evaluate_class_files(both, tmp_path / "key.csv").systems[0]
    each = deciban.evaluation.evaluate_classes(loglik, label, classes=CLASSES, units=TrialUnits.each(len(label)))
    assert with_units.interval("c_avg").low == pytest.approx(each.interval("c_avg").low)
    assert results.join.matched == 90


def test_frequent_confusions_are_those_of_the_confusion_matrix():
    odds = [[1, 9, 0.5], [8, 1, 1], [2, 7, 1], [1, 8, 1], [3, 1, 6], [1, 2, 7]]
    found = deciban.evaluate_classes(np.log(odds), [0, 0, 0, 1, 1, 2], classes=("cat", "dog", "eel"))
    assert found.frequent_confusions(5) == [("cat", "dog", 2.0, 2 / 3), ("dog", "eel", 1.0, 0.5)]
    assert found.frequent_confusions(1) == [("cat", "dog", 2.0, 2 / 3)]


def test_two_classes_have_no_hardest_subset():
    found = deciban.evaluate_classes([[2.0, 0.0], [0.0, 1.0], [1.0, 0.0]], [0, 1, 1])
    assert len(found.subsets) == 1
    assert found.subset_summary() is None


def test_pairs_are_evaluated_when_they_are_read_from_the_trials_of_the_evaluation():
    rng = np.random.default_rng(4)
    loglik, label = rng.normal(size=(90, 3)), np.arange(90) % 3
    expected = multiclass.pairwise_analysis(loglik, label)
    found = deciban.evaluate_classes(loglik, label)
    loglik[:] = 0.0
    assert found.pairwise.classes == ("0", "1", "2")
    np.testing.assert_array_equal(found.pairwise.min_cllr, expected.min_cllr)
    np.testing.assert_array_equal(found.pairwise.cllr, expected.cllr)
