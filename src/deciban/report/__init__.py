"""Evaluation results as one HTML page that opens anywhere, without a network and without scripts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deciban._lazy import late

if TYPE_CHECKING:
    from deciban.report.files import report_files
    from deciban.report.rendering import render, render_classes
else:
    __getattr__, __dir__ = late(
        __name__,
        {
            "deciban.report.files": ("report_files",),
            "deciban.report.rendering": (
                "render",
                "render_classes",
            ),
        },
    )

__all__ = [
    "render",
    "render_classes",
    "report_files",
]
