"""Evaluation of arrays: all metrics, curves and notes about the scores of a system, as frozen results."""

from deciban._lazy import late

__getattr__, __dir__ = late(__name__)
