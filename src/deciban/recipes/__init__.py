"""From files to models and from models to files: calibration and fusion as one call each."""

from __future__ import annotations

from deciban.recipes.application import apply_files
from deciban.recipes.fused_evaluation import evaluate_fused
from deciban.recipes.fused_figures import Fused, FusionFigures
from deciban.recipes.fusion import fuse_files
from deciban.recipes.training import Calibrated, calibrate_files

__all__ = ["Calibrated", "Fused", "FusionFigures", "apply_files", "calibrate_files", "evaluate_fused", "fuse_files"]
