"""Arrays in, frozen results out: every figure, curve and note about the scores of a system."""

from __future__ import annotations

from deciban.evaluation.multiclass.evaluate import evaluate_classes
from deciban.evaluation.multiclass.groups import evaluate_groups
from deciban.evaluation.multiclass.result import ClassCurves, ClassEvaluation, ClassPoint, ClassResults
from deciban.evaluation.presets import Preset, preset, presets
from deciban.evaluation.results import Curves, Evaluation, PointResult, Results
from deciban.evaluation.two_class import evaluate

__all__ = [
    "ClassCurves",
    "ClassEvaluation",
    "ClassPoint",
    "ClassResults",
    "Curves",
    "Evaluation",
    "PointResult",
    "Preset",
    "Results",
    "evaluate",
    "evaluate_classes",
    "evaluate_groups",
    "preset",
    "presets",
]
