"""JSON Schemas of what commands print with ``--json``, and of what results become as JSON."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

_COMMON = "common"
"""What the others refer to; it stands in each of them."""


def json_schemas() -> dict[str, dict[str, Any]]:
    """JSON Schemas (draft 2020-12) of everything that this package gives as JSON, by name.

    Each is complete by itself. The names are those of commands, for what they print with ``--json``, and ``results``
    and ``training`` for the ``to_json`` of `deciban.evaluate_files` and `deciban.train_files`.

    Returns
    -------
    dict of str to dict
        New ones with every call.

    Examples
    --------
    >>> import deciban, json, jsonschema
    >>> results = deciban.Results((deciban.evaluate([1.0, 2.0], [0.0, 1.0]),))
    >>> jsonschema.validate(json.loads(results.to_json()), json_schemas()["results"])
    >>> sorted(json_schemas())
    ['apply', 'calibrate', 'compare', 'convert', 'decide', 'demo', 'design', 'eval', 'formats', 'fuse', 'inspect',
    'merge', 'plan', 'plot', 'presets', 'report', 'results', 'summarize', 'training', 'validate']
    """
    folder = resources.files("deciban") / "schemas"
    files = {file.name: file.read_text("utf-8") for file in folder.iterdir() if file.name.endswith(".json")}
    common = files.pop(f"{_COMMON}.json")
    return {
        name.removesuffix(".json"): {**json.loads(text), "$defs": {_COMMON: json.loads(common)}}
        for name, text in sorted(files.items())
    }
