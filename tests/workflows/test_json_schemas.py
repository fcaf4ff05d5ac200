"""No key of JSON is lost or becomes optional unseen: their list is frozen."""

from pathlib import Path

import deciban

FROZEN = Path(__file__).parents[1] / "golden" / "json_keys.txt"


def keys_of(schema, place):
    """Every key with its place and, where it may be missing, a question mark."""
    named = {key: {} for key in schema.get("required", ())} | schema.get("properties", {})
    for name, one in named.items():
        where = f"{place}.{name}"
        yield where + ("" if name in schema.get("required", ()) else "?")
        yield from keys_of(one, where)
    if isinstance(schema.get("additionalProperties"), dict):
        yield f"{place}.*"
        yield from keys_of(schema["additionalProperties"], f"{place}.*")
    if "items" in schema:
        yield from keys_of(schema["items"], f"{place}[]")
    for how in ("oneOf", "anyOf", "allOf"):
        for one in schema.get(how, ()):
            yield from keys_of(one, place)


def all_keys():
    known = deciban.json_schemas()
    shared = known["eval"]["$defs"]["common"]["$defs"]
    for name, one in known.items():
        references = sorted(part["$ref"].rpartition("/")[2] for part in one.get("allOf", ()) if "$ref" in part)
        yield f"{name}: all of {', '.join(references)}"
        yield from (key for key in keys_of(one, name) if key.rstrip("?") != f"{name}.command")
    for name, one in shared.items():
        yield from keys_of(one, name)


def test_keys_are_those_that_users_rely_on():
    """New keys are added to the list; a key that goes, or becomes optional, needs a new version of the layout."""
    assert set(all_keys()) == set(FROZEN.read_text("utf-8").splitlines())
