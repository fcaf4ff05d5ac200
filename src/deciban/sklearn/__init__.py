"""scikit-learn estimators for calibration, and metrics with the arguments ``(y_true, score)`` and their scorers.

The estimators work in pipelines, `StackingClassifier` and `GridSearchCV`. `deciban.calibration` and `deciban.metrics`
have the same calibrators and metrics without scikit-learn. See ``docs/scikit-learn.md``.
"""

from deciban._lazy import late

try:
    from sklearn.utils.validation import validate_data as _since_version_1_6  # noqa: F401
except ImportError as error:
    raise ImportError(
        "deciban.sklearn needs scikit-learn 1.6 or later, which the rest of deciban does not need. Install it with the "
        "extra: pip install 'deciban[sklearn]'."
    ) from error

__getattr__, __dir__ = late(__name__)
