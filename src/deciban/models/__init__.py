"""Trained models and the files they live in: JSON that can be read by eye, and whose loading runs nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deciban._lazy import late

if TYPE_CHECKING:
    from deciban.models.loading import load_model
    from deciban.models.model import Model, Training
else:
    __getattr__, __dir__ = late(
        __name__,
        {
            "deciban.models.loading": ("load_model",),
            "deciban.models.model": ("Model", "Training"),
        },
    )

__all__ = ["Model", "Training", "load_model"]
