"""Trained models and their files: readable JSON that is loaded without running code."""

from deciban._lazy import late

__getattr__, __dir__ = late(__name__)
