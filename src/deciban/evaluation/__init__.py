"""Arrays in, frozen results out: every figure, curve and note about the scores of a system."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deciban._lazy import late

if TYPE_CHECKING:
    from deciban.evaluation.figures import TwoClassFigures
    from deciban.evaluation.multiclass.evaluate import class_evaluation_of, evaluate_classes
    from deciban.evaluation.multiclass.figures import ClassFigures
    from deciban.evaluation.multiclass.groups import evaluate_groups
    from deciban.evaluation.multiclass.result import ClassCurves, ClassEvaluation, ClassPoint, ClassResults
    from deciban.evaluation.multiclass.summary import ClassSummary, merged_classes, summarize_classes
    from deciban.evaluation.preset_table import Preset, preset, presets
    from deciban.evaluation.results import Curves, Evaluation, PointResult, Results
    from deciban.evaluation.summary import Summary, merged, summarize
    from deciban.evaluation.two_class import evaluate, evaluation_of
else:
    __getattr__, __dir__ = late(
        __name__,
        {
            "deciban.evaluation.figures": ("TwoClassFigures",),
            "deciban.evaluation.multiclass.evaluate": ("class_evaluation_of", "evaluate_classes"),
            "deciban.evaluation.multiclass.figures": ("ClassFigures",),
            "deciban.evaluation.multiclass.groups": ("evaluate_groups",),
            "deciban.evaluation.multiclass.result": (
                "ClassCurves",
                "ClassEvaluation",
                "ClassPoint",
                "ClassResults",
            ),
            "deciban.evaluation.multiclass.summary": ("ClassSummary", "merged_classes", "summarize_classes"),
            "deciban.evaluation.preset_table": (
                "Preset",
                "preset",
                "presets",
            ),
            "deciban.evaluation.results": (
                "Curves",
                "Evaluation",
                "PointResult",
                "Results",
            ),
            "deciban.evaluation.summary": (
                "Summary",
                "merged",
                "summarize",
            ),
            "deciban.evaluation.two_class": (
                "evaluate",
                "evaluation_of",
            ),
        },
    )

__all__ = [
    "ClassCurves",
    "ClassEvaluation",
    "ClassFigures",
    "ClassPoint",
    "ClassResults",
    "ClassSummary",
    "Curves",
    "Evaluation",
    "PointResult",
    "Preset",
    "Results",
    "Summary",
    "TwoClassFigures",
    "class_evaluation_of",
    "evaluate",
    "evaluate_classes",
    "evaluate_groups",
    "evaluation_of",
    "merged",
    "merged_classes",
    "preset",
    "presets",
    "summarize",
    "summarize_classes",
]
