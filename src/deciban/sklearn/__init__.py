"""Calibrators as scikit-learn estimators, and figures of merit in the order ``(y_true, score)`` with their scorers.

They live beside everything else of scikit-learn: in pipelines, `StackingClassifier`, `GridSearchCV`. Under their own
names, and without scikit-learn, the same calibrators are in `deciban.calibration`, the same figures in
`deciban.metrics`. See ``docs/scikit-learn.md``.
"""

from __future__ import annotations

try:
    from sklearn.utils.validation import validate_data as _since_version_1_6  # noqa: F401
except ImportError as error:
    raise ImportError(
        "deciban.sklearn needs scikit-learn 1.6 or later, which deciban does without elsewhere. Install it with the "
        "extra: pip install 'deciban[sklearn]'."
    ) from error

from deciban.sklearn.bounds import BoundCalibrator, ElubCalibrator
from deciban.sklearn.calibrators import (
    AffineCalibrator,
    BetaCalibrator,
    GaussianCalibrator,
    PavCalibrator,
    ScaleCalibrator,
    ShiftCalibrator,
)
from deciban.sklearn.estimator import ScoreCalibrator
from deciban.sklearn.multiclass.calibrators import (
    GaussianBackend,
    MulticlassCalibrator,
    MulticlassFusion,
    MulticlassScaleCalibrator,
    MulticlassShiftCalibrator,
)
from deciban.sklearn.multiclass.estimator import ClassEstimator
from deciban.sklearn.multiclass.transformations import (
    ClassScaleTransformation,
    DetectionPavTransformation,
    MatrixTransformation,
)
from deciban.sklearn.scoring import cllr_score, cllr_scorer, dcf, min_cllr_score, min_cllr_scorer, scorer

__all__ = [
    "AffineCalibrator",
    "BetaCalibrator",
    "BoundCalibrator",
    "ClassEstimator",
    "ClassScaleTransformation",
    "DetectionPavTransformation",
    "ElubCalibrator",
    "GaussianBackend",
    "GaussianCalibrator",
    "MatrixTransformation",
    "MulticlassCalibrator",
    "MulticlassFusion",
    "MulticlassScaleCalibrator",
    "MulticlassShiftCalibrator",
    "PavCalibrator",
    "ScaleCalibrator",
    "ScoreCalibrator",
    "ShiftCalibrator",
    "cllr_score",
    "cllr_scorer",
    "dcf",
    "min_cllr_score",
    "min_cllr_scorer",
    "scorer",
]
