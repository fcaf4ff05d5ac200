"""Trials in, frozen results out: the only place where metrics, trials and files meet."""

from __future__ import annotations

from deciban.evaluation.calibrated import evaluate_calibrated
from deciban.evaluation.files import evaluate_files
from deciban.evaluation.fused_systems import FigureRow, FusedSystems, FusionAnalysis
from deciban.evaluation.fusion_analysis import analyse_fusion
from deciban.evaluation.joined import Joined, Reading, read_joined
from deciban.evaluation.presets import Preset, preset, presets
from deciban.evaluation.result import Curves, Evaluation, PointResult, Results
from deciban.evaluation.selection import Selection, SelectionStep, Untrained, select_systems
from deciban.evaluation.single import evaluate

__all__ = [
    "Curves",
    "Evaluation",
    "FigureRow",
    "FusedSystems",
    "FusionAnalysis",
    "Joined",
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
    "evaluate_files",
    "preset",
    "presets",
    "read_joined",
    "select_systems",
]
