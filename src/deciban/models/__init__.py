"""Trained models and the files they live in: JSON that can be read by eye, and whose loading runs nothing."""

from __future__ import annotations

from deciban.models.loading import load_model
from deciban.models.model import Model, Training

__all__ = ["Model", "Training", "load_model"]
