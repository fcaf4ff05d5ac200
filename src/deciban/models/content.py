"""Models as JSON: written so that every bit comes back, read more strictly than the standard library does."""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, Any, NoReturn

from deciban._version import __version__
from deciban.errors import FormatError

if TYPE_CHECKING:
    from deciban.models.model import Model

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


SCHEMA = 1
"""Version of the layout; it changes when a name or a meaning does."""


def to_text(model: Model) -> str:
    """The file of a model.

    Raises
    ------
    InputError
        If the model was not trained.
    """
    return json.dumps(content_of(model), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def content_of(model: Model) -> dict[str, Any]:
    """What stands in the file of a model.

    Raises
    ------
    InputError
        If the model was not trained.
    """
    model.require_fitted()
    training = model.training_
    content: dict[str, Any] = {
        "deciban_model": SCHEMA,
        "kind": model.kind,
        "deciban_version": __version__,
        "settings": model.settings,
        "parameters": model.parameters(),
    }
    if training is not None:
        content["training"] = {
            "counts": dict(training.counts),
            "fingerprint": training.fingerprint,
            "systems": list(training.systems),
            "results": dict(training.results),
        }
    plain: dict[str, Any] = _plain(content)
    return plain


def _plain(value: Any) -> Any:
    """What JSON can hold: infinite numbers become words."""
    if isinstance(value, dict):
        return {name: _plain(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    if isinstance(value, float) and math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return value
