"""Arrays in, frozen results out: every figure, curve and note about the scores of a system."""

from __future__ import annotations

from deciban.evaluation.figures import TwoClassFigures
from deciban.evaluation.multiclass.evaluate import evaluate_classes
from deciban.evaluation.multiclass.groups import evaluate_groups
from deciban.evaluation.multiclass.result import ClassCurves, ClassEvaluation, ClassPoint, ClassResults
from deciban.evaluation.presets import Preset, preset, presets
from deciban.evaluation.results import Curves, Evaluation, PointResult, Results
from deciban.evaluation.summary import Summary, merged, summarize
from deciban.evaluation.two_class import evaluate, evaluation_of

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
    "Summary",
    "TwoClassFigures",
    "evaluate",
    "evaluate_classes",
    "evaluate_groups",
    "evaluation_of",
    "merged",
    "preset",
    "presets",
    "summarize",
]
