"""Calibration of the scores of one system: maps to log-likelihood ratios, or log-likelihoods of many classes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deciban._lazy import late

if TYPE_CHECKING:
    from deciban.calibration.affine import AffineCalibrator, ScaleCalibrator, ShiftCalibrator
    from deciban.calibration.beta import BetaCalibrator
    from deciban.calibration.bounds import BoundCalibrator, ElubCalibrator, elub_bounds
    from deciban.calibration.chain import Chain
    from deciban.calibration.cross import cross_validated
    from deciban.calibration.gaussian import GaussianCalibrator
    from deciban.calibration.multiclass.affine import (
        MulticlassCalibrator,
        MulticlassScaleCalibrator,
        MulticlassShiftCalibrator,
    )
    from deciban.calibration.multiclass.base import ClassMap
    from deciban.calibration.multiclass.gaussian import GaussianBackend
    from deciban.calibration.multiclass.pav import DetectionPavTransformation
    from deciban.calibration.multiclass.transformations import ClassScaleTransformation, MatrixTransformation
    from deciban.calibration.pav import PavCalibrator
    from deciban.calibration.rule_suggestion import Rule, suggest_rule
    from deciban.calibration.rule_weightings import PointWeight, RuleWeighting, rule_weighting
    from deciban.models.calibrator import Calibrator
else:
    __getattr__, __dir__ = late(
        __name__,
        {
            "deciban.calibration.affine": ("AffineCalibrator", "ScaleCalibrator", "ShiftCalibrator"),
            "deciban.calibration.beta": ("BetaCalibrator",),
            "deciban.calibration.bounds": ("BoundCalibrator", "ElubCalibrator", "elub_bounds"),
            "deciban.models.calibrator": ("Calibrator",),
            "deciban.calibration.chain": ("Chain",),
            "deciban.calibration.cross": ("cross_validated",),
            "deciban.calibration.gaussian": ("GaussianCalibrator",),
            "deciban.calibration.multiclass.affine": (
                "MulticlassCalibrator",
                "MulticlassScaleCalibrator",
                "MulticlassShiftCalibrator",
            ),
            "deciban.calibration.multiclass.base": ("ClassMap",),
            "deciban.calibration.multiclass.gaussian": ("GaussianBackend",),
            "deciban.calibration.multiclass.pav": ("DetectionPavTransformation",),
            "deciban.calibration.multiclass.transformations": ("ClassScaleTransformation", "MatrixTransformation"),
            "deciban.calibration.pav": ("PavCalibrator",),
            "deciban.calibration.rule_suggestion": ("Rule", "suggest_rule"),
            "deciban.calibration.rule_weightings": ("PointWeight", "RuleWeighting", "rule_weighting"),
        },
    )

__all__ = [
    "AffineCalibrator",
    "BetaCalibrator",
    "BoundCalibrator",
    "Calibrator",
    "Chain",
    "ClassMap",
    "ClassScaleTransformation",
    "DetectionPavTransformation",
    "ElubCalibrator",
    "GaussianBackend",
    "GaussianCalibrator",
    "MatrixTransformation",
    "MulticlassCalibrator",
    "MulticlassScaleCalibrator",
    "MulticlassShiftCalibrator",
    "PavCalibrator",
    "PointWeight",
    "Rule",
    "RuleWeighting",
    "ScaleCalibrator",
    "ShiftCalibrator",
    "cross_validated",
    "elub_bounds",
    "rule_weighting",
    "suggest_rule",
]
