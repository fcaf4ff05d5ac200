"""Readers for trials in all known formats, and atomic writers."""

from deciban._lazy import late

__getattr__, __dir__ = late(__name__)
