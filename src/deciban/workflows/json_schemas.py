"""JSON Schemas of the output of commands with ``--json``, and of results."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from importlib import resources
from typing import Any

from deciban.metrics.costs import REGISTERED

_DRAFT = "https://json-schema.org/draft/2020-12/schema"
_COMMON = "urn:deciban:common"
_TYPES = frozenset({"number", "integer", "string", "boolean", "null", "object"})
_BOUNDS = {">=": "minimum", "<=": "maximum", ">": "exclusiveMinimum", "<": "exclusiveMaximum"}
_BOUND = re.compile(r" ([<>]=?)(\S+)")


def json_schemas() -> dict[str, dict[str, Any]]:
    """Return JSON Schemas (draft 2020-12) of all JSON output, by name.

    Each schema is complete. Names of commands are for their output with ``--json``; ``results`` and ``training`` are
    for ``to_json`` of the results of `deciban.evaluate_files` and `deciban.train_files`.

    Returns
    -------
    dict of str to dict
        New objects with every call.

    Examples
    --------
    >>> import deciban, json, jsonschema
    >>> results = deciban.Results((deciban.evaluate([1.0, 2.0], [0.0, 1.0]),))
    >>> jsonschema.validate(json.loads(results.to_json()), json_schemas()["results"])
    >>> sorted(json_schemas())
    ['apply', 'calibrate', 'check', 'compare', 'convert', 'decide', 'demo', 'eval', 'export', 'formats', 'fuse',
    'inspect', 'leaderboard', 'merge', 'normalize', 'objective', 'plan', 'plot', 'presets', 'report', 'results',
    'statement', 'summarize', 'training', 'validate']
    """
    layout = json.loads(resources.files("deciban").joinpath("schemas", "layout.json").read_text("utf-8"))
    layout["definitions"]["two_class_evaluation"] |= {f"{name}?": "figure" for name in REGISTERED}
    parts, definitions = layout["parts"], layout["definitions"]
    within, beside = (_Notation(base, layout["groups"], definitions) for base in ("", _COMMON))
    known = {name: within.schema(one) for name, one in definitions.items()}
    known |= {name: within.members(one) for name, one in parts.items()}
    common = json.dumps({"$id": _COMMON, "$schema": _DRAFT, **layout["about"], "$defs": known})
    return {
        name: {**beside.printed(name, one), "$defs": {"common": json.loads(common)}}
        for name, one in sorted(layout["printed"].items())
    }


@dataclass(frozen=True, slots=True)
class _Notation:
    """Converter of the notation of ``schemas/layout.json`` to JSON Schema.

    Attributes
    ----------
    base : str
        URN before references to definitions.
    groups : dict
        Keys that are common to several objects.
    definitions : dict
        Definitions that can be referenced.

    Notes
    -----
    An object stands for an object with exactly these keys; a key that ends in ``?`` is optional. Special keys:
    ``"#"`` is the description, ``"*"`` alone is the value of any key, ``"+"`` adds the keys of a group, and
    ``"|": "null"`` allows null. ``{"|": [...]}`` stands for exactly one of several values, and ``{"$": ...}`` for a
    literal JSON Schema.

    A list stands for a list: ``[item, "LEAST..MOST", "null", ": description"]``; only the item is required.

    A text names types or definitions, with bounds and a pattern: ``"number|null >=0 <=1: description"``. With an equals
    sign it lists constants: ``"=verified|unverified"``.

    A command also has the keys of its ``parts``, and can have a further ``rule`` in JSON Schema.
    """

    base: str
    groups: dict[str, Any]
    definitions: dict[str, Any]

    def schema(self, one: Any) -> dict[str, Any]:
        """Return the schema of a value."""
        if isinstance(one, str):
            return self._named(one)
        if isinstance(one, list):
            return self._array(one)
        if "$" in one:
            return dict(one["$"])
        about = {"description": one["#"]} if "#" in one else {}
        if isinstance(one.get("|"), list):
            return {"oneOf": [self.schema(other) for other in one["|"]], **about}
        found = {"additionalProperties": False, **self.members(one), **about}
        return found | ({"type": ["object", "null"]} if "|" in one else {})

    def members(self, one: dict[str, Any]) -> dict[str, Any]:
        """Return the schema of an object that can have further keys."""
        keys = {**self.groups.get(one.get("+", ""), {}), **one}
        own = {key: value for key, value in keys.items() if key not in ("#", "|", "+")}
        if "*" in one:
            return {"type": "object", "additionalProperties": self.schema(one["*"])}
        required = [key for key in own if not key.endswith("?")]
        properties = {key.removesuffix("?"): self.schema(value) for key, value in own.items()}
        return {"type": "object", "required": required, "properties": properties}

    def printed(self, name: str, one: dict[str, Any]) -> dict[str, Any]:
        """Return the schema of the output of a command: the keys of some parts, and its own keys."""
        more = {"parts": (), "as": f"Output of deciban {name} --json", "rule": {}, **one}
        own = {key: value for key, value in one.items() if key not in ("parts", "as", "rule")}
        command = {} if "as" in one else {"command": f"={name}"}
        found = self.members({**command, **own})
        found["allOf"] = [{"$ref": f"{_COMMON}#/$defs/{part}"} for part in more["parts"]]
        start = {"$schema": _DRAFT, "$id": f"urn:deciban:{name}", "title": more["as"]}
        return {**start, **found, **more["rule"], "unevaluatedProperties": False}

    def _array(self, one: list[Any]) -> dict[str, Any]:
        """Return the schema of a list."""
        item, *more = one
        if isinstance(item, str) and isinstance(self.definitions.get(item), str):
            item = self.definitions[item].partition(": ")[0]  # validators look up no reference for each number
        found: dict[str, Any] = {"type": ["array", "null"] if "null" in more else "array", "items": self.schema(item)}
        for word in more:
            if word.startswith(": "):
                found["description"] = word[2:]
            elif word != "null":
                ends = zip(("minItems", "maxItems"), word.split(".."), strict=True)
                found |= {end: int(n) for end, n in ends if n}
        return found

    def _named(self, one: str) -> dict[str, Any]:
        """Return the schema of types, definitions or constants."""
        text, _, about = one.partition(": ")
        found = {"description": about} if about else {}
        if text.startswith("="):
            values = [_constant(word) for word in text[1:].split("|")]
            return {**({"const": values[0]} if len(values) == 1 else {"enum": values}), **found}
        text, _, pattern = text.partition(" /")
        names = _BOUND.sub("", text).split("|")
        if not _TYPES.issuperset(names):
            references = [{"type": name} if name in _TYPES else self._reference(name) for name in names]
            return {**(references[0] if len(references) == 1 else {"oneOf": references}), **found}
        if pattern:
            found["pattern"] = pattern.removesuffix("/")
        bounds = {_BOUNDS[sign]: json.loads(value) for sign, value in _BOUND.findall(text)}
        return {"type": names if len(names) > 1 else names[0], **bounds, **found}

    def _reference(self, name: str) -> dict[str, Any]:
        return {"$ref": f"{self.base}#/$defs/{name}"}


def _constant(word: str) -> Any:
    """Return a number or a truth value, otherwise the text."""
    try:
        return json.loads(word)
    except ValueError:
        return word
