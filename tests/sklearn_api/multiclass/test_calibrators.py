"""The estimators of many classes as classifiers and as transformers."""

import inspect
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from scipy.special import softmax
from sklearn.base import clone, is_classifier
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.ensemble import StackingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

from deciban import calibration, fusion, multiclass
from deciban.errors import DecibanWarning, InputError
from deciban.sklearn import (
    ClassScaleTransformation,
    DetectionPavTransformation,
    GaussianBackend,
    MatrixTransformation,
    MulticlassCalibrator,
    MulticlassFusion,
    MulticlassScaleCalibrator,
    MulticlassShiftCalibrator,
)
from support.many_classes import problem

PRIOR = [0.1, 0.2, 0.3, 0.4]
NAMES = np.array(["deu", "eng", "fra", "spa"])
SAME = [
    (MulticlassCalibrator(prior=PRIOR, ridge=0.01), calibration.MulticlassCalibrator),
    (MulticlassFusion(prior=PRIOR, ridge=0.01, offsets=False), fusion.MulticlassFusion),
    (GaussianBackend(covariance="smoothed", smoothing=0.2, ridge=0.1, prior=PRIOR), calibration.GaussianBackend),
    (MulticlassScaleCalibrator(prior=PRIOR, ridge=0.01), calibration.MulticlassScaleCalibrator),
    (MulticlassShiftCalibrator(prior=PRIOR), calibration.MulticlassShiftCalibrator),
    (ClassScaleTransformation(prior=PRIOR, ridge=0.01, toward_calibration=0.1), calibration.ClassScaleTransformation),
    (MatrixTransformation(prior=PRIOR, ridge=0.01, toward_calibration=0.1), calibration.MatrixTransformation),
    (
        DetectionPavTransformation(prior=PRIOR, interpolation="step", smoothing=2.0, bound=4.0),
        calibration.DetectionPavTransformation,
    ),
]
WITH_COLUMNS_OF_CLASSES = [
    type(estimator) for estimator, _ in SAME if not isinstance(estimator, MulticlassFusion | GaussianBackend)
]
"""Every setting differs from its default."""


@pytest.fixture(scope="module")
def trials():
    """Log-likelihoods of two systems side by side, labels and whole weights."""
    systems, label = problem(400, 2)
    return systems.reshape(400, 8), NAMES[label], np.random.default_rng(1).integers(1, 4, 400)


def columns(estimator, X):
    return X[:, :4] if type(estimator) in WITH_COLUMNS_OF_CLASSES else X


@pytest.mark.parametrize(("estimator", "original"), SAME, ids=lambda value: getattr(value, "__name__", ""))
def test_it_is_the_model_of_the_same_name(estimator, original, trials):
    X, y, weight = trials
    X = columns(estimator, X)
    names = list(inspect.signature(original).parameters)
    assert [n for n in inspect.signature(type(estimator)).parameters if n != "decision_prior"] == names
    settings = {name: getattr(estimator, name) for name in names}
    assert all(inspect.signature(original).parameters[name].default != value for name, value in settings.items())
    model = original(**settings)
    scores = X.reshape(400, 2, 4) if original is fusion.MulticlassFusion else X
    model.fit(scores, y, sample_weight=weight, classes=NAMES)
    fitted = clone(estimator).fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(fitted.transform(X), model.transform(scores))
    assert fitted.model_.training_ == model.training_
    assert fitted.model_.classes_ == tuple(NAMES.tolist())
    assert is_classifier(fitted)


def test_posteriors_decisions_and_score(trials):
    X, y, weight = trials
    X = X[:, :4]
    estimator = MulticlassCalibrator(prior=PRIOR).fit(X, y)
    loglik = estimator.transform(X)
    np.testing.assert_array_equal(estimator.decision_function(X), loglik)
    np.testing.assert_allclose(estimator.predict_proba(X), softmax(loglik + np.log(PRIOR), axis=1), rtol=1e-12)
    np.testing.assert_array_equal(estimator.predict(X), NAMES[np.argmax(loglik + np.log(PRIOR), axis=1)])
    label = np.searchsorted(NAMES, y)
    assert estimator.score(X, y, weight) == -multiclass.cllr(loglik, label, sample_weight=weight)
    estimator.set_params(decision_prior=[0.25] * 4)
    np.testing.assert_array_equal(estimator.predict(X), NAMES[np.argmax(loglik, axis=1)])
    assert estimator.get_feature_names_out().tolist() == ["loglik_deu", "loglik_eng", "loglik_fra", "loglik_spa"]


def test_two_classes_decide_by_the_ratio_of_the_second():
    systems, label = problem(300, 1, 2, apart=1.0)
    estimator = MulticlassCalibrator().fit(systems[:, 0], label)
    loglik = estimator.transform(systems[:, 0])
    np.testing.assert_array_equal(estimator.decision_function(systems[:, 0]), loglik[:, 1] - loglik[:, 0])


def test_infinite_scores_are_legal_and_nan_is_not(trials):
    X, y, _ = trials
    X = X[:, :4].copy()
    X[3, (np.searchsorted(NAMES, y[3]) + 1) % 4] = -np.inf
    assert np.isneginf(MulticlassCalibrator().fit(X, y).transform(X)).sum() == 1


@pytest.mark.parametrize("kind", [*WITH_COLUMNS_OF_CLASSES, MulticlassFusion, GaussianBackend])
def test_nan_is_refused_by_its_place_in_x(kind, trials):
    X, y, _ = trials
    X = columns(kind(), X).copy()
    fitted = kind().set_params(**{"ridge": 0.01} if "ridge" in kind().get_params() else {}).fit(X, y)
    column = X.shape[1] - 1
    X[[5, 7], column] = np.nan
    for call in (lambda: kind().fit(X, y), lambda: fitted.transform(X)):
        if fitted.takes_infinity:
            with pytest.raises(InputError, match=f"X: 2 of 400 rows contain NaN, the first in row 5, column {column}"):
                call()
        else:
            with pytest.raises(ValueError, match="Input X contains NaN"):
                call()


def test_messages_speak_of_x_and_y(trials):
    X, y, _ = trials
    excluded = X.copy()
    excluded[3, 4:] = -np.inf
    with pytest.raises(InputError, match="X: 1 of 400 trials exclude every class"):
        MulticlassCalibrator().fit(excluded[:, 4:], y)
    with pytest.raises(InputError, match="X, system 1: 1 of 400 trials exclude every class"):
        MulticlassFusion().fit(excluded, y)
    with pytest.raises(InputError, match="X: 1 of 400 trials exclude every class"):
        MulticlassCalibrator().fit(X[:, :4], y).transform(excluded[:, 4:])
    with pytest.raises(InputError, match=r"X: feature 8 is the same within each class"):
        GaussianBackend().fit(np.column_stack([X, np.searchsorted(NAMES, y) / 10]), y)
    with pytest.raises(InputError, match=r"y: class 1 \('eng'\) has only trials of weight 0"):
        MulticlassCalibrator().fit(X[:, :4], y, sample_weight=(y != "eng").astype(float))
    with pytest.raises(InputError, match="covariance: got 'full'"):
        GaussianBackend(covariance="full").fit(X, y)


@pytest.mark.parametrize("through", [lambda e: e.fit, lambda e: e.fit_transform, lambda e: make_pipeline(e).fit])
def test_warnings_point_to_the_line_of_the_user(through, trials):
    X, y, _ = trials
    fit = through(MulticlassCalibrator())
    with pytest.warns(DecibanWarning, match="the best non-negative scale is 0") as told:
        fit(-X[:, :4], y)
    assert [one.filename for one in told] == [__file__]


def test_a_warning_as_an_error_leaves_the_model_as_it_was(trials):
    X, y, _ = trials
    estimator = MulticlassCalibrator().fit(X[:, :4], y)
    before = estimator.model_
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(DecibanWarning):
            estimator.fit(-X[:, :4], y)
    assert estimator.model_ is before


def test_in_a_pipeline_behind_the_back_end(trials):
    X, y, _ = trials
    pipeline = make_pipeline(GaussianBackend(covariance="separate"), MulticlassCalibrator()).fit(X, y)
    assert pipeline.score(X, y) > GaussianBackend(covariance="separate").fit(X, y).score(X, y)
    search = GridSearchCV(
        GaussianBackend(), {"covariance": ["shared", "separate", "smoothed"], "ridge": [0.0, 0.1]}, cv=3
    ).fit(X, y)
    assert -2.0 < search.best_score_ < 0.0


def test_the_back_end_is_discriminant_analysis_with_a_prior_of_its_own(trials):
    """At the proportions of the data its posteriors are those of scikit-learn (covariances of maximum likelihood)."""
    X, y, _ = trials
    share = np.unique(y, return_counts=True)[1] / len(y)
    linear = LinearDiscriminantAnalysis(solver="lsqr").fit(X, y)
    own = GaussianBackend(prior=share).fit(X, y)
    np.testing.assert_allclose(own.predict_proba(X), linear.predict_proba(X), rtol=1e-7, atol=1e-12)
    separate = GaussianBackend(covariance="separate", prior=share).fit(X, y)
    quadratic = QuadraticDiscriminantAnalysis().fit(X, y)
    np.testing.assert_array_equal(separate.predict(X), quadratic.predict(X))


def test_fusion_is_the_last_estimator_of_a_stack(trials):
    X, y, _ = trials
    stacked = StackingClassifier(
        [("linear", LinearDiscriminantAnalysis()), ("logistic", LogisticRegression())],
        final_estimator=MulticlassFusion(),
        stack_method="decision_function",
        cv=3,
    ).fit(X, y)
    assert stacked.final_estimator_.model_.n_systems_ == 2
    assert stacked.predict(X).shape == y.shape
    with pytest.raises(InputError, match="6 columns for 4 classes"):
        MulticlassFusion().fit(X[:, :6], y)


def test_feature_names_are_checked(trials):
    X, y, _ = trials
    frame = pd.DataFrame(X[:, :4], columns=NAMES)
    estimator = MulticlassCalibrator().fit(frame, y)
    assert estimator.feature_names_in_.tolist() == NAMES.tolist()
    with pytest.raises(ValueError, match="feature names"):
        estimator.transform(frame[NAMES[::-1]])


def test_what_does_not_fit_is_refused(trials):
    X, y, _ = trials
    with pytest.raises(InputError, match="8 columns for 4 classes"):
        MulticlassCalibrator().fit(X, y)
    with pytest.raises(InputError, match="one class"):
        GaussianBackend().fit(X, np.zeros(400))
    with pytest.raises(InputError, match="decision_prior: shape"):
        MulticlassCalibrator(decision_prior=[0.5, 0.5]).fit(X[:, :4], y)
    with pytest.raises(NotFittedError):
        MulticlassCalibrator().predict(X)
    estimator = GaussianBackend().fit(X, y)
    with pytest.raises(InputError, match="in training they were 'deu'"):
        estimator.score(X[:2], ["deu", "ita"])
    with pytest.raises(ValueError, match="infinity"):
        estimator.transform(np.full((1, 8), np.inf))


def test_a_generative_model_of_scikit_learn_can_be_calibrated(trials):
    X, y, _ = trials
    system = GaussianNB().fit(X[::2], y[::2])
    loglik = system.predict_log_proba(X[1::2]) - np.log(system.class_prior_)
    calibrated = MulticlassCalibrator().fit(loglik, y[1::2])
    assert calibrated.score(loglik, y[1::2]) > -multiclass.cllr(loglik, np.searchsorted(NAMES, y[1::2]))


def test_threads_leave_the_filters_of_warnings_alone():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 90)
    X = rng.normal(size=(90, 3)) + np.eye(3)[y]
    before = list(warnings.filters)

    def work(_):
        return MulticlassCalibrator().fit(X, y).transform(X)

    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(work, range(60)))
    assert list(warnings.filters) == before
    for found in results:
        np.testing.assert_array_equal(found, results[0])


@pytest.mark.filterwarnings("ignore::deciban.errors.DecibanWarning")  # models without standard errors say so
@pytest.mark.parametrize(("estimator", "original"), SAME, ids=lambda value: getattr(value, "__name__", ""))
def test_units_tell_how_sure_training_is(estimator, original, trials):
    X, y, weight = trials
    X = columns(estimator, X)
    unit = np.arange(400) // 8
    model = original(**{name: getattr(estimator, name) for name in inspect.signature(original).parameters})
    scores = X.reshape(400, 2, 4) if original is fusion.MulticlassFusion else X
    model.fit(scores, y, sample_weight=weight, classes=NAMES, units=unit)
    fitted = clone(estimator).fit(X, y, weight, units=unit).model_
    assert (fitted.no_errors, fitted.uncertainty_ is None) == (model.no_errors, model.uncertainty_ is None)
    if model.uncertainty_ is not None:
        np.testing.assert_array_equal(fitted.parameter_covariance_, model.parameter_covariance_)


def test_a_column_of_units_too_many_is_refused(trials):
    X, y, _ = trials
    with pytest.raises(InputError, match=r"^units: 401 units for 400 trials"):
        MulticlassCalibrator().fit(X[:, :4], y, units=np.arange(401))
