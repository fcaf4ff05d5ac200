"""From files to models and from models to files: calibration and fusion as one call each."""

from __future__ import annotations

from deciban.recipes.application import apply_files
from deciban.recipes.classes_application import apply_class_files
from deciban.recipes.classes_training import TrainedClasses, evaluate_class_model, train_class_files
from deciban.recipes.fused_evaluation import evaluate_fused
from deciban.recipes.fused_figures import Fused, FusionFigures
from deciban.recipes.fusion import fuse_files
from deciban.recipes.training import Calibrated, calibrate_files

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
