"""Evaluation results as one HTML page that opens anywhere, without a network and without scripts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deciban._lazy import late

if TYPE_CHECKING:
    from deciban.report.multiclass import render_classes
    from deciban.report.page import render
else:
    __getattr__, __dir__ = late(
        __name__,
        {
            "deciban.report.multiclass": ("render_classes",),
            "deciban.report.page": ("render",),
        },
    )

__all__ = ["render", "render_classes"]
