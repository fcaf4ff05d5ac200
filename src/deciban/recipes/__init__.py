"""Former names of what `deciban.workflows` and `deciban.analysis` offer, for scripts that import them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deciban._lazy import late

if TYPE_CHECKING:
    from deciban.analysis import FusionFigures
    from deciban.recipes.former import (
        Calibrated,
        Fused,
        TrainedClasses,
        apply_class_files,
        calibrate_files,
        fuse_files,
        train_class_files,
    )
    from deciban.workflows import apply_files
else:
    __getattr__, __dir__ = late(
        __name__,
        {
            "deciban.analysis": ("FusionFigures",),
            "deciban.recipes.former": (
                "Calibrated",
                "Fused",
                "TrainedClasses",
                "apply_class_files",
                "calibrate_files",
                "fuse_files",
                "train_class_files",
            ),
            "deciban.workflows": ("apply_files",),
        },
    )

__all__ = [
    "Calibrated",
    "Fused",
    "FusionFigures",
    "TrainedClasses",
    "apply_class_files",
    "apply_files",
    "calibrate_files",
    "fuse_files",
    "train_class_files",
]
