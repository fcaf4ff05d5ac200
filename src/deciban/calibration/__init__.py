"""Calibration of the scores of one system: maps to log-likelihood ratios, or log-likelihoods of many classes."""

from __future__ import annotations

from deciban._lazy import late

__getattr__, __dir__ = late(__name__)
