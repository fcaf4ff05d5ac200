"""The file formats: ``formats.toml`` lists them, and modules that are imported when needed do what no table can say."""

from __future__ import annotations

import importlib
import tomllib
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from deciban.errors import InputError
from deciban.io.format import BinaryFormat, Format, TextFormat
from deciban.io.packing import unpacked_name

__all__ = [
    "SILENT_ENDINGS",
    "bare_name",
    "binary_formats",
    "by_name",
    "endings",
    "for_ending",
    "formats",
    "text_formats",
]

SILENT_ENDINGS = frozenset(
    (
        *(".txt", ".text", ".lst", ".list", ".out", ".dat", ".scores", ".score", ".scr", ".llr", ".key", ".keys"),
        *(".trl", ".trial", ".trials", ".ndx", ".index", ".idx", ".labels", ".quality", ".idmap"),
    )
)
"""Endings that say nothing of the format."""

_FUNCTIONS = {"derive", "undo", "plausible", "signs", "read", "holds", "write"}
"""Fields that are functions, which the table calls by module and name."""


@cache
def _table() -> dict[str, dict[str, Any]]:
    """The fields of every format by its name, as ``formats.toml`` has them."""
    return tomllib.loads(resources.files(__name__).joinpath("formats.toml").read_text("utf-8"))


@cache
def _made(name: str) -> Format:
    """One format; this imports the modules of its functions."""
    fields: dict[str, Any] = {"name": name}
    for field, value in _table()[name].items():
        if field in _FUNCTIONS:
            module, function = value.split(".")
            fields[field] = getattr(importlib.import_module(f"{__name__}.{module}"), function)
        else:
            fields[field] = tuple(value) if isinstance(value, list) else value
    return BinaryFormat(**fields) if "read" in fields else TextFormat(**fields)


def formats() -> dict[str, Format]:
    """Every format by its name; this imports all their modules."""
    return {name: _made(name) for name in _table()}


@cache
def text_formats() -> dict[str, TextFormat]:
    """Formats of one trial per line."""
    lined = (_made(name) for name, fields in _table().items() if "read" not in fields)
    return {one.name: one for one in lined if isinstance(one, TextFormat)}


def binary_formats(kind: str | None = None) -> dict[str, BinaryFormat]:
    """All other formats, or those that a file of a kind could be in (`deciban.io.source.Source.kind`)."""
    found = (_made(name) for name, fields in _table().items() if kind is None or kind in fields.get("found_in", ()))
    return {one.name: one for one in found if isinstance(one, BinaryFormat)}


def by_name(name: str) -> Format:
    """The format of this name.

    Raises
    ------
    InputError
        If there is none.
    """
    asked: object = name
    if not isinstance(asked, str):
        raise InputError(f"format: got {asked!r}. It is the name of a format: {', '.join(_table())}.")
    if name not in _table():
        raise InputError(f"format: {name!r} is not known. There are {', '.join(_table())}.")
    return _made(name)


def endings() -> dict[str, tuple[str, ...]]:
    """The file endings of every format that has some."""
    return {name: tuple(fields["endings"]) for name, fields in _table().items() if "endings" in fields}


def for_ending(file_name: str) -> Format | None:
    """The format that a file of this name is written in when none is asked for; None if the ending says nothing."""
    name = unpacked_name(file_name).casefold()
    found = next((one for one, own in endings().items() if name.endswith(own)), None)
    return None if found is None else by_name(found)


def bare_name(file_name: str) -> str:
    """The name of a file without all its endings that mean something.

    Examples
    --------
    >>> bare_name("dev.v2.scores.TXT.gz")
    'dev.v2'
    """
    known = {*SILENT_ENDINGS, *(ending for own in endings().values() for ending in own)}
    name = unpacked_name(file_name)
    while Path(name).suffix.casefold() in known:
        name = Path(name).stem
    return name
