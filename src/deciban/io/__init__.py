"""Files in and out: tables of trials in every format that is known, and whole-or-nothing writing."""

from __future__ import annotations

from deciban._lazy import late

__getattr__, __dir__ = late(__name__)
