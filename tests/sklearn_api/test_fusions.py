"""The fusion as an estimator is that of `deciban.fusion`."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict

import deciban.fusion
from deciban.errors import InputError
from deciban.sklearn import LinearFusion


@pytest.fixture(scope="module")
def trials():
    rng = np.random.default_rng(5)
    y = (rng.random(600) < 0.3).astype(int)
    return rng.normal(0, [1, 2, 3], (600, 3)) + y[:, None] * [1.5, 2.0, 0.0], y, rng.integers(0, 4, 600)


def test_weights_and_llrs_are_those_of_the_fusion(trials):
    X, y, weight = trials
    for settings in ({}, {"p_target": 0.1, "ridge": 0.2}, {"alpha": 2.0, "beta": 0.5}):
        for given in (None, weight):
            expected = deciban.fusion.LinearFusion(**settings).fit(X, y, sample_weight=given)
            found = LinearFusion(**settings).fit(X, y, sample_weight=given)
            assert np.array_equal(found.decision_function(X), expected.transform(X))
            assert np.array_equal(found.transform(X), expected.transform(X)[:, None])
            assert found.calibrator_.parameters() == expected.parameters()


def test_it_is_logistic_regression_of_balanced_classes(trials):
    X, y, _ = trials
    weight = np.where(y, 0.5 / y.mean(), 0.5 / (1 - y.mean()))
    other = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000).fit(X, y, weight)
    fusion = LinearFusion().fit(X, y)
    np.testing.assert_allclose(fusion.calibrator_.weights_, other.coef_[0], rtol=1e-4)
    np.testing.assert_allclose(fusion.predict_proba(X), other.predict_proba(X), atol=1e-4)
    shifted = LinearFusion(prior=0.1).fit(X, y).predict_proba(X)[:, 1]
    odds = other.predict_proba(X)[:, 1] / other.predict_proba(X)[:, 0] * (0.1 / 0.9)
    np.testing.assert_allclose(shifted, odds / (1 + odds), atol=1e-4)


def test_it_cross_validates_and_takes_frames(trials):
    X, y, _ = trials
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    held_out = cross_val_predict(LinearFusion(), frame, y, method="decision_function", cv=4)
    assert held_out.shape == (600,)
    assert LinearFusion().fit(frame, y).feature_names_in_.tolist() == ["a", "b", "c"]


def test_nan_and_other_numbers_of_systems_are_refused(trials):
    X, y, _ = trials
    broken = X.copy()
    broken[3, 1] = np.nan
    with pytest.raises(InputError, match="scores of system 1 are NaN, the first at index 3"):
        LinearFusion().fit(broken, y)
    with pytest.raises(ValueError, match="3 features"):
        LinearFusion().fit(X, y).decision_function(X[:, :2])
