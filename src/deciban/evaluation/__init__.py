"""Trials in, frozen results out: the only place where metrics, trials and files meet."""

from __future__ import annotations

from deciban.evaluation.files import evaluate_files
from deciban.evaluation.presets import Preset, preset, presets
from deciban.evaluation.result import Curves, Evaluation, PointResult, Results
from deciban.evaluation.single import evaluate

__all__ = [
    "Curves",
    "Evaluation",
    "PointResult",
    "Preset",
    "Results",
    "evaluate",
    "evaluate_files",
    "preset",
    "presets",
]
