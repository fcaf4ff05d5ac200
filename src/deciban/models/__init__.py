"""Trained models and the files they live in: JSON that can be read by eye, and whose loading runs nothing."""

from __future__ import annotations

from deciban._lazy import late

__getattr__, __dir__ = late(__name__)
