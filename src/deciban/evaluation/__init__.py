"""Arrays in, frozen results out: every figure, curve and note about the scores of a system."""

from __future__ import annotations

from deciban._lazy import late

__getattr__, __dir__ = late(__name__)
