"""Evaluation results as one HTML page that opens anywhere, without a network and without scripts."""

from __future__ import annotations

from deciban.report.files import report_files
from deciban.report.rendering import render, render_classes

__all__ = ["render", "render_classes", "report_files"]
