"""Another name of `deciban.workflows`, for scripts that import it."""

from __future__ import annotations

from deciban.workflows import (
    Calibrated,
    Fused,
    FusionFigures,
    TrainedClasses,
    apply_class_files,
    apply_files,
    calibrate_files,
    evaluate_class_model,
    evaluate_fused,
    fuse_files,
    train_class_files,
)

__all__ = [
    "Calibrated",
    "Fused",
    "FusionFigures",
    "TrainedClasses",
    "apply_class_files",
    "apply_files",
    "calibrate_files",
    "evaluate_class_model",
    "evaluate_fused",
    "fuse_files",
    "train_class_files",
]
