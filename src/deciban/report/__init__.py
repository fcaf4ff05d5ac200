"""Evaluation results as one HTML page that opens anywhere, without a network and without scripts."""

from __future__ import annotations

from deciban._lazy import late

__getattr__, __dir__ = late(__name__)
