"""Who was compared with whom, what is true and what was scored: frozen tables and their joins."""

from __future__ import annotations

from deciban._lazy import late

__getattr__, __dir__ = late(__name__)
