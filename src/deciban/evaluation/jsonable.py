"""Results as JSON: plain types, infinite numbers as words."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np


class Jsonable:
    """Mixin of results that have a ``to_dict``."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as plain JSON types."""
        raise NotImplementedError

    def to_json(self) -> str:
        """Return `to_dict` as JSON text."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False)


def plain(value: Any) -> Any:
    """What JSON can hold: infinite numbers become words, and NaN, what is not known, becomes null."""
    if isinstance(value, dict):
        return {name: plain(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return None if isinstance(value, float) and math.isnan(value) else value
