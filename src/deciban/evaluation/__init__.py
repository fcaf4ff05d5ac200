"""Trials in, frozen results out: the only place where metrics, trials and files meet."""

from __future__ import annotations

from deciban.evaluation.evaluate import evaluate
from deciban.evaluation.result import Curves, Evaluation, PointResult, Results

__all__ = ["Curves", "Evaluation", "PointResult", "Results", "evaluate"]
