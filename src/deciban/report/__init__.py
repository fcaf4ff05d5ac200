"""Evaluation results as one HTML page that works offline and without scripts."""

from deciban._lazy import late

__getattr__, __dir__ = late(__name__)
