"""Trains and compares, arrays in: what a fusion is worth beside its systems, and which systems help."""

from __future__ import annotations

from deciban._lazy import late

__getattr__, __dir__ = late(__name__)
