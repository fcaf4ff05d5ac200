"""Arrays in, frozen results out: every figure, curve and note about the scores of a system."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deciban._lazy import late

if TYPE_CHECKING:
    from deciban.evaluation.figures import TwoClassFigures
    from deciban.evaluation.multiclass.evaluate import evaluate_classes
    from deciban.evaluation.multiclass.groups import evaluate_groups
    from deciban.evaluation.multiclass.result import ClassCurves, ClassEvaluation, ClassPoint, ClassResults
    from deciban.evaluation.preset_table import Preset, preset, presets
    from deciban.evaluation.results import Curves, Evaluation, PointResult, Results
    from deciban.evaluation.summary import Summary, merged, summarize
    from deciban.evaluation.two_class import evaluate, evaluation_of
else:
    __getattr__, __dir__ = late(
        __name__,
        {
            "deciban.evaluation.figures": ("TwoClassFigures",),
            "deciban.evaluation.multiclass.evaluate": ("evaluate_classes",),
            "deciban.evaluation.multiclass.groups": ("evaluate_groups",),
            "deciban.evaluation.multiclass.result": (
                "ClassCurves",
                "ClassEvaluation",
                "ClassPoint",
                "ClassResults",
            ),
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
