"""scikit-learn's own checks of estimators, and why a few of them fail.

The checks feed several columns, and classes that are far apart: `column` and `ridge` are set for that, as a user has
to. In the data that ask for right answers, larger scores favour the second class in column 0 only; the last column is
easier, but the other way round. A check that is listed and passes is a failure, too.
"""

from pathlib import Path

import pytest

from deciban import sklearn as wrapped
from support.estimators import check

INFINITE = "infinite scores are legal; that NaN is refused is tested in test_calibrators"
NO_VARIANCE = "all scores of a class are the same: no Gaussian, and an error"
WORDS = "labels 'one' and 'two': words that do not say which one large scores favour"
TIE = "every llr is exactly 0: the threshold, at which deciban accepts"

EXPECTED = {
    wrapped.AffineCalibrator(column=-1, ridge=1e-3): {},
    wrapped.ScaleCalibrator(column=-1, ridge=1e-3): {},
    wrapped.ShiftCalibrator(column=0): {},
    wrapped.PavCalibrator(column=0): {},
    wrapped.PavCalibrator(column=0, interpolation="step", smoothing=1.0, bound=5.0): {},
    wrapped.GaussianCalibrator(column=-1): {
        "check_sample_weights_shape": NO_VARIANCE,
        "check_sample_weights_not_overwritten": NO_VARIANCE,
    },
    wrapped.GaussianCalibrator(column=-1, shared_variance=False): {
        "check_sample_weights_shape": NO_VARIANCE,
        "check_sample_weights_not_overwritten": NO_VARIANCE,
        "check_sample_weight_equivalence_on_dense_data": NO_VARIANCE,
    },
    wrapped.BetaCalibrator(column=0, ridge=1e-3, scores="log_odds"): {},
    wrapped.BoundCalibrator(column=0, low=-5.0, high=5.0): {},
    wrapped.LinearFusion(ridge=1e-3): {},
    wrapped.ElubCalibrator(column=0): {"check_classifiers_classes": TIE},
}
"""Names of checks that have to fail, beside those that all fail, and why."""

for failing in EXPECTED.values():
    failing["check_estimators_nan_inf"] = INFINITE
    failing.setdefault("check_classifiers_classes", WORDS)


@pytest.mark.filterwarnings(
    "ignore::deciban.errors.DecibanWarning"
)  # about scores that mean the opposite, and the like
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.parametrize("estimator", EXPECTED, ids=repr)
def test_checks_of_scikit_learn(estimator):
    check(estimator, EXPECTED[estimator])


def test_the_page_lists_the_checks_that_fail():
    page = (Path(__file__).parents[2] / "docs" / "scikit-learn.md").read_text()
    _, _, section = page.partition("## `check_estimator`")
    for failing in EXPECTED.values():
        for name in failing:
            assert f"`{name}`" in section
