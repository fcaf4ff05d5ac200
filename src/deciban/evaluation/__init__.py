"""Trials in, frozen results out: the only place where metrics, trials and files meet."""

from __future__ import annotations

from deciban.evaluation.calibrated import evaluate_calibrated
from deciban.evaluation.classes_files import evaluate_class_files
from deciban.evaluation.classes_groups import evaluate_groups
from deciban.evaluation.classes_joined import JoinedClasses, read_joined_classes
from deciban.evaluation.classes_kind import kind_of_scores
from deciban.evaluation.classes_result import ClassCurves, ClassEvaluation, ClassPoint, ClassResults
from deciban.evaluation.classes_single import evaluate_classes
from deciban.evaluation.files import evaluate_files
from deciban.evaluation.fused_systems import FigureRow, FusedSystems, FusionAnalysis
from deciban.evaluation.fusion_analysis import analyse_fusion
from deciban.evaluation.joined import Joined, Reading, read_joined
from deciban.evaluation.presets import Preset, preset, presets
from deciban.evaluation.result import Curves, Evaluation, PointResult, Results
from deciban.evaluation.selection import Selection, select_systems
from deciban.evaluation.selection_search import SelectionStep, Untrained
from deciban.evaluation.single import evaluate

__all__ = [
    "ClassCurves",
    "ClassEvaluation",
    "ClassPoint",
    "ClassResults",
    "Curves",
    "Evaluation",
    "FigureRow",
    "FusedSystems",
    "FusionAnalysis",
    "Joined",
    "JoinedClasses",
    "PointResult",
    "Preset",
    "Reading",
    "Results",
    "Selection",
    "SelectionStep",
    "Untrained",
    "analyse_fusion",
    "evaluate",
    "evaluate_calibrated",
    "evaluate_class_files",
    "evaluate_classes",
    "evaluate_files",
    "evaluate_groups",
    "kind_of_scores",
    "preset",
    "presets",
    "read_joined",
    "read_joined_classes",
    "select_systems",
]
