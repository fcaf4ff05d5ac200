"""Former names of what `deciban.workflows` and `deciban.analysis` offer, for scripts that import them."""

from __future__ import annotations

from deciban._lazy import late

__getattr__, __dir__ = late(__name__)
