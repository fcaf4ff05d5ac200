"""Files in, files and results out: the verbs of the command line as functions, for scores of both kinds."""

from __future__ import annotations

from deciban._lazy import late

__getattr__, __dir__ = late(__name__)
