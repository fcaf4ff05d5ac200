"""One small module per file format. A module that defines ``FORMAT`` (or ``FORMATS``) is registered by being here."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from pathlib import Path

from deciban.errors import InputError
from deciban.io.format import BinaryFormat, Format, TextFormat
from deciban.io.packing import unpacked_name

__all__ = ["SILENT_ENDINGS", "bare_name", "binary_formats", "by_name", "for_ending", "formats", "text_formats"]

SILENT_ENDINGS = frozenset(
    (
        *(".txt", ".text", ".lst", ".list", ".out", ".dat", ".scores", ".score", ".scr", ".llr", ".key", ".keys"),
        *(".trl", ".trial", ".trials", ".ndx", ".index", ".idx", ".labels", ".quality", ".idmap"),
    )
)
"""Endings that say nothing of the format."""


@cache
def formats() -> dict[str, Format]:
    """Every format by its name."""
    found: dict[str, Format] = {}
    for module in sorted(pkgutil.iter_modules(__path__), key=lambda module: module.name):
        if not module.name.startswith("_"):
            home = importlib.import_module(f"{__name__}.{module.name}")
            for one in getattr(home, "FORMATS", None) or (home.FORMAT,):
                found[one.name] = one
    return found


def text_formats() -> dict[str, TextFormat]:
    """Formats of one trial per line."""
    return {name: one for name, one in formats().items() if isinstance(one, TextFormat)}


def binary_formats() -> dict[str, BinaryFormat]:
    """All other formats."""
    return {name: one for name, one in formats().items() if isinstance(one, BinaryFormat)}


def by_name(name: str) -> Format:
    """The format of this name.

    Raises
    ------
    InputError
        If there is none.
    """
    if name not in formats():
        raise InputError(f"format: {name!r} is not known. There are {', '.join(formats())}.")
    return formats()[name]


def for_ending(file_name: str) -> Format | None:
    """The format that a file of this name is written in when none is asked for; None if the ending says nothing."""
    name = unpacked_name(file_name).casefold()
    return next((one for one in formats().values() if name.endswith(one.endings)), None)


def bare_name(file_name: str) -> str:
    """The name of a file without all its endings that mean something.

    Examples
    --------
    >>> bare_name("dev.v2.scores.TXT.gz")
    'dev.v2'
    """
    known = {*SILENT_ENDINGS, *(ending for one in formats().values() for ending in one.endings)}
    name = unpacked_name(file_name)
    while Path(name).suffix.casefold() in known:
        name = Path(name).stem
    return name
