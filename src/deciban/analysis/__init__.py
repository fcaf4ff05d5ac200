"""Trains and compares, arrays in: what a fusion is worth beside its systems, and which systems help."""

from __future__ import annotations

from deciban.analysis.fused_systems import FigureRow, FusedSystems, FusionAnalysis, FusionFigures
from deciban.analysis.fusion import analyse_fusion
from deciban.analysis.selection import Selection, select_systems
from deciban.analysis.selection_search import SelectionStep, Untrained

__all__ = [
    "FigureRow",
    "FusedSystems",
    "FusionAnalysis",
    "FusionFigures",
    "Selection",
    "SelectionStep",
    "Untrained",
    "analyse_fusion",
    "select_systems",
]
