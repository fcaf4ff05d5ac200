"""Fusion: the scores of several systems become one log-likelihood ratio per trial, or one for each of many classes."""

from __future__ import annotations

from deciban._lazy import late

__getattr__, __dir__ = late(__name__)
