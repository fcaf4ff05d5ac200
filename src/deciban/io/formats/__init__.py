"""One small module per file format. A module that defines ``FORMAT`` (or ``FORMATS``) is registered by being here."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from deciban.errors import InputError
from deciban.io.format import BinaryFormat, Format, TextFormat

__all__ = ["binary_formats", "by_name", "for_ending", "formats", "text_formats"]


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
    name = file_name.casefold()
    for ending in (".gz", ".zst", ".bz2"):
        name = name.removesuffix(ending)
    found = [one for one in formats().values() if any(name.endswith(ending) for ending in one.endings)]
    return found[0] if found else None
