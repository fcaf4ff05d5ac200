"""JSON text, read more strictly than the standard library does."""

from __future__ import annotations

import json
import math
import re
from typing import Any, NoReturn

from deciban.errors import FormatError

_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[-+.\w]+')
"""Texts of JSON, which may hold anything, and whatever numbers and words are between them."""


def parsed(data: bytes, name: str) -> Any:
    """What a file holds, which begins the messages by its ``name``.

    Raises
    ------
    FormatError
        If it is no JSON, holds a number that does not fit a float, or a name twice in one object.
    """

    def refuse(word: str) -> NoReturn:
        text = data.decode("utf-8")
        first = next((one.start() for one in _TOKEN.finditer(text) if one[0] == word), 0)
        raise FormatError(
            f"{name}:{text.count(chr(10), 0, first) + 1}: {word[:40]} is no number that a model could hold. Damaged, "
            "or not written by deciban."
        )

    def finite(digits: str) -> float:
        number = float(digits)
        return number if math.isfinite(number) else refuse(digits)

    def fitting(digits: str) -> int:
        return int(digits) if math.isfinite(float(digits)) else refuse(digits)

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            raise FormatError(f"{name}: a name occurs twice in one object. Damaged, or not written by deciban.")
        return found

    try:
        content: Any = json.loads(
            data.decode("utf-8"), parse_constant=refuse, parse_float=finite, parse_int=fitting, object_pairs_hook=unique
        )
        json.dumps(content, ensure_ascii=False).encode()  # an escaped half of a character could never be written again
    except UnicodeDecodeError as error:
        where = f"{error.reason} at byte {error.start}"
        raise FormatError(f"{name}: not UTF-8 text ({where}), so no model file.") from error
    except json.JSONDecodeError as error:
        raise FormatError(f"{name}:{error.lineno}: no JSON ({error.msg}), so no model file.") from error
    except (RecursionError, ValueError) as error:
        if isinstance(error, FormatError):
            raise
        raise FormatError(f"{name}: no JSON that a model could be in ({error}).") from error
    return content
