"""Metrics in the order (y_true, score), checked against those of scikit-learn that are the same by another road."""

import pickle
from functools import partial

import numpy as np
import pytest
from scipy.spatial import ConvexHull
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, roc_curve
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.utils.class_weight import compute_sample_weight

from deciban import metrics
from deciban.errors import DecibanWarning, InputError
from deciban.sklearn import (
    LinearFusion,
    cllr_score,
    cllr_scorer,
    dcf,
    eer_score,
    eer_scorer,
    min_cllr_score,
    min_cllr_scorer,
    min_dcf,
    scorer,
)


@pytest.fixture(scope="module")
def trials():
    rng = np.random.default_rng(7)
    y = (rng.random(500) < 0.3).astype(int)
    return y, np.round(rng.normal(2 * y - 1, 1.5), 1), rng.integers(1, 5, 500)


def balanced(y, weight):
    """Weights with which both classes count alike, whatever their size."""
    return weight * compute_sample_weight({label: 1 / weight[y == label].sum() for label in (0, 1)}, y)


def test_cllr_is_the_log_loss_of_balanced_classes_in_bits(trials):
    y, llr, weight = trials
    posterior = 1 / (1 + np.exp(-llr))
    for given, used in ((None, np.ones(len(y))), (weight, weight)):
        expected = log_loss(y, posterior, sample_weight=balanced(y, used)) / np.log(2)
        assert cllr_score(y, llr, sample_weight=given) == pytest.approx(expected, rel=1e-12)


def test_min_cllr_is_the_log_loss_after_isotonic_regression(trials):
    y, llr, weight = trials
    used = balanced(y, weight)
    posterior = IsotonicRegression(y_min=1e-15, y_max=1 - 1e-15).fit(llr, y, used).predict(llr)
    expected = log_loss(y, posterior, sample_weight=used) / np.log(2)
    assert min_cllr_score(y, llr, sample_weight=weight) == pytest.approx(expected, rel=1e-10)
    assert min_cllr_score(y, np.exp(llr)) == pytest.approx(min_cllr_score(y, llr), rel=1e-12)


def test_dcf_counts_errors_at_the_bayes_threshold():
    y, llr = np.array([1, 1, 1, 1, 0, 0, 0, 0, 0]), np.array([5.0, 3.0, 0.0, -1.0, 4.0, 1.0, 0.0, -2.0, -3.0])
    assert dcf(y, llr, p_target=0.5) == pytest.approx(1 / 4 + 3 / 5)  # llr 0 is accepted
    assert dcf(y, llr, p_target=0.5, normalize=False) == pytest.approx((1 / 4 + 3 / 5) / 2)
    assert dcf(y, llr, p_target=0.1, c_miss=2, c_fa=1) == pytest.approx(2 / 4 + 9 / 2 * 1 / 5)  # threshold ln 4.5
    assert dcf(y, llr, p_target=0.5, c_fa=10, normalize=False) == pytest.approx((2 / 4 + 10 / 5) / 2)  # ln 10
    assert dcf(y, llr, p_target=0.5, sample_weight=[1, 1, 0, 2, 1, 1, 1, 1, 0]) == pytest.approx(2 / 4 + 3 / 4)


def test_the_order_of_the_arguments_is_that_of_scikit_learn(trials):
    y, llr, _ = trials
    tar, non = llr[y == 1], llr[y == 0]
    assert cllr_score(y, llr) == metrics.cllr(tar, non)
    assert min_cllr_score(y, llr) == metrics.min_cllr(tar, non)
    assert dcf(y, llr, p_target=0.01) == metrics.act_dcf(tar, non, p_target=0.01)


@pytest.mark.parametrize("metric", [cllr_score, min_cllr_score])
def test_labels_of_any_kind(trials, metric):
    y, llr, _ = trials
    expected = metric(y, llr)
    assert metric(y == 1, llr) == expected
    assert metric(2 * y - 1, llr) == expected
    assert metric(np.where(y, "tar", "non"), llr) == expected
    spoofing = np.where(y, "bonafide", "spoof").tolist()
    assert metric(spoofing, llr, pos_label="bonafide") == expected
    assert metric(spoofing, llr) == expected
    assert metric(spoofing, llr, pos_label="spoof") == metric(1 - y, llr) > expected
    with pytest.raises(InputError, match="which of 'even', 'odd' is the label of the targets"):
        metric(np.where(y, "odd", "even"), llr)
    assert metric(np.where(y, "odd", "even"), llr, pos_label="odd") == expected


def test_eer_is_where_the_hull_of_the_roc_meets_the_diagonal(trials):
    y, llr, weight = trials
    for given in (None, weight):
        p_fa, p_hit, _ = roc_curve(y, llr, sample_weight=given, drop_intermediate=False)
        hull = ConvexHull(np.column_stack([np.append(p_fa, 1.0), np.append(p_hit, 0.0)])).equations
        # Along the diagonal p_fa = 1 - p_hit = t, from t = 0.5 down to where the first side of the hull is met.
        a, b, c = hull.T
        steps = (-(b + c))[a - b < 0] / (a - b)[a - b < 0]
        assert eer_score(y, llr, sample_weight=given) == pytest.approx(max(steps), rel=1e-9)


@pytest.mark.parametrize("point", [{"p_target": 0.5}, {"p_target": 0.1, "c_miss": 3.0}, {"p_target": 0.7, "c_fa": 9.0}])
def test_min_dcf_is_the_least_cost_over_all_thresholds(trials, point):
    y, llr, _ = trials
    miss, fa = point["p_target"] * point.get("c_miss", 1.0), (1 - point["p_target"]) * point.get("c_fa", 1.0)
    costs = [
        miss * np.mean(llr[y == 1] < level) + fa * np.mean(llr[y == 0] >= level) for level in [*np.unique(llr), np.inf]
    ]
    assert min_dcf(y, llr, **point) == pytest.approx(min(costs) / min(miss, fa), rel=1e-12)
    assert min_dcf(y, llr, **point, normalize=False) == pytest.approx(min(costs), rel=1e-12)


def test_scorers_choose_among_settings(trials):
    y, llr, _ = trials
    X = llr[:, None]
    for chosen, metric in ((eer_scorer, eer_score), (scorer(min_dcf, p_target=0.1), partial(min_dcf, p_target=0.1))):
        found = cross_val_score(LinearFusion(), X, y, scoring=chosen, cv=3)
        search = GridSearchCV(LinearFusion(), {"ridge": [0.0, 1.0]}, scoring=chosen, cv=3).fit(X, y)
        assert search.cv_results_["mean_test_score"][0] == pytest.approx(found.mean())
        assert chosen(LinearFusion().fit(X, y), X, y) == -metric(y, llr)
        assert pickle.loads(pickle.dumps(chosen))(  # noqa: S301  # our own
            LinearFusion().fit(X, y), X, y
        ) == -metric(y, llr)
        assert getattr(metric, "func", metric).__name__ in repr(chosen)


def test_scorers_know_which_class_a_decision_function_favours(trials):
    y, llr, _ = trials
    X, words = llr[:, None], np.where(y, "bonafide", "spoof")
    numbers, named = LinearFusion().fit(X, y), LinearFusion().fit(X, words)
    for chosen in (cllr_scorer, min_cllr_scorer, eer_scorer):
        assert chosen(named, X, words) == pytest.approx(chosen(numbers, X, y), rel=1e-12)
    for metric in (dcf, min_dcf):
        with pytest.raises(InputError, match=rf"pos_label: costs depend.*scorer\({metric.__name__}, pos_label="):
            scorer(metric, p_target=0.1)(named, X, words)
        found = scorer(metric, p_target=0.1, pos_label="bonafide")(named, X, words)
        assert found == pytest.approx(scorer(metric, p_target=0.1)(numbers, X, y), rel=1e-12)


@pytest.mark.parametrize("metric", [cllr_score, min_cllr_score, eer_score, partial(dcf, p_target=0.5)])
def test_scores_before_labels_are_refused(trials, metric):
    y, llr, _ = trials
    for labels in (y, y == 1, y.astype(float)):
        with pytest.raises(InputError, match="labels first, then scores|booleans"):
            metric(llr, labels)


def test_probabilities_are_noticed():
    rng = np.random.default_rng(4)
    y = np.arange(100) % 2
    probability = np.clip(0.3 + 0.4 * y + rng.normal(0, 0.2, 100), 0.01, 0.99)
    for metric in (cllr_score, lambda *given: dcf(*given, p_target=0.1)):
        with pytest.warns(DecibanWarning, match="llr_from_probability") as told:
            metric(y, probability)
        assert len(told) == 1
        assert told[0].filename == __file__
    min_cllr_score(y, probability)  # takes any scores


@pytest.mark.parametrize(
    ("y", "score", "options", "words"),
    [
        ([1, 0, 2], [1.0, 2.0, 3.0], {}, "y_true: Only binary classification is supported.*multiclass"),
        ([1, 1, 1], [1.0, 2.0, 3.0], {}, "y_true: all labels are 1, only one class"),
        ([1, 0], [1.0, 2.0, 3.0], {}, "2 labels for 3 scores"),
        ([[1, 0]], [1.0, 2.0], {}, "y_true: expected one label per trial, got shape"),
        ([1, 0], [[1.0, 2.0]], {}, "score: expected a one-dimensional array"),
        ([1, 0], [1.0, np.nan], {}, "score: 1 of 2 scores are NaN, the first at index 1"),
        ([1, 0], [1.0, 2.0], {"pos_label": "tar"}, "pos_label: 'tar' is neither of the labels 0, 1"),
        ([1, 0], [1.0, 2.0], {"sample_weight": [1.0]}, "sample_weight: 1 weights for 2 trials"),
        ([1, 0], [1.0, 2.0], {"sample_weight": [1.0, -1.0]}, "sample_weight: weights are finite and at least 0"),
        ([1, 0], [1.0, 2.0], {"sample_weight": [1.0, 0.0]}, "non_weights: all 1 weights are 0"),
    ],
)
def test_what_is_no_detection_problem_is_refused(y, score, options, words):
    for metric in (cllr_score, min_cllr_score):
        with pytest.raises(InputError, match=words):
            metric(y, score, **options)
    with pytest.raises(InputError, match=words):
        dcf(y, score, p_target=0.5, **options)


@pytest.mark.parametrize("y", [[1.0, np.nan], [0.5, 0.7], ["tar", None], [None, "tar"]])
def test_what_is_no_label_is_refused(y):
    with pytest.raises(ValueError, match="NaN|Unknown label type|None"):
        cllr_score(y, [1.0, 2.0])


@pytest.mark.parametrize("p_target", [0.0, 1.0, [0.1, 0.2]])
def test_dcf_wants_one_operating_point(p_target):
    with pytest.raises(InputError, match="p_target"):
        dcf([1, 0], [1.0, 2.0], p_target=p_target)


def test_scorers_are_negative_and_look_at_the_decision_function(trials):
    y, scores, weight = trials
    X, classifier = scores[:, np.newaxis], LogisticRegression()
    llr = classifier.fit(X, y).decision_function(X)
    assert cllr_scorer(classifier, X, y) == -cllr_score(y, llr)
    assert min_cllr_scorer(classifier, X, y) == -min_cllr_score(y, llr)
    assert scorer(dcf, p_target=0.1, c_miss=3)(classifier, X, y) == -dcf(y, llr, p_target=0.1, c_miss=3)
    assert cllr_scorer(classifier, X, y, sample_weight=weight) == -cllr_score(y, llr, sample_weight=weight)
    found = cross_validate(classifier, X, y, scoring={"cllr": cllr_scorer, "dcf": scorer(dcf, p_target=0.1)}, cv=3)
    assert found["test_cllr"].shape == found["test_dcf"].shape == (3,)
    assert (found["test_cllr"] < 0).all()


def test_scorers_know_which_label_large_scores_favour(trials):
    """The decision function of a classifier favours ``classes_[1]``; ``pos_label`` turns it round."""
    y, scores, _ = trials
    X, label = scores[:, np.newaxis], np.where(y, "bonafide", "spoof")
    classifier = LogisticRegression().fit(X, label)
    expected = cllr_scorer(LogisticRegression().fit(X, y), X, y)
    assert cllr_scorer(classifier, X, label) == pytest.approx(expected, rel=1e-6)
    assert scorer(cllr_score, pos_label="bonafide")(classifier, X, label) == pytest.approx(expected, rel=1e-6)
