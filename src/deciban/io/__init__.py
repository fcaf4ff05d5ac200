"""Readers for trials in all known formats, and atomic writers."""

from __future__ import annotations

from deciban._lazy import late

__getattr__, __dir__ = late(__name__)
