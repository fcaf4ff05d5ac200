"""Trains and compares, arrays in: what a fusion is worth beside its systems, and which systems help."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deciban._lazy import late

if TYPE_CHECKING:
    from deciban.analysis.fused_systems import FigureRow, FusedSystems, FusionAnalysis, FusionFigures
    from deciban.analysis.fusion import analyse_fusion
    from deciban.analysis.selection import Selection, select_systems
    from deciban.analysis.selection_search import SelectionStep, Untrained
else:
    __getattr__, __dir__ = late(
        __name__,
        {
            "deciban.analysis.fused_systems": (
                "FigureRow",
                "FusedSystems",
                "FusionAnalysis",
                "FusionFigures",
            ),
            "deciban.analysis.fusion": ("analyse_fusion",),
            "deciban.analysis.selection": (
                "Selection",
                "select_systems",
            ),
            "deciban.analysis.selection_search": (
                "SelectionStep",
                "Untrained",
            ),
        },
    )

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
