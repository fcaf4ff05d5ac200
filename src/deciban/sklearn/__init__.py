"""Calibrators as scikit-learn estimators, and figures of merit in the order ``(y_true, score)`` with their scorers.

They live beside everything else of scikit-learn: in pipelines, `StackingClassifier`, `GridSearchCV`. Under their own
names, and without scikit-learn, the same calibrators are in `deciban.calibration`, the same figures in
`deciban.metrics`. See ``docs/scikit-learn.md``.
"""

from __future__ import annotations

from deciban._lazy import late

try:
    from sklearn.utils.validation import validate_data as _since_version_1_6  # noqa: F401
except ImportError as error:
    raise ImportError(
        "deciban.sklearn needs scikit-learn 1.6 or later, which deciban does without elsewhere. Install it with the "
        "extra: pip install 'deciban[sklearn]'."
    ) from error

__getattr__, __dir__ = late(__name__)
