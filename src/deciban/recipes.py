"""Another name of what `deciban.workflows` and `deciban` offer, for scripts that import it."""

from __future__ import annotations

from deciban.workflows import Trained, apply_files, train_files

Calibrated = Fused = TrainedClasses = Trained
calibrate_files = fuse_files = train_class_files = train_files
apply_class_files = apply_files

__all__ = [
    "Calibrated",
    "Fused",
    "TrainedClasses",
    "apply_class_files",
    "apply_files",
    "calibrate_files",
    "fuse_files",
    "train_class_files",
]
