"""One small module per file format. A module that defines ``FORMAT`` (or ``FORMATS``) is registered by being here."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Sequence
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


WITHOUT_TEXT = frozenset(
    (
        *("arrow", "bosaris_hdf5", "bosaris_mat", "bosaris_text", "dca_plda", "hyperion", "nist_lre07", "npy", "npz"),
        *("parquet", "pybosaris", "sidekit"),
    )
)
"""Modules that hold no format of one trial per line: nobody has to wait for them while a text file is read."""


@cache
def formats() -> dict[str, Format]:
    """Every format by its name."""
    return {one.name: one for module in _modules() for one in _formats_in(module)}


@cache
def text_formats() -> dict[str, TextFormat]:
    """Formats of one trial per line."""
    homes = (module for module in _modules() if module not in WITHOUT_TEXT)
    return {one.name: one for module in homes for one in _formats_in(module) if isinstance(one, TextFormat)}


def _modules() -> list[str]:
    return sorted(module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_"))


def _formats_in(module: str) -> Sequence[Format]:
    home = importlib.import_module(f"{__name__}.{module}")
    found: Sequence[Format] = getattr(home, "FORMATS", None) or (home.FORMAT,)
    return found


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
    if name in text_formats():
        return text_formats()[name]
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
    name = unpacked_name(file_name)
    while _is_known(Path(name).suffix.casefold()):
        name = Path(name).stem
    return name


def _is_known(ending: str) -> bool:
    if not ending or ending in SILENT_ENDINGS:
        return bool(ending)
    return any(ending in one.endings for some in (text_formats, formats) for one in some().values())
