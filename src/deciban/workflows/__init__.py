"""Files in, files and results out: the verbs of the command line as functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deciban._lazy import late

if TYPE_CHECKING:
    from deciban.workflows.application import apply_files
    from deciban.workflows.calibrated import evaluate_calibrated
    from deciban.workflows.classes_application import apply_class_files
    from deciban.workflows.classes_files import evaluate_class_files
    from deciban.workflows.classes_joined import JoinedClasses, read_joined_classes
    from deciban.workflows.classes_training import TrainedClasses, evaluate_class_model, train_class_files
    from deciban.workflows.evaluate import evaluate_files
    from deciban.workflows.fused_evaluation import evaluate_fused
    from deciban.workflows.fused_figures import Fused, FusionFigures
    from deciban.workflows.fusion import fuse_files
    from deciban.workflows.joined import Joined, Reading, read_joined
    from deciban.workflows.kind import kind_of_scores
    from deciban.workflows.training import Calibrated, calibrate_files
else:
    __getattr__, __dir__ = late(
        __name__,
        {
            "deciban.workflows.application": ("apply_files",),
            "deciban.workflows.calibrated": ("evaluate_calibrated",),
            "deciban.workflows.classes_application": ("apply_class_files",),
            "deciban.workflows.classes_files": ("evaluate_class_files",),
            "deciban.workflows.classes_joined": ("JoinedClasses", "read_joined_classes"),
            "deciban.workflows.classes_training": ("TrainedClasses", "evaluate_class_model", "train_class_files"),
            "deciban.workflows.evaluate": ("evaluate_files",),
            "deciban.workflows.fused_evaluation": ("evaluate_fused",),
            "deciban.workflows.fused_figures": ("Fused", "FusionFigures"),
            "deciban.workflows.fusion": ("fuse_files",),
            "deciban.workflows.joined": ("Joined", "Reading", "read_joined"),
            "deciban.workflows.kind": ("kind_of_scores",),
            "deciban.workflows.training": ("Calibrated", "calibrate_files"),
        },
    )

__all__ = [
    "Calibrated",
    "Fused",
    "FusionFigures",
    "Joined",
    "JoinedClasses",
    "Reading",
    "TrainedClasses",
    "apply_class_files",
    "apply_files",
    "calibrate_files",
    "evaluate_calibrated",
    "evaluate_class_files",
    "evaluate_class_model",
    "evaluate_files",
    "evaluate_fused",
    "fuse_files",
    "kind_of_scores",
    "read_joined",
    "read_joined_classes",
    "train_class_files",
]
