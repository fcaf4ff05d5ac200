"""scikit-learn's own checks of the estimators of many classes, and why a few of them fail.

The checks feed any number of columns, where calibration and fusion need one for each class: a fixed matrix makes these
here, whose scores are no good, and the tag says so. A check that is listed and passes is a failure, too.
"""

from pathlib import Path

import numpy as np
import pytest

from deciban import sklearn as wrapped
from support.estimators import check

INFINITE = "infinite scores are legal; that NaN is refused is tested in test_multiclass"
NO_VARIANCE = "all trials of a class are the same: no Gaussian, and an error"


class AnyColumns:
    """Makes a column for each class, and each system, of whatever columns there are."""

    n_systems = 1

    def _scores(self, X, n_classes):
        numbers = np.outer(np.arange(1, X.shape[1] + 1), np.arange(1, self.n_systems * n_classes + 1))
        # No product of matrices: of infinities some of their kernels make NaN, with a warning.
        return super()._scores((np.asarray(X)[:, :, None] * np.cos(numbers)).sum(axis=1), n_classes)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags


class Calibrator(AnyColumns, wrapped.MulticlassCalibrator):
    pass


class Scale(AnyColumns, wrapped.MulticlassScaleCalibrator):
    pass


class Shift(AnyColumns, wrapped.MulticlassShiftCalibrator):
    pass


class ClassScale(AnyColumns, wrapped.ClassScaleTransformation):
    pass


class Matrix(AnyColumns, wrapped.MatrixTransformation):
    pass


class DetectionPav(AnyColumns, wrapped.DetectionPavTransformation):
    pass


class Fusion(AnyColumns, wrapped.MulticlassFusion):
    n_systems = 2


EXPECTED = {
    Calibrator(ridge=1e-3): {"check_estimators_nan_inf": INFINITE},
    Scale(ridge=1e-3): {"check_estimators_nan_inf": INFINITE},
    Shift(): {"check_estimators_nan_inf": INFINITE},
    ClassScale(ridge=1e-3): {},  # a scale is negative, which infinite log-likelihoods do not allow
    Matrix(ridge=1e-3): {},
    DetectionPav(): {"check_estimators_nan_inf": INFINITE},
    Fusion(ridge=1e-3): {},  # its two systems contradict each other where X is infinite
    Fusion(ridge=1e-3, offsets=False): {},
    wrapped.GaussianBackend(ridge=1e-3): {
        "check_sample_weights_shape": NO_VARIANCE,
        "check_sample_weights_not_overwritten": NO_VARIANCE,
    },
    wrapped.GaussianBackend(covariance="smoothed", ridge=1e-3): {
        "check_sample_weights_shape": NO_VARIANCE,
        "check_sample_weights_not_overwritten": NO_VARIANCE,
    },
}


@pytest.mark.filterwarnings(
    "ignore::deciban.errors.DecibanWarning"
)  # about scores that mean the opposite, and the like
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.parametrize("estimator", EXPECTED, ids=repr)
def test_checks_of_scikit_learn(estimator):
    check(estimator, EXPECTED[estimator])


def test_the_page_lists_the_checks_that_fail():
    page = (Path(__file__).parents[3] / "docs" / "scikit-learn.md").read_text()
    _, _, section = page.partition("## `check_estimator`")
    assert "`GaussianBackend(ridge=1e-3)`" in section
    for failing in EXPECTED.values():
        for name in failing:
            assert f"`{name}`" in section
