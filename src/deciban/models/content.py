"""Models as JSON: written so that every bit comes back."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from deciban._version import __version__

if TYPE_CHECKING:
    from deciban.models.model import Model

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
