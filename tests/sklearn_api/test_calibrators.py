"""The calibrators as classifiers and as transformers."""

import inspect

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy.special import expit, logit
from sklearn.base import clone, is_classifier
from sklearn.compose import make_column_transformer
from sklearn.ensemble import StackingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_predict, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import deciban.sklearn
from deciban import calibration
from deciban.errors import DecibanWarning, InputError
from deciban.sklearn import (
    AffineCalibrator,
    BetaCalibrator,
    BoundCalibrator,
    ElubCalibrator,
    GaussianCalibrator,
    PavCalibrator,
    ScaleCalibrator,
    ShiftCalibrator,
    cllr_score,
    dcf,
    scorer,
)

RULE = {"p_target": 0.1, "alpha": 2.0, "beta": 0.5}
SAME = [
    (AffineCalibrator(**RULE, ridge=0.01), calibration.AffineCalibrator),
    (ScaleCalibrator(**RULE, ridge=0.01), calibration.ScaleCalibrator),
    (ShiftCalibrator(**RULE), calibration.ShiftCalibrator),
    (PavCalibrator(interpolation="step", smoothing=0.5, bound=3.0), calibration.PavCalibrator),
    (GaussianCalibrator(p_target=0.1), calibration.GaussianCalibrator),
    (BetaCalibrator(p_target=0.1, ridge=0.01, scores="log_odds"), calibration.BetaCalibrator),
    (BoundCalibrator(low=-1.0, high=2.0), calibration.BoundCalibrator),
    (ElubCalibrator(n_misleading=2.0), calibration.ElubCalibrator),
]
"""Every setting differs from its default."""

OWN = {"prior", "column", "pos_label"}


@pytest.fixture(scope="module")
def trials():
    """Scores that overlap, a label for each, and whole weights."""
    rng = np.random.default_rng(11)
    y = (rng.random(600) < 0.3).astype(int)
    return rng.normal(3.0 * y, 1.5)[:, np.newaxis], y, rng.integers(1, 4, 600)


@pytest.mark.parametrize(("estimator", "original"), SAME, ids=lambda value: getattr(value, "__name__", ""))
def test_settings_and_llrs_are_those_of_the_calibrator(trials, estimator, original):
    X, y, weight = trials
    settings = {name: value for name, value in estimator.get_params().items() if name not in OWN}
    for given in (None, weight):
        expected = original(**settings).fit(X[:, 0], y, sample_weight=given)
        fitted = clone(estimator).fit(X, y, sample_weight=given)
        assert np.array_equal(fitted.decision_function(X), expected.transform(X[:, 0]))
        assert fitted.calibrator_.parameters() == expected.parameters()
    signature = inspect.signature(original).parameters
    defaults = {name: value for name, value in type(estimator)().get_params().items() if name not in OWN}
    assert defaults == {name: parameter.default for name, parameter in signature.items()}


def test_every_calibrator_is_compared():
    module = deciban.sklearn
    public = {getattr(module, name) for name in module.__all__ if name.endswith("Calibrator")}
    of_two_classes = {one for one in public if issubclass(one, module.ScoreCalibrator)}
    assert {type(estimator) for estimator, _ in SAME} == of_two_classes - {module.ScoreCalibrator}


@pytest.mark.parametrize("prior", [0.5, 0.05])
def test_the_affine_one_is_prior_weighted_logistic_regression(trials, prior):
    X, y, _ = trials
    weight = np.where(y == 1, prior / np.mean(y), (1 - prior) / np.mean(1 - y))
    reference = LogisticRegression(C=np.inf, tol=1e-12, max_iter=10_000).fit(X, y, sample_weight=weight)
    calibrator = AffineCalibrator(p_target=prior).fit(X, y)
    assert calibrator.decision_function(X) == pytest.approx(reference.decision_function(X) - logit(prior), abs=1e-5)
    assert calibrator.predict_proba(X) == pytest.approx(reference.predict_proba(X), abs=1e-6)
    assert np.array_equal(calibrator.predict(X), reference.predict(X))


def test_the_prior_moves_posteriors_and_decisions_but_not_the_llr(trials):
    X, y, _ = trials
    one, other = AffineCalibrator().fit(X, y), AffineCalibrator(prior=0.01).fit(X, y)
    llr = one.decision_function(X)
    assert np.array_equal(llr, other.decision_function(X))
    assert np.array_equal(one.transform(X), llr[:, np.newaxis])
    assert one.predict_proba(X)[:, 1] == pytest.approx(expit(llr), rel=1e-12)
    assert other.predict_proba(X)[:, 1] == pytest.approx(expit(llr - np.log(99)), rel=1e-12)
    assert other.predict_proba(X).sum(axis=1) == pytest.approx(1.0, rel=1e-12)
    assert np.array_equal(other.predict(X), llr >= np.log(99))
    assert one.predict(X).sum() > other.predict(X).sum() > 0
    trained = AffineCalibrator(p_target=0.01).fit(X, y)
    posterior = expit(trained.decision_function(X) - np.log(99))
    assert trained.predict_proba(X)[:, 1] == pytest.approx(posterior, rel=1e-12)


def test_an_llr_at_the_threshold_is_accepted():
    calibrator = BoundCalibrator(low=-9.0, high=9.0).fit([[-2.0], [2.0]], [0, 1])  # its llr is the score
    assert calibrator.predict([[0.0], [-5e-324]]).tolist() == [1, 0]
    calibrator.set_params(prior=0.2)
    threshold = -float(logit(0.2))
    assert calibrator.predict([[threshold], [np.nextafter(threshold, 0.0)]]).tolist() == [1, 0]


def test_classes_are_sorted_and_the_second_is_the_target(trials):
    X, y, _ = trials
    expected = AffineCalibrator().fit(X, y)
    words = AffineCalibrator().fit(X, np.where(y, "tar", "non"))
    assert words.classes_.tolist() == ["non", "tar"]
    assert np.array_equal(words.decision_function(X), expected.decision_function(X))
    assert np.array_equal(words.predict(X) == "tar", expected.predict(X) == 1)
    assert AffineCalibrator().fit(X, y == 1).predict(X).dtype == bool


def test_words_say_which_scores_are_larger_and_the_alphabet_which_class_is_second(trials):
    X, y, _ = trials
    expected = PavCalibrator(prior=0.2).fit(X, y)
    words = np.where(y, "bonafide", "spoof")
    for found in (PavCalibrator(prior=0.2).fit(X, words), PavCalibrator(prior=0.2, pos_label="bonafide").fit(X, words)):
        assert found.target_ == "bonafide"
        assert found.classes_.tolist() == ["bonafide", "spoof"]
        assert np.array_equal(found.transform(X), expected.transform(X))
        assert np.array_equal(found.decision_function(X), -expected.decision_function(X))
        assert np.array_equal(found.predict(X) == "bonafide", expected.predict(X) == 1)
        assert np.array_equal(found.predict_proba(X), expected.predict_proba(X)[:, ::-1])
        assert found.score(X, words) == expected.score(X, y)


def test_words_of_no_known_meaning_are_refused_unless_one_is_named(trials):
    X, y, _ = trials
    words = np.where(y, "odd", "even")
    with pytest.raises(InputError, match="y: which of 'even', 'odd'.*pos_label='odd'"):
        AffineCalibrator().fit(X, words)
    with pytest.raises(InputError, match="pos_label: 'maybe' is neither of the labels"):
        AffineCalibrator(pos_label="maybe").fit(X, words)
    expected = AffineCalibrator().fit(X, y).decision_function(X)
    assert np.array_equal(AffineCalibrator(pos_label="odd").fit(X, words).decision_function(X), expected)
    with pytest.warns(DecibanWarning, match="higher scores favour non-targets"):
        AffineCalibrator(pos_label="even").fit(X, words)


def test_score_is_minus_cllr(trials):
    X, y, weight = trials
    calibrator = AffineCalibrator().fit(X, y)
    llr = calibrator.decision_function(X)
    assert calibrator.score(X, y) == -cllr_score(y, llr)
    assert calibrator.score(X, y, sample_weight=weight) == -cllr_score(y, llr, sample_weight=weight)
    with pytest.raises(InputError, match="the labels are 1, 2, but in training they were 0, 1"):
        calibrator.score(X, y + 1)


def test_one_of_several_columns_by_number_or_name(trials):
    X, y, _ = trials
    several = np.hstack([np.zeros_like(X), X])
    table = pd.DataFrame(several, columns=["a", "b"])
    expected = AffineCalibrator().fit(X, y).decision_function(X)
    for column, data in ((1, several), (-1, several), (1, table), ("b", table), (np.int64(1), several)):
        calibrator = AffineCalibrator(column=column).fit(data, y)
        assert calibrator.n_features_in_ == 2
        assert np.array_equal(calibrator.decision_function(data), expected)
    with pytest.raises(InputError, match="X: 2 columns, but a calibrator maps the scores of one system"):
        AffineCalibrator().fit(several, y)


@pytest.mark.parametrize("column", [2, -3, "c", True, "1", 0.5])
def test_a_column_that_is_not_there(trials, column):
    X, y, _ = trials
    table = pd.DataFrame({"a": X[:, 0], "b": X[:, 0]})
    with pytest.raises(InputError, match="is not among the 2 columns of X, named a, b"):
        AffineCalibrator(column=column).fit(table, y)
    with pytest.raises(InputError, match="is not among the 1 columns of X without names"):
        AffineCalibrator(column=column).fit(X, y)


def test_infinite_scores_are_legal_and_nan_is_not(trials):
    X, y, _ = trials
    far = np.array([[np.inf], [-np.inf]])
    calibrator = AffineCalibrator().fit(np.vstack([X, far]), np.append(y, [1, 0]))
    assert calibrator.decision_function(far).tolist() == [np.inf, -np.inf]
    assert calibrator.predict_proba(far).tolist() == [[0.0, 1.0], [1.0, 0.0]]
    hole = X.copy()
    hole[3] = np.nan
    for call in (lambda: AffineCalibrator().fit(hole, y), lambda: calibrator.predict(hole)):
        with pytest.raises(InputError, match="1 of 600 scores are NaN, the first at index 3"):
            call()


def test_separated_classes_are_refused_without_a_penalty():
    X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    with pytest.raises(InputError, match="the classes are separated.*ridge"):
        AffineCalibrator().fit(X, y)
    assert AffineCalibrator(ridge=0.01).fit(X, y).predict(X).tolist() == y


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"prior": 0.0}, "prior: got 0.0. A prior must be inside"),
        ({"prior": 1}, "prior: got 1. A prior must be inside"),
        ({"prior": "train"}, "prior: expected real numbers, got str 'train'"),
        ({"p_target": 1.5}, "p_target|prior"),
        ({"alpha": 0.0}, "alpha: got 0.0"),
        ({"ridge": -1.0}, "ridge: got -1.0"),
    ],
)
def test_wrong_settings_are_found_by_fit(trials, settings, words):
    X, y, _ = trials
    with pytest.raises(InputError, match=words):
        AffineCalibrator(**settings).fit(X, y)


@pytest.mark.parametrize("y", [[0, 0, 0], [0, 1, 2], [0.1, 0.2, 0.3], [[0], [1], [1]], None])
def test_labels_that_are_not_of_two_classes(y):
    X = [[1.0], [2.0], [0.0]]
    if y == [[0], [1], [1]]:
        with pytest.warns(sklearn.exceptions.DataConversionWarning):
            ShiftCalibrator().fit(X, y)
        return
    with pytest.raises(ValueError, match="one class|Only binary classification|Unknown label type|requires y"):
        ShiftCalibrator().fit(X, y)


def test_before_fit_there_is_nothing():
    for method in ("predict", "predict_proba", "decision_function", "transform"):
        with pytest.raises(NotFittedError):
            getattr(AffineCalibrator(), method)([[1.0]])
    with pytest.raises(NotFittedError):
        AffineCalibrator().get_feature_names_out()


def test_the_trained_calibrator_becomes_a_model_file(trials, tmp_path):
    X, y, _ = trials
    calibrator = AffineCalibrator(p_target=0.1).fit(X, y)
    calibrator.calibrator_.save(tmp_path / "model.json")
    assert np.array_equal(
        deciban.load_model(tmp_path / "model.json").transform(X[:, 0]), calibrator.decision_function(X)
    )


def test_as_a_step_and_as_a_table(trials):
    X, y, _ = trials
    expected = AffineCalibrator().fit(-X, 1 - y).transform(-X)
    negated = make_pipeline(FunctionTransformer(np.negative), AffineCalibrator()).fit(X, 1 - y)
    assert is_classifier(negated)
    assert np.array_equal(negated.transform(X), expected)
    table = pd.DataFrame({"a": X[:, 0], "b": X[::-1, 0]})
    both = make_column_transformer((AffineCalibrator(), ["a"]), (ShiftCalibrator(), ["b"]))
    llrs = both.set_output(transform="pandas").fit_transform(table, y)
    assert llrs.columns.tolist() == ["affinecalibrator__llr", "shiftcalibrator__llr"]
    assert np.array_equal(llrs["affinecalibrator__llr"], AffineCalibrator().fit(X, y).decision_function(X))


def test_stacking_calibrates_scores_of_classifiers_that_have_not_seen_them(trials):
    X, y, _ = trials
    features = np.hstack([X, X**2])
    folds = StratifiedKFold(3)
    stacked = StackingClassifier(
        [("scores", LogisticRegression())], AffineCalibrator(), stack_method="decision_function", cv=folds
    ).fit(features, y)
    unseen = cross_val_predict(LogisticRegression(), features, y, cv=folds, method="decision_function")
    by_hand = calibration.AffineCalibrator().fit(unseen, y)
    scores = LogisticRegression().fit(features, y).decision_function(features)
    assert stacked.decision_function(features) == pytest.approx(by_hand.transform(scores), rel=1e-9)


def test_grid_search_finds_what_a_loop_finds(trials):
    X, y, _ = trials
    folds = list(StratifiedKFold(3).split(X, y))
    grid = [{"alpha": a, "beta": b} for a in (0.5, 2.0) for b in (0.5, 2.0)]
    means = []
    for rule in grid:
        maps = [calibration.AffineCalibrator(**rule).fit(X[a, 0], y[a]) for a, _ in folds]
        means.append(
            np.mean([dcf(y[b], m.transform(X[b, 0]), p_target=0.1) for m, (_, b) in zip(maps, folds, strict=True)])
        )
    search = GridSearchCV(
        AffineCalibrator(), {"alpha": [0.5, 2.0], "beta": [0.5, 2.0]}, scoring=scorer(dcf, p_target=0.1), cv=folds
    ).fit(X, y)
    assert -search.cv_results_["mean_test_score"] == pytest.approx(means, rel=1e-12)
    assert search.best_params_ == grid[int(np.argmin(means))]


@sklearn.config_context(enable_metadata_routing=True)
def test_weights_are_routed_to_training_and_to_the_scorer(trials):
    """Whole weights are copies; without a request they are not handed on in silence."""
    X, y, weight = trials
    halves = [(np.arange(300), np.arange(300, 600))]
    weighted = GridSearchCV(
        make_pipeline(FunctionTransformer(), AffineCalibrator().set_fit_request(sample_weight=True)),
        {"affinecalibrator__p_target": [0.5]},
        scoring=scorer(dcf, p_target=0.1).set_score_request(sample_weight=True),
        cv=halves,
    ).fit(X, y, sample_weight=weight)
    train, test = (np.repeat(half, weight[half]) for half in halves[0])
    copies = calibration.AffineCalibrator().fit(X[train, 0], y[train])
    expected = dcf(y[test], copies.transform(X[test, 0]), p_target=0.1)
    assert -weighted.best_score_ == pytest.approx(expected, rel=1e-9)
    with pytest.raises(ValueError, match="sample_weight.*not.*requested"):
        GridSearchCV(AffineCalibrator(), {"p_target": [0.5]}, cv=halves).fit(X, y, sample_weight=weight)


def test_bounds_are_a_step_behind_a_calibrator(trials):
    X, y, _ = trials
    both = make_pipeline(GaussianCalibrator(), ElubCalibrator()).fit(X, y)
    expected = calibration.Chain(calibration.GaussianCalibrator(), calibration.ElubCalibrator()).fit(X[:, 0], y)
    assert np.array_equal(both.decision_function(X), expected.transform(X[:, 0]))


def test_a_single_confident_error_of_pav_makes_the_score_infinite(trials):
    X, y, _ = trials
    assert PavCalibrator().fit(X, y).score([[-99.0], [0.0]], [1, 0]) == -np.inf
    assert PavCalibrator(bound=3.0).fit(X, y).score([[-99.0], [-99.0]], [1, 0]) == pytest.approx(
        -(np.log2(1 + np.exp(3)) + np.log2(1 + np.exp(-3))) / 2
    )


TWO_SIDES = "two sides"


@pytest.mark.parametrize("sides", ["one", TWO_SIDES])
@pytest.mark.parametrize(("estimator", "original"), SAME, ids=lambda value: getattr(value, "__name__", ""))
def test_units_tell_how_sure_training_is(estimator, original, trials, sides):
    X, y, weight = trials
    X = expit(X) if isinstance(estimator, BetaCalibrator) and estimator.scores == "probability" else X
    unit = np.random.default_rng(1).integers(0, 40, (600, 2)).astype(str)
    unit = unit if sides == TWO_SIDES else unit[:, 0]
    settings = {name: value for name, value in estimator.get_params().items() if name not in OWN}
    expected = original(**settings).fit(X[:, 0], y, sample_weight=weight, units=unit)
    fitted = clone(estimator).fit(X, y, weight, units=unit).calibrator_
    for one, other in zip(fitted.interval(X[:20, 0], level=0.8), expected.interval(X[:20, 0], level=0.8), strict=True):
        np.testing.assert_array_equal(one, other)
    assert clone(estimator).fit(X, y, weight).calibrator_.uncertainty_ is None


def test_units_of_other_trials_are_refused(trials):
    X, y, _ = trials
    with pytest.raises(InputError, match=r"^units: 599 units for 600 trials"):
        AffineCalibrator().fit(X, y, units=np.arange(599))


@sklearn.config_context(enable_metadata_routing=True)
def test_units_are_routed_trial_by_trial(trials):
    """Cross-validation trains on a part of the trials, with the units of these."""
    X, y, _ = trials
    unit = np.stack((np.arange(600) // 10, np.arange(600) % 60), 1)
    halves = StratifiedKFold(2)
    found = cross_validate(
        make_pipeline(FunctionTransformer(), AffineCalibrator().set_fit_request(units=True)),
        X, y, cv=halves, params={"units": unit}, return_estimator=True,
    )["estimator"]  # fmt: skip
    for (train, _), system in zip(halves.split(X, y), found, strict=True):
        expected = calibration.AffineCalibrator().fit(X[train, 0], y[train], units=unit[train])
        np.testing.assert_array_equal(system[-1].calibrator_.parameter_covariance_, expected.parameter_covariance_)
