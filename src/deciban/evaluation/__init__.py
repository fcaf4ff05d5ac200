"""Arrays in, frozen results out: every figure, curve and note about the scores of a system."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deciban._lazy import late

if TYPE_CHECKING:
    from deciban.evaluation.multiclass.evaluate import evaluate_classes
    from deciban.evaluation.multiclass.groups import evaluate_groups
    from deciban.evaluation.multiclass.result import ClassCurves, ClassEvaluation, ClassPoint, ClassResults
    from deciban.evaluation.preset_table import Preset, preset, presets
    from deciban.evaluation.results import Curves, Evaluation, PointResult, Results
    from deciban.evaluation.two_class import evaluate
else:
    __getattr__, __dir__ = late(
        __name__,
        {
            "deciban.evaluation.multiclass.evaluate": ("evaluate_classes",),
            "deciban.evaluation.multiclass.groups": ("evaluate_groups",),
            "deciban.evaluation.multiclass.result": ("ClassCurves", "ClassEvaluation", "ClassPoint", "ClassResults"),
            "deciban.evaluation.preset_table": ("Preset", "preset", "presets"),
            "deciban.evaluation.results": ("Curves", "Evaluation", "PointResult", "Results"),
            "deciban.evaluation.two_class": ("evaluate",),
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
    "evaluate",
    "evaluate_classes",
    "evaluate_groups",
    "preset",
    "presets",
]
