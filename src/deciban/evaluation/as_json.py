"""Results as JSON: plain types, and text that no terminal obeys."""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

SCHEMA = 2
"""Version of the JSON layout; it changes when a name or a meaning does."""


class Jsonable(ABC):
    """Mixin of results that have a ``to_dict``."""

    __slots__ = ()

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as plain JSON types."""

    def to_json(self) -> str:
        """Return `to_dict` as JSON text; what a terminal would obey is escaped, as JSON can."""
        return json_text(self.to_dict())


def json_text(value: Any, default: Callable[[Any], Any] | None = None) -> str:
    """Write plain types as JSON; what a terminal would obey is escaped, as JSON can.

    Parameters
    ----------
    value : plain types
    default : function, optional
        Makes plain types of anything else.

    Examples
    --------
    >>> print(json_text({"name": "a\\x9b2J"}))
    {
      "name": "a\\u009b2J"
    }
    """
    text = json.dumps(value, indent=2, ensure_ascii=False, default=default)
    return "\n".join(map(_escaped, text.split("\n")))


def _escaped(line: str) -> str:
    return line if line.isprintable() else "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in line)


def plain(value: Any) -> Any:
    """What JSON can hold: infinite numbers become words, and NaN, what is not known, becomes null."""
    if isinstance(value, dict):
        return {name: plain(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, float) and math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return None if isinstance(value, float) and math.isnan(value) else value
