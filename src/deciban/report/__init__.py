"""Evaluation results as one HTML page that opens anywhere, without a network and without scripts."""

from __future__ import annotations

from deciban.report.multiclass import render_classes
from deciban.report.page import render

__all__ = ["render", "render_classes"]
